"""The dialog of everything that is recorded with a run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.run_record import Section, record_of, to_text
from gemmviz.app.runs import Run
from gemmviz.core.labels import device_label
from gemmviz.views.roles import ElidedLabel

_SIZE = (680, 600)
_NAME_SHARE = 26
_ROW = '<tr><td width="{share}%" style="color:{muted}">{name}</td><td>{text}</td></tr>'


class DetailsDialog(QDialog):
    """Names and values in sections; all of it can be copied as text."""

    def __init__(self, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Run details")
        self.resize(*_SIZE)
        self._sections = record_of(run)
        self.title = ElidedLabel(
            f"{run.label}  ·  {run.shape} {run.job.problem.element}  ·  {device_label(run.device)}",
            "heading",
        )
        self.text = QTextEdit(readOnly=True)
        self.text.setAccessibleName("Everything that is recorded with the run")
        self.text.setHtml(_html(self._sections, self.palette().placeholderText().color().name()))
        self.copy = QPushButton("&Copy as text")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(self._on_copy_clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.text, 1)
        column.addWidget(buttons)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.title.text()}\n\n{to_text(self._sections)}")


def _html(sections: Sequence[Section], muted: str) -> str:
    """The sections as tables under headings."""
    parts = []
    for section in sections:
        rows = (
            _ROW.format(
                share=_NAME_SHARE,
                muted=muted,
                name=escape(name),
                text=escape(text).replace("\n", "<br>"),
            )
            for name, text in section.entries
        )
        parts.append(
            f'<p style="font-weight:600; margin:10px 0 2px 3px">{escape(section.title)}</p>'
            f'<table width="100%" cellpadding="3">{"".join(rows)}</table>'
        )
    return "".join(parts)
