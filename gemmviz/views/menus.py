"""The menu bar, and the actions behind its entries."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QMenu, QMenuBar

from gemmviz.app.state import AppState
from gemmviz.core.limits import load_limits
from gemmviz.core.limits_table import Limits
from gemmviz.core.units import memory
from gemmviz.views.result_files import ResultFiles
from gemmviz.views.tab_titles import TAB_TITLES

_MEASURE_TIP = "Measure the ticked runs in turns, round by round, and say which is faster (Ctrl+M)"
_CARDS = 3  # as many as make clear which generation it is
_TAB_KEYS = "1234567890"
_THEMES = {"light": "&Light", "dark": "&Dark", "system": "As the &system"}


class Menus(QObject):
    """Makes every action once; the window connects those that need it.

    Those that the state does not allow are disabled.
    """

    def __init__(self, state: AppState, parent: QObject) -> None:
        super().__init__(parent)
        self._state = state
        self.bar = QMenuBar()
        self.run = self._action("&Run", "Ctrl+R", "Run the kernel (Ctrl+R)")
        self.stop = self._action("&Stop", "Esc", "End every run and experiment (Esc)")
        self.open_kernel = self._action("&Open kernel...", QKeySequence.StandardKey.Open)
        self.reload_kernels = self._action("&Reload kernels", "Ctrl+Shift+R")
        self.export_chart = self._action("&Export chart...", "Ctrl+E")
        self.copy_chart = self._action("&Copy chart", "Ctrl+Shift+C")
        self.export_table = self._action("Export &table...", "Ctrl+Shift+E")
        self.export_report = self._action("Save re&port...", None)
        self.quit = self._action("&Quit", "Ctrl+Q")
        self.pin = self._action("Pin as &baseline", "B")
        self.measure = self._action("&Measure against each other", "Ctrl+M")
        self.clear = self._action("&Clear results", None)
        self.home = self._action("&Show all", "H")
        self.log_axes = self._action("Lo&garithmic axes", "L")
        self.log_axes.setCheckable(True)
        self.refresh = self._action("&Refresh devices", "F5")
        self.settings = self._action("&Run settings...", "Ctrl+,")
        self.about = self._action("&About gemmviz", None)
        self.files = ResultFiles(state.archive, self)
        self.themes = QActionGroup(self)
        self.what_if = QActionGroup(self)
        self.panels = QMenu("&Panels", self.bar)
        self.tabs = QMenu("&Go to", self.bar)
        self._fill()
        self.run.triggered.connect(self._on_run_triggered)
        self.stop.triggered.connect(state.stop)
        self.measure.triggered.connect(self._on_measure_triggered)
        self.refresh.triggered.connect(state.list_devices)
        self.reload_kernels.triggered.connect(state.load_kernels)
        self.themes.triggered.connect(self._on_theme_triggered)
        self.what_if.triggered.connect(self._on_what_if_triggered)
        for signal in (state.setup_changed, state.devices_listed, state.catalog_loaded):
            signal.connect(self._show_state)
        state.laboratory.busy_changed.connect(self._show_state)
        for signal in (state.job_queued, state.job_ended, state.book.cleared):
            signal.connect(self._show_state)
        for signal in (state.comparison_ended, state.book.run_added, state.book.marks_changed):
            signal.connect(self._show_state)
        self._show_state()

    def _action(
        self, text: str, keys: str | QKeySequence.StandardKey | None, tip: str = ""
    ) -> QAction:
        action = QAction(text, self)
        action.setAutoRepeat(False)  # a key held down is one wish
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
        if tip:
            action.setToolTip(tip)
        return action

    def _fill(self) -> None:
        files = self.files
        self._menu("&File", self.open_kernel, self.reload_kernels, None, files.new, files.open,
                   files.save_as, files.recent.menuAction(), None, self.export_chart,
                   self.copy_chart, self.export_table, self.export_report, None,
                   self.quit)  # fmt: skip
        self._menu("&Run", self.run, self.stop, None, self.measure, self.pin,
                   self.clear)  # fmt: skip
        view = self._menu("&View", self.home, self.log_axes)
        view.addSeparator()
        for name, text in _THEMES.items():
            action = self._choice(self.themes, text, name)
            action.setChecked(name == self._state.theme)
            view.addAction(action)
        view.addSeparator()
        view.addMenu(self.panels)
        view.addMenu(self.tabs)
        device = self._menu("&Device", self.refresh, None)
        self._fill_what_if(device.addMenu("&Estimate as if it ran on"))
        self._fill_tabs()
        self._menu("&Settings", self.settings)
        self._menu("&Help", self.about)

    def _menu(self, title: str, *actions: QAction | None) -> QMenu:
        menu = self.bar.addMenu(title)
        menu.setToolTipsVisible(True)
        for action in actions:
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        return menu

    def _fill_what_if(self, menu: QMenu) -> None:
        own = self._choice(self.what_if, "The &selected device", None)
        own.setChecked(True)
        menu.addAction(own)
        menu.addSeparator()
        vendor: Callable[[Limits], str] = lambda row: row.vendor  # noqa: E731 (a key of one use)
        for name, rows in groupby(load_limits(), vendor):
            submenu = menu.addMenu(name)
            for row in rows:
                cards = f" ({', '.join(row.cards[:_CARDS])})" if row.cards else ""
                text = f"{row.name}{cards}   –   {memory(row.pool_bytes)} a {row.pool_name}"
                submenu.addAction(self._choice(self.what_if, text, row))

    def _fill_tabs(self) -> None:
        """Every tab, since a narrow window cannot show all of them, with a key each."""
        group = QActionGroup(self)
        for place, title in enumerate(TAB_TITLES):
            action = self._choice(group, title, place)
            action.setChecked(not place)
            action.setAutoRepeat(False)
            if place < len(_TAB_KEYS):
                action.setShortcut(QKeySequence(f"Ctrl+{_TAB_KEYS[place]}"))
            self.tabs.addAction(action)

    def _choice(self, group: QActionGroup, text: str, value: object) -> QAction:
        action = QAction(text, self)
        action.setCheckable(True)
        action.setData(value)
        group.addAction(action)
        return action

    @Slot()
    def _show_state(self) -> None:
        state = self._state
        count = sum(not target.refusal for target in state.targets)
        word = "&Queue" if state.active or state.laboratory.busy else "&Run"
        one = f"{word} on 1 ticked" if state.elsewhere and count else word
        self.run.setText(one if count < 2 else f"{word} on {count}")
        self.run.setEnabled(state.can_run)
        self.run.setToolTip(state.refusal or state.remark or "Run the kernel (Ctrl+R)")
        self.stop.setEnabled(bool(state.active or state.laboratory.busy))
        refusal = state.comparison_refusal(state.book.ticked)
        self.measure.setEnabled(not refusal)
        self.measure.setToolTip(refusal or _MEASURE_TIP)
        for action in (self.clear, self.export_table, self.export_report):
            action.setEnabled(bool(state.book.runs))
        self.refresh.setEnabled(not state.listing_now)

    @Slot()
    def _on_run_triggered(self) -> None:
        """Run what is shown: a number that is still being typed counts."""
        editor = QApplication.focusWidget()
        if isinstance(editor, QAbstractSpinBox):
            editor.interpretText()
        self._state.start()

    @Slot()
    def _on_measure_triggered(self) -> None:
        self._state.compare(self._state.book.ticked)

    @Slot(QAction)
    def _on_theme_triggered(self, action: QAction) -> None:
        self._state.choose_theme(str(action.data()))

    @Slot(QAction)
    def _on_what_if_triggered(self, action: QAction) -> None:
        row = action.data()
        self._state.choose_what_if(row if isinstance(row, Limits) else None)
