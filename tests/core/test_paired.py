from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.paired import (
    PairedRule,
    Versus,
    compare_pairs,
    describe,
    independent_count,
    margin_of,
)
from gemmviz.core.policy import CAREFUL, QUICK, STANDARD, UNTIL_STOPPED, fixed

TRIALS = 400
ROUNDS = 1000


def resembling(rng, neighbours: float):
    """Log noise of 5 % for each trial and round, correlated between neighbouring rounds."""
    steps = rng.normal(0.0, 0.05, (ROUNDS, TRIALS))
    for index in range(1, ROUNDS):
        steps[index] = math.sqrt(1 - neighbours**2) * steps[index] + neighbours * steps[index - 1]
    return steps


def bursts(rng):
    """In one round of twenty everything takes three times as long."""
    return np.where(rng.random((ROUNDS, TRIALS)) < 0.05, math.log(3), 0.0)


def busy_machine(seed: int, slower: float):
    """Seconds of each round and trial of two kernels, with noise of their own and in common."""
    rng = np.random.default_rng(seed)
    shared = resembling(rng, 0.95) + bursts(rng)
    own = [resembling(rng, 0.2) + bursts(rng) for _ in range(2)]
    return 2e-3 * np.exp(shared + own[0]), 2e-3 * slower * np.exp(shared + own[1])


def words(first, other, looks_apart: int = 30) -> list[str]:
    """The word of each trial, sampled until it is decided or the rounds are used up."""
    found = []
    for trial in range(TRIALS):
        rule = PairedRule(replace(CAREFUL, min_seconds=0.1, limit_seconds=1e3), others=1)
        rounds = list(zip(first[:, trial].tolist(), other[:, trial].tolist(), strict=True))
        for index, seconds in enumerate(rounds):
            rule.add(seconds, (1, 1))
            if index % looks_apart == looks_apart - 1 and rule.reason(float(index)):
                break
        found.append(rule.versus()[0].word)
    return found


def test_the_same_kernel_is_hardly_ever_called_faster_or_slower():
    found = words(*busy_machine(1, 1.0))
    assert found.count("faster") + found.count("slower") < 0.01 * TRIALS


def test_a_kernel_slowed_by_three_percent_is_called_slower():
    found = words(*busy_machine(2, 1.03))
    assert found.count("slower") >= 0.95 * TRIALS
    assert found.count("faster") == 0


def versus_of(ratio: float, spread: float, rounds: int = 200, margin: float = 0.01) -> Versus:
    rng = np.random.default_rng(0)
    other = rng.lognormal(-6, 0.3, rounds)
    return compare_pairs(ratio * np.exp(rng.normal(0, spread, rounds)) * other, other, margin)


@pytest.mark.parametrize(
    ("ratio", "spread", "word"),
    [
        (1.2, 0.01, "faster"),
        (0.8, 0.01, "slower"),
        (1.0, 0.01, "same"),
        (1.005, 0.001, "same"),
        (1.0, 0.2, "undecided"),
        (1.012, 0.02, "undecided"),
    ],
)
def test_word_follows_ratio_and_interval(ratio, spread, word):
    versus = versus_of(ratio, spread)
    assert versus.word == word
    assert versus.ratio_low <= versus.ratio <= versus.ratio_high
    assert versus.ratio == pytest.approx(ratio, rel=3 * spread / math.sqrt(200) + 1e-6)
    assert (versus.rounds, versus.margin) == (200, 0.01)


def test_swapping_the_kernels_inverts_the_ratio():
    rng = np.random.default_rng(4)
    a, b = rng.lognormal(0.05, 0.1, (2, 300))
    forth, back = compare_pairs(a, b, 0.01), compare_pairs(b, a, 0.01)
    assert forth.ratio == pytest.approx(1 / back.ratio)
    assert forth.ratio_low == pytest.approx(1 / back.ratio_high)


def test_noise_in_common_cancels():
    rng = np.random.default_rng(5)
    shared = rng.lognormal(0, 1.0, 100)
    versus = compare_pairs(1.02 * shared, shared * rng.lognormal(0, 1e-3, 100), 0.01)
    assert versus.word == "faster"
    assert versus.ratio_high - versus.ratio_low < 0.01


def test_too_few_rounds_give_a_range_and_no_word():
    other = np.linspace(1.0, 1.1, 14)
    versus = compare_pairs(np.full(14, 2.0), other, 0.01)
    assert versus.word == "undecided"
    assert versus.ratio_low == pytest.approx(2.0 / 1.1)
    assert versus.ratio_high == pytest.approx(2.0)
    assert "range of 14 rounds" in describe(versus, "b", "a")
    assert compare_pairs(np.full(15, 2.0), np.ones(15), 0.01).word == "faster"


