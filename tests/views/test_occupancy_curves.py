from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor

from gemmviz.core.catalog import load_catalog
from gemmviz.core.launch import default_parameters
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.residency import Residency
from gemmviz.core.steps import REFUSED, step_curves
from gemmviz.core.throttle import ThrottleCurve, ThrottlePoint
from gemmviz.views.charts.step_cells import LIMITER_NAMES, describe_pointed, limiter_color
from gemmviz.views.charts.steps import StepsChart
from gemmviz.views.charts.throttle import ThrottleChart, Throttled, describe_point
from gemmviz.views.export import render_chart
from gemmviz.views.occupancy_curves_panel import OccupancyCurvesPanel
from gemmviz.views.theme import DARK, LIGHT, mixed
from tests.app.fake_engine import H200, POCL
from tests.views.window_parts import shown_tabs

CATALOG = load_catalog(data_dir("kernels"))
CURVE = ThrottleCurve(
    (
        ThrottlePoint(0, 6, 6e12, 5.9e12, 6.1e12),
        ThrottlePoint(40000, 3, 5.7e12, 5.6e12, 5.8e12),
        ThrottlePoint(90000, 1, 2.4e12, 2.3e12, 2.5e12),
    ),
    "Occupancy matters here: with 1 of 6 groups resident it keeps 40 % of its speed.",
)
FASTER = ThrottleCurve((ThrottlePoint(0, 1, 45e12, 44e12, 46e12),), "One group is resident.")


def curves(kernel: str = "tiled", on: str = "9.0"):
    variant = CATALOG.find(kernel)
    return step_curves(
        variant, default_parameters(variant), Problem(512, 512, 512), named_limits(on), registers=36
    )


@pytest.fixture
def steps(qtbot):
    chart = StepsChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(720, 480)
    chart.show()
    chart.set_curves(curves())
    chart.settle()
    return chart


def cell_of(chart, name: str):
    return next(cell for cell in chart._cells._placed()[0] if cell.curve.name == name)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_every_step_has_the_colour_of_its_limiter(steps, theme):
    steps.set_theme(theme)
    image = render_chart(steps)
    cell = cell_of(steps, "Local memory of a group")
    for index, step in enumerate(cell.curve.steps):
        left, right = cell.ends(index)
        if right - left < 8:
            continue
        place = steps._cells.mapToScene(QPointF(right - 3, cell.plot.bottom() - 4))
        wanted = mixed(limiter_color(step.limiters[0], theme), theme.panel, 0.28)
        assert image.pixelColor(place.toPoint()) == QColor(wanted)


def test_the_present_point_is_marked(steps):
    image = render_chart(steps)
    for curve in steps.curves:
        spot = cell_of(steps, curve.name).spot()
        place = steps._cells.mapToScene(spot).toPoint()
        assert image.pixelColor(place) == QColor(DARK.mark)


def test_every_limiter_has_a_name_and_a_colour_of_its_own():
    colors = {limiter_color(name, DARK) for name in LIMITER_NAMES}
    assert len(colors) == len(LIMITER_NAMES)
    assert limiter_color(REFUSED, DARK) == DARK.muted


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((1100, 700), {"BM", "BN", "TM", "TN", "Work-items of a group", "Registers of a work-item",
                       "Local memory of a group"}),
        ((560, 280), {"BM", "BN", "Registers of a work-item", "Local memory of a group"}),
        ((300, 160), {"Local memory of a group"}),
    ],
)  # fmt: skip
def test_a_small_chart_shows_what_matters_most(qtbot, size, shown):
    chart = StepsChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.set_curves(curves("register_2d"))
    chart.resize(*size)
    chart.settle()
    cells, left_out = chart._cells._placed()
    assert {cell.curve.name for cell in cells} == shown
    assert len(cells) + len(left_out) == len(chart.curves)
    for index, cell in enumerate(cells):
        for other in cells[index + 1 :]:
            assert not cell.whole.intersects(other.whole)


def test_what_is_pointed_at_is_said(steps):
    cell = cell_of(steps, "Registers of a work-item")
    text = describe_pointed(cell.curve, cell.curve.at(36))
    assert text == "Registers of a work-item: 33 to 40\n75 % (6 groups), limited by registers"
    before = steps.grab().toImage()
    steps._cells.point_at(QPointF(cell.x(200), cell.plot.center().y()))
    assert steps.grab().toImage() != before
    steps.hide_hover()
    assert steps.grab().toImage() == before


def test_no_curve_is_an_empty_chart(steps):
    assert not steps.is_empty()
    steps.set_curves(())
    assert steps.is_empty()


