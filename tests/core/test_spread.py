from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.spread import Spread, describe_spread, outlier_mask, spread_of

SEEDS = 200


def resembling(rng, count: int, neighbours: float = 0.9):
    """Noise in which each value resembles the one before."""
    values = rng.normal(0.0, 1.0, count)
    for index in range(1, count):
        values[index] += neighbours * values[index - 1]
    return values


ONE_HEAP = {
    "normal": lambda rng, count: rng.normal(1.0, 0.02, count),
    "lognormal": lambda rng, count: rng.lognormal(0.0, 0.5, count),
    "skewed": lambda rng, count: 1 + 0.05 * rng.lognormal(0.0, 1.0, count),
    "exponential tail": lambda rng, count: 1 + rng.exponential(0.05, count),
    "uniform": lambda rng, count: rng.uniform(1.0, 1.2, count),
    "rare bursts": lambda rng, count: (
        rng.normal(1.0, 0.02, count) * np.where(rng.random(count) < 0.05, 3.0, 1.0)
    ),
    "steps of the timer": lambda rng, count: np.round(rng.normal(1.0, 0.02, count), 2),
    "coarse steps": lambda rng, count: np.round(rng.normal(1.0, 0.02, count) / 0.03) * 0.03,
    "alike neighbours": lambda rng, count: 1 + 0.01 * resembling(rng, count),
}


@pytest.mark.parametrize("kind", ONE_HEAP)
def test_one_heap_is_not_taken_for_two(kind):
    for seed in range(SEEDS):
        values = ONE_HEAP[kind](np.random.default_rng(seed), (60, 300, 1000, 2000)[seed % 4])
        assert spread_of(1e-3 * values).modes == ()


@pytest.mark.parametrize(
    ("share", "apart", "count"),
    [(0.5, 4, 1000), (0.3, 4, 2000), (0.15, 4, 20_000), (0.85, 4, 20_000), (0.5, 6, 300),
     (0.15, 6, 2000), (0.85, 6, 2000)],
)  # fmt: skip
def test_two_heaps_are_found(share, apart, count):
    seeds = 40
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        upper = rng.random(count) < share
        values = rng.normal(0.0, 0.02, count) + np.where(upper, 1 + 0.02 * apart, 1.0)
        if modes := spread_of(1e-3 * values).modes:
            found.append(modes)
    assert len(found) >= 0.95 * seeds
    centres = np.median(found, axis=0)
    assert centres == pytest.approx((1e-3, (1 + 0.02 * apart) * 1e-3), abs=2e-5)


def test_heaps_without_width_are_two_and_a_single_value_is_one():
    pair = np.where(np.arange(400) % 3, 1.0, 2.0)
    pair += np.random.default_rng(1).normal(0.0, 1e-6, 400)
    assert spread_of(pair).modes == pytest.approx((1.0, 2.0), rel=1e-3)
    assert spread_of(np.ones(400)).modes == ()
    assert spread_of(np.r_[np.zeros(300), np.ones(40)]).modes == ()


@pytest.mark.parametrize("count", [90, 1000, 100_000])
@pytest.mark.parametrize("way", [1, -1])
def test_drift_is_found_and_has_the_right_size(count, way):
    noise = np.random.default_rng(2).normal(1.0, 0.01, count)
    spread = spread_of(noise * (1 + way * np.linspace(0.0, 0.06, count)))
    assert spread.drifts
    assert spread.drift == pytest.approx(way * 0.04, abs=0.006)


def test_noise_does_not_drift_even_where_neighbours_are_alike():
    drifting = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        drifting += spread_of(rng.lognormal(0.0, 0.2, 600)).drifts
        drifting += spread_of(np.exp(0.05 * resembling(rng, 3000, 0.7))).drifts
    assert drifting <= 0.01 * 2 * SEEDS


def test_a_drift_too_small_to_matter_is_none():
    spread = spread_of(np.linspace(1.0, 1.004, 3000))
    assert spread.drift == pytest.approx(0.00267, abs=1e-4)
    assert not spread.drifts


def test_few_values_say_little():
    assert spread_of([]) is None
    assert spread_of([1.0, 2.0, math.nan, math.inf]) is None
    spread = spread_of([1.0, 2.0, 3.0])
    assert (spread.iqr_seconds, spread.drift, spread.drifts, spread.modes) == (1.0, None, False, ())
    assert spread_of(np.arange(1.0, 13.0)).drift == pytest.approx(10.5 / 2.5 - 1)
    assert not spread_of(np.arange(1.0, 13.0)).drifts
    assert spread_of(np.zeros(30)).drift is None


def test_outliers_are_marked_in_place():
    values = np.random.default_rng(3).normal(1.0, 0.01, 500)
    values[[7, 70]] = 3.0, 0.2
    mask = outlier_mask(values)
    assert mask[[7, 70]].all()
    assert mask.sum() <= 10
    assert spread_of(values).outliers == mask.sum()
    assert spread_of(values).farthest == pytest.approx(2.0, rel=0.01)


def test_fences_of_a_skewed_tail_are_farther_than_tukeys():
    values = 1 + np.random.default_rng(4).exponential(1.0, 50_000)
    q1, q3 = np.quantile(values, (0.25, 0.75))
    tukey = int((values > q3 + 1.5 * (q3 - q1)).sum())
    assert 0 < outlier_mask(values).sum() < 0.75 * tukey


def test_a_step_of_the_timer_is_no_outlier_among_equal_values():
    values = np.ones(100)
    values[:3] = 1.005, 0.995, 1.5
    assert np.flatnonzero(outlier_mask(values)).tolist() == [2]


def test_mask_is_as_long_as_the_values_and_knows_what_is_not_finite():
    assert outlier_mask([]).tolist() == []
    assert outlier_mask([1.0, 9.0]).tolist() == [False, False]
    assert outlier_mask([1.0, math.inf, 1.0, math.nan, 1.0]).tolist() == [
        False, True, False, False, False
    ]  # fmt: skip


STEADY = Spread(1e-5, 3, 0.001, False, (), 100, 1e-3, 0.2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"drifts": True, "drift": 0.0123}, "last third of the launches was 1.2 % slower"),
        ({"drifts": True, "drift": -0.25}, "last third of the launches was 25 % faster"),
        ({"modes": (1e-3, 1.2e-3)}, "at two places, 1.00 ms and 1.20 ms"),
        ({"iqr_seconds": 1.5e-4}, "quartiles are 15 % of the median apart"),
        ({"farthest": 34.0}, "3 of 100 values, by up to 3400 %"),
    ],
)
def test_remarks_name_what_is_unusual(change, words):
    (remark,) = describe_spread(replace(STEADY, **change))
    assert words in remark
    assert remark.endswith(".")


def test_steady_samples_need_no_remark():
    assert describe_spread(STEADY) == ()
    assert describe_spread(replace(STEADY, modes=(1e-3, 1.001e-3))) == ()
    assert describe_spread(spread_of(np.random.default_rng(5).normal(1e-3, 1e-5, 1000))) == ()
    assert describe_spread(spread_of(np.zeros(30))) == ()


def test_a_long_run_is_judged_like_its_parts():
    rng = np.random.default_rng(6)
    values = rng.normal(1.0, 0.02, 1_000_000) + np.where(rng.random(1_000_000) < 0.4, 0.1, 0.0)
    spread = spread_of(values)
    assert spread.modes == pytest.approx((1.0, 1.1), rel=5e-3)
    assert spread.count == 1_000_000
    assert not spread.drifts
