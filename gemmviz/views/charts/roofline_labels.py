"""Places for labels such that none covers another, nor any mark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QPolygonF, QTransform

_GAP = 3.0  # pixels around a label that stay free


@dataclass(frozen=True, slots=True)
class Place:
    """Where a label may stand: the middle of its text in pixels, and its slant in degrees.

    Positive slants rise to the right.
    """

    center: QPointF
    slant: float = 0.0

    def outline(self, size: QSizeF, gap: float = 0.0) -> QPolygonF:
        """The corners of a text of ``size`` there, with a rim of ``gap``."""
        width, height = size.width() + 2 * gap, size.height() + 2 * gap
        turn = QTransform().translate(self.center.x(), self.center.y()).rotate(-self.slant)
        return turn.map(QPolygonF(QRectF(-width / 2, -height / 2, width, height)))


class Room:
    """What is taken of an area; labels are placed one by one, the most important first."""

    def __init__(self, area: QRectF) -> None:
        self._area = area
        self._taken: list[QPolygonF] = []
        self._lines: list[QPolygonF] = []

    def block(self, area: QRectF) -> None:
        """Take room that no label may cover."""
        self._taken.append(QPolygonF(area))

    def spare(self, line: QLineF) -> None:
        """Keep labels off a line as long as there is another place for them."""
        across = line.normalVector().unitVector()
        half = QPointF(across.dx(), across.dy())
        corners = [line.p1() - half, line.p2() - half, line.p2() + half, line.p1() + half]
        self._lines.append(QPolygonF(corners))

    def take(self, size: QSizeF, places: Iterable[Place]) -> Place | None:
        """The first of ``places`` where a text of ``size`` is free to stand, taken; None of none.

        A label without a place is left out: half of one is worse than none.
        """
        crossing: Place | None = None
        for place in places:
            if not self._area.contains(place.outline(size).boundingRect()):
                continue
            outline = place.outline(size, _GAP)
            if any(outline.intersects(taken) for taken in self._taken):
                continue
            if not any(outline.intersects(line) for line in self._lines):
                self._taken.append(outline)
                return place
            crossing = crossing or place
        if crossing is not None:
            self._taken.append(crossing.outline(size, _GAP))
        return crossing


def along(start: QPointF, end: QPointF, size: QSizeF, shares: Iterable[float]) -> Iterator[Place]:
    """Places beside a line, above it and then below, at ``shares`` of its length."""
    slant = math.degrees(math.atan2(start.y() - end.y(), end.x() - start.x()))
    angle = math.radians(slant)
    away = size.height() / 2 + 2
    length = math.hypot(end.x() - start.x(), end.y() - start.y())
    for share in shares:
        # The text itself stays between the ends of the line.
        run = size.width() / 2 + share * max(0.0, length - size.width())
        for side in (1, -1):
            yield Place(
                QPointF(
                    start.x() + run * math.cos(angle) - side * away * math.sin(angle),
                    start.y() - run * math.sin(angle) - side * away * math.cos(angle),
                ),
                slant,
            )


def around(center: QPointF, radius: float, size: QSizeF) -> Iterator[Place]:
    """Places around a mark: at its right, above and below, at its left, then farther off."""
    for more in (5.0, 12.0, 22.0, 34.0):
        across, down = radius + more + size.width() / 2, radius + more + size.height() / 2
        beside = size.width() / 2 - radius
        for x, y in (
            (across, 0.0), (-beside, -down), (-beside, down), (beside, -down), (beside, down),
            (-across, 0.0), (across, -down), (across, down), (-across, -down), (-across, down),
        ):  # fmt: skip
            yield Place(QPointF(center.x() + x, center.y() + y))
