"""The ratios of kernels that were measured in turns: one interval each, around 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import LABEL_PIXELS, Chart, Layer, Plot, pixel_pen
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.theme import DARK, Theme, mixed, text_font

_MARGIN = 0.08
_LEAST_REACH = 2.0  # margins to both sides of 1 that the axis shows at least
_NAMED_PIXELS = 40.0  # a row as high as this has room for its name
_CAP = 4.0
_TONES = {"": "accent"}


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast as the first one a kernel is.

    Attributes:
        name: What the kernel is called.
        verdict: What its ratio means, in words.
        tone: "good", "bad", "warn" or "" for its colour.
        ratio: Time of the first over its own.
        low: Lower end of the interval.
        high: Upper end.
        margin: Relative difference up to which both count as the same.
        struck: The figures do not count.
    """

    name: str
    verdict: str
    tone: str
    ratio: float
    low: float
    high: float
    margin: float
    struck: bool = False


class RatioChart(Chart):
    """A row a kernel: its ratio with the interval, over the band within which it is the same."""

    export_title = "Ratios"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Measure ticked runs against each other to see their ratios"
        self._heading = Heading()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._axis = UnitAxis("bottom", self._plot, "Times as fast as the first", "")
        self._axis.enableAutoSIPrefix(False)
        self._layer = RatioLayer(self._plot)
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.addItem(self._heading, 0, 0)
        grid.addItem(self._plot, 1, 0)
        grid.addItem(self._axis, 2, 0)
        grid.setRowStretchFactor(1, 1)
        self.set_theme(theme)
        self.set_ratios(())

    def set_ratios(self, ratios: tuple[Ratio, ...], first: str = "") -> None:
        """Show these ratios from the top, against the kernel called ``first``."""
        self._layer.set_ratios(ratios)
        for item in (self._plot, self._axis):
            item.setVisible(bool(ratios))
        if ratios:
            # A logarithmic axis must never see plain values: it learns of its kind last.
            low = min(min(each.low, 1 - _LEAST_REACH * each.margin) for each in ratios)
            high = max(max(each.high, 1 + _LEAST_REACH * each.margin) for each in ratios)
            ends = math.log10(low), math.log10(high)
            room = _MARGIN * (ends[1] - ends[0])
            self._plot.setRange(
                xRange=(ends[0] - room, ends[1] + room), yRange=(-len(ratios), 0), padding=0
            )
            self._axis.setLogMode(True)
            self._axis.setLabel(f"Times as fast as {first}" if first else "Times as fast")
        self.viewport().update()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the rows; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no ratio."""
        return not self._layer.ratios

    def restyle(self) -> None:
        """Colour axis and rows."""
        for part in (self._axis, self._plot, self._layer, self._heading):
            part.restyle(self.theme)


class RatioLayer(Layer):
    """Paints the rows; row i lies from y = -i down to -(i + 1), x is the logarithm of a ratio."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._ratios: tuple[Ratio, ...] = ()

    @property
    def ratios(self) -> tuple[Ratio, ...]:
        """What is painted."""
        return self._ratios

    def set_ratios(self, ratios: tuple[Ratio, ...]) -> None:
        """Show other ratios."""
        self._ratios = ratios
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the bands, the line at 1, then the intervals with their names."""
        height = self.plot.height() / max(1, len(self._ratios))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for index, each in enumerate(self._ratios):
            left, right = self._x(1 / (1 + each.margin)), self._x(1 + each.margin)
            band = QRectF(left, index * height, right - left, height)
            painter.fillRect(band, mixed(self._theme.muted, self._theme.panel, 0.18))
        painter.setPen(pixel_pen(self._theme.muted))
        one = self._x(1.0)
        painter.drawLine(QPointF(one, 0), QPointF(one, self.plot.height()))
        for index, each in enumerate(self._ratios):
            self._paint_row(painter, each, index * height, height)

    def _x(self, ratio: float) -> float:
        return self.to_pixel(math.log10(ratio), 0.0).x()

    def _paint_row(self, painter: QPainter, each: Ratio, top: float, height: float) -> None:
        theme = self._theme
        color = theme.muted if each.struck else getattr(theme, _TONES.get(each.tone, each.tone))
        named = height >= _NAMED_PIXELS
        y = top + height * (0.5 if not named else 0.5 + 9 / height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(pixel_pen(color, 2.5))
        low, high = self._x(each.low), self._x(each.high)
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - _CAP), QPointF(x, y + _CAP))
        painter.setPen(pixel_pen(theme.panel, 1.5))
        painter.setBrush(QColor(color))
        painter.drawEllipse(QPointF(self._x(each.ratio), y), 5, 5)
        if named:
            self._paint_names(painter, each, QRectF(6, y - 26, self.plot.width() - 12, 17))

    def _paint_names(self, painter: QPainter, each: Ratio, row: QRectF) -> None:
        """The name at the left and the verdict with the ratio at the right."""
        theme = self._theme
        middle = Qt.AlignmentFlag.AlignVCenter
        bold = text_font(LABEL_PIXELS, QFont.Weight.Medium)
        words = f"{each.verdict}   {each.ratio:.4g} ×"
        if each.struck:
            words = each.verdict
        painter.setFont(bold)
        painter.setPen(QColor(getattr(theme, each.tone or "text")))
        painter.drawText(row, int(Qt.AlignmentFlag.AlignRight | middle), words)
        room = row.width() - QFontMetricsF(bold).horizontalAdvance(words) - 16
        font = text_font(LABEL_PIXELS)
        name = QFontMetricsF(font).elidedText(each.name, Qt.TextElideMode.ElideRight, room)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        painter.drawText(row, int(Qt.AlignmentFlag.AlignLeft | middle), name)
