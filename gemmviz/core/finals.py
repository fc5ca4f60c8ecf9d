"""The finals of a race: who cannot be told apart from the best, and which one is to be taken."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gemmviz.core.model import Samples
from gemmviz.core.paired import Versus, compare_pairs, margin_of
from gemmviz.core.policy import Policy
from gemmviz.core.ranking import Estimate, estimate
from gemmviz.core.stats import Floats
from gemmviz.core.stopping import StopRule
from gemmviz.core.sweep import Configuration

ODDS_OF_SLOWER = 0.001
"""How likely a kernel that was found slower in turns is not: see :mod:`gemmviz.core.paired`."""

_TIED = math.log(1.01)
# Before an interval is to be had: who is slower in each of so many rounds by such a factor leaves.
# Of two equals on a machine where every third round is disturbed so much, one in 200 would.
_CLEARLY = ((8, 1.05), (5, 1.2), (3, 1.5))
_FIRST_ROUNDS = 3
_LOOK_SECONDS = 0.05  # of all finalists together: a look costs a few milliseconds
_GROWTH = 1.25
# An estimate of fewer rounds is not believed: on a busy machine neighbours are too much alike.
_FEWEST_TO_RANK = 7
_KNOWN = 1.96  # standard errors within which a ratio lies with 95 %
_BEHIND = 3.3  # the same with 99.9 %


@dataclass(frozen=True, slots=True)
class Standing:
    """How the finalists stand.

    Attributes:
        recommended: The one to take: of those that are by the best guess within a percent of the
            fastest the first in the plan's order, so that another day's sweep takes the same.
        best: Those that cannot be told apart from the fastest, and itself, the fastest first.
        versus: Each of the others against the fastest, by an interval.
        ratios: The recommended one's time over that of each, by the best guess.
        behind: How much longer each of the others takes than the fastest, by the best guess.
    """

    recommended: Configuration
    best: tuple[Configuration, ...]
    versus: Mapping[Configuration, Versus]
    ratios: Mapping[Configuration, float]
    behind: Mapping[Configuration, Estimate]

    @property
    def open(self) -> tuple[Configuration, ...]:
        """Those of which it is not known whether they are as fast as the fastest or slower."""
        return tuple(n for n, versus in self.versus.items() if versus.word == "undecided")


class Finals:
    """Gathers rounds in which all finalists are launched in turns; who is slower leaves.

    Who is behind for sure, though not so far that an interval tells it apart, rests: the rounds to
    come go to those of whom it is not known. All are given and kept in the plan's order.
    """

    def __init__(self, finalists: tuple[Configuration, ...], policy: Policy) -> None:
        self._policy, self._margin = policy, margin_of(policy)
        self._times: dict[Configuration, list[float]] = {name: [] for name in finalists}
        self._work: dict[Configuration, list[float]] = {name: [] for name in finalists}
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
        done = self._rounds
        if not done:
            return _FIRST_ROUNDS
        round_seconds = self._device_seconds / done
        return max(2, math.ceil(done * (_GROWTH - 1)), math.ceil(_LOOK_SECONDS / round_seconds))

    def add(
        self,
        samples: Mapping[Configuration, Samples],
        work: Mapping[Configuration, Sequence[float]] | None = None,
    ) -> None:
        """Takes rounds: as many samples of each that is racing; incomplete rounds are left out.

        Args:
            samples: Of each.
            work: Seconds that processors worked at each sample; of all, or of none.
        """
        whole = min((len(samples[name]) for name in self._racing if name in samples), default=0)
        for name in self._racing:
            taken = samples.get(name)
            if taken is None:
                continue
            pairs = zip(taken.seconds[:whole], taken.launches[:whole], strict=True)
            self._times[name].extend(seconds / launches for seconds, launches in pairs)
            spent = (work or {}).get(name, ())
            if len(spent) >= whole:
                launches = taken.launches[:whole]
                self._work[name].extend(np.divide(spent[:whole], launches).tolist())
            self._device_seconds += math.fsum(taken.seconds[:whole])
        if len(self._racing) == 1 and self._racing[0] in samples:
            self._alone.add(samples[self._racing[0]])

    def leave(self, names: tuple[Configuration, ...]) -> None:
        """Takes out those who failed, with all that is known of them."""
        for name in names:
            self._times.pop(name, None)
            self._work.pop(name, None)
        self._racing = [name for name in self._racing if name not in names]

    def drop(self) -> tuple[Configuration, ...]:
        """Ends the racing of those that are slower for sure, and lets those rest that are behind.

        What is known of all of them stays.

        Returns:
            Those that are slower.
        """
        standing = self.standing()
        if standing is None:
            return ()
        slower = tuple(name for name in self._racing if _is_slower(standing.versus.get(name)))
        self._slower |= set(slower)
        resting = [name for name in self._racing if _is_behind(standing.behind.get(name))]
        if self._rounds < max(_FEWEST_TO_RANK, self._policy.min_samples):
            resting = []
        self._racing = [name for name in self._racing if name not in (*slower, *resting)]
        return slower

    def over(self, elapsed_seconds: float) -> bool:
        """Whether it is known whom to take, or cannot be by the policy's limit.

        It is when each rival is told apart by its interval or is behind for sure, or when its time
        over that of the fastest is known as closely as the policy wants to know a median.

        Args:
            elapsed_seconds: Since the first round.
        """
        policy = self._policy
        if not self._racing or elapsed_seconds >= policy.limit_seconds:
            return True
        if policy.launches is not None and self._rounds >= policy.launches:
            return True
        if self._rounds < policy.min_samples or self._device_seconds < policy.min_seconds:
            return False
        if policy.target <= 0:
            return False
        standing = self.standing()
        if standing is None:
            return False
        if len(self._racing) == 1 and len(self._times) == 1:
            return self._alone.reason(elapsed_seconds) != ""
        return not any(
            name in self._racing and not self._is_known(standing.behind[name])
            for name in standing.open
        )

    def standing(self) -> Standing | None:
        """How all stand that had a round; None where none had."""
        times = {name: np.asarray(values) for name, values in self._times.items() if values}
        work = {name: np.asarray(self._work[name]) for name in times}
        complete = all(len(work[name]) == len(values) for name, values in times.items())
        return judge(times, self._margin, self._slower, work if complete else None)

    @property
    def _rounds(self) -> int:
        return max((len(self._times[name]) for name in self._racing), default=0)

    def _is_known(self, behind: Estimate) -> bool:
        """Whether it is known closely enough how far one is behind."""
        close = _KNOWN * behind.error <= self._policy.target
        return self._rounds >= _FEWEST_TO_RANK and (close or _is_behind(behind))


def judge(
    times: Mapping[Configuration, Floats],
    margin: float,
    slower: Collection[Configuration] = (),
    work: Mapping[Configuration, Floats] | None = None,
) -> Standing | None:
    """Compares finalists by the rounds that they share.

    Args:
        times: Seconds per launch, round by round from the first; who left early has fewer.
        margin: Relative difference up to which two count as the same.
        slower: Those that were found slower before.
        work: Seconds per launch that processors worked, where that is known, in the same rounds.
    """
    if not times:
        return None
    names = list(times)
    # Whoever was in the most rounds is what all are compared with first.
    anchor = max(names, key=lambda name: (name not in slower, len(times[name])))
    guesses = {name: _behind(times, work, name, anchor) for name in names}
    left = [name for name in names if name not in slower] or names  # all others failed since
    whole = [name for name in left if len(times[name]) == len(times[anchor])]
    fastest = min(whole, key=lambda name: guesses[name].log_ratio)
    behind = {
        name: _behind(times, work, name, fastest) if fastest != anchor else guesses[name]
        for name in names
        if name != fastest
    }
    versus = {
        name: found
        for name in names
        if name != fastest and (found := _versus(times, fastest, name, margin)) is not None
    }
    best = [
        name
        for name in left
        if name == fastest or (name in versus and versus[name].word != "slower")
    ]
    logs = {name: behind[name].log_ratio if name != fastest else 0.0 for name in names}
    recommended = next((name for name in best if logs[name] <= _TIED), fastest)
    best.sort(key=logs.__getitem__)
    ratios = {name: math.exp(logs[recommended] - value) for name, value in logs.items()}
    return Standing(recommended, tuple(best), versus, ratios, behind)


def _is_slower(versus: Versus | None) -> bool:
    """Whether one is slower for sure."""
    if versus is None:
        return False
    clearly = any(
        versus.rounds >= fewest and versus.ratio_high * factor < 1 for fewest, factor in _CLEARLY
    )
    return versus.word == "slower" or clearly


def _is_behind(behind: Estimate | None) -> bool:
    """Whether one takes longer for sure, and by more than counts as a tie."""
    return (
        behind is not None
        and behind.log_ratio > _TIED
        and behind.log_ratio > _BEHIND * behind.error
    )


def _versus(
    times: Mapping[Configuration, Floats], first: Configuration, other: Configuration, margin: float
) -> Versus | None:
    shared = min(len(times[first]), len(times[other]))
    return compare_pairs(times[first][:shared], times[other][:shared], margin)


def _behind(
    times: Mapping[Configuration, Floats],
    work: Mapping[Configuration, Floats] | None,
    name: Configuration,
    first: Configuration,
) -> Estimate:
    """How much longer one takes than the first; infinitely where no round of both is usable."""
    shared = min(len(times[first]), len(times[name]))
    pairs = [times[name][:shared], times[first][:shared]]
    if work is not None:
        pairs += [work[name][:shared], work[first][:shared]]
    found = estimate(*pairs)
    return found if found is not None else Estimate(math.inf, math.inf)
