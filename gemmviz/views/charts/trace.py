"""The samples of one run, thinned to what a chart can show, at a cost that does not grow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.core import stats

Floats = npt.NDArray[np.float64]

POINTS = 4096
"""At most this many points are drawn; a run of fewer samples is drawn whole."""
_SMOOTHING = 40  # the running median's window is this fraction of the samples
_FOLD_WINDOW = 25
_NONE: Floats = np.empty(0)
_FENCE = 6.0  # interquartile ranges beyond which a sample does not rule the axis


@dataclass(frozen=True, slots=True, eq=False)
class Thinned:
    """What is drawn of a series; all values in seconds.

    Attributes:
        x: When the drawn samples ended.
        y: Their durations. Of folded samples, the extremes of each run of neighbours.
        middle_x: Where the running median is known.
        middle_y: The running median.
        low: Where folded, what all but the lowest sixteenth of each run exceeds; else empty.
        high: Likewise what all but the highest sixteenth stays below. Both belong to ``middle_x``.
    """

    x: Floats
    y: Floats
    middle_x: Floats
    middle_y: Floats
    low: Floats
    high: Floats


class _Folds:
    """The first samples of a run in runs of ``size``: extremes, band and median of each."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken = 0
        self.fields: tuple[Floats, ...] = (_NONE,) * 6

    def take(self, at: Floats, seconds: Floats, most: int) -> None:
        """Fold what is new of all samples so far, at most ``most`` of it (rounded to folds)."""
        end = min(len(seconds), self.taken + max(most, self.size)) // self.size * self.size
        if end == self.taken:
            return
        new = _fold(at[self.taken : end], seconds[self.taken : end], self.size)
        if self.taken:
            new = tuple(np.concatenate(pair) for pair in zip(self.fields, new, strict=True))
        self.fields, self.taken = new, end

    def behind(self, count: int) -> bool:
        """Whether whole folds of ``count`` samples are still missing; of size 1 none is made."""
        return self.size > 1 and self.taken < count // self.size * self.size


