"""Children that are born of one process instead of being started each for itself."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemmviz.core.messages import ListDevices, Listing
from gemmviz.engine.host import Host
from gemmviz.engine.offspring import Nursery, Offspring
from gemmviz.engine.transport import LocalTransport, TransportClosed, child_environment


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_child_answers_and_has_the_environment_it_was_given(nursery: Nursery) -> None:
    born = nursery.connect({"GEMMVIZ_MARK": "here"})
    try:
        environment = Path(f"/proc/{born.pid}/environ").read_bytes()
        assert b"gemmviz.engine.nursery" in Path(f"/proc/{born.pid}/cmdline").read_bytes()
        assert b"GEMMVIZ_MARK" not in environment  # it was forked, not started
        assert parent_of(born.pid) != os.getpid()
    finally:
        born.kill()
    assert not born.alive()
    host = Host(nursery.connect, {"OCL_ICD_VENDORS": "/nowhere.so"})
    try:
        (*_, listing) = host.converse(ListDevices(7))
        assert isinstance(listing, Listing)
        assert listing.platforms == ()  # so the variable came before the loader looked
    finally:
        host.close()


def test_how_a_child_ended_is_known(nursery: Nursery) -> None:
    born = nursery.connect({})
    os.kill(born.pid, signal.SIGSEGV)
    with pytest.raises(TransportClosed, match="a segmentation fault"):
        born.receive(20.0)
    assert not born.alive()
    born.kill()


def test_a_child_ends_with_its_host(nursery: Nursery) -> None:
    born = Offspring(nursery, child_environment({}))
    assert born.pid
    assert born.stdin is not None
    born.stdin.close()
    assert born.wait(20.0) == 0
    for stream in (born.stdout, born.stderr):
        assert stream is not None
        stream.close()


def test_what_counts_when_a_process_starts_needs_a_process(nursery: Nursery) -> None:
    started = nursery.connect({"LD_BIND_NOW": "1"})
    try:
        assert parent_of(started.pid) == os.getpid()
        assert b"LD_BIND_NOW=1" in Path(f"/proc/{started.pid}/environ").read_bytes()
    finally:
        started.kill()


def test_without_a_nursery_children_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    nursery = Nursery()
    first = nursery.connect({})
    process = nursery._process
    assert process is not None
    first.kill()
    process.kill()
    process.wait()
    second = Offspring(nursery, child_environment({}))  # it asks in vain
    third = nursery.connect({})
    try:
        assert parent_of(second.pid) == parent_of(third.pid) == os.getpid()
        assert second.poll() is None
    finally:
        third.kill()
        second.kill()
        assert second.wait(20.0) == -signal.SIGKILL
        for stream in (second.stdin, second.stdout, second.stderr):
            assert stream is not None
            stream.close()
        nursery.close()


def test_a_child_can_be_killed_before_it_is_born() -> None:
    nursery = Nursery()
    alive = threading.active_count()
    born: LocalTransport = nursery.connect({})
    born.kill()
    assert not born.alive()
    nursery.close()
    with pytest.raises(OSError, match=r"."):
        nursery.ask({"pid": 1})
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(20.0)
    assert threading.active_count() <= alive
