from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.app.policies import chosen_as, with_launches
from gemmviz.app.progress import share_done
from gemmviz.app.samples import SampleBuffer
from gemmviz.core.measurement_words import describe_policy, short_name
from gemmviz.core.model import Samples
from gemmviz.core.policy import CAREFUL, QUICK, STANDARD, UNTIL_STOPPED, fixed
from gemmviz.core.stats import summarize


def buffer_of(seconds):
    at, now = [], 0.0
    for value in seconds:
        now += value
        at.append(now)
    return SampleBuffer.of(Samples((1,) * len(at), tuple(seconds), tuple(at)))


def share(policy, seconds):
    buffer = buffer_of(seconds)
    return share_done(policy, buffer, summarize(buffer.seconds))


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            QUICK,
            "At least 5 samples and 0.1 s of device time, until the median is known to ±3 %, "
            "at most 3 s; 1 warm-up",
        ),
        (fixed(1), "1 launch; 1 warm-up"),
        (replace(fixed(2000), limit_seconds=4.0), "2,000 launches, at most 4 s; 1 warm-up"),
        (UNTIL_STOPPED, "Until stopped; 1 warm-up"),
        (
            replace(CAREFUL, min_seconds=0.0),
            "At least 30 samples, until the median is known to ±0.3 %, at most 60 s; 3 warm-ups",
        ),
    ],
)
def test_a_policy_is_one_sentence_with_every_number(policy, sentence):
    assert describe_policy(policy) == sentence


def test_a_name_keeps_the_cache_and_the_samples():
    own = replace(fixed(5), cache="rotating", per_launch=True)
    assert chosen_as("Careful", own) == replace(CAREFUL, cache="rotating", per_launch=True)
    assert short_name(own) == "5 launches, rotating"
    assert with_launches(STANDARD, None) == STANDARD
    assert with_launches(replace(CAREFUL, warm_ups=1), 9) == replace(fixed(9), limit_seconds=60.0)


def test_progress_is_the_least_of_what_is_asked_for():
    steady = replace(STANDARD, min_samples=100, min_seconds=1.0)
    assert share(steady, [1e-3] * 10) == pytest.approx(0.01)  # device time is the farthest
    assert share(replace(steady, min_seconds=0.0), [1e-3] * 10) == pytest.approx(0.1)
    assert share(replace(steady, min_seconds=0.0), [1e-3] * 100) == 1.0


def test_an_interval_that_is_too_wide_holds_the_progress_back():
    noisy = [1.0, 1.1] * 50
    policy = replace(STANDARD, min_seconds=0.0, limit_seconds=1e6)
    assert share(policy, noisy) == pytest.approx((0.01 / (0.05 / 1.05)) ** 2)
    assert share(replace(policy, limit_seconds=210.0), noisy) == pytest.approx(0.5)


def test_progress_by_launches_and_without_any_end():
    assert share(fixed(40), [1e-3] * 10) == 0.25
    assert share(UNTIL_STOPPED, [1e-3] * 10) is None
    assert share_done(UNTIL_STOPPED, SampleBuffer(), None) is None
    assert share_done(STANDARD, SampleBuffer(), None) == 0.0
    assert share(replace(UNTIL_STOPPED, limit_seconds=2.0), [0.5] * 2) == 0.5
