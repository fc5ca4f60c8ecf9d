"""Drivers, disks and processes that fail: what still works works, and a sentence says the rest."""

import contextlib
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

from gemmviz.core.messages import Listing, RunJob, SampleBatch
from gemmviz.core.model import Device, DeviceKey, Platform, Result
from gemmviz.engine.host import Host
from gemmviz.engine.listing import Listed, list_devices
from gemmviz.engine.plan import Engine
from gemmviz.engine.transport import CHILD_COMMAND, LocalTransport
from tests.engine.conftest import Children
from tests.engine.runs import CATALOG, RIGHT, finish, make_job, own_kernel, run

FAKE = Path(__file__).with_name("fake_child.py")
LIBRARY = """
.text
start:
  {body}
.section .init_array, "aw"
.quad start
.section .note.GNU-stack, "", @progbits
"""
CRASH, HANG = "ud2", "jmp start"
# As on a full disk, nothing more can be written to any file.
FULL_DISK = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
# Stopped before it has read a word, as by a debugger or a batch system.
STOPPED = "import os, signal, sys; os.kill(os.getpid(), signal.SIGSTOP)"


@pytest.fixture
def vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of drivers that the loader reads besides those in pyopencl's wheel."""
    folder = tmp_path / "vendors"
    folder.mkdir()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    return folder


def _add_driver(folder: Path, body: str) -> None:
    """Adds a library whose constructor runs ``body``."""
    (folder / "broken.s").write_text(LIBRARY.format(body=body))
    subprocess.run(["as", "broken.s", "-o", "broken.o"], cwd=folder, check=True)
    subprocess.run(["ld", "-shared", "broken.o", "-o", "broken.so"], cwd=folder, check=True)
    (folder / "broken.icd").write_text(f"{folder / 'broken.so'}\n")


def _named(listing: Listing, name: str) -> Platform:
    (found,) = [platform for platform in listing.platforms if name in platform.name]
    return found


@contextlib.contextmanager
def _open_host(environment: Mapping[str, str]) -> Iterator[Host]:
    host = Host(LocalTransport, environment)
    try:
        yield host
    finally:
        host.close()


def test_a_driver_that_crashes_hides_no_other(vendors: Path) -> None:
    _add_driver(vendors, CRASH)
    engine = Engine()
    try:
        listing = engine.list_devices()
        broken = _named(listing, "broken.icd")
        assert broken.devices == ()
        assert "an illegal instruction" in broken.problem
        assert str(vendors / "broken.icd") in broken.problem
        assert listing.problem == ""
        assert str(vendors) in listing.vendor_folders
        (pocl,) = _named(listing, "Portable Computing Language").devices
        assert run(engine, pocl).verdict == "verified"
        (vendors / "broken.icd").unlink()
        again = engine.list_devices()
        assert [platform.name for platform in again.platforms if not platform.devices] == []
        assert run(engine, pocl).verdict == "verified"
    finally:
        engine.close()


def test_a_driver_that_hangs_hides_no_other(vendors: Path) -> None:
    _add_driver(vendors, HANG)
    listed = list_devices(_open_host, limit_seconds=2, one_limit_seconds=8)
    broken = _named(listed.listing, "broken.icd")
    assert broken.devices == ()
    assert "no answer within 8 s as it listed the devices" in broken.problem
    (pocl,) = _named(listed.listing, "Portable Computing Language").devices
    with _open_host(listed.environment_of([pocl.key])) as host:
        *_, last = host.converse(RunJob(make_job(pocl)))
    assert type(last).__name__ == "Finished", last


def test_drivers_that_fail_together_are_used_one_by_one(pocl: Device, intel: Device) -> None:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, [sys.executable, str(FAKE), "drivers at odds"])

    engine = Engine(connect)
    try:
        listing = engine.list_devices()
        assert "one by one" in listing.problem
        listed = {device.key for platform in listing.platforms for device in platform.devices}
        assert {pocl.key, intel.key} <= listed
        for device in (pocl, intel):
            assert run(engine, device).verdict == "verified"
    finally:
        engine.close()


