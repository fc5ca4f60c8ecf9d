"""The dialog of everything that is recorded with a run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gemmviz.app.run_record import record_of
from gemmviz.app.runs import Run
from gemmviz.core.labels import device_label
from gemmviz.core.result_record import Section, to_text
from gemmviz.views.text_dialog import TextDialog

_SIZE = (680, 600)
_NAME_SHARE = 26
_ROW = '<tr><td width="{share}%" style="color:{muted}">{name}</td><td>{text}</td></tr>'


class DetailsDialog(TextDialog):
    """Names and values in sections; all of it can be copied as text."""

    def __init__(self, run: Run, parent: QWidget | None = None) -> None:
        sections = record_of(run)
        heading = f"{run.label}  ·  {run.problem_text}  ·  {device_label(run.device)}"
        super().__init__("Run details", heading, to_text(sections), parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*_SIZE)
        self.text.setAccessibleName("Everything that is recorded with the run")
        self.text.setHtml(_html(sections, self.palette().placeholderText().color().name()))


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
