"""Axes: SI prefixes in the label, readable logarithmic ticks, and wrapped category names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, Plot, pixel_pen
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import Theme, text_font

_LEFT_PIXELS = 66
_BOTTOM_PIXELS = 44
_LOW_BOTTOM_PIXELS = 24
_OVERHANG = 15


class UnitAxis(pyqtgraph.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis of an SI quantity: "Kernel time (ms)", with the prefix that suits what is shown.

    Its size is fixed, so that plots above one another line up and a picture needs one pass.
    """

    def __init__(self, side: str, plot: Plot, text: str, unit: str) -> None:
        self._low = False
        super().__init__(side, maxTickLength=0)
        self.setStyle(maxTickLevel=0, tickTextOffset=8, tickAlpha=255)
        self.setTickDensity(1.6)
        self.setStyle(tickFont=text_font(TICK_PIXELS))
        self.label.setFont(text_font(LABEL_PIXELS))
        self.setLabel(text, units=unit)
        if side == "bottom":
            self.setSIPrefixEnableRanges(((0.0, 0.999),))  # nobody counts kiloseconds
        self.linkToView(plot)
        self.setGrid(255)
        self.setZValue(-1000)
        if side == "left":
            self.setWidth(_LEFT_PIXELS)
        else:
            self.setHeight(_BOTTOM_PIXELS)

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self.setPen(pixel_pen(theme.border))
        self.setTickPen(pixel_pen(theme.grid))
        self.setTextPen(pixel_pen(theme.muted))

    def set_quantity(self, text: str, unit: str, *, prefixed: bool = True) -> None:
        """Name another quantity; percent, and what is not ``prefixed``, are given as they are."""
        plain = unit == "%" or not prefixed
        self.setLabel(text, units=unit, siPrefixEnableRanges=() if plain else None)
        self.updateAutoSIPrefix()
        self.resizeEvent()  # puts the label in the middle

    def set_low(self, low: bool) -> None:
        """Leave the label of a bottom axis out, or show it again."""
        self._low = low  # a label that is hidden would take the prefix with it
        self.label.setHtml(self.labelString())
        self.setHeight(_LOW_BOTTOM_PIXELS if low else _BOTTOM_PIXELS)

    def labelString(self) -> str:
        """Name and unit, or the unit alone where an upright name would run into the next plot's.

        Nothing where the axis is low.
        """
        if self._low:
            return ""
        unit = f"{self.labelUnitPrefix}{self.labelUnits}"
        name = f"{self.labelText} ({unit})" if unit else self.labelText
        upright = self.orientation == "left"
        wide = QFontMetrics(self.label.font()).horizontalAdvance(name)
        text = unit if upright and unit and wide > self.size().height() > 0 else name
        style = ";".join(f"{key}: {value}" for key, value in self.labelStyle.items())
        return f"<span style='{style}'>{text}</span>"

    def resizeEvent(self, ev: object = None) -> None:
        """Choose the label anew and put it in the middle."""
        if self.label is not None:  # pyqtgraph takes it away when it closes
            self.label.setHtml(self.labelString())
        super().resizeEvent(ev)

    def boundingRect(self) -> QRectF:
        """With room for the numbers at both ends, which pyqtgraph forgets while a grid is drawn."""
        area = QRectF(super().boundingRect())
        return area.adjusted(-_OVERHANG, -_OVERHANG, _OVERHANG, _OVERHANG)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Numbers without exponents, all with as many decimals as their spacing needs."""
        if self.logMode:
            return self.logTickStrings(values, scale, spacing)
        return _evenly([value * scale for value in values], spacing * scale)

    def logTickValues(
        self, low: float, high: float, size: float, linear_ticks: object
    ) -> list[tuple[float | None, list[float]]]:
        """Powers of ten, then 2 and 5 times these, then the rest: labelled in that order.

        Less than a decade may hold none of these, so it gets evenly spaced numbers instead.
        """
        if high - low < 1:
            ends = 10**low, 10**high
            spacing = self.tickSpacing(*ends, size)[0][0]
            numbers = np.arange(math.ceil(ends[0] / spacing), math.floor(ends[1] / spacing) + 1)
            return [(spacing, np.log10(numbers * spacing).tolist())]
        powers = range(math.floor(low), math.ceil(high) + 1)
        levels: list[tuple[float | None, list[float]]] = []
        for digits in ((1,), (2, 5), (3, 4, 6, 7, 8, 9)):
            places = [power + math.log10(digit) for power in powers for digit in digits]
            levels.append((None, [place for place in places if low <= place <= high]))
        return levels

    def logTickStrings(
        self, values: Sequence[float], scale: float, spacing: float | None
    ) -> list[str]:
        """The numbers themselves, "0.05" or "200", instead of powers of ten."""
        numbers = (10 ** np.asarray(values, dtype=float) * scale).tolist()
        if spacing is not None:
            return _evenly(numbers, spacing * scale)
        return [f"{number:.10g}" for number in numbers]


class CountAxis(UnitAxis):
    """An axis of counts or indices: whole numbers, without prefix or sign.

    Indices that grow downwards are drawn at their negative values.
    """

    def __init__(self, side: str, plot: Plot, text: str) -> None:
        super().__init__(side, plot, text, "")
        self.enableAutoSIPrefix(False)
        self._ends = -math.inf, math.inf

    def set_ends(self, low: float, high: float) -> None:
        """Number only what lies between ``low`` and ``high``, in plot coordinates."""
        self._ends = low, high
        self.picture = None
        self.update()

    def tickValues(
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        """The usual places, but none beyond the ends."""
        first, last = self._ends
        return [
            (spacing, [value for value in values if first <= value <= last])
            for spacing, values in super().tickValues(low, high, size)
        ]

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """The usual spacings, but none below one."""
        usual = super().tickSpacing(low, high, size)
        return [level for level in usual if level[0] >= 1] or [(1, 0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Whole numbers with separated thousands."""
        numbers = 10 ** np.asarray(values, dtype=float) if self.logMode else np.abs(values)
        return [f"{round(number):,}" for number in numbers.tolist()]


