"""The colours of figures: one that even the colour-blind see grow, and its bar with numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import pyqtgraph
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.metrics import Metric
from gemmviz.views.charts.chart import TICK_PIXELS, pixel_pen
from gemmviz.views.theme import DARK, Theme, text_font

_MAP = "viridis"  # its lightness grows evenly, so it reads without hues and in grey
_COLORS = 256
_WIDE_RANGE = 30.0  # above this ratio most cells of an even scale would look alike
_STRIP = 14.0
_TICKS = 5
_DARK_INK, _LIGHT_INK = "#10131a", "#ffffff"


@dataclass(frozen=True, slots=True)
class ColorScale:
    """The range of a figure as colours; the brightest is the best where one end is better.

    ``low`` and ``high`` are in the metric's unit.
    """

    metric: Metric
    low: float
    high: float

    @property
    def logarithmic(self) -> bool:
        """Whether equal steps of colour are equal ratios."""
        return self.low > 0 and self.high / self.low > _WIDE_RANGE

    def share(self, value: float) -> float:
        """Where a value lies from low to high, 0 to 1."""
        if self.high <= self.low:
            return 0.5
        if self.logarithmic:
            part = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, part))

    def value(self, share: float) -> float:
        """The value at a share of the range."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)

    def color(self, value: float) -> QColor:
        """The colour of a value."""
        share = self.share(value)
        if self.metric.better == "lower":
            share = 1 - share
        return QColor(_palette()[round(share * (_COLORS - 1))])

    @property
    def unit(self) -> str:
        """The unit of all figures, its prefix chosen for the largest: "GFLOP/s"."""
        if self.metric.unit in ("", "%"):
            return self.metric.unit
        return "" if self.metric.unit == "B" else self._factor()[1] + self.metric.unit

    def text(self, value: float) -> str:
        """A value in that unit, without it; bytes have theirs, which differs by powers of two."""
        match self.metric.unit:
            case "" | "B":
                return self.metric.text(value)
            case "%":
                return f"{value:.3g}"
            case _:
                number = value * self._factor()[0]
                return f"{number:.0f}" if number >= 99.95 else f"{number:#.3g}"

    def _factor(self) -> tuple[float, str]:
        factor, prefix = pyqtgraph.siScale(max(abs(self.low), abs(self.high)))
        return float(factor), str(prefix)

    def ticks(self) -> tuple[float, ...]:
        """A few values from low to high."""
        if self.high <= self.low:
            return (self.low,)
        return tuple(self.value(step / (_TICKS - 1)) for step in range(_TICKS))


@cache
def _palette() -> tuple[str, ...]:
    table = pyqtgraph.colormap.get(_MAP).getLookupTable(nPts=_COLORS)
    return tuple(QColor(*map(int, color[:3])).name() for color in table)


def ink_on(color: QColor) -> str:
    """Black or white, whichever can be read on a colour better.

    The weights are those of relative luminance in WCAG 2, on values not made linear: enough for a
    choice between two.
    """
    light = 0.2126 * color.redF() + 0.7152 * color.greenF() + 0.0722 * color.blueF()
    return _DARK_INK if light > 0.5 else _LIGHT_INK


class ColorBar(QGraphicsWidget):
    """A strip of all colours with a few values beside it, the highest on top."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._scale: ColorScale | None = None
        self._fit()

    @property
    def scale_shown(self) -> ColorScale | None:
        """What is explained."""
        return self._scale

    def set_scale(self, scale: ColorScale | None) -> None:
        """Explain other colours; None takes the bar away."""
        self._scale = scale
        self._fit()
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def _texts(self) -> list[tuple[float, str]]:
        scale = self._scale
        return [] if scale is None else [(scale.share(v), scale.text(v)) for v in scale.ticks()]

    def _fit(self) -> None:
        metrics = QFontMetricsF(text_font(TICK_PIXELS))
        scale = self._scale
        width = 0.0
        if scale is not None:
            widest = max(metrics.horizontalAdvance(text) for _, text in self._texts())
            unit = metrics.horizontalAdvance(scale.unit)
            width = 12 + max(_STRIP + 6 + widest, unit) + 2
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the unit, the strip below it and the values."""
        scale, theme = self._scale, self._theme
        # Before the layout has made room, what is painted outside would stay when the bar moves.
        if scale is None or self.size().width() < self.minimumWidth() - 1:
            return
        font = text_font(TICK_PIXELS)
        line = QFontMetricsF(font).height()
        painter.setFont(font)
        painter.setPen(QColor(theme.muted))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        top = 0.0
        if scale.unit:
            painter.drawText(QRectF(12, 0, self.size().width(), line), int(left), scale.unit)
            top = line + 4
        strip = QRectF(12, top + line / 2, _STRIP, max(1.0, self.size().height() - top - line))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        rows = max(2, round(strip.height()))
        for row in range(rows):
            value = scale.value(1 - row / (rows - 1))
            at = QRectF(strip.left(), strip.top() + row, _STRIP, 1.0)
            painter.fillRect(at, scale.color(value))
        painter.setPen(pixel_pen(theme.border))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(strip)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(QColor(theme.muted))
        texts = self._texts()
        room = int(strip.height() / (line + 4))
        for share, text in texts if len(texts) <= room + 1 else (texts[0], texts[-1]):
            y = strip.bottom() - share * strip.height()
            area = QRectF(strip.right() + 6, y - line / 2, self.size().width(), line)
            painter.drawText(area, int(left), text)
