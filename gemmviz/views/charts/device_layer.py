"""The curves of devices over sizes, and the strip below them that shows which is the fastest."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF
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
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.legend import fill_bar
from gemmviz.views.theme import DARK, Theme, text_font

BEST_PIXELS = 26.0
"""Height of the strip that names the fastest device of each size."""
_STRIP = 10.0
_RADIUS = 4.0
_CAP_PIXELS = 7.0
_REACH_PIXELS = 18.0


@dataclass(frozen=True, slots=True)
class Point:
    """A device at a size: value and interval in the chart's unit, and all that is known of it."""

    size: int
    value: float
    low: float
    high: float
    details: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A device's points, with its look and its number in the legend."""

    name: str
    look: Look
    number: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """The looks of the devices that are the fastest at a size, and their numbers."""

    size: int
    looks: tuple[Look, ...]
    numbers: str


class CurveLayer(Layer):
    """Paints lines, marks, intervals, the number at each line's end, and the strip."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._log = False
        self.curves: tuple[Curve, ...] = ()
        self.best: tuple[Best, ...] = ()
        self._pointed: tuple[Curve, Point] | None = None

    @property
    def pointed(self) -> Point | None:
        """The point under the mouse, if any."""
        return self._pointed[1] if self._pointed is not None else None

    def set_curves(self, curves: tuple[Curve, ...], best: tuple[Best, ...]) -> None:
        """Show other curves."""
        self.curves, self.best, self._pointed = curves, best, None
        self.update()

    def set_log(self, log: bool) -> None:
        """Whether the value axis is logarithmic."""
        self._log = log

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def point_at(self, place: QPointF | None) -> None:
        """Tell more of the point near ``place`` (pixels of the plot), or of none."""
        found = None
        if place is not None:
            near = [
                ((self._at(point) - place).manhattanLength(), curve, point)
                for curve in self.curves
                for point in curve.points
            ]
            near.sort(key=lambda entry: entry[0])
            if near and near[0][0] <= _REACH_PIXELS:
                found = near[0][1], near[0][2]
        if found != self._pointed:
            self._pointed = found
            self.update()

    def _at(self, point: Point, value: float | None = None) -> QPointF:
        """Where a value of a point's size is, in pixels."""
        value = point.value if value is None else value
        return self.to_pixel(
            math.log2(point.size), math.log10(max(value, 1e-300)) if self._log else value
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the strip, then every curve, then the details."""
        self._paint_strip(painter)
        for curve in self.curves:
            self._paint_curve(painter, curve)
        self._paint_numbers(painter)
        if self._pointed is not None:
            curve, point = self._pointed
            anchor = self._at(point) + QPointF(14, 0)
            draw_chip(
                painter, anchor, point.details, font=text_font(LABEL_PIXELS),
                ink=self._theme.text, theme=self._theme,
                limits=self.boundingRect().adjusted(6, 6, -6, -6),
            )  # fmt: skip

    def _paint_curve(self, painter: QPainter, curve: Curve) -> None:
        color = QColor(curve.look.color)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pixel_pen(color, 1.2))
        for point in curve.points:
            ends = [self._at(point, end) for end in (point.low, point.high)]
            painter.drawLine(*ends)
            for end in ends:
                half = QPointF(_CAP_PIXELS / 2, 0)
                painter.drawLine(end - half, end + half)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        style = Qt.PenStyle.SolidLine if not curve.look.pattern else Qt.PenStyle.DashLine
        painter.setPen(pixel_pen(color, 2.0, style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([self._at(point) for point in curve.points]))
        painter.setPen(pixel_pen(self._theme.panel, 1.2))
        painter.setBrush(color)
        for point in curve.points:
            painter.drawEllipse(self._at(point), _RADIUS, _RADIUS)

    def _paint_numbers(self, painter: QPainter) -> None:
        """The number of each curve behind its last point, so that no line is known by colour."""
        taken: list[QRectF] = []
        font = text_font(TICK_PIXELS)
        for curve in self.curves:
            if not curve.number:
                continue
            place = self._at(curve.points[-1]) + QPointF(8, 0)
            limits = self.boundingRect()
            while any(area.contains(place + QPointF(6, 0)) for area in taken):
                place -= QPointF(0, 12)
            taken.append(
                draw_haloed(
                    painter, place, curve.number, font=font, ink=self._theme.text,
                    theme=self._theme, limits=limits,
                )
            )  # fmt: skip

    def _paint_strip(self, painter: QPainter) -> None:
        """For each size a piece in the colours of the fastest, from half-way to half-way."""
        if not self.best:
            return
        (left, right), _ = self.plot.viewRange()
        places = [math.log2(best.size) for best in self.best]
        font = text_font(TICK_PIXELS)
        bottom = self.plot.height() - 2
        for index, best in enumerate(self.best):
            before = (places[index - 1] + places[index]) / 2 if index else left
            after = (places[index] + places[index + 1]) / 2 if index + 1 < len(places) else right
            start, end = (self.to_pixel(place, 0.0).x() for place in (before, after))
            piece = QRectF(start + 1, bottom - _STRIP, end - start - 2, _STRIP)
            part = piece.width() / len(best.looks)
            for number, look in enumerate(best.looks):
                area = QRectF(piece.left() + number * part, piece.top(), part, _STRIP)
                fill_bar(painter, area, look, self._theme, hatched=False)
            text = f"fastest: {best.numbers}" if not index else best.numbers
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
            painter.setFont(font)
            painter.setPen(QColor(self._theme.muted))
            metrics = painter.fontMetrics()
            shown = text if metrics.horizontalAdvance(text) <= piece.width() else best.numbers
            room = QRectF(piece.left(), piece.top() - 14, piece.width(), 13)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), shown)
