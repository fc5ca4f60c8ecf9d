from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent

from gemmviz.core.metrics import METRICS, THROUGHPUT, parameter_metric
from gemmviz.core.size_curves import size_curves
from gemmviz.core.sweep import NOT_TRIED, SweepReport
from gemmviz.core.sweep_grid import sweep_grid
from gemmviz.core.sweep_scatter import sweep_scatter
from gemmviz.views.charts.color_scale import ColorScale, ink_on
from gemmviz.views.charts.heat_layer import describe_place
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.charts.point_layer import SHAPES, Junction, Mark, outline
from gemmviz.views.charts.scatter import ScatterChart
from gemmviz.views.charts.size_curve import SizeCurveChart
from gemmviz.views.charts.sweep_words import figures
from gemmviz.views.export import save_png
from gemmviz.views.theme import DARK, LIGHT
from tests.core.sweeps import HERE, make_report, make_sweep

NAMED = {metric.name: metric for metric in METRICS}


@pytest.fixture
def heat(qtbot):
    chart = HeatMapChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(760, 480)
    return chart


@pytest.fixture
def curve(qtbot):
    chart = SizeCurveChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(760, 480)
    return chart


@pytest.fixture
def scatter(qtbot):
    chart = ScatterChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(760, 480)
    return chart


def saved(chart, path) -> QImage:
    save_png(chart, path)
    return QImage(str(path))


def center(chart, column: int, row: int, across: float = 0.5, up: float = 0.25) -> QPointF:
    """A place within a cell of a heat map, in the scene."""
    return chart._plot.mapToScene(chart._layer.to_pixel(column + across, row + up))


def grid_of(report: SweepReport | None = None, axes=("BM", "BN"), metric=THROUGHPUT):
    sweep = make_sweep()
    return sweep_grid(sweep, report or make_report(sweep), axes, metric)


def entries(chart) -> list[str]:
    return [f"{entry.number} {entry.text}".strip() for entry in chart._legend._entries]


def click(qtbot, chart, place: QPointF) -> None:
    spot = chart.mapFromScene(place)
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=spot)


# --- colours


def test_the_best_end_of_a_scale_is_the_brightest():
    rate, time = ColorScale(THROUGHPUT, 1e9, 9e9), ColorScale(NAMED["Time"], 1e-3, 9e-3)
    assert rate.color(9e9).lightness() > rate.color(5e9).lightness() > rate.color(1e9).lightness()
    assert time.color(1e-3) == rate.color(9e9)
    assert time.color(9e-3) == rate.color(1e9)
    lights = [rate.color(1e9 + step * 8e8) for step in range(11)]
    grey = [0.2126 * each.redF() + 0.7152 * each.greenF() + 0.0722 * each.blueF()
            for each in lights]  # fmt: skip
    assert grey == sorted(grey)  # reads without hues
    assert ink_on(QColor("#fde725")) != ink_on(QColor("#440154")) == "#ffffff"


def test_a_scale_has_one_unit_for_all_its_numbers():
    rate = ColorScale(THROUGHPUT, 0.9e9, 21.5e9)
    assert rate.unit == "GFLOP/s"
    assert [rate.text(value) for value in (0.9e9, 21.5e9)] == ["0.900", "21.5"]
    assert not rate.logarithmic
    wide = ColorScale(THROUGHPUT, 1e9, 1e12)
    assert wide.logarithmic
    assert wide.value(1 / 3) == pytest.approx(1e10)
    assert wide.share(1e10) == pytest.approx(1 / 3)
    local = ColorScale(NAMED["Local memory"], 2048, 16384)
    assert (local.unit, local.text(2048)) == ("", "2 KiB")
    one = ColorScale(parameter_metric("BM"), 64, 64)
    assert (one.ticks(), one.share(64), one.text(64)) == ((64,), 0.5, "64")


# --- heat map


def test_cells_have_the_colours_of_their_values(heat, tmp_path):
    grid = grid_of()
    heat.set_grid(grid)
    image = saved(heat, tmp_path / "heat.png")
    values = [cell.value for cell in grid.cells]
    scale = ColorScale(grid.metric, min(values), max(values))
    for cell in grid.cells:
        spot = center(heat, cell.column, cell.row).toPoint()
        assert image.pixelColor(spot).name() == scale.color(cell.value).name(), cell
    assert heat._bar.scale_shown == scale
    assert heat._bottom.names == heat._left.names == ("32", "64", "128")
    assert (heat._bottom.title, heat._left.title) == ("BM", "BN")


