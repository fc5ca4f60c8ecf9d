"""How long a child may be silent, and what it was doing when it was silent too long."""

from __future__ import annotations

import time

from gemmviz.core.labels import problem_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.messages import (
    BuildAhead,
    CompareJobs,
    CountGroups,
    LaunchOnce,
    Message,
    Phase,
    ReadCeilings,
    ReadRegisters,
    RunJob,
    TakeTurns,
    Work,
)
from gemmviz.core.model import Failure, Job

START_LIMIT_SECONDS = 60.0
# For a compiler or a large reference: long, but nothing waits for ever.
_QUIET_SECONDS = 1.0  # longer than a quiet run is silent on purpose
_PATIENCE_SECONDS = 600.0
_LEAST_SECONDS = 10.0
_TIMES_FORESEEN = 50
# The slowest device worth running does so many FLOP/s: a simulator on one core.
_SLOWEST_FLOPS = 5e8


def launch_limit_seconds(job: Job, foreseen_seconds: float | None) -> float:
    """The longest that one launch of ``job`` may take before its child is killed.

    Args:
        job: Its own limit is used as it is, if it has one.
        foreseen_seconds: How long a launch is expected to take, of which fifty times are allowed;
            before any launch it is what the slowest device would need. Never under 10 s.
    """
    if job.launch_limit_seconds is not None:
        return job.launch_limit_seconds
    if foreseen_seconds is None:
        return max(_LEAST_SECONDS, flop(job.variant, job.problem) / _SLOWEST_FLOPS)
    return max(_LEAST_SECONDS, _TIMES_FORESEEN * foreseen_seconds)


def describe_job(job: Job) -> str:
    """A job in a sentence: "tiled TS=16 at 64 x 64 x 64 float"."""
    problem = job.problem
    kernel = " ".join(filter(None, (job.variant.id, describe_parameters(job.parameters))))
    return f"{kernel} at {problem_label(problem)}"


class Watchdog:
    """Follows the answers to one request; ``overdue`` is asked while none comes."""

    def __init__(self, request: Work, start_limit_seconds: float) -> None:
        jobs: tuple[Job, ...] = ()
        if isinstance(request, RunJob | BuildAhead | ReadRegisters | CountGroups | LaunchOnce):
            self.job_id, jobs = request.job.id, (request.job,)
        elif isinstance(request, CompareJobs | TakeTurns):
            self.job_id, jobs = request.job_id, request.jobs
        else:
            self.job_id = request.job_id
        self._jobs = {job.id: job for job in jobs}
        self._probing = isinstance(request, ReadCeilings)
        self._phase: Phase | None = None
        self._start_limit = start_limit_seconds
        self._measuring: dict[int, Phase] = {}
        self._heard = time.monotonic()

    @property
    def ids(self) -> frozenset[int]:
        """The ids that a message to this request may bear."""
        return frozenset({self.job_id, *self._jobs})

    @property
    def launching(self) -> bool:
        """Whether a kernel runs, as far as is known."""
        return self._phase is not None and self._phase.limited

    def hear(self, message: Message) -> None:
        """Takes a message of the request."""
        if isinstance(message, Phase):
            self._phase = message
            if message.name == "measure":
                self._measuring[message.job_id] = message

    def alive(self) -> None:
        """Starts the silence anew."""
        self._heard = time.monotonic()

    def overdue(self) -> Failure | None:
        """The hang that the silence amounts to by now, or None."""
        limit = self._limit_seconds()
        if time.monotonic() - self._heard <= limit:
            return None
        phase = self._phase
        if phase is None or not phase.limited:
            sentence = f"The driver gave no answer within {limit:g} s {self.doing} and was killed."
            return Failure("hang", sentence)
        sentence = (
            f"A launch of {self._running} took longer than the limit of {limit:.3g} s in the phase "
            f"'{phase.name}' and was killed."
        )
        foreseen = phase.foreseen_seconds
        detail = "" if foreseen is None else f"One launch was foreseen to take {foreseen:.3g} s."
        return Failure("hang", sentence, detail)

    @property
    def doing(self) -> str:
        """What the child is doing, to follow a verb: "in the phase 'build' of tiled at ..."."""
        if self._phase is not None:
            return f"in the phase '{self._phase.name}' of {self._running}"
        if self._jobs or self._probing:
            return "as it started"
        return "as it listed the devices"

    @property
    def _running(self) -> str:
        """The kernel of the phase, or those that take turns in it."""
        assert self._phase is not None
        if self._phase.job_id in self._measuring:
            return " or ".join(describe_job(self._jobs[job_id]) for job_id in self._measuring)
        job = self._jobs.get(self._phase.job_id)
        if job is not None:
            return describe_job(job)
        return "a probe of the device" if self._probing else "the comparison"

    def _limit_seconds(self) -> float:
        if self._phase is None:
            return self._start_limit
        if not self._phase.limited:
            return _PATIENCE_SECONDS
        # Those that take turns are heard of after a whole turn, and quiet ones after a while.
        phases = self._measuring if self._phase.job_id in self._measuring else {}
        phases = phases or {self._phase.job_id: self._phase}
        limits = [
            launch_limit_seconds(self._jobs[job_id], phase.foreseen_seconds)
            + (_QUIET_SECONDS if self._jobs[job_id].policy.quiet else 0.0)
            for job_id, phase in phases.items()
            if job_id in self._jobs
        ]
        if self._probing:
            return _LEAST_SECONDS
        return sum(limits) if limits else _PATIENCE_SECONDS
