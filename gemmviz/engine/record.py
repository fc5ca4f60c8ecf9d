"""Gathers what a child says of a job into its Result, and of several into a Comparison."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gemmviz.core.comparison import Comparison
from gemmviz.core.context import Context
from gemmviz.core.error_map import ErrorMap
from gemmviz.core.messages import (
    Began,
    Built,
    Calibrated,
    Checked,
    ErrorsMapped,
    Failed,
    Finished,
    Message,
    SampleBatch,
    TimerChosen,
)
from gemmviz.core.model import Check, Device, Failure, Job, KernelFacts, Result, Samples
from gemmviz.core.paired import compare_pairs, margin_of
from gemmviz.core.trust import DeviceTimer, TimerTrust
from gemmviz.core.verdict import describe


class Record:
    """Gathers the messages of one job into its Result."""

    def __init__(self, job: Job, device: Device) -> None:
        self._job, self._device = job, device
        # Arrays: a minute of short launches is millions of samples.
        self._launches = array("L")
        self._seconds = array("d")
        self._at = array("d")
        self._facts: KernelFacts | None = None
        self._log = ""
        self._build_seconds: float | None = None
        self._check: Check | None = None
        self._failure: Failure | None = None
        self._end = Finished(job.id)
        self._context: Context | None = None
        self._timer: DeviceTimer | None = None
        self._trust: TimerTrust | None = None
        self._error_map: ErrorMap | None = None

    @property
    def ended(self) -> bool:
        """Whether the job itself said how it ended."""
        return self._failure is not None or self._end.reason != ""

    def take(self, message: Message) -> None:
        """Adds one message."""
        match message:
            case Built(facts=facts, log=log, seconds=seconds):
                self._facts, self._log, self._build_seconds = facts, log, seconds
            case Checked(check=check):
                self._check = check
            case SampleBatch(samples=samples):
                self._launches.extend(samples.launches)
                self._seconds.extend(samples.seconds)
                self._at.extend(samples.at)
            case Began(context=context):
                self._context = context
            case ErrorsMapped(error_map=error_map):
                self._error_map = error_map
            case Calibrated(timer=timer):
                self._timer = timer
            case TimerChosen(trust=trust):
                self._trust = trust
                for values in (self._launches, self._seconds, self._at):
                    del values[:]
            case Finished():
                self._end = message
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
            stopped=self._end.stopped,
            finished_at=time.time(),
            discarded=self._end.discarded,
            stop_reason=self._end.reason,
            timer=self._timer,
            trust=self._end.trust or self._trust,
            quantiles=self._end.quantiles,
            context=self._context,
            error_map=self._error_map,
            build_seconds=self._build_seconds,
        )


class ComparisonRecord:
    """Gathers the messages of several jobs that are measured in turns."""

    def __init__(self, job_id: int, jobs: Sequence[Job], devices: Sequence[Device]) -> None:
        self._job_id = job_id
        self._policy = jobs[0].policy
        pairs = zip(jobs, devices, strict=True)
        self._records = {job.id: Record(job, device) for job, device in pairs}
        self._end: Finished | Failed = Finished(job_id)

    def take(self, message: Message) -> None:
        """Adds one message of a job or of the comparison itself."""
        if message.job_id in self._records:
            self._records[message.job_id].take(message)
        elif isinstance(message, Finished | Failed):
            self._end = message

    def comparison(self) -> Comparison:
        """The Comparison of what was gathered; only rounds that are whole count."""
        failed = self._end.failure if isinstance(self._end, Failed) else None
        ended = self._end if isinstance(self._end, Finished) else Finished(self._job_id)
        results = tuple(
            record.result()
            if record.ended
            else replace(
                record.result(), stopped=ended.stopped, stop_reason=ended.reason, failure=failed
            )
            for record in self._records.values()
        )
        rounds = min(len(result.samples) for result in results)
        times = [
            np.asarray(result.samples.seconds[:rounds])
            / np.asarray(result.samples.launches[:rounds])
            for result in results
        ]
        margin = margin_of(self._policy)
        found = [compare_pairs(times[0], other, margin) for other in times[1:]] if rounds else []
        versus = tuple(each for each in found if each is not None)
        return Comparison(
            self._job_id,
            results,
            versus if len(versus) == len(results) - 1 else (),
            failed,
            ended.stopped,
            ended.reason,
        )
