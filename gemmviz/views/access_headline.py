"""The words above the access lens's picture, as many of them as there is room for."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent

from gemmviz.views.charts.access_words import SEPARATOR
from gemmviz.views.roles import ElidedLabel


class Headline(ElidedLabel):
    """Parts of which the last ones give way whole where they do not fit; the tip has all."""

    def __init__(self) -> None:
        super().__init__("")
        self._parts: tuple[tuple[str, str], ...] = ()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """Show parts, the most telling first, each with a shorter form for where room is scarce."""
        self._parts = parts
        self.setText(SEPARATOR.join(long for long, _ in parts))

    def shown(self) -> str:
        """What fits: the first half of the parts in full or more, else as many short ones."""
        full = self._fitting([long for long, _ in self._parts])
        if 2 * len(full) >= len(self._parts):
            return SEPARATOR.join(full)
        short = [text for _, text in self._parts]
        return SEPARATOR.join(self._fitting(short) or short[:1])

    def _fitting(self, texts: list[str]) -> list[str]:
        """As many of the first texts as the label has room for."""
        width, metrics = self.contentsRect().width(), self.fontMetrics()
        count = len(texts)
        while count and metrics.horizontalAdvance(SEPARATOR.join(texts[:count])) > width:
            count -= 1
        return texts[:count]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        painter.drawText(self.contentsRect(), int(self.alignment()), self.shown())
