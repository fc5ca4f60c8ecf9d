"""When a measurement is enough: the rules by which sampling ends."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from array import array
from collections import deque

import numpy as np

from gemmviz.core.model import Samples
from gemmviz.core.policy import Policy, StopReason
from gemmviz.core.stats import summarize

# Looking costs about as much as sorting everything so far: with these two, at 30,000 samples a
# second it takes less than a tenth of one core, and for slow kernels each sample is looked at.
_GROWTH = 1.01
_SECONDS_BETWEEN_LOOKS = 0.01

# As nvbench has it: 64 estimates of the noise that differ by less than 5 %.
_ESTIMATES = 64
_SETTLED = 0.05


class Rule(ABC):
    """What every rule has in common: counts, the times to look, settled noise and limits.

    A subclass counts what it is given with :meth:`_count` and judges it in :meth:`_look`, which is
    never called for a policy without a target.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._samples = 0
        self._launches = 0
        self._seconds = 0.0
        self._next_samples = 1.0
        self._next_look_seconds = 0.0
        self._noises: deque[float] = deque(maxlen=_ESTIMATES)

    def reason(self, elapsed_seconds: float) -> StopReason:
        """Why sampling ends now, or "" while it must go on.

        Args:
            elapsed_seconds: Since sampling began, by the host's clock.
        """
        policy = self._policy
        if policy.launches is not None and self._launches >= policy.launches:
            return "launches"
        over = elapsed_seconds >= policy.limit_seconds
        due = self._samples >= self._next_samples and elapsed_seconds >= self._next_look_seconds
        if policy.target > 0 and self._samples and (due or over):
            self._next_samples = self._samples * _GROWTH
            self._next_look_seconds = elapsed_seconds + _SECONDS_BETWEEN_LOOKS
            found = self._look(elapsed_seconds)
            if found and self._enough:
                return found
        return "limit" if over else ""

    @abstractmethod
    def _look(self, elapsed_seconds: float) -> StopReason:
        """Judges the samples so far, whether or not they are enough yet."""

    def _count(self, samples: int, launches: int, seconds: float) -> None:
        self._samples += samples
        self._launches += launches
        self._seconds += seconds

    @property
    def _enough(self) -> bool:
        policy = self._policy
        return self._samples >= policy.min_samples and self._seconds >= policy.min_seconds

    def _settled(self, noise: float) -> bool:
        """Notes an estimate of the noise and says whether the last ones hardly differ."""
        self._noises.append(noise)
        if len(self._noises) < _ESTIMATES:
            return False
        mean = math.fsum(self._noises) / _ESTIMATES
        return max(self._noises) - min(self._noises) < _SETTLED * mean

    def _hopeless(self, half_width: float, wanted: float, elapsed_seconds: float) -> bool:
        """Whether a half-width that shrinks as 1 / sqrt(n) is still too wide at the time limit."""
        limit_seconds = self._policy.limit_seconds
        share = elapsed_seconds / limit_seconds if elapsed_seconds < limit_seconds else 1.0
        return half_width * math.sqrt(share) > wanted


class StopRule(Rule):
    """Ends the measurement of one kernel.

    The reasons are "launches" at the wanted number of them; "steady" once the minimums are met and
    the median is known to the target; "settled" once they are met, the noise (interquartile range
    over median) no longer changes, and the target is out of reach within the time limit; "limit" at
    that. A policy whose target is 0 ends by launches or limit alone, and then nothing is computed.
    """

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._per_launch = array("d")
        self._half_width: float | None = None

    @property
    def half_width(self) -> float | None:
        """Half the 95 % interval over the median when last looked at; None before the first."""
        return self._half_width

    def add(self, samples: Samples) -> None:
        """Takes samples that follow the ones before."""
        self._count(len(samples), int(sum(samples.launches)), float(sum(samples.seconds)))
        if self._policy.target > 0:
            pairs = zip(samples.seconds, samples.launches, strict=True)
            self._per_launch.extend(seconds / launches for seconds, launches in pairs)

    def _look(self, elapsed_seconds: float) -> StopReason:
        summary = summarize(np.array(self._per_launch))
        if summary is None or summary.median <= 0:
            return ""
        half_width = (summary.high - summary.low) / 2 / summary.median
        self._half_width = half_width
        settled = self._settled((summary.q3 - summary.q1) / summary.median)
        if half_width <= self._policy.target:
            return "steady"
        hopeless = self._hopeless(half_width, self._policy.target, elapsed_seconds)
        return "settled" if settled and hopeless else ""
