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


class Trace:
    """Samples that only grow, in folds of a power of two: extremes, band and median of each fold.

    A call with more samples of the same run reads the new ones only, until the fold doubles.
    """

    def __init__(self) -> None:
        self.at: Floats = np.empty(0)
        self.seconds: Floats = np.empty(0)
        self.median = np.nan
        self._fold = 1
        self._folded = 0  # samples already in the arrays below
        self._folds = _fold(self.at, self.seconds, 1)

    def __len__(self) -> int:
        return len(self.seconds)

    def set(self, at: npt.ArrayLike, seconds: npt.ArrayLike) -> None:
        """Take the samples of a run, usually those of the last call and some more.

        Args:
            at: When each sample ended, seconds since the run began, rising.
            seconds: Seconds per launch, as many; samples that are not finite and positive are
                dropped because neither a rate nor a logarithm exists for them.
        """
        times, values = np.asarray(at, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
        usable = np.isfinite(times) & (values > 0) & np.isfinite(values)
        if not usable.all():
            times, values = times[usable], values[usable]
        if not self._continues(times, values):
            self._fold, self._folded = 1, 0
        self.at, self.seconds = times, values
        self.median = stats.median(values)
        while len(values) > self._fold * POINTS // 2 and len(values) > POINTS:
            self._fold, self._folded = 2 * self._fold, 0
        self._take_new_folds()

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

    def _take_new_folds(self) -> None:
        if self._fold == 1:
            return
        end = len(self) // self._fold * self._fold
        new = _fold(self.at[self._folded : end], self.seconds[self._folded : end], self._fold)
        if self._folded:
            new = tuple(np.concatenate(pair) for pair in zip(self._folds, new, strict=True))
        self._folds, self._folded = new, end

    def whole(self) -> Thinned:
        """All samples, thinned."""
        if self._fold == 1:
            return _smoothed((self.at, self.seconds, self.at, self.seconds, _NONE, _NONE))
        return _smoothed(self._folds)

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
        """Shortest and longest duration that the axis should show.

        Outliers do not count: samples further than six interquartile ranges from the quartiles,
        and at the top at most one in fifty. NaN where there is no sample.
        """
        if not len(self):
            return np.nan, np.nan
        ordered = np.sort(self.seconds[:: max(1, len(self) // POINTS)])
        lower, upper = np.quantile(ordered, (0.25, 0.75))
        reach = _FENCE * max(upper - lower, 0.01 * lower)
        low = ordered[np.searchsorted(ordered, lower - reach)]
        high = ordered[np.searchsorted(ordered, upper + reach, side="right") - 1]
        usual = ordered[int(0.98 * (len(ordered) - 1))]
        return float(low), float(max(high, usual))

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
