"""What a histogram says: the median and its surroundings, a bin, and a selected range."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gemmviz.core import stats, units
from gemmviz.views.charts.histogram import Histogram
from gemmviz.views.charts.histogram_layer import LEAST_COUNT, Bars
from gemmviz.views.charts.trace import Floats


def bars_of(shape: Histogram, seconds: Floats, *, log: bool) -> Bars:
    """The histogram of ``seconds`` in plot coordinates, with the figures that stand over it.

    Args:
        shape: The histogram.
        seconds: The durations it was made of, at least one, all finite and positive.
        log: Whether both axes are logarithmic.
    """
    summary = stats.summarize(seconds)
    assert summary is not None

    def place(value: float) -> float:
        return math.log10(value) if log else value

    counts = shape.counts.astype(np.float64)
    return Bars(
        edges=np.log10(shape.edges) if log else shape.edges,
        tops=np.log10(np.maximum(counts, LEAST_COUNT / 2)) if log else counts,
        ground=place(LEAST_COUNT) if log else 0.0,
        median=place(summary.median),
        low=place(summary.low),
        high=place(summary.high),
        quartiles=(place(summary.q1), place(summary.q3)),
        label=f"median {units.duration(summary.median)}",
        edge_notes=(
            f"◂ {shape.below:,} faster" if shape.below else "",
            f"{shape.above:,} slower ▸" if shape.above else "",
        ),
    )


def bin_words(shape: Histogram, index: int, total: int) -> str:
    """From where to where a bin goes, and how many of ``total`` durations lie in it."""
    low, high = (units.duration(edge) for edge in shape.edges[index : index + 2].tolist())
    count = int(shape.counts[index])
    share = _share(count, total)
    return f"{low} to {high}\n{count:,} sample{'s' * (count != 1)} ({share})"


def range_words(seconds: Floats, inside: npt.NDArray[np.bool_], low: float, high: float) -> str:
    """How many durations lie in a range of seconds, and their median."""
    count = int(np.count_nonzero(inside))
    words = f"{count:,} of {len(seconds):,} samples ({_share(count, len(seconds))})"
    words += f"\n{units.duration(low)} to {units.duration(high)}"
    if count:
        words += f"\nmedian {units.duration(stats.median(seconds[inside]))}"
    return words


def _share(count: int, total: int) -> str:
    """A part in per cent with a digit more where it is small."""
    share = 100 * count / max(1, total)
    return f"{share:.0f} %" if share >= 10 or count == 0 else f"{share:.2g} %"
