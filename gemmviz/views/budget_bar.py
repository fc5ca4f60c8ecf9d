"""The local-memory budget of a compute unit as one bar."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gemmviz.views.theme import DARK, Theme, mixed

_HEIGHT, _MARK = 18, 4
_MOST_CELLS = 64


class BudgetBar(QWidget):
    """The unit's pool from left to right: the resident groups, and where one group must end.

    The first group is strong, the others that share the pool are faint; a group that is larger
    than a group may be is drawn in the colour of what is bad.
    """

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._group = self._pool = 0
        self._limit: int | None = None
        self._resident = 1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """See QWidget."""
        return QSize(160, _HEIGHT + 2 * _MARK)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self._theme = theme
        self.update()

    def show_budget(
        self, group_bytes: int, limit_bytes: int | None, pool_bytes: int, resident: int
    ) -> None:
        """Show a group's bytes, the most it may take, the unit's pool and the resident groups."""
        self._group, self._limit, self._pool = group_bytes, limit_bytes, pool_bytes
        self._resident = resident
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar, the groups in it and the mark of the limit."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(0.5, _MARK, self.width() - 1, _HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.track))
        painter.drawRoundedRect(bar, 3, 3)
        largest = max(self._pool, self._limit or 0, self._group)
        if largest <= 0:
            return
        scale = bar.width() / largest
        self._draw_groups(painter, bar, scale)
        if self._limit is not None and self._limit < largest:
            x = bar.left() + self._limit * scale
            painter.setPen(QPen(QColor(self._theme.mark), 2))
            painter.drawLine(int(x), 0, int(x), int(bar.bottom()) + _MARK)

    def _draw_groups(self, painter: QPainter, bar: QRectF, scale: float) -> None:
        theme = self._theme
        over = self._limit is not None and self._group > self._limit
        strong = QColor(theme.bad if over else theme.accent)
        faint = mixed(strong.name(), theme.track, 0.5)
        count = max(1, self._resident)
        width = self._group * scale
        if count > _MOST_CELLS or width < 3:  # too thin to tell apart
            painter.setBrush(faint)
            painter.drawRoundedRect(
                QRectF(bar.left(), bar.top(), count * width, bar.height()), 3, 3
            )
            count = 1
        for place in range(count):
            cell = QRectF(bar.left() + place * width, bar.top(), width, bar.height())
            painter.setBrush(strong if place == 0 else faint)
            painter.drawRoundedRect(cell.adjusted(0, 0, -1 if width > 3 else 0, 0), 3, 3)
