"""Runs a kernel with fewer and fewer resident groups: the same code, dummy local memory added."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Throttle
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import local_limit, refusal
from gemmviz.core.instrument import InstrumentError
from gemmviz.core.launch import assemble_job, dynamic_local_bytes, flop, geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.limits_table import Limits
from gemmviz.core.messages import Message, Progressed, SampleBatch
from gemmviz.core.model import Device, Failure, Job, Result
from gemmviz.core.occupancy import limiters
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import summarize
from gemmviz.core.throttle import ThrottleCurve, ThrottlePoint, dummy_steps, judge, judge_on_cpu
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_FIRST_ID = 10**9
_LIMIT_SECONDS = 8.0
_SHARE_SAID = 0.05
_CPU_PARTS = (4, 2)  # of what a group may have: dummy memory on a CPU
_BUDGET_GROUPS = 32  # where nothing but the budget is known, no unit is taken to hold more


def throttle(experiment: Throttle, engine: Engine) -> Generator[Message, None, ThrottleCurve]:
    """Measures a job in turns with itself, with more and more dummy local memory.

    Raises:
        ExperimentFailed: It cannot run so, or a run failed.
    """
    job, device = experiment.job, experiment.device
    row = limits_for(device)
    _refuse(job, device, row)
    yield Progressed(experiment.job_id, 0.0, "reading the kernel's registers")
    report = engine.registers(job, device, experiment.job_id)
    steps = choose_steps(job, device, row, None if report is None else report.registers)
    policy = replace(job.policy, limit_seconds=min(job.policy.limit_seconds, _LIMIT_SECONDS))
    jobs = [
        replace(
            job,
            id=_FIRST_ID + index,
            policy=policy,
            check=job.check and index == 0,
            dummy_local_bytes=job.dummy_local_bytes + dummy,
        )
        for index, (dummy, _) in enumerate(steps)
    ]
    try:
        assemble_job(jobs[-1])
    except InstrumentError as error:
        raise ExperimentFailed(Failure("refused", f"{error}")) from error
    if len(jobs) == 1:  # nothing to compare with, yet its speed is worth showing
        results = yield from _alone(jobs[0], device, engine, experiment.job_id)
    else:
        results = yield from _in_turns(jobs, device, engine, experiment.job_id)
    points = tuple(
        point
        for (dummy, groups), result in zip(steps, results, strict=False)
        if (point := _point(dummy, groups, result)) is not None
    )
    if not points:
        raise ExperimentFailed(Failure("timer", "No launch had a usable time."))
    sentence = judge_on_cpu(points) if device.type == "CPU" else judge(points)
    if results[0].verdict == "wrong":
        sentence += " Its answers are wrong, so its speed is no one's gain."
    yield Progressed(experiment.job_id, 1.0, "measured")
    return ThrottleCurve(points, sentence)


def choose_steps(
    job: Job, device: Device, row: Limits | None, registers: int | None
) -> tuple[tuple[int, int], ...]:
    """Dummy bytes and the groups resident with them, (0, n) first.

    By the device's row of the tables; without one by the budget that the driver reports. A CPU has
    one group resident whatever its local memory: some sizes are tried all the same.
    """
    shape = geometry(job.variant, job.parameters, job.problem)
    most = local_limit(job.variant, job.parameters, job.problem, device, row)
    local = shape.local_bytes + job.dummy_local_bytes
    if device.type == "CPU":
        room = max(0, (most or 0) - local)
        return ((0, 1), *((room // part, 1) for part in _CPU_PARTS if room // part))
    by_budget = min(most or 0, device.local_mem_bytes or 0)

    def groups_at(size: int) -> int:
        if row is None:
            return min(_BUDGET_GROUPS, by_budget // size if size else _BUDGET_GROUPS)
        fits = limiters(row, shape.group_size, size, registers)
        return min(limiter.groups for limiter in fits)

    return dummy_steps(groups_at, local, by_budget if row is None else most or 0)


def _refuse(job: Job, device: Device, row: Limits | None) -> None:
    """Ends the experiment where it cannot be made.

    Raises:
        ExperimentFailed: With the reason.
    """
    reason = None
    try:
        if device.type == "simulator":
            reason = "A simulator has no compute units, so fewer groups cannot be forced."
        elif job.variant.library:
            reason = f"The kernels of {job.variant.title} are its own: none can be held back."
        elif not job.force:
            reason = refusal(job.variant, job.parameters, job.problem, device, row)
        dynamic = dynamic_local_bytes(job.variant, job.parameters, job.problem)
    except ExprError as error:
        reason, dynamic = f"{job.variant.title} has no launch at this shape: {error}.", 0
    if reason is None and dynamic and device.compute_capability is not None:
        # Static and dynamic local memory in one kernel ends NVIDIA's context for good.
        reason = (
            "A kernel with local memory as an argument cannot be throttled on an NVIDIA GPU: its "
            "driver fails where a kernel has local arrays as well."
        )
    if reason is not None:
        raise ExperimentFailed(Failure("refused", reason))


def _in_turns(
    jobs: Sequence[Job], device: Device, engine: Engine, job_id: int
) -> Generator[Message, None, tuple[Result, ...]]:
    """The results of all jobs, measured in turns.

    Raises:
        ExperimentFailed: One of them failed.
    """
    say = _Teller(job_id, jobs[0].policy.limit_seconds)
    for item in engine.compare(jobs, [device] * len(jobs), job_id):
        if isinstance(item, Comparison):
            _must_be_whole(item.failure, stopped=item.stopped)
            return item.results
        yield from say.of(item)
    raise AssertionError("a comparison ends with its outcome")


def _alone(
    job: Job, device: Device, engine: Engine, job_id: int
) -> Generator[Message, None, tuple[Result, ...]]:
    """The result of a single job.

    Raises:
        ExperimentFailed: It failed.
    """
    say = _Teller(job_id, job.policy.limit_seconds)
    for item in engine.run(replace(job, id=job_id), device):
        if isinstance(item, Result):
            wrong = item.failure is not None and item.failure.kind == "wrong"
            _must_be_whole(None if wrong else item.failure, stopped=item.stopped)
            return (item,)
        yield from say.of(item)
    raise AssertionError("a run ends with its result")


def _must_be_whole(failure: Failure | None, *, stopped: bool) -> None:
    """Half a curve says nothing: its points have had a few samples each, or none.

    Raises:
        ExperimentFailed: It failed or was stopped.
    """
    if stopped:
        raise ExperimentFailed(Failure("stopped", "The measurement was stopped."))
    if failure is not None:
        raise ExperimentFailed(failure)


class _Teller:
    """Says how far a measurement of known length has come; other messages are handed on."""

    def __init__(self, job_id: int, limit_seconds: float) -> None:
        self._job_id, self._limit = job_id, limit_seconds
        self._said = 0.0

    def of(self, message: Message) -> Generator[Message, None, None]:
        """What to say at a message."""
        if isinstance(message, SampleBatch):
            if message.job_id in (_FIRST_ID, self._job_id) and len(message.samples):
                share = min(0.99, message.samples.at[-1] / self._limit)
                if share >= self._said + _SHARE_SAID:
                    self._said = share
                    yield Progressed(self._job_id, share, "measuring in turns")
            return
        yield message


def _point(dummy: int, groups: int, result: Result) -> ThrottlePoint | None:
    """The speed of one result with its interval; None without a sample."""
    summary = summarize(seconds_per_launch(result))
    if summary is None:
        return None
    work = flop(result.job.variant, result.job.problem)
    return ThrottlePoint(
        dummy, groups, work / summary.median, work / summary.high, work / summary.low
    )
