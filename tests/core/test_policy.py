from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import pytest

from gemmviz.core.policy import (
    CACHE_WORDS,
    CAREFUL,
    PRESETS,
    QUICK,
    STANDARD,
    STOP_WORDS,
    UNTIL_STOPPED,
    Cache,
    Policy,
    StopReason,
    fixed,
    name_of,
)


def test_presets_grow_more_careful_in_every_respect():
    assert list(PRESETS) == ["Quick", "Standard", "Careful"]
    for hasty, careful in ((QUICK, STANDARD), (STANDARD, CAREFUL)):
        assert hasty.min_samples < careful.min_samples
        assert hasty.min_seconds < careful.min_seconds
        assert hasty.target > careful.target
        assert hasty.limit_seconds < careful.limit_seconds
    assert Policy() == STANDARD


@pytest.mark.parametrize(
    ("policy", "values"),
    [(QUICK, (5, 0.1, 0.03, 3)), (STANDARD, (10, 0.5, 0.01, 15)), (CAREFUL, (30, 2, 0.003, 60))],
)
def test_presets_hold_the_documented_values(policy, values):
    found = (policy.min_samples, policy.min_seconds, policy.target, policy.limit_seconds)
    assert found == values


@pytest.mark.parametrize("change", [{}, {"cache": "flush"}, {"per_launch": True}, {"quiet": True}])
def test_name_is_the_presets_whatever_the_cache_batching_and_quiet(change):
    for name, preset in PRESETS.items():
        assert name_of(replace(preset, **change)) == name
    assert name_of(replace(UNTIL_STOPPED, **change)) == "Until stopped"


@pytest.mark.parametrize("change", [{"min_samples": 11}, {"target": 0.02}, {"warm_ups": 2},
                                    {"limit_seconds": 16.0}, {"min_seconds": 0.4}])  # fmt: skip
def test_any_other_change_is_custom(change):
    assert name_of(replace(STANDARD, **change)) == "Custom"


def test_fixed_number_of_launches_ends_for_no_other_reason():
    policy = fixed(50)
    assert name_of(policy) == "50 launches"
    assert (policy.launches, policy.target, policy.limit_seconds) == (50, 0.0, math.inf)


def test_every_reason_and_cache_has_words():
    assert set(STOP_WORDS) == set(get_args(StopReason)) - {""}
    assert set(CACHE_WORDS) == set(get_args(Cache))
