"""The tab of the comparison: the ticked runs as bars, and kernels measured against each other."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from gemmviz.app.book import ResultBook
from gemmviz.app.duels import Match, match_of
from gemmviz.app.outcomes import outcome
from gemmviz.app.results_table import ResultsTableModel
from gemmviz.app.state import AppState
from gemmviz.core.comparison import Comparison
from gemmviz.core.labels import device_label
from gemmviz.core.model import Result
from gemmviz.views.charts.bars import Bar
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.comparison_bars import Measurement, comparison_bars, shared_label
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.ratios import Ratio, RatioChart
from gemmviz.views.duel_panel import DuelPanel
from gemmviz.views.export import Title
from gemmviz.views.results_panel import ResultsTable
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_EMPTY = (
    "Each finished run becomes a bar. Run two kernels or two devices to see them side by side; "
    "B pins the baseline."
)
_SPEED, _LIBRARY = "FLOP/s", "% of library"
_CHART_PIXELS = 120
_TABLE_PIXELS = 112
_ROOM_FOR_TABLE = 400
"""Below this height the chart has the panel alone; the Results tab has the table all the same."""


class ComparePanel(QWidget):
    """Bars with intervals grouped by device or by kernel, and the rows that they come from.

    Once kernels were measured against each other, a strip at the top says how they did, and their
    ratios can be shown in place of the bars.
    """

    def __init__(
        self, state: AppState, model: ResultsTableModel, devices: ColorBook | None = None
    ) -> None:
        super().__init__()
        self._state = state
        self._stale = True
        self._bars: tuple[Bar, ...] = ()
        self.bars, self.ratios = CompareChart(devices=devices), RatioChart()
        self.bars.empty_text = _EMPTY
        self._charts = QStackedWidget()
        for chart in (self.bars, self.ratios):
            chart.setMinimumHeight(_CHART_PIXELS)
            self._charts.addWidget(chart)
        self.duels = DuelPanel()
        self.count = ElidedLabel("", "note")
        self.tools = ToolRow(self.count)
        self.grouping = self.tools.add_choice(("By device", "By kernel"), "What stands together")
        self.unit = self.tools.add_choice(
            (_SPEED, _LIBRARY),
            "How high the bars are: their speed, or how much of the device's library it is. That "
            "takes a run of a library at the same sizes on the same device",
        )
        self.measure = self.tools.add_button("versus", "", "Measure")
        self.pin = self.tools.add_button("pin", "Pin the selected row as the baseline (B)")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self.table = ResultsTable(state, model)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.addWidget(self._charts)
        self._splitter.addWidget(self.table)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setChildrenCollapsible(False)
        self.table.setMinimumHeight(1)  # else the panel could not be low enough to hide it
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addWidget(self.tools)
        column.addWidget(self.duels)
        column.addWidget(self._splitter, 1)
        self.grouping.choice_made.connect(self._on_grouping_chosen)
        self.unit.choice_made.connect(self._on_unit_chosen)
        self.duels.kind.choice_made.connect(self._on_kind_chosen)
        self.duels.closed.connect(self._on_duels_closed)
        state.comparison_ended.connect(self._on_comparison_ended)
        for signal in (state.book.run_added, state.book.marks_changed, state.book.cleared,
                       state.book.figures_changed):  # fmt: skip
            signal.connect(self._refresh)
        self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        for part in (self.bars, self.ratios, self.duels):
            part.set_theme(theme)
        self.tools.set_theme(theme)
        self.table.delegate.set_theme(theme)
        self.table.viewport().update()

    @property
    def chart(self) -> Chart:
        """The chart that is shown: bars or ratios."""
        return self.ratios if self._charts.currentWidget() is self.ratios else self.bars

    def catch_up(self) -> None:
        """Bring the bars up to date even while the tab is hidden."""
        if self._stale:
            self._redraw()

    def title(self) -> Title | None:
        """What was measured against what, above the ratios; the bars say it on the screen too."""
        return (self.duels.title.text(), ()) if self.chart is self.ratios else None

    def results(self) -> tuple[Result, ...]:
        """What an exported picture carries: the ticked runs."""
        recorded = (run.recorded for run in self._state.book.ticked)
        return tuple(result for result in recorded if result is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave all room to the chart where there is little."""
        super().resizeEvent(event)
        self._show_table()

    def showEvent(self, event: object) -> None:
        """Catch up with what came while another tab was in front."""
        super().showEvent(event)  # type: ignore[arg-type]
        self.catch_up()

    def _show_table(self) -> None:
        visible = bool(self._state.book.runs) and self.height() >= _ROOM_FOR_TABLE
        if visible and self.table.isHidden():
            self._splitter.setSizes([self.height() - _TABLE_PIXELS, _TABLE_PIXELS])
        self.table.setVisible(visible)

    @Slot(str)
    def _on_grouping_chosen(self, word: str) -> None:
        self.bars.set_grouping("device" if word == "By device" else "kernel")

    @Slot(str)
    def _on_unit_chosen(self, word: str) -> None:
        self.bars.set_unit("FLOP/s" if word == _SPEED else "%")

    @Slot(str)
    def _on_kind_chosen(self, word: str) -> None:
        self._charts.setCurrentWidget(self.ratios if word == "Ratios" else self.bars)
        self.grouping.setEnabled(word == "Bars")
        self._show_unit()

    @Slot()
    def _on_duels_closed(self) -> None:
        self._on_kind_chosen("Bars")

    @Slot(object)
    def _on_comparison_ended(self, comparison: Comparison) -> None:
        match = match_of(comparison)
        self.duels.show_match(match)
        ratios = ratios_of(match)
        self.ratios.set_ratios(ratios, match.first)
        self.ratios.export_title = f"Ratios {match.problem}"
        self.duels.kind.setVisible(bool(ratios))
        self.duels.kind.choose("Ratios" if ratios else "Bars")
        self._on_kind_chosen(self.duels.kind.word)

    @Slot()
    def _refresh(self) -> None:
        self._stale = True  # hundreds of runs may come while nobody looks
        if self.isVisible():
            self._redraw()

    def _show_unit(self) -> None:
        """The share of a library can be chosen once a ticked run has one."""
        known = any(bar.library_share is not None for bar in self._bars)
        if not known and self.unit.word == _LIBRARY:
            self.unit.choose(_SPEED)
            self._on_unit_chosen(_SPEED)
        self.unit.setEnabled(known and self.chart is self.bars)

    def _redraw(self) -> None:
        self._stale = False
        book = self._state.book
        self._bars = bars = bars_of(book)
        self.bars.set_bars(bars)
        self._show_unit()
        heading = describe_comparison(book)
        self.bars.set_heading("", (Line(heading, "text"),) if heading else ())
        self.bars.export_title = f"Comparison {heading}".strip()
        self._show_table()
        self.count.setText(f"{len(bars)} of {len(book.runs)} runs ticked" if book.runs else "")


