from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gemmviz.core import stopping
from gemmviz.core.model import Samples
from gemmviz.core.policy import CAREFUL, QUICK, STANDARD, UNTIL_STOPPED, fixed
from gemmviz.core.stats import summarize
from gemmviz.core.stopping import StopRule


def samples_of(seconds, launches: int = 1) -> Samples:
    return Samples([launches] * len(seconds), list(seconds), [0.0] * len(seconds))


def run(rule: StopRule, seconds, launches: int = 1, elapsed_a_sample: float = 0.01):
    """Feeds samples one by one until the rule ends; the reason and how many there were."""
    count = 0
    for count, each in enumerate(seconds, start=1):
        rule.add(samples_of([each], launches))
        if reason := rule.reason(count * elapsed_a_sample):
            return reason, count
    return "", count


@pytest.mark.parametrize(("policy", "count"), [(QUICK, 5), (STANDARD, 10), (CAREFUL, 30)])
def test_even_times_end_at_the_fewest_samples(policy, count):
    assert run(StopRule(policy), [1.0] * 100) == ("steady", count)


def test_the_least_device_time_is_waited_for():
    reason, count = run(StopRule(STANDARD), [1e-3] * 1000)
    assert reason == "steady"
    assert 500 <= count <= 510


def test_noise_is_sampled_until_the_median_is_known():
    seconds = np.random.default_rng(1).lognormal(-3, 0.05, 5000)
    rule = StopRule(STANDARD)
    reason, count = run(rule, seconds.tolist(), elapsed_a_sample=1e-3)
    summary = summarize(seconds[:count])
    assert reason == "steady"
    assert 30 <= count <= 500
    assert (summary.high - summary.low) / 2 / summary.median == rule.half_width <= STANDARD.target


def test_batches_count_per_launch():
    rule = StopRule(replace(STANDARD, min_seconds=0.0, target=0.5))
    assert run(rule, [4.0, 4.4] * 5, launches=4) == ("steady", 10)
    assert rule.half_width == pytest.approx(0.1 / 2 / 1.05)


def test_settled_noise_ends_what_cannot_reach_the_target_in_time():
    seconds = np.random.default_rng(2).lognormal(-3, 0.5, 5000).tolist()
    short = StopRule(replace(STANDARD, limit_seconds=50.0))
    reason, count = run(short, seconds)
    assert reason == "settled"
    assert 64 <= count < 5000
    assert short.half_width > STANDARD.target
    long = StopRule(replace(STANDARD, limit_seconds=1e4))
    assert run(long, seconds) == ("", 5000)


def test_noise_that_changes_has_not_settled():
    rng = np.random.default_rng(3)
    spread = np.geomspace(0.05, 5.0, 400)
    seconds = np.exp(rng.normal(0.0, spread)).tolist()
    assert run(StopRule(replace(STANDARD, limit_seconds=4.5)), seconds) == ("", 400)


def test_time_limit_ends_whatever_is_missing():
    rule = StopRule(replace(STANDARD, limit_seconds=0.05))
    assert run(rule, [1e-6] * 100) == ("limit", 5)
    assert StopRule(STANDARD).reason(15.0) == "limit"
    assert StopRule(replace(STANDARD, limit_seconds=0.0)).reason(0.0) == "limit"


def test_at_the_limit_what_is_steady_is_called_so():
    rule = StopRule(replace(STANDARD, min_seconds=0.0))
    rule.add(samples_of([1.0] * 50))
    assert rule.reason(20.0) == "steady"


def test_wanted_launches_end_a_run_whatever_else():
    assert run(StopRule(fixed(12)), [1.0] * 100, launches=5) == ("launches", 3)
    policy = replace(CAREFUL, launches=8)
    assert run(StopRule(policy), [1.0] * 100) == ("launches", 8)


def test_until_stopped_goes_on_and_computes_nothing(monkeypatch):
    def never(values):
        raise AssertionError

    monkeypatch.setattr(stopping, "summarize", never)
    rule = StopRule(UNTIL_STOPPED)
    for step in range(100):
        rule.add(samples_of([1e-5] * 1000))
        assert rule.reason(float(step)) == ""
    assert rule.half_width is None
    assert run(StopRule(fixed(3)), [1.0] * 10) == ("launches", 3)


def test_looks_become_rare_as_samples_grow(monkeypatch):
    looks = []

    def counted(values):
        looks.append(len(values))
        return summarize(values)

    monkeypatch.setattr(stopping, "summarize", counted)
    rule = StopRule(replace(STANDARD, target=1e-9, limit_seconds=math.inf))
    seconds = np.random.default_rng(4).lognormal(-9, 0.1, 20_000).tolist()
    assert run(rule, seconds, elapsed_a_sample=1 / 30_000) == ("", 20_000)
    assert len(looks) <= 20_000 / 30_000 / 0.01 + 1
    late = [count for count in looks if count > 10_000]
    assert all(after >= 1.01 * before for before, after in pairwise(late))


def test_nothing_measured_does_not_end_a_run():
    rule = StopRule(STANDARD)
    assert rule.reason(1.0) == ""
    rule.add(Samples())
    assert rule.reason(2.0) == ""
    assert run(rule, [0.0] * 20, elapsed_a_sample=0.1) == ("", 20)
    assert rule.half_width is None
