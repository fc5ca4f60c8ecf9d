"""How samples scatter: outliers, drift along the run and two modes, with remarks for people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.core.stats import Floats, Summary, median, summarize
from gemmviz.core.units import duration, percent

_FEWEST = 3
_FEWEST_FOR_DRIFT = 12
_FEWEST_FOR_MODES = 30

_NO_OUTLIER = 0.01  # relative; as little matters to nobody and may be one step of the timer
_BLOCKS = 20  # of each third of a run
_DRIFT = 0.005
_DRIFT_DEVIATIONS = 3.29  # two-sided p < 0.001

# Chosen by simulation: normal, lognormal, exponential, gamma, uniform, rounded and autocorrelated
# noise of 60 to 5000 values stays below at least one of them in hundreds of draws each.
_SEPARATION = 3.0
_VALLEY_DEVIATIONS = 3.5
_LEAST_SHARE = 0.1
_MOST_FOR_MODES = 20_000

# As pyperf warns.
_UNSTEADY = 0.1
_FAR_OFF = 0.5


@dataclass(frozen=True, slots=True)
class Spread:
    """How a set of durations scatters.

    Attributes:
        iqr_seconds: Distance between the quartiles.
        outliers: How many values :func:`outlier_mask` marks.
        drift: Relative change of the median from the first to the last third, in run order; None
            below 12 values.
        drifts: Whether the drift is more than 0.5 % and more than chance.
        modes: The two centres, in seconds and rising, of values that heap up at two places; else
            empty.
        count: How many finite values there are.
        median_seconds: Their median.
        farthest: Largest distance of a value from the median, relative to it.
    """

    iqr_seconds: float
    outliers: int
    drift: float | None
    drifts: bool
    modes: tuple[float, ...]
    count: int
    median_seconds: float
    farthest: float


def spread_of(seconds: npt.ArrayLike) -> Spread | None:
    """How durations scatter; None below 3 finite values. A million take less than 0.1 seconds.

    Args:
        seconds: Durations per launch in run order; NaN and infinities are left out.
    """
    values = np.asarray(seconds, dtype=np.float64).ravel()
    finite = np.isfinite(values)
    values = values if finite.all() else values[finite]
    summary = summarize(values)
    if summary is None or summary.count < _FEWEST:
        return None
    drift, drifts = _drift(values)
    off = max(float(values.max()) - summary.median, summary.median - summary.minimum)
    return Spread(
        iqr_seconds=summary.q3 - summary.q1,
        outliers=int(np.count_nonzero(_outside(values, summary))),
        drift=drift,
        drifts=drifts,
        modes=_modes(values),
        count=summary.count,
        median_seconds=summary.median,
        farthest=off / summary.median if summary.median > 0 else 0.0,
    )


def outlier_mask(seconds: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which durations lie far from the others.

    The fences are three semi-interquartile ranges beyond the quartiles, each measured on its own
    side of the median, so that the long upper tail of timings is not all outliers; neither is
    nearer than Tukey's 1.5 interquartile ranges, and nothing within 1 % of the median is one.
    Source: A. C. Kimber, Exploratory data analysis for possibly censored data from skewed
    distributions, Applied Statistics 39(1), 1990.

    Args:
        seconds: Durations in any order; infinities are outliers, NaN are not.

    Returns:
        As many booleans as values.
    """
    values = np.asarray(seconds, dtype=np.float64).ravel()
    summary = summarize(values)
    if summary is None or summary.count < _FEWEST:
        return np.zeros(len(values), dtype=np.bool_)
    return _outside(values, summary)


def describe_spread(spread: Spread) -> tuple[str, ...]:
    """What is worth saying of a spread, one sentence each; nothing of steady samples."""
    remarks = []
    if spread.drifts and spread.drift is not None:
        way = "slower" if spread.drift > 0 else "faster"
        size = abs(spread.drift)
        change = f"{size * 100:.2g} %" if size < 0.1 else percent(size)
        remarks.append(f"The last third of the launches was {change} {way} than the first.")
    if spread.modes and spread.modes[1] >= (1 + _NO_OUTLIER) * spread.modes[0]:
        low, high = (duration(mode) for mode in spread.modes)
        remarks.append(f"The times heap up at two places, {low} and {high}.")
    if spread.median_seconds > 0 and spread.iqr_seconds >= _UNSTEADY * spread.median_seconds:
        share = percent(spread.iqr_seconds / spread.median_seconds)
        remarks.append(f"The times are unsteady: their quartiles are {share} of the median apart.")
    if spread.outliers and spread.farthest >= _FAR_OFF:
        number = f"{spread.outliers} of {spread.count} values"
        remarks.append(f"Far from the median: {number}, by up to {percent(spread.farthest)}.")
    return tuple(remarks)


