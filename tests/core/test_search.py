"""The search by a model: that it finds what is fast, tries nothing twice, and comes to an end."""

from __future__ import annotations

import itertools
import random
from statistics import mean

import pytest

from gemmviz.core.model import Problem
from gemmviz.core.search import ModelSearch, tries
from gemmviz.core.sweep import Configuration

PROBLEM = Problem(64, 64, 64)
TILES, DEPTHS, SHARES = (8, 16, 32, 64, 128, 256), (4, 8, 16, 32, 64), (1, 2, 4, 8, 16)


def named(**values: int) -> Configuration:
    return Configuration("smooth", tuple(values.items()), PROBLEM, 0)


SPACE = tuple(
    named(BM=bm, BN=bn, BK=bk, TM=tm, TN=tn, ONE=7)
    for bm, bn, bk, tm, tn in itertools.product(TILES, TILES, DEPTHS, SHARES, SHARES)
    if bm * bk + bn * bk <= 8192 and tm <= bm and tn <= bn
)


def seconds_of(name: Configuration) -> float | None:
    """A bowl with its bottom at 64 x 32 x 16, 8 x 4; the largest register tiles fail."""
    places = {key: value.bit_length() for key, value in name.parameters}
    if places["TM"] + places["TN"] > 9:
        return None
    bottom = {"BM": 7, "BN": 6, "BK": 5, "TM": 4, "TN": 3}
    return 1.0 + sum((places[key] - place) ** 2 for key, place in bottom.items()) / 10


def found(seed: int, budget: int) -> list[Configuration]:
    """What a search tries, in its order."""
    search, tried = ModelSearch(SPACE, seed=seed), []
    while len(tried) < budget:
        for name in search.ask():
            tried.append(name)
            search.tell(name, seconds_of(name))
    return tried[:budget]


def best_of(names: list[Configuration]) -> float:
    return min(seconds for name in names if (seconds := seconds_of(name)) is not None)


def test_it_beats_drawing_at_random_by_far() -> None:
    budget = len(SPACE) // 25
    searched = mean(best_of(found(seed, budget)) for seed in range(20))
    drawn = mean(best_of(random.Random(seed).sample(SPACE, budget)) for seed in range(20))
    assert drawn - 1 > 0.1  # it is no easy space
    assert searched - 1 < 0.25 * (drawn - 1)


def test_nothing_is_tried_twice_and_nothing_that_cannot_run() -> None:
    tried = found(0, 400)
    assert len(set(tried)) == 400
    assert set(tried) <= set(SPACE)


def test_the_same_times_give_the_same_search() -> None:
    assert found(3, 100) == found(3, 100) != found(4, 100)


def test_it_goes_on_from_what_is_known() -> None:
    search = ModelSearch(SPACE, seed=1)
    known = [name for name in SPACE if dict(name.parameters)["BK"] == 16][::5]
    for name in known:
        search.tell(name, seconds_of(name))
    first = search.ask()  # no longer at random: around the best that is known
    assert not set(first) & set(known)
    drawn = random.Random(1).sample(SPACE, len(known))
    assert mean(seconds_of(name) or 9.0 for name in first) < mean(
        seconds_of(name) or 9.0 for name in drawn
    )


@pytest.mark.parametrize(
    "space",
    [
        tuple(named(TS=ts, WPT=wpt) for ts in range(1, 9) for wpt in range(1, 6)),
        tuple(named(TS=ts, PAD=0) for ts in range(40)),
        (named(),),
        (),
    ],
)
@pytest.mark.parametrize("fails", [False, True])
def test_it_ends_when_all_is_tried(space: tuple[Configuration, ...], fails: bool) -> None:
    search, tried = ModelSearch(space, generation=4), []
    while names := search.ask():
        assert len(names) <= 4
        tried += names
        for name in names:
            search.tell(name, None if fails else 1.0)
    assert len(tried) == len(space)
    assert set(tried) == set(space)


def test_a_share_is_tried_and_small_spaces_whole() -> None:
    assert [tries(count) for count in (1, 31, 32, 96, 100, 1728)] == [1, 31, 24, 24, 25, 432]
    assert [tries(count, 50) for count in (31, 32, 49, 50, 1728)] == [31, 32, 49, 50, 50]
