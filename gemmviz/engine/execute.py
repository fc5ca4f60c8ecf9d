"""Runs jobs inside the child: one kernel measured, or several in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from gemmviz.core.launch import assemble_job
from gemmviz.core.messages import (
    Calibrated,
    CompareJobs,
    Finished,
    RegistersRead,
    SampleBatch,
    TimerChosen,
)
from gemmviz.core.model import DeviceKey, Failure, Job, Samples
from gemmviz.core.paired import PairedRule
from gemmviz.core.policy import StopReason
from gemmviz.core.stopping import StopRule
from gemmviz.engine.bench import Bench, Cancelled, Emit
from gemmviz.engine.compiler import parse_registers
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.matrices import Matrices, matrices_key
from gemmviz.engine.measure import Sampler, Taken, timer_of
from gemmviz.engine.opencl import Session

_BATCH_SECONDS = 0.02
# In quiet mode: how long nothing is drawn, and how long there is to draw then.
_QUIET_SECONDS, _PAUSE_SECONDS = 0.5, 0.08
_JUDGE_SECONDS = 0.25
# So many launches without one usable time mean that none will come.
_USELESS_LAUNCHES = 100


def run_job(job: Job, session: Session, emit: Emit, cancelled: Cancelled) -> None:
    """Runs ``job``, emitting its messages up to Finished.

    Args:
        job: What to run.
        session: The open device.
        emit: Sends a message to the host.
        cancelled: Whether the host asked for an end.

    Raises:
        DriverError: A step failed; the failure is inside.
    """
    with closing(Bench(job, session, emit, None)) as bench:
        _run(bench, emit, cancelled)


def _run(bench: Bench, emit: Emit, cancelled: Cancelled) -> None:
    """Measures one bench; see :func:`run_job`."""
    job = bench.job
    sampler = _ready(bench, emit, cancelled)
    if sampler is None:
        emit(Finished(job.id, stopped=True, reason="stopped"))
        return
    rule = StopRule(job.policy)
    outlet = _Outlet(job, emit)
    bench.phase("measure")
    origin = judged = time.perf_counter()
    reason: StopReason = ""
    while not reason and not cancelled():
        most = None if job.policy.launches is None else job.policy.launches - outlet.launches
        before = time.perf_counter()
        samples = outlet.put(sampler.take(most), before - origin)
        rule.add(samples)
        now = time.perf_counter()
        if now - judged > _JUDGE_SECONDS:
            judged = now
            if sampler.judge_again():
                # By two clocks the samples would mean nothing: begin again with the other one.
                outlet.forget()
                emit(TimerChosen(job.id, sampler.trust))
                rule, origin = StopRule(job.policy), now
                continue
        outlet.complain_of_timer()
        reason = rule.reason(now - origin)
        if outlet.send_if_due(now) and job.policy.quiet and not reason:
            time.sleep(_PAUSE_SECONDS)
            bench.wake()
    outlet.send()
    emit(
        Finished(
            job.id,
            stopped=not reason,
            discarded=outlet.discarded,
            reason=reason or "stopped",
            trust=sampler.final_trust(),
            quantiles=sampler.quantiles,
        )
    )


def compare_jobs(
    request: CompareJobs,
    session_of: Callable[[DeviceKey], Session],
    emit: Emit,
    cancelled: Cancelled,
) -> None:
    """Measures several jobs in turns, each round once forwards and the next backwards.

    So neither comes always first, and a steady drift cancels. Jobs of the same problem on the same
    device share their matrices: where a buffer lies changes the speed by more than a percent.

    Raises:
        DriverError: A step failed; the failure inside says of which kernel.
    """
    with ExitStack() as stack:
        _compare(request, session_of, stack, emit, cancelled)


def _compare(
    request: CompareJobs,
    session_of: Callable[[DeviceKey], Session],
    stack: ExitStack,
    emit: Emit,
    cancelled: Cancelled,
) -> None:
    """Measures in turns; ``stack`` closes the benches. See :func:`compare_jobs`."""
    benches: list[Bench] = []
    samplers: list[Sampler] = []
    for job in request.jobs:
        with _blamed_on(job):
            session = session_of(job.device)
            bench = Bench(job, session, emit, _shared(benches, job, session))
            benches.append(stack.enter_context(closing(bench)))
            sampler = _ready(benches[-1], emit, cancelled)
        if sampler is None:
            emit(Finished(request.job_id, stopped=True, reason="stopped"))
            return
        samplers.append(sampler)
    use_one_clock(samplers, request.jobs, emit)
    policy = request.jobs[0].policy
    rule = PairedRule(policy, len(benches) - 1)
    outlets = [_Outlet(job, emit) for job in request.jobs]
    for bench in benches:
        bench.phase("measure")
    origin = judged = time.perf_counter()
    reason: StopReason = ""
    forwards = True
    while not reason and not cancelled():
        _take_round(samplers, outlets, rule, origin, forwards=forwards)
        forwards = not forwards
        now = time.perf_counter()
        if now - judged > _JUDGE_SECONDS:
            judged = now
            changed = [sampler.judge_again() for sampler in samplers]
            if any(changed):
                for outlet in outlets:
                    outlet.forget()
                use_one_clock(samplers, request.jobs, emit)
                rule, origin = PairedRule(policy, len(benches) - 1), now
                continue
        reason = rule.reason(now - origin)
        sent = [outlet.send_if_due(now) for outlet in outlets]
        if any(sent) and policy.quiet and not reason:
            time.sleep(_PAUSE_SECONDS)
            for bench in benches:
                bench.wake()
    for outlet, sampler in zip(outlets, samplers, strict=True):
        outlet.send()
        emit(
            Finished(
                outlet.job.id, not reason, outlet.discarded, reason or "stopped",
                sampler.final_trust(),
                sampler.quantiles,
            )
        )  # fmt: skip
    emit(Finished(request.job_id, stopped=not reason, reason=reason or "stopped"))


def read_registers(job: Job, session: Session, emit: Emit) -> None:
    """Builds for the compiler's resource report alone.

    NVIDIA's log stays empty with any ``-cl-std`` option, so there is none.
    """
    source = assemble_job(job)
    options = [*job.build_options.split(), "-cl-nv-verbose"]
    kernel, _ = session.build(source, options, job.variant.entry, job.variant.build)
    emit(RegistersRead(job.id, parse_registers(kernel.log)))


def launch_once(job: Job, session: Session, emit: Emit) -> None:
    """Launches a kernel once on matrices without guards, and compares and times nothing."""
    with closing(Bench(job, session, emit, None)) as bench:
        bench.drop_guards()
        bench.phase("simulate")
        bench.launch(1)
    emit(Finished(job.id, reason="launches"))


def _ready(bench: Bench, emit: Emit, cancelled: Cancelled) -> Sampler | None:
    """Checks, warms up and chooses the clock; None if it was cancelled meanwhile."""
    job = bench.job
    if job.check and not cancelled():
        bench.check(cancelled)
    if cancelled():
        return None
    # The first launch compiles for its local size, and on an idle device takes 2.5 times as long.
    bench.prepare_caches()
    for _ in range(max(1, job.policy.warm_ups)):
        bench.phase("warm up")
        bench.launch(1)
        if cancelled():
            return None
    bench.phase("calibrate")
    timer = timer_of(bench.session)
    emit(Calibrated(job.id, timer))
    sampler = Sampler(bench, timer)
    emit(TimerChosen(job.id, sampler.try_clocks()))
    return None if cancelled() else sampler


def _take_round(
    samplers: Sequence[Sampler],
    outlets: Sequence[_Outlet],
    rule: PairedRule,
    origin: float,
    *,
    forwards: bool,
) -> None:
    """One sample of each; a round in which a time is missing counts for nothing."""
    places = range(len(samplers)) if forwards else range(len(samplers) - 1, -1, -1)
    # Where batches differ the one with the fewest launches counts.
    wanted = outlets[0].job.policy.launches
    least = min(outlet.launches for outlet in outlets)
    left = None if wanted is None else max(1, wanted - least)
    taken: dict[int, tuple[Taken, float]] = {}
    for place in places:
        before = time.perf_counter() - origin
        with _blamed_on(outlets[place].job):
            taken[place] = samplers[place].take(left, single=False), before
    parts = [taken[place] for place in range(len(samplers))]
    if all(part.launches and not part.discarded for part, _ in parts):
        for outlet, (part, before) in zip(outlets, parts, strict=True):
            outlet.put(part, before)
        rule.add([part.seconds[0] for part, _ in parts],
                 [part.launches[0] for part, _ in parts])  # fmt: skip
        return
    for outlet, (part, _) in zip(outlets, parts, strict=True):
        outlet.discard(part)
        outlet.complain_of_timer()


def use_one_clock(samplers: Sequence[Sampler], jobs: Sequence[Job], emit: Emit) -> None:
    """Times all by the host's clock where one must be: a ratio of two clocks means nothing."""
    by_host = any(sampler.trust.source == "host" for sampler in samplers)
    for sampler, job in zip(samplers, jobs, strict=True):
        if by_host:
            sampler.use_host()
        emit(TimerChosen(job.id, sampler.trust))


