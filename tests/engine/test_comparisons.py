"""Kernels measured in turns in one real child."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.comparison import Comparison
from gemmviz.core.messages import SampleBatch
from gemmviz.core.model import Device, Job
from gemmviz.core.policy import QUICK, UNTIL_STOPPED, fixed
from gemmviz.engine.plan import Engine
from tests.engine.runs import make_job, own_kernel, run


def _compare(engine: Engine, jobs: list[Job], devices: list[Device]) -> Comparison:
    *_, last = engine.compare(jobs, devices, -5)
    assert isinstance(last, Comparison)
    return last


def test_a_clearly_slower_kernel_is_slower(engine: Engine, pocl: Device, tmp_path: Path) -> None:
    body = "real s = 0; for (int k = 0; k < {} * K; k++) s += A[row * K + k % K] * B[k % K * N + "
    body += "col]; C[row * N + col] = s / {};"
    jobs = [
        make_job(
            pocl, own_kernel(tmp_path, body.format(n, n), stem=f"times{n}", extra='entry = "own"'),
            (48, 48, 48), policy=replace(QUICK, limit_seconds=10.0),
        )
        for n in (1, 8, 1)
    ]  # fmt: skip
    outcome = _compare(engine, jobs, [pocl] * 3)
    assert outcome.failure is None
    slow, same = outcome.versus
    assert slow.word == "slower"
    assert slow.ratio_low <= slow.ratio <= slow.ratio_high < 1
    assert same.word in ("same", "undecided")
    assert len({len(result.samples) for result in outcome.results}) == 1
    assert all(result.verdict == "verified" for result in outcome.results)
    assert outcome.reason in ("decided", "settled", "limit")


def test_two_devices_are_compared_in_one_run(engine: Engine, pocl: Device, intel: Device) -> None:
    jobs = [make_job(device, "tiled", policy=fixed(12)) for device in (pocl, intel)]
    outcome = _compare(engine, jobs, [pocl, intel])
    assert outcome.failure is None
    assert outcome.versus[0].rounds > 0
    assert [result.device for result in outcome.results] == [pocl, intel]
    assert outcome.reason == "launches"


def test_a_wrong_kernel_is_told_of(engine: Engine, pocl: Device) -> None:
    jobs = [make_job(pocl, name, (64, 64, 64), policy=fixed(5)) for name in ("tiled",
            "tiling_tiled")]  # fmt: skip
    outcome = _compare(engine, jobs, [pocl, pocl])
    assert [result.job.variant.id for result in outcome.wrong] == ["tiling_tiled"]
    assert outcome.versus[0].rounds == len(outcome.results[0].samples)


@pytest.mark.parametrize("fault", ["refused", "build"])
def test_what_cannot_run_is_named(engine: Engine, pocl: Device, tmp_path: Path, fault: str) -> None:
    bad = own_kernel(tmp_path, "this is no C;", stem="bad", extra='entry = "own"')
    if fault == "refused":
        bad = replace(bad, local_bytes=str(2**40))
    jobs = [make_job(pocl, "tiled", policy=QUICK), make_job(pocl, bad, policy=QUICK)]
    outcome = _compare(engine, jobs, [pocl, pocl])
    assert outcome.failure is not None
    assert outcome.failure.kind == fault
    assert outcome.failure.sentence.startswith("bad: ")
    assert outcome.versus == ()
    assert run(engine, pocl).verdict == "verified"


def test_a_comparison_can_be_stopped(engine: Engine, pocl: Device) -> None:
    jobs = [make_job(pocl, name, policy=UNTIL_STOPPED) for name in ("tiled", "naive_strided")]
    stopping = False
    for item in engine.compare(jobs, [pocl, pocl], -6):
        if isinstance(item, SampleBatch) and not stopping:
            stopping = True
            threading.Thread(target=engine.stop, args=(-6,)).start()
    assert isinstance(item, Comparison)
    assert item.stopped
    assert item.failure is None
    assert all(len(result.samples) for result in item.results)


def test_kernels_of_unequal_batches_have_as_many_launches_as_wanted(
    engine: Engine, pocl: Device
) -> None:
    jobs = [
        make_job(pocl, "tiled", (32, 32, 32), parameters={"TS": ts}, policy=fixed(100))
        for ts in (16, 4)
    ]
    outcome = _compare(engine, jobs, [pocl, pocl])
    assert outcome.failure is None
    assert min(sum(result.samples.launches) for result in outcome.results) >= 100
    assert outcome.reason == "launches"


def test_what_ends_a_comparison_is_told_of_each_kernel(engine: Engine, pocl: Device) -> None:
    jobs = [make_job(pocl, name, policy=UNTIL_STOPPED) for name in ("tiled", "naive_strided")]
    engine.stop(-7)
    *_, outcome = engine.compare(jobs, [pocl, pocl], -7)
    assert isinstance(outcome, Comparison)
    assert outcome.stopped
    assert all(result.stopped for result in outcome.results)
