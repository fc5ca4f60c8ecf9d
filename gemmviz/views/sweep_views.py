"""The views of a sweep: four charts and a table, each with its own choices."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.setup import Option
from gemmviz.app.sweep_table import CELL_ROLE, SweepTableModel
from gemmviz.core.metrics import THROUGHPUT, Metric, metrics_of
from gemmviz.core.size_curves import size_curves
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import (
    DEVICE,
    ELEMENT,
    KERNEL,
    SHAPE,
    Dimension,
    Value,
    dimensions,
    winners_at,
)
from gemmviz.core.sweep_grid import sweep_grid
from gemmviz.core.sweep_lines import can_be_lines, sweep_lines
from gemmviz.core.sweep_map import sweep_title
from gemmviz.core.sweep_scatter import sweep_scatter
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.charts.parallel_coordinates import ParallelCoordinatesChart
from gemmviz.views.charts.scatter import ScatterChart
from gemmviz.views.charts.size_curve import SizeCurveChart
from gemmviz.views.export import Title
from gemmviz.views.sweep_picks import OtherDimensions, Pick, PickRow
from gemmviz.views.theme import Theme

HEAT, CURVE, SCATTER, LINES, CELLS = "Heat map", "Sizes", "Scatter", "Parallel", "Table"
VIEWS = (HEAT, CURVE, SCATTER, LINES, CELLS)
SweepChart = HeatMapChart | SizeCurveChart | ScatterChart | ParallelCoordinatesChart
_ROW_PIXELS = 24
_NONE = "-"
_WIDTHS = {"Parameters": 270, "Kernel": 150, "Device": 150, "State": 126, "Throughput": 104}


class SweepViews(QStackedWidget):
    """Shows a sweep's report in one of the ``VIEWS``.

    ``cell_clicked`` carries the SweepCell that a person points out, ``cell_opened`` that of a
    double click or of Enter, ``picks_changed`` follows another choice of what is shown.
    """

    cell_clicked = Signal(object)
    cell_opened = Signal(object)
    picks_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._sweep: Sweep | None = None
        self._report: SweepReport | None = None
        self._dimensions: tuple[Dimension, ...] = ()
        self._metrics: tuple[Metric, ...] = ()
        self._stale = True
        self._pick_rows: list[PickRow] = []
        self.heat, self.curve, self.scatter = HeatMapChart(), SizeCurveChart(), ScatterChart()
        self.lines = ParallelCoordinatesChart()
        self._charts: dict[str, SweepChart] = {
            HEAT: self.heat, CURVE: self.curve, SCATTER: self.scatter, LINES: self.lines,
        }  # fmt: skip
        self.across = Pick("Across", "What varies from column to column")
        self.up = Pick("Up", "What varies from row to row")
        self.figure = Pick("Show", "The figure that the colours stand for")
        self.others = OtherDimensions(best=True)
        self.rightwards = Pick("Across", "The figure from left to right")
        self.upwards = Pick("Up", "The figure from bottom to top")
        self.by = Pick("Marks by", "What the colour and shape of a mark tell")
        self.filter = OtherDimensions(best=False)
        self.last = Pick("Show", "The figure of the last axis and of the colours")
        self.through = OtherDimensions(best=False)
        self.model = SweepTableModel(self)
        self.table = self._make_table()
        self._add_page(self.heat, self.across, self.up, self.figure, self.others)
        self._add_page(self.curve)
        self._add_page(self.scatter, self.rightwards, self.upwards, self.by, self.filter)
        self._add_page(self.lines, self.last, self.through)
        self._add_page(self.table)
        for pick in (self.across, self.up, self.figure, self.rightwards, self.upwards, self.by,
                     self.last):  # fmt: skip
            pick.name_chosen.connect(self._on_picked)
        for others in (self.others, self.filter, self.through):
            others.held_changed.connect(self._on_picked)
        for chart in self._charts.values():
            chart.cell_clicked.connect(self.cell_clicked)
            chart.cell_opened.connect(self.cell_opened)
        self.table.clicked.connect(self._on_row_clicked)
        self.table.activated.connect(self._on_row_activated)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName("Configurations of the sweep")
        table.setSortingEnabled(True)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setAlternatingRowColors(True)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(_ROW_PIXELS)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        for column, name in enumerate(self.model.names):
            header.resizeSection(column, _WIDTHS.get(name, 92))
        table.sortByColumn(self.model.names.index("Time"), Qt.SortOrder.AscendingOrder)
        return table

    def _add_page(self, content: QWidget, *picks: QWidget) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        if picks:
            room = QVBoxLayout()
            room.setContentsMargins(10, 2, 8, 2)
            row = PickRow(*picks)
            self._pick_rows.append(row)
            room.addWidget(row)
            column.addLayout(room)
        column.addWidget(content, 1)
        self.addWidget(page)

    # --- what is shown

    @property
    def view(self) -> str:
        """The view in front, one of the ``VIEWS``."""
        return VIEWS[self.currentIndex()]

    def choose_view(self, view: str) -> None:
        """Bring a view to the front."""
        self.setCurrentIndex(VIEWS.index(view))
        self.catch_up()

    @property
    def chart(self) -> Chart:
        """The chart in front, or the heat map while the table is."""
        return self._charts.get(self.view, self.heat)

    @property
    def offered(self) -> tuple[str, ...]:
        """The views that can tell anything of this sweep."""
        return tuple(v for v in VIEWS if v != LINES or can_be_lines(self._dimensions))

    @property
    def held(self) -> dict[str, Value]:
        """What the heat map holds fixed."""
        return self.others.held

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        for chart in self._charts.values():
            chart.set_theme(theme)

    def set_report(self, sweep: Sweep | None, report: SweepReport | None) -> None:
        """Show what came of a sweep so far; drawn now where somebody looks."""
        if sweep is not self._sweep:
            self._dimensions = dimensions(sweep) if sweep is not None else ()
        self._sweep, self._report, self._stale = sweep, report, True
        if self.isVisible():
            self.catch_up()

    def set_empty_text(self, text: str) -> None:
        """What stands where there is nothing to draw yet."""
        for chart in (self.heat, self.scatter, self.lines):
            chart.empty_text = text
            chart.viewport().update()

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while another page was in front is drawn now."""
        super().showEvent(event)
        self.catch_up()

    def catch_up(self) -> None:
        """Draw the view in front, and the heat map behind the table, as things are now."""
        sweep, report = self._sweep, self._report
        for row in self._pick_rows:  # there is nothing to choose from before the first cell
            row.setVisible(report is not None and bool(report.cells))
        if sweep is None or report is None or not report.cells:
            self.heat.set_grid(None)
            self.scatter.set_scatter(None)
            self.lines.set_lines(None)
            self.curve.set_curves(())
            self.model.set_report(None, None)
            return
        self._show_picks(report)
        match self.view:
            case "Sizes":
                self.curve.set_curves(size_curves(sweep, report))
            case "Scatter":
                self._draw_scatter(sweep, report)
            case "Parallel":
                metric = self._metric(self.last.name)
                self.lines.set_lines(sweep_lines(sweep, report, metric, self.through.held))
            case view:
                if view == CELLS:
                    self._fill_table(sweep, report)
                self._draw_heat(sweep, report)
        self._show_heading()

    def lay_out(self, across: str, up: str) -> None:
        """Let the heat map stand over these from the next report on; ``up`` may be ""."""
        self.across.name, self.up.name = across, up or _NONE

    def choose(self, cell: SweepCell | None) -> None:
        """Frame a configuration in every chart, or none."""
        for chart in self._charts.values():
            chart.choose(cell)

    def _fill_table(self, sweep: Sweep, report: SweepReport) -> None:
        """Show all cells; what is the same in all of them has no column."""
        self.model.set_report(sweep, report)
        varying = {each.name for each in self._dimensions}
        for column, name in enumerate(self.model.names):
            if name in (KERNEL, SHAPE, ELEMENT, DEVICE):
                self.table.setColumnHidden(column, name not in varying)

    def _draw_heat(self, sweep: Sweep, report: SweepReport) -> None:
        down = "" if self.up.name == _NONE else self.up.name
        metric = self._metric(self.figure.name)
        self.heat.set_grid(
            sweep_grid(sweep, report, (self.across.name, down), metric, self.others.held)
        )

    def _draw_scatter(self, sweep: Sweep, report: SweepReport) -> None:
        axes = self._metric(self.rightwards.name), self._metric(self.upwards.name)
        by = "" if self.by.name == _NONE else self.by.name
        self.scatter.set_scatter(sweep_scatter(sweep, report, axes, by, self.filter.held))

    def _metric(self, name: str) -> Metric:
        return next((each for each in self._metrics if each.name == name), THROUGHPUT)

    def _show_picks(self, report: SweepReport) -> None:
        """Offer what varies in this sweep, and keep what is picked where it still does."""
        names = [each.name for each in self._dimensions]
        options = [Option(name, name) for name in names]
        nothing = Option("nothing", _NONE)
        across = self.across.show_names(options, self.across.name or next(iter(names), ""))
        rest = [option for option in options if option.value != across]
        wanted = self.up.name if self.up.name != across else ""
        up = self.up.show_names([*rest, nothing], wanted or (rest[0].text if rest else _NONE))
        self.others.show_dimensions(
            [each for each in self._dimensions if each.name not in (across, up)]
        )
        self._metrics = metrics_of(report.cells)
        figures = [Option(each.name, each.name) for each in self._metrics]
        of_cells = [option for option in figures if option.value not in names]
        self.figure.show_names(of_cells, self.figure.name)
        self.rightwards.show_names(figures, self.rightwards.name or "Local memory")
        self.upwards.show_names(figures, self.upwards.name or THROUGHPUT.name)
        self.by.show_names([*options, nothing], self.by.name)
        self.filter.show_dimensions(self._dimensions)
        self.last.show_names(of_cells, self.last.name)
        self.through.show_dimensions(self._dimensions)

    # --- words

    def title(self) -> Title | None:
        """What stands above an exported picture: kernel, shape, device, and what is shown."""
        sweep, report = self._sweep, self._report
        if sweep is None or report is None:
            return None
        lines = [Line(self._subtitle())] if self._subtitle() else []
        winners = winners_at(report.winners, {} if self.view == CURVE else self._held_here)
        lines += [Line(winner.words) for winner in winners[:2] if winner.words]
        return self.place, tuple(lines)

    @property
    def place(self) -> str:
        """Kernels, shapes, element types and devices of the sweep, on a line."""
        return sweep_title(self._sweep) if self._sweep is not None else ""

    @property
    def _held_here(self) -> dict[str, Value]:
        """What the view in front holds fixed."""
        return {SCATTER: self.filter.held, LINES: self.through.held}.get(self.view, self.held)

    def _subtitle(self) -> str:
        if self.view == CURVE:
            return ""
        held = self._held_here
        known = {each.name: each for each in self._dimensions}
        parts = [f"{name} {known[name].text(value)}" for name, value in held.items()]
        free = [
            each.name
            for each in self._dimensions
            if each.name not in {*held, self.across.name, self.up.name}
        ]
        if free and self.view not in (SCATTER, LINES):
            parts.append(f"best of {', '.join(free)}")
        return "; ".join(parts)

    def _show_heading(self) -> None:
        chart = self.chart
        view = HEAT if self.view == CELLS else self.view
        chart.export_title = f"{view} of {self.place}"

    @Slot()
    def _on_picked(self) -> None:
        self.catch_up()
        self.picks_changed.emit()

    @Slot(QModelIndex)
    def _on_row_clicked(self, index: QModelIndex) -> None:
        cell = index.data(CELL_ROLE)
        if isinstance(cell, SweepCell):
            self.cell_clicked.emit(cell)

    @Slot(QModelIndex)
    def _on_row_activated(self, index: QModelIndex) -> None:
        cell = index.data(CELL_ROLE)
        if isinstance(cell, SweepCell):
            self.cell_opened.emit(cell)
