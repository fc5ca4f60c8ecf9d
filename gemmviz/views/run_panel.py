"""What the tabs that chart the shown run share: tools above it, and words where it is empty."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.labels import device_label
from gemmviz.core.model import Result
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.picture import run_heading
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.run_chooser import RunChooser
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow


class RunPanel(QWidget):
    """A chart of the run that is shown, the choice of run above it and its tools.

    A subclass draws in ``_redraw`` and forgets the last run in ``_on_run_shown``.
    """

    def __init__(
        self,
        state: AppState,
        chart: LiveChart | DistributionChart,
        hint: str,
        scale: str,
        home: str,
    ) -> None:
        super().__init__()
        self._state = state
        self._canvas = chart
        self.chooser = RunChooser(state)
        title = QWidget()
        row = QHBoxLayout(title)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.chooser)
        row.addWidget(ElidedLabel(hint, "note"), 1)
        self.tools = ToolRow(title)
        self.log = self.tools.add_choice(("Linear", "Log"), scale)
        self.home = self.tools.add_button("home", home)
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(0)
        column.addWidget(self.tools)
        column.addWidget(chart, 1)
        self.home.clicked.connect(chart.home)
        state.run_shown.connect(self._on_run_shown)
        state.job_advanced.connect(self._on_job_advanced)
        state.job_ended.connect(self._redraw)
        state.setup_changed.connect(self._show_next_step)
        state.devices_listed.connect(self._show_next_step)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self._canvas.set_theme(theme)
        self.tools.set_theme(theme)

    @Slot(bool)
    def show_log(self, log: bool) -> None:
        """Draw logarithmic axes, or linear ones."""
        self.log.choose("Log" if log else "Linear")
        self._canvas.set_log(log)

    def title(self) -> Title | None:
        """What stands above an exported picture: all of the run that is shown."""
        run = self._state.shown
        if run is None:
            return None
        if run.result is None:
            run.refresh_summary()
        return run_heading(run.job, run.device, outcome(run), run.summary, run.buffer.launch_count)

    def results(self) -> tuple[Result, ...]:
        """What an exported picture carries: the run that is shown, once it has ended."""
        recorded = self._state.shown.recorded if self._state.shown is not None else None
        return (recorded,) if recorded is not None else ()

    def showEvent(self, event: object) -> None:
        """Catch up with what came while another tab was in front."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._redraw()

    def _clear(self) -> None:
        """Show nothing of the last run, and all of this one."""
        self._canvas.clear_samples()
        self._canvas.set_struck(False)
        self._redraw()
        self._show_next_step()

    def _strike(self, objection: str) -> None:
        """Strike the chart through where there is an objection to its figures."""
        reason = f"{objection.capitalize()}: the figures do not count"
        self._canvas.set_struck(bool(objection), reason)

    @Slot()
    def _on_run_shown(self) -> None:
        """Another run is shown."""
        self._clear()

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        """Something came of a run."""

    @Slot()
    def _redraw(self) -> None:
        """Renew the picture, if anyone sees it."""

    @Slot()
    def _show_next_step(self) -> None:
        run = self._state.shown
        if run is not None and not len(run.buffer):
            text = f"{run.label} on {device_label(run.device)}: {run.status}"
        else:
            text = self._state.next_step
        if text != self._canvas.empty_text:
            self._canvas.empty_text = text
            self._canvas.viewport().update()


def describe_run(run: Run) -> str:
    """Device, kernel, shape and element of a run on one line."""
    return f"{run.label}  ·  {run.problem_text}  ·  {device_label(run.device)}"
