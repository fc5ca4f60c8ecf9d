"""The search by a model against drawing at random and climbing, on spaces that were measured whole.

``searches [SEEDS]`` replays each way so many times (500) on tables of a kernel's configurations and
their least times. The model was made on the first two tables alone. A row is the mean of the best
found over the best there is, beside that of drawing at random; stderr has all three ways.
"""

import csv
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from gemmviz.core.model import Problem
from gemmviz.core.search import ModelSearch
from gemmviz.core.sweep import Configuration
from tests.benchmarks.rows import row

Space = dict[Configuration, float | None]
TABLES = {
    "register_2d_128": "register_2d, PoCL, 128^3",
    "register_2d_192": "register_2d, PoCL, 192^3",
    "register_2d_pocl": "register_2d, PoCL, 256x320x192",
    "register_2d_intel": "register_2d, Intel, 320x192x256",
    "warp_tile_intel": "warp_tile, Intel, 256x320x192",
}
_PERCENTS = (5, 10, 25)
_DRAWN = 6  # how many each way draws at random before it learns


def main() -> None:
    seeds = next((int(word) for word in sys.argv[1:] if word.isdigit()), 500)
    ways: dict[str, Callable[[Space, int], Iterator[Configuration]]] = {
        "random": _drawn, "climbing": _climbed, "model": _searched,
    }  # fmt: skip
    for table, title in TABLES.items():
        space = _read(table)
        counts = [max(1, len(space) * percent // 100) for percent in _PERCENTS]
        means: dict[str, list[float]] = {}
        for way, search in ways.items():
            found = [_found(space, search(space, seed), counts) for seed in range(seeds)]
            by_count = list(zip(*found, strict=True))
            means[way] = [statistics.mean(ratios) for ratios in by_count]
            for count, ratios in zip(counts, by_count, strict=True):
                error = statistics.stdev(ratios) / seeds**0.5
                print(f"{title}: {count} of {len(space)} tried, {way}: "
                      f"{statistics.mean(ratios):.4f} +- {error:.4f}", file=sys.stderr)  # fmt: skip
        for place, percent in enumerate(_PERCENTS):
            name = f"{title}, {percent} % tried"
            if counts[place] > _DRAWN:
                row(name, means["model"][place], "", means["random"][place])


def _read(table: str) -> Space:
    """The configurations of a table; without a time where it failed."""
    space: Space = {}
    with (Path(__file__).parent.parent / "data" / f"{table}.csv").open() as file:
        for line in csv.DictReader(file):
            told = line.pop("microseconds")
            parameters = tuple((name, int(value)) for name, value in line.items())
            name = Configuration(table, parameters, Problem(1, 1, 1), 0)
            space[name] = float(told) if told else None
    return space


def _found(space: Space, tried: Iterator[Configuration], counts: list[int]) -> list[float]:
    """The best among the first so many over the best of all, for each of ``counts``."""
    best = min(value for value in space.values() if value is not None)
    least, found = float("inf"), []
    for place, name in enumerate(tried, 1):
        least = min(least, space[name] or float("inf"))
        if place in counts:
            found.append(least / best)
        if place == counts[-1]:
            break
    return found


def _drawn(space: Space, seed: int) -> Iterator[Configuration]:
    yield from random.Random(seed).sample(list(space), len(space))


def _searched(space: Space, seed: int) -> Iterator[Configuration]:
    search = ModelSearch(tuple(space), _DRAWN, seed)
    while names := search.ask():
        for name in names:
            yield name
            search.tell(name, space[name])


def _climbed(space: Space, seed: int) -> Iterator[Configuration]:
    """From the best of a few drawn ones on to the best that differs in one parameter, and so on.

    At the top of a hill it begins anew anywhere.
    """
    names, draw = list(space), np.random.default_rng(seed)
    values = np.array([[value for _, value in name.parameters] for name in names])
    known: dict[int, float] = {}

    def tell(number: int) -> Configuration:
        known[number] = space[names[number]] or float("inf")
        return names[number]

    for number in draw.permutation(len(names))[:_DRAWN]:
        yield tell(int(number))
    at = min(known, key=known.__getitem__)
    while len(known) < len(names):
        near = np.flatnonzero((values != values[at]).sum(axis=1) == 1)
        for number in draw.permutation([number for number in near if number not in known]):
            yield tell(int(number))
        best = min((int(number) for number in near), key=known.__getitem__, default=at)
        if known[best] < known[at]:
            at = best
            continue
        left = [number for number in range(len(names)) if number not in known]
        if left:
            at = int(draw.choice(left))
            yield tell(at)


if __name__ == "__main__":
    main()
