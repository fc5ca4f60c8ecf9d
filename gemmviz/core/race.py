"""The screening of a race: which configurations may still be the best, by a few samples each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gemmviz.core.policy import Policy, fixed
from gemmviz.core.stats import Floats
from gemmviz.core.sweep import Configuration
from gemmviz.core.units import percent

SAMPLES = 3
"""So many samples of each are taken in a screening; fewer of one that is far behind at once."""

SCREENING: Policy = fixed(SAMPLES)
"""The policy that stands in the results of a screening; a policy's minimums do not bind it."""

SLACK = 1.05
"""Who is not slower than the leader by this factor in its fastest sample stays in."""

RESUMED_SLACK = 1.3
"""The same where both were not measured at the same time, so that a machine may have changed."""

BEYOND_NOISE = 2.5
"""By so many standard deviations of the logarithm of a time must its fastest sample be slower."""

MOST_ODDS = 0.1
"""All that are dropped in a screening together may be so likely to be the faster ones."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Who is out of a race, and why, as a sentence."""

    configuration: Configuration
    why: str


class Screening:
    """Follows heats, in each of which some configurations and the leader are measured in turns.

    Times are taken relative to the leader's in the same heat: when a machine is busy for a while
    all of the heat are slow alike. Leaders that follow one another are linked by the heat in which
    the new one beat the old one. The noisier the machine, the more stay in: two equal kernels, of
    which one had the luck of a quiet moment, must both go on.
    """

    def __init__(self, count: int = 1, margin: float = 0.0) -> None:
        """Begins a screening.

        Args:
            count: How many configurations there are.
            margin: Relative difference up to which two count as the same.
        """
        self._most_odds = MOST_ODDS / max(1, count)
        self._margin = margin
        # All in seconds as they were in the first heat: the median of a configuration, its fastest
        # sample, and the least that it may really be.
        self._middle: dict[Configuration, float] = {}
        self._least: dict[Configuration, float] = {}
        self._fastest: dict[Configuration, float] = {}
        self._samples: dict[Configuration, int] = {}
        self._out: dict[Configuration, tuple[float, int]] = {}  # fastest sample, and of how many
        self._inflations: list[float] = []
        # Of the logarithms of times about the mean of their configuration in their heat.
        self._squares, self._freedoms = 0.0, 0
        self._leader: Configuration | None = None

    @property
    def leader(self) -> Configuration | None:
        """The fastest so far."""
        return self._leader

    @property
    def inside(self) -> tuple[Configuration, ...]:
        """Who has not been dropped, the fastest first."""
        return tuple(sorted(self._middle, key=self._middle.__getitem__))

    def add_heat(self, times: Mapping[Configuration, Floats]) -> None:
        """Takes a heat: seconds per launch of each that ran, with the leader if there is one.

        Without the leader, who failed or was measured at another time, absolute times are compared.
        """
        times = {name: values for name, values in times.items() if len(values)}
        if not times:
            return
        for values in times.values():
            self._note_noise(np.sort(values))
        medians = {name: float(np.median(values)) for name, values in times.items()}
        leader = self._leader if self._leader in times else min(medians, key=medians.__getitem__)
        scale = self._middle.get(leader, medians[leader]) / medians[leader]
        for name, values in times.items():
            if name == leader and name in self._middle:
                continue
            self._middle[name] = scale * medians[name]
            self._fastest[name] = scale * float(values.min())
            self._least[name] = self._fastest[name]
            self._samples[name] = len(values)
        self._leader = self.inside[0]

    def remember(self, times: Mapping[Configuration, Floats]) -> None:
        """Takes samples of another day, at least one each; they say less."""
        for name, values in times.items():
            ordered = np.sort(values)
            self._middle[name] = float(np.median(ordered))
            self._fastest[name] = float(ordered[0])
            self._least[name] = self._fastest[name] / RESUMED_SLACK * SLACK
            self._samples[name] = len(ordered)
            self._note_noise(ordered)
        self._leader = self.inside[0] if self._middle else None

    def forget(self, names: Iterable[Configuration]) -> None:
        """Takes out who failed."""
        for name in names:
            for kept in (self._middle, self._least, self._fastest, self._samples):
                kept.pop(name, None)
        self._leader = self.inside[0] if self._middle else None

    def drop(self) -> tuple[Dropped, ...]:
        """Takes out who cannot be the best any more, and says why."""
        if self._leader is None:
            return ()
        best = self._middle[self._leader]
        limit = max(SLACK, math.exp(BEYOND_NOISE * self._noise())) * best
        slow = [name for name, least in self._least.items() if least > limit]
        odds = self._odds({name: (self._fastest[name], self._samples[name]) for name in slow})
        return self.take_out(name for name in slow if odds[name] <= self._most_odds)

    def drop_beyond(self, most: int) -> tuple[Dropped, ...]:
        """Takes out all but the ``most`` fastest."""
        return self.take_out(self.inside[most:])

    def odds_of_dropped(self) -> dict[Configuration, float]:
        """How likely each that was dropped beats the leader by the margin all the same."""
        return self._odds(self._out) if self._leader is not None else {}

    def _note_noise(self, ordered: Floats) -> None:
        """Takes the sorted samples of one configuration in one heat."""
        self._inflations.extend(ordered[1:] / ordered[0])
        logs = np.log(ordered)
        self._squares += float(((logs - logs.mean()) ** 2).sum())
        self._freedoms += len(logs) - 1

    def _noise(self) -> float:
        """How much the logarithm of a time scatters; more where few samples tell."""
        if not self._freedoms:
            return math.inf
        return math.sqrt(self._squares / self._freedoms) * (1 + 2 / self._freedoms)

    def _odds(self, seen: Mapping[Configuration, tuple[float, int]]) -> dict[Configuration, float]:
        """How likely each beats the leader by the margin, by its fastest sample and their number.

        Whatever disturbs a machine only adds time. So all its samples must have been lengthened by
        at least the factor that its fastest is above such a time; how often a sample is, is counted
        over all samples of the race, each over the fastest of its own configuration. Beyond the
        longest seen their number falls with the square of the factor: a heavy tail.
        """
        assert self._leader is not None
        best = self._middle[self._leader]
        inflations = np.sort([1.0, *self._inflations])
        odds = {}
        for name, (fastest, samples) in seen.items():
            factor = fastest / best * (1 + self._margin)
            longer = len(inflations) - int(np.searchsorted(inflations, factor))
            tail = min(1.0, float(inflations[-1]) / factor) ** 2
            odds[name] = min(0.5, ((1 + longer) / len(inflations) * tail) ** samples)
        return odds

    def take_out(self, names: Iterable[Configuration]) -> tuple[Dropped, ...]:
        """Takes out whomever, and says why as if they were too slow."""
        names = tuple(names)
        if self._leader is None or not names:
            return ()
        best = self._middle[self._leader]
        out = [
            Dropped(name, _why(self._middle[name] / best, self._samples[name])) for name in names
        ]
        self._out |= {name: (self._fastest[name], self._samples[name]) for name in names}
        self.forget(names)
        return tuple(out)


def _why(ratio: float, samples: int) -> str:
    """Why one is out whose median is ``ratio`` times the best one's."""
    longer = f"{percent(ratio - 1)} longer" if ratio < 2 else f"{ratio:.3g} times as long"
    than = "than" if ratio < 2 else "as"
    counted = f"{samples} sample{'s' * (samples > 1)}"
    return f"Dropped after {counted}: a launch takes {longer} {than} the best so far."
