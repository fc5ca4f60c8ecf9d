"""Labels, frames and meters in the roles and states that the style sheet knows."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.app.tips import plain_tip

BADGE_STATES = {"doubt": "warn", "good": "good", "bad": "bad", "plain": ""}
"""The state, and so the colour, that each meaning of a badge has."""


def set_role(widget: QWidget, name: str, value: str) -> None:
    """Set the property ``role`` or ``state`` and let the style sheet look again."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


def label(text: str = "", role: str = "", *, wrap: bool = False) -> QLabel:
    """A plain-text label in a role of the style sheet."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setProperty("role", role)
    made.setWordWrap(wrap)
    return made


class ElidedLabel(QLabel):
    """One line of text or a few, cut with an ellipsis where they are too long; the tip has all."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._lines = 1

    def set_lines(self, lines: int) -> None:
        """Take the room of so many lines from now on, and wrap the text into them."""
        if lines != self._lines:
            self._lines = lines
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """As high as its lines, whether the text fills them or not."""
        hint = super().sizeHint()
        return QSize(hint.width(), hint.height() + self._more)

    def minimumSizeHint(self) -> QSize:
        """A few letters wide."""
        return QSize(24, super().minimumSizeHint().height() + self._more)

    @property
    def _more(self) -> int:
        return (self._lines - 1) * self.fontMetrics().lineSpacing()

    def setText(self, text: str) -> None:
        """Show ``text``."""
        super().setText(text)
        self.setToolTip(plain_tip(text))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what fits."""
        painter = QPainter(self)
        area = self.contentsRect()
        lines = wrapped(self.text(), self.fontMetrics(), area.width(), self._lines)
        up = Qt.AlignmentFlag.AlignVCenter if self._lines == 1 else Qt.AlignmentFlag.AlignTop
        side = self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask
        painter.setPen(self.palette().windowText().color())
        painter.drawText(area, int(side | up), "\n".join(lines))


def wrapped(text: str, metrics: QFontMetrics, width: float, max_lines: int) -> list[str]:
    """Break ``text`` at spaces into lines of at most ``width`` pixels, the last one elided."""
    lines: list[str] = []
    words = text.split()
    while words:
        line = words.pop(0)
        last = len(lines) == max_lines - 1
        while words and (last or metrics.horizontalAdvance(f"{line} {words[0]}") <= width):
            line = f"{line} {words.pop(0)}"
        lines.append(metrics.elidedText(line, Qt.TextElideMode.ElideRight, int(width)))
    return lines


class Card(QFrame):
    """A framed panel with a caption; its content goes into ``box``."""

    def __init__(self, caption: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(10, 8, 10, 9)
        self.box.setSpacing(3)
        if caption:
            self.box.addWidget(ElidedLabel(caption, "caption"))


class Meter(QProgressBar):
    """A thin bar from 0 to 1 in the colour of its state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0, 1000)
        self.setTextVisible(False)
        self.setFixedHeight(6)

    def show_share(self, share: float, state: str = "") -> None:
        """Fill the bar to ``share`` in the colour of "good", "warn", "bad" or the accent's ("")."""
        # QProgressBar repaints at once; several of them together would hold up the window.
        self.setUpdatesEnabled(False)
        self.setValue(round(1000 * min(1.0, max(0.0, share))))
        self.setUpdatesEnabled(True)
        set_role(self, "state", state)