def test_the_best_set_is_framed_and_the_recommended_one_starred(heat, tmp_path):
    heat.set_grid(grid_of())
    image = saved(heat, tmp_path / "heat.png")
    left = heat._plot.mapToScene(heat._layer.to_pixel(1, 1.5))
    assert image.pixelColor(int(left.x()) + 2, int(left.y())).name() == LIGHT.text
    assert "□ cannot be told apart from the best" in entries(heat)
    assert "★ recommended" in entries(heat)
    assert "★ recommended" in describe_place(heat.grid, heat.grid.at(1, 1))
    plain = SweepReport(tuple(replace(cell, best=False) for cell in make_report().cells))
    heat.set_grid(grid_of(plain))
    assert entries(heat) == ["Throughput (GFLOP/s)", "≈ dropped early"]
    other = saved(heat, tmp_path / "plain.png")
    assert other.pixelColor(int(left.x()) + 2, int(left.y())).name() != LIGHT.text


def test_grey_cells_tell_their_reason(heat, tmp_path):
    small = replace(HERE, local_mem_bytes=2**12)
    sweep = make_sweep(devices=(small,))
    heat.set_grid(sweep_grid(sweep, make_report(sweep), ("BM", "BK")))
    refused = heat.grid.at(2, 2)
    assert "– cannot run" in entries(heat)
    text = describe_place(heat.grid, refused)
    assert text.startswith("BM 128, BK 32\ncannot run here\nThe group needs")
    image = saved(heat, tmp_path / "heat.png")
    ink = image.pixelColor(center(heat, 2, 2).toPoint())
    assert abs(ink.red() - ink.blue()) < 40  # grey, whatever line of the hatching is met
    heat._on_mouse_moved(center(heat, 2, 2))
    assert heat._layer.pointed is refused
    heat.hide_hover()
    assert heat._layer.pointed is None


def test_what_the_search_passed_over_has_a_sign(heat):
    cells = tuple(
        replace(cell, state="dropped", seconds=None, why_not=NOT_TRIED, best=False)
        if dict(cell.configuration.parameters)["BM"] == 32 else cell
        for cell in make_report().cells
    )  # fmt: skip
    heat.set_grid(grid_of(SweepReport(cells)))
    assert "· not tried" in entries(heat)
    assert heat._layer._text(heat.grid.at(0, 0)) == "·"
    assert heat._layer._text(heat.grid.at(1, 1)) != "·"
    text = describe_place(heat.grid, heat.grid.at(0, 0))
    assert "not measured\n" in text
    assert text.endswith(NOT_TRIED)


def test_a_wrong_cell_has_no_number_and_says_so(heat):
    cells = list(make_report().cells)
    place = next(i for i, cell in enumerate(cells) if cell.state == "wrong")
    heat.set_grid(grid_of(SweepReport((cells[place],))))
    values = dict(cells[place].configuration.parameters)
    shown = next(cell for cell in heat.grid.cells if cell.state == "wrong")
    assert heat._layer._text(shown) == "wrong"
    text = describe_place(heat.grid, shown)
    assert f"BM {values['BM']}, BN {values['BN']}" in text
    assert "12 of 65,536 cells" in text
    assert "throughput" not in text


def test_a_click_carries_the_cell_that_is_shown(qtbot, heat):
    heat.set_grid(grid_of())
    heat.show()
    heat.settle()
    with qtbot.waitSignal(heat.cell_clicked) as clicked:
        click(qtbot, heat, center(heat, 0, 2))
    assert clicked.args == [heat.grid.at(0, 2).cell]
    spot, left = QPointF(heat.mapFromScene(center(heat, 1, 0))), Qt.MouseButton.LeftButton
    with qtbot.waitSignal(heat.cell_opened) as opened:
        for kind in (QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease):
            held = left if kind == QEvent.Type.MouseButtonDblClick else Qt.MouseButton.NoButton
            event = QMouseEvent(
                kind, spot, heat.mapToGlobal(spot), left, held, Qt.KeyboardModifier.NoModifier
            )
            QCoreApplication.sendEvent(heat.viewport(), event)
    assert opened.args == [heat.grid.at(1, 0).cell]
    click(qtbot, heat, center(heat, 0, 2))
    assert heat._layer._chosen == (0, 2)
    heat.choose(heat.grid.at(2, 0).cell)
    assert heat._layer._chosen == (2, 0)


