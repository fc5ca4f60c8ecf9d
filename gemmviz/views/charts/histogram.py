"""Durations in bins: as many bins as tell their shape, over the range of nearly all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.views.charts.trace import Floats, usual_range

FEWEST_BINS, MOST_BINS = 20, 200
_LOOKED_AT = 4096  # values that decide the width of the bins
_FINE = 8  # a clock with so many steps in a bin does not show
_LEAST_SPAN = 0.01  # of the durations, so that equal ones stand on an axis too
_OFF_STEP = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many durations lie where.

    Attributes:
        edges: Rising, in seconds; one more than bins.
        counts: How many durations lie in each bin.
        below: How many are shorter than all bins.
        above: How many are longer than all bins.
    """

    edges: Floats
    counts: npt.NDArray[np.intp]
    below: int
    above: int


def histogram(seconds: Floats, *, log: bool = False) -> Histogram:
    """Sort durations into bins of equal width.

    The width is 2 IQR / cbrt(n) within 20 to 200 bins (D. Freedman and P. Diaconis, On the
    histogram as a density estimator, Z. Wahrscheinlichkeitstheorie 57, 1981). Where a clock counts
    in steps nearly as coarse, it is a whole number of these, each in the middle of its share: other
    bins would hold now more steps, now fewer, and show a comb that is none of the kernel's.

    Args:
        seconds: At least one, all finite and positive.
        log: Whether the bins are equally wide on a logarithmic axis.
    """
    low, high = usual_range(seconds)
    scaled = np.log10(seconds) if log else seconds
    ends = (math.log10(low), math.log10(high)) if log else (low, high)
    even = scaled[:: max(1, len(scaled) // _LOOKED_AT)]
    q1, q3 = np.quantile(even, (0.25, 0.75))
    least = _LEAST_SPAN / math.log(10) if log else _LEAST_SPAN * low
    span = max(ends[1] - ends[0], least)
    wanted = 2 * float(q3 - q1) / math.cbrt(len(seconds))
    bins = min(MOST_BINS, max(FEWEST_BINS, math.ceil(span / wanted) if wanted > 0 else 0))
    step = 0.0 if log else _clock_step(even[(even >= low) & (even <= high)])
    if step * _FINE > span / bins:
        width = step * max(1, round(span / bins / step), math.ceil(span / MOST_BINS / step))
        start = ends[0] - step / 2
        bins = math.floor((ends[1] - start) / width) + 1
    else:
        start = (ends[0] + ends[1] - span) / 2
        width = span / bins * (1 + 1e-9)
        start -= span * 5e-10  # shortest and longest lie inside, not on an edge
    places = np.floor((scaled - start) / width)
    inside = (places >= 0) & (places < bins)
    edges: Floats = start + width * np.arange(bins + 1, dtype=np.float64)
    return Histogram(
        np.power(10.0, edges) if log else edges,
        np.bincount(places[inside].astype(np.intp), minlength=bins),
        int(np.count_nonzero(places < 0)),
        int(np.count_nonzero(places >= bins)),
    )


def _clock_step(values: Floats) -> float:
    """The step of which all differences between values are multiples, or 0 without one."""
    gaps = np.diff(np.unique(values))
    gaps = gaps[gaps > 1e-9 * values.max()] if len(values) else gaps  # less is rounding
    if not len(gaps):
        return 0.0
    steps = gaps / gaps.min()
    regular = bool((np.abs(steps - np.round(steps)) < _OFF_STEP).all())
    return float(gaps.min()) if regular and len(gaps) > 1 else 0.0
