from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from gemmviz.app.archive_writer import Ending
from gemmviz.app.history_table import NOTE, TAGS, HistoryModel
from gemmviz.app.starts import is_known
from gemmviz.app.state import AppState
from gemmviz.core.codec import from_json
from gemmviz.core.experiments import CheckRaces, Outcome, RaceDevices, RunSweep
from gemmviz.core.launch import default_parameters
from gemmviz.core.messages import CellMeasured, DevicesMeasured
from gemmviz.core.model import Failure, Problem
from gemmviz.core.policy import QUICK
from gemmviz.core.races import RaceReport
from gemmviz.core.store import ResultStore, StoreError
from gemmviz.core.sweep import Configuration, Sweep, SweepCell
from gemmviz.core.sweep_file import identity
from tests.app.archives import count, ended, open_in, opened, saving, settled
from tests.app.fake_engine import (
    H200,
    POCL,
    batch,
    endless_run,
    host_timed_run,
    silent_run,
    wrong_run,
)
from tests.core.store.saved import KERNEL, filled, plain, same, saved


@pytest.fixture
def state(state, path) -> AppState:
    """A state whose results go into ``path``."""
    return saving(state, path)


def test_a_run_is_saved_with_everything(state, finish, path, qtbot):
    finish()
    qtbot.waitUntil(lambda: ended(path) == 1)
    run = state.book.runs[0]
    with opened(path) as store:
        result, row = store.result(1), store.row(1)
    assert not row.running
    assert tuple(result.samples.seconds) == tuple(run.buffer.seconds)
    assert tuple(result.samples.at) == tuple(run.buffer.at)
    assert (result.check, result.context, result.job) == (run.check, run.context, run.job)
    assert replace(plain(result), samples=run.result.samples) == run.result
    assert state.archive.number_of(run) == 1


@pytest.mark.parametrize("script", [wrong_run, host_timed_run])
def test_other_runs_are_saved_too(state, engine, finish, path, script):
    engine.script = script
    finish()
    state.archive.close()
    run = state.book.runs[0]
    with opened(path) as store:
        assert len(store.result(1).samples) == len(run.buffer)
        assert store.row(1).verdict == ("wrong" if run.wrong else "verified")


def test_a_failure_without_samples_is_saved_and_an_early_stop_is_not(
    state, engine, finish, path, qtbot
):
    engine.script = silent_run
    engine.failure = Failure("build", "It does not build.", "tiled.cl:3: error")
    finish()
    engine.failure, engine.script = None, endless_run
    state.start()
    qtbot.waitUntil(lambda: state.shown.began is not None)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    stopped = len(state.book.runs) - 1
    state.archive.close()
    with opened(path) as store:
        assert store.row(1).verdict == "failed"
        assert store.result(1).failure.detail == "tiled.cl:3: error"
        assert len(store.rows()) == 1 + stopped


def test_samples_of_a_run_under_way_are_in_the_file(state, engine, path, qtbot):
    engine.script = endless_run
    state.start()
    qtbot.waitUntil(lambda: path.exists() and count(path) == 1)

    def samples() -> int:
        with opened(path) as store:
            assert store.row(1).running
            return len(store.result(1).samples)

    qtbot.waitUntil(lambda: samples() > 0)
    before = samples()
    qtbot.waitUntil(lambda: samples() > before)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    state.archive.close()
    with opened(path) as store:
        assert len(store.result(1).samples) == len(state.book.runs[0].buffer)
        assert store.row(1).verdict == "verified"
        assert store.result(1).stopped


def test_what_a_quiet_run_sends_is_written_at_once(state, engine, path, qtbot):
    """By no timer, which might fire while launches are timed, and later than the samples came."""
    state.archive._tick.setInterval(10**8)
    engine.script = endless_run
    state.change(replace(state.setup, quiet=True))
    state.start()
    qtbot.waitUntil(lambda: path.exists() and count(path) == 1)

    def samples() -> int:
        with opened(path) as store:
            return len(store.result(1).samples)

    qtbot.waitUntil(lambda: samples() > 0)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)


