from __future__ import annotations

import importlib.metadata
import threading
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget

from gemmviz.app.results_table import ResultsTableModel
from gemmviz.core.labels import device_label
from gemmviz.core.model import Failure
from gemmviz.core.policy import UNTIL_STOPPED
from gemmviz.views.about import AboutDialog
from gemmviz.views.cards import Cards
from gemmviz.views.compare_panel import ComparePanel, bars_of
from gemmviz.views.details_dialog import DetailsDialog
from gemmviz.views.failure_strip import FailureDialog, FailureStrip
from gemmviz.views.live_panel import LivePanel
from gemmviz.views.log_panel import MOST_LINES, LogPanel
from gemmviz.views.results_panel import ResultsPanel
from gemmviz.views.settings_dialog import SettingsDialog
from gemmviz.views.theme import LIGHT
from tests.app.fake_engine import (
    H200,
    POCL,
    batch,
    endless_run,
    host_timed_run,
    silent_run,
    wrong_run,
)


def test_cards_show_the_run(qtbot, state, finish):
    cards = Cards(state)
    qtbot.addWidget(cards)
    cards.resize(900, 100)
    cards.show()
    finish()
    assert cards.rate.figure.text() == "263"
    assert cards.rate.unit.text() == "GFLOP/s"
    assert cards.time.unit.text() == "ms"
    assert cards.measured.figure.text() == "100"
    assert cards.measured.unit.text() == "launches, ±0.98 %"
    assert cards.measured.note.text().startswith("precise enough")
    assert "100 launches in 100 samples" in cards.measured.note.toolTip()
    assert cards.verdict.figure.text() == "✓ verified"
    assert "95 % confidence" in cards.rate.note.toolTip()
    cards.resize(690, 200)
    assert cards._columns == 2


def test_an_endless_run_has_no_bar_that_looks_full(qtbot, state, engine):
    cards = Cards(state)
    qtbot.addWidget(cards)
    cards.show()
    engine.script = endless_run
    state.change(replace(state.setup, policy=UNTIL_STOPPED))
    state.start()
    qtbot.waitUntil(lambda: cards.measured.figure.text() not in ("–", "0"))
    assert not cards._progress.isVisible()
    state.stop()
    qtbot.waitUntil(lambda: not state.active)


def test_a_card_says_which_clock_was_used_in_words(qtbot, state, engine, finish):
    cards = Cards(state)
    qtbot.addWidget(cards)
    cards.show()
    assert not cards.measured.badge.isVisible()
    finish()
    badge = cards.measured.badge
    assert badge.text() == "✓ events trusted"
    assert badge.property("state") == "good"
    assert "0.99" in badge.toolTip()
    engine.script = host_timed_run
    finish()
    assert badge.text() == "△ host timing used"
    assert badge.property("state") == "warn"
    assert "100 at it" in badge.toolTip()
    assert cards.measured.figure.text() == "100"


def test_in_quiet_mode_everything_is_drawn_with_a_batch_and_nothing_between(qtbot, state, engine):
    go_on = threading.Event()

    def paced(engine, job):
        yield batch(job, (1e-3,) * 10)
        go_on.wait(10)
        yield batch(job, (1e-3,) * 5, 0.01)
        engine.wait_stopped(job.id, 10)

    engine.script = paced
    cards, panel = Cards(state), LivePanel(state)
    for widget in (cards, panel):
        qtbot.addWidget(widget)
        widget.show()
    state.start()
    assert state.setup.policy_on(state.device).quiet
    qtbot.waitUntil(lambda: cards.measured.figure.text() == "10")
    assert len(panel.chart._trace) == 10
    timers = [*panel.findChildren(QTimer), *cards.findChildren(QTimer)]
    assert not any(timer.isActive() for timer in timers)
    with qtbot.waitSignal(state.job_advanced):
        go_on.set()
    assert len(panel.chart._trace) == 15  # by the signal itself, without any timer
    assert cards.measured.figure.text() == "15"
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert not state.quiet


