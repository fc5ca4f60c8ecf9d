from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from gemmviz.core.experiments import ClimbLadder, Outcome
from gemmviz.core.ladder import LibrarySpeed
from gemmviz.core.messages import LadderClimbed, Progressed
from gemmviz.core.model import Failure
from gemmviz.views.charts.ladder import LadderChart
from gemmviz.views.charts.ladder_words import describe_rung, free_place, label_rows
from gemmviz.views.export import save_png
from gemmviz.views.ladder_panel import LadderPanel
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import BROKEN, H200, POCL
from tests.core.ladders import PEAK, make_ladder, make_rung
from tests.views.window_parts import shown_tabs


@pytest.fixture
def chart(qtbot):
    chart = LadderChart(theme=LIGHT)
    qtbot.addWidget(chart)
    chart.resize(1100, 620)
    return chart


@pytest.fixture
def panel(qtbot, state):
    state.select_device(POCL)
    panel = LadderPanel(state)
    qtbot.addWidget(panel)
    panel.set_theme(DARK)
    panel.resize(820, 520)
    panel.show()
    return panel


def saved(chart, path) -> QImage:
    save_png(chart, path)
    return QImage(str(path))


def inks(image: QImage, area: QRectF) -> set[str]:
    return {
        image.pixelColor(x, y).name()
        for x in range(int(area.left()), int(area.right()))
        for y in range(int(area.top()), int(area.bottom()))
    }


def scene_bar(chart, place: int) -> QRectF:
    """Where the bar of a rung is, labels included."""
    plot = chart._plot
    corner = plot.mapToScene(chart._layer.to_pixel(place - 0.45, plot.viewRange()[1][1]))
    return QRectF(corner, plot.mapToScene(chart._layer.to_pixel(place + 0.45, 0.0)))


def test_labels_carry_signs():
    assert label_rows(make_rung(1), 43.7e12) == [("", "0.970 T")]
    assert label_rows(make_rung(1), 970e9) == [("", "970 G")]
    assert label_rows(make_rung(2), 43.7e12) == [("", "5.30 T"), ("▲", "5.46×")]
    assert label_rows(make_rung(4), 43.7e12) == [("", "6.10 T"), ("▼", "0.94×")]
    assert label_rows(make_rung(8), 43.7e12) == [("", "43.7 T"), ("≈", "1.00×")]
    wrong = replace(make_rung(4), wrong=True)
    assert label_rows(wrong, 43.7e12) == [("", "6.10 T"), ("", "wrong")]


def test_an_undecided_step_is_painted_as_no_gain(chart, tmp_path):
    ladder = make_ladder()
    rungs = list(ladder.rungs)
    gain = replace(rungs[4].gain, ratio_low=0.9, ratio_high=9.0)
    rungs[4] = replace(rungs[4], gain=gain)
    chart.set_ladder(replace(ladder, rungs=tuple(rungs)))
    image = saved(chart, tmp_path / "ladder.png")
    assert rungs[4].step == "open"
    assert LIGHT.accent not in inks(image, scene_bar(chart, 4))
    assert LIGHT.accent in inks(image, scene_bar(chart, 5))


def test_a_loss_is_red_and_signed_and_a_gain_is_not(chart, tmp_path):
    chart.set_ladder(make_ladder())
    image = saved(chart, tmp_path / "ladder.png")
    assert LIGHT.bad in inks(image, scene_bar(chart, 3))
    assert LIGHT.bad not in inks(image, scene_bar(chart, 4))
    assert LIGHT.good in inks(image, scene_bar(chart, 4))
    assert LIGHT.accent in inks(image, scene_bar(chart, 4))


def test_the_table_has_the_figures_of_every_rung(chart):
    chart.set_ladder(make_ladder())
    rows = dict(chart._table.rows)
    assert list(rows) == ["of library", "of peak", "registers", "local KiB", "occupancy"]
    assert rows["of library"][-1] == "100 %"
    assert rows["of peak"][5] == "60 %"
    assert rows["registers"][10] == "255"
    assert rows["local KiB"][2:4] == ("2", "2.12")
    assert rows["occupancy"][0] == "100 %"
    plain = tuple(
        replace(rung, registers=None, occupancy=None, ceiling_share=None)
        for rung in make_ladder().rungs
    )
    chart.set_ladder(make_ladder(rungs=plain, library=None, peak=None))
    assert [name for name, _ in chart._table.rows] == ["local KiB"]


