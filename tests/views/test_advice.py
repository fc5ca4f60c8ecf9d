"""The tab of advice: cards that say why and select what they advise, and its picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from gemmviz.app.state import AppState
from gemmviz.core.advice.finding import Finding
from gemmviz.views.advice_panel import AdvicePanel
from gemmviz.views.charts.advice import AdviceChart
from gemmviz.views.export import save_png
from gemmviz.views.theme import DARK, LIGHT

BLOCKING = Finding(
    "intensity.blocking", "Many loads for each multiply-add", "Each FLOP takes 4 B; 1 B would do.",
    "access lens", "Try it.", "tiled", (("TS", 32),), 1.3, 2.5,
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
    assert first.button.text() == "Try: Tiled in local memory TS=32"
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
    assert button.text() == "Try: Mine TS=32"
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
