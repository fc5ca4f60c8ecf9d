"""Speed against resident groups: whether occupancy matters, a line a kernel."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, Slot
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core.throttle import ThrottleCurve, ThrottlePoint
from gemmviz.core.units import memory, percent, throughput
from gemmviz.views.charts.axis import CountAxis, UnitAxis
from gemmviz.views.charts.chart import (
    LABEL_PIXELS,
    TICK_PIXELS,
    Chart,
    Layer,
    Plot,
    draw_chip,
    draw_haloed,
    pixel_pen,
)
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.theme import DARK, Theme, text_font

_NEAR_PIXELS = 24.0
_CAP = 4.0
_ROOM = 0.14  # of the plot above its highest point, for the words there


@dataclass(frozen=True, slots=True)
class Throttled:
    """A curve with the name of its kernel."""

    name: str
    curve: ThrottleCurve


class ThrottleChart(Chart):
    """GFLOP/s against resident groups; the last curve is that of the present kernel.

    Each curve begins at the right, as the kernel is, and goes on to the left with fewer groups.
    """

    export_title = "Speed against resident groups"

    def __init__(
        self,
        parent: QWidget | None = None,
        theme: Theme = DARK,
        *,
        kernels: ColorBook | None = None,
    ) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Measured with fewer and fewer groups resident, a kernel shows its curve"
        self._kernels = kernels or ColorBook()
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._axes = (
            UnitAxis("left", self._plot, "Throughput", "FLOP/s"),
            CountAxis("bottom", self._plot, "Groups resident on a compute unit"),
        )
        self._layer = ThrottleLayer(self._plot, self._kernels)
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(0)
        grid.addItem(self._heading, 0, 0, 1, 2)
        grid.addItem(self._legend, 1, 0, 1, 2)
        grid.addItem(self._axes[0], 2, 0)
        grid.addItem(self._plot, 2, 1)
        grid.addItem(self._axes[1], 3, 1)
        grid.setRowStretchFactor(2, 1)
        grid.setColumnStretchFactor(1, 1)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self.set_curves(())

    @property
    def curves(self) -> tuple[Throttled, ...]:
        """What is shown."""
        return self._layer.curves

    def set_curves(self, curves: tuple[Throttled, ...]) -> None:
        """Show these curves; none is the empty chart."""
        self._layer.set_curves(curves)
        for item in (self._plot, *self._axes):
            item.setVisible(bool(curves))
        points = [point for each in curves for point in each.curve.points]
        if points:
            most = max(point.groups_per_unit for point in points)
            tallest = max(max(point.flops, _finite(point.flops_high)) for point in points)
            self._plot.setRange(
                xRange=(0, most * 1.08 + 0.2),
                yRange=(0, tallest * (1 + _ROOM) or 1.0),
                padding=0,
            )
            self._axes[1].set_ends(1, most)
        entries = [Entry(each.name, self._kernels.look(each.name)) for each in curves]
        self._legend.set_entries(tuple(entries) if len(entries) > 1 else ())
        self.viewport().update()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the curves; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no curve."""
        return not self._layer.curves

    def restyle(self) -> None:
        """Colour axes, legend and curves."""
        for part in (*self._axes, self._plot, self._layer, self._heading, self._legend):
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Point at nothing."""
        self._layer.point_at(None)

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        self._layer.point_at(self._layer.mapFromScene(position))


class ThrottleLayer(Layer):
    """Paints the curves: a line, the interval of each point, and what it keeps of its speed."""

    def __init__(self, plot: Plot, kernels: ColorBook) -> None:
        super().__init__(plot, depth=1)
        self._theme, self._kernels = DARK, kernels
        self._pointed: QPointF | None = None
        self.curves: tuple[Throttled, ...] = ()

    def set_curves(self, curves: tuple[Throttled, ...]) -> None:
        """Show other curves."""
        self.curves = curves
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def point_at(self, place: QPointF | None) -> None:
        """Say what the point near ``place`` is."""
        if place is not None or self._pointed is not None:
            self._pointed = place
            self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the curves, the present one last."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        for each in self.curves:
            self._paint_curve(painter, each, named=each is self.curves[-1])
        near = self._near()
        if near is not None:
            each, point, spot = near
            draw_chip(
                painter, QPointF(spot.x() + 12, spot.y() - 20), describe_point(each, point),
                font=text_font(LABEL_PIXELS), ink=self._theme.text, theme=self._theme,
                limits=self.boundingRect().adjusted(4, 4, -4, -4),
            )  # fmt: skip

    def _spot(self, point: ThrottlePoint) -> QPointF:
        return self.to_pixel(point.groups_per_unit, point.flops)

    def _paint_curve(self, painter: QPainter, each: Throttled, *, named: bool) -> None:
        points = each.curve.points
        color = self._kernels.color(each.name)
        painter.setPen(pixel_pen(color, 2.0))
        for first, second in itertools.pairwise(points):
            painter.drawLine(self._spot(first), self._spot(second))
        for point in points:
            spot = self._spot(point)
            low, high = (
                self.to_pixel(point.groups_per_unit, end).y()
                for end in (point.flops_low, point.flops_high)
            )
            painter.setPen(pixel_pen(color, 1.5))
            if math.isfinite(low) and math.isfinite(high):
                painter.drawLine(QPointF(spot.x(), low), QPointF(spot.x(), high))
                for y in (low, high):
                    painter.drawLine(QPointF(spot.x() - _CAP, y), QPointF(spot.x() + _CAP, y))
            painter.setPen(pixel_pen(self._theme.panel, 1.5))
            painter.setBrush(QColor(color))
            painter.drawEllipse(spot, 5, 5)
        if not named:
            return
        area = self.boundingRect().adjusted(2, 2, -2, -2)
        named_at: set[int] = set()
        for point in points:
            if point.groups_per_unit in named_at:
                continue  # on a CPU all stand above one another
            named_at.add(point.groups_per_unit)
            text = "as it is" if point is points[0] else percent(point.flops / points[0].flops)
            spot = self._spot(point)
            draw_haloed(
                painter, QPointF(spot.x() - 18, spot.y() - 17), text, font=text_font(TICK_PIXELS),
                ink=self._theme.text, theme=self._theme, limits=area,
            )  # fmt: skip

    def _near(self) -> tuple[Throttled, ThrottlePoint, QPointF] | None:
        place = self._pointed
        if place is None:
            return None
        found = [
            (each, point, self._spot(point)) for each in self.curves for point in each.curve.points
        ]
        near = min(found, key=lambda item: _distance(item[2], place), default=None)
        return near if near is not None and _distance(near[2], place) < _NEAR_PIXELS else None


def describe_point(each: Throttled, point: ThrottlePoint) -> str:
    """A point on a few lines."""
    first = each.curve.points[0]
    lines = [
        each.name,
        f"{point.groups_per_unit} resident: {throughput(point.flops)}",
        f"{percent(point.flops / first.flops)} of its speed as it is",
    ]
    if point.dummy_bytes:
        lines.append(f"with {memory(point.dummy_bytes)} of local memory left unused")
    return "\n".join(lines)


def _distance(first: QPointF, second: QPointF) -> float:
    return math.hypot(first.x() - second.x(), first.y() - second.y())


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