def test_the_speed_chart_shows_points_where_they_are(qtbot):
    chart = ThrottleChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(700, 480)
    chart.show()
    assert chart.is_empty()
    chart.set_curves((Throttled("best", FASTER), Throttled("tiled", CURVE)))
    chart.settle()
    image = render_chart(chart)
    for each in chart.curves:
        for point in each.curve.points:
            place = chart._layer.mapToScene(chart._layer._spot(point)).toPoint()
            assert image.pixelColor(place) == QColor(chart._kernels.color(each.name))
    last = describe_point(Throttled("tiled", CURVE), CURVE.points[-1])
    assert last.splitlines() == [
        "tiled", "1 resident: 2.40 TFLOP/s", "40 % of its speed as it is",
        "with 87.9 KiB of local memory left unused",
    ]  # fmt: skip
    spot = chart._layer._spot(CURVE.points[0])
    before = chart.grab().toImage()
    chart._layer.point_at(spot)
    assert chart.grab().toImage() != before
    chart.hide_hover()
    assert chart.grab().toImage() == before


@pytest.fixture
def panel(qtbot, state):
    state.select_device(H200)
    qtbot.waitUntil(lambda: state.estimate is not None and not state.awaits_registers)
    panel = OccupancyCurvesPanel(state)
    panel.set_theme(DARK)
    qtbot.addWidget(panel)
    panel.resize(720, 480)
    panel.show()
    return panel


def test_the_curves_follow_the_setup(qtbot, state, panel):
    def present() -> int | None:
        return next((c.present for c in panel.steps.curves if c.name == "TS"), None)

    assert present() == 16
    state.change(state.setup.with_parameter("TS", 32))
    qtbot.waitUntil(lambda: present() == 32)
    panel.hide()
    state.change(state.setup.with_parameter("TS", 8))
    panel.catch_up()
    assert present() == 8
    panel.show()
    state.select_device(POCL)
    qtbot.waitUntil(panel.steps.is_empty)
    assert "does not apply" in panel.steps.empty_text
    assert "Estimate as if" in panel.steps.empty_text


def test_estimate_and_count_stand_side_by_side(qtbot, engine, panel):
    engine.finding = Residency(6, 5, 132, 256, 2048, each_unit=True)
    assert panel.told.text() == "Estimate: 6 groups, 75 %. Measure counts them."
    qtbot.mouseClick(panel.measure, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Measured" in panel.told.text())
    assert panel.told.text().startswith("Estimate: 6. Measured: 6 groups a unit. A probe of the")
    assert panel.told.property("state") == "good"
    assert not engine.performed[0].instrumented
    engine.finding = Residency(5, 5, 132, 256, 2048, difference="Why it is so.", each_unit=True)
    panel.counter.buttons["Kernel"].click()
    qtbot.mouseClick(panel.measure, Qt.MouseButton.LeftButton)
    wanted = "Estimate: 6. Measured: 5 groups a unit. Why it is so."
    qtbot.waitUntil(lambda: panel.told.text() == wanted)
    assert engine.performed[1].instrumented
    title, lines = panel.title()
    assert title.startswith("tiled TS=16 on NVIDIA H200")
    assert [line.text for line in lines][1:] == [
        "Estimate: 6. Measured: 5 groups a unit.", "Why it is so.",
    ]  # fmt: skip


def test_does_it_matter_shows_the_speed(qtbot, state, engine, panel):
    engine.finding = CURVE
    qtbot.mouseClick(panel.matters, Qt.MouseButton.LeftButton)
    assert panel.chart is panel.speed
    qtbot.waitUntil(lambda: len(panel.speed.curves) == 1)
    assert panel.speed.is_empty() is False
    engine.finding = FASTER
    state.change(state.setup.with_parameter("TS", 8))
    qtbot.waitUntil(panel.matters.isEnabled)
    qtbot.mouseClick(panel.matters, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.speed.curves) == 2)
    _, lines = panel.title()
    assert lines[0].text == FASTER.sentence
    assert "misleads" in lines[1].text
    panel.view.buttons["Curves"].click()
    assert panel.chart is panel.steps


def test_a_measurement_can_be_stopped(qtbot, engine, panel):
    engine.endless_experiments = True
    assert not panel.stop.isVisible()
    qtbot.mouseClick(panel.measure, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.told.text() == "Measuring: half, 50 %")
    assert not panel.measure.isEnabled()
    qtbot.mouseClick(panel.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(panel.measure.isEnabled)
    assert not panel.stop.isVisible()


def test_the_tab_exports_its_chart(qtbot, state):
    state.select_device(H200)
    tabs = shown_tabs(qtbot, state)
    tabs.setCurrentWidget(tabs.occupancy)
    assert tabs.tabText(tabs.currentIndex()) == "Occupancy"
    assert tabs.chart is tabs.occupancy.steps