def test_a_run_that_broke_off_does_not_count(qtbot, state, engine, finish):
    cards = Cards(state)
    qtbot.addWidget(cards)
    engine.failure = Failure("hang", "A launch took longer than the limit.")
    finish()
    assert cards.verdict.figure.text() == "✗ ended early"
    assert cards.verdict.note.text() == "A launch took longer than the limit."
    assert cards.rate.note.text() == "does not count: the run ended early"
    assert cards.time.figure.font().strikeOut()


def test_cards_strike_the_speed_of_a_wrong_answer(qtbot, state, engine, finish):
    cards = Cards(state)
    qtbot.addWidget(cards)
    engine.script = wrong_run
    finish()
    assert cards.verdict.figure.text() == "✗ wrong"
    assert "row 3, column 17" in cards.verdict.note.text()
    assert cards.rate.figure.font().strikeOut()
    engine.script = silent_run
    finish()
    assert not cards.rate.figure.font().strikeOut()


def test_a_failure_is_said_with_its_detail_on_request(qtbot, state, engine, finish):
    strip = FailureStrip(state)
    strip.set_theme(LIGHT)
    qtbot.addWidget(strip)
    strip.show()
    finish()
    assert not strip.isVisible()
    engine.script = silent_run
    engine.failure = Failure("build", "It does not compile.", "tiled.cl:3:1: error: no")
    finish()
    assert strip.isVisible()
    assert "It does not compile." in strip.sentence.text()
    strip.detail.click()
    dialog = strip.findChild(FailureDialog)
    assert dialog.isVisible()
    dialog.reject()
    strip.close_button.click()
    assert not strip.isVisible()


def test_the_live_chart_follows_the_run_and_strikes_a_wrong_one(qtbot, state, engine, finish):
    panel = LivePanel(state)
    panel.set_theme(LIGHT)
    qtbot.addWidget(panel)
    panel.show()
    assert "Press Run" in panel.chart.empty_text
    engine.script = wrong_run
    finish()
    qtbot.waitUntil(lambda: len(panel.chart._trace) == 100)
    assert len(panel.chart._trace) == 100
    assert panel.chart._struck
    assert "NVIDIA H200" in panel.chart.export_title
    engine.script = silent_run
    finish()
    assert panel.chart.is_empty()
    assert not panel.chart._struck


def test_ticked_runs_are_bars_and_the_grouping_can_be_changed(qtbot, state, finish):
    panel = ComparePanel(state, ResultsTableModel(state.book))
    qtbot.addWidget(panel)
    finish()
    state.select_device(POCL)
    finish()
    panel.catch_up()
    bars = panel.chart._bars
    assert [bar.device for bar in bars] == [device_label(H200), device_label(POCL)]
    assert bars[0].low < bars[0].flops_per_second < bars[0].high
    panel.grouping.buttons["By kernel"].click()
    assert panel.chart._grouping == "kernel"
    state.book.tick(state.book.runs[0], False)
    panel.catch_up()
    assert len(panel.chart._bars) == 1
    state.book.pin_baseline(state.book.runs[1])
    panel.catch_up()
    assert panel.chart._bars[0].speed_up == 1.0


def test_bars_name_what_differs(state, finish):
    finish()
    assert bars_of(state.book)[0].kernel == "Tiled in local memory TS=16"
    state.change(state.setup.with_all_sizes(64))
    finish()
    assert [bar.kernel[-12:] for bar in bars_of(state.book)] == [
        ", 512³ float",
        "6, 64³ float",
    ]


def test_results_can_be_sorted_pinned_copied_and_shown(qtbot, state, finish):
    panel = ResultsPanel(state, ResultsTableModel(state.book))
    panel.set_theme(LIGHT)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.empty.isVisible()
    assert not panel.export.isEnabled()
    finish()
    state.change(state.setup.with_all_sizes(64))
    finish()
    assert panel.table.isVisible()
    panel.table.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    panel.table.selectRow(0)
    panel.pin.click()
    assert state.book.baseline is state.book.runs[1]
    panel.table._on_copy_activated()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("Kernel\tParameters")
    assert "64³" in lines[1]
    panel.table.activated.emit(panel.table.proxy.index(1, 0))
    assert state.shown is state.book.runs[0]
    state.book.clear()
    assert panel.empty.isVisible()


