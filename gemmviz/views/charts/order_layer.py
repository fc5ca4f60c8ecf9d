"""What is marked among samples in run order: outliers, a selected range, and where they drift."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.chart import TICK_PIXELS, Layer, Plot, draw_haloed, pixel_pen
from gemmviz.views.charts.trace import Floats
from gemmviz.views.theme import DARK, Theme, text_font

_CROSS = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What stands out of the samples in run order, in plot coordinates.

    Attributes:
        outlier_x: Places of the outliers.
        outlier_y: Their values, as many.
        levels: Lines as (from, to, value, words): the medians of the first and last third of a run
            that drifts.
        chosen: The lowest and the highest value of a selected range.
    """

    outlier_x: Floats
    outlier_y: Floats
    levels: tuple[tuple[float, float, float, str], ...] = ()
    chosen: tuple[float, float] | None = None


class OrderLayer(Layer):
    """The selected range, crosses on outliers (arrows where they lie beyond), and levels."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1.5)
        self._theme = DARK
        self._marks: Marks | None = None

    @property
    def marks(self) -> Marks | None:
        """What is painted."""
        return self._marks

    def set_marks(self, marks: Marks | None) -> None:
        """Mark other samples."""
        self._marks = marks
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the range's edges, the levels, then the outliers."""
        marks = self._marks
        if marks is None:
            return
        if marks.chosen is not None:
            self._paint_range(painter, *marks.chosen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        self._paint_outliers(painter, marks)
        area = self.boundingRect().adjusted(6, 4, -6, -4)
        for start, end, y, text in marks.levels:
            left, right = self.to_pixel(start, y), self.to_pixel(end, y)
            painter.setPen(pixel_pen(self._theme.warn, 2.5))
            painter.drawLine(left, right)
            spot = QPointF((left.x() + right.x()) / 2 - 40, left.y() - 13)
            font = text_font(TICK_PIXELS, QFont.Weight.Medium)
            theme = self._theme
            draw_haloed(painter, spot, text, font=font, ink=theme.warn, theme=theme, limits=area)

    def _paint_range(self, painter: QPainter, low: float, high: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        band = QColor(self._theme.mark)
        band.setAlpha(36)
        upper, lower = self.to_pixel(0.0, high).y(), self.to_pixel(0.0, low).y()
        area = QRectF(0, upper, self.plot.width(), max(1.0, lower - upper))
        painter.fillRect(area, band)
        painter.setPen(pixel_pen(self._theme.mark))
        painter.drawLine(area.topLeft(), area.topRight())
        painter.drawLine(area.bottomLeft(), area.bottomRight())

    def _paint_outliers(self, painter: QPainter, marks: Marks) -> None:
        height = self.plot.height()
        painter.setPen(pixel_pen(self._theme.bad, 1.4))
        painter.setBrush(QColor(self._theme.bad))
        for x, y in zip(marks.outlier_x.tolist(), marks.outlier_y.tolist(), strict=True):
            spot = self.to_pixel(x, y)
            if not 0 <= spot.x() <= self.plot.width():
                continue
            if 0 <= spot.y() <= height:
                for slope in (-_CROSS, _CROSS):
                    end = QPointF(_CROSS, slope)
                    painter.drawLine(QLineF(spot - end, spot + end))
            else:
                above = spot.y() < 0
                tip, foot = (1.0, 6.0) if above else (height - 1.0, height - 6.0)
                painter.drawPolygon(
                    QPolygonF(
                        [
                            QPointF(spot.x(), tip),
                            QPointF(spot.x() - 3.5, foot),
                            QPointF(spot.x() + 3.5, foot),
                        ]
                    )
                )