def _outside(values: Floats, summary: Summary) -> npt.NDArray[np.bool_]:
    half = (summary.q3 - summary.q1) / 2
    least = _NO_OUTLIER * abs(summary.median)
    low = summary.q1 - 3 * max(summary.median - summary.q1, half)
    high = summary.q3 + 3 * max(summary.q3 - summary.median, half)
    outside: npt.NDArray[np.bool_] = values < min(low, summary.median - least)
    outside |= values > max(high, summary.median + least)
    return outside


def _drift(values: Floats) -> tuple[float | None, bool]:
    """Relative change from the first to the last third, and whether it is one.

    Neighbouring launches resemble each other, which a rank test of single values takes for
    evidence; so the medians of blocks are compared, by the test of Mann and Whitney in its normal
    approximation with ties. Source: W. J. Conover, Practical Nonparametric Statistics, 3rd edition,
    section 5.1.
    """
    if len(values) < _FEWEST_FOR_DRIFT:
        return None, False
    third = len(values) // 3
    first, last = values[:third], values[-third:]
    before = median(first)
    if before <= 0:
        return None, False
    drift = median(last) / before - 1
    blocks, size = min(_BLOCKS, third), third // min(_BLOCKS, third)
    early, late = (
        np.median(part[: blocks * size].reshape(blocks, size), axis=1) for part in (first, last)
    )
    return drift, abs(drift) > _DRIFT and abs(_rank_deviations(early, late)) > _DRIFT_DEVIATIONS


def _rank_deviations(first: Floats, last: Floats) -> float:
    """Mann and Whitney's statistic for two equally many values, in standard deviations."""
    each, total = len(first), 2 * len(first)
    _, where, ties = np.unique(np.r_[first, last], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[where]
    tied = float((ties**3 - ties).sum()) / (total * (total - 1))
    variance = each**2 / 12 * (total + 1 - tied)
    surplus = float(ranks[each:].sum()) - each * (total + 1) / 2
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


def _modes(values: Floats) -> tuple[float, ...]:
    """The centres of two heaps of values, if there are two.

    The logarithms are split where the variance between both parts is largest (N. Otsu, 1979); a
    part of less than a tenth is set aside and the rest is split again. There are two heaps when the
    parts are apart (the D of K. M. Ashman, C. M. Bird and S. E. Zepf, Detecting bimodality in
    astronomical datasets, 1994, above 3) and the values are rarer somewhere between the centres
    than at either. D alone does not tell: it is 3.5 for evenly spread values.
    """
    values = values[values > 0]
    if len(values) < _FEWEST_FOR_MODES:
        return ()
    thinned = values[:: -(-len(values) // _MOST_FOR_MODES)]
    ordered = _smeared(np.sort(np.log(thinned)))
    extremes = len(ordered) // 100
    rest = ordered[extremes : len(ordered) - extremes]
    while len(rest) >= 2 * _LEAST_SHARE * len(ordered):
        at = _best_split(rest)
        low, high = rest[:at], rest[at:]
        if min(len(low), len(high)) >= _LEAST_SHARE * len(ordered):
            heaped = _apart(low, high) and _valley_between(low, high, rest)
            return (math.exp(np.median(low)), math.exp(np.median(high))) if heaped else ()
        rest = low if len(low) > len(high) else high
    return ()


def _smeared(ordered: Floats) -> Floats:
    """Spreads equal values evenly over a step of the timer, which would look like a valley."""
    distinct, starts, ties = np.unique(ordered, return_index=True, return_counts=True)
    if len(distinct) < 2:
        return ordered
    step = float(np.quantile(np.diff(distinct), 0.25))
    places = np.arange(len(ordered)) - np.repeat(starts, ties) + 0.5
    smeared: Floats = np.sort(ordered + (places / np.repeat(ties, ties) - 0.5) * step)
    return smeared


def _best_split(ordered: Floats) -> int:
    """How many of the smallest values make the first part."""
    count, sums = len(ordered), np.cumsum(ordered - ordered[0])
    firsts = np.arange(1, count)
    gaps = sums[:-1] / firsts - (sums[-1] - sums[:-1]) / (count - firsts)
    return int(np.argmax(firsts * (count - firsts) * gaps**2)) + 1


def _apart(low: Floats, high: Floats) -> bool:
    between = math.sqrt(2) * float(high.mean() - low.mean())
    return between > _SEPARATION * math.sqrt(float(low.var() + high.var()))


def _valley_between(low: Floats, high: Floats, ordered: Floats) -> bool:
    """Whether fewer values lie in some window between the centres than around either of them."""
    start, end = float(np.median(low)), float(np.median(high))
    width = (end - start) / 4
    places: Floats = np.r_[start, np.linspace(start + width, end - width, 9), end]
    below, above = (np.searchsorted(ordered, places + side * width / 2) for side in (-1, 1))
    counts = above - below
    peak, valley = int(min(counts[0], counts[-1])), int(counts[1:-1].min())
    return peak - valley > _VALLEY_DEVIATIONS * math.sqrt(peak + valley)