@pytest.mark.parametrize(
    ("width", "height", "posture"),
    [(1100, 620, "flat"), (760, 400, "flat"), (560, 320, "upright"), (420, 200, "signs")],
)
def test_labels_never_overlap(chart, width, height, posture, tmp_path):
    chart.resize(width, height)
    chart.set_ladder(make_ladder())
    saved(chart, tmp_path / "ladder.png")
    layer = chart._layer
    image = QImage(10, 10, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    rooms = []
    for place, rung in enumerate(chart.ladder.rungs):
        top = layer.to_pixel(place, rung.high).y()
        rooms.append(layer._paint_label(painter, place, rung, top, layer.posture))
    painter.end()
    assert layer.posture == posture
    for index, room in enumerate(rooms):
        assert room.top() >= 0
        assert not any(room.adjusted(1, 0, -1, 0).intersects(other) for other in rooms[:index])


def test_a_narrow_chart_numbers_its_rungs_and_a_low_one_has_no_table(chart):
    chart.set_ladder(make_ladder())
    chart.settle()
    assert chart._names._names[2] == "3 Tiled in local memory"
    assert chart._table.rows
    chart.resize(560, 280)
    chart.settle()
    assert chart._names._names[2] == "3"
    assert not chart._table.rows


def test_lines_that_would_flatten_the_bars_are_named_in_the_legend(chart):
    chart.set_ladder(make_ladder())
    assert [level.name for level in chart._near_levels()] == ["cuBLAS", "measured peak"]
    far = LibrarySpeed("cublas", "cuBLAS", 900e12)
    chart.set_ladder(make_ladder(library=far))
    assert [level.name for level in chart._near_levels()] == ["measured peak"]
    texts = [entry.text for entry in chart._legend._entries]
    assert "↑ cuBLAS 900 TFLOP/s" in texts
    assert chart._plot.viewRange()[1][1] < 2 * PEAK


def test_a_name_stands_where_nothing_is_in_the_way():
    size = 50.0, 12.0
    assert free_place(100, size, 300, []) == QRectF(4, 87, *size)
    beside = free_place(100, size, 300, [QRectF(0, 80, 60, 40)])
    assert beside is not None
    assert beside.left() >= 60
    below = free_place(100, size, 300, [QRectF(0, 0, 300, 99)])
    assert below == QRectF(4, 101, *size)
    assert free_place(100, size, 300, [QRectF(0, 0, 300, 300)]) is None


def test_hovering_tells_all_figures(chart):
    ladder = make_ladder()
    chart.set_ladder(ladder)
    chart._layer.point_at(3.2)
    assert chart._layer.pointed is ladder.rungs[3]
    text = describe_rung(ladder.rungs[3], ladder)
    for part in ("4  Tiled, transposed and padded", "TS=16", "median 6.10 TFLOP/s (6.04",
                 "▼ slower than rung_3: 0.938", "12 % of cuBLAS, 9 % of the measured peak",
                 "32 registers, 2.12 KiB of local memory, 256 work-items",
                 "occupancy 100 %"):  # fmt: skip
        assert part in text
    chart.hide_hover()
    assert chart._layer.pointed is None
    chart._layer.point_at(40.0)
    assert chart._layer.pointed is None


def test_a_rung_that_could_not_run_says_why(chart, tmp_path):
    ladder = make_ladder()
    reason = "A group needs 64 KiB of local memory; a launch gets 48 KiB."
    missing = replace(
        ladder.rungs[5], flops_per_second=None, low=None, high=None, gain=None, why_not=reason
    )
    chart.set_ladder(replace(ladder, rungs=(*ladder.rungs[:5], missing, *ladder.rungs[6:])))
    image = saved(chart, tmp_path / "ladder.png")
    found = map(QColor, inks(image, scene_bar(chart, 5)))
    assert any(ink.red() > ink.green() + 80 for ink in found)  # the cross, smoothed
    assert reason in describe_rung(missing, ladder)
    assert "median" not in describe_rung(missing, ladder)


def test_an_empty_chart_says_so(chart):
    assert chart.is_empty()
    chart.set_ladder(make_ladder(rungs=()))
    assert chart.is_empty()
    chart.set_ladder(make_ladder(1))
    assert not chart.is_empty()


def test_rungs_appear_as_they_are_measured_and_a_stop_keeps_them(qtbot, panel, engine):
    def perform(experiment):
        yield Progressed(experiment.job_id, 0.25, "2 of 12: Naive, coalesced")
        yield LadderClimbed(experiment.job_id, make_ladder(2))
        while not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        yield Outcome(experiment, make_ladder(2), stopped=True)

    engine.perform = perform
    assert panel.chart.is_empty()
    assert panel.run.isEnabled()
    assert not panel.stop.isVisible()
    assert "each idea against the last" in panel.chart.empty_text
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.chart.is_empty())
    assert panel.note.text() == "2 of 12: Naive, coalesced"
    assert panel.meter.value() == 250
    assert panel.stop.isVisible()
    assert not panel.run.isEnabled()
    assert "being climbed" in panel.run.toolTip()
    panel.stop.click()
    qtbot.waitUntil(lambda: not panel.climb.running)
    assert "Stopped" in panel.note.text()
    assert len(panel.chart.ladder.rungs) == 2
    assert panel.run.isEnabled()
    assert not panel.meter.isVisible()


