from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gemmviz.core.stats import (
    RunningQuantiles,
    bin_min_max,
    median,
    median_ranks,
    running_median,
    summarize,
)

durations = st.floats(1e-7, 1e3)


def coverage(count: int, low: int, high: int) -> float:
    """Chance that exactly ``low + 1`` to ``high`` of ``count`` fair coins show heads."""
    logs = [
        math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        for k in range(low + 1, high + 1)
    ]
    return sum(math.exp(log - count * math.log(2)) for log in logs)


@given(st.integers(6, 5000))
def test_interval_of_the_median_covers_it_and_is_the_narrowest_to_do_so(count):
    low, high = median_ranks(count)
    assert low + high == count - 1
    assert coverage(count, low, high) >= (0.95 if count <= 1000 else 0.949)
    if count <= 1000:
        assert coverage(count, low + 1, high - 1) < 0.95


@pytest.mark.parametrize(("count", "ranks"), [(1, (0, 0)), (2, (0, 1)), (5, (0, 4)), (9, (1, 7)),
                                              (20, (5, 14)), (100, (39, 60))])  # fmt: skip
def test_ranks_match_published_tables(count, ranks):
    assert median_ranks(count) == ranks


def test_interval_covers_the_median_of_a_skewed_distribution_as_often_as_promised():
    draws = np.random.default_rng(7).lognormal(0.0, 0.5, (1000, 40))
    summaries = [summarize(row) for row in draws]
    hits = sum(summary.low <= 1.0 <= summary.high for summary in summaries)
    assert 0.94 <= hits / len(summaries) <= 0.985


@given(st.lists(durations, min_size=1, max_size=200), st.randoms(use_true_random=False))
def test_summary_is_ordered_and_does_not_depend_on_the_order(values, random):
    summary = summarize(values)
    assert summary.count == len(values)
    assert summary.minimum <= summary.low <= summary.median <= summary.high <= max(values)
    assert summary.minimum <= summary.q1 <= summary.median <= summary.q3
    assert summary.median == pytest.approx(np.median(values))
    assert (summary.q1, summary.q3) == pytest.approx(tuple(np.quantile(values, (0.25, 0.75))))
    shuffled = list(values)
    random.shuffle(shuffled)
    assert summarize(shuffled) == summary


@pytest.mark.parametrize("values", [(), (math.nan,), (math.inf, math.nan)])
def test_nothing_finite_gives_no_summary(values):
    assert summarize(values) is None
    assert math.isnan(median(values))


def test_what_is_not_finite_is_left_out():
    summary = summarize([1.0, math.nan, 3.0, math.inf, 2.0])
    assert (summary.count, summary.median, summary.low, summary.high) == (3, 2.0, 1.0, 3.0)


@pytest.mark.parametrize("kind", ["smooth", "ties", "sorted", "two values"])
def test_selection_in_long_arrays_is_exact(kind):
    values = np.random.default_rng(3).lognormal(-6, 0.1, 200_001)
    if kind == "ties":
        values = np.round(values, 4)
    elif kind == "sorted":
        values.sort()
    elif kind == "two values":
        values = np.where(values > np.median(values), 2.0, 1.0)
    summary = summarize(values)
    ordered = np.sort(values)
    low, high = median_ranks(len(values))
    assert summary.median == median(values) == np.median(values)
    assert (summary.low, summary.high) == (ordered[low], ordered[high])
    assert (summary.q1, summary.q3) == pytest.approx(tuple(np.quantile(values, (0.25, 0.75))))


def test_running_median_ignores_a_spike_and_keeps_a_step():
    values = np.r_[np.full(50, 1.0), np.full(50, 2.0)]
    values[20] = 100.0
    medians = running_median(values, 9)
    assert medians[20] == 1.0
    assert (medians[:46] == 1.0).all()
    assert (medians[54:] == 2.0).all()


@given(hnp.arrays(np.float64, st.integers(1, 60), elements=durations), st.integers(1, 80))
def test_running_median_is_the_median_of_the_window(values, window):
    medians = running_median(values, window)
    window = min(window, len(values))
    assert len(medians) == len(values)
    for index, value in enumerate(medians):
        start = min(max(index - window // 2, 0), len(values) - window)
        assert value == np.median(values[start : start + window])


def test_running_median_of_a_long_series_follows_it():
    values = np.linspace(1.0, 2.0, 300_000)
    medians = running_median(values, 101)
    assert len(medians) == len(values)
    assert np.abs(medians - values).max() < 1e-3


def test_running_median_of_nothing_and_around_nan():
    assert len(running_median([], 5)) == 0
    assert running_median([1.0, math.nan, 3.0], 3).tolist() == [2.0, 2.0, 2.0]
    assert math.isnan(running_median([math.nan, math.nan], 1)[0])


@given(
    hnp.arrays(np.float64, st.integers(0, 300), elements=st.floats(-1e6, 1e6)),
    st.integers(1, 20),
)
def test_thinning_keeps_extremes_order_and_real_points(values, bins):
    x, y = bin_min_max(np.arange(len(values)), values, bins)
    assert len(x) == len(y) <= max(2 * bins, 0)
    assert (np.diff(x) >= 0).all()
    assert (values[x.astype(int)] == y).all()
    if len(values):
        assert (y.min(), y.max()) == (values.min(), values.max())


def test_thinning_drops_what_is_not_finite():
    x, y = bin_min_max([0, 1, 2, 3], [1.0, math.nan, 3.0, math.inf], 10)
    assert (x.tolist(), y.tolist()) == ([0, 2], [1.0, 3.0])


def test_quantiles_of_very_many_launches_need_little_room():
    # Ever slower: early values must count as much as late ones.
    values = np.sort(np.random.default_rng(3).exponential(size=3_000_000))
    running = RunningQuantiles()
    for part in np.array_split(values, 100_000):
        running.extend(part.tolist())
    assert len(running._kept) <= 2**18
    low, *quartiles, high = running.quantiles
    assert (low, high) == (values.min(), values.max())
    assert quartiles == pytest.approx(np.quantile(values, (0.25, 0.5, 0.75)), rel=0.02)


def test_quantiles_of_few_launches_are_exact():
    running = RunningQuantiles()
    running.extend([])
    assert running.quantiles == ()
    running.extend([3.0, 1.0])
    running.extend([2.0, 5.0, 4.0])
    assert running.quantiles == (1.0, 2.0, 3.0, 4.0, 5.0)
