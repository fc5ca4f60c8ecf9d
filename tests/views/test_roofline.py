from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPolygonF

from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.experiments import MeasureCeilings, Outcome
from gemmviz.core.messages import CeilingRead, Progressed
from gemmviz.core.model import Failure
from gemmviz.core.roofline import DeviceRoofs, Dot, Standing, roofs
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.roofline import RooflineChart
from gemmviz.views.charts.roofline_labels import Place, Room, along, around
from gemmviz.views.charts.roofline_layers import radius_of
from gemmviz.views.charts.roofline_words import describe_mark
from gemmviz.views.roofline_panel import RooflinePanel
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import H200, POCL, wrong_run


def table(device, scale: float = 1.0) -> CeilingTable:
    return CeilingTable(
        device.key,
        "1",
        (
            Ceiling("global copy", "float", 4.3e12 * scale, "B/s", 0.1),
            Ceiling("cache read", "float", 7e12 * scale, "B/s", 0.1),
            Ceiling("near cache read", "float", 30e12 * scale, "B/s", 0.1),
            Ceiling("fma", "float", 65e12 * scale, "FLOP/s", 0.1),
            Ceiling("fma", "double", 33e12 * scale, "FLOP/s", 0.1),
        ),
    )


def result(kernel: str, rate: float, source: float | None = 4.0, device: str = "GPU one") -> Dot:
    return Dot(
        device, kernel, "float", 1e12 / rate,
        Standing(100.0, rate, 65e12, "FMA float"),
        None if source is None else Standing(source, rate, 30e12 * source, "near cache"),
    )  # fmt: skip


ONE = DeviceRoofs("GPU one", roofs(table(H200)))
TWO = DeviceRoofs("CPU two", roofs(table(POCL, 0.01)))


@pytest.fixture
def chart(qtbot) -> RooflineChart:
    chart = RooflineChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(800, 520)
    chart.show()
    chart.settle()
    return chart


def outlines(chart: RooflineChart) -> list[QPolygonF]:
    return [label.outline for label in chart.layer.labels()]


def test_the_empty_chart_says_the_next_step(chart):
    assert chart.is_empty()
    assert "Measure" in chart.empty_text
    chart.set_roofs((DeviceRoofs("GPU one", ()),))
    assert chart.is_empty()
    chart.set_roofs((ONE,))
    assert not chart.is_empty()


def test_slopes_end_at_the_highest_peak_and_peaks_begin_at_the_steepest_slope(chart):
    chart.set_roofs((ONE,))
    ends = {placed.roof.name: (placed.start, placed.end) for placed in chart.layer.roofs}
    assert ends["global memory"][1].x() == pytest.approx(math.log10(65 / 4.3))
    assert ends["global memory"][1].y() == pytest.approx(math.log10(65e12))
    assert ends["FMA float"][0].x() == pytest.approx(math.log10(65 / 30))
    assert ends["FMA double"][0].x() == pytest.approx(math.log10(33 / 30))
    # Slopes rise by one decade a decade.
    start, end = ends["cache"]
    assert end.y() - start.y() == pytest.approx(end.x() - start.x())


def test_everything_is_in_view(chart):
    chart.set_roofs((ONE, TWO))
    chart.set_dots((result("naive", 1e9, 0.01), result("fast", 60e12, 2000.0)))
    (left, right), (bottom, top) = chart.layer.plot.viewRange()
    for dot in chart.layer.dots:
        for mark in dot.marks:
            assert left < math.log10(mark.intensity) < right
            assert bottom < math.log10(mark.flops_per_second) < top
    for placed in chart.layer.roofs:
        if not placed.roof.flat:
            assert left < placed.end.x() < right
            assert bottom < placed.end.y() < top


def test_a_zoom_stays_until_home(chart):
    chart.set_roofs((ONE,))
    whole = chart.layer.plot.viewRange()
    chart.layer.plot.setRange(xRange=(0, 1), yRange=(12, 13), padding=0)
    chart._on_zoomed(None)
    zoomed = chart.layer.plot.viewRange()
    chart.set_dots((result("naive", 1e12),))
    assert chart.layer.plot.viewRange() == zoomed
    chart.home()
    assert chart.layer.plot.viewRange() != zoomed
    chart.set_dots(())
    assert chart.layer.plot.viewRange() == whole