def test_the_setup_s_shape_is_climbed_on_the_selected_device(qtbot, panel, engine, state):
    engine.finding = make_ladder()
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.climb.running)
    (experiment,) = engine.performed
    assert isinstance(experiment, ClimbLadder)
    assert experiment.device == POCL
    assert replace(experiment.problem, seed=0) == state.setup.problem()
    assert {variant.id for variant in experiment.variants} >= {"tiled", "blas"}
    assert panel.chart.ladder == engine.finding
    assert "The fastest rung has the lowest occupancy" in panel.told.text()
    title, lines = panel.title()
    assert title.startswith("The ladder at ")
    assert title.endswith("float on pthread-cpu · PoCL 3.0-rc2")
    assert any("lowest occupancy" in line.text for line in lines)


def test_each_device_and_shape_has_a_ladder_of_its_own(qtbot, panel, engine, state):
    engine.finding = make_ladder()
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.climb.running)
    state.select_device(H200)
    assert panel.chart.is_empty()
    assert panel.title() is None
    assert not panel.export.isEnabled()
    state.select_device(POCL)
    assert not panel.chart.is_empty()
    before = state.setup
    state.change(replace(before, element="double"))
    assert panel.chart.is_empty()
    state.change(before)
    assert panel.chart.ladder == engine.finding
    assert panel.export.isEnabled()


def test_why_it_cannot_be_climbed_is_said(qtbot, panel, engine, state):
    state.select_device(BROKEN)
    assert not panel.run.isEnabled()
    assert "ld" in panel.run.toolTip()
    assert panel.chart.empty_text == panel.run.toolTip()
    state.select_device(POCL)
    engine.failure = Failure("not_found", "There is no kernel of the family ladder.")
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.climb.running)
    assert panel.note.text() == "There is no kernel of the family ladder."
    assert panel.note.property("state") == "bad"


def test_the_tab_is_there_and_exports_its_chart(qtbot, state):
    tabs = shown_tabs(qtbot, state)
    tabs.setCurrentWidget(tabs.ladder)
    assert tabs.tabText(tabs.currentIndex()) == "Ladder"
    assert tabs.tabText(tabs.currentIndex() - 1) == "Roofline"
    assert tabs.chart is tabs.ladder.chart


def test_a_legend_that_is_never_filled_takes_no_room(qtbot):
    chart = LadderChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(540, 237)
    chart.set_ladder(make_ladder(6))
    chart.show()
    chart.settle()
    assert chart._legend.size().height() == 0
    assert chart._plot.height() > 150
