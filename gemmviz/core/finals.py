"""The finals of a race: who cannot be told apart from the best, and which one is to be taken."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from gemmviz.core.model import Samples
from gemmviz.core.paired import Versus, compare_pairs, margin_of
from gemmviz.core.policy import Policy
from gemmviz.core.stats import Floats
from gemmviz.core.stopping import StopRule
from gemmviz.core.sweep import Configuration

ODDS_OF_SLOWER = 0.001
"""How likely a kernel that was found slower in turns is not: see :mod:`gemmviz.core.paired`."""

_TIED = 1.005
# Before an interval is to be had: who is slower in each of so many rounds by such a factor leaves.
# Of two equals on a machine where every third round is disturbed so much, one in 200 would.
_CLEARLY = ((8, 1.05), (5, 1.2), (3, 1.5))
_FIRST_ROUNDS = 3
_LOOK_SECONDS = 0.05  # of all finalists together: a look costs a few milliseconds
_GROWTH = 1.25
_FEWEST_TO_GIVE_UP = 30


@dataclass(frozen=True, slots=True)
class Standing:
    """How the finalists stand.

    Attributes:
        recommended: The one to take: of those that are within half a percent of the fastest the
            first in the plan's order, so that another day's sweep takes the same.
        best: Those that cannot be told apart from it, and itself, the fastest first.
        versus: Each of the others against the fastest.
        ratios: The recommended one's time over that of each.
    """

    recommended: Configuration
    best: tuple[Configuration, ...]
    versus: Mapping[Configuration, Versus]
    ratios: Mapping[Configuration, float]

    @property
    def open(self) -> tuple[Configuration, ...]:
        """Those of which it is not known whether they are as fast as the fastest or slower."""
        return tuple(n for n, versus in self.versus.items() if versus.word == "undecided")


class Finals:
    """Gathers rounds in which all finalists are launched in turns; who is slower leaves.

    ``order`` is the plan's, in which finalists are given and kept.
    """

    def __init__(self, finalists: tuple[Configuration, ...], policy: Policy) -> None:
        self._policy, self._margin = policy, margin_of(policy)
        self._times: dict[Configuration, list[float]] = {name: [] for name in finalists}
        self._racing = list(finalists)
        self._slower: set[Configuration] = set()
        self._alone = StopRule(policy)
        self._device_seconds = 0.0

    @property
    def racing(self) -> tuple[Configuration, ...]:
        """Who is still launched, in the plan's order."""
        return tuple(self._racing)

    def rounds_to_come(self) -> int:
        """How many rounds to make before the next look."""
        done = max((len(self._times[name]) for name in self._racing), default=0)
        if not done:
            return _FIRST_ROUNDS
        round_seconds = self._device_seconds / done
        return max(2, math.ceil(done * (_GROWTH - 1)), math.ceil(_LOOK_SECONDS / round_seconds))

    def add(self, samples: Mapping[Configuration, Samples]) -> None:
        """Takes rounds: as many samples of each that is racing; incomplete rounds are left out."""
        whole = min((len(samples[name]) for name in self._racing if name in samples), default=0)
        for name in self._racing:
            taken = samples.get(name)
            if taken is None:
                continue
            pairs = zip(taken.seconds[:whole], taken.launches[:whole], strict=True)
            self._times[name].extend(seconds / launches for seconds, launches in pairs)
            self._device_seconds += math.fsum(taken.seconds[:whole])
        if len(self._racing) == 1 and self._racing[0] in samples:
            self._alone.add(samples[self._racing[0]])

    def leave(self, names: tuple[Configuration, ...]) -> None:
        """Takes out those who failed, with all that is known of them."""
        for name in names:
            self._times.pop(name, None)
        self._racing = [name for name in self._racing if name not in names]

    def drop(self) -> tuple[Configuration, ...]:
        """Ends the racing of those that are slower for sure; what is known of them stays."""
        standing = self.standing()
        if standing is None:
            return ()
        slower = tuple(name for name in self._racing if _is_slower(standing.versus.get(name)))
        self._slower |= set(slower)
        self._racing = [name for name in self._racing if name not in slower]
        return slower

    def over(self, elapsed_seconds: float) -> bool:
        """Whether it is decided, or cannot be by the policy's limit.

        Args:
            elapsed_seconds: Since the first round.
        """
        policy = self._policy
        done = max((len(self._times[name]) for name in self._racing), default=0)
        if not self._racing or elapsed_seconds >= policy.limit_seconds:
            return True
        if policy.launches is not None and done >= policy.launches:
            return True
        if done < policy.min_samples or self._device_seconds < policy.min_seconds:
            return False
        if policy.target <= 0:
            return False
        standing = self.standing()
        if standing is None:
            return False
        if len(self._racing) == 1 and len(self._times) == 1:
            return self._alone.reason(elapsed_seconds) != ""
        still = [standing.versus[name] for name in standing.open if name in self._racing]
        share = elapsed_seconds / policy.limit_seconds if policy.limit_seconds < math.inf else 0.0
        hopeless = done >= _FEWEST_TO_GIVE_UP and all(
            _half_width(each) * math.sqrt(share) > max(math.log1p(self._margin), _distance(each))
            for each in still
        )
        return not still or hopeless

    def standing(self) -> Standing | None:
        """How all stand that had a round; None where none had."""
        times = {name: np.asarray(values) for name, values in self._times.items() if values}
        return judge(times, self._margin, self._slower)


