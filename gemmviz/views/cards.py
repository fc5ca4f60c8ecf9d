"""The figures of the run that is shown: throughput, time, how it was measured, and verdict."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gemmviz.app.measured import measured, timer_badge
from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.stats import FEWEST_FOR_95
from gemmviz.core.units import duration, elapsed, percent, scaled
from gemmviz.views.details_dialog import DetailsDialog
from gemmviz.views.kernel_combo import SIGNS
from gemmviz.views.roles import BADGE_STATES, Card, ElidedLabel, Meter, label, set_role
from gemmviz.views.theme import Theme, icon

_REFRESH_MILLISECONDS = 200
_FOUR_IN_A_ROW = 700
_LIBRARY_TIP = (
    "Of the speed of the device's fastest library at the same sizes and element type; each was "
    "measured by itself, so a comparison in turns is surer."
)


class FigureCard(Card):
    """A caption, one large figure with its unit below or beside it, and a note under them."""

    def __init__(self, caption: str, note_lines: int = 2) -> None:
        super().__init__()
        self._note_lines = note_lines
        self.tool: QToolButton | None = None
        self.figure, self.unit = label("–", "figure"), label("", "unit")
        self.note = ElidedLabel("", "note")
        self._head = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        title, self.badge = label(caption, "caption"), ElidedLabel("", "note")
        self.badge.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.badge.hide()
        for part in (title, self.figure, self.unit):
            part.setMinimumWidth(1)  # else four of them would keep the window wide
        self._top, self._row, self._foot = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        self._top.addWidget(title)
        self._top.addStretch(1)
        self._row.setSpacing(6)
        self._row.addWidget(self.figure)
        self._row.addWidget(self.unit)
        self._row.addStretch(1)
        self._foot.addWidget(self.note, 1)
        self._head.addLayout(self._top)
        self._head.addLayout(self._row, 1)
        self.box.addLayout(self._head)
        self.box.addLayout(self._foot)
        self.box.addStretch(1)
        self.set_flat(False)

    def set_flat(self, flat: bool) -> None:
        """Be low and wide: the caption beside the figure, and one line of the note alone."""
        sideways, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._head.setDirection(sideways if flat else down)
        self._head.setSpacing(8 if flat else 3)
        self.box.setContentsMargins(10, 3 if flat else 8, 10, 5 if flat else 9)
        self.box.setSpacing(0 if flat else 3)
        self.note.set_lines(1 if flat else self._note_lines)
        (self._foot if flat else self._top).addWidget(self.badge)
        if self.tool is not None:
            (self._row if flat else self._top).addWidget(self.tool)

    def add_tool(self, tool: QToolButton) -> None:
        """Put a small button into the corner, no higher than a caption."""
        tool.setStyleSheet("padding: 0px;")
        tool.setFixedSize(18, self.badge.sizeHint().height())
        self.tool = tool
        self._top.addWidget(tool)

    def show_badge(self, text: str, state: str = "", tip: str = "") -> None:
        """Show a few words beside the caption; none hide it."""
        self.badge.setVisible(bool(text))
        self.badge.setText(text)
        self.badge.setToolTip(tip)
        set_role(self.badge, "state", state)

    def show_figure(
        self,
        figure: str,
        unit: str = "",
        note: str = "",
        *,
        tip: str = "",
        state: str = "",
        struck: bool = False,
    ) -> None:
        """Show a figure; ``struck`` draws a line through it, ``state`` colours it.

        ``tip`` says more of the note, which else is its own tip.
        """
        self.figure.setText(figure)
        self.unit.setText(unit)
        self.note.setText(note)
        self.note.setToolTip(tip or note)
        set_role(self.figure, "state", state)
        for part in (self.figure, self.unit):
            _strike(part, struck)


class Cards(QWidget):
    """The four cards, in one row or two by two where the width is small.

    While a run goes on they are renewed a few times a second, whatever arrives; while drawing could
    disturb a measurement, only when samples have come.
    """

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.rate = FigureCard("Median throughput")
        self.time = FigureCard("Median kernel time")
        self.measured = FigureCard("Measured", note_lines=1)
        self.verdict = FigureCard("Result")
        self.details = QToolButton()
        self.details.setProperty("role", "quiet")
        self.details.setToolTip("Everything that is recorded with this run")
        self.details.setAccessibleName("Run details")
        self.details.setIconSize(QSize(14, 14))
        self.details.clicked.connect(self._on_details_clicked)
        self.verdict.add_tool(self.details)
        self._progress = Meter()
        policy = self._progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._progress.setSizePolicy(policy)
        self.measured.box.insertWidget(self.measured.box.count() - 1, self._progress)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(8)
        self._columns = 0
        self._arrange(4)
        self._timer = QTimer(self, interval=_REFRESH_MILLISECONDS)
        self._timer.timeout.connect(self._refresh)
        state.run_shown.connect(self._on_run_shown)
        state.job_advanced.connect(self._on_job_advanced)
        state.job_ended.connect(self._on_job_ended)
        state.book.figures_changed.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw the icon in the colours of ``theme``."""
        self.details.setIcon(icon("info", theme))

    @Slot()
    def _on_details_clicked(self) -> None:
        if self._state.shown is not None:
            DetailsDialog(self._state.shown, self.window()).open()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose one row or two."""
        super().resizeEvent(event)
        self._arrange(4 if event.size().width() >= _FOUR_IN_A_ROW else 2)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for place, card in enumerate((self.rate, self.time, self.measured, self.verdict)):
            self._grid.addWidget(card, place // columns, place % columns)
            card.set_flat(columns < 4)
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    @Slot()
    def _on_run_shown(self) -> None:
        self._refresh()
        self._keep_time()

    @Slot(int)
    def _on_job_advanced(self, job_id: int) -> None:
        self._keep_time()
        run = self._state.active.get(job_id)
        if run is not None and self._state.quiet and run.job.policy.quiet:
            self._refresh()  # between two batches nothing is timed that this could disturb

    @Slot(int)
    def _on_job_ended(self, job_id: int) -> None:
        self._keep_time()
        self._refresh()

    def _keep_time(self) -> None:
        """Let the timer run while the shown run goes on and drawing disturbs nothing."""
        shown = self._state.shown
        wanted = shown is not None and shown.result is None and not self._state.quiet
        if wanted != self._timer.isActive():
            self._timer.start() if wanted else self._timer.stop()

    @Slot()
    def _refresh(self) -> None:
        run = self._state.shown
        self.details.setEnabled(run is not None)
        if run is None:
            for card in (self.rate, self.time, self.measured, self.verdict):
                card.show_figure("–", note="no run yet")
            self.measured.show_badge("")
            self.rate.show_badge("")
            self._progress.show_share(0)
            return
        if run.result is None:
            run.refresh_summary()
        self._show_speed(run)
        self._show_measured(run)
        self._show_verdict(run)

    def _show_speed(self, run: Run) -> None:
        summary, rate = run.summary, run.flops_per_second
        if summary is None or rate is None:
            self.rate.show_badge("")
            self.rate.show_figure("–", note="no sample yet" if run.result is None else "no sample")
            self.time.show_figure("–", note=self.rate.note.text())
            return
        figure, unit = scaled(rate, "FLOP/s")
        rates = (run.flop / end if end else math.inf for end in (summary.high, summary.low))
        ends = (scaled(each, "FLOP/s") for each in rates)
        low, high = (number if prefix == unit else f"{number} {prefix}" for number, prefix in ends)
        enough = summary.count >= FEWEST_FOR_95
        note = f"{low} to {high} ({'95 %' if enough else 'range'})"
        tip = "interval of the median that holds with 95 % confidence"
        tip = f"{note}: {tip if enough else 'lowest and highest'}"
        objection = outcome(run).objection
        struck = bool(objection)
        note = f"does not count: {objection}" if struck else note
        self.rate.show_figure(figure, unit, note, tip=tip, struck=struck)
        share = None if run.job.variant.library else self._state.book.library_share(run)
        text = f"{percent(share)} of library" if share is not None else ""
        self.rate.show_badge(text, tip=_LIBRARY_TIP)
        figure, unit = scaled(summary.median, "s")
        note = f"middle half {duration(summary.q1)} to {duration(summary.q3)}"
        tip = f"{note}: a quarter of the launches was faster, a quarter slower"
        self.time.show_figure(figure, unit, note, tip=tip, struck=struck)

    def _show_measured(self, run: Run) -> None:
        found = measured(run)
        share = run.progress
        # A saved result, and one of a sweep, was not run here: no clock of ours ran along.
        clock = "" if run.began is None else elapsed(run.elapsed_seconds)
        note = ", ".join(filter(None, (found.note, clock)))
        if share is not None and run.result is None:
            note = f"{note}, {percent(share)}"
        self.measured.show_figure(found.figure, found.unit, note, tip=found.tip)
        badge = timer_badge(run.trust, self._state.book.suspicion(run))
        if badge is None:
            self.measured.show_badge("")
        else:
            state = BADGE_STATES[badge.meaning]
            self.measured.show_badge(f"{SIGNS[badge.meaning]} {badge.text}", state, badge.why)
        self._progress.setVisible(share is not None)  # no end is near where none is set
        self._progress.show_share(share or 0.0)

    def _show_verdict(self, run: Run) -> None:
        found = outcome(run)
        waiting = run.status if not found.tone else ""
        self.verdict.show_figure(found.word, note=found.note or waiting, state=found.tone)


def _strike(part: QLabel, struck: bool) -> None:
    font = part.font()
    if font.strikeOut() != struck:
        font.setStrikeOut(struck)
        part.setFont(font)
