from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage

from gemmviz.core.metrics import THROUGHPUT, TIME
from gemmviz.core.sweep import SweepReport
from gemmviz.core.sweep_lines import sweep_lines
from gemmviz.views.charts.color_scale import ColorScale
from gemmviz.views.charts.parallel_axes import _bold
from gemmviz.views.charts.parallel_coordinates import ParallelCoordinatesChart
from gemmviz.views.export import render_svg, save_png
from gemmviz.views.theme import DARK, LIGHT
from tests.core.sweeps import make_report, make_sweep

SWEEP = make_sweep()
REPORT = make_report(SWEEP)


@pytest.fixture
def chart(qtbot):
    made = ParallelCoordinatesChart(theme=LIGHT)
    qtbot.addWidget(made)
    made.resize(820, 460)
    made.set_lines(sweep_lines(SWEEP, REPORT))
    made.settle()
    return made


def spot(chart, number: int, axis: int, along: float = 0.0) -> QPointF:
    """A place on a line, in the scene: so far from one axis to the next."""
    layout = chart.layer.layout
    y = layout.lines[number, axis]
    if along:
        y += along * (layout.lines[number, axis + 1] - y)
    return chart._plot.mapToScene(QPointF(layout.axes[axis] + along * layout.gap, y))


def axes(chart):
    return chart.layer._axes(chart.lines)


def entries(chart) -> list[str]:
    return [entry.text for entry in chart._legend._entries]


def drag(chart, axis: int, low: float, high: float) -> None:
    layout = chart.layer.layout
    foot, tall = layout.area.bottom(), layout.area.height()
    start, end = (QPointF(layout.axes[axis] + 3, foot - at * tall) for at in (low, high))
    chart._plot.dragged.emit(start, end)


def test_values_are_evenly_placed_and_lines_spread_by_their_figures(chart):
    layout = chart.layer.layout
    assert np.allclose(np.diff(layout.axes), layout.gap)
    for axis, middles in zip(chart.lines.axes, layout.centers, strict=True):
        assert len(middles) == len(axis.texts)
        assert np.allclose(np.diff(middles), np.diff(middles)[0])
    first = layout.lines[:, 0]
    for number, line in enumerate(chart.lines.lines):
        middle = layout.centers[0][line.places[0]]
        slot = layout.area.height() / 3
        assert abs(first[number] - middle) < slot / 2
    fast = [n for n, line in enumerate(chart.lines.lines) if line.value is not None]
    same = [n for n in fast if chart.lines.lines[n].places[0] == 1]
    by_value = sorted(same, key=lambda n: chart.lines.lines[n].value)
    assert [first[n] for n in by_value] == sorted((first[n] for n in same), reverse=True)


def test_the_name_of_the_figure_has_room_beside_that_of_the_axis_before_it(chart):
    chart.resize(540, 240)
    chart.settle()
    layout, wide = chart.layer.layout, QFontMetricsF(_bold()).horizontalAdvance
    before = layout.axes[-2] + wide(chart.lines.axes[-1].name) / 2
    assert before + wide("Throughput (GFLOP/s)") < chart.layer.boundingRect().right()


def test_a_time_is_the_better_the_higher_in_a_band_and_true_on_its_own_axis(chart):
    chart.set_lines(sweep_lines(SWEEP, REPORT, TIME))
    layout, lines = chart.layer.layout, chart.lines.lines
    known = [n for n, line in enumerate(lines) if line.value is not None]
    fastest, slowest = (pick(known, key=lambda n: lines[n].value) for pick in (min, max))
    assert layout.lines[fastest, -1] == pytest.approx(layout.area.bottom())
    assert layout.lines[slowest, -1] == pytest.approx(layout.area.top())
    above = layout.centers[3][lines[fastest].places[3]] - layout.lines[fastest, 3]
    below = layout.centers[3][lines[slowest].places[3]] - layout.lines[slowest, 3]
    assert above > 0 > below


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_no_colour_is_lost_on_the_panel(chart, theme):
    chart.set_theme(theme)
    panel = QColor(theme.panel).lightnessF()
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        assert abs(axes(chart).color(share).lightnessF() - panel) > 0.12
    low, high = chart.lines.span
    full = ColorScale(THROUGHPUT, low, high)
    kept = 1.0 if theme is DARK else 0.0
    assert axes(chart).color(kept) == full.color(high if kept else low)