def test_rounds_without_two_positive_times_are_left_out():
    first = [1.0] * 20 + [0.0, 1.0, math.nan]
    other = [1.0] * 20 + [1.0, -1.0, 1.0]
    assert compare_pairs(first, other, 0.01).rounds == 20
    assert compare_pairs([0.0], [1.0], 0.01) is None
    assert compare_pairs([], [], 0.01) is None


def test_rounds_that_resemble_their_neighbours_count_as_fewer():
    rng = np.random.default_rng(6)
    plain = rng.normal(size=2000)
    held = np.repeat(rng.normal(size=200), 10)
    assert independent_count(plain, float(np.median(plain))) > 1500
    assert 120 <= independent_count(held, float(np.median(held))) <= 320
    assert independent_count(np.ones(5), 1.0) == 5


@pytest.mark.parametrize(("policy", "margin"), [(QUICK, 0.06), (STANDARD, 0.02), (CAREFUL, 0.01),
                                                (UNTIL_STOPPED, 0.01)])  # fmt: skip
def test_margin_is_twice_the_target_but_at_least_one_percent(policy, margin):
    assert margin_of(policy) == margin


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("faster", "tiled is 1.21 times as fast as naive (1.19 to 1.23, 99.9 % interval of 84 "),
        ("slower", "tiled is slower, 1.21 times as fast as naive (1.19 to 1.23, 99.9 % interval"),
        ("same", "tiled is as fast as naive within 1 %: 1.21 times as fast (1.19 to 1.23, 99.9 %"),
        ("undecided", "tiled against naive is undecided: 1.21 times as fast (1.19 to 1.23, 99.9 "),
    ],
)
def test_sentence_for_each_word(word, expected):
    versus = Versus(word, 1.21, 1.19, 1.23, 0.01, 84, 84)
    assert describe(versus, "tiled", "naive").startswith(expected)


def run(rule: PairedRule, rounds, seconds_a_round: float = 0.01, launches=(1, 1)):
    """Feeds rounds until the rule ends; the reason and how many there were."""
    count = 0
    for count, seconds in enumerate(rounds, start=1):
        rule.add(seconds, launches)
        if reason := rule.reason(count * seconds_a_round):
            return reason, count
    return "", count


def test_comparison_ends_once_decided_but_not_before_the_minimums():
    policy = replace(STANDARD, min_samples=40, min_seconds=0.001)
    assert run(PairedRule(policy, 1), [(3e-3, 2e-3)] * 200) == ("decided", 40)
    policy = replace(STANDARD, min_samples=10, min_seconds=0.5)
    reason, count = run(PairedRule(policy, 1), [(3e-3, 2e-3)] * 200)
    assert reason == "decided"
    assert 100 <= count <= 102


def test_every_word_has_to_be_decided():
    rng = np.random.default_rng(8)
    noisy = np.c_[np.full((60, 2), (3e-3, 2e-3)), 3e-3 * rng.lognormal(0, 0.5, 60)]
    rule = PairedRule(replace(STANDARD, min_seconds=0.0), 2)
    assert run(rule, noisy.tolist(), launches=(1, 1, 1)) == ("", 60)
    assert [versus.word for versus in rule.versus()] == ["faster", "undecided"]


def test_comparison_ends_at_the_limit_and_at_the_launches():
    rng = np.random.default_rng(9)
    rounds = rng.lognormal(-6, 0.5, (400, 2)).tolist()
    assert run(PairedRule(replace(STANDARD, limit_seconds=0.2), 1), rounds) == ("limit", 20)
    rule = PairedRule(fixed(30), 1)
    assert run(rule, rounds, launches=(3, 2)) == ("launches", 15)
    assert rule.versus()[0].rounds == 15
    assert run(PairedRule(UNTIL_STOPPED, 1), [(3e-3, 2e-3)] * 100) == ("", 100)


def test_comparison_gives_up_where_no_word_is_in_reach():
    rng = np.random.default_rng(10)
    rounds = rng.lognormal(-6, 1.0, (4000, 2)).tolist()
    rule = PairedRule(replace(STANDARD, limit_seconds=60.0), 1)
    reason, count = run(rule, rounds)
    assert reason == "settled"
    assert 64 <= count < 4000


def test_seconds_are_taken_per_launch():
    rule = PairedRule(STANDARD, 1)
    for _ in range(20):
        rule.add((2.0, 3.0), (4, 12))
    assert rule.versus()[0].ratio == 2.0


def test_without_a_usable_round_nothing_is_decided():
    rule = PairedRule(replace(STANDARD, min_seconds=0.0), 1)
    assert rule.versus() == ()
    assert run(rule, [(0.0, 1e-3)] * 30) == ("", 30)
    assert rule.versus() == ()