def test_a_child_loads_no_driver_but_those_of_its_devices() -> None:
    a, b, c = (DeviceKey(name, "1", name) for name in "abc")
    listed = Listed(Listing(-1, ()), {a: "/a.icd", b: "/b.icd"})
    assert listed.environment_of([b, a, b]) == {"GEMMVIZ_DRIVERS": '["/a.icd", "/b.icd"]'}
    assert listed.environment_of([c]) == {}
    assert Listed(Listing(-1, ())).environment_of([a]) == {}


def test_a_device_that_vanishes_is_named_and_found_again(
    fresh: Engine, children: Children, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        context.setenv("OCL_ICD_VENDORS", "/nonexistent")
        result = run(fresh, pocl)
    assert result.failure is not None
    assert result.failure.kind == "not_found"
    assert pocl.name in result.failure.sentence
    assert "no longer there" in result.failure.sentence
    assert run(fresh, pocl).verdict == "verified"
    assert len(children.started) == 2


@pytest.mark.parametrize("remedy", ["stop", "limit"])
def test_a_child_that_is_stopped_by_a_signal(
    fresh: Engine, children: Children, pocl: Device, remedy: str
) -> None:
    limit = 0.7 if remedy == "limit" else 600.0
    job = make_job(pocl, launches=None, launch_limit_seconds=limit)
    asleep = False
    for item in fresh.run(job, pocl):
        if isinstance(item, SampleBatch) and not asleep:
            asleep = True
            os.kill(children.started[-1].pid, signal.SIGSTOP)
            if remedy == "stop":
                threading.Thread(target=fresh.stop, args=(job.id,)).start()
    assert isinstance(item, Result)
    assert len(item.samples) > 0
    if remedy == "stop":
        assert item.stopped
        assert item.failure is None
    else:
        assert item.failure is not None
        assert item.failure.kind == "hang"


def test_a_stop_waits_for_no_child_that_does_not_read(pocl: Device) -> None:
    def connect(environment: Mapping[str, str]) -> LocalTransport:
        return LocalTransport(environment, [sys.executable, "-c", STOPPED])

    engine = Engine(connect)
    tiled = CATALOG.find("tiled")
    job = make_job(pocl, replace(tiled, source=tiled.source + "/" * 10**6))  # more than a pipe has
    results: list[Result] = []
    runs = threading.Thread(target=lambda: results.append(finish(engine, job, pocl)))
    runs.start()
    time.sleep(0.5)
    stops = threading.Thread(target=engine.stop, args=(job.id,))
    stops.start()
    for thread in (stops, runs):
        thread.join(timeout=20)
        assert not thread.is_alive()
    engine.close()
    assert results[0].stopped


def test_a_full_disk(pocl: Device, tmp_path: Path) -> None:
    commands = [[sys.executable, "-c", FULL_DISK, *CHILD_COMMAND], list(CHILD_COMMAND)]
    started: list[LocalTransport] = []

    def connect(environment: Mapping[str, str]) -> LocalTransport:
        started.append(LocalTransport(environment, commands[len(started)]))
        return started[-1]

    engine = Engine(connect)
    never_built = own_kernel(tmp_path, f"/* {tmp_path} {time.time()} */ " + RIGHT)
    try:
        full = run(engine, pocl, never_built, (4, 4, 4))
        # PoCL keeps what it builds in files.
        assert full.failure is not None
        assert full.failure.kind in ("build", "crash")
        assert full.failure.sentence.endswith(".")
        started[0].kill()
        assert run(engine, pocl, never_built, (4, 4, 4)).verdict == "verified"
    finally:
        engine.close()


@pytest.mark.parametrize("platform", ["pocl", "intel"])
def test_megabytes_of_warnings_are_cut_to_their_ends(
    fresh: Engine, platform: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    device = request.getfixturevalue(platform)
    many = "int i = 0;\n" + ("if (i = 2) {} " * 280 + "\n") * (20 if platform == "pocl" else 1)
    wordy = own_kernel(tmp_path, many + f"/* {tmp_path} {time.time()} */ " + RIGHT)
    result = run(fresh, device, wordy, (4, 4, 4))
    assert result.verdict == "verified", result.failure
    log = result.build_log
    assert 200 * 1024 < len(log) <= 257 * 1024
    first, cut, last = (log[:20_000], log[100_000:160_000], log[-20_000:])
    assert "own.cl:5:7" in first
    assert " more bytes\n" in cut
    assert "own.cl" in last