def test_all_columns_are_in_view_at_the_usual_size(qtbot, state, finish):
    panel = ResultsPanel(state, ResultsTableModel(state.book))
    qtbot.addWidget(panel)
    panel.resize(836, 400)
    panel.show()
    finish()
    table = panel.table
    last = table.model().columnCount() - 1
    assert table.columnViewportPosition(last) + 60 <= table.viewport().width()
    assert not table.tabKeyNavigation()


def test_everything_that_is_recorded_can_be_read_and_copied(qtbot, state, finish):
    panel, cards = ResultsPanel(state, ResultsTableModel(state.book)), Cards(state)
    for widget in (panel, cards):
        qtbot.addWidget(widget)
        widget.show()
    assert not cards.details.isEnabled()
    finish()
    panel.table.selectRow(0)
    openers = (panel.details.click, panel.table.details.trigger, cards.details.click)
    for opened in openers:
        opened()
        (dialog,) = [found for found in QApplication.topLevelWidgets()
                     if isinstance(found, DetailsDialog) and found.isVisible()]  # fmt: skip
        assert "Seed" in dialog.text.toPlainText()
        dialog.copy.click()
        lines = QGuiApplication.clipboard().text().splitlines()
        assert "Tiled in local memory TS=16" in lines[0]
        assert f"Seed\t{state.book.runs[0].job.problem.seed}" in lines
        dialog.reject()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_a_closed_dialog_is_gone(qtbot, state):
    window = QWidget()
    qtbot.addWidget(window)
    FailureDialog(Failure("build", "It does not compile.", "error"), window).open()
    SettingsDialog(state, window).open()
    AboutDialog(window).open()
    dialogs = window.findChildren(QDialog)
    assert len(dialogs) == 3
    for dialog in dialogs:
        dialog.reject()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not window.findChildren(QDialog)


def test_the_log_is_stamped_coloured_and_capped(qtbot, state):
    log = LogPanel(state)
    qtbot.addWidget(log)
    state.log("run", "hello")
    state.log("check", "bad news", bad=True)
    first = log.toPlainText().splitlines()[0]
    assert first[2] == ":"
    assert first.endswith("hello")
    for number in range(MOST_LINES + 50):
        state.log("run", str(number))
    assert log.blockCount() == MOST_LINES
    log.set_theme(LIGHT)
    assert log.toPlainText().endswith(str(MOST_LINES + 49))


def test_a_message_longer_than_the_log_is_read_from_its_beginning(qtbot, state):
    log = LogPanel(state)
    qtbot.addWidget(log)
    log.resize(400, 58)
    log.show()
    for _ in range(4):
        state.log("run", "short")
    state.log("file", "damaged.gemmviz is damaged " + "and much is to be said of it " * 20)
    assert log.firstVisibleBlock().text().partition("file")[2].strip().startswith("damaged")
    state.log("run", "short")
    assert log.verticalScrollBar().value() == log.verticalScrollBar().maximum()
    log.verticalScrollBar().setValue(1)  # a person reads further up
    state.log("run", "short")
    assert log.verticalScrollBar().value() == 1


def test_settings_change_the_setup_when_accepted(qtbot, state):
    dialog = SettingsDialog(state)
    qtbot.addWidget(dialog)
    assert dialog.limit.text() == "automatic"
    dialog.limit.setValue(2.5)
    dialog.fixed.setChecked(True)
    dialog.seed.setValue(7)
    dialog.options.setText(" -cl-mad-enable ")
    dialog._on_accepted()
    setup = state.setup
    assert (setup.launch_limit_seconds, setup.seed, setup.build_options) == (
        2.5,
        7,
        "-cl-mad-enable",
    )


def test_about_names_versions_and_licences(qtbot):
    dialog = AboutDialog()
    qtbot.addWidget(dialog)
    words = {child.text() for child in dialog.findChildren(QLabel)}
    assert {"pyqtgraph", importlib.metadata.version("pyqtgraph"), "LGPL-3.0"} <= words
