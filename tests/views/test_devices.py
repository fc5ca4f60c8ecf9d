from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtTest import QTest

from gemmviz.core.experiments import Outcome
from gemmviz.core.labels import device_label
from gemmviz.core.messages import DevicesMeasured, Progressed
from gemmviz.core.policy import fixed
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.devices_panel import DevicesPanel
from gemmviz.views.theme import DARK
from tests.app.fake_engine import H200, INTEL, POCL, batch, wrong_run
from tests.app.test_race import perform_with
from tests.core.device_comparisons import make_comparison
from tests.views.charts.test_devices import has_ink, saved
from tests.views.window_parts import shown_tabs


@pytest.fixture
def panel(qtbot, state):
    state.change(replace(state.setup, policy=fixed(40)))
    panel = DevicesPanel(state)
    qtbot.addWidget(panel)
    panel.set_theme(DARK)
    panel.resize(820, 560)
    panel.show()
    return panel


# --- the panel


def measure(engine, *, endless: bool = False):
    """Lets an engine find the comparison of the tests, in two parts."""
    comparison = make_comparison()

    def perform(experiment):
        engine.performed.append(experiment)
        yield Progressed(experiment.job_id, 0.25, "1 of 6: somewhere")
        part = replace(comparison, figures=comparison.figures[:3], whole=False)
        yield DevicesMeasured(experiment.job_id, part)
        while endless and not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        yield Outcome(experiment, part if endless else comparison, stopped=endless)

    engine.perform = perform
    return comparison


def test_devices_are_compared_and_a_stop_keeps_what_was_found(qtbot, panel, engine):
    measure(engine, endless=True)
    assert panel.chart.is_empty()
    assert not panel.export.isEnabled()
    assert "which device is the fastest at which size" in panel.bars.empty_text
    assert panel.note.text() == "3 devices, Tiled in local memory, float"
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.bars.is_empty())
    assert panel.note.text() == "1 of 6: somewhere"
    assert panel.meter.isVisible()
    assert panel.stop.isVisible()
    assert not panel.run.isEnabled()
    assert not panel.sizes.isEnabled()
    panel.stop.click()
    qtbot.waitUntil(lambda: not panel.trials.running)
    assert "Stopped" in panel.note.text()
    assert panel.bars.shown_size == 64
    assert panel.run.isEnabled()
    assert panel.export.isEnabled()


def test_views_units_and_sizes_are_chosen(qtbot, panel, engine):
    comparison = measure(engine)
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.trials.running)
    assert panel.told.text().startswith("64: pthread-cpu")
    assert panel.chart is panel.bars
    assert panel.at_size.isVisible()
    assert [option.value for option in panel.at_size._options] == [64, 128, 512]
    panel.at_size.option_chosen.emit(64)
    assert panel.bars.shown_size == 64
    panel.unit.option_chosen.emit("time")
    assert panel.bars.bars[1].text == "4.00 µs"
    assert "Lower is better" in panel.unit.toolTip()
    title, lines = panel.title()
    assert title == "Tiled, 64 × 64 × 64, float"
    assert lines[0].text.startswith("64: pthread-cpu")
    panel.view.buttons["Curves"].click()
    assert panel.chart is panel.curves
    assert not panel.at_size.isVisible()
    assert panel.curves.curves[0].points[0].value == pytest.approx(4e-6)
    assert panel.title()[0] == "Tiled, by size, float"
    assert panel.trials.comparison == comparison


def test_sizes_are_typed_or_taken_from_a_list(panel):
    assert panel.sizes.text() == "64, 128, 256, 512, 1024"
    panel.sizes.setText("32 8")
    QTest.keyClick(panel.sizes, Qt.Key.Key_Return)
    assert panel.trials.sizes == (8, 32)
    panel.sizes.setText("32, many")
    QTest.keyClick(panel.sizes, Qt.Key.Key_Return)
    assert panel.trials.sizes == (8, 32)
    assert panel.note.text() == "many is no size from 1 to 131072."
    assert panel.note.property("state") == "bad"
    small = panel.presets.menu().actions()[0]
    small.trigger()
    assert panel.trials.sizes == (16, 32, 64, 128)


def test_compare_takes_the_sizes_that_are_still_being_typed(qtbot, panel, engine):
    measure(engine, endless=True)
    panel.sizes.setFocus()
    panel.sizes.selectAll()
    QTest.keyClicks(panel.sizes, "32, many")
    panel.run.click()
    assert not panel.trials.running
    panel.sizes.selectAll()
    QTest.keyClicks(panel.sizes, "16,32")
    panel.run.click()
    assert panel.trials.running
    assert panel.trials.sizes == (16, 32)
    panel.stop.click()
    qtbot.waitUntil(lambda: not panel.trials.running)


