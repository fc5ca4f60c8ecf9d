"""Whether the timestamps of a device are to be believed, judged against the host's clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

Source = Literal["events", "host"]
Badge = Literal["events trusted", "suspicious", "host timing used"]

# The host's clock sees at most a little less than the device's, and more only by what it waits.
_MOST = 1.03
_LIKELY = 0.85
_LEAST = 0.6
_BAD_SHARE = 0.1
_KEPT = 4096


@dataclass(frozen=True, slots=True)
class DeviceTimer:
    """What launching and timing cost on a device, measured with an empty kernel.

    Attributes:
        step_seconds: The smallest difference seen between two durations of the empty kernel; None
            where all were equal.
        reported_step_seconds: What the driver says of its own timer.
        launch_seconds: Host time of one of many launches enqueued back to back.
        round_trip_seconds: Host time from enqueueing one launch to knowing that it ended.
        empty_seconds: END - START of an empty kernel; None where it was never above zero.
    """

    step_seconds: float | None
    reported_step_seconds: float | None
    launch_seconds: float
    round_trip_seconds: float
    empty_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TimerTrust:
    """Which clock timed a run, and why.

    Attributes:
        source: The device's events, or the host's clock around whole batches.
        badge: The verdict in two or three words.
        sentence: The verdict with its numbers.
        ratio: Time between the first START and the last END of a batch over the host's wall time
            of the same batch, in the least disturbed tenth of the batches; None without any.
        launches: How many launches the judgement rests on.
        reversed: How many of them had END < START.
        zero: How many had END = START.
    """

    source: Source
    badge: Badge
    sentence: str
    ratio: float | None = None
    launches: int = 0
    reversed: int = 0
    zero: int = 0


class Evidence:
    """Gathers batches that were timed by both clocks; the last 4096 of them decide."""

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=_KEPT)
        self._explained: deque[float] = deque(maxlen=_KEPT)
        self.launches = self.reversed = self.zero = 0

    def add(
        self,
        seconds: list[float],
        span_seconds: float,
        wall_seconds: float,
        overhead_seconds: float = 0.0,
    ) -> None:
        """Adds one batch.

        Args:
            seconds: END - START of each launch, signed.
            span_seconds: From the first START to the last END, signed.
            wall_seconds: By the host's clock, from before the first launch to after the last.
            overhead_seconds: What launching so many times costs the host, with an empty kernel.
        """
        self.launches += len(seconds)
        self.reversed += sum(value < 0 for value in seconds)
        self.zero += sum(value == 0 for value in seconds)
        if wall_seconds > 0:
            self._ratios.append(span_seconds / wall_seconds)
            self._explained.append((span_seconds + overhead_seconds) / wall_seconds)

    def judge(self) -> TimerTrust:
        """What the batches so far say.

        Whatever disturbs a machine makes the host wait longer, so the ratios that are highest are
        the true ones: a clock is too slow when even those are low, and too fast when half of all
        are above one. Low is not too low where launching itself takes what is missing, as it does
        with kernels of a few microseconds on drivers that begin only when they are waited for.
        """
        bad = self.reversed + self.zero
        counts = (self.launches, self.reversed, self.zero)
        if not self._ratios or not self.launches:
            return TimerTrust("events", "suspicious", "No batch was timed by both clocks.")
        ratios = np.array(self._ratios)
        high, middle = float(np.quantile(ratios, 0.9)), float(np.median(ratios))
        if bad > _BAD_SHARE * self.launches:
            sentence = (
                f"{bad} of {self.launches} launches ended at or before their start by the device's "
                "clock."
            )
            return TimerTrust("host", "host timing used", sentence, high, *counts)
        explained = float(np.quantile(np.array(self._explained), 0.9))
        if middle > _MOST or (high < _LEAST and explained < _LIKELY):
            ratio = middle if middle > _MOST else high
            sentence = (
                f"The device's clock counts {ratio:.3g} of the host's time for the same launches."
            )
            return TimerTrust("host", "host timing used", sentence, ratio, *counts)
        sentence = f"The device's clock counts {high:.3g} of the host's time for the same launches."
        if bad:
            sentence += f" {bad} of {self.launches} ended at or before their start."
        if bad or high < _LEAST or explained < _LIKELY:
            return TimerTrust("events", "suspicious", sentence, high, *counts)
        if high < _LIKELY:
            sentence += " Launching takes the rest."
        return TimerTrust("events", "events trusted", sentence, high, *counts)
