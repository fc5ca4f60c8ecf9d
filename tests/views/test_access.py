from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from gemmviz.core.access.lens import analyse, trace
from gemmviz.core.access.report import Machine
from gemmviz.core.launch import default_parameters
from gemmviz.views.charts.access_captions import caption_lines
from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.access_words import (
    access_chart,
)
from gemmviz.views.theme import DARK, series_color
from tests.views.access_scenes import (
    PROBLEM,
    SIZE,
    mygemm_1,
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
