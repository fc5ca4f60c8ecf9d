"""What a live plot paints: samples under their running median, and marks over both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.chart import LABEL_PIXELS, Layer, Plot, draw_chip, draw_haloed, pixel_pen
from gemmviz.views.charts.trace import Floats
from gemmviz.views.theme import DARK, Theme, mixed, text_font

LINE_PIXELS = 2.0
_CLOUD = 2500  # from this many samples on dots are small


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Points in plot coordinates: dots, a line, and bars around it (none where all are dots)."""

    x: Floats
    y: Floats
    line_x: Floats
    line_y: Floats
    low: Floats
    high: Floats


class SampleLayer(Layer):
    """Samples as faint dots, or as faint bars between extremes, under a bold line."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._series: Series | None = None
        self._color = DARK.accent
        self._theme = DARK
        # Filled by numpy and handed to Qt as they are: a list of 4000 QRectF would take longer to
        # make than to paint.
        self._rects = internals.PrimitiveArray(QRectF, 4)
        self._lines = internals.PrimitiveArray(QLineF, 4)

    def set_series(self, series: Series | None) -> None:
        """Show other points."""
        self._series = series
        self.update()

    def restyle(self, color: str, theme: Theme) -> None:
        """Put colours on."""
        self._color, self._theme = color, theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint samples, then the line."""
        if self._series is None or not len(self._series.x):
            return
        (left, right), (bottom, top) = self.plot.viewRange()
        across, down = self.plot.width() / (right - left), self.plot.height() / (top - bottom)
        series = self._series
        line_x, line_y = (series.line_x - left) * across, (top - series.line_y) * down
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        self._fill_dots((series.x - left) * across, (top - series.y) * down)
        dots = QColor(self._color)
        dots.setAlpha(90 if len(series.low) else 120 if len(series.x) > _CLOUD // 8 else 190)
        painter.setBrush(dots)
        painter.drawRects(*self._rects.drawargs())
        if len(series.low):
            self._fill_bars(line_x, (top - series.high) * down, (top - series.low) * down)
            painter.setBrush(mixed(self._color, self._theme.panel, 0.4))
            painter.drawRects(*self._rects.drawargs())
        self._lines.resize(max(0, len(line_x) - 1))
        if len(line_x) > 1:
            memory = self._lines.ndarray()
            memory[:, 0], memory[:, 1] = line_x[:-1], line_y[:-1]
            memory[:, 2], memory[:, 3] = line_x[1:], line_y[1:]
            pen = pixel_pen(self._color, LINE_PIXELS)
            pen.setCapStyle(Qt.PenCapStyle.SquareCap)  # closes the gap between two segments
            painter.setPen(pen)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
            painter.drawLines(*self._lines.drawargs())

    def _fill_dots(self, x: Floats, y: Floats) -> None:
        size = 2.0 if len(x) > _CLOUD else 3.0 if len(x) > _CLOUD // 8 else 4.0
        inside = (x > -size) & (x < self.plot.width() + size)
        inside &= (y > -size) & (y < self.plot.height() + size)
        x, y = x[inside], y[inside]
        self._rects.resize(len(x))
        if len(x):
            memory = self._rects.ndarray()
            memory[:, 0], memory[:, 1] = x - size / 2, y - size / 2
            memory[:, 2:] = size

    def _fill_bars(self, x: Floats, upper: Floats, lower: Floats) -> None:
        edges = np.sort(np.clip([upper, lower], -2.0, self.plot.height() + 2.0), axis=0)
        # Bars closer than three pixels touch; where a zoom spreads them they stay thin.
        spacing = float(x[-1] - x[0]) / max(1, len(x) - 1)
        width = max(1.0, spacing + 0.5) if spacing < 3 else 2.0
        self._rects.resize(len(x))
        memory = self._rects.ndarray()
        memory[:, 0], memory[:, 1] = x - width / 2, edges[0]
        memory[:, 2], memory[:, 3] = width, np.maximum(1.0, edges[1] - edges[0])


@dataclass(frozen=True, slots=True)
class Hover:
    """The sample under the mouse: its place in plot coordinates and what is known of it.

    ``text`` is empty on the plot that the mouse is not in.
    """

    x: float
    y: float
    text: str


class MarkLayer(Layer):
    """The dashed median with its label, notes in the corners, and the cross hair."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=2)
        self._theme = DARK
        self._median: tuple[float, str] | None = None
        self._below = False
        self._struck = False
        self._warning = ""
        self._note = ""
        self._hover: Hover | None = None

    @property
    def hover(self) -> Hover | None:
        """The sample that is pointed out, if any."""
        return self._hover

    def set_median(self, y: float | None, text: str = "", *, below: bool = False) -> None:
        """Draw the median at ``y`` (plot coordinates), its label above or ``below``, or none."""
        self._median = None if y is None else (y, text)
        self._below = below
        self.update()

    def set_struck(self, struck: bool, warning: str) -> None:
        """Strike the median's label through and show ``warning`` in the plot's corner."""
        self._struck, self._warning = struck, warning
        self.update()

    def set_note(self, note: str) -> None:
        """Show a short remark in the top right corner."""
        if note != self._note:
            self._note = note
            self.update()

    def set_hover(self, hover: Hover | None) -> None:
        """Point a sample out, or none."""
        if hover != self._hover:
            self._hover = hover
            self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint every mark that is set."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        area = self.boundingRect().adjusted(6, 4, -6, -4)
        if self._hover is not None:
            self._paint_cross(painter, self._hover)  # under the labels, or it would strike them
        if self._median is not None:
            self._paint_median(painter, area, *self._median)
        if self._note:
            painter.setFont(text_font(LABEL_PIXELS - 1))
            painter.setPen(QColor(self._theme.muted))
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
            painter.drawText(area, int(flags), self._note)
        if self._warning:
            font = text_font(LABEL_PIXELS, QFont.Weight.DemiBold)
            draw_chip(
                painter,
                area.topLeft(),
                self._warning,
                font=font,
                ink=self._theme.bad,
                theme=self._theme,
                limits=area,
            )
        if self._hover is not None:
            self._paint_spot(painter, area, self._hover)

    def _paint_median(self, painter: QPainter, area: QRectF, y: float, text: str) -> None:
        level = self.to_pixel(0.0, y).y()
        pen = pixel_pen(self._theme.mark, 1.0)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.drawLine(QPointF(0, level), QPointF(self.plot.width(), level))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        if not 0 <= level <= self.plot.height():
            return
        font = text_font(LABEL_PIXELS, QFont.Weight.Medium)
        font.setStrikeOut(self._struck)
        place = QPointF(area.right(), level + (15 if self._below else -15))
        draw_haloed(
            painter,
            place,
            text,
            font=font,
            ink=self._theme.mark,
            theme=self._theme,
            limits=area,
        )

    def _paint_cross(self, painter: QPainter, hover: Hover) -> None:
        spot = self.to_pixel(hover.x, hover.y)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)  # crisp straight lines
        painter.setPen(pixel_pen(self._theme.muted))
        painter.drawLine(QPointF(spot.x(), 0), QPointF(spot.x(), self.plot.height()))
        if hover.text:
            painter.drawLine(QPointF(0, spot.y()), QPointF(self.plot.width(), spot.y()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)

    def _paint_spot(self, painter: QPainter, area: QRectF, hover: Hover) -> None:
        spot = self.to_pixel(hover.x, hover.y)
        painter.setPen(pixel_pen(self._theme.text, 1.5))
        painter.setBrush(QColor(self._theme.panel))
        painter.drawEllipse(spot, 3.5, 3.5)
        if hover.text:
            place = QPointF(spot.x() + 12, spot.y() - 18)
            draw_chip(
                painter,
                place,
                hover.text,
                font=text_font(LABEL_PIXELS),
                ink=self._theme.text,
                theme=self._theme,
                limits=area,
            )
