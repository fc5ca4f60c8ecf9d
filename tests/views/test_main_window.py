from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt, QThread
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QMessageBox

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.experiments import MeasureCeilings
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import UNTIL_STOPPED, fixed
from gemmviz.views.export_dialog import ExportDialog
from gemmviz.views.main_window import MainWindow, chosen_theme
from gemmviz.views.tab_frame import ComingTabs
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import H200, NOTHING, POCL, FakeEngine, endless_run, wrong_run


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
    window.state.change(replace(window.state.setup, policy=UNTIL_STOPPED))
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
    window.state.change(replace(window.state.setup, policy=UNTIL_STOPPED))
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: bool(engine.threads))
    threads = window.state._workers.findChildren(QThread)
    assert len(threads) == 2
    assert all(thread.isRunning() for thread in threads)
    window.close()
    assert engine.closed
    assert all(thread.isFinished() for thread in threads)


def test_themes_change_everything_at_once(window):
    panels = (
        window.menus.bar, window.setup_bar, window.cards, window.devices, window.occupancy,
        window.log, window.tabs.live, window.tabs.compare, window.tabs.results,
    )  # fmt: skip
    colors = {}
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        window.state.choose_theme(name)
        for number, panel in enumerate(panels):
            window.tabs.setCurrentWidget(panel if panel in panels[-3:] else window.tabs.live)
            image = panel.grab().toImage()
            seen = Counter(
                image.pixelColor(x, y).name()
                for x in range(0, image.width(), 3)
                for y in range(0, image.height(), 3)
            )
            assert seen.most_common(1)[0][0] in (theme.window, theme.panel), panel
            colors.setdefault(number, []).append(window.setup_bar.run_button.icon().cacheKey())
        assert window.tabs.live.chart.theme is theme
        assert window.tabs.compare.chart.theme is theme
        assert window.palette().window().color().name() == theme.window
    assert all(before != after for before, after in colors.values())
    assert chosen_theme("system") in (LIGHT, DARK)


def test_ctrl_r_runs_the_size_that_is_being_typed(qtbot, window):
    field = window.setup_bar.sizes.fields["m"]
    field.setKeyboardTracking(False)
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "128")
    qtbot.keyClick(field, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    assert window.state.book.runs[0].job.problem.m == 128


def test_keys_held_down_are_one_wish(window):
    menus = window.menus
    assert not any(action.autoRepeat() for action in (menus.run, menus.refresh, menus.pin))
    window.state.list_devices()
    assert not menus.refresh.isEnabled()


def test_run_says_that_it_goes_to_a_ticked_device(window):
    window.state.tick_device(POCL.key, True)
    assert window.menus.run.text() == "&Run on 1 ticked"
    assert POCL.name in window.menus.run.toolTip()
    window.state.tick_device(POCL.key, False)
    assert window.menus.run.text() == "&Run"


def test_a_picture_of_a_hidden_chart_shows_what_it_says(qtbot, window, engine):
    QGuiApplication.clipboard().clear()
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    window.tabs.setCurrentWidget(window.tabs.results)
    window.state.change(window.state.setup.with_all_sizes(64))
    window.state.change(replace(window.state.setup, policy=fixed(30)))
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 2)
    chart = window.tabs.live.chart
    assert window.tabs.currentWidget() is window.tabs.results
    window.menus.copy_chart.trigger()  # there is no chart in this tab
    assert QGuiApplication.clipboard().image().isNull()
    window.tabs.setCurrentWidget(window.tabs.live)  # nothing of it is painted yet
    window.menus.copy_chart.trigger()
    assert len(chart._trace) == 30
    assert "64³" in chart.export_title
    assert not QGuiApplication.clipboard().image().isNull()


def test_b_on_the_live_tab_pins_the_run_that_is_shown(qtbot, window):
    for count in (1, 2):
        window.menus.run.trigger()
        qtbot.waitUntil(lambda: len(window.state.book.runs) == count)  # noqa: B023 (waited for)
    first = window.state.book.runs[0]
    window.state.show(first)
    window.menus.pin.trigger()
    assert window.state.book.baseline is first


def test_a_baseline_that_is_refused_is_told_in_the_status_bar(qtbot, window, engine):
    engine.script = wrong_run
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    window.menus.pin.trigger()
    assert window.state.book.baseline is None
    assert "wrong" in window.statusBar().currentMessage()


@pytest.mark.parametrize("by", ["menu", "button"])
def test_clearing_asks_first(qtbot, window, monkeypatch, by):
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    clear = window.menus.clear.trigger if by == "menu" else window.tabs.results.clear.click
    answers = [QMessageBox.StandardButton.No, QMessageBox.StandardButton.Yes]
    monkeypatch.setattr(QMessageBox, "question", lambda *_: answers.pop(0))
    clear()
    assert len(window.state.book.runs) == 1
    clear()
    assert not window.state.book.runs
    assert not window.menus.clear.isEnabled()