def test_the_recommended_line_is_on_top_in_its_colour(chart, tmp_path):
    save_png(chart, tmp_path / "lines.png")
    image = QImage(str(tmp_path / "lines.png"))
    last = len(chart.lines.lines) - 1
    assert chart.lines.lines[last].recommended
    at = spot(chart, last, 2, 0.5).toPoint()
    wanted = axes(chart).color(1.0)
    found = [image.pixelColor(at.x(), at.y() + off) for off in (-1, 0, 1)]
    assert any(abs(each.red() - wanted.red()) < 40 and abs(each.green() - wanted.green()) < 40
               for each in found)  # fmt: skip
    assert "★ recommended" in entries(chart)
    assert "failed or wrong" in entries(chart)
    assert entries(chart)[0].startswith("81 lines")


def test_a_click_carries_the_configuration_of_the_line(qtbot, chart):
    chart.show()
    last = len(chart.lines.lines) - 1
    with qtbot.waitSignal(chart.cell_clicked) as clicked:
        qtbot.mouseClick(
            chart.viewport(), Qt.MouseButton.LeftButton,
            pos=chart.mapFromScene(spot(chart, last, 5, 0.0)),
        )  # fmt: skip
    assert clicked.args == [chart.lines.lines[last].cell]
    chart._on_mouse_moved(spot(chart, last, 5, 0.0))
    assert chart.layer.pointed is chart.lines.lines[last]
    before = chart.viewport().grab().toImage()
    chart.hide_hover()
    assert chart.layer.pointed is None
    assert chart.viewport().grab().toImage() != before
    chart._on_mouse_moved(QPointF(1, 1))
    assert chart.layer.pointed is None


def test_a_drag_along_an_axis_picks_lines(chart):
    drag(chart, 0, 0.0, 1 / 3)  # the lowest of three values
    picked = chart.layer.picked
    assert {line.places[0] for line in picked} == {0}
    assert len(picked) == sum(line.places[0] == 0 for line in chart.lines.lines)
    assert entries(chart)[0] == f"{len(picked)} of 81 picked; right click: all"
    drag(chart, 5, 0.5, 1.0)
    low, high = chart.lines.span
    assert all(line.value >= (low + high) / 2 for line in chart.layer.picked)
    assert len(chart.layer.picked) < len(picked)
    out = next(n for n, line in enumerate(chart.lines.lines) if line.places[0] == 2)
    assert (
        chart.layer.line_at(chart._plot.mapFromScene(spot(chart, out, 0)))
        is not (chart.lines.lines[out])
    )
    drag(chart, 5, 0.4, 0.4)  # a click there ends it
    assert chart.layer.picked == picked
    chart._plot.reset_wanted.emit()
    assert len(chart.layer.picked) == 81
    layout = chart.layer.layout
    chart._plot.dragged.emit(QPointF(layout.axes[0] + 60, 100), QPointF(layout.axes[0] + 60, 200))
    assert not chart.layer.brushes


def test_what_is_picked_stays_while_cells_come(chart):
    drag(chart, 0, 0.0, 0.3)
    chart.set_lines(sweep_lines(SWEEP, make_report(SWEEP, 0.5)))
    assert list(chart.layer.brushes) == [0]
    assert "40 not measured" in entries(chart)
    other = make_sweep(sizes=(64, 128))
    chart.set_lines(sweep_lines(other, make_report(other)))
    assert not chart.layer.brushes


def test_a_chosen_line_is_drawn_over_the_others(chart):
    line = chart.lines.lines[0]
    plain = chart.grab().toImage()
    chart.choose(line.cell)
    assert chart.grab().toImage() != plain
    chart.choose(None)
    assert chart.grab().toImage() == plain


def test_without_lines_it_says_why(chart):
    assert not chart.is_empty()
    chart.set_lines(None)
    assert chart.is_empty()
    assert chart.layer.layout is None
    chart.set_lines(sweep_lines(SWEEP, SweepReport(())))
    assert chart.is_empty()
    assert chart.layer.line_at(QPointF(10, 10)) is None


def test_a_drawing_has_the_lines_as_such(chart):
    text = render_svg(chart).decode()
    assert "Throughput (GFLOP/s)" in text
    assert "<image" not in text
    assert text.count("<poly") + text.count("<line") + text.count("<path") > 81


def test_failed_ones_alone_have_no_scale(chart):
    cells = tuple(cell for cell in REPORT.cells if cell.state in ("failed", "wrong"))
    chart.set_lines(sweep_lines(SWEEP, SweepReport(cells)))
    assert not chart.is_empty()
    assert {line.value for line in chart.lines.lines} == {None}
    assert not chart.grab().toImage().isNull()