def ratios_of(match: Match) -> tuple[Ratio, ...]:
    """The kernels of a comparison whose ratio is known."""
    return tuple(
        Ratio(
            duel.name,
            duel.verdict,
            duel.tone,
            duel.versus.ratio,
            duel.versus.ratio_low,
            duel.versus.ratio_high,
            duel.versus.margin,
            struck=not duel.counts,
        )
        for duel in match.duels
        if duel.versus is not None
    )


def describe_comparison(book: ResultBook) -> str:
    """What all ticked runs share, and what their speed-up is measured against, if any has one."""
    problems = {run.problem_text for run in book.ticked}
    parts = [shared_label(measurements_of(book)), *(problems if len(problems) == 1 else ())]
    base = book.baseline
    if base is not None and any(book.speed_up(run) is not None for run in book.ticked):
        parts.append(f"× against {base.label} on {device_label(base.device)}")
    return "  ·  ".join(filter(None, parts))


def bars_of(book: ResultBook) -> tuple[Bar, ...]:
    """The ticked runs as bars, in the order in which they ended."""
    return comparison_bars(measurements_of(book))


def measurements_of(book: ResultBook) -> tuple[Measurement, ...]:
    """The ticked runs as what bars are made of."""
    return tuple(
        Measurement(
            run.device, run.job.variant.title, run.job.parameters, run.problem_text, run.flop,
            run.summary, outcome(run).objection, book.speed_up(run), book.library_share(run),
        )
        for run in book.ticked
        if run.summary is not None
    )  # fmt: skip
