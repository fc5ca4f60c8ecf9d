"""The names of a grid's columns or rows, each at the middle of its own, and what they are of."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS
from gemmviz.views.theme import DARK, Theme, text_font

_GAP = 6.0
_WIDEST = 150.0


class GridAxis(QGraphicsWidget):
    """Names along one side of a plot that has as many equal parts as there are names."""

    def __init__(self, side: Literal["left", "bottom"]) -> None:
        super().__init__()
        self._theme = DARK
        self._side = side
        self._title = ""
        self._names: tuple[str, ...] = ()
        self._fit()

    @property
    def names(self) -> tuple[str, ...]:
        """What is written."""
        return self._names

    @property
    def title(self) -> str:
        """What the names are values of."""
        return self._title

    def set_names(self, title: str, names: tuple[str, ...]) -> None:
        """Write other names, from the left or from the bottom; an empty title takes no room."""
        self._title, self._names = title, names
        self._fit()
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def _fit(self) -> None:
        metrics = QFontMetricsF(text_font(TICK_PIXELS))
        title = QFontMetricsF(text_font(LABEL_PIXELS)).height() + 2 if self._title else 0.0
        if self._side == "bottom":
            height = _GAP + metrics.height() + title if self._names else 0.0
            self.setMinimumHeight(height)
            self.setMaximumHeight(height)
            return
        widest = max(map(metrics.horizontalAdvance, self._names), default=0.0)
        width = min(widest, _WIDEST) + _GAP + 4 + title if self._names else 0.0
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Write the names that have room, then the title."""
        if not self._names:
            return
        font = text_font(TICK_PIXELS)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.muted))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        if self._side == "bottom":
            self._write_columns(painter, metrics)
        else:
            self._write_rows(painter, metrics)
        painter.setFont(text_font(LABEL_PIXELS))
        area = QRectF(QPointF(0, 0), self.size())
        if self._side == "bottom":
            painter.drawText(area, int(_foot), self._title)
            return
        painter.save()
        painter.translate(0, area.height())
        painter.rotate(-90)
        painter.drawText(QRectF(0, 0, area.height(), area.width()), int(_head), self._title)
        painter.restore()

    def _write_columns(self, painter: QPainter, metrics: QFontMetricsF) -> None:
        slot = self.size().width() / len(self._names)
        widest = max(map(metrics.horizontalAdvance, self._names))
        step = max(1, -(-int(min(widest, _WIDEST) + 8) // max(1, int(slot))))
        for index in range(0, len(self._names), step):
            room = step * slot - 4
            text = metrics.elidedText(self._names[index], Qt.TextElideMode.ElideRight, room)
            box = QRectF((index + 0.5) * slot - room / 2, _GAP, room, metrics.height())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    def _write_rows(self, painter: QPainter, metrics: QFontMetricsF) -> None:
        slot = self.size().height() / len(self._names)
        step = max(1, -(-int(metrics.height()) // max(1, int(slot))))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        room = min(max(map(metrics.horizontalAdvance, self._names)) + 1, _WIDEST)
        for index in range(0, len(self._names), step):
            middle = self.size().height() - (index + 0.5) * slot
            text = metrics.elidedText(self._names[index], Qt.TextElideMode.ElideRight, room)
            box = QRectF(0, middle - 10, self.size().width() - _GAP, 20)
            painter.drawText(box, int(right), text)


_foot = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
_head = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
