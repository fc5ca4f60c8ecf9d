"""Whatever a kernel or a driver does, the run ends in one sentence and the next run works."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.messages import Phase, SampleBatch
from gemmviz.core.model import Argument, Device, Result
from gemmviz.engine.plan import Engine
from gemmviz.engine.transport import LocalTransport
from tests.engine.runs import RIGHT, finish, make_job, own_kernel, run

ENDLESS = "volatile __global real *c = C; while (c[0] != 12345) c[row * N + col] += 1;"
FAKE = Path(__file__).with_name("fake_child.py")


def _fake(fault: str) -> Engine:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, [sys.executable, str(FAKE), fault])

    return Engine(connect)


class _Children:
    """Remembers the children that an engine starts."""

    def __init__(self) -> None:
        self.started: list[LocalTransport] = []

    def __call__(self, environment: Mapping[str, str]) -> LocalTransport:
        self.started.append(LocalTransport(environment))
        return self.started[-1]


@pytest.fixture
def children() -> _Children:
    return _Children()


@pytest.fixture
def fresh(children: _Children, pocl: Device) -> Iterator[Engine]:
    """An engine whose next run must work, whatever the test did to it."""
    engine = Engine(children)
    yield engine
    assert run(engine, pocl).verdict == "verified"
    engine.close()
    for child in children.started:
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)


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
    stopped_at = ended_at = 0.0
    for item in fresh.run(job, device):
        if isinstance(item, Phase) and item.name == "check":
            time.sleep(1.0)  # the kernel spins by now
            stopped_at = time.monotonic()
            threading.Thread(target=fresh.stop, args=(job.id,)).start()
        ended_at = time.monotonic()
    assert isinstance(item, Result)
    assert item.stopped
    assert item.failure is None
    assert item.verdict is None
    # Half a second, and what a busy machine takes to start a thread and reap a process.
    assert 0 < ended_at - stopped_at < 1.0


def test_a_launch_over_its_limit_is_killed_and_reported(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    endless = own_kernel(tmp_path, ENDLESS)
    result = run(fresh, pocl, endless, (4, 4, 4), launch_limit_seconds=1.5)
    assert result.failure is not None
    assert result.failure.kind == "hang"
    assert "limit of 1.5 s" in result.failure.sentence


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
    fresh: Engine, children: _Children, pocl: Device, number: signal.Signals, words: str
) -> None:
    result = _when_measuring(fresh, pocl, lambda _: os.kill(children.started[-1].pid, number))
    assert result.failure is not None
    assert result.failure.kind == "crash"
    assert words in result.failure.sentence
    assert result.verdict == "verified"
    assert len(result.samples) > 0


def test_a_kernel_that_segfaults(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    stray = own_kernel(tmp_path, "C[(size_t)1 << 40] = A[0];")
    result = run(fresh, pocl, stray, (4, 4, 4))
    assert result.failure is not None
    assert result.failure.kind == "crash"
    assert "segmentation fault" in result.failure.sentence
    assert "Segmentation fault" in result.failure.detail


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("segfault", "crash", "segmentation fault"),
        ("abort", "crash", "an abort"),
        ("exit", "crash", "ended with code 3"),
        ("half a line", "crash", "unreadable"),
        ("no json", "crash", "unreadable"),
        ("deaf", "hang", "limit of 0.5 s"),
    ],
)
def test_faults_of_a_child(pocl: Device, fault: str, kind: str, words: str) -> None:
    engine = _fake(fault)
    try:
        result = run(engine, pocl, launch_limit_seconds=0.5)
    finally:
        engine.close()
    assert result.failure is not None
    assert result.failure.kind == kind
    assert words in result.failure.sentence
    assert list(result.samples.seconds) == [1e-3, 2e-3]
    if fault == "abort":
        assert "assertion failed" in result.failure.detail


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
    fresh: Engine, children: _Children, pocl: Device, tmp_path: Path
) -> None:
    run(fresh, pocl, own_kernel(tmp_path, "C[0] = nothing_like_it;", stem="broken"), (4, 4, 4))
    result = _when_measuring(fresh, pocl, lambda _: os.kill(children.started[-1].pid, 9))
    assert result.failure is not None
    assert "error" not in result.failure.detail


def test_a_child_that_died_while_idle_is_replaced(
    fresh: Engine, children: _Children, pocl: Device
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
    assert len(item.samples) == 3000


def test_closing_ends_a_listing_and_what_is_asked_later(pocl: Device) -> None:
    engine = _fake("deaf to all")
    asked = threading.Thread(target=engine.list_devices)
    asked.start()
    time.sleep(0.5)
    begun = time.monotonic()
    engine.close()
    asked.join(timeout=5)
    assert not asked.is_alive()
    assert time.monotonic() - begun < 3
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


def test_arguments_by_value_by_constant_and_by_pointer(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    plain = own_kernel(tmp_path, RIGHT)
    source = plain.source.replace("int M, int N, int K)", "int M, __global const long *n, int K, "
                                  "float two)")  # fmt: skip
    source = source.replace("{\n", "{\n  const int N = (int)n[0];\n", 1).replace(
        "= s;", "= s * (real)two / 2;"
    )
    arguments = (
        *plain.arguments[:4],
        Argument("buffer", "N * element_bytes // element_bytes", "long"),
        Argument("value", "K if M else 0"),
        Argument("constant", "2.0", "float"),
    )
    result = run(fresh, pocl, replace(plain, source=source, arguments=arguments), (5, 6, 7))
    assert result.verdict == "verified", result.failure


def test_a_type_that_differs_from_the_metadata(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    plain = own_kernel(tmp_path, RIGHT)
    longer = replace(plain, source=plain.source.replace("int K)", "long K)"))
    result = run(fresh, pocl, longer, (4, 4, 4))
    assert result.failure is not None
    assert result.failure.kind == "launch"
    assert "Argument 5" in result.failure.sentence


def test_build_options_that_no_compiler_knows(fresh: Engine, pocl: Device) -> None:
    result = run(fresh, pocl, build_options="-nonsense")
    assert result.failure is not None
    assert result.failure.kind == "build"


def test_a_formula_without_a_value_at_this_shape(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    plain = own_kernel(tmp_path, RIGHT)
    for odd in (
        replace(plain, tile_rows="M // 32"),
        replace(plain, require=("K % (M - 4) >= 0",)),
        replace(plain, local_bytes="M - 8"),
    ):
        result = run(fresh, pocl, odd, (4, 4, 4))
        assert result.failure is not None
        assert result.failure.kind == "refused"


def test_a_child_that_cannot_be_started(pocl: Device) -> None:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, ["/no/such/program"])

    result = run(Engine(connect), pocl)
    assert result.failure is not None
    assert result.failure.kind == "crash"


def test_a_build_error_has_the_compilers_words_with_our_file_and_line(
    fresh: Engine, pocl: Device, intel: Device, tmp_path: Path
) -> None:
    broken = own_kernel(tmp_path, "C[row * N + col] = nothing_like_it;")
    for device in (pocl, intel):
        result = run(fresh, device, broken, (4, 4, 4))
        assert result.failure is not None
        assert result.failure.kind == "build"
        assert "own.cl:4" in result.failure.detail
        assert "nothing_like_it" in result.failure.detail


def test_a_launch_that_the_driver_rejects(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    wide = own_kernel(tmp_path, RIGHT)
    wide = replace(wide, group=("100000", "1"), tile_cols="100000")
    predicted = run(fresh, pocl, wide, (4, 4, 4))
    assert predicted.failure is not None
    assert predicted.failure.kind == "refused"
    assert "100000" in predicted.failure.sentence
    forced = run(fresh, pocl, wide, (4, 4, 4), force=True)
    assert forced.failure is not None
    assert forced.failure.kind == "launch"
    assert "WORK" in forced.failure.sentence


def test_metadata_with_other_arguments_than_the_kernel(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    short = own_kernel(tmp_path, RIGHT)
    short = replace(short, arguments=short.arguments[:4])
    result = run(fresh, pocl, short, (4, 4, 4))
    assert result.failure is not None
    assert "takes 6 arguments and its metadata lists 4" in result.failure.sentence


@pytest.mark.parametrize("platform", ["pocl", "intel"])
def test_local_memory_over_the_limit(
    fresh: Engine, platform: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    device = request.getfixturevalue(platform)
    greedy = own_kernel(
        tmp_path,
        "__local real big[1 << 22]; big[K] = A[0]; barrier(CLK_LOCAL_MEM_FENCE); " + RIGHT,
    )
    greedy = replace(greedy, local_bytes="4194304 * element_bytes")
    predicted = run(fresh, device, greedy, (4, 4, 4))
    assert predicted.failure is not None
    assert predicted.failure.kind == "refused"
    assert "16 MiB of local memory" in predicted.failure.sentence
    forced = run(fresh, device, greedy, (4, 4, 4), force=True)
    # These two keep local memory in cache and never look at their own limit.
    assert forced.verdict == "verified"


def test_device_memory_exhausted(pocl: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCL_MEMORY_LIMIT", "1")  # GiB; the largest buffer is then smaller still
    engine = Engine()
    try:
        small = next(
            device
            for platform in engine.list_devices().platforms
            for device in platform.devices
            if device.key == pocl.key
        )
        assert small.max_alloc_bytes is not None
        assert small.max_alloc_bytes <= 2**30
        job = make_job(small, shape=(17_000, 17_000, 16))
        predicted = finish(engine, job, small)
        assert predicted.failure is not None
        assert predicted.failure.kind == "refused"
        assert "GiB" in predicted.failure.sentence or "MiB" in predicted.failure.sentence
        forced = finish(engine, replace(job, force=True), small)
        assert forced.failure is not None
        assert forced.failure.kind == "out_of_memory"
        assert run(engine, small).verdict == "verified"
    finally:
        engine.close()


def test_a_kernel_that_prints_does_not_disturb_the_wire(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    chatty = own_kernel(tmp_path, 'printf("{\\"type\\": \\"Finished\\"}\\n"); ' + RIGHT)
    result = run(fresh, pocl, chatty, (4, 4, 4), launches=20)
    assert result.verdict == "verified"
    assert len(result.samples) == 20


def test_a_kernel_that_writes_behind_c_is_wrong(
    fresh: Engine, pocl: Device, tmp_path: Path
) -> None:
    stray = own_kernel(tmp_path, RIGHT + " if (row == 0 && col == 0) C[M * N + 2] = 1;")
    result = run(fresh, pocl, stray, (4, 4, 4))
    assert result.verdict == "wrong"
    assert result.check is not None
    assert (result.check.cells_wrong, result.check.overrun) == (0, 1)


def test_reading_behind_a_poisons_the_answer(fresh: Engine, pocl: Device, tmp_path: Path) -> None:
    over = own_kernel(tmp_path, RIGHT.replace("k < K", "k <= K"))
    result = run(fresh, pocl, over, (4, 4, 4))
    assert result.verdict == "wrong"


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
