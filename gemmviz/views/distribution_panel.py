"""The tab of the distribution: how the times of the run that is shown are spread."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.labels import device_label
from gemmviz.core.spread import describe_spread, outlier_mask, spread_of
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.picture import run_heading
from gemmviz.views.export import Title
from gemmviz.views.live_panel import describe_run
from gemmviz.views.pace import Pace
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.run_chooser import RunChooser
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_REDRAW_MILLISECONDS = 500
"""Its shape changes slowly, and each time all of it is drawn anew."""
_MOST_LIVE = 50_000
"""Of more samples only an even part is drawn while the run goes on."""
_ROOM_FOR_LINES = 400
"""Below this height of the chart all remarks share a line."""
_HINT = "Drag across the bars to select a range, right click or H for all"


class DistributionPanel(QWidget):
    """Histogram and run order of the run that is shown, and the choice of axes."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._drawn: tuple[int, int, str] | None = None
        self._remarks: tuple[str, ...] = ()
        self.chart = DistributionChart()
        title = QWidget()
        row = QHBoxLayout(title)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(RunChooser(state))
        row.addWidget(ElidedLabel(_HINT, "note"), 1)
        self.tools = ToolRow(title)
        self.log = self.tools.add_choice(("Linear", "Log"), "Scale of times and counts (L)")
        self.home = self.tools.add_button("home", "End selection and zoom (H)")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(0)
        column.addWidget(self.tools)
        column.addWidget(self.chart, 1)
        self._pace = Pace(self, _REDRAW_MILLISECONDS)
        self._pace.due.connect(self._redraw)
        self.home.clicked.connect(self.chart.home)
        state.run_shown.connect(self._on_run_shown)
        state.job_advanced.connect(self._on_job_advanced)
        state.job_ended.connect(self._redraw)
        state.setup_changed.connect(self._show_next_step)
        state.devices_listed.connect(self._show_next_step)
        self._on_run_shown()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.chart.set_theme(theme)
        self.tools.set_theme(theme)

    @Slot(bool)
    def show_log(self, log: bool) -> None:
        """Draw logarithmic axes, or linear ones."""
        self.log.choose("Log" if log else "Linear")
        self.chart.set_log(log)

    def catch_up(self) -> None:
        """Show every sample there is, as a picture for someone else must even of a hidden tab."""
        if self._state.shown is not None:
            self._show(self._state.shown, whole=True)

    def title(self) -> Title | None:
        """What stands above an exported picture: all of the run that is shown."""
        run = self._state.shown
        if run is None:
            return None
        if run.result is None:
            run.refresh_summary()
        title, lines = run_heading(
            run.job, run.device, outcome(run), run.summary, run.buffer.launch_count
        )
        return title, (*lines, *self._remark_lines())

    def showEvent(self, event: object) -> None:
        """Catch up with what came while another tab was in front."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._redraw()

    @Slot()
    def _on_run_shown(self) -> None:
        self._drawn, self._remarks = None, ()
        self._pace.cancel()
        self.chart.clear_samples()
        self.chart.set_struck(False)
        self._redraw()
        self._show_next_step()

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        shown = self._state.shown
        if shown is None or shown.job.id != job_id:
            return
        if shown.job.policy.quiet:
            self._redraw()  # word comes between batches alone: later one would be under way
        else:
            self._pace.ask()

    @Slot()
    def _redraw(self) -> None:
        run = self._state.shown
        if self.isVisible() and run is not None:
            with self._pace.measured():
                self._show(run, whole=run.result is not None)

    def _show(self, run: Run, *, whole: bool) -> None:
        count = len(run.buffer)
        every = 1 if whole else max(1, -(-count // _MOST_LIVE))
        objection = outcome(run).objection
        state = count, every, objection
        if state == self._drawn:
            return
        self._drawn = state
        self.chart.set_struck(
            bool(objection), f"{objection.capitalize()}: the figures do not count"
        )
        seconds = run.buffer.seconds_per_launch[::every]
        spread = spread_of(seconds)
        self._remarks = describe_spread(spread) if spread is not None else ()
        self.chart.export_title = f"Distribution of {describe_run(run)}"
        self.chart.set_heading("", (Line(describe_run(run), "text"), *self._remark_lines()))
        self.chart.set_samples(
            seconds,
            outlier_mask(seconds),
            drifts=spread is not None and spread.drifts,
            every=every,
        )
        if not count:
            self._show_next_step()

    def _remark_lines(self) -> tuple[Line, ...]:
        """What is remarkable about the spread: on one line where plots would be too low."""
        if self.chart.height() < _ROOM_FOR_LINES:
            return (Line(" ".join(self._remarks), "warn"),) if self._remarks else ()
        return tuple(Line(remark, "warn") for remark in self._remarks)

    @Slot()
    def _show_next_step(self) -> None:
        run = self._state.shown
        if run is not None and not len(run.buffer):
            text = f"{run.label} on {device_label(run.device)}: {run.status}"
        else:
            text = self._state.next_step
        if text != self.chart.empty_text:
            self.chart.empty_text = text
            self.chart.viewport().update()
