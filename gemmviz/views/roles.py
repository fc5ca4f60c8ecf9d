"""Labels, frames and meters in the roles and states that the style sheet knows."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QSizePolicy, QVBoxLayout, QWidget


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
    """One line of text, cut with an ellipsis where it is too long, whole in its tool tip."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        """A few letters wide."""
        return QSize(24, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        """Show ``text``."""
        super().setText(text)
        self.setToolTip(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what fits."""
        painter = QPainter(self)
        area = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, area.width())
        painter.setPen(self.palette().windowText().color())
        painter.drawText(area, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)


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
