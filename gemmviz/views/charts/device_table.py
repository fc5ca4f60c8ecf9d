"""The table below the bars of devices: why they differ, a row a fact, a column a device."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.device_comparison import DeviceFigure
from gemmviz.core.model import Device
from gemmviz.views.charts.chart import TICK_PIXELS, Plot, pixel_pen
from gemmviz.views.charts.device_words import ROWS
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import DARK, Theme, text_font

_NONE = "–"
_MARGIN = 6.0
_MOST_LINES = 2
_GAP = 8.0

Columns = tuple[tuple[Device, DeviceFigure | None], ...]


class DeviceTable(QGraphicsWidget):
    """Rows of facts, each cell below the bar of its device; a row that nobody has is left out."""

    def __init__(self, plot: Plot) -> None:
        super().__init__()
        self._plot, self._theme = plot, DARK
        self._columns: Columns = ()
        self._room = 0.0
        self._fit()

    @property
    def rows(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and cells of the rows that are shown."""
        rows = []
        left = self._room - _MARGIN
        for name, text in ROWS:
            cells = tuple(
                text(figure or DeviceFigure(device.key, 0), device)
                for device, figure in self._columns
            )
            height = self._height_of(cells)
            if not any(cells):
                continue
            if height > left:
                break
            left -= height
            rows.append((name, cells))
        return tuple(rows)

    def set_columns(self, columns: Columns) -> None:
        """Show the facts of other devices."""
        self._columns = columns
        self._fit()
        self.update()

    def set_room(self, pixels: float) -> None:
        """Show no more rows than fit into so many pixels."""
        if pixels != self._room:
            self._room = pixels
            self._fit()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def fit_width(self) -> None:
        """Wrap the cells anew where the plot has another width."""
        self._fit()

    @property
    def _slot(self) -> float:
        return float(self._plot.geometry().width() / max(1, len(self._columns)))

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(text_font(TICK_PIXELS))

    def _height_of(self, cells: tuple[str, ...]) -> float:
        """Of a row: as many lines as its longest cell wraps into."""
        metrics, width = self._metrics(), max(1.0, self._slot - _GAP)
        lines = max((len(wrapped(cell, metrics, width, _MOST_LINES)) for cell in cells), default=1)
        return max(1, lines) * metrics.lineSpacing() + 3.0

    def _fit(self) -> None:
        rows = self.rows
        height = sum(self._height_of(cells) for _, cells in rows) + _MARGIN if rows else 0.0
        if height != self.minimumHeight() or height != self.maximumHeight():
            self.setMinimumHeight(height)
            self.setMaximumHeight(height)
            self.updateGeometry()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Write every row, with a fine line above it."""
        font = text_font(TICK_PIXELS)
        painter.setFont(font)
        metrics, slot = self._metrics(), self._slot
        left, top = self._plot.geometry().left() - self.geometry().left(), 0.0
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        middle = int(Qt.AlignmentFlag.AlignCenter)
        for name, cells in self.rows:
            height = self._height_of(cells)
            painter.setPen(pixel_pen(self._theme.grid))
            painter.drawLine(0, round(top), round(self.size().width()), round(top))
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(QRectF(0, top, left - _GAP, height), right, name)
            painter.setPen(QColor(self._theme.text))
            for place, cell in enumerate(cells):
                lines = wrapped(cell, metrics, max(1.0, slot - _GAP), _MOST_LINES)
                area = QRectF(left + place * slot, top, slot, height)
                painter.drawText(area, middle, "\n".join(lines) or _NONE)
            top += height
