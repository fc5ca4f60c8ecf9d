"""Bars in groups: where each one stands, and how it is painted with its interval and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core import units
from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, Layer, Plot, draw_chip, pixel_pen
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.legend import fill_bar
from gemmviz.views.theme import DARK, Theme, text_font

_GROUP_SHARE = 0.82  # of the room of a group that its bars may fill
_WIDEST = 0.3  # of that room that one bar may fill, so that a lone bar is no wall
_BAR_SHARE = 0.9  # of the room of a bar that it fills
_CAP_PIXELS = 9.0
_UPRIGHT_GAP = "   "
_NO_LIBRARY = "no library's run"

BarUnit = Literal["FLOP/s", "%"]
"""What bars are as high as: throughput, or how much of the device's library it is."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One measurement to compare.

    Attributes:
        device: What to call the device.
        kernel: What to call the kernel: parameters, and shape and number where they differ.
        flops_per_second: The median; NaN where there is none, then ``note`` says why.
        low: Lower end of the median's interval, FLOP/s.
        high: Upper end of the median's interval, FLOP/s.
        interval: What the interval is: "95 %", or the "range" of few launches.
        speed_up: How many times faster than the baseline, or None where that means nothing.
        color_key: The kernel's name in the colour book, where it is not ``kernel``.
        struck: The figure does not count, so the bar is hatched and it is struck through.
        note: A word or two: why the figure does not count, or why there is no bar.
        library_share: Of the speed of the device's library, 1 is as fast; None if not known.
    """

    device: str
    kernel: str
    flops_per_second: float
    low: float = math.nan
    high: float = math.nan
    interval: str = "95 %"
    speed_up: float | None = None
    color_key: str = ""
    struck: bool = False
    note: str = ""
    library_share: float | None = None


@dataclass(frozen=True, slots=True)
class PlacedBar:
    """A bar with its look, its number in the legend, its centre and width in groups, its unit."""

    bar: Bar
    look: Look
    number: str
    center: float
    width: float
    unit: BarUnit = "FLOP/s"

    @property
    def value(self) -> float:
        """How high it is in its unit; NaN where there is no bar."""
        return self.scaled(self.bar.flops_per_second)

    def scaled(self, flops_per_second: float) -> float:
        """A speed of this bar in its unit."""
        if self.unit == "FLOP/s":
            return flops_per_second
        share = self.bar.library_share
        return (
            math.nan
            if share is None
            else 100 * share * flops_per_second / (self.bar.flops_per_second)
        )

    @property
    def text(self) -> str:
        """Its value in a few letters: "39.4 G" or "98 %"."""
        if self.unit == "%":
            return f"{self.value:.0f} %"
        return " ".join(units.scaled(self.value, "")).strip()

    @property
    def missing(self) -> str:
        """Why there is no bar."""
        known = math.isnan(self.bar.flops_per_second)
        return self.bar.note if known else _NO_LIBRARY

    @property
    def speed_up(self) -> str:
        """The speed-up as "1.84×", or "" without one."""
        return "" if self.bar.speed_up is None else f"{self.bar.speed_up:.2f}×"


def place_bars(
    groups: list[list[tuple[Bar, Look, str]]], unit: BarUnit = "FLOP/s"
) -> tuple[PlacedBar, ...]:
    """Stand (bar, look, number) side by side around 0, 1, 2 and so on, all of one width."""
    most = max((len(group) for group in groups), default=1)
    step = min(_GROUP_SHARE / most, _WIDEST)
    return tuple(
        PlacedBar(
            bar,
            look,
            number,
            index + (place - (len(group) - 1) / 2) * step,
            _BAR_SHARE * step,
            unit,
        )
        for index, group in enumerate(groups)
        for place, (bar, look, number) in enumerate(group)
    )


def _label_rows(placed: PlacedBar) -> list[str]:
    """What is written above a bar, the lowest row first."""
    return [placed.text, placed.speed_up] if placed.speed_up else [placed.text]


class BarLayer(Layer):
    """Paints placed bars: fill or hatching, interval, value and speed-up."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._bars: tuple[PlacedBar, ...] = ()
        self._pointed: PlacedBar | None = None

    @property
    def bars(self) -> tuple[PlacedBar, ...]:
        """What is painted."""
        return self._bars

    @property
    def pointed(self) -> PlacedBar | None:
        """The bar under the mouse, if any."""
        return self._pointed

    def set_bars(self, bars: tuple[PlacedBar, ...]) -> None:
        """Show other bars."""
        self._bars, self._pointed = bars, None
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def point_at(self, x: float | None) -> None:
        """Tell more of the bar at ``x`` (in groups), or of none."""
        found = None
        if x is not None:
            near = (bar for bar in self._bars if abs(bar.center - x) <= bar.width / 2)
            found = next(near, None)
        if found is not self._pointed:
            self._pointed = found
            self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint every bar, then what is said of the one under the mouse."""
        for placed in self._bars:
            if math.isnan(placed.value):
                self._paint_missing(painter, placed)
            else:
                self._paint_bar(painter, placed)
        self._paint_numbers(painter)
        if self._pointed is not None:
            self._paint_details(painter, self._pointed)

    def _column(self, placed: PlacedBar, top: float) -> QRectF:
        """The bar from zero to ``top`` FLOP/s, in pixels."""
        corner = self.to_pixel(placed.center - placed.width / 2, top)
        foot = self.to_pixel(placed.center + placed.width / 2, 0.0)
        return QRectF(corner, foot)

    def _paint_bar(self, painter: QPainter, placed: PlacedBar) -> None:
        bar = placed.bar
        column = self._column(placed, placed.value)
        fill_bar(painter, column, placed.look, self._theme, hatched=bar.struck)
        top = column.top()
        if math.isfinite(bar.low) and math.isfinite(bar.high):
            x = column.center().x()
            low, high = (self.to_pixel(0, placed.scaled(end)).y() for end in (bar.low, bar.high))
            cap = min(_CAP_PIXELS, column.width()) / 2
            painter.setPen(pixel_pen(self._theme.text, 1.2))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.drawLine(QPointF(x, low), QPointF(x, high))
            for y in (low, high):
                painter.drawLine(QPointF(x - cap, y), QPointF(x + cap, y))
            top = min(top, high)
        self._paint_label(painter, placed, column, top)

    def footroom(self) -> float:
        """Pixels that the numbers below the bars need; 0 without any."""
        metrics = QFontMetricsF(text_font(TICK_PIXELS))
        return metrics.height() if any(placed.number for placed in self._bars) else 0.0

    def _paint_numbers(self, painter: QPainter) -> None:
        """The number of each bar below it, where it fits, so that no bar is known by colour alone.

        The line that the bars stand on is the axis' own while there is no number.
        """
        if not self.footroom():
            return
        ground = self.to_pixel(0.0, 0.0).y()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pixel_pen(self._theme.border))
        painter.drawLine(QPointF(0, ground), QPointF(self.plot.width(), ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        font = text_font(TICK_PIXELS)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.muted))
        for placed in self._bars:
            if metrics.horizontalAdvance(placed.number) <= self._room(placed):
                x = self.to_pixel(placed.center, 0.0).x()
                place = QRectF(x - 30, ground, 60, metrics.height())
                painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), placed.number)

    def headroom(self) -> float:
        """Pixels that the labels above the bars need at most."""
        metrics = QFontMetricsF(text_font(TICK_PIXELS))
        needed = [metrics.height()]
        for placed in self._bars:
            rows = _label_rows(placed)
            if self._fits(placed, metrics):
                needed.append(len(rows) * metrics.height())
            elif self._room(placed) >= metrics.height() - 3:
                needed.append(metrics.horizontalAdvance(_UPRIGHT_GAP.join(rows)))
        return max(needed) + 14

    def _fits(self, placed: PlacedBar, metrics: QFontMetricsF) -> bool:
        """Whether the label's rows are no wider than the bar and the gaps beside it."""
        widest = max(metrics.horizontalAdvance(row) for row in _label_rows(placed))
        return widest <= self._room(placed) + 2

    def _room(self, placed: PlacedBar) -> float:
        left, right = self.plot.viewRange()[0]
        return float(placed.width / _BAR_SHARE * self.plot.width() / (right - left))

    def _paint_label(
        self, painter: QPainter, placed: PlacedBar, column: QRectF, top: float
    ) -> None:
        """Value and speed-up above the bar; on end where they are too wide, or left out."""
        font = text_font(TICK_PIXELS)
        font.setStrikeOut(placed.bar.struck)
        painter.setFont(font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        metrics = QFontMetricsF(font)
        color = self._theme.muted if placed.bar.struck else self._theme.text
        rows = _label_rows(placed)
        if self._fits(placed, metrics):
            for index, text in enumerate(rows, start=1):
                place = QRectF(column.center().x() - 60, top - 4, 120, metrics.height())
                place.translate(0, -metrics.height() * index)
                painter.setPen(QColor(color if index == 1 else self._theme.mark))
                painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)
        elif self._room(placed) >= metrics.height() - 3:
            foot = QPointF(column.center().x(), top - 5)
            self._paint_upright(painter, foot, _UPRIGHT_GAP.join(rows), color)

    def _paint_missing(self, painter: QPainter, placed: PlacedBar) -> None:
        """A small cross where the bar would stand, and why."""
        foot = self.to_pixel(placed.center, 0.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(pixel_pen(self._theme.bad, 1.6))
        for slope in (-4, 4):
            painter.drawLine(foot + QPointF(-4, -10 - slope), foot + QPointF(4, -10 + slope))
        font = text_font(TICK_PIXELS)
        painter.setFont(font)
        if self._room(placed) >= QFontMetricsF(font).height() - 3:
            place = foot + QPointF(0, -20)
            self._paint_upright(painter, place, placed.missing, self._theme.muted)

    def _paint_upright(self, painter: QPainter, foot: QPointF, text: str, color: str) -> None:
        """Text that reads upwards from ``foot``."""
        painter.save()
        painter.translate(foot)
        painter.rotate(-90)
        painter.setPen(QColor(color))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, -10, 400, 20), int(flags), text)
        painter.restore()

    def _paint_details(self, painter: QPainter, placed: PlacedBar) -> None:
        bar = placed.bar
        lines = [bar.kernel, f"on {bar.device}"]
        if math.isnan(bar.flops_per_second):
            lines.append(bar.note)
        else:
            lines.append(f"median {units.throughput(bar.flops_per_second)}")
        if math.isfinite(bar.low) and math.isfinite(bar.high):
            low, high = units.throughput(bar.low), units.throughput(bar.high)
            lines.append(f"{bar.interval}: {low} to {high}")
        if bar.library_share is not None:
            lines.append(f"{units.percent(bar.library_share)} of the device's library")
        if placed.speed_up:
            lines.append(f"{placed.speed_up} of the baseline")
        if bar.struck:
            lines.append(f"does not count: {bar.note or 'wrong result'}")
        area = self.boundingRect().adjusted(6, 6, -6, -6)
        value = 0.0 if math.isnan(placed.value) else placed.value
        draw_chip(
            painter,
            QPointF(self.to_pixel(placed.center, 0).x() + 14, self.to_pixel(0, value).y() + 30),
            "\n".join(line for line in lines if line),
            font=text_font(LABEL_PIXELS),
            ink=self._theme.text,
            theme=self._theme,
            limits=area,
        )
