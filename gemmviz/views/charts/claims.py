"""The documents' statements as a picture: a row each, with its outcome and what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QSizePolicy, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.claims import MARKS, ClaimOutcome, ClaimResult, count_outcomes
from gemmviz.views.charts.chart import LABEL_PIXELS, Chart, pixel_pen
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import DARK, Theme, text_font

TONES: dict[ClaimOutcome, str] = {
    "holds": "good",
    "does not hold here": "bad",
    "cannot be tested here": "muted",
}
"""The colour of the theme that each outcome has."""

_OUTCOME_PIXELS = 170.0
_STATEMENT_SHARE = 0.4  # of what the outcome leaves
_GAP_PIXELS = 12.0
_ROW_PIXELS = 38
_WIDTH_PIXELS = 1300
_HEADING_PIXELS = 80
_MOST_LINES = 3


def rows_of(results: Sequence[ClaimResult]) -> int:
    """Rows of the table: a row a statement, and one a document."""
    return len(results) + len({result.document for result in results})


class ClaimTable(QGraphicsWidget):
    """Paints the rows into the room it is given: where it is scarce each gets an equal part."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._results: tuple[ClaimResult, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(QSizeF(0, 0))

    def set_results(self, results: tuple[ClaimResult, ...]) -> None:
        """Show other rows."""
        self._results = results
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint every document's title and below it its rows."""
        documents = list(dict.fromkeys(result.document for result in self._results))
        if not documents:
            return
        width, whole = self.size().width(), self.size().height()
        height = min(_ROW_PIXELS, whole / rows_of(self._results))
        top = 0.0
        for document in documents:
            bold = text_font(LABEL_PIXELS + 1, QFont.Weight.DemiBold)
            self._write(painter, QRectF(8, top, width - 16, height), document, bold, "text")
            top += height
            painter.setPen(pixel_pen(self._theme.border))
            painter.drawLine(8, round(top), round(width) - 8, round(top))
            for result in self._results:
                if result.document == document:
                    self._paint_row(painter, QRectF(8, top, width - 16, height), result)
                    top += height

    def _paint_row(self, painter: QPainter, row: QRectF, result: ClaimResult) -> None:
        font = text_font(LABEL_PIXELS)
        tone = TONES[result.outcome]
        outcome = f"{MARKS[result.outcome]}  {result.outcome}"
        medium = text_font(LABEL_PIXELS, QFont.Weight.Medium)
        self._write(painter, _part(row, 0, _OUTCOME_PIXELS), outcome, medium, tone)
        rest = row.width() - _OUTCOME_PIXELS
        split = _OUTCOME_PIXELS + _STATEMENT_SHARE * rest
        self._write(painter, _part(row, _OUTCOME_PIXELS, split), result.statement, font, "text")
        told = result.measured or result.reason
        self._write(painter, _part(row, split, row.width()), told, font, "muted")

    def _write(self, painter: QPainter, area: QRectF, text: str, font: QFont, tone: str) -> None:
        """Write as many lines as the room has, the last one cut."""
        painter.setFont(font)
        painter.setPen(QColor(getattr(self._theme, tone)))
        metrics = painter.fontMetrics()
        fit = int(area.height() // QFontMetricsF(font).lineSpacing())
        lines = wrapped(text, metrics, int(area.width()), max(1, min(_MOST_LINES, fit)))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(area, int(flags), "\n".join(lines))


def _part(row: QRectF, left: float, right: float) -> QRectF:
    """A column of a row, without the gap to the next one."""
    return QRectF(row.left() + left, row.top(), max(0.0, right - left - _GAP_PIXELS), row.height())


class ClaimsChart(Chart):
    """All statements with their outcomes, as a table to save; as large as it takes to read it."""

    export_title = "Claims"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "No statement was tried"
        self._heading, self._table = Heading(), ClaimTable()
        self._results: tuple[ClaimResult, ...] = ()
        grid = self.centralLayout
        grid.addItem(self._heading, 0, 0)
        grid.addItem(self._table, 1, 0)
        grid.setRowStretchFactor(1, 1)
        self.set_theme(theme)

    @property
    def results(self) -> tuple[ClaimResult, ...]:
        """What is drawn."""
        return self._results

    def set_results(self, results: Sequence[ClaimResult], where: str) -> None:
        """Draw what came of statements on the device that ``where`` names."""
        self._results = tuple(results)
        self._table.set_results(self._results)
        self.export_title = f"Claims on {where}"
        self.setMinimumSize(_WIDTH_PIXELS, _HEADING_PIXELS + _ROW_PIXELS * rows_of(results))
        lines = (Line(f"On {where}: {count_outcomes(results)}"),) if results else ()
        self._heading.set_text("The documents, checked on this device" if results else "", lines)
        self.viewport().update()

    def is_empty(self) -> bool:
        """Whether nothing was tried."""
        return not self._results

    def restyle(self) -> None:
        """Colour heading and rows."""
        self._heading.restyle(self.theme)
        self._table.restyle(self.theme)
