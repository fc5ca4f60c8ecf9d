from __future__ import annotations

import shutil
import threading
import time
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir
from gemmviz.views.export import ExportDialog
from gemmviz.views.main_window import MainWindow, chosen_theme
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import NOTHING, FakeEngine, endless_run


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine):
    state = AppState(Workers(engine), data_dir("kernels"))
    made = MainWindow(state)
    qtbot.addWidget(made)
    made.resize(1440, 900)
    made.show()
    made.complete()
    state.load_kernels()
    state.list_devices()
    qtbot.waitUntil(lambda: state.listing is not None)
    made.activateWindow()
    yield made
    made.close()


def keys(qtbot, window, key, modifier=Qt.KeyboardModifier.NoModifier):
    qtbot.keyClick(window, key, modifier)


def test_the_main_job_by_keys(qtbot, window):
    state = window.state
    keys(qtbot, window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(state.book.runs) == 1)
    assert window.cards.verdict.figure.text() == "✓ verified"
    keys(qtbot, window, Qt.Key.Key_B)
    assert state.book.baseline is state.book.runs[0]
    keys(qtbot, window, Qt.Key.Key_L)
    assert window.tabs.live.log.word == "Log"
    window.tabs.live.log.buttons["Linear"].click()
    assert not window.menus.log_axes.isChecked()
    keys(qtbot, window, Qt.Key.Key_H)
    keys(qtbot, window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    dialog = window.findChild(ExportDialog)
    assert dialog.isVisible()
    dialog.reject()
    assert "100 samples" in window.status.text()


def test_escape_stops_a_run_that_would_go_on(qtbot, window, engine):
    engine.script = endless_run
    window.state.change(replace(window.state.setup, launches=None))
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: window.state.shown is not None and len(window.state.shown.buffer) > 0)
    qtbot.waitUntil(lambda: "Running" in window.status.text())
    keys(qtbot, window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.state.active)
    assert window.state.book.runs[0].result.stopped
    assert window.status.text().startswith("Ready")


def test_f5_asks_the_drivers_again(qtbot, window, engine):
    engine.listing = NOTHING
    keys(qtbot, window, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not window.state.devices)
    assert window.devices.none.isVisible()
    assert not window.menus.run.isEnabled()


def test_closing_in_the_middle_of_a_run_leaves_no_thread_behind(qtbot, window, engine):
    engine.script = endless_run
    window.state.change(replace(window.state.setup, launches=None))
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: bool(engine.threads))
    runner = next(iter(engine.threads.values()))
    began = time.monotonic()
    window.close()
    assert time.monotonic() - began < 2
    assert engine.closed
    assert runner not in {thread.ident for thread in threading.enumerate()}


def test_themes_change_everything_at_once(window):
    window.state.choose_theme("light")
    assert window.tabs.live.chart.theme is LIGHT
    assert window.tabs.compare.chart.theme is LIGHT
    window.state.choose_theme("dark")
    assert window.tabs.live.chart.theme is DARK
    assert chosen_theme("system") in (LIGHT, DARK)


def test_the_table_is_saved_as_csv(qtbot, window, tmp_path, monkeypatch):
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    path = tmp_path / "results.csv"
    window.tabs.save_table(path)
    assert path.read_text(encoding="utf-8").splitlines()[1].count("tiled") == 1
    told = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *words: told.append(words[-1]))
    window.tabs.save_table(tmp_path / "missing" / "results.csv")
    assert "No such file" in told[0]


def test_the_chart_in_front_is_the_one_exported(window):
    assert window.tabs.chart is window.tabs.live.chart
    window.tabs.setCurrentWidget(window.tabs.compare)
    assert window.tabs.chart is window.tabs.compare.chart


def test_the_window_fits_on_a_small_screen(qtbot, window):
    for name in ("tiled", "tiling_tiled", "register_2d"):
        window.state.choose_variant(window.state.catalog.find(name))
        window.resize(1024, 700)
        assert window.minimumSizeHint().width() <= 1024
        assert window.minimumSizeHint().height() <= 700


def test_a_result_shown_again_comes_to_the_front(qtbot, window):
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 2)
    window.tabs.setCurrentWidget(window.tabs.results)
    window.state.show(window.state.book.runs[0])
    assert window.tabs.currentWidget() is window.tabs.live
    assert window.state.shown is window.state.book.runs[0]


def test_a_kernel_that_does_not_load_is_noticed(qtbot, engine, tmp_path):
    for name in ("tiled.cl", "tiled.toml"):
        shutil.copy(data_dir("kernels") / name, tmp_path / name)
    shutil.copy(tmp_path / "tiled.cl", tmp_path / "broken.cl")
    (tmp_path / "broken.toml").write_text('title = "Broken"\ncolour = "red"\n')
    state = AppState(Workers(engine), tmp_path)
    window = MainWindow(state)
    qtbot.addWidget(window)
    state.load_kernels()
    assert "1 kernel does not load" in window.notice.text()
    assert "broken.toml" in window.notice.toolTip()
    assert "colour" in window.log.toPlainText()
    assert state.setup.variant.id == "tiled"
    window.close()
