"""What a policy asks for is what a real device is measured by."""

import math
from dataclasses import replace

import pytest

from gemmviz.core.messages import Calibrated, SampleBatch
from gemmviz.core.model import Device, Result
from gemmviz.core.policy import CAREFUL, QUICK, UNTIL_STOPPED, fixed
from gemmviz.engine.plan import Engine
from tests.engine.runs import finish, make_job, run


def test_a_quick_run_has_what_it_asks_for(engine: Engine, pocl: Device) -> None:
    result = run(engine, pocl, "tiled", (64, 64, 64), policy=QUICK)
    assert result.failure is None
    assert result.verdict == "verified"
    assert result.stop_reason in ("steady", "settled", "limit")
    if result.stop_reason != "limit":
        assert len(result.samples) >= QUICK.min_samples
        assert sum(result.samples.seconds) >= QUICK.min_seconds
    assert result.job.policy == QUICK


def test_a_time_limit_ends_a_run(engine: Engine, pocl: Device) -> None:
    policy = replace(CAREFUL, limit_seconds=0.4, target=1e-9)
    result = run(engine, pocl, "tiled", (64, 64, 64), policy=policy)
    assert result.stop_reason == "limit"
    assert not result.stopped


def test_a_quiet_run_sends_what_it_has_again_and_again(engine: Engine, pocl: Device) -> None:
    """Else a sudden end of the app would lose all of it."""
    policy = replace(UNTIL_STOPPED, limit_seconds=1.2, quiet=True)
    job = make_job(pocl, "tiled", (64, 64, 64), policy=policy)
    items = list(engine.run(job, pocl))
    assert sum(isinstance(item, SampleBatch) and len(item.samples) > 0 for item in items) >= 2
    assert items[-1].build_seconds > 0


def test_a_number_of_launches_is_met_exactly(engine: Engine, pocl: Device) -> None:
    result = run(engine, pocl, "tiled", (16, 16, 16), policy=fixed(777))
    assert sum(result.samples.launches) == 777
    assert result.stop_reason == "launches"


def test_short_launches_are_batched_and_their_spread_is_kept(engine: Engine, pocl: Device) -> None:
    job = make_job(pocl, "tiled", (16, 16, 16), policy=fixed(2000))
    timer = None
    for item in engine.run(job, pocl):
        if isinstance(item, Calibrated):
            timer = item.timer
    assert isinstance(item, Result)
    assert timer is not None
    assert item.timer == timer
    assert 0 < timer.launch_seconds <= timer.round_trip_seconds < 1
    assert timer.step_seconds is not None
    assert timer.step_seconds > 0
    if item.trust is not None and item.trust.source == "events":
        assert max(item.samples.launches) > 1
        assert len(item.quantiles) == 5
        assert list(item.quantiles) == sorted(item.quantiles)
        each = [s / n for s, n in zip(item.samples.seconds, item.samples.launches, strict=True)]
        assert item.quantiles[0] <= min(each)
        assert item.quantiles[-1] >= max(each)


def test_each_launch_may_be_a_sample(engine: Engine, pocl: Device) -> None:
    policy = replace(fixed(500), per_launch=True)
    result = run(engine, pocl, "tiled", (16, 16, 16), policy=policy)
    if result.trust is not None and result.trust.source == "events":
        assert set(result.samples.launches) == {1}
        assert len(result.samples) == 500


@pytest.mark.parametrize("cache", ["rotating", "flush"])
def test_cold_caches(engine: Engine, pocl: Device, cache: str) -> None:
    result = run(
        engine,
        pocl,
        "tiled",
        (96, 64, 80),
        policy=replace(fixed(4), cache=cache),  # type: ignore[arg-type]
    )
    assert result.verdict == "verified"
    assert result.failure is None
    assert sum(result.samples.launches) == 4
    assert result.job.policy.cache == cache
    if cache == "flush":
        assert set(result.samples.launches) == {1}


def test_quiet_runs_send_seldom(engine: Engine, pocl: Device) -> None:
    policy = replace(UNTIL_STOPPED, quiet=True, limit_seconds=1.4)
    job = make_job(pocl, "tiled", (64, 64, 64), policy=policy)
    sent = [item for item in engine.run(job, pocl) if isinstance(item, SampleBatch)]
    assert 1 <= len(sent) <= 4


def test_the_context_is_recorded(engine: Engine, pocl: Device, intel: Device) -> None:
    result = run(engine, pocl, "tiled", build_options="-cl-mad-enable")
    context = result.context
    assert context is not None
    assert context.build_options == "-cl-std=CL1.2 -cl-mad-enable"
    assert context.affinity is True
    assert ("POCL_AFFINITY", "1") in context.environment
    assert context.load is not None
    assert math.isfinite(context.load)
    assert run(engine, intel, "tiled").context.affinity is None  # type: ignore[union-attr]


@pytest.mark.parametrize("platform", ["pocl", "intel"])
def test_two_launches_of_the_check_are_compared(
    engine: Engine, platform: str, request: pytest.FixtureRequest
) -> None:
    job = make_job(request.getfixturevalue(platform), "tiled", (33, 47, 21))
    result = finish(engine, job, request.getfixturevalue(platform))
    assert result.check is not None
    assert result.check.cells_differing == 0
