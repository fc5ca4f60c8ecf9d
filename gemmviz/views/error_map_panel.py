"""The tab of the error map: where the answer of the run that is shown is wrong."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.app.outcomes import outcome
from gemmviz.app.state import AppState
from gemmviz.core.error_map import ErrorMap
from gemmviz.core.labels import device_label
from gemmviz.core.model import Result
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.picture import error_heading, why_no_map
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.run_panel import describe_run
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_HINT = "Point at a cell for its values, drag to zoom, right click or H for all of C"
_NO_RUN = "A wrong answer is drawn here, cell by cell: how far each is from the reference"


class ErrorMapPanel(QWidget):
    """C as an image of its errors, or why there is none."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.chart = ErrorMapChart()
        self._shown: ErrorMap | None = None
        self.tools = ToolRow(ElidedLabel(_HINT, "note"))
        self.home = self.tools.add_button("home", "Show all of C (H)")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(0)
        column.addWidget(self.tools)
        column.addWidget(self.chart, 1)
        self.home.clicked.connect(self.chart.home)
        state.run_shown.connect(self._refresh)
        state.job_advanced.connect(self._on_job_advanced)
        state.job_ended.connect(self._refresh)
        state.book.cleared.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.chart.set_theme(theme)
        self.tools.set_theme(theme)

    def catch_up(self) -> None:
        """Nothing to do: a map comes as a whole."""

    def title(self) -> Title | None:
        """What stands above an exported picture: the pattern and all of the run."""
        run = self._state.shown
        if run is None:
            return None
        return error_heading(run.job, run.device, outcome(run), self._shown)

    def results(self) -> tuple[Result, ...]:
        """What an exported picture carries: the run that is shown, once it has ended."""
        recorded = self._state.shown.recorded if self._state.shown is not None else None
        return (recorded,) if recorded is not None else ()

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        run = self._state.shown
        if run is not None and run.job.id == job_id and run.error_map is not self._shown:
            self._refresh()

    @Slot()
    def _refresh(self) -> None:
        run = self._state.shown
        found = run.error_map if run is not None else None
        if run is None:
            text = _NO_RUN
        elif run.result is None:
            text = f"{run.label} on {device_label(run.device)}: no error has been found so far"
        else:
            text = why_no_map(outcome(run))
        self.chart.empty_text = text
        if found is not self._shown:  # or a zoom into it would be lost
            self._shown = found
            self.chart.set_map(found)
        lines: tuple[Line, ...] = ()
        if run is not None and found is not None:
            lines = (Line(found.pattern, "bad"), Line(describe_run(run)))
            self.chart.export_title = f"Error map of {describe_run(run)}"
        self.chart.set_heading("", lines)
        self.chart.viewport().update()
