"""What the roofline paints: roofs, results and their labels, and the details under the mouse."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core.roofline import Dot, Roof, Standing
from gemmviz.views.charts.chart import LABEL_PIXELS, Layer, Plot, clipped, draw_chip, pixel_pen
from gemmviz.views.charts.roofline_labels import Place, Room, along, around
from gemmviz.views.charts.roofline_words import describe_mark, describe_roof
from gemmviz.views.theme import DARK, Theme, text_font

_LARGEST, _SMALLEST = 13.0, 3.5  # radius of the dot of the longest launch, and of any
_REACH = 8.0  # pixels beyond a mark within which the mouse means it
_LINE_REACH = 5.0
_SHARES_OF_SLOPE = (0.06, 0.2, 0.34, 0.48, 0.62, 0.76, 0.9)
_SHARES_OF_PEAK = (1.0, 0.86, 0.72, 0.58, 0.44, 0.3, 0.16, 0.0)
_HALO = 1.4
_DASHES: dict[str, list[float]] = {
    "cache": [7.0, 3.0], "near cache": [2.0, 2.5],
    "FMA double": [7.0, 3.0], "FMA half": [2.0, 2.5],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlacedRoof:
    """A roof with its device, colour and ends in plot coordinates (log10 of FLOP/B and FLOP/s)."""

    device: str
    number: str
    color: str
    roof: Roof
    start: QPointF
    end: QPointF


@dataclass(frozen=True, slots=True)
class PlacedDot:
    """A result with the colour and number of its device, and its radius in pixels."""

    dot: Dot
    number: str
    color: str
    radius: float

    @property
    def marks(self) -> tuple[Standing, ...]:
        """Its one or two places, the one at the minimum traffic first."""
        return tuple(filter(None, (self.dot.least, self.dot.source)))


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """A text with its place in pixels, and the mark it belongs to, if it does to one."""

    text: str
    place: Place
    size: QSizeF
    struck: bool = False
    mark: QPointF | None = None

    @property
    def outline(self) -> QPolygonF:
        """Its corners in pixels."""
        return self.place.outline(self.size)


def radius_of(seconds: float, longest: float) -> float:
    """The radius of a dot in pixels: its area grows with the time."""
    share = math.sqrt(seconds / longest) if longest > 0 else 1.0
    return max(_SMALLEST, _LARGEST * share)


class RooflineLayer(Layer):
    """Roofs under results, labels over both, and a plate for what is pointed at."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._roofs: tuple[PlacedRoof, ...] = ()
        self._dots: tuple[PlacedDot, ...] = ()
        self._pointed: tuple[QPointF, str] | None = None

    @property
    def roofs(self) -> tuple[PlacedRoof, ...]:
        """The roofs that are painted."""
        return self._roofs

    @property
    def dots(self) -> tuple[PlacedDot, ...]:
        """The results that are painted."""
        return self._dots

    @property
    def pointed(self) -> str:
        """The text of what is under the mouse, or ""."""
        return self._pointed[1] if self._pointed is not None else ""

    def show_all(self, roofs: tuple[PlacedRoof, ...], dots: tuple[PlacedDot, ...]) -> None:
        """Paint these from now on, the dots that come last over the others."""
        self._roofs, self._dots, self._pointed = roofs, dots, None
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def point_at(self, place: QPointF | None) -> None:
        """Tell more of what is at a point in pixels: a mark, else a roof, else nothing."""
        found = self._found(place) if place is not None else None
        if found != self._pointed:
            self._pointed = found
            self.update()

    def _found(self, place: QPointF) -> tuple[QPointF, str] | None:
        nearest: tuple[float, QPointF, str] | None = None
        for placed in self._dots:
            for mark in placed.marks:
                spot = self._spot(mark)
                beyond = QLineF(place, spot).length() - placed.radius
                if beyond <= _REACH and (nearest is None or beyond < nearest[0]):
                    nearest = beyond, spot, describe_mark(placed.dot, mark)
        if nearest is not None:
            return nearest[1:]
        for roof in self._roofs:
            line = self._line(roof)
            if _distance(line, place) <= _LINE_REACH:
                return place, describe_roof(roof.device, roof.roof)
        return None

    def labels(self) -> tuple[PlacedLabel, ...]:
        """Every label with its place, none over another or over a mark.

        Roofs come first, then results from the fastest on; what finds no place is left out and
        told under the mouse.
        """
        area = self.boundingRect().adjusted(4, 4, -4, -4)
        room = Room(area)
        for placed in self._dots:
            for mark in placed.marks:
                spot, reach = self._spot(mark), placed.radius
                room.block(QRectF(spot.x() - reach, spot.y() - reach, 2 * reach, 2 * reach))
        made: list[PlacedLabel] = []
        metrics = QFontMetricsF(_font())
        for roof in sorted(self._roofs, key=lambda each: not each.roof.flat):
            text = f"{roof.number} {roof.roof.label}".strip()
            size = QSizeF(metrics.horizontalAdvance(text), metrics.height() - 2)
            seen = _clipped(self._line(roof), area)
            shares = _SHARES_OF_PEAK if roof.roof.flat else _SHARES_OF_SLOPE
            if seen is not None and seen.length() >= size.width():
                place = room.take(size, along(seen.p1(), seen.p2(), size, shares))
                if place is not None:
                    made.append(PlacedLabel(text, place, size))
        for roof in self._roofs:
            room.spare(self._line(roof))
        for placed in self._dots:
            if len(placed.marks) == 2:
                room.spare(QLineF(*map(self._spot, placed.marks)))
        for placed in sorted(self._dots, key=lambda each: -each.dot.least.flops_per_second):
            dot = placed.dot
            text = f"{placed.number} {dot.kernel}".strip()
            size = QSizeF(metrics.horizontalAdvance(text), metrics.height() - 2)
            place = room.take(size, around(self._spot(dot.least), placed.radius, size))
            if place is not None:
                made.append(PlacedLabel(text, place, size, dot.wrong, self._spot(dot.least)))
        return tuple(made)

    def _spot(self, mark: Standing) -> QPointF:
        return self.to_pixel(math.log10(mark.intensity), math.log10(mark.flops_per_second))

    def _line(self, roof: PlacedRoof) -> QLineF:
        start, end = roof.start, roof.end
        return QLineF(self.to_pixel(start.x(), start.y()), self.to_pixel(end.x(), end.y()))

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint everything."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        with clipped(painter, self.boundingRect()):
            for roof in self._roofs:
                pen = pixel_pen(roof.color, 2.0 if not roof.roof.name.startswith("near") else 1.6)
                if dashes := _DASHES.get(roof.roof.name):
                    pen.setDashPattern(dashes)
                painter.setPen(pen)
                painter.drawLine(self._line(roof))
            labels = self.labels()
            painter.setPen(pixel_pen(self._theme.muted))
            for label in labels:
                if (leader := _leader(label)) is not None:
                    painter.drawLine(leader)
            for placed in self._dots:
                self._paint_dot(painter, placed)
            for label in labels:
                self._paint_label(painter, label)
        if self._pointed is not None:
            spot, text = self._pointed
            draw_chip(
                painter, QPointF(spot.x() + 18, spot.y() - 30), text,
                font=text_font(LABEL_PIXELS), ink=self._theme.text, theme=self._theme,
                limits=self.boundingRect().adjusted(6, 4, -6, -4),
            )  # fmt: skip

    def _paint_dot(self, painter: QPainter, placed: PlacedDot) -> None:
        """A filled mark at the minimum traffic, a hollow one at the source's, a line between."""
        ink, spots = QColor(placed.color), [self._spot(mark) for mark in placed.marks]
        if len(spots) == 2:
            painter.setPen(pixel_pen(ink, 1.2))
            painter.drawLine(spots[0], spots[1])
        filled = QColor(ink)
        filled.setAlpha(60 if placed.dot.wrong else 170)
        for place, spot in enumerate(spots):
            painter.setPen(pixel_pen(ink, 1.6))
            painter.setBrush(filled if place == 0 else QColor(self._theme.panel))
            painter.drawEllipse(spot, placed.radius, placed.radius)
        if placed.dot.wrong:
            reach = placed.radius
            painter.setPen(pixel_pen(self._theme.bad, 1.6))
            for spot in spots:
                for down in (reach, -reach):
                    painter.drawLine(
                        QPointF(spot.x() - reach, spot.y() - down),
                        QPointF(spot.x() + reach, spot.y() + down),
                    )

    def _paint_label(self, painter: QPainter, label: PlacedLabel) -> None:
        font = _font()
        font.setStrikeOut(label.struck)
        painter.save()
        painter.setFont(font)
        painter.translate(label.place.center)
        painter.rotate(-label.place.slant)
        width, height = label.size.width() + 4, label.size.height() + 4
        box = QRectF(-width / 2, -height / 2, width, height)
        flags = int(Qt.AlignmentFlag.AlignCenter)
        painter.setPen(QColor(self._theme.panel))  # a rim, so that lines show between words
        for step in range(8):
            angle = step * math.pi / 4
            painter.drawText(
                box.translated(_HALO * math.cos(angle), _HALO * math.sin(angle)), flags, label.text
            )
        painter.setPen(QColor(self._theme.text))
        painter.drawText(box, flags, label.text)
        painter.restore()


