"""Runs jobs over hosts, one child a device, and gathers what a run gives into a Result."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import threading
import time
from array import array
from collections.abc import Iterator
from pathlib import Path

from gemmviz.core.codec import CodecError, from_json, to_json
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import assemble
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import (
    Built,
    Checked,
    Failed,
    Finished,
    ListDevices,
    Listing,
    Message,
    ReadRegisters,
    RegistersRead,
    RunJob,
    SampleBatch,
)
from gemmviz.core.model import (
    Check,
    Device,
    DeviceKey,
    Failure,
    Job,
    KernelFacts,
    Registers,
    Result,
    Samples,
)
from gemmviz.core.paths import cache_dir
from gemmviz.core.verdict import describe
from gemmviz.engine.host import Host
from gemmviz.engine.transport import Connect, LocalTransport

# Without a driver cache every build has a log; set before the first query of that child alone.
_VERBOSE_BUILDS = {"CUDA_CACHE_DISABLE": "1"}


class Engine:
    """Lists devices and runs jobs; its calls block and belong to worker threads.

    Jobs of different devices may run in different threads at once. ``stop`` and ``close`` may be
    called from any thread.
    """

    def __init__(self, connect: Connect = LocalTransport) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._hosts: dict[DeviceKey | str, Host] = {}
        self._stopped: set[int] = set()
        self._closed = False
        self._running: dict[int, Host] = {}
        self._listing_ids = itertools.count(-1, -1)

    def list_devices(self) -> Listing:
        """Every platform and device, asked in a fresh child; trouble is in ``problem``."""
        job_id = next(self._listing_ids)
        key = f"listing {job_id}"
        host = self._host(key, {})
        problem = "The list of devices came to no end."
        try:
            for message in host.converse(ListDevices(job_id)):
                if isinstance(message, Listing):
                    return message
                if isinstance(message, Failed):
                    problem = " ".join((message.failure.sentence, message.failure.detail)).strip()
        finally:
            host.close()
            with self._lock:
                del self._hosts[key]
        return Listing(job_id, (), (), problem)

    def run(self, job: Job, device: Device) -> Iterator[Message | Result]:
        """Runs ``job``; yields its messages and last its Result, whatever happens.

        Args:
            job: What to run; ``job.device`` is ``device.key``.
            device: What is known of the device, to refuse in advance what cannot run.
        """
        record = _Record(job, device)
        reason = None
        if not job.force:
            reason = refusal(job.variant, job.parameters, job.problem, device, limits_for(device))
        if reason is not None:
            failed = Failed(job.id, Failure("refused", reason))
            record.take(failed)
            with self._lock:
                self._stopped.discard(job.id)
            yield failed
            yield record.result()
            return
        host = self._host(job.device, {})
        with self._lock:
            self._running[job.id] = host
            stopped = job.id in self._stopped
        try:
            messages = iter((Finished(job.id, stopped=True),)) if stopped else None
            for message in messages or host.converse(RunJob(job)):
                record.take(message)
                yield message
        finally:
            with self._lock:
                self._running.pop(job.id, None)
                self._stopped.discard(job.id)
        yield record.result()

    def registers(self, job: Job, device: Device) -> Registers | None:
        """What NVIDIA's compiler says of registers, from a second build; None elsewhere.

        Kept on disk by source, options and driver, so that it is built once.
        """
        if device.compute_capability is None or device.unavailable:
            return None
        source = assemble(job.variant, job.parameters, job.problem.element)
        text = json.dumps([source, job.build_options, device.name, device.driver_version])
        path = cache_dir() / "registers" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        kept = _kept_registers(path)
        if kept is not None:
            return kept
        host = self._host(f"registers {job.device}", _VERBOSE_BUILDS)
        for message in host.converse(ReadRegisters(job)):
            if isinstance(message, RegistersRead) and message.registers.registers is not None:
                with contextlib.suppress(OSError):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(json.dumps(to_json(message.registers)))
                return message.registers
        return None

    def stop(self, job_id: int) -> None:
        """Ends a job, under way or not yet begun."""
        with self._lock:
            self._stopped.add(job_id)
            host = self._running.get(job_id)
        if host is not None:
            host.stop(job_id)

    def close(self) -> None:
        """Ends every child, for good: what is asked later fails at once."""
        with self._lock:
            self._closed = True
            hosts = list(self._hosts.values())
        for host in hosts:
            host.close()

    def _host(self, key: DeviceKey | str, environment: dict[str, str]) -> Host:
        with self._lock:
            host = self._hosts.get(key)
            if host is None:
                host = self._hosts[key] = Host(self._connect, environment)
            if self._closed:
                host.close()
            return host


def _kept_registers(path: Path) -> Registers | None:
    try:
        return from_json(Registers, json.loads(path.read_text()))
    except (OSError, ValueError, CodecError):
        return None


class _Record:
    """Gathers the messages of one run."""

    def __init__(self, job: Job, device: Device) -> None:
        self._job, self._device = job, device
        # Arrays: a minute of short launches is millions of samples.
        self._launches = array("L")
        self._seconds = array("d")
        self._at = array("d")
        self._facts: KernelFacts | None = None
        self._log = ""
        self._check: Check | None = None
        self._failure: Failure | None = None
        self._stopped = False
        self._discarded = 0

    def take(self, message: Message) -> None:
        """Adds one message."""
        match message:
            case Built(facts=facts, log=log):
                self._facts, self._log = facts, log
            case Checked(check=check):
                self._check = check
            case SampleBatch(samples=samples):
                self._launches.extend(samples.launches)
                self._seconds.extend(samples.seconds)
                self._at.extend(samples.at)
            case Finished(stopped=stopped, discarded=discarded):
                self._stopped, self._discarded = stopped, discarded
            case Failed(failure=failure):
                self._failure = failure
            case _:
                pass

    def result(self) -> Result:
        """The Result of what was gathered; a wrong answer is a failure of its own."""
        failure = self._failure
        if failure is None and self._check is not None and self._check.verdict == "wrong":
            failure = Failure("wrong", describe(self._check), self._job.variant.finding)
        return Result(
            job=self._job,
            device=self._device,
            samples=Samples(self._launches, self._seconds, self._at),
            check=self._check,
            facts=self._facts,
            build_log=self._log,
            failure=failure,
            stopped=self._stopped,
            finished_at=time.time(),
            discarded=self._discarded,
        )
