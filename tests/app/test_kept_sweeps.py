from __future__ import annotations

from dataclasses import replace

from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import CellMeasured
from gemmviz.core.policy import QUICK
from gemmviz.core.store import ResultStore
from gemmviz.core.sweep_file import identity
from tests.app.archives import open_in, settled
from tests.app.sweep_trials import counted, result_of
from tests.core.sweeps import make_report


def test_a_sweep_that_an_earlier_session_began_goes_on(qtbot, state, engine, trial, tmp_path):
    assert not open_in(state, tmp_path / "results.gemmviz")
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))
    sweep = trial.drafted
    report = make_report(sweep)
    store = state.archive.store
    number = store.put_sweep(identity(sweep))
    experiment = RunSweep(1, sweep)
    for place in (0, 2):
        store.add(result_of(experiment, report, place), number)
    words = counted(qtbot, trial)
    assert words.endswith("; 2 measured before")
    assert not trial.done
    assert {cell.configuration for cell in trial.kept} == {
        report.cells[place].configuration for place in (0, 2)
    }
    engine.finding = report
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    (asked,) = engine.performed
    assert asked.sweep == sweep
    assert len(asked.done) == 2
    first, other = (report.cells[place].configuration for place in (0, 1))
    assert trial.can_open(first)
    assert not trial.can_open(other)
    trial.open(first)
    settled(state)
    assert state.shown.job.parameters == first.parameters
    trial.change(replace(trial.draft, shapes="128"))
    assert not trial.kept
    assert trial.can_open(first)  # the sweep that is shown is still the other one
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    assert not engine.performed[-1].done
    assert not trial.can_open(first)


def test_numbers_of_another_file_or_device_open_nothing(qtbot, state, engine, trial, tmp_path):
    assert not open_in(state, tmp_path / "results.gemmviz")
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))
    sweep = trial.drafted
    report = make_report(sweep)
    store = state.archive.store
    store.add(result_of(RunSweep(1, sweep), report, 0), store.put_sweep(identity(sweep)))
    assert counted(qtbot, trial).endswith("; 1 measured before")
    first = report.cells[0].configuration
    assert not trial.can_open(first)  # of what is shown, which is nothing yet
    engine.finding = report
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.can_open(first)
    assert not open_in(state, tmp_path / "other.gemmviz")
    assert not trial.can_open(first)
    assert not trial.kept
    assert counted(qtbot, trial).endswith("; all measured before")  # by this session
    assert not trial.can_open(first)


def test_what_the_window_measures_is_saved_as_part_of_the_sweep(
    qtbot, state, engine, trial, tmp_path
):
    file = tmp_path / "results.gemmviz"
    assert not open_in(state, file)
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64"))

    def perform(experiment):
        report = make_report(experiment.sweep)
        yield CellMeasured(experiment.job_id, report.cells[1], result_of(experiment, report, 1))
        yield Outcome(experiment, report)

    engine.perform = perform
    sweep = trial.drafted
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    state.archive.close()
    with_store = ResultStore.open(file)
    ((number, text),) = with_store.sweeps()
    assert text == identity(sweep)
    ((_, result),) = with_store.results(number)
    assert result.job.parameters == make_report(sweep).cells[1].configuration.parameters
    with_store.close()


def test_nothing_is_left_of_a_sweep_that_is_known_as_a_whole(qtbot, state, engine, trial):
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))
    counted(qtbot, trial)
    assert not trial.done
    engine.finding = make_report(trial.drafted)
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    assert trial.done
    assert trial.words.endswith("; all measured before")
    trial.resume()  # there is nothing that it could do
    assert len(engine.performed) == 1
    trial.change(replace(trial.draft, shapes="128"))
    assert not trial.done


def test_a_cancelled_sweep_goes_on_with_what_it_had(qtbot, state, engine, trial):
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))
    counted(qtbot, trial)
    half = make_report(trial.drafted, 0.5)
    asked = []

    def perform(experiment):
        asked.append(experiment)
        yield CellMeasured(experiment.job_id, half.cells[0], result_of(experiment, half, 0))
        yield Outcome(experiment, half, stopped=True)

    engine.perform = perform
    trial.start()
    qtbot.waitUntil(lambda: not trial.running)
    assert not trial.paused
    assert not trial.done
    assert len(trial.kept) == 2
    trial.resume()
    qtbot.waitUntil(lambda: not trial.running)
    assert [len(each.done) for each in asked] == [0, 2]
    assert trial.can_open(half.cells[0].configuration)


def test_a_pause_that_came_too_late_leaves_nothing_to_resume(qtbot, state, engine, trial):
    trial.change(replace(trial.draft, kernels=("tiled",), shapes="64", policy=QUICK))

    def perform(experiment):
        while not engine.wait_stopped(experiment.job_id, 0.002):
            pass
        yield Outcome(experiment, make_report(experiment.sweep), stopped=True)

    engine.perform = perform
    trial.start()
    trial.pause()
    qtbot.waitUntil(lambda: not trial.running)
    assert not trial.paused
