"""Builds kernels ahead, several at a time, in children apart from the one that measures."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gemmviz.core.messages import BuildAhead, Built, Failed
from gemmviz.core.model import Device, Failure, Job
from gemmviz.engine.compiler import parse_registers
from gemmviz.engine.host import Host
from gemmviz.engine.kept_builds import KeptBuild, keep_build

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_MOST = 16
_BYTES_EACH = 2**30  # of a GPU's memory, which each process that opens it takes some of
_LAUNCH_LIMIT_SECONDS = 40.0  # a driver compiles in it: of a large kernel on a busy machine 10 s
# PoCL compiles in one of its workers: pinned, those of several children would share a processor.
_ENVIRONMENT = {"POCL_AFFINITY": "0", "POCL_MAX_PTHREAD_COUNT": "1"}
_POCL = "portable computing language"
_names = itertools.count(1)


@dataclass(frozen=True, slots=True)
class BuildDone:
    """A build that ended: what the compiler said, and why it failed if it did."""

    job: Job
    build: KeptBuild
    failure: Failure | None = None


def builds_ahead(device: Device) -> bool:
    """Whether a child finds on disk what another child has built for ``device``."""
    return _is_pocl(device) or device.compute_capability is not None


def count_builders(device: Device, cores: int) -> int:
    """How many children build at a time; a GPU leaves one processor to the measuring one."""
    most = cores if device.type == "CPU" else cores - 1
    if device.type != "CPU" and device.global_mem_bytes is not None:
        most = min(most, device.global_mem_bytes // _BYTES_EACH)
    return max(1, min(_MOST, most))


class Builders:
    """Children that build what is ordered; each is started when there is work for it.

    All methods belong to one thread. A kernel that crashes the compiler costs its child alone; one
    that crashes a child which built others before is built again in a fresh one.
    """

    def __init__(self, engine: Engine, device: Device, count: int) -> None:
        self._engine, self._device, self._count = engine, device, count
        self._orders: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[BuildDone] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._hosts: list[Host] = []
        self._lock = threading.Lock()
        self._closed = False
        self._outstanding = 0

    @property
    def outstanding(self) -> int:
        """How many builds are ordered and not yet taken."""
        return self._outstanding

    def order(self, jobs: Iterable[Job]) -> None:
        """Orders builds, the first first."""
        for job in jobs:
            self._outstanding += 1
            self._orders.put(job)
        while len(self._threads) < min(self._count, self._outstanding):
            thread = threading.Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()

    def take(self, timeout_seconds: float) -> tuple[BuildDone, ...]:
        """What has ended since it was last asked; waits for one if there is none."""
        done: list[BuildDone] = []
        try:
            done.append(self._done.get(timeout=timeout_seconds))
            while True:
                done.append(self._done.get_nowait())
        except queue.Empty:
            pass
        self._outstanding -= len(done)
        return tuple(done)

    def close(self) -> None:
        """Ends all children, whatever they do."""
        with self._lock:
            self._closed = True
            hosts = list(self._hosts)
        for _ in self._threads:
            self._orders.put(None)
        for host in hosts:
            host.close()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        name = f"builder {next(_names)}"
        with self._engine.lent_host(name, [self._device.key], _ENVIRONMENT) as host:
            with self._lock:
                if self._closed:
                    return
                self._hosts.append(host)
            fresh = True
            while (job := self._orders.get()) is not None and not self._closed:
                done = self._build(host, job)
                if _crashed(done) and not fresh and not self._closed:
                    done = self._build(host, job)  # what an earlier kernel overwrote is not its own
                fresh = _crashed(done)
                self._done.put(done)

    def _build(self, host: Host, job: Job) -> BuildDone:
        log, failure = "", None
        patient = replace(job, launch_limit_seconds=_LAUNCH_LIMIT_SECONDS)
        for message in host.converse(BuildAhead(patient, launch=_is_pocl(self._device))):
            if isinstance(message, Built):
                log = message.log
            elif isinstance(message, Failed):
                failure = message.failure
        build = KeptBuild(log, parse_registers(log))
        if failure is None:
            keep_build(job, self._device, build)
        return BuildDone(job, build, failure)


def _crashed(done: BuildDone) -> bool:
    return done.failure is not None and done.failure.kind == "crash"


def _is_pocl(device: Device) -> bool:
    return _POCL in device.platform.lower()
