"""The figures below the ladder's bars: a row a figure, a column a rung."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.ladder import Ladder, Rung
from gemmviz.core.units import percent
from gemmviz.views.charts.chart import TICK_PIXELS, Plot, pixel_pen
from gemmviz.views.theme import DARK, Theme, text_font

_NONE = "–"
_MARGIN = 6.0


def _share(share: float | None) -> str:
    return percent(share) if share is not None else ""


def _local(rung: Rung) -> str:
    return f"{rung.local_bytes / 1024:.3g}" if rung.local_bytes is not None else ""


def _registers(rung: Rung) -> str:
    return f"{rung.registers}" if rung.registers is not None else ""


_ROWS: tuple[tuple[str, Callable[[Rung], str]], ...] = (
    ("of peak", lambda rung: _share(rung.ceiling_share)),
    ("registers", _registers),
    ("local KiB", _local),
    ("occupancy", lambda rung: _share(rung.occupancy)),
)


class LadderTable(QGraphicsWidget):
    """Rows of figures, each cell below the bar of its rung; a row that nobody has is left out."""

    def __init__(self, plot: Plot) -> None:
        super().__init__()
        self._plot, self._theme = plot, DARK
        self._ladder: Ladder | None = None
        self._shown = True
        self._fit()

    @property
    def rows(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and cells of the rows that are shown."""
        ladder = self._ladder
        if ladder is None or not self._shown:
            return ()
        shares = tuple(_share(ladder.library_share(rung)) for rung in ladder.rungs)
        figures = ((name, tuple(map(text, ladder.rungs))) for name, text in _ROWS)
        made = (("of library", shares), *figures)
        return tuple((name, cells) for name, cells in made if any(cells))

    def set_ladder(self, ladder: Ladder | None) -> None:
        """Show the figures of another ladder."""
        self._ladder = ladder
        self._fit()
        self.update()

    def set_shown(self, shown: bool) -> None:
        """Take no room where there is little, or take it again."""
        if shown != self._shown:
            self._shown = shown
            self._fit()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def _fit(self) -> None:
        rows = len(self.rows)
        height = rows * self._row_height() + _MARGIN if rows else 0.0
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)
        self.updateGeometry()

    def _row_height(self) -> float:
        return QFontMetricsF(text_font(TICK_PIXELS)).lineSpacing() + 3

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Write every row, with a fine line above it."""
        rows = self.rows
        if not rows:
            return
        font = text_font(TICK_PIXELS)
        painter.setFont(font)
        left = self._plot.geometry().left() - self.geometry().left()
        slot = self._plot.geometry().width() / max(1, len(rows[0][1]))
        height, top = self._row_height(), 0.0
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for name, cells in rows:
            painter.setPen(pixel_pen(self._theme.grid))
            painter.drawLine(0, round(top), round(self.size().width()), round(top))
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(QRectF(0, top, left - 8, height), right, name)
            painter.setPen(QColor(self._theme.text))
            for place, cell in enumerate(cells):
                area = QRectF(left + place * slot, top, slot, height)
                painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), cell or _NONE)
            top += height
