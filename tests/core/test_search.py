"""The search by a model: that it finds what is fast, tries nothing twice, and comes to an end."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from statistics import mean

import pytest

from gemmviz.core import search as module
from gemmviz.core.model import Problem
from gemmviz.core.search import ModelSearch, tries
from gemmviz.core.sweep import Configuration

PROBLEM = Problem(64, 64, 64)


def named(**values: int) -> Configuration:
    return Configuration("smooth", tuple(values.items()), PROBLEM, 0)


SPACE = tuple(
    named(BM=bm, BN=bn, BK=bk, TM=tm, TN=tn, ONE=7)
    for bm, bn in itertools.product((8, 16, 32, 64), repeat=2)
    for bk, tm, tn in itertools.product((4, 8, 16, 32), (1, 2, 4, 8), (1, 2, 4, 8))
    if bm * bk + bn * bk <= 2048
)
LINE = tuple(named(TS=ts) for ts in range(40))


def seconds_of(name: Configuration) -> float | None:
    """A bowl with its bottom at 64 x 32 x 16, 4 x 2; the largest register tiles fail."""
    places = {key: value.bit_length() for key, value in name.parameters}
    if places["TM"] + places["TN"] > 6:
        return None
    bottom = {"BM": 7, "BN": 6, "BK": 5, "TM": 3, "TN": 2}
    return 1.0 + sum((places[key] - place) ** 2 for key, place in bottom.items()) / 10


def found(seed: int, budget: int) -> list[Configuration]:
    """What a search tries, in its order."""
    search = ModelSearch(SPACE, seed=seed)
    tried: list[Configuration] = []
    while len(tried) < budget:
        for name in search.ask():
            tried.append(name)
            search.tell(name, seconds_of(name))
    return tried[:budget]


def best_of(names: Sequence[Configuration]) -> float:
    return min(seconds for name in names if (seconds := seconds_of(name)) is not None)


def asked_after(told: Mapping[int, float | None], generation: int) -> list[int]:
    """What comes next on the line when so much is known of it."""
    search = ModelSearch(LINE, generation)
    for place, seconds in told.items():
        search.tell(LINE[place], seconds)
    return [dict(name.parameters)["TS"] for name in search.ask()]


@pytest.mark.parametrize("limited", [False, True])
def test_it_beats_drawing_at_random_by_far(limited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if limited:  # as where there are too many for the model
        monkeypatch.setattr(module, "_MOST_LEARNT", 16)
        monkeypatch.setattr(module, "_MOST_WEIGHED", len(SPACE) // 2)
    budget = len(SPACE) // 20
    searched = mean(best_of(found(seed, budget)) for seed in range(8))
    drawn = mean(best_of(random.Random(seed).sample(SPACE, budget)) for seed in range(8))
    assert drawn - 1 > 0.1  # it is no easy space
    assert searched - 1 < (0.5 if limited else 0.25) * (drawn - 1)


def test_nothing_is_tried_twice_and_nothing_that_cannot_run() -> None:
    tried = found(0, 100)
    assert len(set(tried)) == 100
    assert set(tried) <= set(SPACE)


def test_the_same_times_give_the_same_search() -> None:
    assert found(3, 40) == found(3, 40) != found(4, 40)


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


def test_what_failed_counts_as_slow() -> None:
    failed: dict[int, float | None] = dict.fromkeys(range(0, 20, 4))
    fine: dict[int, float | None] = {place: 1.0 + place / 1000 for place in range(20, 40, 4)}
    assert min(asked_after(failed | fine, 3)) >= 20


@pytest.mark.parametrize("rest", [2.0, None])
def test_equal_times_send_it_to_what_is_least_known(rest: float | None) -> None:
    told = {0: 2.0} | dict.fromkeys(range(1, 10), rest)
    assert min(asked_after(told, 1)) > 30


def test_those_proposed_together_are_far_from_one_another() -> None:
    told: dict[int, float | None] = dict.fromkeys(range(20, 25), 2.0)
    assert asked_after(told, 2) == [0, 39]


def test_none_is_proposed_twice_at_once() -> None:
    told = {place: 0.001 if place < 15 else 9.0 for place in range(40) if place not in (8, 9, 30)}
    assert sorted(asked_after(told, 3)) == [8, 9, 30]


def test_what_was_told_is_not_proposed() -> None:
    told: dict[int, float | None] = {place: 1.0 + place for place in range(40) if place != 30}
    assert asked_after(told, 4) == [30]


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_cannot_be_counts_as_a_failure(seconds: float) -> None:
    told: dict[int, float | None] = {place: 1.0 + place for place in range(0, 30, 5)}
    assert asked_after(told | {35: seconds}, 6) == asked_after(told | {35: None}, 6)


@pytest.mark.parametrize(
    "space",
    [
        tuple(named(TS=ts, WPT=wpt) for ts in range(1, 9) for wpt in range(1, 6)),
        tuple(named(TS=ts, PAD=0) for ts in range(40)),
        (*LINE, *LINE[:7]),
        (named(TS=8),),
        (named(),),
        (),
    ],
)
@pytest.mark.parametrize("generation", [1, 4])
@pytest.mark.parametrize("fails", [False, True])
def test_it_ends_when_all_is_tried(
    space: tuple[Configuration, ...], generation: int, fails: bool
) -> None:
    search = ModelSearch(space, generation)
    tried: list[Configuration] = []
    while names := search.ask():
        assert len(names) <= generation
        tried += names
        for name in names:
            search.tell(name, None if fails else 1.0)
    assert len(tried) == len(set(space))
    assert set(tried) == set(space)


def test_a_share_is_tried_and_small_spaces_whole() -> None:
    assert [tries(count) for count in (1, 31, 32, 96, 100, 1728)] == [1, 31, 24, 24, 25, 432]


def test_a_budget_is_kept() -> None:
    assert [tries(count, 50) for count in (31, 32, 49, 50, 1728)] == [31, 32, 49, 50, 50]
    assert [tries(count, 3) for count in (1, 31, 32, 1728)] == [1, 3, 3, 3]