def judge(
    times: Mapping[Configuration, Floats],
    margin: float,
    slower: Collection[Configuration] = (),
) -> Standing | None:
    """Compares finalists by the rounds that they share.

    Args:
        times: Seconds per launch, round by round from the first; who left early has fewer.
        margin: Relative difference up to which two count as the same.
        slower: Those that were found slower before.
    """
    if not times:
        return None
    names = list(times)
    # Whoever was in the most rounds is what all are compared with first.
    anchor = max(names, key=lambda name: (name not in slower, len(times[name])))
    ratios = {name: _ratio(times, anchor, name, margin) for name in names}
    longest = len(times[anchor])
    whole = [name for name in names if len(times[name]) == longest and name not in slower]
    fastest = max(whole, key=ratios.__getitem__)
    versus = {
        name: found
        for name in names
        if name != fastest and (found := _versus(times, fastest, name, margin)) is not None
    }
    tied = [
        name
        for name in whole
        if ratios[name] * _TIED >= ratios[fastest]
        and (name == fastest or versus[name].word != "slower")
    ]
    recommended = tied[0]
    best = [
        name
        for name in whole
        if name == fastest or (name in versus and versus[name].word != "slower")
    ]
    best.sort(key=lambda name: -ratios[name])
    relative = {name: ratio / ratios[recommended] for name, ratio in ratios.items()}
    return Standing(recommended, tuple(best), versus, relative)


def _is_slower(versus: Versus | None) -> bool:
    """Whether one is slower for sure."""
    if versus is None:
        return False
    clearly = any(
        versus.rounds >= fewest and versus.ratio_high * factor < 1 for fewest, factor in _CLEARLY
    )
    return versus.word == "slower" or clearly


def _versus(
    times: Mapping[Configuration, Floats], first: Configuration, other: Configuration, margin: float
) -> Versus | None:
    shared = min(len(times[first]), len(times[other]))
    return compare_pairs(times[first][:shared], times[other][:shared], margin)


def _ratio(
    times: Mapping[Configuration, Floats], first: Configuration, other: Configuration, margin: float
) -> float:
    """The first one's time over the other's; NaN never wins."""
    if first == other:
        return 1.0
    found = _versus(times, first, other, margin)
    return found.ratio if found is not None else 0.0


def _half_width(versus: Versus) -> float:
    return math.log(versus.ratio_high / versus.ratio_low) / 2


def _distance(versus: Versus) -> float:
    return abs(math.log(versus.ratio))
