from __future__ import annotations

import math
from dataclasses import replace

import pytest
from PySide6.QtGui import QColor, QGuiApplication

from gemmviz.app.duels import Match, match_of
from gemmviz.core.comparison import Comparison
from gemmviz.core.model import Check, Failure
from gemmviz.core.paired import Versus
from gemmviz.views.charts.ratios import RatioChart
from gemmviz.views.compare_panel import ratios_of
from gemmviz.views.duel_panel import DuelPanel
from gemmviz.views.export import render_chart
from gemmviz.views.theme import DARK, LIGHT
from tests.views.test_export import result
from tests.views.window_parts import shown_tabs

SAME = Versus("same", 1.002, 0.997, 1.006, 0.01, 240, 200)
FASTER = Versus("faster", 1.84, 1.80, 1.87, 0.01, 240, 200)
SLOWER = Versus("slower", 0.93, 0.91, 0.94, 0.01, 1, 1)
UNDECIDED = Versus("undecided", 1.011, 0.99, 1.03, 0.01, 240, 90)
WRONG = {"check": Check("wrong", 64, 64, 64, cells_wrong=7), "failure": Failure("wrong", "Wrong.")}


def compared(*versus: Versus, **changes) -> Comparison:
    """The same kernel against itself as often as there are comparisons."""
    results = tuple(result() for _ in range(1 + len(versus)))
    return replace(Comparison(9, results, versus, reason="decided"), **changes)


def test_each_word_has_a_sign_and_a_colour():
    match = match_of(compared(SAME, FASTER, SLOWER, UNDECIDED))
    assert [(duel.verdict, duel.tone) for duel in match.duels] == [
        ("= tied (within 1 %)", ""),
        ("▲ faster", "good"),
        ("▼ slower", "bad"),
        ("? undecided", "warn"),
    ]
    assert [duel.ratio for duel in match.duels][1:3] == ["1.84 ×", "0.93 ×"]
    assert match.duels[0].interval == "0.997 to 1.006 (99.9 %)"
    assert match.duels[2].interval == "0.91 to 0.94 (range)"
    assert [duel.rounds for duel in match.duels][1:3] == ["240 rounds", "1 round"]


def test_equal_names_are_numbered_and_devices_told_apart():
    match = match_of(compared(SAME))
    assert (match.first, match.duels[0].name) == ("Tiled TS=16 #1", "Tiled TS=16 #2")
    other = result()
    other = replace(other, device=replace(other.device, name="GPU two"))
    match = match_of(compared(SAME, results=(result(), other)))
    assert match.first.startswith("Tiled TS=16 on GPU one")
    assert match.duels[0].name.startswith("Tiled TS=16 on GPU two")


@pytest.mark.parametrize("place", [0, 1])
def test_a_wrong_answer_does_not_count_on_either_side(place):
    results = [result(), result()]
    results[place] = result(**WRONG)
    duel = match_of(compared(FASTER, results=tuple(results))).duels[0]
    assert duel.verdict.startswith("✗ does not count: wrong result")
    assert not duel.counts
    assert duel.tone == "bad"


def test_a_failed_comparison_says_why_and_measures_nothing():
    failure = Failure("build", "The second kernel does not compile.")
    match = match_of(compared(failure=failure, results=(result(), result()), reason=""))
    assert match.failed
    assert "does not compile" in match.title
    assert match.duels[0].verdict == "– not measured"
    assert ratios_of(match) == ()
    assert match_of(Comparison(9, (), failure=failure)).duels == ()


def test_a_comparison_is_text_to_copy():
    lines = match_of(compared(SAME, FASTER)).to_text().splitlines()
    assert lines[0].startswith("Against Tiled TS=16 #1  ·  64 × 64 × 64 float")
    assert "the comparison was decided" in lines[0]
    assert "as fast as Tiled TS=16 #1" in lines[1]
    assert lines[2].startswith("Tiled TS=16 #3 is 1.84 times as fast")


# The strip


@pytest.fixture
def panel(qtbot):
    panel = DuelPanel()
    qtbot.addWidget(panel)
    panel.resize(600, 100)
    return panel


def test_the_strip_is_hidden_until_there_is_a_comparison_and_shows_the_last(panel):
    assert panel.isHidden()
    panel.show_match(match_of(compared(FASTER, SLOWER)))
    assert not panel.isHidden()
    assert [row[1] for row in panel.texts] == ["▲ faster", "▼ slower"]
    panel.show_match(match_of(compared(SAME)))
    assert panel.texts == [
        ["Tiled TS=16 #2", "= tied (within 1 %)", "1.002 ×", "0.997 to 1.006 (99.9 %)",
         "240 rounds"]
    ]  # fmt: skip
    panel.close_button.click()
    assert panel.isHidden()


def test_many_kernels_are_counted_instead_of_filling_the_tab(panel):
    panel.show_match(match_of(compared(*[SAME] * 20)))
    assert len(panel.texts) == 6
    assert panel.texts[-1] == ["15 more: copy the text for all"]


