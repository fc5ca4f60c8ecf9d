"""The tabs of charts and results, and the actions that work on the one in front.

The window imports this module once it is on screen: pyqtgraph takes a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMessageBox,
    QToolButton,
    QWidget,
)

from gemmviz.app.opening import OpenedDocument
from gemmviz.app.results_table import ResultsTableModel
from gemmviz.app.session_files import TABLE_KINDS, session_results, table_parts
from gemmviz.app.state import AppState
from gemmviz.core.model import Result
from gemmviz.core.sweep_file import identity
from gemmviz.core.sweep_map import map_axes
from gemmviz.views.access_panel import AccessPanel
from gemmviz.views.advice_panel import AdvicePanel
from gemmviz.views.charts import CHARTS
from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.advice import AdviceChart
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.claims import ClaimsChart
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.devices import DevicesChart
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.charts.ladder import LadderChart
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.report_pictures import report_of
from gemmviz.views.charts.roofline import RooflineChart
from gemmviz.views.charts.steps import StepsChart
from gemmviz.views.claims_panel import ClaimsPanel
from gemmviz.views.compare_panel import ComparePanel
from gemmviz.views.devices_panel import DevicesPanel
from gemmviz.views.distribution_panel import DistributionPanel
from gemmviz.views.error_map_panel import ErrorMapPanel
from gemmviz.views.export import Title, copy_chart
from gemmviz.views.export_dialog import ExportDialog
from gemmviz.views.ladder_panel import LadderPanel
from gemmviz.views.live_panel import LivePanel
from gemmviz.views.menus import Menus
from gemmviz.views.occupancy_curves_panel import OccupancyCurvesPanel
from gemmviz.views.results_panel import ResultsPanel
from gemmviz.views.roofline_panel import RooflinePanel
from gemmviz.views.sweep_panel import SweepPanel
from gemmviz.views.sweep_views import HEAT
from gemmviz.views.tab_frame import TabFrame
from gemmviz.views.tab_titles import TAB_TITLES
from gemmviz.views.theme import Theme

_TABLE_WORDS = "Export table (Ctrl+Shift+E) saves the results"
_OF_RUNS = ("Live", "Distribution", "Error map", "Compare")
"""Tabs whose charts show the runs of the session, so that they are what a picture of them was."""


class ChartPanel(Protocol):
    """What the panel of every chart has."""

    export: QToolButton

    @property
    def chart(self) -> Chart:
        """The chart that is shown."""

    def catch_up(self) -> None:
        """Bring the chart up to date even while its tab is hidden."""

    def title(self) -> Title | None:
        """What stands above an exported picture instead of the heading on the screen."""

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""


@runtime_checkable
class ShowsResults(Protocol):
    """What the panel of a chart of finished runs has besides."""

    def results(self) -> Sequence[Result]:
        """What the chart shows, for the metadata of an exported picture."""


class Tabs(TabFrame):
    """The charts and the results; ``told`` is a remark for the status bar.

    A run that is shown again brings its live chart to the front, a wrong result its error map, and
    a comparison that ends the tab of comparisons.
    """

    told = Signal(str)

    def __init__(self, state: AppState, menus: Menus) -> None:
        super().__init__(menus.tabs)
        self._state, self._menus = state, menus
        self._mapped: int | None = None  # the last job whose error map came to the front
        results = ResultsTableModel(state.book, self)
        self.live = LivePanel(state)
        self.distribution = DistributionPanel(state)
        self.error_map = ErrorMapPanel(state)
        colors = ColorBook()  # a device has one colour in every tab
        self.devices = DevicesPanel(state, colors)
        self.compare = ComparePanel(state, results, colors)
        self.access = AccessPanel(state)
        self.occupancy = OccupancyCurvesPanel(state)
        self.roofline = RooflinePanel(state, colors)
        self.ladder = LadderPanel(state)
        self.sweep = SweepPanel(state)
        self.advice = AdvicePanel(state)
        self.claims = ClaimsPanel(state)
        self.results = ResultsPanel(state, results)
        self.measure = self.results.tools.add_button("versus", "", "Measure")
        panels: dict[
            type[Chart],
            LivePanel
            | DistributionPanel
            | ErrorMapPanel
            | ComparePanel
            | DevicesPanel
            | AccessPanel
            | OccupancyCurvesPanel
            | RooflinePanel
            | LadderPanel
            | SweepPanel
            | AdvicePanel
            | ClaimsPanel,
        ] = {
            LiveChart: self.live,
            DistributionChart: self.distribution,
            ErrorMapChart: self.error_map,
            CompareChart: self.compare,
            DevicesChart: self.devices,
            AccessMapChart: self.access,
            StepsChart: self.occupancy,
            RooflineChart: self.roofline,
            LadderChart: self.ladder,
            HeatMapChart: self.sweep,
            AdviceChart: self.advice,
            ClaimsChart: self.claims,
        }
        pages = [*(panels[kind] for _, kind in CHARTS), self.results]
        for page, title in zip(pages, TAB_TITLES, strict=True):
            self.addTab(page, title)
        self._panels: dict[QWidget, ChartPanel] = {panel: panel for panel in panels.values()}
        self._connect()
        self._on_measure_changed()

    def _connect(self) -> None:
        menus, state = self._menus, self._state
        menus.export_chart.triggered.connect(self._on_export_chart)
        menus.copy_chart.triggered.connect(self._on_copy_chart)
        menus.export_table.triggered.connect(self._on_export_table)
        menus.export_report.triggered.connect(self._on_export_report)
        menus.pin.triggered.connect(self._on_pin)
        menus.home.triggered.connect(self._on_home)
        menus.clear.triggered.connect(self._on_clear)
        menus.measure.changed.connect(self._on_measure_changed)
        for panel in (self.live, self.distribution):
            menus.log_axes.toggled.connect(panel.show_log)
            panel.log.choice_made.connect(self._on_scale_chosen)
        for button in (self.compare.measure, self.measure):
            button.clicked.connect(menus.measure.trigger)
        for chart_panel in self._panels.values():
            chart_panel.export.clicked.connect(self._on_export_chart)
        self.compare.pin.clicked.connect(self._on_pin)
        self.compare.duels.copied.connect(self._on_duels_copied)
        self.results.export.clicked.connect(self._on_export_table)
        self.results.clear.clicked.connect(self._on_clear)
        self.claims.told.connect(self.told)
        self.results.told.connect(self.told)
        self.sweep.told.connect(self.told)
        state.book.baseline_refused.connect(self.told)
        state.run_shown.connect(self._on_run_shown)
        state.job_advanced.connect(self._on_job_advanced)
        state.comparison_ended.connect(self._on_comparison_ended)
        charts = (self.live.chart, self.distribution.chart, self.error_map.chart,
                  self.compare.bars, self.compare.ratios, self.devices.bars,
                  self.devices.curves, *(side.chart for side in self.devices.race.sides),
                  self.access.chart, self.occupancy.steps, self.occupancy.speed,
                  self.roofline.chart, self.ladder.chart, self.sweep.views.heat,
                  self.sweep.views.curve, self.sweep.views.scatter)  # fmt: skip
        for chart in charts:
            copy = QShortcut(QKeySequence.StandardKey.Copy, chart)
            copy.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            copy.activated.connect(self._on_copy_chart)

    @property
    def _panel(self) -> ChartPanel:
        """The panel in front, or the live one while the table is."""
        return self._panels.get(self.currentWidget(), self.live)

    @property
    def chart(self) -> Chart:
        """The chart in front, or the live one while the table is."""
        return self._panel.chart

    def show_document(self, document: OpenedDocument) -> None:
        """Bring to the front what a document shows: its sweep, its chart, or else its results."""
        kept = document.kept
        if kept is not None and self.sweep.trial.show(kept, document.runs):
            self.sweep.views.lay_out(*map_axes(kept.sweep, kept.report))
            self.sweep.catch_up()
            self.sweep.choose_page(HEAT)
            self.setCurrentWidget(self.sweep)
            return
        titles = [self.tabText(place) for place in range(self.count())]
        if document.chart in _OF_RUNS:
            self.setCurrentIndex(titles.index(document.chart))
        elif len(document.runs) > 1:
            self.setCurrentWidget(self.results)

    def _picture(self) -> tuple[Chart, Title | None] | None:
        """What to export: the chart in front with all that has come, and a title of its own.

        None where there is no chart, or nothing in it; that is told.
        """
        panel = self._panels.get(self.currentWidget())
        if panel is None:
            self.told.emit(f"There is no chart in this tab: {_TABLE_WORDS}")
            return None
        panel.catch_up()
        if panel.chart.is_empty():
            self.told.emit(f"This chart is empty: {panel.chart.empty_text}".rstrip(": "))
            return None
        return panel.chart, panel.title()

    def _results(self) -> Sequence[Result]:
        """What the chart in front shows, as far as its panel can tell."""
        panel = self._panel
        return panel.results() if isinstance(panel, ShowsResults) else ()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        super().set_theme(theme)
        for panel in self._panels.values():
            panel.set_theme(theme)
        self.results.set_theme(theme)

    def save_table(self, path: Path) -> None:
        """Write the results in the format of the name; a failure is said in a dialog."""
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                file.writelines(table_parts(self._state.book, path))
        except OSError as error:
            QMessageBox.warning(self, "The table was not saved", f"{path}: {error.strerror}")
            return
        self.told.emit(f"Saved {path}")

    @Slot()
    def _on_run_shown(self) -> None:
        run = self._state.shown
        if run is not None and run.result is not None:
            self.setCurrentWidget(self.live)

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        """A wrong result of the run that is watched opens its error map, once: as it comes."""
        run = self._state.shown
        if run is None or run.job.id != job_id or run.error_map is None:
            return
        if job_id != self._mapped:
            self._mapped = job_id
            self.setCurrentWidget(self.error_map)

    @Slot(object)
    def _on_comparison_ended(self, comparison: object) -> None:
        self.setCurrentWidget(self.compare)

    @Slot()
    def _on_duels_copied(self) -> None:
        self.told.emit("The comparison is on the clipboard")

    @Slot()
    def _on_measure_changed(self) -> None:
        """The buttons are those of the menu: alike enabled, and alike saying why not."""
        for button in (self.compare.measure, self.measure):
            button.setEnabled(self._menus.measure.isEnabled())
            button.setToolTip(self._menus.measure.toolTip())

    @Slot()
    def _on_home(self) -> None:
        self.chart.home()

    @Slot(str)
    def _on_scale_chosen(self, scale: str) -> None:
        self._menus.log_axes.setChecked(scale == "Log")

    @Slot()
    def _on_pin(self) -> None:
        """Pin the run that is in front: the one shown, or the chosen row of a table."""
        if self.currentWidget() is self.results:
            self.results.pin_baseline()
            return
        comparing = self.currentWidget() is self.compare
        run = self.compare.table.chosen if comparing else self._state.shown
        if run is not None:
            self._state.book.pin_baseline(run)

    @Slot()
    def _on_clear(self) -> None:
        count = len(self._state.book.runs)
        runs = f"{count} run{'s' * (count != 1)}"
        question = f"{runs} will be lost where no export holds them."
        saving = self._state.archive.saving
        if saving is not None and not self._state.archive.trouble:
            question = f"{runs} leave this session; they stay in {saving.name}."
        if count and QMessageBox.question(self, "Clear the results?", question) == (
            QMessageBox.StandardButton.Yes
        ):
            self._state.book.clear()

    @Slot()
    def _on_export_chart(self) -> None:
        picture = self._picture()
        if picture is None:
            return
        swept = self.sweep.trial.sweep if self.currentWidget() is self.sweep else None
        sweep = identity(swept) if swept is not None else ""
        dialog = ExportDialog(picture[0], self.window(), picture[1], self._results(), sweep)
        dialog.saved.connect(self._on_chart_saved)
        dialog.open()

    @Slot(str)
    def _on_chart_saved(self, path: str) -> None:
        self.told.emit(f"Saved {path}")

    @Slot()
    def _on_copy_chart(self) -> None:
        picture = self._picture()
        if picture is None:
            return
        copy_chart(picture[0], title=picture[1])
        self.told.emit("The chart is on the clipboard")

    def save_report(self, path: Path) -> None:
        """Write a page about every run; a file that cannot be written is said in a dialog."""
        QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
        try:
            page = report_of(session_results(self._state.book), "this session")
            path.write_text(page, encoding="utf-8")
        except OSError as error:
            QMessageBox.warning(self, "The report was not saved", f"{path}: {error.strerror}")
            return
        finally:
            QApplication.restoreOverrideCursor()
        self.told.emit(f"Saved {path}")

    @Slot()
    def _on_export_report(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Save a report", "report.html", "Web pages (*.html)"
        )
        if name:
            self.save_report(Path(name))

    @Slot()
    def _on_export_table(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Export the table", "results.csv", ";;".join(TABLE_KINDS)
        )
        if name:
            self.save_table(Path(name))