def test_the_cells_of_a_small_or_crowded_map_have_no_text_over_their_edges(heat, tmp_path):
    heat.set_grid(grid_of())
    heat.resize(240, 160)
    heat.settle()
    heat.set_grid(grid_of())
    assert not entries(heat)
    saved(heat, tmp_path / "heat.png")
    room = heat._layer._box(0, 0)
    texts = [heat._layer._text(cell) for cell in heat.grid.cells]
    assert heat._layer._fit(texts, heat.font(), room.width()) or room.width() < 60


def test_one_parameter_alone_is_a_single_row_and_none_is_an_empty_chart(heat):
    heat.set_grid(grid_of(axes=("BK", "")))
    assert heat.grid.rows == 1
    assert heat._left.names == ()
    assert not heat.is_empty()
    heat.set_grid(None)
    assert heat.is_empty()


def test_a_picture_of_the_other_theme_leaves_the_screen_alone(heat, tmp_path):
    heat.set_grid(grid_of())
    before = saved(heat, tmp_path / "one.png")
    save_png(heat, tmp_path / "dark.png", theme=DARK, scale=3)
    dark = QImage(str(tmp_path / "dark.png"))
    assert dark.size() == before.size() * 3
    assert dark.pixelColor(3, 3).name() == DARK.panel
    assert saved(heat, tmp_path / "again.png") == before


# --- size curve


@pytest.fixture
def sized():
    sweep = make_sweep(("register_2d", "tiled"), (64, 128, 256, 512))
    return size_curves(sweep, make_report(sweep))


def test_a_line_for_each_kernel_on_octaves_with_its_crossing(curve, sized, tmp_path):
    curve.set_curves(sized)
    (left, right), (bottom, top) = curve._plot.viewRange()
    assert 5 < left < 6
    assert 9 < right < 10
    assert bottom == 0.0
    assert top > max(point.ends[1] for each in sized for point in each.points)
    assert entries(curve) == [
        "1 2-D register blocking", "2 Tiled in local memory", "hollow: dropped early",
        "◆ one overtakes another",
    ]  # fmt: skip
    (crossing,) = curve.crossings
    (junction,) = curve.layer.junctions
    assert 64 < crossing.size < 128
    assert 6 < junction.x < 7
    assert junction.label == f"≈ {crossing.size:.0f}"
    assert "above: 2-D register blocking" in junction.text
    image = saved(curve, tmp_path / "curve.png")
    spot = curve._plot.mapToScene(curve.layer.to_pixel(junction.x, junction.y))
    assert image.pixelColor(spot.toPoint()).name() == LIGHT.mark
    curve.layer.point_at(curve.layer.to_pixel(junction.x, junction.y))
    assert isinstance(curve.layer.pointed, Junction)
    shapes = {mark.color: mark.shape for mark in curve.layer.marks}
    assert len(set(shapes.values())) == len(shapes) == 2


def test_the_sizes_are_numbered_in_full(curve, sized):
    curve.set_curves(sized)
    ((_, values),) = curve._sizes.tickValues(5.85, 9.15, 600)
    assert values == [6.0, 7.0, 8.0, 9.0]
    assert curve._sizes.tickStrings([6.0, 10.0], 1.0, 1.0) == ["64", "1,024"]
    assert curve._sizes.labelText == "M = N = K"
    ((_, few),) = curve._sizes.tickValues(5.95, 6.4, 600)
    assert few == [6.0]  # of the sizes that were measured
    ((_, thin),) = curve._sizes.tickValues(0.0, 16.0, 200)
    assert len(thin) < 6


def test_one_size_is_no_curve(curve):
    sweep = make_sweep(("register_2d", "tiled"), (64,))
    curve.set_curves(size_curves(sweep, make_report(sweep)))
    assert curve.is_empty()
    assert "two sizes" in curve.empty_text


# --- scatter


