"""Sectors, lines and passes by the rules of each vendor."""

from __future__ import annotations

import numpy as np
import pytest

from gemmviz.core.access.report import Machine
from gemmviz.core.access.strides import Grid, describe, global_effect
from gemmviz.core.access.warps import Costs, Rows, costs, touched_bytes

NVIDIA = Machine(32, 32, "NVIDIA")
NOBODY = np.iinfo(np.int64).min


def cost(offsets: list[int], size: int, machine: Machine = NVIDIA, *, local: bool = True) -> Costs:
    row = np.array([offsets], dtype=np.int64)
    return costs(Rows(row, np.ones(1, dtype=np.int64)), 1, size, machine, local=local)


@pytest.mark.parametrize(
    ("stride", "passes"), [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (0, 1)]
)
def test_strides_of_words_on_32_banks(stride: int, passes: int) -> None:
    found = cost([4 * stride * lane for lane in range(32)], 4)
    assert (found.units.item(), found.ideal.item()) == (passes, 1)
    assert found.lines.item() == passes


@pytest.mark.parametrize(("size", "ideal"), [(8, 2), (16, 4), (32, 8), (12, 3)])
def test_wide_accesses_go_in_parts_of_a_warp(size: int, ideal: int) -> None:
    beside = cost([size * lane for lane in range(32)], size)
    assert beside.ideal.item() == ideal
    if size in (8, 16):
        assert beside.units.item() == ideal
    alike = cost([0] * 32, size)
    assert alike.units.item() == ideal
    far = cost([128 * lane for lane in range(32)], size)
    assert far.units.item() > ideal


def test_narrow_accesses_share_words() -> None:
    assert cost([2 * lane for lane in range(32)], 2).units.item() == 1
    assert cost(list(range(32)), 1).units.item() == 1


def test_vendors_differ() -> None:
    strided = [8 * lane for lane in range(64)]
    amd = Machine(64, 32, "AMD")
    assert cost([4 * lane for lane in range(64)], 4, amd).units.item() == 2  # two runs of 32 lanes
    assert cost(strided, 4, amd).units.item() == 4
    assert cost(strided, 4, Machine(64, 64, "AMD")).units.item() == 2  # gfx950 has twice the banks
    assert cost([16 * lane for lane in range(64)], 16, amd).units.item() == 8  # phases of 8 lanes
    intel = Machine(16, 16, "Intel")
    assert cost([4 * lane for lane in range(16)], 4, intel).units.item() == 1
    assert cost([8 * lane for lane in range(16)], 4, intel).units.item() == 2
    assert cost([64 * lane for lane in range(16)], 4, intel).units.item() == 16


def test_sectors_and_lines() -> None:
    found = cost([4 * lane for lane in range(32)], 4, local=False)
    assert (found.units.item(), found.lines.item(), found.ideal.item()) == (4, 1, 4)
    shifted = cost([4 * lane + 16 for lane in range(32)], 4, local=False)
    assert (shifted.units.item(), shifted.lines.item()) == (5, 2)
    assert cost([512 * lane for lane in range(32)], 4, local=False).units.item() == 32
    assert cost([0] * 32, 4, local=False).units.item() == 1
    # Sixteen bytes that start four in front of a sector's end touch both.
    assert cost([28], 16, local=False).units.item() == 2
    assert cost([124], 64, local=False).units.item() == 3
    assert cost([-4, 0], 4, local=False).units.item() == 2


def test_lanes_that_take_no_part_cost_nothing() -> None:
    found = cost([NOBODY] * 32 + [0] + [NOBODY] * 31, 4, local=False)
    assert found.lanes.tolist() == [[[0, 1]]]
    assert found.units.tolist() == [[[0, 1]]]
    assert found.distinct.tolist() == [[[0, 1]]]
    assert found.ideal.tolist() == [[[0, 1]]]
    assert cost([NOBODY] * 32, 4).units.item() == 0


def test_a_group_that_fills_no_whole_warp() -> None:
    assert cost([4 * lane for lane in range(40)], 4, local=False).units.tolist() == [[[4, 1]]]
    assert cost([4 * lane for lane in range(40)], 4, Machine(24, 32)).units.shape == (1, 1, 2)


def test_distinct_bytes() -> None:
    assert touched_bytes([np.array([0, 4, 4, 8]), np.array([NOBODY, 100])], 4) == 16
    assert touched_bytes([np.array([0, 8, 16])], 16) == 32
    assert touched_bytes([np.array([0, 2**40])], 4) == 8
    assert touched_bytes([np.array([NOBODY])], 4) == 0


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ([7] * 32, "all the same element"),
        (list(range(32)), "neighbours in a row"),
        ([32 * 64 * lane for lane in range(32)], "32 rows apart"),
        ([64 * lane for lane in range(32)], "1 row apart"),
        ([3 * lane for lane in range(32)], "3 elements apart"),
        ([100 - lane for lane in range(32)], "1 element apart back"),
        (
            [64 * (lane % 16) + lane // 16 for lane in range(32)],
            "2 × 16 lanes 1 row apart, runs side by side",
        ),
        (
            [64 * (lane // 16) + lane % 16 for lane in range(32)],
            "2 × 16 neighbours, runs 1 row apart",
        ),
        ([lane // 8 for lane in range(32)], "4 × 8 lanes on one element, runs side by side"),
        ([lane % 8 for lane in range(32)], "4 × 8 neighbours, all runs alike"),
        ([5, 3, 8, 1], "scattered"),
        ([5], "one lane alone"),
        ([], "no lane takes part"),
    ],
)
def test_patterns_in_words(elements: list[int], words: str) -> None:
    assert describe(np.array(elements, dtype=np.int64), 1, Grid(64)) == words


def test_patterns_of_columns_and_vectors() -> None:
    places = np.arange(32, dtype=np.int64)
    assert describe(places * 64, 1, Grid(64, "column")) == "1 column apart"
    assert describe(places * 4, 4, Grid(64)) == "neighbours in a row"


def test_what_strides_mean_for_global_memory() -> None:
    assert global_effect(32, 1, 1, 1, 0.125) == "broadcast"
    assert global_effect(32, 32, 4, 4, 1.0) == "coalesced"
    # The fewest sectors that hold two elements, most of whose bytes nobody uses.
    assert global_effect(32, 2, 1, 1, 0.25) == "fewest sectors"
    assert global_effect(32, 32, 32, 4, 0.125) == "one sector per lane"
    assert global_effect(32, 32, 16, 4, 0.25) == "not coalesced"
    assert global_effect(32, 32, 5, 4, 0.8) == "5 sectors where 4 would do"
