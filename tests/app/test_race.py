from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.app.race import Race
from gemmviz.core.experiments import Outcome, RaceDevices
from gemmviz.core.labels import device_label
from gemmviz.core.model import Failure
from gemmviz.core.policy import fixed
from tests.app.fake_engine import EQUAL, H200, INTEL, POCL, batch


@pytest.fixture
def race(state) -> Race:
    state.change(replace(state.setup, policy=fixed(40)))
    return Race(state)


def perform_with(engine, failure: Failure | None = None):
    """Lets an engine race by its own comparison."""

    def perform(experiment):
        engine.performed.append(experiment)
        if failure is not None:
            yield Outcome(experiment, None, failure)
            return
        items = engine.compare(experiment.jobs, experiment.devices, experiment.job_id)
        *messages, comparison = items
        yield from messages
        yield Outcome(experiment, comparison)

    engine.perform = perform


def test_the_first_two_real_devices_race_unless_others_are_chosen(state, race):
    assert race.candidates == (H200, POCL, INTEL)
    assert race.devices == (H200, POCL)
    race.choose(0, INTEL.key)
    assert race.devices == (INTEL, POCL)
    race.choose(1, INTEL.key)  # the other one moves
    assert race.devices == (POCL, INTEL)


def test_ticked_devices_come_first(state, race):
    state.tick_device(INTEL.key, True)
    assert race.devices[0] == INTEL


def test_how_they_share_the_time_is_said(race):
    assert race.how == "At the same time: they are separate hardware"
    race.choose(0, INTEL.key)
    assert race.how == "In turns, launch by launch: they share hardware"


def test_both_runs_are_followed_and_kept(qtbot, state, engine, race):
    perform_with(engine)
    race.choose(0, INTEL.key)
    race.start()
    assert race.running
    assert race.in_turns
    assert race.refusal == "A race is under way."
    qtbot.waitUntil(lambda: not race.running)
    (asked,) = engine.performed
    assert isinstance(asked, RaceDevices)
    assert asked.devices == (INTEL, POCL)
    first, other = asked.jobs
    assert first.problem == other.problem
    assert first.variant == state.setup.variant
    assert (first.device, other.device) == (INTEL.key, POCL.key)
    assert [len(run.buffer) for run in race.runs] == [40, 40]
    assert [run.device for run in state.book.runs] == [INTEL, POCL]
    assert race.match is not None
    assert race.match.duels[0].versus == EQUAL
    assert race.match.duels[0].verdict == "= tied (within 1 %)"
    assert race.match.problem.startswith("Tiled in local memory TS=16")
    assert (race.match.first, race.match.duels[0].name) == (
        device_label(INTEL), device_label(POCL),
    )  # fmt: skip
    state.tick_device(H200.key, True)  # the charts still are of these two
    assert race.devices == (INTEL, POCL)


def test_samples_come_while_it_goes_on_and_a_stop_ends_it(qtbot, engine, race):
    def perform(experiment):
        start = 0.0
        while not engine.wait_stopped(experiment.job_id, 0.002):
            for job in experiment.jobs:
                yield batch(job, (1e-3,) * 5, start)
            start += 5e-3
        yield Outcome(experiment, None, stopped=True)

    engine.perform = perform
    race.start()
    with qtbot.waitSignal(race.advanced):
        pass
    qtbot.waitUntil(lambda: all(len(run.buffer) > 5 for run in race.runs))
    race.stop()
    qtbot.waitUntil(lambda: not race.running)
    assert race.match is None
    assert "stopped" in race.note


def test_a_gpu_in_the_race_keeps_drawing_back(qtbot, engine, race):
    perform_with(engine)
    race.start()
    assert race.quiet
    assert all(run.job.policy.quiet for run in race.runs)
    qtbot.waitUntil(lambda: not race.running)
    assert not race.quiet


def test_why_there_is_no_race_is_said(qtbot, state, engine, race):
    perform_with(engine, Failure("crash", "It broke."))
    race.start()
    qtbot.waitUntil(lambda: not race.running)
    assert race.note == "It broke."
    state.change(replace(state.setup, element="half"))
    assert "does not compute in half" in race.refusal
    state.change(replace(state.setup, element="float", variant=None, parameters=()))
    assert race.refusal.startswith("Choose a kernel")
