"""What a sweep would measure, and what is ruled out before anything is compiled."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from gemmviz.core.feasibility import refusal
from gemmviz.core.model import Problem
from gemmviz.core.sweep import Sweep
from gemmviz.core.sweep_plan import (
    MOST_TRIED,
    SweepError,
    combinations,
    expected,
    foreseen_seconds,
    plan,
)
from tests.core.sweeps import HERE, kernel, make_sweep

WORK = kernel("work_1d")


def sweep_of(*axes: tuple[str, tuple[int, ...]], sizes: tuple[int, ...] = (64,)) -> Sweep:
    problems = tuple(Problem(size, size, size) for size in sizes)
    return Sweep((WORK,), (("work_1d", axes),), problems, (HERE,))


def test_configurations_come_by_device_problem_kernel_and_parameters() -> None:
    sweep = sweep_of(("TS", (16, 8)), ("WPT", (1, 2)), sizes=(64, 32))
    found = [(each.problem.m, *dict(each.parameters).values())
             for each in plan(sweep).configurations]  # fmt: skip
    assert found == [
        (64, 16, 1), (64, 16, 2), (64, 8, 1), (64, 8, 2),
        (32, 16, 1), (32, 16, 2), (32, 8, 1), (32, 8, 2),
    ]  # fmt: skip


def test_a_parameter_that_is_not_named_takes_all_its_values() -> None:
    planned = plan(sweep_of(("TS", (8,))))
    assert [dict(each.parameters)["WPT"] for each in planned.configurations] == [1, 2, 4, 8]


def test_what_cannot_run_is_counted_with_its_reason() -> None:
    small = replace(HERE, max_work_group_size=256, local_mem_bytes=4096)
    planned = plan(replace(sweep_of(), devices=(small,)))
    assert planned.tried == combinations(sweep_of()) == 16
    for configuration in planned.configurations:
        assert refusal(WORK, configuration.parameters, configuration.problem, small) is None
    assert {dict(each.configuration.parameters)["TS"] for each in planned.refused} >= {32, 64}
    reasons = dict(planned.reasons)
    assert sum(reasons.values()) == len(planned.refused) > 0
    assert any("local memory" in reason for reason in reasons)


def test_the_same_rule_is_counted_once_whatever_the_values() -> None:
    planned = plan(make_sweep(axes=(("BM", (32,)), ("BN", (32, 64)), ("BK", (8,)), ("TM", (2,)),
                                    ("TN", (2,)), ("PAD", (0, 1)))))  # fmt: skip
    reasons = dict(planned.reasons)
    assert all("here" not in reason for reason in reasons)
    assert max(reasons.values(), default=0) > 1


def test_axes_that_the_kernel_has_not() -> None:
    with pytest.raises(SweepError, match="work_1d has no parameter BM; it has: TS, WPT"):
        plan(sweep_of(("BM", (1,))))
    with pytest.raises(SweepError, match="WPT of work_1d: 3 is not among its values: 1, 2, 4, 8"):
        plan(sweep_of(("WPT", (1, 3))))
    with pytest.raises(SweepError, match="WPT of work_1d: there is none"):
        plan(sweep_of(("WPT", ())))


def test_too_many_combinations_are_said_and_not_tried() -> None:
    sizes = tuple(range(1, MOST_TRIED // 16 + 2))
    with pytest.raises(SweepError, match="200,016 combinations; take fewer"):
        plan(sweep_of(sizes=sizes))


def test_more_work_and_fewer_processors_take_longer() -> None:
    few, many = sweep_of(("TS", (8,))), sweep_of()
    first = foreseen_seconds(few, plan(few), 2)
    assert first < foreseen_seconds(many, plan(many), 2)
    assert first < foreseen_seconds(few, plan(few), 1)
    every = replace(few, strategy="exhaustive")
    assert first < foreseen_seconds(every, plan(every), 2)


def test_a_model_tries_a_share_of_each_large_space() -> None:
    sweep = replace(make_sweep(("register_2d", "tiled"), (64, 128)), strategy="model")
    planned = plan(sweep)
    spaces = Counter((each.problem, each.variant) for each in planned.configurations)
    assert {count > 32 for count in spaces.values()} == {True, False}
    shares = sum(max(24, count // 4) if count > 32 else count for count in spaces.values())
    assert expected(sweep, planned.configurations) == shares
    assert expected(replace(sweep, strategy="racing"), planned.configurations) == len(
        planned.configurations
    )
    racing = foreseen_seconds(replace(sweep, strategy="racing"), planned, 2)
    assert foreseen_seconds(sweep, planned, 2) < racing
