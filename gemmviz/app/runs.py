"""One run as the app follows it, from the queue to its row in the results."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from gemmviz.app.progress import share_done
from gemmviz.app.samples import SampleBuffer, Tally
from gemmviz.core.context import Context
from gemmviz.core.error_map import ErrorMap
from gemmviz.core.estimate import Estimate
from gemmviz.core.labels import form_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.messages import (
    Began,
    Built,
    Calibrated,
    Checked,
    ErrorsMapped,
    Finished,
    Phase,
    SampleBatch,
    TimerChosen,
)
from gemmviz.core.model import Check, Device, Failure, Job, KernelFacts, Result, Samples
from gemmviz.core.result_figures import Statistics
from gemmviz.core.spread import Spread, spread_of
from gemmviz.core.stats import Summary, summarize
from gemmviz.core.trust import DeviceTimer, TimerTrust

_PHASES = {
    "waiting": "waits for its turn",
    "start": "starting",
    "build": "building",
    "prepare": "preparing matrices",
    "check": "checking one launch",
    "compare": "comparing with the reference",
    "repeat": "checking a second launch",
    "warm up": "warming up",
    "calibrate": "measuring the timer",
    "measure": "measuring",
}
_LIVE_SUMMARY_LIMIT = 50_000


@dataclass(eq=False)
class Run:
    """A job, where it runs, and all that has come of it so far.

    ``result`` stays None while the job is queued or under way; ``buffer`` is the one place that
    holds its samples, and a Tally brings the whole of it just before the Result. ``estimate`` is
    the occupancy foreseen at the start; ``quantiles`` are those of single launches, as in a Result;
    ``restarts`` counts how often earlier samples were dropped for another clock.
    """

    job: Job
    device: Device
    estimate: Estimate | None = None
    buffer: SampleBuffer = field(default_factory=SampleBuffer)
    phase: str = "waiting"
    facts: KernelFacts | None = None
    check: Check | None = None
    context: Context | None = None
    timer: DeviceTimer | None = None
    trust: TimerTrust | None = None
    quantiles: tuple[float, ...] = ()
    error_map: ErrorMap | None = None
    result: Result | None = None
    summary: Summary | None = None
    spread: Spread | None = None
    began: float | None = None
    ended: float | None = None
    restarts: int = 0
    _furthest: float = 0.0

    @property
    def label(self) -> str:
        """What was run, without the device: "Tiled TS=16"."""
        return f"{self.job.variant.title} {describe_parameters(self.job.parameters)}".strip()

    @property
    def shape(self) -> str:
        """M, N and K as "512 × 64 × 128", or "512³" where they are equal; and the form, if any."""
        return ", ".join(filter(None, (self._sizes, form_label(self.job.problem))))

    @property
    def problem_text(self) -> str:
        """Sizes, element type and form: "512³ float, TN, beta 2"."""
        problem = self.job.problem
        parts = f"{self._sizes} {problem.element}", form_label(problem)
        return ", ".join(filter(None, parts))

    @property
    def _sizes(self) -> str:
        m, n, k = self.job.problem.m, self.job.problem.n, self.job.problem.k
        return f"{m}³" if m == n == k else f"{m} × {n} × {k}"

    @property
    def flop(self) -> int:
        """Floating-point operations of one launch."""
        return flop(self.job.variant, self.job.problem)

    @property
    def failure(self) -> Failure | None:
        """Why it did not work, once that is known."""
        return self.result.failure if self.result is not None else None

    @property
    def wrong(self) -> bool:
        """Whether its answer was checked and found wrong: its speed then means nothing."""
        return self.check is not None and self.check.verdict == "wrong"

    @property
    def ended_early(self) -> bool:
        """Whether it failed after some samples had come, so that its figures stand for a part."""
        return self._broken and len(self.buffer) > 0

    @property
    def valid(self) -> bool:
        """Whether its figures count: nothing failed, and no answer was found wrong."""
        return self.failure is None and not self.wrong

    @property
    def _broken(self) -> bool:
        return self.failure is not None and self.failure.kind != "wrong"

    @property
    def known(self) -> Result:
        """All that is known of it by now, without its samples."""
        return replace(
            self.result or Result(self.job, self.device), check=self.check, timer=self.timer,
            trust=self.trust, quantiles=self.quantiles, context=self.context,
        )  # fmt: skip

    @property
    def statistics(self) -> Statistics:
        """Its samples, summed up."""
        buffer = self.buffer
        spread = self.spread or spread_of(buffer.seconds_per_launch)
        return Statistics(
            self.summary, spread, buffer.launch_count, len(buffer), buffer.total_seconds
        )

    @property
    def recorded(self) -> Result | None:
        """All that was recorded, samples included; None while the run goes on."""
        if self.result is None:
            return None
        parts = (self.buffer.launches, self.buffer.seconds, self.buffer.at)
        return replace(self.result, samples=Samples(*(tuple(part.tolist()) for part in parts)))

    @property
    def flops_per_second(self) -> float | None:
        """Throughput at the median time, or None without a sample."""
        return self.flop / self.summary.median if self.summary is not None else None

    @property
    def elapsed_seconds(self) -> float:
        """Time since the job left the queue, up to its end."""
        if self.began is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def progress(self) -> float | None:
        """Share of what its policy asks for that is done, or None when it runs until stopped.

        It never falls, though a late outlier may widen the interval again.
        """
        if self.result is not None:
            return None if self.stop_reason == "stopped" else 1.0
        share = share_done(self.job.policy, self.buffer, self.summary)
        self._furthest = max(self._furthest, share or 0.0)
        return None if share is None else self._furthest

    @property
    def stop_reason(self) -> str:
        """Why measuring ended, a key of STOP_WORDS; "" before, and where it broke off."""
        if self.result is None:
            return ""
        return "stopped" if self.result.stopped else self.result.stop_reason

    @property
    def status(self) -> str:
        """What it is doing, in a few words."""
        if self.result is None:
            return _PHASES.get(self.phase, self.phase)
        if self._broken:
            return "ended early" if self.ended_early else "could not run"
        return "stopped" if self.result.stopped else "finished"

    def begin(self) -> None:
        """The job left the queue."""
        self.phase, self.began = "start", time.monotonic()

    def take(self, event: object) -> None:
        """Adds one message."""
        match event:
            case Phase(name=name):
                self.phase = name
            case Built(facts=facts):
                self.facts = facts
            case Checked(check=check):
                self.check = check
            case SampleBatch(samples=samples):
                self.buffer.append(samples)
            case Began(context=context):
                self.context = context
            case ErrorsMapped(error_map=error_map):
                self.error_map = error_map
            case Calibrated(timer=timer):
                self.timer = timer
            case TimerChosen(trust=trust):  # what another clock has timed does not count
                self.trust, self.buffer, self.summary = trust, SampleBuffer(), None
                self.restarts += 1
            case Finished(trust=trust, quantiles=quantiles):
                self.trust, self.quantiles = trust or self.trust, quantiles
            case Tally(buffer=buffer, summary=summary, spread=spread):
                self.buffer, self.summary, self.spread = buffer, summary, spread
            case Result():
                self._end(event)
            case _:
                pass

    def refresh_summary(self) -> None:
        """Sums up the samples so far; of very many only an even part until the end."""
        seconds = self.buffer.seconds_per_launch
        if self.result is None and len(seconds) > _LIVE_SUMMARY_LIMIT:
            seconds = seconds[:: -(-len(seconds) // _LIVE_SUMMARY_LIMIT)]
        self.summary = summarize(seconds)

    def _end(self, result: Result) -> None:
        self.result = replace(result, samples=Samples())
        self.check, self.facts = result.check, result.facts
        self.context, self.timer, self.trust = result.context, result.timer, result.trust
        self.quantiles, self.error_map = result.quantiles, result.error_map
        self.ended = time.monotonic()
        if self.summary is None or self.summary.count != len(self.buffer):
            self.refresh_summary()  # no Tally has come
            self.spread = spread_of(self.buffer.seconds_per_launch)
