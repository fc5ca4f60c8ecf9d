from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.access.lens import analyse, trace
from gemmviz.core.access.report import Machine
from gemmviz.core.launch import default_parameters
from gemmviz.views.charts.access_banks import bank_map, worst_warp
from gemmviz.views.charts.access_cells import (
    access_scene,
    cells_of,
    execution_at,
    step_count,
    window_start,
)
from gemmviz.views.charts.access_layout import TICKS, lay_out
from tests.views.access_scenes import (
    PROBLEM,
    SIZE,
    mygemm_1,
    transposed_tile,
    variant,
)


def cells(scene, name, step=0, warp=0):
    return cells_of(scene, name, scene.on_matrix(name), step, warp)


# Which cells are touched


def test_the_naive_column_major_kernel_reads_a_down_a_column():
    scene = mygemm_1()
    a, b = (cells(scene, name, step=5) for name in "AB")
    c = cells(scene, "C")
    assert (set(a.rows.tolist()), set(a.cols.tolist())) == (set(range(16)), {5})
    assert (set(b.rows.tolist()), set(b.cols.tolist())) == ({5}, {0, 1})
    assert (set(c.rows.tolist()), set(c.cols.tolist())) == (set(range(16)), {0, 1})
    assert (a.sectors, b.sectors, c.sectors) == (2, 2, 4)


def test_the_swapped_kernel_spreads_over_sixteen_sectors():
    scene = mygemm_1(swapped=True)
    a, b = (cells(scene, name, step=5) for name in "AB")
    assert (set(b.rows.tolist()), set(b.cols.tolist())) == ({5}, set(range(16)))
    assert (a.sectors, b.sectors, cells(scene, "C").sectors) == (1, 16, 16)


def test_a_sector_is_eight_floats_along_memory():
    boxes = cells(mygemm_1(swapped=True), "B", step=5).boxes
    assert boxes[0].tolist() == [0, 0, 0, 8, 1]  # column-major: downwards
    assert len(boxes) == 16
    boxes = cells(transposed_tile(), "B").boxes
    assert boxes[0].tolist() == [0, 0, 0, 1, 8]


def test_a_sector_that_goes_over_the_end_of_a_row_has_two_boxes():
    scene = transposed_tile()
    scene = replace(scene, shapes={**scene.shapes, "A": (20, 20)})
    touches = replace(scene.on_matrix("A"), row_length=20, elements=np.full((1, 256), 18))
    found = cells_of(scene, "A", touches, 0, 0)
    assert found.boxes.tolist() == [[0, 0, 16, 1, 4], [0, 1, 0, 1, 4]]
    assert found.sectors == 1


def test_wide_accesses_touch_all_of_their_elements_and_idle_lanes_none():
    scene = transposed_tile()
    elements = np.full((1, 256), -1)
    elements[0, :2] = 0, 4
    touches = replace(scene.on_matrix("A"), width=4, elements=elements)
    wide = replace(scene.report.accesses[0], element_bytes=16)
    scene = replace(
        scene, report=replace(scene.report, accesses=(wide, *scene.report.accesses[1:]))
    )
    found = cells_of(scene, "A", touches, 0, 0)
    assert found.cols.tolist() == list(range(8))
    assert found.sectors == 1
    touches = replace(touches, elements=np.full((1, 256), -1))
    assert not len(cells_of(scene, "A", touches, 0, 0).rows)


def test_the_group_touches_what_its_warps_touch():
    scene = mygemm_1()
    whole = cells(scene, "C", warp=None)
    assert len(whole.rows) == 256
    assert whole.sectors == 32
    assert cells(scene, "A", warp=None).sectors == 2
    assert cells(scene, "A", warp=None).by_warp == 16  # the same two, eight times


def test_an_outer_loop_stands_still_while_the_inner_one_goes_on():
    scene = transposed_tile()
    tile, inner = scene.on_matrix("A"), scene.on_banks()
    steps = step_count((tile, inner, scene.on_matrix("C")))
    assert steps == SIZE
    assert [execution_at(tile, step, steps) for step in (0, 15, 16, 127)] == [0, 0, 1, 7]
    assert execution_at(scene.on_matrix("C"), 127, steps) == 0
    assert execution_at(inner, 127, steps) == 127


def test_windows_show_what_is_touched_and_move_by_whole_windows():
    assert window_start(0, 15, 32, 128) == 0
    assert window_start(40, 50, 32, 128) == 32
    assert window_start(30, 40, 32, 128) == 30
    assert window_start(120, 127, 32, 126) == 94
    assert window_start(3, 5, 32, 20) == 0
    scene = mygemm_1()
    assert scene.window == {"M": 24, "N": 24, "K": 16}
    assert scene.reach[0] == (0, 0, 16, SIZE)  # rows of the group, every k
    assert scene.reach[1] == (0, 0, SIZE, 16)


