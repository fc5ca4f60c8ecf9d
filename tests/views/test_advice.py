"""The tab of advice: cards that say why and select what they advise, and its picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from gemmviz.app.state import AppState
from gemmviz.core.advice.finding import Finding
from gemmviz.core.limits import named_limits
from gemmviz.views.advice_panel import AdvicePanel
from gemmviz.views.charts.advice import AdviceChart
from gemmviz.views.export import save_png
from gemmviz.views.theme import DARK, LIGHT

BLOCKING = Finding(
    "intensity.blocking", "Many loads for each multiply-add", "Each FLOP takes 4 B; 1 B would do.",
    "access lens", "Try it. It takes less.", "tiled", (("TS", 32),), 1.3, 2.5, why="It takes less.",
)  # fmt: skip
LAUNCH = Finding("launch.overhead", "Launching takes long", "7 µs of 9 µs.", "measured here",
                 "Measure a larger problem.", gain_high=1.4)  # fmt: skip
WRONG = Finding("correctness.wrong", "The result is wrong", "100 % of cells.", "checked here",
                "Try another.", "tiled", (("TS", 16),), urgent=True)  # fmt: skip


@pytest.fixture
def panel(qtbot, state: AppState) -> Iterator[AdvicePanel]:
    made = AdvicePanel(state)
    made.set_theme(DARK)
    qtbot.addWidget(made)
    made.resize(700, 420)
    yield made
    made.adviser.close()


def give(panel: AdvicePanel, *findings: Finding) -> None:
    """Let the adviser have found these about what is chosen."""
    panel.adviser.findings = findings
    panel.adviser._answered = panel.adviser.situation
    panel.adviser.advised.emit()


def test_a_card_says_why_and_how_much(panel: AdvicePanel) -> None:
    give(panel, BLOCKING, LAUNCH)
    first, second = panel.cards
    assert first.title.text() == "1. Many loads for each multiply-add"
    assert first.gain.text() == "1.3 to 2.5 times as fast"
    assert first.evidence.text() == BLOCKING.evidence
    assert "access lens" in first.source.text()
    assert first.button is not None
    assert first.button.text() == "Try tiled TS=32"
    assert first.action.text() == "It takes less."
    assert second.action.text() == LAUNCH.action
    assert second.button is None


def test_its_button_selects_what_is_advised(qtbot, panel: AdvicePanel, state: AppState) -> None:
    state.choose_variant(state.catalog.find("naive_strided"))
    give(panel, BLOCKING)
    panel.show()
    button = panel.cards[0].button
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert state.setup.variant is not None
    assert state.setup.variant.id == "tiled"
    assert dict(state.setup.parameters) == {"TS": 32}


def test_a_kernel_of_the_same_name_is_told_apart(panel: AdvicePanel, state: AppState) -> None:
    own = replace(state.catalog.find("tiled"), family="user", title="Mine")
    give(panel, replace(BLOCKING, variant=own))
    button = panel.cards[0].button
    assert button is not None
    assert "Mine TS=32" in button.toolTip()
    panel.try_finding(panel.cards[0].finding)
    assert state.setup.variant == own


def test_advice_for_something_else_cannot_be_followed(panel: AdvicePanel, state: AppState) -> None:
    give(panel, BLOCKING)
    assert panel.cards[0].isEnabled()
    state.choose_variant(state.catalog.find("naive_strided"))
    assert not panel.cards[0].isEnabled()


def test_no_finding_says_so(panel: AdvicePanel) -> None:
    give(panel)
    assert not panel.empty.isHidden()
    assert panel.empty.text().startswith("Nothing to improve is known")
    give(panel, BLOCKING)
    assert panel.empty.isHidden()


def test_five_cards_fit_across_a_narrow_window(qtbot, panel: AdvicePanel) -> None:
    give(panel, *[BLOCKING] * 5)
    panel.resize(430, 300)
    panel.show()
    qtbot.waitExposed(panel)
    assert all(card.width() <= panel.area.viewport().width() for card in panel.cards)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_picture_shows_gains_and_a_wrong_result(qtbot, tmp_path, theme) -> None:
    chart = AdviceChart(theme=theme)
    qtbot.addWidget(chart)
    chart.show_findings("Tiled TS=16", (WRONG, BLOCKING, LAUNCH))
    chart.resize(900, chart.wanted_height())
    path = tmp_path / "advice.png"
    save_png(chart, path, theme=theme)
    image = QImage(str(path))
    colors = {
        image.pixelColor(x, y).name()
        for x in range(image.width() // 2, image.width())
        for y in range(0, image.height(), 2)
    }
    assert theme.good in colors
    assert not chart.is_empty()


def test_an_empty_picture_says_so(qtbot) -> None:
    chart = AdviceChart()
    qtbot.addWidget(chart)
    chart.show_findings("Tiled TS=16", ())
    assert chart.is_empty()
    assert chart.empty_text


def test_what_was_tried_can_be_taken_back(
    qtbot, panel: AdvicePanel, state: AppState, finish
) -> None:
    strided = state.catalog.find("naive_strided")
    state.choose_variant(strided)
    state.change(state.setup.with_parameter("TS", 8))
    before = state.setup.parameters
    give(panel, BLOCKING)
    assert panel.back.isHidden()
    panel.try_finding(BLOCKING)
    assert panel.heading.text() == "tiled TS=32 selected: press Run (Ctrl+R)"
    assert not panel.back.isHidden()
    assert "TS=8" in panel.back.toolTip()
    state.change(replace(state.setup, m=64, n=64, k=64))
    finish()
    assert "press Run" not in panel.heading.text()
    panel.back.click()
    assert (state.setup.variant, state.setup.parameters) == (strided, before)
    assert state.setup.m == 64
    assert panel.back.isHidden()


def test_another_choice_ends_the_way_back(panel: AdvicePanel, state: AppState) -> None:
    state.choose_variant(state.catalog.find("naive_strided"))
    give(panel, BLOCKING)
    panel.try_finding(BLOCKING)
    state.change(state.setup.with_parameter("TS", 8))
    assert panel.back.isHidden()
    assert "selected" not in panel.heading.text()


def test_macros_of_the_same_kernel_are_named_where_they_change(
    panel: AdvicePanel, state: AppState
) -> None:
    kernel = state.catalog.find("register_2d")
    state.choose_variant(kernel)
    state.change(state.setup.with_parameter("BM", 128))
    values = tuple((name, 8 if name == "TN" else value) for name, value in state.setup.parameters)
    give(panel, replace(BLOCKING, kernel=kernel.id, variant=kernel, parameters=values))
    assert panel.cards[0].button is not None
    assert panel.cards[0].button.text() == "Try register_2d TN=8"


def test_what_is_to_be_written_has_no_button(panel: AdvicePanel, state: AppState) -> None:
    variant, parameters = state.setup.variant, state.setup.parameters
    assert variant is not None
    words = replace(BLOCKING, kernel=variant.id, variant=variant, parameters=parameters)
    give(panel, words)
    assert panel.cards[0].button is None
    assert panel.cards[0].action.text() == BLOCKING.action


def test_a_sentence_has_the_whole_width_of_a_narrow_card(qtbot, panel: AdvicePanel) -> None:
    give(panel, BLOCKING)
    card = panel.cards[0]
    assert card.button is not None
    panel.resize(600, 400)
    panel.show()
    qtbot.waitUntil(lambda: card.button.y() >= card.action.geometry().bottom())
    panel.resize(1200, 400)
    qtbot.waitUntil(lambda: card.button.x() >= card.action.geometry().right())


def test_the_head_says_for_which_gpu_it_is(panel: AdvicePanel, state: AppState) -> None:
    state.choose_what_if(named_limits("9.0"))
    assert "as if on CC 9.0" in panel.heading.text()
    panel.try_finding(BLOCKING)
    assert panel.heading.text() == "tiled TS=32 selected, as if on CC 9.0"


def test_a_library_is_said_to_have_no_source(panel: AdvicePanel, state: AppState) -> None:
    state.choose_variant(state.catalog.find("clblast"))
    give(panel)
    assert "is a library: its kernels have no source" in panel.empty.text()
