"""A heading above a chart: a title and lines of text, each broken once and then cut."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QGraphicsSceneResizeEvent,
    QGraphicsWidget,
    QStyleOptionGraphicsItem,
    QWidget,
)

from gemmviz.views.theme import DARK, Theme, text_font

_SIDE = 8.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a heading; ``tone`` is "muted", "text", "good", "bad" or "warn"."""

    text: str
    tone: str = "muted"
    struck: bool = False


class Heading(QGraphicsWidget):
    """A title with lines below; it takes no room while it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._title = ""
        self._lines: tuple[Line, ...] = ()
        self._resize()

    @property
    def text(self) -> tuple[str, tuple[Line, ...]]:
        """Title and lines as they are shown."""
        return self._title, self._lines

    def set_text(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Show ``title`` in bold and ``lines`` below it."""
        self._title, self._lines = title, lines
        self._resize()
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def _rows(self) -> list[tuple[str, str, QFont]]:
        """Text, tone and font of each row: a line that is too long for one takes two."""
        title = [(self._title, "text", text_font(17, QFont.Weight.DemiBold))]
        rows = title if self._title else []
        for line in self._lines:
            font = text_font(13)
            font.setStrikeOut(line.struck)
            rows += [(text, line.tone, font) for text in _broken(line.text, font, self._room)]
        return rows

    @property
    def _room(self) -> float:
        """Width that text has."""
        return self.size().width() - 2 * _SIDE

    def resizeEvent(self, event: QGraphicsSceneResizeEvent) -> None:
        """Break the lines again where there is more or less room."""
        super().resizeEvent(event)
        if event.newSize().width() != event.oldSize().width():
            self._resize()

    def _resize(self) -> None:
        rows = self._rows()
        height = sum(QFontMetricsF(font).lineSpacing() + 3 for _, _, font in rows)
        self.setMinimumHeight(height + 6 if rows else 0)
        self.setMaximumHeight(height + 6 if rows else 0)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Write the rows from the top."""
        top = 0.0
        for text, tone, font in self._rows():
            metrics = QFontMetricsF(font)
            row = QRectF(_SIDE, top, self._room, metrics.lineSpacing() + 3)
            painter.setFont(font)
            painter.setPen(QColor(getattr(self._theme, tone)))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, row.width())
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(row, int(flags), shown)
            top += row.height()


def _broken(text: str, font: QFont, width: float) -> tuple[str, ...]:
    """``text`` in one row, or in two of which the first is full; the second may be too long."""
    metrics = QFontMetricsF(font)
    if width <= 0 or metrics.horizontalAdvance(text) <= width:
        return (text,)
    words = text.split(" ")
    for count in range(len(words) - 1, 0, -1):
        first = " ".join(words[:count])
        if metrics.horizontalAdvance(first) <= width:
            return first, " ".join(words[count:])
    return (text,)
