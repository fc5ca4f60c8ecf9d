"""Searches the configurations of a kernel by a model of their times, where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gemmviz.core.stats import Floats
from gemmviz.core.sweep import Configuration

if TYPE_CHECKING:
    from cmaes import CMAwM  # type: ignore[import-untyped]

_SMALL = 32  # fewer configurations are all tried
_FEWEST = 24
_SHARE = 4  # one of so many is tried

_WIDTH = 0.25  # of a parameter's whole range: the model's standard deviation where it begins
_FAILED_SECONDS = 1e9  # it orders times and does not average them: any that is longer than all


def tries(count: int, budget: int = 0) -> int:
    """How many of a kernel's configurations at one problem on one device a search tries.

    Args:
        count: How many there are.
        budget: How many a person allows; 0 for a quarter, and at least 24.
    """
    if count < _SMALL:
        return count
    return min(count, budget or max(_FEWEST, count // _SHARE))


class ModelSearch:
    """Proposes configurations of one kernel at one problem on one device, and learns their times.

    The first are drawn at random. From the best of them on, CMA-ES with margin takes over (Hamano,
    Saito, Nomura and Shirakawa, "CMA-ES with Margin", GECCO 2022): it draws a generation from a
    normal distribution over the places of the values in their parameters' lists, and moves and
    stretches it towards what was fast; when it has settled it begins anew somewhere else. What is
    drawn and cannot run stands for the nearest one that can. What is drawn and known already costs
    nothing, but in half of a generation at most, so that each brings something new. The same times
    give the same search.
    """

    def __init__(self, names: Sequence[Configuration], generation: int = 6, seed: int = 0) -> None:
        """Begins a search.

        Args:
            names: All configurations that can run.
            generation: How many are proposed at a time, at most; at least 4.
            seed: Of all that is drawn.
        """
        self._names, self._size = tuple(names), generation
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._places = _places(self._names)
        self._untried = np.ones(len(self._names), dtype=bool)
        self._seconds: dict[int, float] = {}
        self._random = np.random.default_rng(seed)
        self._model: CMAwM | None = None
        self._drawn: list[tuple[Floats, int]] = []  # this generation: what stands for which number

    def ask(self) -> tuple[Configuration, ...]:
        """What to measure next, none of it proposed or told before; () when all was tried."""
        if len(self._seconds) < self._size:
            left = np.flatnonzero(self._untried)
            numbers = [int(number) for number in self._random.permutation(left)[: self._size]]
            self._untried[numbers] = False
        else:
            self._learn()
            numbers = self._draw(self._model or self._begin())
        return tuple(self._names[number] for number in numbers)

    def tell(self, name: Configuration, seconds: float | None) -> None:
        """Learns what came of a configuration, whether it was asked for or not.

        Args:
            name: Which one.
            seconds: Of a launch; None where it failed or its answer is wrong.
        """
        number = self._numbers[name]
        self._untried[number] = False
        self._seconds[number] = _FAILED_SECONDS if seconds is None else seconds

    def _draw(self, model: CMAwM) -> list[int]:
        """Draws a generation; the numbers of those that were not tried."""
        fresh: list[int] = []
        while self._untried.any() and len(self._drawn) < self._size:
            place, drawn = model.ask()
            distances = ((self._places - place) ** 2).sum(axis=1)
            number = int(distances.argmin())
            known = len(self._drawn) - len(fresh)
            if not self._untried[number] and known >= self._size // 2:
                number = int(np.where(self._untried, distances, np.inf).argmin())
            if self._untried[number]:
                self._untried[number] = False
                fresh.append(number)
            self._drawn.append((drawn, number))
        return fresh

    def _learn(self) -> None:
        """Tells the model what came of its last generation; begins anew when it has settled."""
        drawn, self._drawn = self._drawn, []
        told = [(x, self._seconds[number]) for x, number in drawn if number in self._seconds]
        if self._model is not None and len(told) == self._size:
            self._model.tell(told)
            if self._model.should_stop():
                self._begin()

    def _begin(self) -> CMAwM:
        """A fresh model around the best so far; after a first model around any."""
        from cmaes import CMAwM  # noqa: PLC0415 (it is slow to load, and few sweeps need it)

        if self._model is None:
            start = min(self._seconds, key=self._seconds.__getitem__)
        else:
            start = int(self._random.integers(len(self._names)))
        ends = np.maximum(self._places.max(axis=0), 1.0)
        self._model = CMAwM(
            mean=self._places[start],
            sigma=1.0,
            cov=np.diag((_WIDTH * ends) ** 2),
            bounds=np.stack([np.zeros_like(ends), ends], axis=1),
            steps=np.ones_like(ends),
            population_size=self._size,
            seed=int(self._random.integers(2**31)),
        )
        return self._model


def _places(names: Sequence[Configuration]) -> Floats:
    """Where each configuration's values stand in the sorted lists of their parameters' values.

    Returns:
        A row a configuration, a column a parameter that varies; at least two columns, which the
        model needs.
    """
    columns = []
    for values in zip(*([value for _, value in name.parameters] for name in names), strict=True):
        listed = sorted(set(values))
        if len(listed) > 1:
            columns.append([listed.index(value) for value in values])
    while len(columns) < 2:
        columns.append([0] * len(names))
    return np.array(columns, dtype=np.float64).T
