"""What an error map paints: cells, the grid of tiles, the cell under the mouse, and the scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.chart import LABEL_PIXELS, Layer, Plot, clipped, draw_chip, pixel_pen
from gemmviz.views.charts.error_scale import (
    NO_NUMBER,
    Classes,
    Floats,
    classes_of,
    error_image,
    runs_of,
    scale_steps,
)
from gemmviz.views.theme import DARK, Theme, text_font

_FEWEST_PIXELS = 6  # between two lines of the grid; where tiles are smaller ...
_THINNED_PIXELS = 14  # ... this many between the lines that are left
_HATCH = 7.0
_MOST_HATCHED = 2000  # runs of cells; more would take longer to clip than they tell
_SWATCH = 16.0
_ROW = 19.0
_READABLE = 15.0  # of rows as high as this each has its words
_WORDS_PIXELS = 116
_TITLE = "error / bound"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The errors of C: one value for every ``step`` of its rows and columns.

    Attributes:
        excess: Error over bound, shape (height, width).
        rows: Rows of C.
        cols: Columns of C.
        step: Rows and columns of C in one value.
        tile: Rows and columns of C that one work-group computes.
    """

    excess: Floats
    rows: int
    cols: int
    step: tuple[int, int]
    tile: tuple[int, int]

    def area(self, row: int, col: int, rows: int = 1, cols: int = 1) -> tuple[int, int, int, int]:
        """The first row and column of C in some values, and one past the last ones."""
        down, across = self.step
        return (
            row * down,
            col * across,
            min(self.rows, (row + rows) * down),
            min(self.cols, (col + cols) * across),
        )


@dataclass(frozen=True, slots=True)
class Spot:
    """What is pointed at: its place among the values of the map, and what is said of it."""

    row: int
    col: int
    text: str


class ErrorLayer(Layer):
    """The cells of C from row 0 at the top; row r of C lies from y = -r down to -(r + 1)."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._cells: Cells | None = None
        self._spot: Spot | None = None
        self._classes: dict[int, Classes] = {}  # by how many values one pixel stands for
        self._images: dict[tuple[int, str], QImage] = {}

    @property
    def spot(self) -> Spot | None:
        """What is pointed at, if anything."""
        return self._spot

    def set_cells(self, cells: Cells | None) -> None:
        """Show another map, or none."""
        self._cells, self._spot = cells, None
        self._classes, self._images = {}, {}
        self.update()

    def set_spot(self, spot: Spot | None) -> None:
        """Point at a cell, or at none."""
        if spot != self._spot:
            self._spot = spot
            self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the cells, then the grid, then what is pointed at."""
        cells = self._cells
        if cells is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        whole = self._box(0, 0, cells.rows, cells.cols)
        self._paint_cells(painter, cells)
        self._paint_grid(painter, cells, whole)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pixel_pen(self._theme.muted))
        painter.drawRect(whole)
        if self._spot is not None:
            self._paint_spot(painter, cells, self._spot)

    def _box(self, row: float, col: float, end_row: float, end_col: float) -> QRectF:
        """Rows and columns of C in pixels."""
        return QRectF(self.to_pixel(col, -row), self.to_pixel(end_col, -end_row))

    def _pixels_a_value(self, cells: Cells) -> float:
        (left, right), _ = self.plot.viewRange()
        return float(min(cells.step) * self.plot.width() / (right - left))

    def _paint_cells(self, painter: QPainter, cells: Cells) -> None:
        size = self._pixels_a_value(cells)
        merged = max(1, math.ceil(1 / size)) if size < 1 else 1
        if merged not in self._classes:
            # A pixel shows the worst of its cells, or a few wrong ones could vanish.
            self._classes[merged] = classes_of(_worst(cells.excess, merged))
        classes = self._classes[merged]
        key = merged, self._theme.name
        if key not in self._images:
            self._images[key] = error_image(classes, self._theme)
        image = self._images[key]
        down, across = (merged * step for step in cells.step)
        # The last row and column may stand for less of C than the others: clip, do not squeeze.
        target = self._box(0, 0, classes.shape[0] * down, classes.shape[1] * across)
        with clipped(painter, self._box(0, 0, cells.rows, cells.cols)):
            painter.drawImage(target, image)
            self._hatch(painter, classes, down, across)

    def _hatch(self, painter: QPainter, classes: Classes, down: int, across: int) -> None:
        """Stripes over cells without a number, so that no one knows them by colour alone."""
        runs = runs_of(classes == NO_NUMBER)
        if not 0 < len(runs) <= _MOST_HATCHED:
            return
        visible = self.boundingRect()
        painter.setPen(pixel_pen(self._theme.panel, 1.2))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        for row, start, end in runs:
            box = self._box(row * down, start * across, (row + 1) * down, end * across) & visible
            if not box.isEmpty():
                painter.drawLines(_stripes(box))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)

    def _paint_grid(self, painter: QPainter, cells: Cells, whole: QRectF) -> None:
        """Lines between the tiles; where they would be too dense only every 2nd, 4th and so on."""
        ink = QColor(self._theme.panel)  # as the errors stand out from the panel, it does from them
        ink.setAlpha(150)
        (left, right), (bottom, top) = self.plot.viewRange()
        pixels = self.plot.width() / (right - left)
        lines = []
        for place in _grid(cells.tile[1], cells.cols, left, right, pixels):
            x = self.to_pixel(place, 0.0).x()
            lines.append(QLineF(x, max(0.0, whole.top()), x, whole.bottom()))
        for place in _grid(cells.tile[0], cells.rows, -top, -bottom, pixels):
            y = self.to_pixel(0.0, -place).y()
            lines.append(QLineF(max(0.0, whole.left()), y, whole.right(), y))
        painter.setPen(pixel_pen(ink))
        painter.drawLines(lines)

    def _paint_spot(self, painter: QPainter, cells: Cells, spot: Spot) -> None:
        box = self._box(*cells.area(spot.row, spot.col))
        frame = QRectF(0, 0, max(6.0, box.width()), max(6.0, box.height()))
        frame.moveCenter(box.center())
        painter.setPen(pixel_pen(self._theme.panel, 3.0))
        painter.drawRect(frame)
        painter.setPen(pixel_pen(self._theme.text, 1.5))
        painter.drawRect(frame)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        area = self.boundingRect().adjusted(6, 6, -6, -6)
        place = QPointF(frame.right() + 12, frame.center().y())
        font = text_font(LABEL_PIXELS)
        metrics = QFontMetricsF(font)
        room = max(metrics.horizontalAdvance(line) for line in spot.text.split("\n")) + 12
        if place.x() + room > area.right():  # the other side, or the plate would cover the cell
            place.setX(frame.left() - 12 - room)
        draw_chip(
            painter,
            place,
            spot.text,
            font=font,
            ink=self._theme.text,
            theme=self._theme,
            limits=area,
        )


