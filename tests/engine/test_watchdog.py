"""The launch limit: from what is foreseen, and a sentence that says what was running."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from gemmviz.core.launch import merge_parameters
from gemmviz.core.messages import CompareJobs, ListDevices, Phase, RunJob
from gemmviz.core.model import DeviceKey, Job, Problem
from gemmviz.engine import watchdog
from gemmviz.engine.watchdog import Watchdog, launch_limit_seconds
from tests.engine.runs import CATALOG


def _job(job_id: int = 1, kernel: str = "tiled", limit: float | None = None) -> Job:
    variant = CATALOG.find(kernel)
    return Job(
        job_id, DeviceKey("p", "v", "n"), variant, merge_parameters(variant, {}),
        Problem(64, 64, 64), launch_limit_seconds=limit,
    )  # fmt: skip


@pytest.fixture
def after(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many seconds pass for the watchdog."""
    clock = [1000.0]
    monkeypatch.setattr(watchdog.time, "monotonic", lambda: clock[0])

    def wait(seconds: float) -> None:
        clock[0] += seconds

    return wait


def test_the_automatic_limit() -> None:
    job = _job()
    assert launch_limit_seconds(job, None) == 10
    assert launch_limit_seconds(job, 0.01) == 10
    assert launch_limit_seconds(job, 3.0) == 150
    large = replace(job, problem=Problem(2048, 2048, 2048))
    assert math.isclose(launch_limit_seconds(large, None), 2 * 2048**3 / 5e8)
    assert launch_limit_seconds(large, 0.5) == 25


@pytest.mark.parametrize("foreseen", [None, 0.001, 100.0])
def test_a_limit_of_ones_own_is_used_as_it_is(foreseen: float | None) -> None:
    assert launch_limit_seconds(_job(limit=0.5), foreseen) == 0.5


def test_silence_is_measured_from_the_last_word(after: Callable[[float], None]) -> None:
    dog = Watchdog(RunJob(_job()), 60)
    dog.hear(Phase(1, "measure", limited=True, foreseen_seconds=1.0))
    after(40)
    dog.alive()
    after(49)
    assert dog.overdue() is None
    after(2)
    hang = dog.overdue()
    assert hang is not None
    assert hang.kind == "hang"
    assert "A launch of tiled TS=16 at 64 x 64 x 64 float" in hang.sentence
    assert "limit of 50 s in the phase 'measure'" in hang.sentence
    assert "foreseen to take 1 s" in hang.detail


def test_a_compiler_has_more_time_than_a_launch(after: Callable[[float], None]) -> None:
    dog = Watchdog(RunJob(_job(limit=1.0)), 60)
    dog.hear(Phase(1, "build", limited=False))
    after(599)
    assert dog.overdue() is None
    after(2)
    hang = dog.overdue()
    assert hang is not None
    assert "within 600 s in the phase 'build' of tiled TS=16 at 64 x 64 x 64" in hang.sentence


@pytest.mark.parametrize(
    ("request_", "words"),
    [(RunJob(_job()), "within 7 s as it started"),
     (ListDevices(-1), "within 7 s as it listed the devices")],
)  # fmt: skip
def test_a_child_that_never_says_a_word(
    after: Callable[[float], None], request_: RunJob | ListDevices, words: str
) -> None:
    dog = Watchdog(request_, 7)
    after(6)
    assert dog.overdue() is None
    after(2)
    hang = dog.overdue()
    assert hang is not None
    assert words in hang.sentence


def test_kernels_in_turns_have_the_time_of_a_whole_turn(after: Callable[[float], None]) -> None:
    jobs = (_job(1, "naive_strided"), _job(2, "tiled"))
    dog = Watchdog(CompareJobs(-5, jobs), 60)
    assert dog.ids == {-5, 1, 2}
    dog.hear(Phase(2, "check", limited=True))
    assert "of tiled TS=16 at" in dog.doing
    dog.hear(Phase(1, "measure", limited=True, foreseen_seconds=2.0))
    dog.hear(Phase(2, "measure", limited=True, foreseen_seconds=0.001))
    after(109)
    assert dog.overdue() is None
    after(2)
    hang = dog.overdue()
    assert hang is not None
    assert "naive_strided" in hang.sentence
    assert " or tiled TS=16" in hang.sentence
