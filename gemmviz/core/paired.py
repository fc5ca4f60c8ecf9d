"""One kernel against another, measured in turns: the ratio of their times, and one word for it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gemmviz.core.policy import Policy, StopReason
from gemmviz.core.stats import Floats, median_ranks, summarize
from gemmviz.core.stopping import Rule

Word = Literal["faster", "slower", "same", "undecided"]

VERDICTS: dict[Word, str] = {
    "faster": "▲ faster", "slower": "▼ slower", "same": "= tied", "undecided": "? undecided",
}  # fmt: skip
"""Each word as people read it, with a sign, so that colour is never the only one."""

FEWEST_ROUNDS = 15
"""Fewer rounds cannot bound their median well enough; their range is given instead."""

# Each look at a comparison is another chance to be wrong. Rounds that grow by a quarter between two
# of them make some ten to twenty looks, which at 99.99 % each hold with 99.9 % together.
_CONFIDENCE_OF_A_LOOK = 0.9999
_GROWTH = 1.25

_LEAST_MARGIN = 0.01
_MOST_LAGS = 200
_FEWEST_ON_ONE_SIDE = 11
_MOST_IN_BLOCK = 9
_FEWEST_BLOCKS = 60


@dataclass(frozen=True, slots=True)
class Versus:
    """How a kernel compares with the first one.

    Attributes:
        word: What the other one is, against the first.
        ratio: The first one's time over the other's, the median of all rounds or of blocks of
            them; above 1 the other is faster.
        ratio_low: Lower end of the interval of ``ratio``, 99.9 % over all looks while sampling; the
            smallest ratio when ``worth`` is below 15.
        ratio_high: Its upper end.
        margin: Relative difference up to which two kernels count as the same.
        rounds: How many rounds were compared.
        worth: How many rounds they are worth that do not depend on one another.
    """

    word: Word
    ratio: float
    ratio_low: float
    ratio_high: float
    margin: float
    rounds: int
    worth: int


def margin_of(policy: Policy) -> float:
    """The relative difference up to which two kernels count as the same under a policy."""
    return max(_LEAST_MARGIN, 2 * policy.target)


def compare_pairs(first: npt.ArrayLike, other: npt.ArrayLike, margin: float) -> Versus | None:
    """Compares two kernels by the ratio of their times in each round.

    What disturbs a whole round cancels in its ratio. Many rounds are also taken in blocks of up to
    nine, and of each block the lower quartile of either kernel's times: whatever disturbs a machine
    only adds time, and where half of all launches are hit a median falls between two heaps. The
    surer of both ways counts. The median of the ratios is bounded by order statistics, that is by
    inverting the sign test, so outliers and skew do no harm. Rounds or blocks that resemble their
    neighbours count as fewer (see :func:`independent_count`).

    Args:
        first: Seconds per launch of the first kernel, round by round.
        other: Those of the other one, as many; rounds in which either is not positive and finite
            are left out.
        margin: Relative difference up to which both count as the same.

    Returns:
        The comparison, or None without any round.
    """
    times = np.asarray([first, other], dtype=np.float64)
    rounds = _log_ratios(times[0], times[1])
    if not len(rounds):
        return None
    single = _judged(rounds, margin, len(rounds))
    blocks = _log_ratios(*_blocks(times))
    if len(blocks) in (0, len(rounds)):
        return single
    # On a quiet machine single rounds are surer, on a busy one blocks; two chances to be wrong
    # instead of one are well within what a look may cost.
    quartiles = _judged(blocks, margin, len(rounds))
    return min((single, quartiles), key=lambda each: each.ratio_high / each.ratio_low)


def _judged(logs: Floats, margin: float, rounds: int) -> Versus:
    """What log ratios in run order say; at least one."""
    middle = float(np.median(logs))
    worth = independent_count(logs, middle)
    low, high = _bounds(np.sort(logs), worth)
    # Where all of eleven lie on one side, the odds of that by chance are 2 in 2**11.
    certain = _bounded(worth) or (worth >= _FEWEST_ON_ONE_SIDE and low * high > 0)
    word = _word(middle, low, high, math.log1p(margin)) if certain else "undecided"
    return Versus(word, math.exp(middle), math.exp(low), math.exp(high), margin, rounds, worth)


def compare_apart(first: npt.ArrayLike, other: npt.ArrayLike, margin: float) -> Versus | None:
    """Compares two kernels that were measured one after the other, not in turns.

    Nothing cancels: the interval is that of the ratio of two medians, each bounded by order
    statistics as in :func:`compare_pairs`, so it is as wide as both intervals together.

    Args:
        first: Seconds per launch of the first kernel, in run order.
        other: Those of the other one, as many or not.
        margin: Relative difference up to which both count as the same.

    Returns:
        The comparison, ``rounds`` being the fewer samples; None without any usable one.
    """
    times = [np.asarray(values, np.float64) for values in (first, other)]
    logs = [np.log(each[np.isfinite(each) & (each > 0)]) for each in times]
    if not all(map(len, logs)):
        return None
    middles = [float(np.median(each)) for each in logs]
    worths = [independent_count(each, middle) for each, middle in zip(logs, middles, strict=True)]
    (low, high), (other_low, other_high) = (
        _bounds(np.sort(each), worth) for each, worth in zip(logs, worths, strict=True)
    )
    middle, least, most = middles[0] - middles[1], low - other_high, high - other_low
    worth = min(worths)
    word = _word(middle, least, most, math.log1p(margin)) if _bounded(worth) else "undecided"
    return Versus(
        word, math.exp(middle), math.exp(least), math.exp(most), margin, min(map(len, logs)), worth
    )


def independent_count(values: Floats, median: float) -> int:
    """How many independent values bound their median as well as these, in run order, do.

    The count of values below the median is a sum, so its variance grows by one plus twice the sum
    of the autocorrelations of "below or above". They are summed in pairs of lags until a pair is
    not positive. Source: C. J. Geyer, Practical Markov Chain Monte Carlo, Statistical Science 7(4),
    1992, section 3.3 (initial positive sequence).
    """
    signs = np.sign(values - median)
    count, power = len(signs), float(signs @ signs)
    if not power:
        return count
    total = 0.0
    for lag in range(1, min(_MOST_LAGS, count // 4), 2):
        pair = float(signs[lag:] @ signs[:-lag] + signs[lag + 1 :] @ signs[: -lag - 1]) / power
        if pair <= 0:
            break
        total += pair
    return max(1, int(count / (1 + 2 * total)))


def describe(versus: Versus, name: str, first_name: str) -> str:
    """The comparison as a sentence for people."""
    kind = "99.9 % interval" if _bounded(versus.worth) else "range"
    basis = f"({versus.ratio_low:.4g} to {versus.ratio_high:.4g}, {kind} of {versus.rounds} rounds)"
    times = f"{versus.ratio:.4g} times as fast"
    if versus.word == "faster":
        return f"{name} is {times} as {first_name} {basis}."
    if versus.word == "slower":
        return f"{name} is slower, {times} as {first_name} {basis}."
    if versus.word == "same":
        within = f"{versus.margin * 100:.3g} %"
        return f"{name} is as fast as {first_name} within {within}: {times} {basis}."
    why = "" if _bounded(versus.worth) else ", for too few rounds (measure longer)"
    return f"{name} against {first_name} is undecided{why}: {times} {basis}."


class PairedRule(Rule):
    """Ends a comparison of several kernels that are measured in turns, one launch or batch a round.

    The reasons are "launches" once every kernel had the wanted number of them; "decided" once the
    minimums are met (rounds, and device seconds of all kernels together) and each word is another
    than undecided; "settled" once they are met, the noise of an undecided ratio no longer changes
    and no word for it is in reach within the time limit; "limit" at that.
    """

    def __init__(self, policy: Policy, others: int) -> None:
        super().__init__(policy)
        self._margin = margin_of(policy)
        self._times = [array("d") for _ in range(1 + others)]
        self._next_decision = 1.0
        self._known: tuple[int, tuple[Versus, ...]] = (0, ())

    def add(self, seconds: Sequence[float], launches: Sequence[int]) -> None:
        """Takes one round.

        Args:
            seconds: Device time that each kernel took in this round, all its launches together, the
                first kernel first.
            launches: How many launches that were, for each kernel.
        """
        self._count(1, min(launches), math.fsum(seconds))
        for times, total, number in zip(self._times, seconds, launches, strict=True):
            times.append(total / number)

    def versus(self) -> tuple[Versus, ...]:
        """Each later kernel against the first, after all rounds so far.

        Empty before each of them has had a round with times above zero.
        """
        if self._known[0] != self._samples:
            first, *others = (np.array(times) for times in self._times)
            found = [compare_pairs(first, other, self._margin) for other in others]
            known = tuple(each for each in found if each is not None)
            self._known = self._samples, known if len(known) == len(others) else ()
        return self._known[1]

    def _look(self, elapsed_seconds: float) -> StopReason:
        first, *others = (np.array(times) for times in self._times)
        settled = self._settled(max(map(_noise, (_log_ratios(first, each) for each in others))))
        if self._samples < self._next_decision or not self._enough:
            return ""
        self._next_decision = self._samples * _GROWTH
        versus = self.versus()
        open_ones = [each for each in versus if each.word == "undecided"]
        if versus and not open_ones:
            return "decided"
        hopeless = bool(open_ones) and all(
            self._out_of_reach(each, elapsed_seconds) for each in open_ones
        )
        return "settled" if settled and hopeless else ""

    def _out_of_reach(self, versus: Versus, elapsed_seconds: float) -> bool:
        """Whether even the narrowest interval to be had reaches beyond both 1 and the margin."""
        half_width = math.log(versus.ratio_high / versus.ratio_low) / 2
        wanted = max(math.log1p(self._margin), abs(math.log(versus.ratio)))
        return self._hopeless(half_width, wanted, elapsed_seconds)


def _log_ratios(first: Floats, other: Floats) -> Floats:
    known = (first > 0) & (other > 0) & np.isfinite(first) & np.isfinite(other)
    ratios: Floats = np.log(first[known] / other[known])
    return ratios


def _blocks(times: Floats) -> Floats:
    """The lower quartile of each kernel's times in blocks of consecutive rounds, shape (2, blocks).

    Few rounds, and blocks in which a time is missing, stay as they are or are left out.
    """
    count = times.shape[1]
    size = min(_MOST_IN_BLOCK, count // _FEWEST_BLOCKS)
    if size < 2:
        return times
    whole = times[:, : count // size * size].reshape(2, -1, size)
    found: Floats = np.partition(whole, size // 4, axis=2)[:, :, size // 4]
    return found


def _noise(logs: Floats) -> float:
    summary = summarize(logs)
    return summary.q3 - summary.q1 if summary else 0.0


def _bounded(worth: int) -> bool:
    return worth >= FEWEST_ROUNDS


def _bounds(ordered: Floats, worth: int) -> tuple[float, float]:
    """The interval that ``worth`` independent values would have, at the same quantiles of all."""
    last = len(ordered) - 1
    low = math.floor(median_ranks(worth, _CONFIDENCE_OF_A_LOOK)[0] / max(1, worth - 1) * last)
    if not _bounded(worth):
        low = 0
    return float(ordered[low]), float(ordered[last - low])


def _word(middle: float, low: float, high: float, margin: float) -> Word:
    """The word for a log ratio, its interval and the logarithm of one plus the margin."""
    if -margin <= low and high <= margin:
        return "same"
    if low > 0 and middle > margin:
        return "faster"
    if high < 0 and middle < -margin:
        return "slower"
    return "undecided"
