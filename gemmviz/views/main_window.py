"""The window: docks around the figures, the charts and the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.opening import OpenedDocument
from gemmviz.app.state import AppState
from gemmviz.views.about import AboutDialog
from gemmviz.views.cards import Cards
from gemmviz.views.device_panel import DevicePanel
from gemmviz.views.drop import DropTarget
from gemmviz.views.failure_strip import FailureStrip
from gemmviz.views.log_panel import LogPanel
from gemmviz.views.menus import Menus
from gemmviz.views.occupancy_panel import OccupancyPanel
from gemmviz.views.result_files import SavedLabel
from gemmviz.views.roles import ElidedLabel, label, set_role
from gemmviz.views.setup_bar import SetupBar
from gemmviz.views.tab_frame import ComingTabs
from gemmviz.views.theme import DARK, LIGHT, THEMES, Theme, apply_theme

if TYPE_CHECKING:
    from gemmviz.views.tabs import Tabs

_WIDE = 1300
_STATUS_MILLISECONDS = 500
_REMARK_MILLISECONDS = 5000


class MainWindow(QMainWindow):
    """Lays the panels out and passes actions on; closing it ends runs, children and threads.

    ``theme`` is the one that the application already wears, if any. The charts come with
    ``complete``, once ``painted`` says that the window is on screen.
    """

    painted = Signal()

    def __init__(self, state: AppState, theme: Theme | None = None) -> None:
        super().__init__()
        self.state = state
        self._theme = theme
        self.setWindowTitle("gemmviz")
        self.menus = Menus(state, self)
        self.setup_bar = SetupBar(state, self.menus.run, self.menus.stop)
        self.devices = DevicePanel(state)
        self.occupancy = OccupancyPanel(state)
        self.log = LogPanel(state)
        self.cards = Cards(state)
        self.failure = FailureStrip(state)
        self.tabs: Tabs | None = None
        self._opened: OpenedDocument | None = None  # before there are tabs
        self._coming = ComingTabs(self.menus.tabs)
        self.status = ElidedLabel("Starting...")
        self.status.setContentsMargins(8, 0, 0, 2)
        self.saved = SavedLabel(state.archive)
        self.notice = label()
        set_role(self.notice, "state", "warn")
        self._samples_before = 0
        self._arranged = self._painted = False
        self._lay_out()
        self.drop = DropTarget(self, state)
        self._connect()
        self._on_theme_chosen()

    def _lay_out(self) -> None:
        top = QWidget()
        rows = QVBoxLayout(top)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.menus.bar)
        rows.addWidget(self.setup_bar)
        self.setMenuWidget(top)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(4, 6, 4, 0)
        column.setSpacing(8)
        column.addWidget(self.cards)
        column.addWidget(self.failure)
        column.addWidget(self._coming, 1)
        self._column = column
        self.setCentralWidget(centre)
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        self.setCorner(Qt.Corner.BottomLeftCorner, left)
        self.setCorner(Qt.Corner.BottomRightCorner, right)
        self._docks = {
            "devices": self._dock("Devices", self.devices, left),
            "occupancy": self._dock("Occupancy", self.occupancy, right),
            "log": self._dock("Log", self.log, Qt.DockWidgetArea.BottomDockWidgetArea),
        }
        self.statusBar().addWidget(self.status, 1)
        self.statusBar().addPermanentWidget(self.notice)
        self.statusBar().addPermanentWidget(self.saved)

    def _dock(self, title: str, panel: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(title)
        dock.setWidget(panel)
        self.addDockWidget(area, dock)
        self.menus.panels.addAction(dock.toggleViewAction())
        return dock

    def _connect(self) -> None:
        menus, state = self.menus, self.state
        self.drop.told.connect(self._on_told)
        self.drop.opened.connect(self._on_document_opened)
        menus.open_kernel.triggered.connect(self._on_open_kernel)
        menus.quit.triggered.connect(self.close)
        menus.settings.triggered.connect(self._on_settings)
        menus.about.triggered.connect(self._on_about)
        state.theme_chosen.connect(self._on_theme_chosen)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_theme_chosen)
        state.run_shown.connect(self._on_run_shown)
        self._status_timer = QTimer(self, interval=_STATUS_MILLISECONDS)
        self._status_timer.timeout.connect(self._show_status)
        state.catalog_loaded.connect(self._on_catalog_loaded)
        state.archive.opened.connect(self._on_file_opened)
        for signal in (state.devices_listed, state.job_queued, state.job_ended):
            signal.connect(self._show_status)
        state.comparison_ended.connect(self._show_status)
        state.laboratory.busy_changed.connect(self._show_status)

    @Slot()
    def complete(self) -> None:
        """Fill in the charts, whose library would keep a window from the screen."""
        from gemmviz.views.tabs import Tabs  # noqa: PLC0415

        self.tabs = Tabs(self.state, self.menus)
        self.tabs.told.connect(self._on_told)
        if self._theme is not None:
            self.tabs.set_theme(self._theme)
        self.tabs.setCurrentIndex(self._coming.currentIndex())
        self._column.replaceWidget(self._coming, self.tabs)
        self._coming.hide()
        self._coming.deleteLater()
        if self._opened is not None:
            self.tabs.show_document(self._opened)

    @Slot(object)
    def _on_document_opened(self, document: OpenedDocument) -> None:
        if self.tabs is not None:
            self.tabs.show_document(document)
        else:
            self._opened = document

    @Slot(str)
    def _on_told(self, remark: str) -> None:
        self.statusBar().showMessage(remark, _REMARK_MILLISECONDS)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell of the first time."""
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            self.painted.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Give the docks their widths, which Qt takes only from a window that is shown."""
        super().showEvent(event)
        if not self._arranged:
            self._arranged = True
            wide = self.width() >= _WIDE
            docks = [self._docks["devices"], self._docks["occupancy"]]
            widths = [290, 272] if wide else [230, 240]
            self.resizeDocks(docks, widths, Qt.Orientation.Horizontal)
            height = 130 if self.height() > 800 else 100
            self.resizeDocks([self._docks["log"]], [height], Qt.Orientation.Vertical)

    def closeEvent(self, event: QCloseEvent) -> None:
        """End every run, child and thread, and wait for them."""
        self._status_timer.stop()
        self.state.close()
        event.accept()

    @Slot()
    def _on_theme_chosen(self) -> None:
        theme = chosen_theme(self.state.theme)
        app = QApplication.instance()
        if theme is not self._theme and isinstance(app, QApplication):
            apply_theme(app, theme)
        self._theme = theme
        panels = (
            self.setup_bar, self.cards, self.devices, self.occupancy, self.log, self.failure,
            self.drop,
        )  # fmt: skip
        for panel in panels:
            panel.set_theme(theme)
        if self.tabs is not None:
            self.tabs.set_theme(theme)
        else:
            self._coming.set_theme(theme)

    @Slot()
    def _on_catalog_loaded(self) -> None:
        problems = self.state.catalog.problems
        kernels = "kernel does" if len(problems) == 1 else "kernels do"
        self.notice.setText(
            f"⚠ {len(problems)} {kernels} not load: see the log" if problems else ""
        )
        self.notice.setToolTip("\n".join(map(str, problems)))

    @Slot()
    def _on_file_opened(self) -> None:
        path = self.state.archive.path
        self.setWindowTitle(f"{path.name} – gemmviz" if path is not None else "gemmviz")

    @Slot()
    def _on_run_shown(self) -> None:
        self._samples_before = 0

    @Slot()
    def _show_status(self) -> None:
        state, run = self.state, self.state.shown
        if not state.active:
            self._status_timer.stop()
        elif not self._status_timer.isActive():
            self._status_timer.start()
        idle = "Asking the drivers..." if state.listing_now else "Ready"
        parts = ["; ".join(filter(None, (state.laboratory.note, state.queue_note))) or idle]
        if run is not None:
            count = len(run.buffer)
            parts.append(f"{count:,} samples")
            # Samples of a quiet run come all at once: a rate would be drawn for nothing.
            if run.result is None and self._samples_before and not state.quiet:
                rate = (count - self._samples_before) * 1000 / _STATUS_MILLISECONDS
                parts.append(f"{rate:,.0f} a second")
            self._samples_before = count
        self.status.setText("   ·   ".join(parts))

    @Slot()
    def _on_open_kernel(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, "Open a kernel: a .toml with its .cl beside it", "", "Kernels (*.toml)"
        )
        problem = self.state.open_kernel(Path(name)) if name else ""
        if problem:
            QMessageBox.warning(self, "This kernel does not load", problem)

    @Slot()
    def _on_settings(self) -> None:
        from gemmviz.views.settings_dialog import SettingsDialog  # noqa: PLC0415 (27 ms at start)

        SettingsDialog(self.state, self).open()

    @Slot()
    def _on_about(self) -> None:
        AboutDialog(self).open()


def chosen_theme(name: str) -> Theme:
    """The theme of that name; "system" follows the desktop, and is dark where it does not say."""
    if name in THEMES:
        return THEMES[name]
    scheme = QGuiApplication.styleHints().colorScheme()
    return LIGHT if scheme == Qt.ColorScheme.Light else DARK
