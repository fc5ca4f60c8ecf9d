"""How much of the device's library a run reaches: on its card, and as a unit of the bars."""

from __future__ import annotations

import math

import pytest

from gemmviz.app.results_table import ResultsTableModel
from gemmviz.views.cards import Cards
from gemmviz.views.charts.bars import Bar, place_bars
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.compare_panel import ComparePanel
from gemmviz.views.theme import DARK
from tests.app.fake_engine import POCL

HALF = Bar("CPU", "half as fast", 2e11, 1.8e11, 2.2e11, library_share=0.5)
ALONE = Bar("GPU", "alone", 9e11, 8e11, 10e11)


@pytest.fixture
def panel(qtbot, state):
    state.select_device(POCL)
    panel = ComparePanel(state, ResultsTableModel(state.book))
    qtbot.addWidget(panel)
    panel.set_theme(DARK)
    panel.resize(900, 500)
    panel.show()
    return panel


def test_a_bar_in_percent_keeps_its_interval_in_proportion():
    group = [(HALF, Look("#000000"), ""), (ALONE, Look("#000000"), "")]
    half, alone = place_bars([group], "%")
    assert half.value == pytest.approx(50)
    assert half.scaled(HALF.low) == pytest.approx(45)
    assert half.text == "50 %"
    assert math.isnan(alone.value)
    assert alone.missing == "no library's run"
    half, alone = place_bars([group])
    assert (half.value, half.text, alone.text) == (2e11, "200 G", "900 G")


def test_the_axis_says_which_unit_it_has(qtbot):
    chart = CompareChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(600, 400)
    chart.set_bars((HALF, ALONE))
    chart.set_unit("%")
    chart.show()
    chart.settle()
    assert "Of the library (%)" in chart._left.labelString()
    assert chart._left.tickStrings([0, 20, 40], chart._left.autoSIPrefixScale, 20) == [
        "0", "20", "40",
    ]  # fmt: skip
    assert 55 <= chart._plot.viewRange()[1][1] <= 120
    chart._layer.point_at(0.0)
    chart.grab()
    chart.set_unit("FLOP/s")
    chart.settle()
    assert "FLOP/s" in chart._left.labelString()
    assert chart._plot.viewRange()[1][1] > 9e11


def test_the_unit_can_be_chosen_once_a_library_has_run(panel, state, finish):
    finish()
    panel.catch_up()
    assert not panel.unit.isEnabled()
    state.choose_variant(state.catalog.find("blas"))
    finish()
    panel.catch_up()
    assert panel.unit.isEnabled()
    panel.unit.buttons["% of library"].click()
    placed = panel.bars._layer.bars
    assert [bar.unit for bar in placed] == ["%", "%"]
    assert placed[0].text == "100 %"
    state.book.clear()
    panel.catch_up()
    assert panel.unit.word == "FLOP/s"
    assert not panel.unit.isEnabled()
    finish()
    panel.catch_up()
    assert panel.bars._layer.bars[0].unit == "FLOP/s"


def test_the_card_of_a_kernel_says_how_much_of_the_library_it_is(qtbot, state, finish):
    cards = Cards(state)
    qtbot.addWidget(cards)
    cards.resize(900, 120)
    cards.show()
    state.select_device(POCL)
    finish()
    assert not cards.rate.badge.isVisible()
    state.choose_variant(state.catalog.find("blas"))
    finish()
    assert not cards.rate.badge.isVisible()
    state.choose_variant(state.catalog.find("tiled"))
    finish()
    assert cards.rate.badge.isVisible()
    assert cards.rate.badge.text() == "100 % of library"
    assert "fastest library" in cards.rate.badge.toolTip()