def test_of_several_runs_the_one_to_watch_can_be_chosen(qtbot, window, engine):
    state, chooser = window.state, window.tabs.live.chooser
    assert not chooser.isVisible()
    engine.script = endless_run
    state.change(replace(state.setup, policy=UNTIL_STOPPED))
    for device in (H200, POCL):
        state.tick_device(device.key, True)
    state.start()
    first, second = state.active.values()
    qtbot.waitUntil(lambda: len(first.buffer) > 0 and len(second.buffer) > 0)
    assert chooser.isVisible()
    assert chooser.count() == 2
    assert state.shown is first
    chooser.activated.emit(1)
    assert state.shown is second
    assert chooser.currentIndex() == 1
    assert POCL.name in window.tabs.live.chart.export_title
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert not chooser.isVisible()


def test_closed_dialogs_do_not_pile_up(qtbot, window):
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    for action in (window.menus.settings, window.menus.about, window.menus.export_chart):
        action.trigger()
        (dialog,) = window.findChildren(QDialog)
        with qtbot.waitSignal(dialog.destroyed):
            dialog.reject()


def test_on_a_low_window_the_bars_have_the_tab_alone(qtbot, window):
    window.menus.run.trigger()
    qtbot.waitUntil(lambda: len(window.state.book.runs) == 1)
    window.tabs.setCurrentWidget(window.tabs.compare)
    assert window.tabs.compare.table.isVisible()
    window.resize(1024, 700)
    qtbot.waitUntil(lambda: not window.tabs.compare.table.isVisible())
    chart = window.tabs.compare.chart
    chart.settle()
    assert window.height() == 700
    assert chart._plot.height() > 80
    window.resize(1440, 900)
    qtbot.waitUntil(window.tabs.compare.table.isVisible)


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


def test_every_tab_is_in_the_menu_and_comes_to_the_front(window):
    tabs = window.tabs
    actions = window.menus.tabs.actions()
    assert [action.text() for action in actions] == [
        tabs.tabText(place) for place in range(tabs.count())
    ]
    for place, action in enumerate(actions):
        action.trigger()
        assert tabs.currentIndex() == place
    keys = [action.shortcut().toString() for action in actions if not action.shortcut().isEmpty()]
    assert keys[0] == "Ctrl+1"
    assert len(keys) == len(set(keys)) == min(10, tabs.count())


def test_a_tab_can_be_chosen_before_there_are_charts(qtbot, engine):
    window = MainWindow(AppState(Workers(engine), data_dir("kernels")))
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    keys(qtbot, window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    coming = window.findChild(ComingTabs)
    titles = [coming.tabText(place) for place in range(coming.count())]
    assert titles[coming.currentIndex()] == "Sweep"
    assert "being loaded" in coming.currentWidget().text()
    window.complete()
    assert window.tabs.currentWidget() is window.tabs.sweep
    assert [window.tabs.tabText(place) for place in range(window.tabs.count())] == titles
    window.close()


def test_tabs_out_of_sight_are_in_a_menu_beside_their_bar(window):
    tabs = window.tabs
    assert not tabs.all_tabs.isVisible()
    window.resize(1024, 700)
    assert tabs.all_tabs.isVisible()
    assert tabs.all_tabs.menu() is window.menus.tabs
    tabs.setCurrentWidget(tabs.results)
    assert [each.text() for each in window.menus.tabs.actions() if each.isChecked()] == ["Results"]


def test_the_words_on_saving_are_whole_or_absent(qtbot, window, tmp_path):
    """Before the status bar gives them their room, not a part of them is drawn."""
    window.state.archive.open(tmp_path / "mine.gemmviz")
    qtbot.waitUntil(lambda: window.saved.text() == "Saved in mine.gemmviz")

    def drawn() -> int:
        image = window.saved.grab().toImage()
        ground = image.pixel(0, 0)
        return sum(
            image.pixel(x, y) != ground for x in range(image.width()) for y in range(image.height())
        )

    qtbot.waitUntil(lambda: drawn() > 0)
    window.saved.resize(30, window.saved.height())
    assert not drawn()


def test_esc_ends_an_experiment(qtbot, window, engine):
    state = window.state
    engine.endless_experiments = True
    assert not window.menus.stop.isEnabled()
    state.laboratory.start(MeasureCeilings(state.laboratory.next_id(), POCL))
    qtbot.waitUntil(lambda: bool(state.laboratory.begun))
    assert window.status.text().startswith("Measuring the ceilings of")
    assert window.menus.run.text() == "&Queue"
    keys(qtbot, window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not state.laboratory.busy)
    assert not window.menus.stop.isEnabled()
    assert window.status.text().startswith("Ready")