def test_the_strip_copies_its_text(qtbot, panel):
    match = match_of(compared(FASTER))
    panel.show_match(match)
    with qtbot.waitSignal(panel.copied):
        panel.copy.click()
    assert QGuiApplication.clipboard().text() == match.to_text()


# The chart


@pytest.fixture
def chart(qtbot):
    chart = RatioChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(600, 320)
    chart.show()
    chart.settle()
    return chart


def show(chart, match: Match) -> None:
    chart.set_ratios(ratios_of(match), match.first)
    chart.settle()


def test_ratios_and_one_and_the_margins_are_in_view(chart):
    assert chart.is_empty()
    show(chart, match_of(compared(SAME, FASTER, SLOWER)))
    assert not chart.is_empty()
    left, right = (10**end for end in chart._plot.viewRange()[0])
    assert left < 0.91
    assert right > 1.87
    show(chart, match_of(compared(replace(SAME, ratio_low=1.0, ratio_high=1.0))))
    left, right = (10**end for end in chart._plot.viewRange()[0])
    assert left < 0.99
    assert right > 1.01


def test_each_ratio_has_its_tone_and_a_struck_one_none(chart):
    results = (result(), result(), result(**WRONG))
    show(chart, match_of(compared(FASTER, FASTER, results=results)))
    image = chart.grab().toImage()
    seen = []
    for row in range(2):
        x = chart._layer._x(1.84) + chart._plot.sceneBoundingRect().left()
        height = chart._plot.height() / 2
        top = chart._plot.sceneBoundingRect().top() + row * height
        seen.append({image.pixelColor(int(x), int(top + y)).name() for y in range(int(height) - 1)})
    assert DARK.good in seen[0]
    assert DARK.good not in seen[1]
    assert DARK.muted in seen[1]


def test_the_chart_takes_a_theme_and_prints(chart):
    show(chart, match_of(compared(SAME, FASTER)))
    image = render_chart(chart, scale=2, theme=LIGHT)
    assert (image.width(), image.height()) == (1200, 640)
    assert image.pixelColor(2, 2) == QColor(LIGHT.panel)
    assert chart.theme is DARK
    assert math.isclose(chart._plot.viewRange()[1][0], -2, abs_tol=1e-6)


# In the window


@pytest.fixture
def tabs(qtbot, state):
    return shown_tabs(qtbot, state)


def test_the_action_is_refused_with_a_reason_until_two_runs_are_ticked(tabs, state, finish):
    action = tabs._menus.measure
    buttons = tabs.compare.measure, tabs.measure
    assert not action.isEnabled()
    finish()
    assert "two" in action.toolTip()
    assert {button.toolTip() for button in buttons} == {action.toolTip()}
    finish()
    assert action.isEnabled()
    assert all(button.isEnabled() for button in buttons)
    assert "Ctrl+M" in buttons[0].toolTip()
    state.book.tick(state.book.runs[0], False)
    assert not action.isEnabled()
    assert not buttons[1].isEnabled()


@pytest.mark.parametrize("by", ["menu", "compare", "results"])
def test_ticked_runs_are_measured_and_the_outcome_comes_to_the_front(
    qtbot, tabs, engine, finish, by
):
    finish()
    finish()
    state = tabs._state
    tabs.setCurrentWidget(tabs.results)
    start = {
        "menu": tabs._menus.measure.trigger,
        "compare": tabs.compare.measure.click,
        "results": tabs.measure.click,
    }[by]
    with qtbot.waitSignal(state.comparison_ended):
        start()
        assert state.comparing
        assert not tabs._menus.measure.isEnabled()
    assert len(engine.compared[0]) == 2
    assert tabs.currentWidget() is tabs.compare
    assert tabs.compare.duels.isVisible()
    assert len(tabs.compare.duels.texts) == 1
    assert "tied" in tabs.compare.duels.texts[0][1]
    assert tabs.chart is tabs.compare.ratios
    tabs.compare.duels.kind.buttons["Bars"].click()
    assert tabs.chart is tabs.compare.bars
    assert tabs.compare.grouping.isEnabled()
    tabs.compare.duels.kind.buttons["Ratios"].click()
    assert tabs.compare.title()[0].startswith("Against")
    tabs.compare.duels.close_button.click()
    assert tabs.chart is tabs.compare.bars
    assert tabs.compare.title() is None


def test_a_failed_comparison_keeps_the_bars_and_says_why(qtbot, tabs, state, engine, finish):
    finish()
    finish()
    engine.failure = Failure("hang", "A launch took too long.")
    with qtbot.waitSignal(state.comparison_ended):
        tabs._menus.measure.trigger()
    assert "A launch took too long." in tabs.compare.duels.title.text()
    assert tabs.chart is tabs.compare.bars
    assert not tabs.compare.duels.kind.isVisible()
