"""What a histogram paints: bars, a selected range, and the median with its interval over them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.chart import (
    LABEL_PIXELS,
    TICK_PIXELS,
    Layer,
    Plot,
    draw_chip,
    draw_haloed,
    pixel_pen,
)
from gemmviz.views.charts.trace import Floats
from gemmviz.views.theme import DARK, Theme, mixed, text_font

HEAD_PIXELS = 40
"""Room above the tallest bar for the labels of median and quartiles."""
LEAST_COUNT = 0.5
"""Where bars begin on a logarithmic axis, which has no zero."""
_GAPPED = 4  # from this many pixels on, bars have a gap between them


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """A histogram in plot coordinates, and what is said of it.

    Attributes:
        edges: Of the bins, rising.
        tops: Of the bars; one with nothing in it lies below ``ground``.
        ground: Where bars begin.
        median: Of all values.
        low: Lower end of the median's interval.
        high: Upper end of it.
        quartiles: The first and the third.
        label: Says the median.
        edge_notes: How many values lie beyond the left and the right edge, in words, or "".
    """

    edges: Floats
    tops: Floats
    ground: float
    median: float
    low: float
    high: float
    quartiles: tuple[float, float]
    label: str
    edge_notes: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Band:
    """A selected range of values in plot coordinates, and what lies in it, in words."""

    low: float
    high: float
    text: str


class HistogramLayer(Layer):
    """Bars, the selected range, and the median with its interval and the quartiles."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme, self._color = DARK, DARK.accent
        self._struck, self._warning = False, ""
        self._bars: Bars | None = None
        self._band: Band | None = None
        self._hover: tuple[int, str] | None = None

    @property
    def bars(self) -> Bars | None:
        """What is painted."""
        return self._bars

    @property
    def band(self) -> Band | None:
        """The selected range, if any."""
        return self._band

    @property
    def hover(self) -> tuple[int, str] | None:
        """The bin under the mouse and what is said of it."""
        return self._hover

    def set_bars(self, bars: Bars | None) -> None:
        """Show another histogram."""
        self._bars, self._hover = bars, None
        self.update()

    def set_band(self, band: Band | None) -> None:
        """Mark a range, or none."""
        self._band = band
        self.update()

    def set_hover(self, hover: tuple[int, str] | None) -> None:
        """Say more of a bin, or of none."""
        if hover != self._hover:
            self._hover = hover
            self.update()

    def set_struck(self, struck: bool, warning: str) -> None:
        """Strike the median's label through and show ``warning`` in the plot's corner."""
        self._struck, self._warning = struck, warning
        self.update()

    def restyle(self, color: str, theme: Theme) -> None:
        """Put colours on."""
        self._color, self._theme = color, theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the band, the bars, the lines over them, then words."""
        bars = self._bars
        if bars is None:
            return
        if self._band is not None:
            self._paint_band(painter, self._band)
        self._paint_interval(painter, bars)
        self._paint_bars(painter, bars)
        self._paint_lines(painter, bars)
        area = self.boundingRect().adjusted(6, 4, -6, -4)
        self._paint_words(painter, bars, area)

    def _paint_bars(self, painter: QPainter, bars: Bars) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        plain = mixed(self._color, self._theme.panel, 0.55)
        chosen = QColor(self._theme.mark)
        for index, top in enumerate(bars.tops.tolist()):
            if top <= bars.ground:
                continue
            left, right = float(bars.edges[index]), float(bars.edges[index + 1])
            box = QRectF(self.to_pixel(left, top), self.to_pixel(right, bars.ground))
            if box.width() >= _GAPPED:
                box.setWidth(box.width() - 1)
            if box.height() < 1:
                box.setTop(box.bottom() - 1)
            band = self._band
            inside = band is not None and band.low <= (left + right) / 2 <= band.high
            pointed = self._hover is not None and self._hover[0] == index
            painter.fillRect(box, chosen if inside else QColor(self._color) if pointed else plain)

    def _paint_band(self, painter: QPainter, band: Band) -> None:
        left, right = (self.to_pixel(x, 0.0).x() for x in (band.low, band.high))
        area = QRectF(left, 0, max(1.0, right - left), self.plot.height())
        painter.fillRect(area, mixed(self._theme.mark, self._theme.panel, 0.13))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pixel_pen(self._theme.mark))
        painter.drawLine(area.topLeft(), area.bottomLeft())
        painter.drawLine(area.topRight(), area.bottomRight())

    def _paint_interval(self, painter: QPainter, bars: Bars) -> None:
        """A strip behind the bars over the whole height."""
        left, right = (self.to_pixel(x, 0.0).x() for x in (bars.low, bars.high))
        strip = QRectF(left, 0, max(1.0, right - left), self.plot.height())
        painter.fillRect(strip, mixed(self._theme.mark, self._theme.panel, 0.18))

    def _paint_lines(self, painter: QPainter, bars: Bars) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        height = self.plot.height()
        for x, color, dash, top in (
            (bars.quartiles[0], self._theme.muted, [2, 3], 22),
            (bars.quartiles[1], self._theme.muted, [2, 3], 22),
            (bars.median, self._theme.mark, [4, 3], 0),
        ):
            pen = pixel_pen(color)
            pen.setDashPattern(dash)
            painter.setPen(pen)
            place = self.to_pixel(x, 0.0).x()
            painter.drawLine(QPointF(place, top), QPointF(place, height))

    def _paint_words(self, painter: QPainter, bars: Bars, area: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        theme = self._theme
        small, font = text_font(TICK_PIXELS), text_font(LABEL_PIXELS, QFont.Weight.Medium)
        for x, word, side in (
            (bars.quartiles[0], "Q1", Qt.AlignmentFlag.AlignRight),
            (bars.quartiles[1], "Q3", Qt.AlignmentFlag.AlignLeft),
        ):
            place = self.to_pixel(x, 0.0).x()
            left = place - 44 if side == Qt.AlignmentFlag.AlignRight else place + 4
            painter.setFont(small)
            painter.setPen(QColor(theme.muted))
            painter.drawText(
                QRectF(left, 20, 40, 16), int(side | Qt.AlignmentFlag.AlignVCenter), word
            )
        for note, place in zip(bars.edge_notes, (area.left(), area.right()), strict=True):
            if note:
                spot = QPointF(place, area.bottom() - 12)
                draw_haloed(
                    painter, spot, note, font=small, ink=theme.warn, theme=theme, limits=area
                )
        if self._warning:
            bold = text_font(LABEL_PIXELS, QFont.Weight.DemiBold)
            corner = QPointF(area.left(), area.top())
            draw_chip(
                painter, corner, self._warning, font=bold, ink=theme.bad, theme=theme, limits=area
            )
        font.setStrikeOut(self._struck)
        spot = QPointF(self.to_pixel(bars.median, 0.0).x() + 5, 11)
        draw_haloed(painter, spot, bars.label, font=font, ink=theme.mark, theme=theme, limits=area)
        plain = text_font(LABEL_PIXELS)
        if self._band is not None:
            edge = self.to_pixel(self._band.high, 0.0).x()
            spot = QPointF(edge + 8, self.plot.height() * 0.45)
            draw_chip(
                painter, spot, self._band.text, font=plain, ink=theme.text, theme=theme, limits=area
            )
        if self._hover is not None:
            index, text = self._hover
            spot = self.to_pixel(float(bars.edges[index + 1]), float(bars.tops[index]))
            spot = QPointF(spot.x() + 10, min(spot.y() + 16, self.plot.height() - 30))
            draw_chip(painter, spot, text, font=plain, ink=theme.text, theme=theme, limits=area)
