"""The strip of the last comparison: how each kernel did against the first one."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from gemmviz.app.duels import Duel, Match
from gemmviz.views.roles import Card, ElidedLabel, label, set_role
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_MOST_LINES = 6
"""More are counted: the copied text and the chart of the ratios hold all."""


class DuelPanel(Card):
    """Verdict, ratio, interval and rounds of each later kernel; hidden without a comparison."""

    copied = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._match: Match | None = None
        self.title = ElidedLabel("", "caption")
        self.tools = ToolRow(self.title)
        row = self.tools.layout()
        if row is not None:
            row.setContentsMargins(0, 0, 0, 0)
        self.kind = self.tools.add_choice(("Ratios", "Bars"), "What the chart below shows")
        self.copy = self.tools.add_button("copy", "Copy the comparison as text")
        self.close_button = self.tools.add_button("cross", "Hide the comparison")
        self._lines = QWidget()
        self._grid = QGridLayout(self._lines)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(3, 2)
        self.box.setContentsMargins(10, 4, 6, 6)
        self.box.addWidget(self.tools)
        self.box.addWidget(self._lines)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setAccessibleName("Comparison of kernels measured in turns")
        self.copy.clicked.connect(self._on_copy_clicked)
        self.close_button.clicked.connect(self._on_close_clicked)
        self.hide()

    @property
    def texts(self) -> list[list[str]]:
        """What is written, line by line."""
        rows = []
        for row in range(self._grid.rowCount()):
            items = [self._grid.itemAtPosition(row, column) for column in range(5)]
            widgets = dict.fromkeys(item.widget() for item in items if item is not None)
            rows.append([part.text() for part in widgets if isinstance(part, QLabel)])
        return [row for row in rows if row]

    def set_theme(self, theme: Theme) -> None:
        """Draw icons in the colours of ``theme``."""
        self.tools.set_theme(theme)

    def show_match(self, match: Match) -> None:
        """Show a comparison instead of the last one."""
        self._match = match
        self.title.setText(match.title)
        set_role(self.title, "state", "bad" if match.failed else "")
        self._clear()
        shown = match.duels if len(match.duels) <= _MOST_LINES else match.duels[: _MOST_LINES - 1]
        for row, duel in enumerate(shown):
            self._add(row, duel)
        if len(shown) < len(match.duels):
            more = label(f"{len(match.duels) - len(shown)} more: copy the text for all", "note")
            self._grid.addWidget(more, len(shown), 0, 1, 5)
        self.show()

    def _clear(self) -> None:
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def _add(self, row: int, duel: Duel) -> None:
        verdict, ratio = label(duel.verdict), label(duel.ratio)
        set_role(verdict, "state", duel.tone)
        bold = verdict.font()
        bold.setWeight(QFont.Weight.DemiBold)
        verdict.setFont(bold)
        if not duel.counts:
            struck = ratio.font()
            struck.setStrikeOut(True)
            ratio.setFont(struck)
            set_role(ratio, "role", "caption")
        ratio.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        parts = (
            ElidedLabel(duel.name),
            verdict,
            ratio,
            ElidedLabel(duel.interval, "caption"),
            label(duel.rounds, "caption"),
        )
        for column, part in enumerate(parts):
            self._grid.addWidget(part, row, column)

    @Slot()
    def _on_close_clicked(self) -> None:
        self.hide()
        self.closed.emit()

    @Slot()
    def _on_copy_clicked(self) -> None:
        if self._match is not None:
            QGuiApplication.clipboard().setText(self._match.to_text())
            self.copied.emit()