def _evenly(numbers: list[float], spacing: float) -> list[str]:
    """Evenly spaced numbers, all with as many decimals as their spacing needs."""
    decimals = max(0, -math.floor(math.log10(spacing) + 1e-9))
    return [f"{number + 0.0:.{decimals}f}" for number in numbers]


class CategoryAxis(pyqtgraph.AxisItem):  # type: ignore[misc]
    """A bottom axis of names, each wrapped under its group and cut with an ellipsis if too long."""

    MAX_LINES = 3
    _names: tuple[str, ...] = ()  # Qt resizes the axis while it is still being made
    _lines = MAX_LINES

    def __init__(self, plot: Plot) -> None:
        super().__init__("bottom", maxTickLength=0)
        self._theme: Theme | None = None
        self._font = text_font(LABEL_PIXELS)
        self.linkToView(plot)
        self._fit()

    def set_names(self, names: tuple[str, ...]) -> None:
        """Show ``names`` at 0, 1, 2 and so on."""
        self._names = names
        self._fit()
        self.update()

    def set_lines(self, lines: int) -> None:
        """Wrap no name into more lines than these."""
        if lines != self._lines:
            self._lines = lines
            self._fit()

    def resizeEvent(self, ev: object = None) -> None:
        """Another width may wrap the names into more or fewer lines."""
        super().resizeEvent(ev)
        self._fit()

    def _fit(self) -> None:
        """Take the height of the names as they wrap, and leave the rest to the plot."""
        metrics = QFontMetrics(text_font(LABEL_PIXELS))
        slot = self.size().width() / max(1, len(self._names)) - 8
        rows = [len(wrapped(name, metrics, slot, self._lines)) for name in self._names]
        height = max([1, *rows]) * metrics.lineSpacing() + 10
        if height != self.maximumHeight():
            self.setHeight(height)

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(self, p: QPainter, opt: object, widget: object) -> None:
        """Draw the base line and the names."""
        if self._theme is None:
            return
        area = self.mapRectFromParent(self.geometry())
        p.setPen(pixel_pen(self._theme.border))
        p.drawLine(area.topLeft(), area.topRight())
        p.setFont(self._font)
        p.setPen(QColor(self._theme.text))
        left, right = self.range
        slot = area.width() / (right - left)
        for index, name in enumerate(self._names):
            box = QRectF(0, area.top() + 6, slot - 8, area.height() - 6)
            box.moveLeft(area.left() + (index - left) * slot - box.width() / 2)
            for row, line in enumerate(wrapped(name, p.fontMetrics(), box.width(), self._lines)):
                place = box.translated(0, row * p.fontMetrics().lineSpacing())
                p.drawText(place, int(Qt.AlignmentFlag.AlignHCenter), line)
