"""The tabs of charts and results, and the actions that work on the one in front.

The window imports this module once it is on screen: pyqtgraph takes a quarter of a second.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QMessageBox, QTabWidget

from gemmviz.app.results_table import ResultsTableModel
from gemmviz.app.state import AppState
from gemmviz.views.charts import CHARTS
from gemmviz.views.charts.chart import Chart
from gemmviz.views.compare_panel import ComparePanel
from gemmviz.views.export import ExportDialog, Title, copy_chart
from gemmviz.views.live_panel import LivePanel
from gemmviz.views.menus import Menus
from gemmviz.views.results_panel import ResultsPanel
from gemmviz.views.theme import Theme


class Tabs(QTabWidget):
    """Live timing, comparison and results; ``told`` is a remark for the status bar."""

    told = Signal(str)

    def __init__(self, state: AppState, menus: Menus) -> None:
        super().__init__()
        self._state, self._menus = state, menus
        results = ResultsTableModel(state.book, self)
        self.live = LivePanel(state)
        self.compare = ComparePanel(state, results)
        self.results = ResultsPanel(state, results)
        panels = {type(panel.chart): panel for panel in (self.live, self.compare)}
        for title, kind in CHARTS:
            self.addTab(panels[kind], title)
        self.addTab(self.results, "Results")
        menus.export_chart.triggered.connect(self._on_export_chart)
        menus.copy_chart.triggered.connect(self._on_copy_chart)
        menus.export_table.triggered.connect(self._on_export_table)
        menus.pin.triggered.connect(self._on_pin)
        menus.home.triggered.connect(self.live.chart.home)
        menus.log_axes.toggled.connect(self.live.show_log)
        self.live.log.choice_made.connect(self._on_scale_chosen)
        self.live.export.clicked.connect(self._on_export_chart)
        self.compare.export.clicked.connect(self._on_export_chart)
        self.compare.pin.clicked.connect(self._on_pin)
        self.results.export.clicked.connect(self._on_export_table)
        menus.clear.triggered.connect(self._on_clear)
        self.results.clear.clicked.connect(self._on_clear)
        state.book.baseline_refused.connect(self.told)
        state.run_shown.connect(self._on_run_shown)
        for chart in (self.live.chart, self.compare.chart):
            copy = QShortcut(QKeySequence.StandardKey.Copy, chart)
            copy.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            copy.activated.connect(self._on_copy_chart)

    @property
    def chart(self) -> Chart:
        """The chart in front, or the live one while the table is."""
        return self.compare.chart if self.currentWidget() is self.compare else self.live.chart

    def _picture(self) -> tuple[Chart, Title | None]:
        """What to export: the chart in front with all that has come, and a title of its own."""
        if self.chart is self.compare.chart:
            return self.chart, None
        self.live.catch_up()
        return self.chart, self.live.title()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        for panel in (self.live, self.compare, self.results):
            panel.set_theme(theme)

    def save_table(self, path: Path) -> None:
        """Write the results as CSV; a file that cannot be written is said in a dialog."""
        try:
            path.write_text(self._state.book.to_csv(), encoding="utf-8")
        except OSError as error:
            QMessageBox.warning(self, "The table was not saved", f"{path}: {error.strerror}")
            return
        self.told.emit(f"Saved {path}")

    @Slot()
    def _on_run_shown(self) -> None:
        run = self._state.shown
        if run is not None and run.result is not None:
            self.setCurrentWidget(self.live)

    @Slot(str)
    def _on_scale_chosen(self, scale: str) -> None:
        self._menus.log_axes.setChecked(scale == "Log")

    @Slot()
    def _on_pin(self) -> None:
        """Pin the run that is in front: the one shown, or the chosen row of a table."""
        tables = {self.compare: self.compare.table, self.results: self.results.table}
        table = tables.get(self.currentWidget())
        run = self._state.shown if table is None else table.chosen
        if run is not None:
            self._state.book.pin_baseline(run)

    @Slot()
    def _on_clear(self) -> None:
        count = len(self._state.book.runs)
        question = f"{count} run{'s' * (count != 1)} will be lost where no export holds them."
        if count and QMessageBox.question(self, "Clear the results?", question) == (
            QMessageBox.StandardButton.Yes
        ):
            self._state.book.clear()

    @Slot()
    def _on_export_chart(self) -> None:
        chart, title = self._picture()
        dialog = ExportDialog(chart, self.window(), title)
        dialog.saved.connect(self._on_chart_saved)
        dialog.open()

    @Slot(str)
    def _on_chart_saved(self, path: str) -> None:
        self.told.emit(f"Saved {path}")

    @Slot()
    def _on_copy_chart(self) -> None:
        chart, title = self._picture()
        copy_chart(chart, title=title)
        self.told.emit("The chart is on the clipboard")

    @Slot()
    def _on_export_table(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Export the table", "results.csv", "CSV (*.csv)"
        )
        if name:
            self.save_table(Path(name))
