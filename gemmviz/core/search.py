"""Searches the configurations of a kernel by a model of their times, where they are many."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gemmviz.core.stats import Floats
from gemmviz.core.sweep import Configuration

_SMALL = 32  # fewer configurations are all tried
_FEWEST = 24
_SHARE = 4  # one of so many is tried

_ALONE = 0.5  # how much of the likeness is each parameter's alone, and not of all together
_NOISE = 0.01  # variance of what is measured over that of all times
_HOPE = 2.0  # standard deviations below its mean is what a time may well be
# The model's work grows with the cube of the one and in proportion to the other.
_MOST_LEARNT, _MOST_WEIGHED = 400, 5000

_Numbers = npt.NDArray[np.intp]


def tries(count: int, budget: int = 0) -> int:
    """How many of a kernel's configurations at one problem on one device a search tries.

    Args:
        count: How many there are.
        budget: How many a person allows at most; 0 for a quarter and at least 24, and for all where
            there are fewer than 32.
    """
    share = count if count < _SMALL else max(_FEWEST, count // _SHARE)
    return min(count, budget or share)


class ModelSearch:
    """Proposes configurations of one kernel at one problem on one device, and learns their times.

    The first are drawn at random. Then a Gaussian process (Rasmussen and Williams, "Gaussian
    Processes for Machine Learning", 2006, algorithm 2.1) foresees the logarithm of each untried
    one's time from those known: the more their values stand near one another in the parameters'
    lists, the more alike two configurations are. What may be the fastest comes next: the lowest
    mean less two standard deviations (Cox and John, "A statistical method for global optimization",
    1992). For several at a time, each one's mean counts as measured when the next is chosen
    (Ginsbourger, Le Riche and Carraro, "Kriging is well-suited to parallelize optimization", 2010).
    What failed counts as the slowest known. The same times, told in the same order, give the same
    search.

    Nothing in the model is fitted: on spaces of this size that gained nothing. On three spaces that
    it was not tuned on, the best it found in a tenth of them was 0.3, 1.2 and 2.5 % slower than the
    best there is, against 12, 28 and 5 % of drawing at random (``tests/benchmarks/searches.py``).
    """

    def __init__(self, names: Sequence[Configuration], generation: int = 6, seed: int = 0) -> None:
        """Begins a search.

        Args:
            names: All configurations that can run; all of them name the same parameters.
            generation: How many are proposed at a time, at most.
            seed: Of all that is drawn.
        """
        self._names, self._size = tuple(dict.fromkeys(names)), generation
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._places = _places(self._names)
        self._untried = np.ones(len(self._names), dtype=bool)
        self._seconds: dict[int, float | None] = {}
        self._random = np.random.default_rng(seed)

    def ask(self) -> tuple[Configuration, ...]:
        """What to measure next, none of it proposed or told before; () when all was tried."""
        left = np.flatnonzero(self._untried)
        if not left.size:
            return ()
        slowest = max((each for each in self._seconds.values() if each is not None), default=None)
        if slowest is None or len(self._seconds) < self._size:
            chosen = self._random.permutation(left)[: self._size]
        else:
            chosen = self._promising(self._some(left, _MOST_WEIGHED), slowest)
        self._untried[chosen] = False
        return tuple(self._names[number] for number in chosen)

    def tell(self, name: Configuration, seconds: float | None) -> None:
        """Learns what came of a configuration, whether it was asked for or not.

        Args:
            name: Which one.
            seconds: Of a launch; None where it failed or its answer is wrong. What is not above
                zero and finite, as from a driver whose clock stands, counts as a failure too.
        """
        number = self._numbers[name]
        self._untried[number] = False
        sound = seconds is not None and 0 < seconds < math.inf
        self._seconds[number] = seconds if sound else None

    def _promising(self, left: _Numbers, slowest: float) -> _Numbers:
        """Those of ``left`` that may be the fastest; ``slowest`` is how long what failed takes."""
        known = self._learnt()
        times = np.log([self._seconds[number] or slowest for number in known])
        times -= times.min()  # equal ones become exact zeros, whose mean and deviation are exact
        times = (times - times.mean()) / (times.std() or 1.0)
        places, others = self._places[known], self._places[left]
        # No eigenvalue is below the noise, so the root needs no other jitter.
        root = np.linalg.cholesky(_likeness(places, places) + _NOISE * np.eye(len(known)))
        weights = np.linalg.solve(root, times)
        spread = np.linalg.solve(root, _likeness(places, others))
        mean, variance = weights @ spread, 1 + _NOISE - (spread**2).sum(axis=0)
        # The deviation that makes these times likeliest (Jones, Schonlau and Welch, "Efficient
        # global optimization of expensive black-box functions", 1998). Where all took the same
        # there is none to learn, and what is least known comes next.
        scale = (weights @ weights / len(known)) ** 0.5 or 1.0
        chosen: list[int] = []
        for _ in range(min(self._size, len(left))):
            lowest = mean - _HOPE * scale * np.sqrt(variance)
            lowest[chosen] = np.inf
            best = int(lowest.argmin())
            chosen.append(best)
            # With one more known, all that is like it is less uncertain: a row of Cholesky's root.
            alike = _likeness(others[best : best + 1], others)[0]
            row = (alike - spread[:, best] @ spread) / variance[best] ** 0.5
            spread = np.vstack([spread, row])
            variance = np.maximum(variance - row**2, 1e-9)
        return left[chosen]

    def _learnt(self) -> _Numbers:
        """What the model learns from: all that is known, or the fastest and some of the rest."""
        known = sorted(self._seconds, key=lambda number: self._seconds[number] or np.inf)
        half = _MOST_LEARNT // 2
        rest = self._some(np.array(known[half:], dtype=np.intp), half)
        return np.concatenate([np.array(known[:half], dtype=np.intp), rest])

    def _some(self, numbers: _Numbers, most: int) -> _Numbers:
        """At most so many of some numbers, drawn where there are more."""
        return numbers if len(numbers) <= most else self._random.permutation(numbers)[:most]


def _likeness(places: Floats, others: Floats) -> Floats:
    """The covariance of every pair, 1 for equal ones: a row each of ``places``.

    A parameter's is exponential in the distance (Rasmussen and Williams, section 4.2.1). Half of
    the whole is the mean over the parameters, so that what one of them does is learnt from all the
    rest (Duvenaud, Nickisch and Rasmussen, "Additive Gaussian Processes", 2011); half their
    product, for what they do together.

    Args:
        places: See :func:`_places`; at least one parameter varies.
        others: The same.
    """
    total: Floats = np.zeros((len(places), len(others)))
    product: Floats = np.ones_like(total)
    for own, other in zip(places.T, others.T, strict=True):
        alike = np.exp(-np.abs(own[:, None] - other))
        total += alike
        product *= alike
    covariance: Floats = _ALONE * total / places.shape[1] + (1 - _ALONE) * product
    return covariance


def _places(names: Sequence[Configuration]) -> Floats:
    """Where each configuration's values stand in the sorted lists of their parameters' values.

    Returns:
        A row a configuration, a column a parameter that varies, from 0 to 1.
    """
    columns = []
    for values in zip(*([value for _, value in name.parameters] for name in names), strict=True):
        listed = sorted(set(values))
        if len(listed) > 1:
            columns.append([listed.index(value) / (len(listed) - 1) for value in values])
    return np.array(columns, dtype=np.float64).T.reshape(len(names), len(columns))