class ScaleBar(QGraphicsWidget):
    """The colours of the errors in words, the worst at the top."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        width = _SWATCH + 12 + _WORDS_PIXELS
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint a swatch and its words in each row."""
        steps = scale_steps(self._theme)
        *ladder, no_number, not_compared = steps
        rows = [*reversed(ladder), no_number, not_compared]
        row = min(_ROW, (self.size().height() - 22) / len(rows))
        tight = row < _READABLE
        painter.setFont(text_font(LABEL_PIXELS - 2 if tight else LABEL_PIXELS))
        painter.setPen(QColor(self._theme.muted))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(10, 0, self.size().width(), 18), flags, _TITLE)
        for index, step in enumerate(rows):
            apart = 6 * max(0, index - len(ladder) + 1)
            gap = 1.0 if index < len(ladder) else 2.0
            swatch = QRectF(10, 22 + index * row + min(apart, 6), _SWATCH, row - gap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.fillRect(swatch, QColor(step.color))
            if step.hatched:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
                painter.setPen(pixel_pen(self._theme.panel, 1.2))
                painter.drawLines(_stripes(swatch))
            if step.color == self._theme.panel:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
                painter.setPen(pixel_pen(self._theme.border))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(swatch)
            if tight and index % 2 == 1 and index < len(ladder) - 1:
                continue  # a ladder with words on every second rung reads as well
            painter.setPen(QColor(self._theme.text))
            words = QRectF(swatch.right() + 7, swatch.top(), _WORDS_PIXELS, swatch.height())
            painter.drawText(words, flags, step.words)


def _worst(excess: Floats, merged: int) -> Floats:
    """The largest of each ``merged`` x ``merged`` values; NaN only where all of them are."""
    if merged == 1:
        return excess
    starts = [np.arange(0, length, merged) for length in excess.shape]
    down = np.fmax.reduceat(excess, starts[0], axis=0)
    worst: Floats = np.fmax.reduceat(down, starts[1], axis=1)
    return worst


def _grid(tile: int, length: int, start: float, end: float, pixels: float) -> list[int]:
    """Where to draw lines between ``start`` and ``end``, with ``pixels`` for each cell."""
    step = max(1, tile)
    if step * pixels < _FEWEST_PIXELS:
        while step * pixels < _THINNED_PIXELS:
            step *= 2
    first = max(1, math.ceil(max(0.0, start) / step))
    last = math.floor(min(length - 1, end) / step)
    return [index * step for index in range(first, last + 1)]


def _stripes(box: QRectF) -> list[QLineF]:
    """Diagonal lines through a box, on one lattice whatever the box."""
    lines = []
    first = math.ceil((box.left() + box.top()) / _HATCH)
    last = math.floor((box.right() + box.bottom()) / _HATCH)
    for index in range(first, last + 1):
        total = index * _HATCH  # x + y along the line
        low = max(box.left(), total - box.bottom())
        high = min(box.right(), total - box.top())
        if high > low:
            lines.append(QLineF(low, total - low, high, total - high))
    return lines
