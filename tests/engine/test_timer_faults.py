"""A clock that lies is found out, and the host's is used instead."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gemmviz.core.messages import Message, SampleBatch, TimerChosen
from gemmviz.core.model import Device, Result
from gemmviz.core.policy import QUICK, UNTIL_STOPPED
from gemmviz.core.trust import DeviceTimer
from gemmviz.engine.execute import use_one_clock
from gemmviz.engine.measure import Sampler
from gemmviz.engine.plan import Engine
from gemmviz.engine.transport import LocalTransport
from tests.engine.runs import make_job, run

CHILD = Path(__file__).with_name("timer_child.py")


def _engine(fault: str) -> Engine:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, [sys.executable, str(CHILD), fault])

    return Engine(connect)


def _run(fault: str, device: Device, shape: tuple[int, int, int]) -> Result:
    engine = _engine(fault)
    try:
        return run(engine, device, "tiled", shape, policy=QUICK)
    finally:
        engine.close()


@pytest.mark.parametrize("fault", ["slow", "fast", "zero", "reversed"])
@pytest.mark.parametrize("edge", [32, 192])
def test_a_faulty_clock_is_not_used(pocl: Device, fault: str, edge: int) -> None:
    result = _run(fault, pocl, (edge, edge, edge))
    trust = result.trust
    assert result.failure is None
    assert trust is not None
    assert (trust.source, trust.badge) == ("host", "host timing used")
    assert trust.launches > 0
    assert trust.zero == (trust.launches if fault == "zero" else 0)
    assert trust.reversed == (trust.launches if fault == "reversed" else 0)
    if fault in ("slow", "fast"):
        assert trust.ratio is not None
        assert trust.ratio < 0.1 if fault == "slow" else trust.ratio > 1.03
    assert len(result.samples) >= QUICK.min_samples
    assert min(result.samples.seconds) > 0
    assert result.discarded == 0
    assert result.quantiles == ()  # of single launches nothing is known


def test_times_by_the_host_are_those_of_an_honest_clock(pocl: Device) -> None:
    honest = _run("none", pocl, (192, 192, 192))
    other = _run("slow", pocl, (192, 192, 192))
    assert honest.trust is not None
    assert honest.trust.source == "events"
    fastest = [
        min(s / n for s, n in zip(r.samples.seconds, r.samples.launches, strict=True))
        for r in (honest, other)
    ]
    # Far apart on a busy machine, but a clock of 24 in 1000 would be forty times off.
    assert 1 / 8 < fastest[1] / fastest[0] < 8


def test_a_clock_that_fails_in_the_middle_begins_the_run_again(pocl: Device) -> None:
    engine = _engine("late")
    job = make_job(pocl, "tiled", (32, 32, 32), policy=replace(UNTIL_STOPPED, limit_seconds=4.0))
    chosen, launches = [], 0
    for item in engine.run(job, pocl):
        if isinstance(item, TimerChosen):
            chosen.append(item.trust.source)
            launches = 0
        elif isinstance(item, SampleBatch):
            launches += sum(item.samples.launches)
    engine.close()
    assert isinstance(item, Result)
    assert chosen == ["events", "host"]
    assert sum(item.samples.launches) == launches > 0  # none from before
    assert item.trust is not None
    assert item.trust.badge == "host timing used"
    assert item.discarded == 0  # the launches without a time belong to what was dropped


def test_what_is_compared_is_timed_by_one_clock(pocl: Device) -> None:
    jobs = [make_job(pocl, "tiled", policy=QUICK) for _ in range(2)]
    benches = [SimpleNamespace(job=job) for job in jobs]
    first, second = (Sampler(bench, DeviceTimer(None, None, 1e-6, 1e-5)) for bench in benches)  # type: ignore[arg-type]
    said: list[Message] = []
    use_one_clock((first, second), jobs, said.append)
    assert [sampler.trust.source for sampler in (first, second)] == ["events", "events"]
    second.use_host()
    use_one_clock((first, second), jobs, said.append)
    assert [sampler.trust.source for sampler in (first, second)] == ["host", "host"]
    chosen = [item.trust.source for item in said if isinstance(item, TimerChosen)]
    assert chosen == ["events", "events", "host", "host"]


def test_a_coarse_clock_makes_long_batches(pocl: Device) -> None:
    result = _run("coarse", pocl, (32, 32, 32))
    assert result.timer is not None
    assert result.trust is not None
    if result.trust.source == "events":
        assert result.timer.step_seconds is not None
        assert result.timer.step_seconds >= 0.9e-3
        assert max(result.samples.launches) >= 100
