"""A legend above a plot: coloured swatches with names, in as many rows as the width needs."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QGraphicsSceneResizeEvent,
    QGraphicsWidget,
    QStyleOptionGraphicsItem,
    QWidget,
)

from gemmviz.views.charts.chart import LABEL_PIXELS, clipped, pixel_pen
from gemmviz.views.charts.colors import Look
from gemmviz.views.theme import DARK, Theme, mixed, text_font

_SWATCH = 12.0
_GAP = 18.0
_ROW = 20.0
_MOST_ROWS = 4
_LONGEST = 260.0
_HATCH = 6.0
_STRIPE = 4.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of a legend; ``hatched`` swatches stand for figures that do not count.

    Without a look a hatched swatch is grey, and another one is left out. ``number`` stands before
    the name, as under the bars.
    """

    text: str
    look: Look | None = None
    hatched: bool = False
    number: str = ""


class Legend(QGraphicsWidget):
    """Swatches and names, left to right and top to bottom."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._entries: tuple[Entry, ...] = ()
        self._most_rows = _MOST_ROWS
        self.setMaximumHeight(0)  # a layout would give it room that nothing fills

    def set_entries(self, entries: tuple[Entry, ...]) -> None:
        """Show other entries."""
        self._entries = entries
        self._fit()
        self.update()

    def set_most_rows(self, rows: int) -> None:
        """Count the names that would need more rows than these, at most four."""
        self._most_rows = max(1, min(rows, _MOST_ROWS))
        self._fit()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def resizeEvent(self, event: QGraphicsSceneResizeEvent) -> None:
        """Another width may need another number of rows."""
        super().resizeEvent(event)
        self._fit()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint swatch and name of each entry."""
        painter.setFont(text_font(LABEL_PIXELS))
        for entry, place, text in self._placed():
            swatch = QRectF(place.x(), place.y() + (_ROW - _SWATCH) / 2, _SWATCH, _SWATCH)
            if entry.look is not None or entry.hatched:
                look = entry.look or Look(self._theme.muted)
                fill_bar(painter, swatch, look, self._theme, hatched=entry.hatched)
            painter.setPen(QColor(self._theme.text))
            row = QRectF(place.x() + _SWATCH + 6, place.y(), _LONGEST + 2, _ROW)
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(row, int(flags), text)

    def _placed(self) -> list[tuple[Entry, QPointF, str]]:
        """Entries with their places and elided names; those beyond the last row are counted."""
        metrics = QFontMetricsF(text_font(LABEL_PIXELS))
        placed: list[tuple[Entry, QPointF, str]] = []
        x, y = 8.0, 0.0
        for entry in self._entries:
            name = f"{entry.number}  {entry.text}".strip()
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, _LONGEST)
            width = _SWATCH + 6 + metrics.horizontalAdvance(text)
            if x > 8.0 and x + width > self.size().width():
                x, y = 8.0, y + _ROW
            if y >= self._most_rows * _ROW:
                _, place, _ = placed.pop()
                more = f"{len(self._entries) - len(placed)} more"
                return [*placed, (Entry(more), place, more)]
            placed.append((entry, QPointF(x, y), text))
            x += width + _GAP
        return placed

    def _fit(self) -> None:
        placed = self._placed()
        height = placed[-1][1].y() + _ROW + 8 if placed else 0.0
        if height != self.minimumHeight():
            self.setMinimumHeight(height)
            self.setMaximumHeight(height)
            self.updateGeometry()


def fill_bar(painter: QPainter, bar: QRectF, look: Look, theme: Theme, *, hatched: bool) -> None:
    """Fill a rectangle with a look, or hatch it: drawn as lines, which scale in a picture.

    Qt's own hatching patterns keep their size in device pixels whatever the scale.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    if not hatched:
        painter.fillRect(bar, QColor(look.color))
        _stripe(painter, bar, look.pattern, theme)
        return
    painter.fillRect(bar, mixed(look.color, theme.panel, 0.2))
    with clipped(painter, bar):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(pixel_pen(look.color, 1.2))
        start = bar.left() - bar.height()
        for step in range(int((bar.width() + bar.height()) / _HATCH) + 1):
            x = start + step * _HATCH
            painter.drawLine(QPointF(x, bar.bottom()), QPointF(x + bar.height(), bar.top()))
    painter.setPen(pixel_pen(look.color))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(bar)


def _stripe(painter: QPainter, bar: QRectF, pattern: int, theme: Theme) -> None:
    """Draw the stripes of a look, from the foot of the bar so that they stay as it grows."""
    painter.setPen(pixel_pen(theme.panel, 1.2))
    if pattern & 1:
        for step in range(1, int(bar.height() / _STRIPE) + 1):
            y = bar.bottom() - step * _STRIPE
            painter.drawLine(QPointF(bar.left(), y), QPointF(bar.right(), y))
    if pattern & 2:
        for step in range(1, int(bar.width() / _STRIPE) + 1):
            x = bar.left() + step * _STRIPE
            painter.drawLine(QPointF(x, bar.top()), QPointF(x, bar.bottom()))
