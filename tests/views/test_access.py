from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from gemmviz.core.access.lens import analyse, trace
from gemmviz.core.access.marks import access_tone, pass_words, sector_tone, sector_words
from gemmviz.core.access.report import Machine, Pad, Unknown
from gemmviz.core.launch import default_parameters
from gemmviz.views.charts.access_banks import bank_map, worst_warp
from gemmviz.views.charts.access_captions import caption_lines
from gemmviz.views.charts.access_cells import (
    access_scene,
    cells_of,
    execution_at,
    step_count,
    window_start,
)
from gemmviz.views.charts.access_layout import TICKS, lay_out
from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.access_words import (
    access_chart,
    machine_words,
    pad_words,
    total_parts,
    totals,
    unknown_lines,
)
from gemmviz.views.theme import DARK, series_color
from tests.views.access_scenes import (
    PROBLEM,
    SIZE,
    access,
    local_access,
    mygemm_1,
    report,
    transposed_tile,
    variant,
)


@pytest.fixture
def chart(qtbot):
    chart = AccessMapChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(900, 700)
    chart.show()
    chart.settle()
    return chart


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


# The chart


def color_at(chart, name: str, row: int, col: int) -> str:
    """The colour of a cell near its corner: its middle may hold the number of its sector."""
    box = chart._matrices.box(name, row, col)
    place = chart._matrices.mapToScene(box.topLeft()) + QPointF(3, 3)
    return chart.grab().toImage().pixelColor(int(place.x()), int(place.y())).name()


def test_touched_cells_have_the_colour_of_their_sector(chart):
    chart.set_scene(mygemm_1())
    chart.set_step(5)
    chart.settle()
    assert color_at(chart, "A", 3, 5) == series_color(0)
    assert color_at(chart, "A", 11, 5) == series_color(1)
    assert color_at(chart, "A", 11, 6) not in {series_color(0), series_color(1)}
    assert color_at(chart, "C", 12, 1) == series_color(3)
    assert color_at(chart, "C", 20, 1) not in {series_color(index) for index in range(8)}


def test_what_is_fetched_but_not_used_is_fainter(chart):
    chart.set_scene(mygemm_1(swapped=True))
    chart.set_step(5)
    chart.settle()
    panel = QColor(DARK.panel)
    used, unused = QColor(color_at(chart, "B", 5, 3)), QColor(color_at(chart, "B", 2, 3))
    assert used.name() == series_color(3)
    assert unused.name() not in (used.name(), panel.name())

    def apart(color: QColor) -> int:
        return sum(abs(getattr(color, c)() - getattr(panel, c)()) for c in ("red", "green", "blue"))

    assert apart(unused) < apart(used)


def test_the_two_mappings_are_told_apart_in_words_too(chart):
    said = []
    for swapped in (False, True):
        chart.set_scene(mygemm_1(swapped))
        shown = chart._matrices.shown
        said.append([caption_lines(chart._scene, shown[name], 0)[0] for name in "ABC"])
    assert said[0] == [("✓ 2 sectors: ideal", "good"), ("! 2 sectors, ideal 1", "warn"),
                       ("✓ 4 sectors: ideal", "good")]  # fmt: skip
    assert said[1] == [("✓ 1 sector: ideal", "good"), ("✗ 16 sectors, ideal 2", "bad"),
                       ("✗ 16 sectors, ideal 4", "bad")]  # fmt: skip


def test_steps_move_the_picture_and_say_where_it_is(chart):
    chart.set_scene(mygemm_1())
    assert chart.steps == SIZE
    chart.set_step(40)
    assert chart.describe_step() == "k = 40, execution 41 of 128 (A, line 33)"
    assert chart._matrices.shown["A"].first == (0, 32)
    assert chart._matrices.shown["B"].first == (32, 0)
    chart.set_step(9999)
    assert "execution 128 of 128" in chart.describe_step()


