"""The dialog of what changed between two saved results."""

from __future__ import annotations

from html import escape

from PySide6.QtWidgets import QWidget

from gemmviz.core.changes import Change, Changes, to_text
from gemmviz.views.roles import label
from gemmviz.views.text_dialog import TextDialog
from gemmviz.views.theme import MONO_FAMILY, Theme

_SIZE = (820, 620)
_ROW = (
    '<tr><td width="22%" style="color:{muted}">{name}</td>'
    '<td width="39%">{before}</td><td width="39%">{after}</td></tr>'
)


class ChangesDialog(TextDialog):
    """The differences of two results side by side, and those of their sources line by line."""

    def __init__(
        self, names: tuple[str, str], changes: Changes, theme: Theme, parent: QWidget | None = None
    ) -> None:
        heading = f"From {names[0]} to {names[1]}"
        super().__init__("What changed", heading, to_text(changes), parent)
        self.resize(*_SIZE)
        self.speed = label(changes.speed, wrap=True)
        self.column.insertWidget(1, self.speed)
        self.text.setAccessibleName("What is different")
        self.text.setHtml(_html(names, changes, theme))


def _html(names: tuple[str, str], changes: Changes, theme: Theme) -> str:
    """Everything as tables; whatever stands in a file is text, never mark-up."""
    muted = [f'<span style="color:{theme.muted}">{escape(name)}</span>' for name in names]
    head = _ROW.format(muted=theme.muted, name="", before=muted[0], after=muted[1])
    parts, section = [_table("", [head])] if changes.entries else [], ""
    rows: list[str] = []
    for entry in (*changes.entries, None):
        if entry is None or entry.section != section:
            if rows:
                parts.append(_table(section, rows))
            section, rows = entry.section if entry is not None else "", []
        if entry is not None:
            rows.append(_row(entry, theme))
    if changes.source:
        lines = "<br>".join(_line(line, theme) for line in changes.source)
        parts.append(_heading("Source"))
        parts.append(f"<p style=\"font-family:'{MONO_FAMILY}'; margin-left:3px\">{lines}</p>")
    return "".join(parts) or _heading("Nothing is different but the moment.")


def _heading(text: str) -> str:
    return f'<p style="font-weight:600; margin:10px 0 2px 3px">{escape(text)}</p>'


def _table(section: str, rows: list[str]) -> str:
    heading = _heading(section) if section else ""
    return f'{heading}<table width="100%" cellpadding="3">{"".join(rows)}</table>'


def _row(entry: Change, theme: Theme) -> str:
    before, after = (escape(text).replace("\n", "<br>") for text in (entry.before, entry.after))
    return _ROW.format(muted=theme.muted, name=escape(entry.name), before=before, after=after)


def _line(line: str, theme: Theme) -> str:
    text = escape(line).replace(" ", "&nbsp;") or "&nbsp;"
    colors = {"+": theme.good, "-": theme.bad, "@": theme.muted}
    color = colors.get(line[:1])
    return f'<span style="color:{color}">{text}</span>' if color else text