@pytest.mark.parametrize("size", [(800, 520), (420, 300), (1400, 900)])
def test_labels_never_overlap(chart, size):
    chart.resize(*size)
    chart.settle()
    chart.set_roofs((ONE, TWO))
    # Forty results in one place: whoever finds no room goes without.
    dots = [result(f"kernel number {place}", 5e12 * 1.01**place) for place in range(40)]
    chart.set_dots((*dots, result("on the CPU", 1e11, device="CPU two")))
    chart.settle()
    labels = chart.layer.labels()
    assert len(labels) >= 4
    assert labels[0].text.split()[1] == "FMA"
    for one, other in itertools.combinations(outlines(chart), 2):
        assert not one.intersects(other)
    area = chart.layer.boundingRect()
    assert all(area.contains(outline.boundingRect()) for outline in outlines(chart))


def test_labels_keep_off_marks(chart):
    chart.set_roofs((ONE,))
    chart.set_dots(tuple(result(f"kernel {place}", 2e12 * 1.3**place) for place in range(8)))
    for dot in chart.layer.dots:
        for mark in dot.marks:
            spot = chart.layer._spot(mark)
            rule = Qt.FillRule.OddEvenFill
            assert not any(outline.containsPoint(spot, rule) for outline in outlines(chart))


def test_room_prefers_places_off_lines_and_leaves_out_what_finds_none():
    room = Room(QRectF(0, 0, 200, 100))
    room.spare(QLineF(0, 20, 200, 20))
    size = QSizeF(60, 12)
    on_line, off_line = Place(QPointF(50, 20)), Place(QPointF(50, 60))
    assert room.take(size, [on_line, off_line]) == off_line
    assert room.take(size, [off_line]) is None
    assert room.take(size, [on_line]) == on_line
    assert room.take(size, [Place(QPointF(10, 90))]) is None  # half outside
    room.block(QRectF(100, 70, 90, 25))
    assert room.take(size, [Place(QPointF(150, 80))]) is None


def test_places_along_a_line_touch_it_on_neither_side():
    size = QSizeF(40, 10)
    line = QLineF(0, 100, 100, 0)
    for place in along(line.p1(), line.p2(), size, (0.0, 0.5, 1.0)):
        assert place.slant == pytest.approx(45)
        assert not place.outline(size).intersects(
            QPolygonF([line.p1(), line.p2(), line.p2() + QPointF(0.1, 0.1)])
        )
    spot = QPointF(50, 50)
    for place in around(spot, 5.0, size):
        assert not place.outline(size).boundingRect().contains(spot)


def test_area_is_time():
    assert radius_of(4.0, 4.0) == pytest.approx(2 * radius_of(1.0, 4.0))
    assert radius_of(1e-9, 4.0) > 0
    assert radius_of(0.0, 0.0) > 0


def test_devices_keep_their_colours_and_are_told_apart_by_numbers_too(qtbot):
    book = ColorBook()
    second = book.look("CPU two").color
    chart = RooflineChart(devices=book)
    qtbot.addWidget(chart)
    chart.set_roofs((ONE, TWO))
    assert {(p.device, p.number, p.color) for p in chart.layer.roofs} == {
        ("GPU one", "1", book.color("GPU one")),
        ("CPU two", "2", second),
    }
    chart.set_roofs((TWO,))
    assert {(p.number, p.color) for p in chart.layer.roofs} == {("", second)}


def test_the_mouse_tells_of_marks_and_roofs(chart):
    chart.set_roofs((ONE,))
    chart.set_dots((result("tiled", 6.5e12),))
    (dot,) = chart.layer.dots
    least, source = (chart.layer._spot(mark) for mark in dot.marks)
    chart.layer.point_at(least)
    assert "each matrix moved once" in chart.layer.pointed
    assert "10 % of its roof, FMA float: 65.0 TFLOP/s" in chart.layer.pointed
    chart.layer.point_at(source)
    assert "4 FLOP/B: all that the source asks for" in chart.layer.pointed
    slope = next(p for p in chart.layer.roofs if p.roof.name == "cache")
    line = chart.layer._line(slope)
    chart.layer.point_at(line.pointAt(1 - 60 / line.length()))
    assert chart.layer.pointed == "cache 7.00 TB/s\nGPU one"
    chart.layer.point_at(QPointF(2, chart.layer.plot.height() / 2))
    assert chart.layer.pointed == ""
    chart.layer.point_at(least)
    chart.hide_hover()
    assert chart.layer.pointed == ""


def test_what_is_above_its_roof_or_has_none_is_said():
    above = replace(result("tiled", 6e12), least=Standing(1.0, 6e12, 4.3e12, "global memory"))
    text = describe_mark(above, above.least)
    assert "1.4 times its roof, global memory: nearer caches serve it" in text
    source = replace(above, source=Standing(0.1, 6e12, 3e12, "near cache"))
    assert "registers keep part of it" in describe_mark(source, source.source)
    bare = replace(above, least=Standing(1.0, 6e12), wrong=True)
    text = describe_mark(bare, bare.least)
    assert "wrong answer" in text
    assert text.endswith("its device's ceilings are not measured")


