"""The log: what happened, when, line by line."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gemmviz.app.narration import Line
from gemmviz.app.state import AppState
from gemmviz.views.theme import DARK, Theme, mono_font

MOST_LINES = 2000


class LogPanel(QPlainTextEdit):
    """Time-stamped lines, the newest at the end; old ones go when there are too many."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._theme = DARK
        self._lines: list[Line] = []
        self._newest = 0  # where the bar stands with the newest line in sight
        self.setReadOnly(True)
        self.setProperty("role", "log")
        self.setFont(mono_font())
        self.setMaximumBlockCount(MOST_LINES)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Log")
        self.setMinimumHeight(34)
        state.line_logged.connect(self._on_line_logged)

    def set_theme(self, theme: Theme) -> None:
        """Write every line again in the colours of ``theme``."""
        self._theme = theme
        self.clear()
        for line in self._lines:
            self._write(line)

    @Slot(object)
    def _on_line_logged(self, line: Line) -> None:
        self._lines.append(line)
        del self._lines[:-MOST_LINES]
        self._write(line)

    def _write(self, line: Line) -> None:
        bar = self.verticalScrollBar()
        at_end = bar.value() >= min(self._newest, bar.maximum() - 2)
        moment = datetime.fromtimestamp(line.at, UTC).astimezone()
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.document().isEmpty():
            cursor.insertBlock()
        stamp = f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}  {line.kind:<9} "
        cursor.insertText(stamp, _ink(self._theme.muted))
        cursor.insertText(line.text, _ink(self._theme.bad if line.bad else self._theme.text))
        # A message that is longer than the panel is read from its beginning.
        self._newest = min(self.document().lastBlock().firstLineNumber(), bar.maximum())
        if at_end:
            bar.setValue(self._newest)


def _ink(color: str) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setForeground(QColor(color))
    return style