def test_the_chosen_access_is_what_is_shown_and_followed(chart):
    chart.set_scene(transposed_tile())
    assert chart._banks.bank_map.rows == 8  # the worst, while nothing is chosen
    chart.choose(4)
    assert chart._banks.bank_map.rows == 1
    chart.choose(0)
    chart.set_step(16)
    assert "execution 2 of 8" in chart.describe_step()
    assert chart.describe_step().startswith("k = 16 to 31")


def test_a_kernel_without_local_memory_says_so(chart):
    chart.set_scene(mygemm_1())
    chart.settle()
    assert chart._banks.bank_map is None
    (line,) = chart._bank_heading.text[1]
    assert "no local memory" in line.text
    assert chart._bank_heading.isVisible()
    assert not chart._banks.isVisible()


@pytest.mark.parametrize(
    ("size", "banks_first", "matrices", "banks"),
    [
        ((900, 700), False, True, True),
        ((830, 330), False, True, True),
        ((500, 230), False, True, False),
        ((500, 230), True, False, True),
    ],
)
def test_what_has_no_room_gives_way(chart, size, banks_first, matrices, banks):
    chart.set_scene(transposed_tile())
    chart.prefer(banks=banks_first)
    chart.resize(*size)
    chart.settle()
    assert chart._matrices.isVisible() is matrices
    assert chart._banks.isVisible() is banks
    assert not chart.grab().isNull()


def test_pointing_at_a_cell_tells_sector_and_lanes(chart):
    chart.set_scene(mygemm_1())
    chart.set_step(5)
    chart.settle()
    place = chart._matrices.mapToScene(chart._matrices.box("A", 3, 5).center())
    chart.scene().sigMouseMoved.emit(place)
    text = chart._hover.text
    for part in ("A: row 3, column 5", "sector 80", "lanes 3, 19"):
        assert part in text
    place = chart._matrices.mapToScene(chart._matrices.box("A", 20, 5).center())
    chart.scene().sigMouseMoved.emit(place)
    assert "not touched" in chart._hover.text
    chart.scene().sigMouseMoved.emit(QPointF(-5, -5))
    assert chart._hover.text == ""


def test_pointing_at_a_bank_tells_who_waits(chart):
    chart.set_scene(transposed_tile())
    chart.settle()
    slot = next(slot for slot in chart._banks.bank_map.slots if slot.turn == 2)
    chart.scene().sigMouseMoved.emit(chart._banks.mapToScene(chart._banks.box(slot).center()))
    assert "pass 3" in chart._hover.text
    assert "waits" in chart._hover.text
    assert "lanes 4, 20" in chart._hover.text


def test_the_whole_group_is_shown_with_the_banks_of_its_worst_warp(chart):
    chart.set_scene(transposed_tile())
    chart.set_warp(None)
    assert len(chart._matrices.shown["C"].cells.rows) == 256
    words, tone = caption_lines(chart._scene, chart._matrices.shown["C"], None)[0]
    assert words == "32 sectors by 8 warps"
    assert tone == "text"
    assert chart._banks.bank_map.rows == 8


def test_one_element_is_said_to_be_one(chart):
    scene = mygemm_1()
    shared = replace(scene.touches[0], elements=np.zeros((1, 256), dtype=np.int64))
    alone = replace(shared, elements=np.where(np.arange(256) == 0, 0, -1)[None])
    said = []
    for touches in (shared, alone):
        chart.set_scene(replace(scene, touches=(touches, *scene.touches[1:])))
        said.append([text for text, _ in
                     caption_lines(chart._scene, chart._matrices.shown["A"], 0)[:2]])  # fmt: skip
    assert said == [["✓ 1 sector: ideal", "one element for all lanes"],
                    ["✓ 1 sector: ideal", "one lane"]]  # fmt: skip


def test_an_empty_chart_forgets_everything(chart):
    chart.set_scene(transposed_tile())
    chart.set_scene(None)
    assert chart.is_empty()
    assert chart.steps == 0
    assert chart.describe_step() == ""
    assert not chart.grab().isNull()


# Words


