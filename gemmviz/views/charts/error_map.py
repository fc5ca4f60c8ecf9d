"""The error map: how far each cell of C is from its reference, tile by tile."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.error_map import ErrorMap, Errors, unpack
from gemmviz.views.charts.axis import CountAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.error_layers import Cells, ErrorLayer, ScaleBar, Spot
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.theme import DARK, Theme

_MARGIN = 0.01
_LOW_PIXELS = 340  # below this height the map needs every pixel


class ErrorMapChart(Chart):
    """C as an image of |C - reference| over its bound, with the grid of its tiles.

    The pattern of the wrong cells stands above as a sentence. A drag zooms, the right button or
    ``home`` shows all of C again.
    """

    export_title = "Error map"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "A wrong result is drawn here, cell by cell"
        self._map: ErrorMap | None = None
        self._errors: Errors | None = None
        self._zoomed = False
        self._heading = Heading()
        self._low = False
        self._title, self._lines = "", tuple[Line, ...]()
        self._plot = Plot()
        self._plot.setAspectLocked(True)
        self._axes = (
            CountAxis("left", self._plot, "Row of C"),
            CountAxis("bottom", self._plot, "Column of C"),
        )
        for axis in self._axes:
            axis.setGrid(False)  # the tiles are the grid
        self._layer, self._scale = ErrorLayer(self._plot), ScaleBar()
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(0)
        grid.addItem(self._heading, 0, 0, 1, 3)
        grid.addItem(self._axes[0], 1, 0)
        grid.addItem(self._plot, 1, 1)
        grid.addItem(self._scale, 1, 2, 2, 1)
        grid.addItem(self._axes[1], 2, 1)
        grid.setRowStretchFactor(1, 1)
        grid.setColumnStretchFactor(1, 1)
        self._plot.reset_wanted.connect(self.home)
        self._plot.sigResized.connect(self._on_plot_resized)
        self._plot.sigRangeChangedManually.connect(self._on_zoomed)
        self._plot.sigRangeChanged.connect(self._on_range_changed)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self.set_map(None)

    def set_map(self, error_map: ErrorMap | None) -> None:
        """Show where an answer is wrong, or the empty chart."""
        try:
            self._errors = unpack(error_map) if error_map is not None else None
        except ValueError as problem:
            self._errors, error_map = None, None
            self.empty_text = f"Nothing can be drawn: {problem}"
        self._map = error_map
        for item in (self._plot, self._scale, *self._axes):
            item.setVisible(error_map is not None)
        if error_map is None or self._errors is None:
            self._layer.set_cells(None)
        else:
            self._layer.set_cells(
                Cells(
                    self._errors.excess,
                    error_map.rows,
                    error_map.cols,
                    (error_map.step_rows, error_map.step_cols),
                    error_map.tile,
                )
            )
        self.home()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the map; a low chart shows the first line alone.

        An empty title takes the title away.
        """
        self._title, self._lines = title, lines
        self._show_heading()

    def _show_heading(self) -> None:
        self._heading.set_text(self._title, self._lines[:1] if self._low else self._lines)

    @Slot()
    def home(self) -> None:
        """Show all of C."""
        self._zoomed = False
        self._fit()
        self.viewport().update()

    def is_empty(self) -> bool:
        """Whether there is no map."""
        return self._map is None

    def restyle(self) -> None:
        """Colour axes, cells and scale."""
        for part in (*self._axes, self._plot, self._layer, self._scale, self._heading):
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Point at no cell."""
        self._layer.set_spot(None)

    def _fit(self) -> None:
        """All of C, its cells square."""
        if self._map is None:
            return
        rows, cols = self._map.rows, self._map.cols
        self._axes[0].set_ends(-rows, 0)
        self._axes[1].set_ends(0, cols)
        room = _MARGIN * max(rows, cols)
        self._plot.setRange(
            xRange=(-room, cols + room), yRange=(-rows - room, room), padding=0, update=True
        )

    @Slot(object)
    def _on_plot_resized(self, plot: object) -> None:
        if not self._zoomed:
            self._fit()

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave words out where the map would be low."""
        low = self.height() < _LOW_PIXELS
        self._axes[1].set_low(low)
        if low != self._low:  # else an exported picture would lose its own heading
            self._low = low
            self._show_heading()

    @Slot(object)
    def _on_zoomed(self, axes: object) -> None:
        self._zoomed = True

    @Slot(object, object)
    def _on_range_changed(self, plot: object, ranges: object) -> None:
        self.hide_hover()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        spot = None
        if self._map is not None and self._plot.sceneBoundingRect().contains(position):
            point = self._plot.mapSceneToView(position)
            spot = self._spot_at(-point.y(), point.x())
        self._layer.set_spot(spot)

    def _spot_at(self, row: float, col: float) -> Spot | None:
        """What is at a row and a column of C, or None outside."""
        shown, errors = self._map, self._errors
        if shown is None or errors is None:
            return None
        if not (0 <= row < shown.rows and 0 <= col < shown.cols):
            return None
        down, across = int(row) // shown.step_rows, int(col) // shown.step_cols
        return Spot(down, across, describe_cell(shown, errors, down, across))


def describe_cell(shown: ErrorMap, errors: Errors, row: int, col: int) -> str:
    """What is known of one value of a map, on a few lines.

    Args:
        shown: The map.
        errors: Its arrays.
        row: Which row of these.
        col: Which column.
    """
    excess = float(errors.excess[row, col])
    if math.isnan(excess):
        return f"row {row * shown.step_rows}, column {col * shown.step_cols}\nnot compared"
    place_row, place_col = divmod(int(errors.place[row, col]), shown.cols)
    value, expected = float(errors.value[row, col]), float(errors.expected[row, col])
    lines = [f"row {place_row}, column {place_col}"]
    if shown.step_rows * shown.step_cols > 1:
        lines[0] += f"  (worst of {shown.step_rows} × {shown.step_cols})"
    lines.append(f"is {value:.6g}, should be {expected:.6g}")
    if math.isinf(excess):
        lines.append("no number, or never written" if math.isnan(value) else "infinite")
    elif excess <= 1:
        lines.append(f"within the bound: error {excess:.2g} of it")
    else:
        lines.append(f"error {_times(excess)} × the bound")
    tile_rows, tile_cols = shown.tile
    lines.append(
        f"tile ({place_row // tile_rows}, {place_col // tile_cols}), "
        f"there at ({place_row % tile_rows}, {place_col % tile_cols})"
    )
    return "\n".join(lines)


def _times(excess: float) -> str:
    return f"{excess:,.0f}" if excess >= 100 else f"{excess:.3g}"
