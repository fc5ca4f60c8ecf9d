"""The heat map of a sweep: one figure over two of the things that vary."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.sweep import SweepCell
from gemmviz.core.sweep_dimensions import is_rough
from gemmviz.core.sweep_grid import SweepGrid
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.color_scale import ColorBar, ColorScale
from gemmviz.views.charts.grid_axis import GridAxis
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.heat_layer import HeatLayer
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.charts.sweep_words import (
    BEST_SIGN,
    BEST_WORDS,
    RECOMMENDED_SIGN,
    RECOMMENDED_WORDS,
    ROUGH_SIGN,
)
from gemmviz.views.theme import DARK, Theme

_LEGEND_PIXELS = 230  # of the chart's height below which the cells need every pixel


class HeatMapChart(Chart):
    """Cells in the colours of a figure, the best set framed, the recommended one starred.

    ``cell_clicked`` carries the SweepCell that a clicked place shows, ``cell_opened`` that of a
    double click.
    """

    export_title = "Heat map"
    cell_clicked = Signal(object)
    cell_opened = Signal(object)

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Start a sweep to see what each value does"
        self._grid: SweepGrid | None = None
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._left, self._bottom = GridAxis("left"), GridAxis("bottom")
        self._bar = ColorBar()
        self._layer = HeatLayer(self._plot)
        self._arrange(
            (self._heading, self._legend), self._left, self._plot, self._bottom, right=self._bar
        )
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self.set_theme(theme)
        self.set_grid(None)

    @property
    def grid(self) -> SweepGrid | None:
        """What is drawn."""
        return self._grid

    def set_grid(self, grid: SweepGrid | None) -> None:
        """Draw a grid, whole or in the making; None is the empty chart."""
        self._grid = grid
        for item in (self._left, self._plot, self._bar, self._bottom):
            item.setVisible(grid is not None)
        scale = _scale(grid) if grid is not None else None
        self._layer.set_grid(grid, scale)
        self._bar.set_scale(scale)
        if grid is not None:
            down = grid.down
            self._bottom.set_names(grid.across.name, grid.across.texts)
            self._left.set_names(down.name if down else "", down.texts if down else ())
            self._plot.setRange(
                xRange=(0, len(grid.across.values)), yRange=(0, grid.rows), padding=0
            )
        self._show_legend()
        self.viewport().update()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the cells; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no grid."""
        return self._grid is None

    def restyle(self) -> None:
        """Colour names, cells, bar and legend."""
        for part in (self._heading, self._legend, self._left, self._bottom, self._bar, self._layer,
                     self._plot):  # fmt: skip
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Say nothing more of any cell."""
        self._layer.point_at(None)

    def choose(self, cell: SweepCell | None) -> None:
        """Frame the place that shows a cell, or none."""
        places = self._grid.cells if self._grid is not None and cell is not None else ()
        self._layer.choose(next((place for place in places if place.cell == cell), None))

    def _show_legend(self) -> None:
        """The signs that are in the picture, in words."""
        grid = self._grid
        if grid is None or self.height() < _LEGEND_PIXELS:
            self._legend.set_entries(())
            return
        states = {cell.state for cell in grid.cells}
        unit = self._bar.scale_shown.unit if self._bar.scale_shown is not None else ""
        unit = f" ({unit})" if unit else ""
        entries = [f"{grid.metric.name}{unit}"]
        if any(cell.best for cell in grid.cells):
            entries.append(f"{BEST_SIGN} {BEST_WORDS}")
        if any(cell.recommended for cell in grid.cells):
            entries.append(f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS}")
        if any(cell.cell is not None and is_rough(cell.cell) for cell in grid.cells):
            entries.append(f"{ROUGH_SIGN} dropped early")
        words = {"failed": "✗ failed", "refused": "– cannot run", "planned": "· to come"}
        entries += [text for state, text in words.items() if state in states]
        if any(cell.cell is not None and cell.cell.passed_over for cell in grid.cells):
            entries.append("· not tried")
        self._legend.set_entries(tuple(map(Entry, entries)))

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        self._show_legend()

    def _place(self, position: QPointF) -> QPointF | None:
        """A place of the scene in plot coordinates; None outside the plot."""
        if not self._plot.is_under(position):
            return None
        return QPointF(self._plot.mapSceneToView(position))

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        self._layer.point_at(self._layer.cell_at(self._place(position)))

    @Slot(object)
    def _on_mouse_clicked(self, event: object) -> None:
        if event.button() != Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            return
        cell = self._layer.cell_at(self._place(event.scenePos()))  # type: ignore[attr-defined]
        if cell is not None and cell.cell is not None:
            self._layer.choose(cell)
            opened = event.double()  # type: ignore[attr-defined]
            (self.cell_opened if opened else self.cell_clicked).emit(cell.cell)


def _scale(grid: SweepGrid) -> ColorScale | None:
    values = [cell.value for cell in grid.cells if cell.value is not None]
    return ColorScale(grid.metric, min(values), max(values)) if values else None
