"""A dialog of a text under a heading, all of which can be copied."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from gemmviz.views.roles import ElidedLabel


class TextDialog(QDialog):
    """The ``title`` above ``text``, which is set as mark-up.

    ``column`` takes more between the two.
    """

    def __init__(self, name: str, title: str, plain: str, parent: QWidget | None = None) -> None:
        """Lays out an empty text.

        Args:
            name: What the window is called.
            title: The heading.
            plain: What is copied below the heading.
            parent: The window that it stands above.
        """
        super().__init__(parent)
        self.setWindowTitle(name)
        self._plain = plain
        self.title = ElidedLabel(title, "heading")
        self.text = QTextEdit(readOnly=True)
        self.copy = QPushButton("&Copy as text")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(self._on_copy_clicked)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 12, 14, 12)
        self.column.setSpacing(8)
        self.column.addWidget(self.title)
        self.column.addWidget(self.text, 1)
        self.column.addWidget(buttons)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.title.text()}\n\n{self._plain}")
