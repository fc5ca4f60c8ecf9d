"""The tab of the distribution: how the times of the run that is shown are spread."""

from __future__ import annotations

from PySide6.QtCore import Slot

from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.spread import describe_spread, outlier_mask, spread_of
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.export import Title
from gemmviz.views.pace import Pace
from gemmviz.views.run_panel import RunPanel, describe_run

_REDRAW_MILLISECONDS = 500
"""Its shape changes slowly, and each time all of it is drawn anew."""
_MOST_LIVE = 50_000
"""Of more samples only an even part is drawn while the run goes on."""
_ROOM_FOR_LINES = 400
"""Below this height of the chart all remarks share a line."""
_HINT = "Drag across the bars to select a range, right click or H for all"


class DistributionPanel(RunPanel):
    """Histogram and run order of the run that is shown, and the choice of axes."""

    def __init__(self, state: AppState) -> None:
        chart = DistributionChart()
        super().__init__(
            state, chart, _HINT, "Scale of times and counts (L)", "End selection and zoom (H)"
        )
        self.chart = chart
        self._drawn: tuple[int, int, int, str] | None = None
        self._remarks: tuple[str, ...] = ()
        self._pace = Pace(self, _REDRAW_MILLISECONDS)
        self._pace.due.connect(self._redraw)
        self._on_run_shown()

    def catch_up(self) -> None:
        """Show every sample there is, as a picture for someone else must even of a hidden tab."""
        if self._state.shown is not None:
            self._show(self._state.shown, whole=True)

    def title(self) -> Title | None:
        """What stands above an exported picture: all of the run, and what is remarkable of it."""
        title = super().title()
        return None if title is None else (title[0], (*title[1], *self._remark_lines()))

    @Slot()
    def _on_run_shown(self) -> None:
        self._drawn, self._remarks = None, ()
        self._pace.cancel()
        self._clear()

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
        state = run.restarts, count, every, objection
        if state == self._drawn:
            return
        self._drawn = state
        self._strike(objection)
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
