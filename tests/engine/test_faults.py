"""Whatever a kernel or a driver does, the run ends in one sentence and the next run works."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from gemmviz.core.messages import Phase, SampleBatch
from gemmviz.core.model import Device, Result
from gemmviz.engine.plan import Engine
from gemmviz.engine.transport import LocalTransport
from tests.engine.conftest import Children
from tests.engine.runs import RIGHT, finish, make_job, own_kernel, run

ENDLESS = "volatile __global real *c = C; while (c[0] != 12345) c[row * N + col] += 1;"


FAKE = Path(__file__).with_name("fake_child.py")


def _fake(fault: str) -> Engine:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, [sys.executable, str(FAKE), fault])

    return Engine(connect)


def _when_measuring(engine: Engine, device: Device, act: object, **options: object) -> Result:
    """Runs until stopped and calls ``act(job)`` on another thread once samples arrive."""
    job = make_job(device, launches=None, **options)  # type: ignore[arg-type]
    acted = False
    for item in engine.run(job, device):
        if isinstance(item, SampleBatch) and not acted:
            acted = True
            threading.Thread(target=act, args=(job,)).start()  # type: ignore[arg-type]
    assert isinstance(item, Result)
    return item


@pytest.mark.parametrize("platform", ["pocl", "intel"])
def test_stop_ends_a_kernel_that_never_ends(
    fresh: Engine, platform: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    device = request.getfixturevalue(platform)
    job = make_job(device, own_kernel(tmp_path, ENDLESS), (4, 4, 4))
    for item in fresh.run(job, device):
        if isinstance(item, Phase) and item.name == "check":
            time.sleep(1.0)  # the kernel spins by now
            threading.Thread(target=fresh.stop, args=(job.id,)).start()
    assert isinstance(item, Result)
    assert item.stopped
    assert item.failure is None
    assert item.verdict is None


def test_a_launch_over_its_limit_is_killed_and_reported(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    endless = own_kernel(tmp_path, ENDLESS)
    result = run(fresh, pocl, endless, (4, 4, 4), launch_limit_seconds=1.5)
    assert result.failure is not None
    assert result.failure.kind == "hang"
    assert "own at 4 x 4 x 4 float" in result.failure.sentence
    assert "limit of 1.5 s in the phase 'check'" in result.failure.sentence


def test_a_stop_keeps_every_sample(fresh: Engine, pocl: Device) -> None:
    result = _when_measuring(fresh, pocl, lambda job: fresh.stop(job.id))
    assert result.stopped
    assert result.failure is None
    assert result.verdict == "verified"
    assert len(result.samples) > 0


def test_a_stop_before_the_run_ends_it_at_once(fresh: Engine, pocl: Device) -> None:
    job = make_job(pocl, launches=None)
    fresh.stop(job.id)
    result = finish(fresh, job, pocl)
    assert result.stopped
    assert len(result.samples) == 0


@pytest.mark.parametrize(
    ("number", "words"),
    [(signal.SIGKILL, "killed from outside"), (signal.SIGTERM, "SIGTERM")],
)  # fmt: skip
def test_a_child_that_dies_in_a_run(
    fresh: Engine, children: Children, pocl: Device, number: signal.Signals, words: str
) -> None:
    result = _when_measuring(fresh, pocl, lambda _: os.kill(children.started[-1].pid, number))
    assert result.failure is not None
    assert result.failure.kind == "crash"
    assert words in result.failure.sentence
    assert result.verdict == "verified"
    assert len(result.samples) > 0


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("segfault", "crash", "segmentation fault"),
        ("abort", "crash", "an abort"),
        ("exit", "crash", "ended with code 3"),
        ("half a line", "crash", "unreadable"),
        ("half a line and silence", "hang", "limit of 0.5 s"),
        ("no json", "crash", "unreadable"),
        ("binary", "crash", "unreadable"),
        ("deaf", "hang", "limit of 0.5 s in the phase 'measure'"),
        ("talkative", "crash", "an abort"),
    ],
)
def test_faults_of_a_child(pocl: Device, fault: str, kind: str, words: str) -> None:
    engine = _fake(fault)
    try:
        limit = 0.5 if kind == "hang" else 60.0
        result = run(engine, pocl, launch_limit_seconds=limit)
    finally:
        engine.close()
    assert result.failure is not None
    assert result.failure.kind == kind
    assert words in result.failure.sentence
    assert list(result.samples.seconds) == [1e-3, 2e-3]
    if fault == "abort":
        assert "assertion failed" in result.failure.detail
    if fault == "talkative":
        assert result.failure.detail.endswith("the last word\n")
        assert len(result.failure.detail) <= 64 * 1024


def test_a_child_whose_driver_state_is_lost_is_replaced(pocl: Device) -> None:
    started: list[LocalTransport] = []

    def connect(environment: Mapping[str, str]) -> LocalTransport:
        first = [sys.executable, str(FAKE), "state lost"]
        started.append(
            LocalTransport(environment) if started else LocalTransport(environment, first)
        )
        return started[-1]

    engine = Engine(connect)
    lost = run(engine, pocl)
    assert lost.failure is not None
    assert lost.failure.kind == "driver"
    assert run(engine, pocl).verdict == "verified"
    engine.close()
    assert len(started) == 2


def test_late_words_of_another_job_are_dropped(pocl: Device) -> None:
    engine = _fake("late words")
    try:
        result = run(engine, pocl)
    finally:
        engine.close()
    assert result.failure is None
    assert list(result.samples.seconds) == [1e-3, 2e-3]


def test_the_words_of_an_earlier_job_are_not_blamed(
    fresh: Engine, children: Children, pocl: Device, tmp_path: Path
) -> None:
    run(fresh, pocl, own_kernel(tmp_path, "C[0] = nothing_like_it;", stem="broken"), (4, 4, 4))
    result = _when_measuring(fresh, pocl, lambda _: os.kill(children.started[-1].pid, 9))
    assert result.failure is not None
    assert "error" not in result.failure.detail


def test_a_child_that_died_while_idle_is_replaced(
    fresh: Engine, children: Children, pocl: Device
) -> None:
    assert run(fresh, pocl).verdict == "verified"
    os.kill(children.started[-1].pid, signal.SIGKILL)
    while children.started[-1].alive():
        time.sleep(0.01)
    result = run(fresh, pocl)
    assert (result.verdict, result.failure) == ("verified", None)


def test_a_slow_listener_is_no_hang_and_loses_nothing(fresh: Engine, pocl: Device) -> None:
    job = make_job(pocl, launches=3000, launch_limit_seconds=0.8)
    paused = False
    for item in fresh.run(job, pocl):
        if isinstance(item, SampleBatch) and not paused:
            paused = True
            time.sleep(1.5)
    assert isinstance(item, Result)
    assert item.failure is None
    assert sum(item.samples.launches) == 3000


def test_closing_ends_a_listing_and_what_is_asked_later(pocl: Device) -> None:
    engine = _fake("deaf to all")
    asked = threading.Thread(target=engine.list_devices)
    asked.start()
    time.sleep(0.5)
    engine.close()
    asked.join(timeout=20)
    assert not asked.is_alive()
    late = run(engine, pocl)
    assert late.failure is not None
    assert late.failure.kind == "crash"


def test_a_child_is_not_led_astray_by_the_folder_one_stands_in(
    pocl: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong numpy')")
    monkeypatch.chdir(tmp_path)
    engine = Engine()
    assert run(engine, pocl).verdict == "verified"
    engine.close()


def test_an_unwritable_cache_is_done_without(pocl: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    engine = Engine()
    assert any(p.devices for p in engine.list_devices().platforms)
    assert run(engine, pocl).verdict == "verified"
    engine.close()


def test_a_child_that_cannot_be_started(pocl: Device) -> None:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, ["/no/such/program"])

    result = run(Engine(connect), pocl)
    assert result.failure is not None
    assert result.failure.kind == "crash"


def test_pocl_without_its_linker_is_listed_with_the_reason(
    pocl: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    engine = Engine()
    listing = engine.list_devices()
    found = [d for p in listing.platforms for d in p.devices if d.platform == pocl.platform]
    assert found
    assert "linker ld" in str(found[0].unavailable)
    result = run(engine, found[0])
    assert result.failure is not None
    assert "linker ld" in result.failure.sentence
    never_built = own_kernel(tmp_path, f"/* {tmp_path} */ {time.time()}; " + RIGHT)
    forced = run(engine, found[0], never_built, (4, 4, 4), force=True)
    assert forced.failure is not None
    assert forced.failure.kind == "crash"
    engine.close()


def test_no_process_is_left_when_the_app_is_killed(tmp_path: Path) -> None:
    own_kernel(tmp_path, ENDLESS)
    command = [sys.executable, "-m", "gemmviz", "run", str(tmp_path / "own.toml"), "--size", "4",
               "--device", "Portable"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "check" in line:
            break
    time.sleep(0.7)  # the kernel spins by now
    (child,) = _children_of(process.pid)
    process.kill()
    process.wait()
    process.stderr.close()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()


def _children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found
