"""The growing buffer of one job's samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gemmviz.core.model import Samples

Floats = npt.NDArray[np.float64]


class SampleBuffer:
    """Every sample of a job, in arrays that double when full: a sample costs O(1) on average.

    The arrays handed out are views without a copy; they stay valid but stop growing at the next
    ``append``.
    """

    def __init__(self, capacity: int = 1024) -> None:
        self._seconds: Floats = np.empty(capacity)
        self._at: Floats = np.empty(capacity)
        self._launches: npt.NDArray[np.int32] = np.empty(capacity, dtype=np.int32)
        self._count = 0
        self.launch_count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def seconds(self) -> Floats:
        """Seconds of each sample, shape (count,)."""
        return self._seconds[: self._count]

    @property
    def at(self) -> Floats:
        """When each sample ended, seconds since the first timed launch, shape (count,)."""
        return self._at[: self._count]

    @property
    def launches(self) -> npt.NDArray[np.int32]:
        """Launches in each sample, shape (count,)."""
        return self._launches[: self._count]

    @property
    def seconds_per_launch(self) -> Floats:
        """Seconds of one launch in each sample, shape (count,)."""
        if self.launch_count == self._count:  # one launch a sample: no copy
            return self.seconds
        return self.seconds / self.launches

    def append(self, samples: Samples) -> None:
        """Add samples behind the others."""
        start, self._count = self._count, self._count + len(samples)
        if self._count > len(self._seconds):
            self._grow(max(self._count, 2 * len(self._seconds)), start)
        self._seconds[start : self._count] = samples.seconds
        self._at[start : self._count] = samples.at
        self._launches[start : self._count] = samples.launches
        self.launch_count += int(np.sum(samples.launches))

    def trim(self) -> None:
        """Give back the room for samples that will not come."""
        self._grow(max(1, self._count), self._count)

    def _grow(self, capacity: int, used: int) -> None:
        # resize() in place would invalidate views that a chart still holds.
        for name in ("_seconds", "_at", "_launches"):
            old = getattr(self, name)
            new = np.empty(capacity, dtype=old.dtype)
            new[:used] = old[:used]
            setattr(self, name, new)