def _font() -> QFont:
    return text_font(LABEL_PIXELS - 1)


def _leader(label: PlacedLabel) -> QLineF | None:
    """A line from a mark to its label where that is far off."""
    if label.mark is None:
        return None
    box = label.place.outline(label.size).boundingRect()
    edge = QPointF(
        min(max(label.mark.x(), box.left()), box.right()),
        min(max(label.mark.y(), box.top()), box.bottom()),
    )
    line = QLineF(label.mark, edge)
    return line if line.length() > _LARGEST + _REACH else None


def _clipped(line: QLineF, area: QRectF) -> QLineF | None:
    """The part of a line, which runs to the right, within an area; Liang and Barsky's method."""
    first, last = 0.0, 1.0
    for step, room in (
        (-line.dx(), line.x1() - area.left()),
        (line.dx(), area.right() - line.x1()),
        (-line.dy(), line.y1() - area.top()),
        (line.dy(), area.bottom() - line.y1()),
    ):
        if step == 0:
            if room < 0:
                return None
            continue
        share = room / step
        first, last = (max(first, share), last) if step < 0 else (first, min(last, share))
    if first >= last:
        return None
    return QLineF(line.pointAt(first), line.pointAt(last))


def _distance(line: QLineF, place: QPointF) -> float:
    """How far a point is from a line between its ends, in pixels."""
    length = line.length()
    if length == 0:
        return QLineF(line.p1(), place).length()
    across = (place.x() - line.x1()) * line.dx() + (place.y() - line.y1()) * line.dy()
    share = min(1.0, max(0.0, across / length**2))
    return QLineF(line.pointAt(share), place).length()