class Trace:
    """Samples that only grow, in folds of a power of two: extremes, band and median of each fold.

    A call with more samples of the same run reads the new ones only, until the fold doubles. Then
    all are folded anew, in several calls where each may fold only so many; the old folds are shown
    meanwhile.
    """

    def __init__(self) -> None:
        self.at: Floats = np.empty(0)
        self.seconds: Floats = np.empty(0)
        self.median = np.nan
        self._folds = _Folds(1)
        self._next: _Folds | None = None

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def behind(self) -> bool:
        """Whether another call of ``set`` with the same samples would show more of them."""
        return self._folds.behind(len(self))

    def set(self, at: npt.ArrayLike, seconds: npt.ArrayLike, most: int | None = None) -> None:
        """Take the samples of a run, usually those of the last call and some more.

        Args:
            at: When each sample ended, seconds since the run began, rising.
            seconds: Seconds per launch, as many; samples that are not finite and positive are
                dropped because neither a rate nor a logarithm exists for them.
            most: How many samples this call may fold, which is what takes long; None for all.
        """
        times, values = np.asarray(at, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
        known = len(self) if self._continues(times, values) else 0  # looked at by an earlier call
        usable = np.isfinite(times[known:]) & (values[known:] > 0) & np.isfinite(values[known:])
        if not usable.all():
            kept = np.flatnonzero(np.concatenate([np.ones(known, dtype=bool), usable]))
            times, values = times[kept], values[kept]
        if not self._continues(times, values):
            self._folds, self._next = _Folds(1), None
        self.at, self.seconds = times, values
        self.median = stats.median(values)
        size = self._folds.size
        while len(values) > size * POINTS // 2 and len(values) > POINTS:
            size *= 2
        self._fold_into(size, len(values) if most is None else most)

    def _fold_into(self, size: int, most: int) -> None:
        if size == 1:
            return  # drawn whole
        if self._folds.size == 1:
            self._folds = _Folds(size)
        elif size != self._folds.size and (self._next is None or self._next.size != size):
            self._next = _Folds(size)
        self._folds.take(self.at, self.seconds, most)
        if self._next is not None:
            self._next.take(self.at, self.seconds, most)
            if not self._next.behind(len(self)):
                self._folds, self._next = self._next, None

    def _continues(self, times: Floats, values: Floats) -> bool:
        """Whether the samples of the last call are still the first ones of these."""
        count = len(self)
        if count == 0 or len(values) < count:
            return False
        return bool(
            values[0] == self.seconds[0]
            and values[count - 1] == self.seconds[-1]
            and times[0] == self.at[0]
            and times[count - 1] == self.at[-1]
        )

    def whole(self) -> Thinned:
        """All samples that are folded, thinned."""
        if self._folds.size == 1:
            return _smoothed((self.at, self.seconds, self.at, self.seconds, _NONE, _NONE))
        return _smoothed(self._folds.fields)

    def between(self, start: float, end: float) -> Thinned:
        """The samples that ended between two times, finer than ``whole`` where they are few."""
        first, last = np.searchsorted(self.at, (start, end))
        first, last = max(0, int(first) - 1), min(len(self), int(last) + 1)
        count = last - first
        if count > len(self) // 2:
            return self.whole()
        at, seconds = self.at[first:last], self.seconds[first:last]
        if count <= POINTS:
            return _smoothed((at, seconds, at, seconds, _NONE, _NONE))
        return _smoothed(_fold(at, seconds, -(-count // (POINTS // 2))))

    def bounds(self) -> tuple[float, float]:
        """Shortest and longest duration that the axis should show; see :func:`usual_range`."""
        return usual_range(self.seconds)

    def nearest(self, at: float, seconds: float, reach: float) -> int | None:
        """The sample nearest to a duration among those within ``reach`` seconds of a time.

        Where none ended that near, the one nearest in time; None where there is no sample.
        """
        if not len(self):
            return None
        first, last = (int(place) for place in np.searchsorted(self.at, (at - reach, at + reach)))
        if first == last:
            near = [place for place in (first - 1, first) if 0 <= place < len(self)]
            return min(near, key=lambda place: abs(self.at[place] - at))
        return first + int(np.abs(self.seconds[first:last] - seconds).argmin())


def usual_range(seconds: Floats) -> tuple[float, float]:
    """Shortest and longest duration apart from outliers; NaN where there is none at all.

    Outliers are further than six interquartile ranges from the quartiles, and at the top they are
    at most one in fifty. Of very many durations an even part is looked at.

    Args:
        seconds: Finite and positive, in any order.
    """
    if not len(seconds):
        return np.nan, np.nan
    ordered = np.sort(seconds[:: max(1, len(seconds) // POINTS)])
    lower, upper = np.quantile(ordered, (0.25, 0.75))
    reach = _FENCE * max(upper - lower, 0.01 * lower)
    low = ordered[np.searchsorted(ordered, lower - reach)]
    high = ordered[np.searchsorted(ordered, upper + reach, side="right") - 1]
    usual = ordered[int(0.98 * (len(ordered) - 1))]
    return float(low), float(max(high, usual))


def _fold(at: Floats, seconds: Floats, size: int) -> tuple[Floats, ...]:
    """The fields of ``Thinned`` for runs of ``size`` samples; a last shorter run is left out."""
    bins = len(seconds) // size
    if bins == 0:
        return (_NONE,) * 6
    whole = bins * size
    middle, edge = size // 2, size // 16
    ranks = sorted({edge, middle, size - 1 - edge})
    blocks = np.partition(seconds[:whole].reshape(bins, size), ranks, axis=1)
    medians = blocks[:, middle]
    if size % 2 == 0:
        medians = (medians + blocks[:, :middle].max(axis=1)) / 2
    x, y = stats.bin_min_max(at[:whole], seconds[:whole], bins)
    low, high = blocks[:, edge].copy(), blocks[:, size - 1 - edge].copy()
    return x, y, at[middle:whole:size], medians, low, high


def _smoothed(fields: tuple[Floats, ...]) -> Thinned:
    x, y, middle_x, middle_y, low, high = fields
    # Medians of many samples are smooth already.
    window = max(5, len(middle_y) // _SMOOTHING) if not len(low) else _FOLD_WINDOW
    return Thinned(x, y, middle_x, stats.running_median(middle_y, window), low, high)
