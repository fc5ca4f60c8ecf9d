"""Statistics of timed launches: summaries, running medians and quantiles, thinning for charts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST_FOR_95 = 6
"""Fewer values cannot bound their median with 95 % confidence; their range is given instead."""

_EXACT_RANKS = 1000  # up to here the binomial sum is exact; beyond, its normal limit
_SELECT_FROM = 20_000  # from here a sampled bracket beats sorting everything
_MOST_KEPT = 2**18  # single values that quantiles are taken of
_KNOTS = 2000  # where a running median is computed; in between it is interpolated


@dataclass(frozen=True, slots=True)
class Summary:
    """What a set of durations says, in seconds.

    ``low`` and ``high`` bound the median with at least 95 % confidence (see :func:`median_ranks`),
    or are the smallest and the largest of fewer than 6 values;
    ``q1`` and ``q3`` are the quartiles; ``count`` counts the finite values only.
    """

    count: int
    median: float
    low: float
    high: float
    q1: float
    q3: float
    minimum: float


@lru_cache(maxsize=4096)
def median_ranks(count: int, confidence: float = 0.95) -> tuple[int, int]:
    """Zero-based ranks of the two order statistics that bound the median with some confidence.

    The number of values below the true median is binomial(n, 1/2) whatever their distribution, so
    the r-th smallest and the r-th largest value miss it with probability 2 P(X < r). Source: H. A.
    David and H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1. Above 1000 values, r is
    n/2 - z sqrt(n)/2 rounded down, where z is the normal quantile, 1.96 for 95 % (W. J. Conover,
    Practical Nonparametric Statistics, 3rd edition, section 3.2). It assumes values that do not
    depend on one another.

    Args:
        count: How many values there are, at least 1. Fewer than 6 cannot reach 95 % (11 for
            99.9 %): the ranks are then those of the smallest and the largest value.
        confidence: Above 0 and below 1.
    """
    if count > _EXACT_RANKS:
        deviations = NormalDist().inv_cdf((1 + confidence) / 2)
        rank = math.floor(count / 2 - deviations * math.sqrt(count) / 2)
        return rank - 1, count - rank
    misses = 1 - Fraction(confidence).limit_denominator(1_000_000)
    most = misses.numerator * 2**count // (2 * misses.denominator)
    below = ways = 1
    rank = 0
    while (below := below + (ways := ways * (count - rank) // (rank + 1))) <= most:
        rank += 1
    return rank, count - 1 - rank


def summarize(seconds: npt.ArrayLike | Sequence[float]) -> Summary | None:
    """Median with its interval, quartiles and minimum; None where no value is finite.

    Args:
        seconds: Durations in any order; NaN and infinities are left out.
    """
    values = _finite(seconds)
    count = len(values)
    if not count:
        return None
    low, high = median_ranks(count)
    middle = (count - 1) // 2, count // 2
    found = _ranked(values, low, high)
    return Summary(
        count=count,
        median=(found[middle[0]] + found[middle[1]]) / 2,
        low=found[low],
        high=found[high],
        q1=_quantile(values, 0.25),
        q3=_quantile(values, 0.75),
        minimum=float(values.min()),
    )


def median(values: npt.ArrayLike) -> float:
    """The median of the finite values, or NaN; a million values take about two milliseconds."""
    finite = _finite(values)
    return _quantile(finite, 0.5) if len(finite) else math.nan


def running_median(values: npt.ArrayLike, window: int) -> Floats:
    """The median of the ``window`` values around each value, as long as ``values``.

    Near both ends the window stops at the end instead of shrinking. Beyond 2000 values it is exact
    at 2000 evenly spaced places and linear in between, so the cost does not grow with the length.

    Args:
        values: Any length; NaN are left out of their windows.
        window: At least 1; cut to the length.
    """
    array = np.asarray(values, dtype=np.float64)
    count = len(array)
    if count == 0:
        return array.copy()
    window = max(1, min(window, count))
    knots = np.unique(np.linspace(0, count - 1, min(count, _KNOTS)).round().astype(np.intp))
    starts = np.clip(knots - window // 2, 0, count - window)
    windows = np.lib.stride_tricks.sliding_window_view(array, window)[starts]
    missing = np.isnan(windows)
    if missing.any():
        medians = np.full(len(knots), np.nan)
        known = ~missing.all(axis=1)
        medians[known] = np.nanmedian(windows[known], axis=1)
    else:
        medians = np.median(windows, axis=1)
    filled: Floats = np.interp(np.arange(count), knots, medians)
    return filled


def bin_min_max(x: npt.ArrayLike, y: npt.ArrayLike, bins: int) -> tuple[Floats, Floats]:
    """Thin a series to the lowest and highest point of each of ``bins`` runs of equal length.

    Every point returned is one of the points given, in their order, and no extreme is lost. A
    series of at most two points a bin comes back whole.

    Args:
        x: Positions in rising order.
        y: Values, as many; a point that is not finite is dropped.
        bins: At least 1.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not (np.isfinite(ys).all() and np.isfinite(xs).all()):
        keep = np.isfinite(xs) & np.isfinite(ys)
        xs, ys = xs[keep], ys[keep]
    count = len(ys)
    if count <= 2 * bins:
        return xs.copy(), ys.copy()
    size = -(-count // bins)
    whole = count // size * size
    blocks = ys[:whole].reshape(-1, size)
    starts = np.arange(0, whole, size)
    picks = np.stack([starts + blocks.argmin(axis=1), starts + blocks.argmax(axis=1)], axis=1)
    if whole < count:
        rest = ys[whole:]
        picks = np.vstack([picks, [[whole + rest.argmin(), whole + rest.argmax()]]])
    order = np.sort(picks, axis=1).ravel()
    return xs[order], ys[order]


def _finite(values: npt.ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64).ravel()
    finite = np.isfinite(array)
    return array if finite.all() else array[finite]


def _quantile(values: Floats, fraction: float) -> float:
    """Linear interpolation between order statistics, as ``numpy.quantile`` does by default."""
    place = (len(values) - 1) * fraction
    below, above = math.floor(place), math.ceil(place)
    found = _ranked(values, below, above)
    return found[below] + (place - below) * (found[above] - found[below])


def _ranked(values: Floats, first: int, last: int) -> dict[int, float]:
    """The ``first`` to ``last`` smallest values by rank (zero-based), at least the ones asked for.

    A long array is bracketed by a sorted sample first and only the values inside the bracket are
    ordered (R. W. Floyd and R. L. Rivest, Expected time bounds for selection, CACM 18(3), 1975).
    The bracket is checked, so the answer is exact.
    """
    count, below, inside = len(values), 0, values
    if count > _SELECT_FROM:
        sample = np.sort(values[:: count // 8192])
        scale, margin = len(sample) / count, 2 * math.isqrt(len(sample))
        low = sample[max(0, int(first * scale) - margin)]
        high = sample[min(len(sample) - 1, int(last * scale) + margin)]
        bracket = values[np.flatnonzero((values >= low) & (values <= high))]
        under = int(np.count_nonzero(values < low))
        if under <= first and last < under + len(bracket):
            below, inside = under, bracket
    first_inside, last_inside = first - below, last - below
    parted = np.partition(inside, (first_inside, last_inside))
    ordered = np.sort(parted[first_inside : last_inside + 1])
    return {first + place: float(value) for place, value in enumerate(ordered)}


class RunningQuantiles:
    """Quantiles of any number of values in little room: of very many, some in even steps count."""

    def __init__(self) -> None:
        self._kept = array("d")
        self._step, self._seen = 1, 0
        self._low, self._high = math.inf, 0.0

    def extend(self, values: Sequence[float]) -> None:
        """Takes values in run order."""
        if not values:
            return
        self._low, self._high = min(self._low, *values), max(self._high, *values)
        self._kept.extend(values[-self._seen % self._step :: self._step])
        self._seen += len(values)
        if len(self._kept) > _MOST_KEPT:
            self._kept = self._kept[::2]
            self._step *= 2

    @property
    def quantiles(self) -> tuple[float, ...]:
        """Minimum, quartiles and maximum; () without any value."""
        if not self._seen:
            return ()
        quartiles = np.quantile(np.array(self._kept), (0.25, 0.5, 0.75))
        return (self._low, *map(float, quartiles), self._high)
