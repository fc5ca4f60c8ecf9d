"""The best guess of how much longer one kernel takes than another, on times that were made up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gemmviz.core.ranking import estimate
from gemmviz.core.stats import Floats

LONGER = 1.04


def scattered(seed: int, count: int, spread: float, factor: float = 1.0) -> Floats:
    """Times of which the logarithm scatters by ``spread``."""
    noise = np.random.default_rng(seed).normal(0.0, spread, count)
    values: Floats = 1e-3 * factor * np.exp(noise)
    return values


def test_the_ratio_of_two_and_its_error() -> None:
    misses, errors = 0, []
    for seed in range(100):
        found = estimate(scattered(2 * seed, 80, 0.1, LONGER), scattered(2 * seed + 1, 80, 0.1))
        assert found is not None
        errors.append(found.error)
        misses += abs(found.log_ratio - math.log(LONGER)) > 1.96 * found.error
    assert np.median(errors) == pytest.approx(0.1 * math.sqrt(2 / 80), rel=0.25)
    assert misses <= 12  # of the 5 that are to be expected


def test_launches_that_were_held_up_for_long_do_no_harm() -> None:
    first, other = scattered(1, 60, 0.01, LONGER), scattered(2, 60, 0.01)
    other[::7] *= 20
    found = estimate(first, other)
    assert found is not None
    assert found.log_ratio == pytest.approx(math.log(LONGER), abs=0.01)


def test_on_a_busy_machine_the_work_tells_more_than_the_times() -> None:
    right = {"times": 0, "both": 0}
    for seed in range(100):
        times = scattered(4 * seed, 24, 0.3, LONGER), scattered(4 * seed + 1, 24, 0.3)
        work = scattered(4 * seed + 2, 24, 0.03, LONGER), scattered(4 * seed + 3, 24, 0.03)
        alone, both = estimate(*times), estimate(*times, *work)
        assert alone is not None
        assert both is not None
        assert both.error < alone.error / 2
        right["times"] += alone.log_ratio > 0
        right["both"] += both.log_ratio > 0
    assert right["times"] < 90
    assert right["both"] >= 98


def test_where_the_times_are_sure_the_work_says_nothing() -> None:
    """A kernel that leaves a processor idle works less and takes longer all the same."""
    times = scattered(1, 200, 0.01, LONGER), scattered(2, 200, 0.01)
    work = scattered(3, 200, 0.001, 0.9), scattered(4, 200, 0.001)
    found = estimate(*times, *work)
    assert found is not None
    assert found.log_ratio == pytest.approx(math.log(LONGER), abs=0.005)
    still = np.full(9, 1.0), np.full(9, 2.0)
    certain = estimate(*still, np.linspace(1, 2, 9), np.full(9, 1.0))
    assert certain is not None
    assert (certain.log_ratio, certain.error) == (math.log(0.5), 0.0)


def test_few_rounds_have_no_error_and_none_no_estimate() -> None:
    few = estimate(np.array([2.0, 2.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    assert few is not None
    assert few.log_ratio == pytest.approx(math.log(2))
    assert few.error == math.inf
    assert estimate(np.array([0.0, 1.0]), np.array([1.0, math.nan])) is None