@pytest.mark.parametrize("size", [(830, 330), (532, 230), (1100, 420), (360, 600), (240, 160)])
def test_the_matrices_never_overlap(size):
    scene = mygemm_1()
    made = lay_out(*size, scene.window, scene.axes)
    grids = {name: place.grid for name, place in made.places.items()}
    assert grids["A"].top() == grids["C"].top()
    assert grids["B"].left() == grids["C"].left()
    assert grids["A"].height() == grids["C"].height()
    assert grids["A"].right() < grids["C"].left()
    assert grids["B"].bottom() < grids["C"].top()
    assert not grids["A"].intersects(made.places["A"].caption)
    assert not grids["B"].intersects(made.places["A"].caption)
    assert max(grid.bottom() for grid in grids.values()) <= max(size[1], 160)


def test_a_sum_has_its_matrices_side_by_side():
    axes = dict.fromkeys("ABC", ("M", "N"))
    made = lay_out(900, 300, {"M": 32, "N": 32, "K": 16}, axes)
    tops = {place.grid.top() for place in made.places.values()}
    lefts = [made.places[name].grid.left() for name in "ABC"]
    assert len(tops) == 1
    assert lefts == sorted(lefts)


@pytest.mark.parametrize("window", [(1, 1, 1), (2, 1, 24), (1, 24, 2), (4, 4, 4)])
@pytest.mark.parametrize("size", [(1100, 420), (830, 330), (532, 230)])
def test_the_words_of_tiny_matrices_have_room_of_their_own(window, size):
    axes = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}
    made = lay_out(*size, dict(zip("MNK", window, strict=True)), axes)
    words = [place.caption for place in made.places.values()]
    boxes = [*words, made.legend, *(place.grid for place in made.places.values())]
    for index, box in enumerate(boxes):
        assert not any(box.intersects(other) for other in boxes[index + 1 :])
    a = made.places["A"]
    assert a.caption.left() <= a.grid.left() <= a.caption.left() + TICKS


# Banks


def test_a_column_of_a_local_tile_takes_one_pass_for_each_row():
    scene = transposed_tile()
    shown = bank_map(scene, scene.on_banks(), 3, 0)
    assert (shown.rows, shown.ideal) == (8, 1)
    assert {slot.bank for slot in shown.slots} == {3, 19}
    assert sorted(slot.turn for slot in shown.slots) == sorted(list(range(8)) * 2)
    assert all(len(slot.lanes) == 2 for slot in shown.slots)  # both rows of items read the same


def test_a_pad_ends_the_conflict():
    scene = transposed_tile(pad=1)
    shown = bank_map(scene, scene.on_banks(3), 3, 0)
    assert shown.rows == 1
    assert len({slot.bank for slot in shown.slots}) == 16


def test_equal_words_are_one_broadcast():
    scene = transposed_tile()
    shown = bank_map(scene, scene.on_banks(4), 0, 0)
    assert shown.rows == 1
    assert [slot.lanes for slot in shown.slots] == [tuple(range(16)), tuple(range(16, 32))]


def test_another_number_of_banks_gives_other_conflicts():
    scene = transposed_tile()
    scene = replace(scene, report=replace(scene.report, machine=Machine(32, 16)))
    shown = bank_map(scene, scene.on_banks(3), 0, 0)
    assert shown.banks == 16
    assert shown.rows == 16


def test_wide_accesses_go_in_parts_of_a_warp():
    scene = transposed_tile()
    wide = replace(scene.report.accesses[3], element_bytes=16)
    accesses = *scene.report.accesses[:3], wide, scene.report.accesses[4]
    scene = replace(scene, report=replace(scene.report, accesses=accesses))
    lanes = np.arange(256)
    touches = replace(scene.on_banks(3), width=4, elements=4 * lanes[None])
    shown = bank_map(scene, touches, 0, 0)
    assert (shown.rows, shown.ideal) == (4, 4)
    assert [slot.lanes for slot in shown.slots if slot.row == 1][:5] == [(8,)] * 4 + [(9,)]
    shown = bank_map(scene, replace(touches, elements=32 * lanes[None]), 0, 0)
    assert (shown.rows, shown.ideal) == (32, 4)


def test_the_worst_warp_is_the_one_with_most_passes():
    scene = transposed_tile()
    touches = scene.on_banks(3)
    elements = touches.elements.copy()
    elements[0, :32] = 0
    assert worst_warp(scene, replace(touches, elements=elements), 0) == 1


# Real kernels


@pytest.mark.parametrize(
    "name", ["mygemm_1", "mygemm_1b", "tiling_tiled", "barriers_padded", "register_2d"]
)
@pytest.mark.parametrize(
    "machine", [Machine(), Machine(64, 32, "AMD"), Machine(16, 16, "Intel")], ids=lambda m: m.warp
)
def test_what_is_drawn_costs_what_the_report_says(name, machine):
    about = variant(name), default_parameters(variant(name)), PROBLEM, machine
    made = analyse(*about)
    scene = access_scene(about[0], PROBLEM, made, trace(*about))
    for touches in scene.touches:
        told = scene.access(touches)
        times = range(0, len(touches.elements), max(1, len(touches.elements) // 8))
        turns = [(time, warp) for time in times for warp in range(scene.warps)]
        if told.space == "local":
            drawn = [bank_map(scene, touches, *turn) for turn in turns]
            assert max(each.rows for each in drawn) == told.passes
            assert max(each.ideal for each in drawn) == told.ideal_passes
        else:
            drawn = [cells_of(scene, told.matrix, touches, *turn) for turn in turns]
            assert max(each.sectors for each in drawn) == told.sectors
