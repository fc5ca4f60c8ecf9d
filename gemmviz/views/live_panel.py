"""The tab of the live charts: the samples of the run that is shown."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot

from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.pace import Pace
from gemmviz.views.run_panel import RunPanel, describe_run

_REDRAW_MILLISECONDS, _SLOW_REDRAW_MILLISECONDS = 66, 150
"""Seldom enough not to cost a GPU that also drives the screen; more seldom where the kernel runs on
the cores that draw."""
_CATCH_UP_MILLISECONDS = 25
"""Between two parts of a long run that is shown from its beginning."""
_HINT = "Drag to zoom, Shift and drag to move, H for all"


class LivePanel(RunPanel):
    """Which run is shown, its charts, and the choice of axes.

    While drawing could disturb a measurement it redraws at once when samples have come, and never
    else.
    """

    def __init__(self, state: AppState) -> None:
        chart = LiveChart()
        super().__init__(
            state, chart, _HINT, "Scale of the value axes",
            "Show every sample and follow new ones (H)",
        )  # fmt: skip
        self.chart = chart
        self._drawn: tuple[int, int] | None = None
        self._heading = ""
        self._struck: tuple[int, str] | None = None
        self._fast, self._slow = (
            Pace(self, usual) for usual in (_REDRAW_MILLISECONDS, _SLOW_REDRAW_MILLISECONDS)
        )
        self._catching_up = QTimer(self, singleShot=True, interval=_CATCH_UP_MILLISECONDS)
        for due in (self._fast.due, self._slow.due, self._catching_up.timeout):
            due.connect(self._redraw)
        self._on_run_shown()

    @Slot()
    def _on_run_shown(self) -> None:
        self._drawn, self._struck = None, None
        self._clear()

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        state, shown = self._state, self._state.shown
        if state.quiet:  # the moment after a batch is the only one in which nothing is timed
            self._rest()
            run = state.active.get(job_id)
            if run is not None and run.job.policy.quiet:
                self._redraw()
            return
        if shown is None or shown.job.id != job_id:
            return
        self._pace_of(shown).ask()

    def _pace_of(self, run: Run) -> Pace:
        return self._fast if run.device.type == "GPU" else self._slow

    def _rest(self) -> None:
        """Let nothing be redrawn by a timer."""
        self._fast.cancel()
        self._slow.cancel()
        self._catching_up.stop()

    @Slot()
    def _redraw(self) -> None:
        """Renew the picture, all of it or nothing: its heading must be that of its samples."""
        if self.isVisible() and self._state.shown is not None:
            self._show(self._state.shown, at_once=False)
            if self.chart.behind and not self._state.quiet:
                self._catching_up.start()

    def catch_up(self) -> None:
        """Show every sample there is, as a picture for someone else must even of a hidden tab."""
        if self._state.shown is not None:
            self._show(self._state.shown, at_once=True)

    def _show(self, run: Run, *, at_once: bool) -> None:
        self._show_heading(run)
        objection = outcome(run).objection
        struck = (run.job.id, objection) if objection else None
        if struck != self._struck:
            self._struck = struck
            self._strike(objection)
        drawn = run.restarts, len(run.buffer)
        if drawn != self._drawn or self.chart.behind:
            self._drawn = drawn
            with self._pace_of(run).measured():
                self.chart.set_samples(
                    run.buffer.at, run.buffer.seconds_per_launch, run.flop, at_once=at_once
                )
        if not len(run.buffer):
            self._show_next_step()

    def _show_heading(self, run: Run) -> None:
        """Say in the picture what it shows, so that an exported one can stand alone."""
        text = describe_run(run)
        if text != self._heading:
            self._heading = text
            self.chart.set_heading("", (Line(text, "text"),))
            self.chart.export_title = text