def test_the_best_kernel_of_each_device_and_ceilings_are_asked_for(qtbot, panel, engine, state):
    measure(engine)
    panel.kernel.buttons["Its best"].click()
    assert "each with its best kernel" in panel.note.text()
    assert not panel.ceilings.isVisible()
    panel.unit.option_chosen.emit("ceiling")  # nothing else needs them
    assert panel.ceilings.isVisible()
    assert device_label(H200) in panel.ceilings.toolTip()
    panel.ceilings.click()
    qtbot.waitUntil(lambda: not panel.trials.running)
    (asked,) = engine.performed
    assert asked.variant is None
    assert asked.ceilings


# --- the race


def test_a_race_shows_both_devices_in_their_colours(qtbot, panel, engine, tmp_path):
    perform_with(engine)
    panel.view.buttons["Race"].click()
    assert panel.run.text() == "Race"
    assert not panel.form.isVisible()
    assert panel.note.text() == "At the same time: they are separate hardware"
    panel.race.sides[0].choice.option_chosen.emit(INTEL.key)
    assert panel.note.text() == "In turns, launch by launch: they share hardware"
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.contest.running)
    assert panel.race.verdict.isVisible()
    (words,) = panel.race.verdict.texts
    assert words[1] == "= tied (within 1 %)"
    for side, device in zip(panel.race.sides, (INTEL, POCL), strict=True):
        assert not side.chart.is_empty()
        assert side.figure.text() == "40 launches"
        image = saved(side.chart, tmp_path / "side.png")
        area = QRectF(0, 0, image.width(), image.height())
        color = panel._colors.color(device_label(device))
        assert has_ink(image, area, color)
    assert [result.device for result in panel.results()] == [INTEL, POCL]


def test_the_chart_that_is_asked_for_is_exported(qtbot, panel, engine):
    perform_with(engine)
    panel.view.buttons["Race"].click()
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.contest.running)
    first, other = panel.race.sides
    assert panel.chart is first.chart
    with qtbot.waitSignal(panel.export.clicked):
        other.export.click()
    assert panel.chart is other.chart
    title, lines = panel.title()
    assert title.endswith(device_label(other.run.device))
    assert "is as fast as" in lines[0].text


def test_another_choice_of_device_clears_the_last_race(qtbot, panel, engine):
    perform_with(engine)
    panel.view.buttons["Race"].click()
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.contest.running)
    panel.race.sides[1].choice.option_chosen.emit(INTEL.key)
    assert all(side.chart.is_empty() for side in panel.race.sides)
    assert not panel.race.verdict.isVisible()
    assert not panel.export.isEnabled()
    assert panel.title() is None


def test_a_wrong_answer_strikes_its_side_through(qtbot, panel, engine):
    perform_with(engine)
    engine.script = wrong_run
    panel.view.buttons["Race"].click()
    panel.run.click()
    qtbot.waitUntil(lambda: not panel.contest.running)
    assert all(side.chart._struck for side in panel.race.sides)
    assert "does not count" in panel.race.verdict.texts[0][1]


def test_a_hidden_race_is_drawn_when_it_is_looked_at(qtbot, panel, engine):
    def perform(experiment):
        for job in experiment.jobs:
            yield batch(job, (1e-3,) * 30)
        yield Outcome(experiment, None, stopped=True)

    engine.perform = perform
    panel.contest.choose(0, INTEL.key)
    panel.contest.start()
    qtbot.waitUntil(lambda: not panel.contest.running)
    assert panel.race.sides[0].chart.is_empty()
    panel.view.buttons["Race"].click()
    assert not panel.race.sides[0].chart.is_empty()


def test_a_device_has_one_colour_in_every_tab(qtbot, state, finish):
    state.tick_device(POCL.key, True)
    state.tick_device(INTEL.key, True)
    tabs = shown_tabs(qtbot, state)
    finish()
    assert tabs.tabText(tabs.indexOf(tabs.devices)) == "Devices"
    tabs.compare.bars.set_grouping("kernel")
    tabs.compare.catch_up()
    tabs.setCurrentWidget(tabs.devices)
    assert tabs.chart is tabs.devices.bars
    books = {
        id(book)
        for book in (
            tabs.compare.bars._devices, tabs.roofline.chart._devices, tabs.devices.bars._colors,
            tabs.devices.curves._colors, tabs.devices._colors,
        )
    }  # fmt: skip
    assert len(books) == 1
    colors = [tabs.devices._colors.color(device_label(device)) for device in state.devices]
    assert colors == [ColorBook().color("x"), *colors[1:]]
    assert len(set(colors)) == len(state.devices)
