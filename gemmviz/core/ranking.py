"""How much longer one kernel takes than another: the best guess from rounds, and its error.

An interval that holds with 99.9 % says what can be told apart; which kernel to take is to be said
all the same where nothing can. On a machine that other programs use, a time is as long as these
let it be: single launches scatter by a quarter and more. How long the processor really worked at a
launch scatters far less. It is not the same, since it says nothing of how evenly a kernel keeps all
processors at work; so it counts as an estimate that may be off by some percent whatever is done,
and the more is known of the times themselves the less it counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gemmviz.core.paired import independent_count
from gemmviz.core.stats import Floats

_TRIM = 0.25
_FEWEST_LEFT = 4  # values between those trimmed, for a variance that has itself a mean
_EVENNESS = math.log(1.02)  # by so much two kernels' use of all processors differs


@dataclass(frozen=True, slots=True)
class Estimate:
    """The logarithm of a ratio of two times.

    Attributes:
        log_ratio: The best guess; above 0 the first takes longer.
        error: Its standard error by chance alone; infinite after too few rounds.
    """

    log_ratio: float
    error: float


def estimate(
    first: Floats, other: Floats, first_work: Floats | None = None, other_work: Floats | None = None
) -> Estimate | None:
    """How much longer the first takes than the other.

    Both estimates, by the times and by the work, are weighted by the inverse of their variances,
    of which that by the work has a part that more rounds do not lessen.

    Args:
        first: Seconds per launch of the first, round by round.
        other: Those of the other in the same rounds.
        first_work: Seconds per launch that processors worked, where that is known.
        other_work: The same of the other one.

    Returns:
        The estimate, or None without a round in which both were timed.
    """
    times = _trimmed(first, other)
    if first_work is None or other_work is None or times is None:
        return times
    work = _trimmed(first_work, other_work)
    if work is None or not math.isfinite(work.error):
        return times
    by_work = 1 / (work.error**2 + _EVENNESS**2)
    by_times = 1 / times.error**2 if times.error > 0 else math.inf
    share = by_work / (by_work + by_times) if math.isfinite(by_times) else 0.0
    return Estimate(
        share * work.log_ratio + (1 - share) * times.log_ratio,
        math.hypot(share * work.error, (1 - share) * times.error if share < 1 else 0.0),
    )


def _trimmed(first: Floats, other: Floats) -> Estimate | None:
    """The mean of the middle half of the log ratios of rounds, and its error.

    The error is that of Tukey and McLaughlin, from the variance of the values of which the outer
    ones are moved to the nearest that is kept. Source: R. R. Wilcox, Introduction to Robust
    Estimation and Hypothesis Testing, 3rd edition, section 3.3. Rounds that resemble their
    neighbours count as fewer.
    """
    known = (first > 0) & (other > 0) & np.isfinite(first) & np.isfinite(other)
    logs = np.log(first[known] / other[known])
    count = len(logs)
    if not count:
        return None
    cut = int(_TRIM * count)
    ordered = np.sort(logs)
    middle = float(ordered[cut : count - cut].mean())
    left = count - 2 * cut
    if left < _FEWEST_LEFT:
        return Estimate(middle, math.inf)
    moved = np.clip(ordered, ordered[cut], ordered[count - cut - 1])
    worth = independent_count(logs, float(np.median(logs)))
    error = float(moved.std(ddof=1)) * count / left / math.sqrt(worth)
    # Of few values the variance itself is hardly known: that of Student's t with as many.
    return Estimate(middle, error * math.sqrt((left - 1) / (left - 3)))