def test_it_draws_in_both_themes(chart):
    chart.set_roofs((ONE, TWO))
    chart.set_dots((result("tiled", 6e12), replace(result("off", 3e12, None), wrong=True)))
    pictures = []
    for theme in (DARK, LIGHT):
        chart.set_theme(theme)
        pictures.append(chart.grab().toImage())
    assert pictures[0] != pictures[1]
    chart.set_dots(())
    assert chart.grab().toImage() != pictures[1]


@pytest.fixture
def panel(qtbot, state) -> RooflinePanel:
    panel = RooflinePanel(state)
    qtbot.addWidget(panel)
    panel.resize(800, 500)
    panel.show()
    return panel


def test_ceilings_are_measured_for_the_chosen_devices(qtbot, state, engine, panel):
    assert panel.measure.text() == "Measure ceilings"
    assert "H200" in panel.chart.empty_text
    assert panel.meter.isHidden()
    engine.finding = table(H200)
    with qtbot.waitSignal(state.laboratory.experiment_ended):
        panel.measure.click()
        assert panel.cancel.isVisible()
        assert panel.meter.isVisible()
        assert panel.measure.isHidden()
        assert "are being measured" in panel.chart.empty_text
    assert engine.performed == [
        MeasureCeilings(engine.performed[0].job_id, H200, again=False),
    ]
    assert panel.measure.isVisible()
    assert panel.cancel.isHidden()
    assert {placed.device for placed in panel.chart.layer.roofs} == {"NVIDIA H200 · CUDA 12.8.1"}
    assert panel.measure.text() == "Measure again"
    with qtbot.waitSignal(state.laboratory.experiment_ended):
        panel.measure.click()
    assert engine.performed[1].again


def test_every_ticked_device_is_measured_in_turn(qtbot, state, engine, panel):
    for device in (H200, POCL):
        state.tick_device(device.key, True)
    engine.finding = table(H200)
    panel.measure.click()
    qtbot.waitUntil(lambda: len(engine.performed) == 2 and not state.laboratory.busy)
    assert {each.device.key for each in engine.performed} == {H200.key, POCL.key}


def test_progress_is_told_and_can_be_ended(qtbot, state, engine, panel):
    engine.endless_experiments = True
    panel.measure.click()
    qtbot.waitUntil(lambda: panel.meter.value() == 500)
    assert "half" in panel.note.text()
    job_id = next(iter(state.laboratory.busy))
    found = CeilingRead(job_id, Ceiling("global copy", "float", 4.3e12, "B/s", 0.1))
    panel._on_experiment_advanced(job_id, (found, Progressed(job_id, 0.75, "fma, float")))
    assert panel.meter.value() == 750
    assert "fma, float" in panel.note.text()
    panel.cancel.click()
    qtbot.waitUntil(lambda: not state.laboratory.busy)
    assert panel.measure.isVisible()
    assert panel.measure.text() == "Measure ceilings"
    assert panel.chart.is_empty()


def test_a_failure_is_said(state, panel):
    experiment = MeasureCeilings(5, POCL)
    failure = Failure("launch", "The driver refused a launch.")
    panel._on_experiment_ended(Outcome(experiment, None, failure))
    assert panel.note.text() == "The driver refused a launch."


def test_ticked_runs_stand_below_the_roofs(state, engine, finish, panel):
    finish()
    state.laboratory.learn_ceilings(table(H200))
    (dot,) = panel.chart.layer.dots
    assert len(dot.marks) == 1
    assert dot.dot.least.attainable is not None
    state.book.learn_traffic(state.book.runs[0], 2 * 512**3 // 4)
    (dot,) = panel.chart.layer.dots
    assert dot.dot.source is not None
    assert dot.dot.source.intensity == pytest.approx(4.0, rel=1e-6)
    engine.script = wrong_run
    finish()
    assert [placed.dot.wrong for placed in panel.chart.layer.dots].count(True) == 1
    state.book.tick(state.book.runs[0], False)
    assert len(panel.chart.layer.dots) == 1
    state.book.clear()
    assert not panel.chart.layer.dots


def test_missing_ceilings_are_said_above_the_results(state, finish, panel):
    finish()
    _, (line,) = panel.chart._heading.text
    assert line.text == "The ceilings of NVIDIA H200 · CUDA 12.8.1 are not measured"
    state.laboratory.learn_ceilings(table(H200))
    assert panel.chart._heading.text == ("", ())
    title, _ = panel.title()
    assert title == "Roofline of NVIDIA H200 · CUDA 12.8.1"
