"""Configurations of a sweep as marks in a plot, joined by lines where they are a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core.sweep import SweepCell
from gemmviz.views.charts.chart import (
    LABEL_PIXELS,
    TICK_PIXELS,
    Layer,
    Plot,
    clipped,
    draw_chip,
    draw_haloed,
    pixel_pen,
)
from gemmviz.views.charts.sweep_words import (
    BEST_WORDS,
    RECOMMENDED_SIGN,
    RECOMMENDED_WORDS,
    describe_cell,
)
from gemmviz.views.theme import DARK, Theme, text_font

SHAPES = 6
"""Different marks: circle, square, triangle, diamond, triangle on its tip, cross."""
_RADIUS = 4.0
_MANY = 300  # from so many marks on they are smaller
_SMALL_RADIUS = 3.0
_RING = 4.0
_REACH = 22.0  # pixels from the mouse at which a mark is still meant
_CAP = 3.5

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Mark:
    """One configuration, in plot coordinates.

    Attributes:
        x: Across.
        y: Upwards.
        color: "#rrggbb".
        shape: Which of the ``SHAPES``.
        cell: What it stands for.
        title: What is written above its details.
        ends: Lower and upper end of an interval of ``y``; None without one.
        best: Whether it is ringed.
        recommended: Whether it is starred.
        rough: Whether it is hollow.
    """

    x: float
    y: float
    color: str
    shape: int
    cell: SweepCell
    title: str
    ends: tuple[float, float] | None = None
    best: bool = False
    recommended: bool = False
    rough: bool = False

    @property
    def text(self) -> str:
        """All that is known of it, on some lines."""
        marks = [BEST_WORDS] * self.best
        marks += [f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS}"] * self.recommended
        return f"{self.title}\n{describe_cell(self.cell, tuple(marks))}"


@dataclass(frozen=True, slots=True)
class Trail:
    """A line through marks; its number stands at its end."""

    color: str
    number: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Junction:
    """Where two lines cross; hollow where that is not sure. ``label`` is written beside it."""

    x: float
    y: float
    sure: bool
    label: str
    text: str


class PointLayer(Layer):
    """Paints trails, marks over them, junctions, and what is said of the one under the mouse."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._marks: tuple[Mark, ...] = ()
        self._trails: tuple[Trail, ...] = ()
        self._junctions: tuple[Junction, ...] = ()
        self._places: Floats = np.empty((0, 2))
        self._pointed: Mark | Junction | None = None
        self._chosen: SweepCell | None = None

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The configurations that are shown."""
        return self._marks

    @property
    def junctions(self) -> tuple[Junction, ...]:
        """The crossings that are shown."""
        return self._junctions

    @property
    def pointed(self) -> Mark | Junction | None:
        """What is under the mouse, if anything."""
        return self._pointed

    def show_all(
        self,
        marks: tuple[Mark, ...],
        trails: tuple[Trail, ...] = (),
        junctions: tuple[Junction, ...] = (),
    ) -> None:
        """Show others; the best ones are painted last, so that nothing hides them."""
        self._marks = tuple(sorted(marks, key=lambda mark: (mark.recommended, mark.best)))
        self._trails, self._junctions = trails, junctions
        shown: tuple[Mark | Junction, ...] = (*self._marks, *junctions)
        self._places = np.array([(each.x, each.y) for each in shown], dtype=float).reshape(-1, 2)
        self._pointed = None
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def choose(self, cell: SweepCell | None) -> None:
        """Frame the mark whose details are looked at, or none."""
        self._chosen = cell
        self.update()

    def point_at(self, place: QPointF | None) -> None:
        """Tell more of what is nearest to a place in pixels, or of nothing."""
        found = self.nearest(place) if place is not None else None
        if found != self._pointed:
            self._pointed = found
            self.update()

    def nearest(self, place: QPointF) -> Mark | Junction | None:
        """What is within reach of a place in pixels, the nearest if there are several."""
        if not len(self._places):
            return None
        spots = self._pixels()
        away = np.hypot(spots[:, 0] - place.x(), spots[:, 1] - place.y())
        found = len(away) - 1 - int(np.argmin(away[::-1]))  # the last one is painted on top
        if away[found] > _REACH:
            return None
        count = len(self._marks)
        return self._marks[found] if found < count else self._junctions[found - count]

    def _pixels(self) -> Floats:
        """Where marks and then junctions are, in pixels; shape (count, 2)."""
        origin, unit = self.to_pixel(0.0, 0.0), self.to_pixel(1.0, 1.0)
        steps = unit - origin
        pixels: Floats = self._places * (steps.x(), steps.y()) + (origin.x(), origin.y())
        return pixels

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint everything within the plot, then the details over it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        radius = _RADIUS if len(self._marks) < _MANY else _SMALL_RADIUS
        with clipped(painter, self.boundingRect().adjusted(-8, -8, 8, 8)):
            for trail in self._trails:
                self._paint_trail(painter, trail)
            self._paint_marks(painter, radius)
            for junction in self._junctions:
                self._paint_junction(painter, junction)
        if self._pointed is not None:
            self._paint_details(painter, self._pointed)

    def _paint_trail(self, painter: QPainter, trail: Trail) -> None:
        line = QPolygonF([self.to_pixel(x, y) for x, y in trail.points])
        painter.setPen(pixel_pen(trail.color, 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(line)
        if trail.number and trail.points:
            end = self.to_pixel(*trail.points[-1])
            draw_haloed(
                painter, end + QPointF(4, 0), trail.number,
                font=text_font(TICK_PIXELS, QFont.Weight.DemiBold), ink=trail.color,
                theme=self._theme, limits=self.boundingRect(),
            )  # fmt: skip

    def _paint_marks(self, painter: QPainter, radius: float) -> None:
        """All marks: those of one look as a single path, then the rings and stars of a few."""
        paths: dict[tuple[str, bool], QPainterPath] = {}
        special = []
        for mark, (x, y) in zip(self._marks, self._pixels().tolist(), strict=False):
            if mark.ends is not None:
                self._paint_ends(painter, mark, x, radius)
            if mark.best or mark.cell == self._chosen:
                special.append((mark, QPointF(x, y)))
            look = mark.color, mark.rough
            if look not in paths:
                paths[look] = QPainterPath()
                paths[look].setFillRule(Qt.FillRule.WindingFill)
            paths[look].addPath(outline(mark.shape, radius).translated(x, y))
        for (color, rough), path in paths.items():
            painter.setPen(pixel_pen(color, 1.4) if rough else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.panel if rough else color))
            painter.drawPath(path)
        for mark, spot in special:
            self._paint_special(painter, mark, spot, radius)

    def _paint_ends(self, painter: QPainter, mark: Mark, x: float, radius: float) -> None:
        """The interval of a mark, where it reaches out of the mark."""
        low, high = (self.to_pixel(mark.x, end).y() for end in mark.ends or ())
        if low - high <= 2 * radius:
            return
        painter.setPen(pixel_pen(mark.color, 1.2))
        painter.drawLine(QPointF(x, low), QPointF(x, high))
        for y in (low, high):
            painter.drawLine(QPointF(x - _CAP, y), QPointF(x + _CAP, y))

    def _paint_special(self, painter: QPainter, mark: Mark, spot: QPointF, radius: float) -> None:
        """A mark of the best set or the chosen one over all others, with its rings and star."""
        theme = self._theme
        painter.setPen(pixel_pen(mark.color, 1.4) if mark.rough else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.panel if mark.rough else mark.color))
        painter.drawPath(outline(mark.shape, radius).translated(spot))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if mark.best:
            painter.setPen(pixel_pen(theme.text, 1.6))
            painter.drawEllipse(spot, radius + _RING, radius + _RING)
        if mark.cell == self._chosen:
            painter.setPen(pixel_pen(theme.accent, 2.0))
            painter.drawEllipse(spot, radius + 2 * _RING, radius + 2 * _RING)
        if mark.recommended:
            draw_haloed(
                painter, spot + QPointF(radius + 2, -radius - 8), RECOMMENDED_SIGN,
                font=text_font(LABEL_PIXELS + 1), ink=theme.text, theme=theme,
                limits=self.boundingRect(),
            )  # fmt: skip

    def _paint_junction(self, painter: QPainter, junction: Junction) -> None:
        spot, theme = self.to_pixel(junction.x, junction.y), self._theme
        painter.setPen(pixel_pen(theme.mark, 1.8))
        painter.setBrush(QColor(theme.mark if junction.sure else theme.panel))
        painter.drawPath(outline(3, 6.0).translated(spot))
        if junction.label:
            draw_haloed(
                painter, spot + QPointF(6, -14), junction.label,
                font=text_font(TICK_PIXELS, QFont.Weight.Medium), ink=theme.mark, theme=theme,
                limits=self.boundingRect(),
            )  # fmt: skip

    def _paint_details(self, painter: QPainter, pointed: Mark | Junction) -> None:
        spot, font = self.to_pixel(pointed.x, pointed.y), text_font(LABEL_PIXELS)
        metrics = QFontMetricsF(font)
        wide = max(map(metrics.horizontalAdvance, pointed.text.split("\n"))) + 12
        area = self.boundingRect().adjusted(4, 4, -4, -4)
        place = spot + QPointF(14, 0)
        if place.x() + wide > area.right():  # the other side, or the plate would cover the mark
            place.setX(spot.x() - 14 - wide)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(pixel_pen(self._theme.text, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(spot, 7.0, 7.0)
        draw_chip(
            painter, place, pointed.text, font=font, ink=self._theme.text, theme=self._theme,
            limits=area,
        )  # fmt: skip


@cache
def outline(shape: int, radius: float) -> QPainterPath:
    """The outline of one of the ``SHAPES`` around the origin; all cover about the same area."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)  # the arms of a cross overlap
    match shape % SHAPES:
        case 0:
            path.addEllipse(QPointF(0, 0), radius, radius)
        case 1:
            edge = 0.9 * radius
            path.addRect(QRectF(-edge, -edge, 2 * edge, 2 * edge))
        case 5:
            arm, half = 1.2 * radius, 0.4 * radius
            path.addRect(QRectF(-arm, -half, 2 * arm, 2 * half))
            path.addRect(QRectF(-half, -arm, 2 * half, 2 * arm))
        case other:
            corners, turn = (4, -90.0) if other == 3 else (3, -90.0 if other == 2 else 90.0)
            angles = [math.radians(turn + 360 * corner / corners) for corner in range(corners)]
            reach = 1.25 * radius
            points = [QPointF(reach * math.cos(angle), reach * math.sin(angle)) for angle in angles]
            path.addPolygon(QPolygonF(points))
            path.closeSubpath()
    return path