def test_tones_follow_the_cost():
    assert sector_tone(4, 4) == "good"
    assert sector_tone(2, 1) == "warn"  # no more than 32 floats in a row cost
    assert sector_tone(5, 4) == "warn"
    assert sector_tone(16, 2) == "bad"
    assert access_tone(access("A", 32, 4)) == "bad"
    assert access_tone(local_access("As", 1, 3)) == "good"
    assert access_tone(local_access("As", 2, 3)) == "bad"
    assert access_tone(replace(access("A", 32, 4), ideal_sectors=None)) == ""
    assert sector_words(1, 1) == sector_words(1, 4) == "1 sector: ideal"
    assert sector_words(16, 2) == "16 sectors, ideal 2"
    assert sector_words(16, None) == "16 sectors"
    assert pass_words(1, 1, broadcast=True) == "1 pass, broadcast"
    assert pass_words(8, 1, broadcast=True) == "8 passes: 8-way conflict"
    assert pass_words(4, 4) == "4 passes: ideal"
    assert pass_words(8, 4) == "8 passes, ideal 4"


def test_what_is_unknown_makes_the_totals_lower_bounds():
    made = replace(
        report(access("A", 4, 4)),
        unknowns=tuple(Unknown(line, "goto cannot be followed") for line in range(3, 8)),
    )
    lines = unknown_lines(made)
    assert "lower bounds" in lines[0]
    assert totals(replace(made, intensity=None, reuse=None)) == (
        "global at least 1 MiB asked, at least 4 MiB moved in whole sectors  ·  "
        "local at least 256 KiB  ·  4.19 MFLOP"
    )
    assert lines[1] == "Line 3: goto cannot be followed"
    assert lines[-1] == "and 2 more"
    assert unknown_lines(report()) == ()


def test_totals_and_machine_in_words():
    assert totals(report()) == (
        "global 1 MiB asked, 4 MiB moved in whole sectors (25 % used)  ·  4 FLOP/B  ·  "
        "reuse 1 × naive  ·  local 256 KiB  ·  4.19 MFLOP"
    )
    made = report(local_access("As", 2, 3), local_access("Bs", 8, 4), local_access("Cs", 1, 5))
    assert totals(made).startswith("8-way bank conflict  ·  global ")
    short = [words for _, words in total_parts(made)]
    assert short[:2] == ["8-way conflict", "25 % used"]
    assert totals(replace(report(), sector_bytes=0)).startswith("4 FLOP/B")
    assert machine_words(Machine()) == "32 lanes and 32 banks: assumed"


def test_the_best_pad_is_told_against_none():
    pads = (Pad(0, ((3, 8),), 800, 2048), Pad(1, ((3, 1),), 100, 2176))
    assert pad_words(pads, pads[1]) == "Pad +1: 100 passes instead of 800"
    assert pad_words(pads[:1], pads[0]) == "No pad does better than none: 800 passes"
    assert pad_words((), None) == ""


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


def test_an_access_that_the_group_never_makes_is_not_shown(chart):
    scene = mygemm_1()
    none = replace(scene.touches[2], elements=np.empty((0, 256), dtype=np.int64))
    chart.set_scene(replace(scene, touches=(*scene.touches[:2], none)))
    chart.choose(2)
    assert caption_lines(chart._scene, chart._matrices.shown["C"], 0) == [("not touched", "muted")]
    assert chart.describe_step()
    assert not chart.grab().isNull()


@pytest.mark.parametrize("name", ["tiled", "mygemm_add"])
def test_a_chart_is_made_from_a_report_alone(qtbot, name):
    kernel = variant(name)
    about = kernel, default_parameters(kernel), PROBLEM, Machine()
    made = access_chart(*about[:3], analyse(*about), trace(*about))
    qtbot.addWidget(made)
    made.resize(1100, 700)
    made.settle()
    title, lines = made._heading.text
    assert title.startswith(kernel.title)
    assert "moved in whole sectors" in lines[0].text
    assert "assumed" in lines[1].text
    assert not made.grab().isNull()