def test_the_samples_of_a_race_are_saved_while_it_goes_on(state, engine, path, qtbot):
    jobs = tuple(replace(saved().job, id=state.laboratory.next_id()) for _ in range(2))
    race = RaceDevices(state.laboratory.next_id(), jobs, (POCL, H200))

    def perform(experiment):
        for job in jobs:
            yield batch(job, (1e-3,) * 5)
        while not engine.wait_stopped(race.job_id, 0.01):
            pass
        yield Outcome(race, None, stopped=True)

    engine.perform = perform
    state.laboratory.start(race)
    qtbot.waitUntil(lambda: path.exists() and count(path) == 2)
    with opened(path) as store:
        assert [(row.running, row.samples) for row in store.rows()] == [(True, 5)] * 2
    state.laboratory.stop(race.job_id)
    qtbot.waitUntil(lambda: ended(path) == 2)
    with opened(path) as store:
        assert [len(result.samples) for _, result in store.results()] == [5, 5]


def test_closing_ends_what_goes_on(state, engine, path, qtbot):
    engine.script = endless_run
    state.start()
    qtbot.waitUntil(lambda: state.shown is not None and len(state.shown.buffer) > 0)
    state.close()
    with opened(path) as store:
        row = store.row(1)
        assert not row.running
        assert row.samples == len(store.result(1).samples) > 0
        assert row.median_seconds == pytest.approx(1e-3)


def test_comparisons_and_cells_of_sweeps_are_saved(state, engine, finish, path, qtbot):
    for _ in range(2):
        finish()
    with qtbot.waitSignal(state.comparison_ended):
        state.compare(state.book.runs)
    configuration = Configuration("tiled", (("TS", 16),), Problem(64, 64, 64), 0)
    sweep = Sweep((KERNEL,), (), (Problem(64, 64, 64),), (POCL,), QUICK)
    experiment = RunSweep(state.laboratory.next_id(), sweep)
    state.laboratory.busy[experiment.job_id] = experiment
    cells = tuple(
        CellMeasured(experiment.job_id, SweepCell(configuration), saved(size)) for size in (5, 6)
    )
    state.laboratory.experiment_advanced.emit(experiment.job_id, cells)
    devices = DevicesMeasured(99, None, (saved(7, device=H200),))
    state.laboratory.experiment_advanced.emit(99, (devices,))
    state.archive.close()
    with opened(path) as store:
        assert len(store.rows()) == 7
        assert [result.job.problem.m for _, result in store.results(sweep=1)] == [5, 6]
        assert store.sweeps() == ((1, identity(sweep)),)
        assert store.rows()[0].device == "NVIDIA H200 · CUDA 12.8.1"
        (comparison,) = store.findings()
    assert comparison.kind == "Comparison"
    assert comparison.title.count("tiled TS=16 on ") == 2
    assert json.loads(comparison.text)[0]["word"] == "same"


def test_what_experiments_find_is_saved(state, engine, path, qtbot):
    engine.finding = kept = RaceReport("tiled", (16, 16, 16), "Oclgrind 21.10", (), 1.5)
    experiment = CheckRaces(
        state.laboratory.next_id(), state.catalog.find("tiled"), (), Problem(16, 16, 16)
    )
    with qtbot.waitSignal(state.laboratory.experiment_ended):
        state.laboratory.start(experiment)
    state.archive.close()
    with opened(path) as store:
        (finding,) = store.findings()
    assert (finding.kind, finding.title) == (
        "RaceReport", "the races of Tiled in local memory",
    )  # fmt: skip
    assert from_json(RaceReport, json.loads(finding.text)) == kept


def test_a_killed_process_leaves_its_samples(path):
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.app.archive_child", str(path)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        for line in child.stdout:
            if int(line) > 0 and path.exists():
                with contextlib.suppress(StoreError), opened(path) as store:
                    row = store.row(1)
                    if row is not None and row.samples > 0:
                        seen = row.samples
                        break
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    store = ResultStore.open(path)
    result = store.result(1)
    assert len(result.samples) >= seen > 0
    assert result.check is not None
    assert result.job.variant.source
    store.add(saved())
    store.close()


def test_saved_results_are_shown_again_without_measuring(state, engine, path, qtbot):
    state.archive.close()
    filled(path, 3)
    assert open_in(state, path) == ""
    assert state.archive.show_saved([2, 3]) == ""
    settled(state)
    assert [run.job.problem.m for run in state.book.runs] == [2, 3]
    assert state.shown is state.book.runs[0]
    run = state.shown
    assert (run.status, run.summary.count, run.progress) == ("finished", 12, 1.0)
    assert same(replace(run.result, job=saved(2).job, samples=saved(2).samples), saved(2))
    assert len({run.job.id for run in state.book.runs}) == 2
    assert state.archive.show_saved([3]) == ""
    assert len(state.book.runs) == 2
    assert state.shown is state.book.runs[1]
    with qtbot.waitSignal(state.archive.told) as told:
        state.archive.show_saved([77])
    assert "no result 77" in told.args[0]
    state.archive.close()
    assert count(path) == 3  # what came from the file is not saved into it again


