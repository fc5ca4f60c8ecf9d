"""Which dummy sizes are tried, and what a curve says."""

import pytest

from gemmviz.core.limits import named_limits
from gemmviz.core.occupancy import estimate
from gemmviz.core.throttle import (
    ThrottleCurve,
    ThrottlePoint,
    compare_curves,
    dummy_steps,
    judge,
    judge_on_cpu,
)


def on_cc90(group_size: int, registers: int):
    row = named_limits("9.0")
    return lambda size: estimate(row, group_size, size, registers).groups_per_unit or 0


def test_each_residency_is_tried_once_and_falls():
    groups_at = on_cc90(256, 36)
    steps = dummy_steps(groups_at, 2048, 232448)
    assert [groups for _, groups in steps] == [6, 5, 4, 3, 2, 1]
    assert steps[0] == (0, 6)
    for dummy, groups in steps:
        for added in (0, 4, 16):  # what a driver adds changes nothing
            assert groups_at(2048 + dummy + added) == groups


def test_many_residencies_are_thinned_and_the_lowest_stays():
    steps = dummy_steps(on_cc90(64, 30), 512, 232448)
    groups = [each for _, each in steps]
    assert len(groups) == 6
    assert groups[0] == 32
    assert groups[-1] == 1
    assert groups == sorted(set(groups), reverse=True)


def test_a_kernel_at_one_group_cannot_be_throttled():
    assert dummy_steps(on_cc90(1024, 64), 8192, 232448) == ((0, 1),)
    assert dummy_steps(lambda _: 4, 40000, 32768) == ((0, 4),)


def test_steps_that_the_hardware_lacks_are_left_out():
    """Intel gives local memory out in powers of two: no size leaves three groups."""
    row = named_limits("DG2")
    steps = dummy_steps(
        lambda size: estimate(row, 256, size).groups_per_unit or 0, 8192, row.per_group_bytes
    )
    assert [groups for _, groups in steps] == [8, 4, 2]


def curve(*pairs: tuple[int, float]) -> tuple[ThrottlePoint, ...]:
    return tuple(
        ThrottlePoint(1024 * index, groups, flops, flops, flops)
        for index, (groups, flops) in enumerate(pairs)
    )


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (curve((6, 100), (3, 99), (1, 97)), "does not matter here: with 1 of 6 groups resident it "
         "keeps 97 % of its speed"),
        (curve((6, 100), (3, 99), (1, 43)), "matters here: with 1 of 6 groups resident it keeps "
         "43 % of its speed. More than 3 groups gain next to nothing."),
        (curve((6, 100), (3, 80), (1, 43)), "keeps 43 % of its speed."),
        (curve((6, 100), (3, 120), (1, 43)), "Less occupancy is better here: 3 of 6 groups "
         "resident give 120 % of its speed."),
        (curve((4, 100)), "Fewer groups cannot be forced"),
        (curve((1, 100)), "One group is resident as it is, and there cannot be fewer"),
    ],
)  # fmt: skip
def test_a_curve_in_words(points, words):
    assert words in judge(points)


def test_a_cpu_is_told_that_it_does_not_apply():
    assert judge_on_cpu(curve((1, 100), (1, 98))).endswith("it keeps 98 % of its speed.")
    assert "does not apply to a CPU" in judge_on_cpu(curve((1, 100)))


def test_the_fastest_kernel_may_have_the_lowest_occupancy():
    """TFLOP/s as measured on an H200 at 2048 and 4096: 8 groups resident, 6, and 1."""
    tiled = ThrottleCurve(curve((8, 6.45e12), (4, 6.23e12), (1, 2.68e12)), "")
    blocked = ThrottleCurve(curve((6, 39.4e12), (3, 31.0e12), (1, 11.9e12)), "")
    best = ThrottleCurve(curve((1, 45.6e12)), "")
    words = compare_curves([("tiled", tiled), ("best", best), ("blocked", blocked)])
    assert words.startswith("The fastest of these, best, has the fewest groups resident (1)")
    assert compare_curves([("best", best)]) == ""
    slow = ThrottleCurve(curve((1, 1e12)), "")
    assert compare_curves([("tiled", tiled), ("slow", slow)]) == ""
