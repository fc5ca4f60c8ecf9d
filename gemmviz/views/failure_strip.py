"""The strip that says why a run did not work, with the raw detail behind a button."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.state import AppState
from gemmviz.core.model import Failure
from gemmviz.views.roles import Card, label, set_role
from gemmviz.views.theme import Theme, icon, mono_font


class FailureStrip(Card):
    """Shown while the run on the cards has failed."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._closed: Failure | None = None
        self.box.setContentsMargins(11, 4, 6, 4)
        self.sentence = label("", wrap=True)
        set_role(self.sentence, "state", "bad")
        self.detail = QPushButton("Details")
        self.close_button = QToolButton()
        self.close_button.setProperty("role", "quiet")
        self.close_button.setIconSize(QSize(12, 12))
        self.close_button.setToolTip("Hide this message")
        self.close_button.setAccessibleName("Hide this message")
        row = QHBoxLayout()
        row.addWidget(self.sentence, 1)
        row.addWidget(self.detail)
        row.addWidget(self.close_button)
        self.box.addLayout(row)
        self.detail.clicked.connect(self._on_detail_clicked)
        self.close_button.clicked.connect(self._on_close_clicked)
        state.run_shown.connect(self._refresh)
        state.job_ended.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Draw icons in the colours of ``theme``."""
        self.close_button.setIcon(icon("cross", theme))

    @property
    def _failure(self) -> Failure | None:
        return self._state.shown.failure if self._state.shown is not None else None

    @Slot()
    def _refresh(self) -> None:
        failure = self._failure
        self.setVisible(failure is not None and failure is not self._closed)
        if failure is not None:
            self.sentence.setText(f"✗  {failure.sentence}")
            self.detail.setVisible(bool(failure.detail))

    @Slot()
    def _on_detail_clicked(self) -> None:
        if self._failure is not None:
            FailureDialog(self._failure, self.window()).open()

    @Slot()
    def _on_close_clicked(self) -> None:
        self._closed = self._failure
        self._refresh()


class FailureDialog(QDialog):
    """A failure's sentence above its raw detail, which can be copied."""

    def __init__(self, failure: Failure, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Why it did not work")
        self.resize(720, 420)
        text = QPlainTextEdit(failure.detail)
        text.setReadOnly(True)
        text.setFont(mono_font())
        text.setProperty("role", "log")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(label(failure.sentence, wrap=True))
        column.addWidget(text, 1)
        column.addWidget(buttons)
