"""Lists devices and runs jobs over hosts, one child a device."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Experiment, Outcome
from gemmviz.core.feasibility import refusal
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import (
    CompareJobs,
    Failed,
    Finished,
    Listing,
    Message,
    ReadRegisters,
    RegistersRead,
    RunJob,
    Work,
)
from gemmviz.core.model import Device, DeviceKey, Failure, Job, Registers, Result
from gemmviz.engine.host import Host
from gemmviz.engine.kept_builds import keep_registers, kept_registers
from gemmviz.engine.listing import Listed, list_devices
from gemmviz.engine.offspring import Nursery
from gemmviz.engine.record import ComparisonRecord, Record
from gemmviz.engine.transport import Connect

# Without a driver cache every build has a log; set before the first query of that child alone.
_POLL_SECONDS = 0.05
_VERBOSE_BUILDS = {"CUDA_CACHE_DISABLE": "1"}


class Engine:
    """Lists devices and runs jobs; its calls block and belong to worker threads.

    Jobs of different devices may run in different threads at once. ``stop`` and ``close`` may be
    called from any thread.
    """

    def __init__(self, connect: Connect | None = None) -> None:
        """Makes an engine; ``connect`` starts its children, a nursery without one."""
        self._nursery = Nursery()
        self._connect = connect or self._nursery.connect
        self._lock = threading.Lock()
        self._hosts: dict[DeviceKey | str, Host] = {}
        self._stopped: set[int] = set()
        self._experiments: set[int] = set()
        self._closed = False
        self._running: dict[int, Host] = {}
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._listed = Listed(Listing(-1, ()))
        self._listing_ids = itertools.count(1)

    def list_devices(self) -> Listing:
        """Every platform and device, asked in fresh children; trouble is in ``problem``."""
        listed = list_devices(self._listing_host)
        self._listed = listed
        return listed.listing

    @contextlib.contextmanager
    def _listing_host(self, environment: Mapping[str, str]) -> Iterator[Host]:
        with self._passing_host(f"listing {next(self._listing_ids)}", environment) as host:
            yield host

    @contextlib.contextmanager
    def lent_host(
        self, name: str, devices: Sequence[DeviceKey], environment: Mapping[str, str]
    ) -> Iterator[Host]:
        """A host with a child of its own, which ends with the loan or with the engine.

        Args:
            name: No other host's.
            devices: What its child may open.
            environment: Variables that its child gets besides.
        """
        variables = {**self._listed.environment_of(devices), **environment}
        with self._passing_host(name, variables) as host:
            yield host

    @contextlib.contextmanager
    def _passing_host(self, name: str, environment: Mapping[str, str]) -> Iterator[Host]:
        host = self._host(name, environment)
        try:
            yield host
        finally:
            host.close()
            with self._lock:
                del self._hosts[name]

    def run(self, job: Job, device: Device) -> Iterator[Message | Result]:
        """Runs ``job``; yields its messages and last its Result, whatever happens.

        Args:
            job: What to run; ``job.device`` is ``device.key``.
            device: What is known of the device, to refuse in advance what cannot run.
        """
        record = Record(job, device)
        for message in self._checked(RunJob(job), job.id, (job,), (device,)):
            record.take(message)
            yield message
        yield record.result()

    def compare(
        self, jobs: Sequence[Job], devices: Sequence[Device], job_id: int
    ) -> Iterator[Message | Comparison]:
        """Measures several jobs in turns; yields their messages and last the Comparison.

        All run in one child, so that one clock and one thread times them in turns, whatever their
        devices. The policy is that of the first job, and quiet if any is.

        Args:
            jobs: At least two, each with an id of its own.
            devices: The device of each.
            job_id: The comparison's own id, which ``stop`` takes and its last message bears.
        """
        quiet = any(job.policy.quiet for job in jobs)
        policy = replace(jobs[0].policy, quiet=quiet)
        jobs = [replace(job, policy=policy) for job in jobs]
        record = ComparisonRecord(job_id, jobs, devices)
        for message in self._checked(CompareJobs(job_id, tuple(jobs)), job_id, jobs, devices):
            record.take(message)
            yield message
        yield record.comparison()

    def perform(self, experiment: Experiment) -> Iterator[Message | Outcome]:
        """Makes an experiment; yields what it says of its progress and last its Outcome."""
        # Not before one is asked for: a window that opens need not wait for all their plans.
        from gemmviz.engine.laboratory import perform  # noqa: PLC0415

        with self._lock:
            self._experiments.add(experiment.job_id)
        try:
            yield from perform(experiment, self)
        finally:
            with self._lock:
                self._experiments.discard(experiment.job_id)
                self._stopped.discard(experiment.job_id)

    def was_stopped(self, job_id: int) -> bool:
        """Whether a job, comparison or experiment that is under way was asked to end."""
        with self._lock:
            return job_id in self._stopped

    def _checked(
        self,
        request: RunJob | CompareJobs,
        job_id: int,
        jobs: Sequence[Job],
        devices: Sequence[Device],
    ) -> Iterator[Message]:
        """The child's messages to a request, or why it is not even asked."""
        reason = _refusal(jobs, devices)
        if reason is None:
            yield from self.ask(request, job_id, [job.device for job in jobs])
            return
        with self._lock:
            self._forget_stop(job_id)
        yield Failed(job_id, Failure("refused", reason))

    def ask(
        self,
        request: Work,
        job_id: int,
        devices: Sequence[DeviceKey],
        environment: Mapping[str, str] | None = None,
    ) -> Iterator[Message]:
        """A child's messages to a request; the last is Finished or Failed.

        Args:
            request: What the child is to do.
            job_id: What ``stop`` knows it by.
            devices: The devices that the child opens.
            environment: Variables of a child that is made for this request alone.
        """
        keys = sorted(set(devices), key=str)
        name: DeviceKey | str = keys[0] if len(keys) == 1 else " + ".join(map(str, keys))
        if environment is not None:
            name = f"{name} for {job_id}"
        host = self._host(name, {**self._listed.environment_of(keys), **(environment or {})})
        with self._lock:
            self._running[job_id] = host
            stopped = job_id in self._stopped
        try:
            if stopped:
                yield Finished(job_id, stopped=True, reason="stopped")
            else:
                yield from host.converse(request)
        finally:
            with self._lock:
                self._running.pop(job_id, None)
                self._forget_stop(job_id)
            if isinstance(name, str):
                host.close()  # of each set of devices a child would stay for good
                with self._lock:
                    self._hosts.pop(name, None)

    def _forget_stop(self, job_id: int) -> None:
        """A stop ends the run that it was for; that of an experiment ends all its runs."""
        if job_id not in self._experiments:
            self._stopped.discard(job_id)

    def registers(
        self, job: Job, device: Device, experiment_id: int | None = None
    ) -> Registers | None:
        """What NVIDIA's compiler says of registers, from a second build; None elsewhere.

        Kept on disk by source, options and driver, so that it is built once.

        Args:
            job: The kernel, its parameters and build options.
            device: Where it would run.
            experiment_id: The experiment that asks, whose stop ends the build: then None as well.
        """
        if device.compute_capability is None or device.unavailable or job.variant.library:
            return None
        kept = kept_registers(job, device)
        if kept is not None:
            return kept
        found = self._built_registers(job, experiment_id)
        if found is None or found.registers is None:
            return None
        keep_registers(job, device, found)
        return found

    def _built_registers(self, job: Job, experiment_id: int | None) -> Registers | None:
        """The compiler's report, from a child in which every build has a log."""
        if experiment_id is not None:
            job = replace(job, id=experiment_id)
        name = f"registers {job.device}"
        environment = {**_VERBOSE_BUILDS, **self._listed.environment_of([job.device])}
        # The person's enquiries and an experiment may ask at once, and a host talks to one.
        with self._turn_of(name, experiment_id) as granted:
            if not granted:
                return None
            host = self._host(name, environment)
            with self._lock:
                if experiment_id is not None:
                    self._running[experiment_id] = host
            try:
                for message in host.converse(ReadRegisters(job)):
                    if isinstance(message, RegistersRead):
                        return message.registers
            finally:
                with self._lock:
                    if experiment_id is not None:
                        self._running.pop(experiment_id, None)
        return None

    @contextlib.contextmanager
    def _turn_of(self, name: str, experiment_id: int | None) -> Iterator[bool]:
        """Waits for the host of that name; False where the experiment was stopped meanwhile."""
        with self._lock:
            turn = self._turns[name]
        while not turn.acquire(timeout=_POLL_SECONDS):
            if experiment_id is not None and self.was_stopped(experiment_id):
                yield False
                return
        try:
            yield experiment_id is None or not self.was_stopped(experiment_id)
        finally:
            turn.release()

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
        self._nursery.close()

    def _host(self, key: DeviceKey | str, environment: Mapping[str, str]) -> Host:
        """The host of ``key``; one whose children would get another environment is replaced.

        A host in use cannot be: the jobs of one key take turns.
        """
        with self._lock:
            host = self._hosts.get(key)
            stale = host if host is not None and host.environment != environment else None
            if host is None or stale is not None:
                host = self._hosts[key] = Host(self._connect, environment)
            if self._closed:
                host.close()
        if stale is not None:
            stale.close()
        return host


def _refusal(jobs: Sequence[Job], devices: Sequence[Device]) -> str | None:
    """Why one of the jobs cannot run on its device, or None; several are told apart by name."""
    for job, device in zip(jobs, devices, strict=True):
        reason = None
        if not job.force:
            reason = refusal(job.variant, job.parameters, job.problem, device, limits_for(device))
        if reason is not None:
            return reason if len(jobs) == 1 else f"{job.variant.id}: {reason}"
    return None