def _shared(benches: Sequence[Bench], job: Job, session: Session) -> Matrices | None:
    """The matrices of an earlier bench that ``job`` can use too."""
    key = matrices_key(job.variant, job.problem)
    for bench in benches:
        if bench.matrices.key == key and bench.session is session:
            return bench.matrices
    return None


class _blamed_on:  # noqa: N801 (a context manager reads as a verb)
    """Names the job in the failure of what is done inside."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, DriverError):
            failure = error.failure
            sentence = f"{self._job.variant.id}: {failure.sentence}"
            raise DriverError(replace(failure, sentence=sentence)) from error


class _Outlet:
    """Gathers the samples of a job and sends them now and then."""

    def __init__(self, job: Job, emit: Emit) -> None:
        self.job = job
        self._emit = emit
        self.launches = self.discarded = 0
        self._pending: list[Samples] = []
        self._every = _QUIET_SECONDS if job.policy.quiet else _BATCH_SECONDS
        self._sent = time.perf_counter()

    def put(self, taken: Taken, began: float) -> Samples:
        """Takes samples that began ``began`` seconds after the first; they end one by one."""
        at, ends = began, []
        for seconds in taken.seconds:
            at += seconds
            ends.append(at)
        samples = Samples(taken.launches, taken.seconds, tuple(ends))
        self._pending.append(samples)
        self.launches += sum(taken.launches)
        self.discarded += taken.discarded
        return samples

    def discard(self, taken: Taken) -> None:
        """Counts all launches of a sample as no measurement."""
        self.discarded += taken.discarded + sum(taken.launches)

    def forget(self) -> None:
        """Drops what was gathered."""
        self._pending, self.launches, self.discarded = [], 0, 0

    def complain_of_timer(self) -> None:
        """Ends a run whose timer gives nothing.

        Raises:
            DriverError: No launch so far had a usable time.
        """
        if self.discarded >= _USELESS_LAUNCHES and not self.launches:
            raise DriverError(
                Failure("timer", "The device's timer is of no use: END was never past START.")
            )

    def send_if_due(self, now: float) -> bool:
        """Sends when enough time has passed since the last batch; whether it did."""
        due = now - self._sent >= self._every
        if due:
            self.send()
        return due

    def send(self) -> None:
        """Sends what was gathered; nothing at all is sent too, and proves that the child lives."""
        self._sent = time.perf_counter()
        parts, self._pending = self._pending, []
        samples = Samples(
            tuple(value for part in parts for value in part.launches),
            tuple(value for part in parts for value in part.seconds),
            tuple(value for part in parts for value in part.at),
        )
        self._emit(SampleBatch(self.job.id, samples))
