"""The growing buffer of one job's samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.core.model import Samples
from gemmviz.core.spread import Spread, spread_of
from gemmviz.core.stats import Summary, summarize

Floats = npt.NDArray[np.float64]


_Arrays = tuple[npt.NDArray[Any], ...]  # seconds, ends, launches
_COPIED_PER_SAMPLE = 5
"""From three quarters on, the rest of the room and all before it are copied along."""


class SampleBuffer:
    """Every sample of a job, in arrays that double when full: a sample costs O(1) each time.

    The larger arrays are filled bit by bit before they are needed: to copy a million samples at
    once would hold up the GUI thread for a tenth of a second. The arrays handed out are views
    without a copy; they stay valid but stop growing at the next ``append``.
    """

    def __init__(self, capacity: int = 1024) -> None:
        self._arrays = _room(capacity)
        self._larger: _Arrays | None = None
        self._copied = 0
        self._count = 0
        self.launch_count = 0
        self.total_seconds = 0.0

    @classmethod
    def of(cls, samples: Samples) -> SampleBuffer:
        """Samples that are all there is, in a buffer of just their size."""
        made = cls(max(1, len(samples)))
        made._put(samples)
        return made

    def __len__(self) -> int:
        return self._count

    @property
    def seconds(self) -> Floats:
        """Seconds of each sample, shape (count,)."""
        return self._arrays[0][: self._count]

    @property
    def at(self) -> Floats:
        """When each sample ended, seconds since the first timed launch, shape (count,)."""
        return self._arrays[1][: self._count]

    @property
    def launches(self) -> npt.NDArray[np.int32]:
        """Launches in each sample, shape (count,)."""
        return self._arrays[2][: self._count]

    @property
    def seconds_per_launch(self) -> Floats:
        """Seconds of one launch in each sample, shape (count,)."""
        if self.launch_count == self._count:  # one launch a sample: no copy
            return self.seconds
        return self.seconds / self.launches

    def append(self, samples: Samples) -> None:
        """Add samples behind the others."""
        end = self._count + len(samples)
        if end > len(self._arrays[0]):
            self._grow(end)
        self._put(samples)
        if 4 * end > 3 * len(self._arrays[0]):
            self._copy_some(_COPIED_PER_SAMPLE * len(samples))

    def _put(self, samples: Samples) -> None:
        start, self._count = self._count, self._count + len(samples)
        for array, values in zip(
            self._arrays, (samples.seconds, samples.at, samples.launches), strict=True
        ):
            array[start : self._count] = values
        self.launch_count += int(np.sum(samples.launches))
        self.total_seconds += float(np.sum(samples.seconds))

    def _grow(self, least: int) -> None:
        """Move into larger arrays; of those filled in advance only the last bit is missing."""
        if self._larger is None or len(self._larger[0]) < least:
            self._larger, self._copied = _room(max(least, 2 * len(self._arrays[0]))), 0
        self._copy_some(self._count)
        self._arrays, self._larger, self._copied = self._larger, None, 0

    def _copy_some(self, count: int) -> None:
        if self._larger is None:
            self._larger, self._copied = _room(2 * len(self._arrays[0])), 0
        end = min(self._count, self._copied + count)
        for array, larger in zip(self._arrays, self._larger, strict=True):
            larger[self._copied : end] = array[self._copied : end]
        self._copied = end


def _room(capacity: int) -> _Arrays:
    """Arrays that are not filled yet: the system gives their memory on first use."""
    return np.empty(capacity), np.empty(capacity), np.empty(capacity, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Every sample of the ended run of a job, summed up where nobody waits for it.

    A million samples take some 100 ms to copy and to sum up: too long for the GUI thread.
    """

    job_id: int
    buffer: SampleBuffer
    summary: Summary | None
    spread: Spread | None


def tally(job_id: int, samples: Samples) -> Tally:
    """The samples of a job's Result in a buffer of just their size, summed up."""
    buffer = SampleBuffer.of(samples)
    seconds = buffer.seconds_per_launch
    return Tally(job_id, buffer, summarize(seconds), spread_of(seconds))