def test_results_from_elsewhere_are_shown(state):
    runs = state.archive.show([saved(8), saved(9)])
    assert [run.job.problem.m for run in runs] == [8, 9]
    assert state.shown is runs[0]
    assert state.archive.number_of(runs[0]) is None


def test_the_same_job_is_run_again_where_its_device_is(state, engine, qtbot):
    job = saved().job
    assert state.run_again(job) == ""
    qtbot.waitUntil(lambda: not state.active)
    again = state.book.runs[-1].job
    assert replace(again, id=job.id) == job
    older = replace(job, device=replace(job.device, platform_version="OpenCL 1.2 pocl 1.0"))
    assert state.run_again(older) == ""
    qtbot.waitUntil(lambda: not state.active)
    assert state.book.runs[-1].job.device == job.device
    elsewhere = replace(job, device=replace(job.device, name="gone"))
    assert "gone" in state.run_again(elsewhere)


def test_only_what_a_kernel_here_does_is_known(state):
    variant = state.catalog.find("tiled")
    job = replace(saved().job, variant=variant, parameters=default_parameters(variant))
    assert is_known(job, state.catalog)
    assert is_known(replace(job, variant=replace(variant, summary="As of old.")), state.catalog)
    arguments = variant.arguments[:-1]
    for strange in (
        replace(job, build_options="-Dreal=double"),
        replace(job, parameters=(("TS", 16), ("real", 5))),
        replace(job, parameters=(("TS", 5),)),
        replace(job, variant=replace(variant, source=f"{variant.source} ")),
        replace(job, variant=replace(variant, arguments=arguments)),
        replace(job, variant=replace(variant, group=("1", "1"))),
    ):
        assert not is_known(strange, state.catalog), strange


def test_notes_tags_deletion_and_undo(state, path, qtbot):
    state.archive.close()
    filled(path, 4)
    open_in(state, path)
    archive = state.archive
    model = HistoryModel(archive)
    archive.changed.connect(model.refresh)
    model.refresh()
    assert list(model.ids) == [4, 3, 2, 1]
    assert model.setData(model.index(0, NOTE), " before lunch ")
    assert model.setData(model.index(1, TAGS), "#Paper, fast")
    assert not model.setData(model.index(1, NOTE), "")
    assert not model.setData(model.index(1, 0), "never")
    qtbot.waitUntil(lambda: model.row_at(0).note == "before lunch" and model.row_at(1).tags != ())
    assert model.row_at(1).tags == ("fast", "paper")
    archive.edits.delete([4, 2])
    archive.edits.delete([1])
    qtbot.waitUntil(lambda: list(model.ids) == [3])
    assert archive.edits.undoable == 1
    archive.edits.undo()
    archive.edits.undo()
    assert archive.edits.undoable == 0
    archive.edits.undo()
    qtbot.waitUntil(lambda: list(model.ids) == [4, 3, 2, 1])


def test_what_no_file_can_hold_is_left_out_and_the_rest_is_saved(state, path, qtbot):
    lines = []
    state.line_logged.connect(lines.append)
    job = saved().job
    strange = replace(job, variant=replace(job.variant, title="\ud800"))
    state.archive._chain.put([Ending(None, saved(job=strange)), Ending(None, saved(9))])
    qtbot.waitUntil(lambda: count(path) == 1)
    qtbot.waitUntil(lambda: any("was left out" in line.text for line in lines))
    state.archive._chain.put([Ending(None, saved(10))])
    qtbot.waitUntil(lambda: count(path) == 2)
    assert state.archive.trouble == ""


def test_too_many_samples_are_not_shown_at_once(state, path, monkeypatch, qtbot):
    state.archive.close()
    filled(path, 3)
    open_in(state, path)
    monkeypatch.setattr("gemmviz.app.archive_reader._MOST_SHOWN_SAMPLES", 30)
    with qtbot.waitSignal(state.archive.told) as told:
        state.archive.show_saved([1, 2, 3])
    assert "choose fewer" in told.args[0]
    assert state.book.runs == []
    state.archive.show_saved([1, 2])
    settled(state)
    assert len(state.book.runs) == 2
