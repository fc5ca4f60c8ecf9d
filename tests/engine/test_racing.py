"""Two real devices at once: in turns where they share hardware, else each in its own child."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Outcome, RaceDevices, share_hardware
from gemmviz.core.messages import Message, SampleBatch
from gemmviz.core.model import Device, Job, Result
from gemmviz.core.policy import UNTIL_STOPPED, fixed
from gemmviz.engine.plan import Engine
from tests.engine.runs import make_job


def race_of(
    first: Device, other: Device, *, launches: int | None = 20, kernel: str = "tiled"
) -> RaceDevices:
    policy = fixed(launches) if launches is not None else UNTIL_STOPPED
    jobs = [make_job(device, kernel, (48, 48, 48), policy=policy) for device in (first, other)]
    return RaceDevices(90, (jobs[0], jobs[1]), (first, other))


@pytest.mark.parametrize("apart", [False, True], ids=["in turns", "at once"])
def test_both_run_and_are_compared(
    engine: Engine, pocl: Device, intel: Device, *, apart: bool
) -> None:
    if apart:
        intel = replace(intel, hardware="another machine")
    race = race_of(pocl, intel)
    assert race.in_turns is not apart
    *messages, outcome = engine.perform(race)
    assert isinstance(outcome, Outcome)
    assert outcome.failure is None
    comparison = outcome.answer
    assert isinstance(comparison, Comparison)
    assert [result.job for result in comparison.results] == list(race.jobs)
    assert [result.verdict for result in comparison.results] == ["verified"] * 2
    (versus,) = comparison.versus
    assert versus.ratio > 0
    assert versus.rounds >= 1
    told = {message.job_id for message in messages if isinstance(message, SampleBatch)}
    assert told == {job.id for job in race.jobs}


def test_a_stop_ends_both(engine: Engine, pocl: Device, intel: Device) -> None:
    race = race_of(pocl, replace(intel, hardware="another machine"), launches=None)
    told: set[int] = set()
    outcome = None
    for item in engine.perform(race):
        if isinstance(item, SampleBatch):
            told.add(item.job_id)
        if len(told) == 2:
            engine.stop(race.job_id)
        outcome = item
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert isinstance(outcome.answer, Comparison)
    assert outcome.answer.stopped
    assert all(result.stopped and len(result.samples) for result in outcome.answer.results)


def test_a_side_that_fails_is_told_and_nothing_is_compared(
    engine: Engine, pocl: Device, intel: Device
) -> None:
    apart = replace(intel, hardware="another machine", max_work_group_size=1)
    *_, outcome = engine.perform(race_of(pocl, apart))
    assert isinstance(outcome, Outcome)
    comparison = outcome.answer
    assert isinstance(comparison, Comparison)
    assert comparison.versus == ()
    assert comparison.failure is not None
    assert "16 x 16" in comparison.failure.sentence
    assert comparison.results[0].failure is None


def test_what_shares_hardware(pocl: Device, intel: Device) -> None:
    assert share_hardware(pocl, intel)
    unknown = replace(intel, hardware="")
    assert not share_hardware(replace(pocl, hardware=""), unknown)
    assert share_hardware(unknown, unknown)


def test_a_side_that_breaks_inside_the_engine_ends_the_race(
    engine: Engine, pocl: Device, intel: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = engine.run

    def broken(job: Job, device: Device) -> Iterator[Message | Result]:
        if device.platform == pocl.platform:
            raise RuntimeError("out of luck")
        yield from run(job, device)

    monkeypatch.setattr(engine, "run", broken)
    *_, outcome = engine.perform(race_of(pocl, replace(intel, hardware="another machine")))
    assert isinstance(outcome, Outcome)
    comparison = outcome.answer
    assert isinstance(comparison, Comparison)
    assert comparison.failure is not None
    assert "out of luck" in comparison.failure.sentence
