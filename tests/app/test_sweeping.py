from __future__ import annotations

from dataclasses import replace

from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import CellMeasured, Progressed, SweepAdvanced
from gemmviz.core.model import Failure
from tests.app.fake_engine import BROKEN, H200, POCL
from tests.app.sweep_trials import counted, result_of
from tests.core.sweeps import kernel, make_report, make_sweep

# --- counting


def test_a_draft_is_counted_in_another_process_while_somebody_looks(qtbot, state, trial):
    assert trial.count is None
    words = counted(qtbot, trial)
    assert words.startswith("972 configurations, ")
    assert "cannot run (kernel's rules " in words
    assert words.endswith("on pthread-cpu · PoCL 3.0-rc2")
    trial.change(replace(trial.draft, kernels=("tiled",)))
    assert trial.words == "Counting the configurations..."
    assert counted(qtbot, trial).startswith("4 configurations, about ")
    trial.change(trial.draft.with_device(H200.key, True))
    assert counted(qtbot, trial).endswith("on 2 devices")
    trial.watch(False)
    assert not trial._process.running


def test_why_it_cannot_start_is_said(qtbot, state, trial):
    trial.change(replace(trial.draft, devices=(BROKEN.key,)))
    assert "the linker ld" in trial.refusal
    trial.change(replace(trial.draft, devices=()))
    assert trial.refusal == trial.words == "Tick at least one device."
    trial.start()
    assert not trial.running
    trial.change(replace(trial.draft, devices=(POCL.key,), kernels=("tiled",), shapes="90000"))
    counted(qtbot, trial)
    assert trial.refusal == "No configuration can run: tick other values."


# --- measuring


def test_cells_come_as_they_are_measured_and_the_answer_stays(qtbot, state, engine, trial):
    reports = []

    def perform(experiment):
        assert isinstance(experiment, RunSweep)
        half = make_report(experiment.sweep, 0.5)
        yield Progressed(experiment.job_id, 0.5, "40 of 81")
        yield CellMeasured(experiment.job_id, half.cells[0], result_of(experiment, half, 0))
        yield SweepAdvanced(experiment.job_id, half)
        while not engine.wait_stopped(experiment.job_id, 0.002) and len(reports) < 2:
            pass
        yield Outcome(experiment, make_report(experiment.sweep))

    engine.perform = perform
    trial.report_changed.connect(lambda: reports.append(trial.report))
    wanted = trial.drafted
    trial.start()
    assert trial.refusal == "A sweep is under way."
    qtbot.waitUntil(lambda: not trial.running, timeout=10_000)
    assert trial.sweep == wanted
    assert trial.report == make_report(wanted)
    assert make_report(wanted, 0.5) in reports
    first = trial.report.cells[0].configuration
    assert list(trial.results) == [first]
    assert not trial.paused
    trial.open(first)
    trial.open(first)
    (run,) = state.book.runs
    assert state.shown is run
    assert run.job.parameters == first.parameters


def test_a_pause_keeps_the_cells_and_resume_goes_on_with_them(qtbot, state, engine, trial):
    asked = []

    def perform(experiment):
        asked.append(experiment)
        yield SweepAdvanced(experiment.job_id, make_report(experiment.sweep, 0.5))
        while len(asked) == 1 and not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        stopped = len(asked) == 1
        report = make_report(experiment.sweep, 0.5 if stopped else 1.0)
        yield Outcome(experiment, report, stopped=stopped)

    engine.perform = perform
    trial.start()
    qtbot.waitUntil(lambda: bool(trial.report.cells))
    trial.resume()
    assert len(asked) == 1
    trial.pause()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.paused
    assert "Resume" in trial.note
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    assert not trial.paused
    first, again = asked
    assert again.sweep == first.sweep
    half = make_report(first.sweep, 0.5).cells
    assert again.done == tuple(cell for cell in half if cell.state != "planned")
    assert {cell.state for cell in again.done} >= {"measured", "dropped", "failed", "wrong"}


def test_a_cancelled_sweep_is_not_resumed(qtbot, state, engine, trial):
    engine.endless_experiments = True
    trial.start()
    qtbot.waitUntil(lambda: trial.note == "half")
    trial.stop()
    qtbot.waitUntil(lambda: not trial.running)
    assert not trial.paused
    assert trial.note == "Cancelled; what was measured stays"
    engine.endless_experiments = False
    engine.failure = Failure("crash", "The device is gone.")
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.failed
    assert trial.note == "The device is gone."


def test_what_won_is_told_of_what_is_looked_at(trial):
    trial.sweep = make_sweep(sizes=(64, 256))
    trial.report = make_report(trial.sweep)
    small, large = (winner.words for winner in trial.report.winners)
    assert trial.winner_words({"Shape": "256³"}) == large
    assert trial.winner_words({"BM": 32}) == f"{small} {large}"


def test_a_configuration_goes_into_the_setup_bar(state, trial):
    trial.sweep = make_sweep(sizes=(64,))
    configuration = make_report(trial.sweep).cells[3].configuration
    state.choose_variant(kernel("tiled"))
    trial.use(configuration)
    assert state.setup.variant.id == "register_2d"
    assert state.setup.parameters == configuration.parameters
    assert (state.setup.m, state.setup.square, state.setup.element) == (64, True, "float")
    assert state.device == trial.sweep.devices[0]
