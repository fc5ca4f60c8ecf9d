from __future__ import annotations

import pytest

from gemmviz.app.policies import CHOICES
from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import Progressed, SweepAdvanced
from gemmviz.views.sweep_panel import PLAN, SweepPanel
from gemmviz.views.sweep_views import HEAT, LINES, VIEWS
from gemmviz.views.theme import DARK
from tests.app.fake_engine import POCL
from tests.core.sweeps import kernel, make_report, make_sweep


@pytest.fixture
def panel(qtbot, state):
    state.select_device(POCL)
    state.choose_variant(kernel("register_2d"))
    state.change(state.setup.with_all_sizes(256))
    made = SweepPanel(state)
    qtbot.addWidget(made)
    made.set_theme(DARK)
    made.resize(820, 520)
    made.show()
    yield made
    made.trial.close()


def show_report(panel, sweep) -> None:
    """As if this sweep had been measured."""
    panel.trial.sweep, panel.trial.report = sweep, make_report(sweep)
    panel.catch_up()


def buttons(panel) -> set[str]:
    """Those that can be seen."""
    names = ("start", "pause", "resume", "show_known", "cancel", "save")
    return {name for name in names if getattr(panel, name).isVisible()}


def test_buttons_follow_a_sweep_from_start_to_end(qtbot, panel, engine):
    asked = []

    def perform(experiment):
        assert isinstance(experiment, RunSweep)
        asked.append(experiment)
        yield Progressed(experiment.job_id, 0.5, "40 of 81: screening")
        yield SweepAdvanced(experiment.job_id, make_report(experiment.sweep, 0.5))
        while len(asked) == 1 and not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        report = make_report(experiment.sweep, 0.5 if len(asked) == 1 else 1.0)
        yield Outcome(experiment, report, stopped=len(asked) == 1)

    engine.perform = perform
    panel.start.click()
    assert panel.views.view == HEAT
    assert not panel.planning
    qtbot.waitUntil(lambda: not panel.views.heat.is_empty())
    assert panel.words.text() == "40 of 81: screening"
    assert panel.times.text().startswith("12.5 s so far, about ")
    assert panel.meter.isVisible()
    shown = {"start": False, "pause": True, "resume": False, "cancel": True, "save": False}
    assert {name: getattr(panel, name).isVisible() for name in shown} == shown
    assert "planned" in {place.state for place in panel.views.heat.grid.cells}
    panel.pause.click()
    qtbot.waitUntil(panel.resume.isVisible)
    assert not panel.pause.isVisible()
    panel.resume.click()
    qtbot.waitUntil(lambda: not panel.trial.running)
    qtbot.waitUntil(panel.save.isVisible)
    assert "planned" not in {cell.state for cell in panel.trial.report.cells}
    assert panel.words.text() == panel.trial.report.winners[0].words
    assert not panel.meter.isVisible()
    assert not panel.times.isVisible()
    panel.choose_page(PLAN)
    assert panel.start.isVisible()


def test_a_sweep_that_is_known_as_a_whole_is_shown_and_not_resumed(qtbot, state, panel, engine):
    state.choose_variant(kernel("tiled"))
    trial = panel.trial
    qtbot.waitUntil(lambda: trial.count is not None, timeout=10_000)
    assert buttons(panel) == {"start"}
    engine.finding = make_report(trial.drafted)
    panel.start.click()
    qtbot.waitUntil(lambda: not trial.running)
    panel.choose_page(PLAN)
    assert buttons(panel) == {"start", "show_known"}
    panel.show_known.click()
    assert panel.views.view == HEAT
    assert not panel.planning
    assert len(engine.performed) == 1
    trial.report = make_report(trial.drafted, 0.5)  # as if it had been cut off there
    trial.count = None
    panel.choose_page(PLAN)
    trial._ask()
    qtbot.waitUntil(lambda: trial.count is not None, timeout=10_000)
    assert buttons(panel) == {"start", "resume"}


def test_no_policy_is_offered_that_would_be_refused(panel):
    combo = panel.form.measure
    offered = [combo.itemData(row) for row in range(combo.count())]
    assert offered == [name for name in CHOICES if name != "Until stopped"]


def test_parallel_axes_are_offered_where_three_things_vary(panel):
    buttons = panel.page.buttons
    assert not buttons[LINES].isVisible()
    show_report(panel, make_sweep())
    assert all(buttons[view].isVisible() for view in VIEWS)
    panel.choose_page(LINES)
    assert panel.chart is panel.views.lines
    assert panel.views.lines.lines.axes[0].name == "BM"
    assert panel.chart.export_title.startswith("Parallel of 2-D register blocking")
    cell = panel.views.lines.lines.lines[-1].cell
    panel.views.lines.cell_clicked.emit(cell)
    assert panel.details.cell == cell
    show_report(panel, make_sweep(("tiled",), (64, 128)))  # which has a form of fewer things
    assert not buttons[LINES].isVisible()
    assert panel.views.view == HEAT
    assert panel.page.word == HEAT
