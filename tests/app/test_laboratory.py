from __future__ import annotations

import pytest

from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.experiments import CheckRaces, MeasureCeilings, Outcome
from gemmviz.core.launch import default_parameters
from gemmviz.core.messages import Progressed
from gemmviz.core.model import Failure, Problem
from tests.app.fake_engine import H200, POCL, endless_run

TABLE = CeilingTable(POCL.key, "3.0", (Ceiling("global copy", "float", 1e10, "B/s", 0.1),), 1.0)


@pytest.fixture
def outcomes(state) -> list[Outcome]:
    heard: list[Outcome] = []
    state.laboratory.experiment_ended.connect(heard.append)
    return heard


def begin(state, device=POCL) -> MeasureCeilings:
    experiment = MeasureCeilings(state.laboratory.next_id(), device)
    state.laboratory.start(experiment)
    return experiment


def test_an_experiment_tells_its_progress_and_its_answer_is_known(qtbot, state, engine, outcomes):
    engine.finding = TABLE
    said: list[tuple[int, tuple[object, ...]]] = []
    state.laboratory.experiment_advanced.connect(
        lambda job_id, events: said.append((job_id, events))
    )
    with qtbot.waitSignal(state.laboratory.ceilings_changed):
        experiment = begin(state)
    qtbot.waitUntil(lambda: bool(outcomes))
    assert outcomes == [Outcome(experiment, TABLE)]
    assert said == [(experiment.job_id, (Progressed(experiment.job_id, 0.5, "half"),))]
    assert state.laboratory.ceilings == {POCL.key: TABLE}
    assert not state.laboratory.busy


def test_a_failed_experiment_is_told_in_the_log(qtbot, state, engine, outcomes):
    engine.failure = Failure("refused", "A simulator has no ceilings.")
    lines: list[object] = []
    state.line_logged.connect(lines.append)
    begin(state)
    qtbot.waitUntil(lambda: bool(outcomes))
    assert outcomes[0].failure == engine.failure
    (told,) = [line.text for line in lines if line.bad]
    assert told.startswith("the ceilings of")
    assert told.endswith("A simulator has no ceilings.")
    assert not state.laboratory.ceilings


def test_stop_ends_the_experiment_under_way_and_forgets_those_that_wait(
    qtbot, state, engine, outcomes
):
    engine.endless_experiments = True
    first = begin(state)
    qtbot.waitUntil(lambda: bool(state.laboratory.begun))
    second = begin(state)
    assert state.laboratory.note.startswith("Measuring the ceilings of")
    assert state.laboratory.note.endswith("1 experiment waiting for the device")
    state.stop()
    qtbot.waitUntil(lambda: len(outcomes) == 2)
    assert {outcome.job_id for outcome in outcomes} == {first.job_id, second.job_id}
    assert all(outcome.stopped for outcome in outcomes)
    assert engine.performed == [first]
    assert not state.laboratory.busy
    assert state.laboratory.note == ""


def test_an_experiment_waits_for_a_run_on_the_same_hardware(qtbot, state, engine, outcomes):
    engine.script = endless_run
    state.select_device(POCL)
    state.start()
    qtbot.waitUntil(lambda: any(run.began for run in state.active.values()))
    begin(state, POCL)
    elsewhere = begin(state, H200)
    qtbot.waitUntil(lambda: bool(outcomes))
    assert [outcome.job_id for outcome in outcomes] == [elsewhere.job_id]
    assert engine.performed == [elsewhere]


def test_what_needs_no_device_is_done_alone(qtbot, state, engine, outcomes):
    engine.endless_experiments = True
    begin(state, H200)
    qtbot.waitUntil(lambda: bool(state.laboratory.begun))
    variant = state.catalog.find("tiled")
    alone = CheckRaces(
        state.laboratory.next_id(), variant, default_parameters(variant), Problem(33, 34, 35)
    )
    state.laboratory.start(alone)
    qtbot.wait(50)
    assert alone not in engine.performed
    state.laboratory.stop(next(iter(state.laboratory.begun)))
    qtbot.waitUntil(lambda: alone in engine.performed)
    state.stop()
    qtbot.waitUntil(lambda: len(outcomes) == 2)