def test_marks_stand_at_their_figures_and_tell_a_third_thing(qtbot, scatter, tmp_path):
    sweep = make_sweep()
    shown = sweep_scatter(sweep, make_report(sweep), (NAMED["Local memory"], THROUGHPUT), "BM")
    scatter.set_scatter(shown)
    assert len(scatter.layer.marks) == len(shown.points)
    by_cell = {mark.cell.configuration: mark for mark in scatter.layer.marks}
    for point in shown.points:
        mark = by_cell[point.cell.configuration]
        assert (mark.x, mark.y, mark.shape) == (point.x / 1024, point.y, point.group)
        assert mark.best == point.best
    assert scatter._bottom.labelText == "Local memory"
    assert scatter._bottom.labelUnits == "KiB"
    assert entries(scatter)[:3] == ["● BM 32", "■ 64", "▲ 128"]
    image = saved(scatter, tmp_path / "scatter.png")
    mark = scatter.layer.marks[-1]
    assert mark.recommended
    spot = scatter._plot.mapToScene(scatter.layer.to_pixel(mark.x, mark.y)).toPoint()
    assert image.pixelColor(spot).name() == mark.color
    scatter.show()
    scatter.settle()
    with qtbot.waitSignal(scatter.cell_clicked) as clicked:
        click(qtbot, scatter, scatter._plot.mapToScene(scatter.layer.to_pixel(mark.x, mark.y)))
    assert clicked.args == [mark.cell]
    assert mark.text.startswith("Local memory 8 KiB, Throughput ")
    assert "BM 64" in mark.text


def test_a_kernel_without_the_parameter_has_no_colour_of_its_values(scatter):
    sweep = make_sweep(("register_2d", "tiled"))
    axes = NAMED["Group size"], THROUGHPUT
    scatter.set_scatter(sweep_scatter(sweep, make_report(sweep), axes, "BM"))
    colors = {
        mark.cell.configuration.variant: set() for mark in scatter.layer.marks
    }  # fmt: skip
    for mark in scatter.layer.marks:
        colors[mark.cell.configuration.variant].add(mark.color)
    assert len(colors["tiled"]) == 1
    assert not colors["tiled"] & colors["register_2d"]
    assert "● without BM" in entries(scatter)


def test_the_range_of_a_few_samples_is_not_called_an_interval():
    cell = make_report().cells[0]
    assert "95 % interval" in dict(figures(replace(cell, samples=6)))
    assert "Range" in dict(figures(replace(cell, samples=3)))


def test_other_axes_show_everything_again_and_new_points_leave_a_zoom_alone(scatter):
    sweep = make_sweep()
    report = make_report(sweep)
    first = sweep_scatter(sweep, report, (NAMED["Local memory"], THROUGHPUT))
    scatter.set_scatter(first)
    whole = scatter._plot.viewRange()
    scatter._plot.setRange(xRange=(2, 4), yRange=(1e10, 2e10), padding=0)
    scatter._on_zoomed(None)
    scatter.set_scatter(sweep_scatter(sweep, make_report(sweep, 0.5), (first.x, first.y)))
    assert scatter._plot.viewRange()[0] == pytest.approx([2, 4])
    scatter.home()
    scatter.set_scatter(first)
    assert scatter._plot.viewRange() == whole
    scatter._on_zoomed(None)
    scatter.set_scatter(sweep_scatter(sweep, report, (NAMED["Group size"], NAMED["Time"])))
    assert scatter._plot.viewRange()[0][1] > 256
    assert scatter._left.labelText == "Time"
    scatter.set_scatter(None)
    assert scatter.is_empty()


def test_every_shape_is_closed_around_its_middle():
    for shape in range(SHAPES):
        path = outline(shape, 4.0)
        assert path.contains(QPointF(0, 0))
        assert not path.contains(QPointF(0, 7))
    areas = {shape: outline(shape, 4.0).toFillPolygon() for shape in range(SHAPES)}
    assert len({str(list(area)) for area in areas.values()}) == SHAPES


def test_a_rough_figure_is_hollow(scatter, tmp_path):
    sweep = make_sweep()
    report = make_report(sweep)
    dropped = next(cell for cell in report.cells if cell.state == "dropped")
    shown = sweep_scatter(sweep, SweepReport((dropped,)), (NAMED["Group size"], THROUGHPUT))
    scatter.set_scatter(shown)
    (mark,) = scatter.layer.marks
    assert isinstance(mark, Mark)
    assert mark.rough
    image = saved(scatter, tmp_path / "scatter.png")
    spot = scatter._plot.mapToScene(scatter.layer.to_pixel(mark.x, mark.y)).toPoint()
    assert image.pixelColor(spot).name() == LIGHT.panel
    assert "hollow: dropped early" in entries(scatter)
