"""The tab of the comparison: the ticked runs as bars."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from gemmviz.app.results_table import ResultsTableModel
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.labels import device_label
from gemmviz.views.charts.bars import Bar
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.results_panel import ResultsTable
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_EMPTY = (
    "Each finished run becomes a bar. Run two kernels or two devices to see them side by side; "
    "B pins the baseline."
)
_TABLE_PIXELS = 90
_CHART_PIXELS = 120


class ComparePanel(QWidget):
    """Bars with intervals grouped by device or by kernel, and the rows that they come from."""

    def __init__(self, state: AppState, model: ResultsTableModel) -> None:
        super().__init__()
        self._state = state
        self.chart = CompareChart()
        self.chart.empty_text = _EMPTY
        self.chart.setMinimumHeight(_CHART_PIXELS)
        self.title = ElidedLabel("", "note")
        self.tools = ToolRow(self.title)
        self.grouping = self.tools.add_choice(("By device", "By kernel"), "What stands together")
        self.pin = self.tools.add_button("pin", "Pin the selected row as the baseline (B)")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self.table = ResultsTable(state, model)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.chart)
        splitter.addWidget(self.table)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setChildrenCollapsible(False)
        self.table.setMinimumHeight(_TABLE_PIXELS)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addWidget(self.tools)
        column.addWidget(splitter, 1)
        self.grouping.choice_made.connect(self._on_grouping_chosen)
        for signal in (state.book.run_added, state.book.marks_changed, state.book.cleared):
            signal.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.chart.set_theme(theme)
        self.tools.set_theme(theme)
        self.table.delegate.set_theme(theme)
        self.table.viewport().update()

    @Slot(str)
    def _on_grouping_chosen(self, word: str) -> None:
        self.chart.set_grouping("device" if word == "By device" else "kernel")

    @Slot()
    def _refresh(self) -> None:
        book = self._state.book
        bars = {run.job.id: bar for run, bar in zip(book.ticked, bars_of(book.ticked), strict=True)}
        base = bars.get(book.baseline.job.id) if book.baseline is not None else None
        self.chart.set_bars(tuple(bars.values()), base)
        heading = describe_comparison(book.ticked, book.baseline)
        self.chart.set_heading("", (Line(heading, "text"),) if heading else ())
        self.chart.export_title = f"Comparison {heading}".strip()
        self.table.setVisible(bool(book.runs))
        self.title.setText(f"{len(bars)} of {len(book.runs)} runs ticked" if book.runs else "")


def describe_comparison(runs: tuple[Run, ...], baseline: Run | None) -> str:
    """What all runs share, and what their speed-up is measured against."""
    problems = {f"{run.shape} {run.job.problem.element}" for run in runs}
    parts = [*problems] if len(problems) == 1 else []
    if baseline is not None and runs:
        parts.append(f"× against {baseline.label} on {device_label(baseline.device)}")
    return "  ·  ".join(parts)


def bars_of(runs: tuple[Run, ...]) -> tuple[Bar, ...]:
    """The runs as bars; what all of them share is left out of their names."""
    shapes = {(run.shape, run.job.problem.element) for run in runs}
    return tuple(_bar(run, with_shape=len(shapes) > 1) for run in runs)


def _bar(run: Run, *, with_shape: bool) -> Bar:
    device, kernel = device_label(run.device), run.label
    if with_shape:
        kernel += f", {run.shape} {run.job.problem.element}"
    summary, rate = run.summary, run.flops_per_second
    assert summary is not None
    assert rate is not None
    return Bar(
        device=device,
        kernel=kernel,
        flops_per_second=rate,
        low=run.flop / summary.high,
        high=run.flop / summary.low,
        struck=run.wrong,
    )
