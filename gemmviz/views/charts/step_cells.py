"""The cells of the step curves: where each stands, and how it is painted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.steps import REFUSED, Step, StepCurve, describe_step
from gemmviz.core.units import memory
from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, draw_chip, pixel_pen
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import DARK, Theme, mixed, series_color, text_font

LIMITER_NAMES = {
    "registers": "registers",
    "local memory": "local memory",
    "slots": "work-items",
    "groups": "work-groups",
    "barriers": "barriers",
    REFUSED: REFUSED,
}
"""Each limiter as the panel of the estimate calls it, in the order of the legend."""

_COLORS = {"registers": 1, "local memory": 0, "slots": 2, "groups": 4, "barriers": 5}
_LEAST_WIDTH, _LEAST_HEIGHT, _TWO_LINES = 235.0, 100.0, 125.0
_GAP = 18.0
_LEFT, _TITLE, _TICKS, _ROW = 40.0, 20.0, 16.0, 15.0
_FOUR_TICKS = 260.0
_ROOM = 0.06  # of the plot above its highest step


def limiter_color(name: str, theme: Theme) -> str:
    """The colour of a limiter, from the palette that colour-blind people can tell apart."""
    return series_color(_COLORS[name]) if name in _COLORS else theme.muted


@dataclass(frozen=True, slots=True)
class _Cell:
    """A curve with the place of its plot, and of the whole cell."""

    curve: StepCurve
    whole: QRectF
    plot: QRectF

    @property
    def top(self) -> float:
        """The value at the upper edge of the plot."""
        share = all(step.occupancy is not None for step in self.curve.steps)
        most = 1.0 if share else max(_value(step) for step in self.curve.steps) or 1.0
        return most * (1 + _ROOM)

    @property
    def even(self) -> bool:
        """Whether values stand side by side, as those of a parameter do."""
        return self.curve.kind == "parameter"

    def ends(self, index: int) -> tuple[float, float]:
        """Left and right of a step in pixels."""
        steps = self.curve.steps
        step = steps[index]
        if self.even:
            wide = self.plot.width() / len(steps)
            return self.plot.left() + index * wide, self.plot.left() + (index + 1) * wide
        return self.x(step.low - 1 if index else step.low), self.x(step.high)

    def x(self, value: float) -> float:
        """Where a value stands across."""
        first, last = self.curve.steps[0].low, self.curve.steps[-1].high
        return self.plot.left() + (value - first) / max(1, last - first) * self.plot.width()

    def y(self, value: float) -> float:
        """Where a share or a number of groups stands."""
        return self.plot.bottom() - value / self.top * self.plot.height()

    def index_at(self, x: float) -> int | None:
        """The step at a place across."""
        for index in range(len(self.curve.steps)):
            left, right = self.ends(index)
            if left <= x <= right:
                return index
        return None

    def spot(self) -> QPointF | None:
        """The present point."""
        here, now = self.curve.here, self.curve.present
        if here is None or now is None:
            return None
        index = self.curve.steps.index(here)
        left, right = self.ends(index)
        return QPointF((left + right) / 2 if self.even else self.x(now), self.y(_value(here)))


class StepCells(QGraphicsWidget):
    """Paints every curve in a cell of its own, side by side and below one another."""

    def __init__(self) -> None:
        super().__init__()
        self.curves: tuple[StepCurve, ...] = ()
        self._theme = DARK
        self._pointed: QPointF | None = None

    def set_curves(self, curves: tuple[StepCurve, ...]) -> None:
        """Show other curves."""
        self.curves = tuple(curve for curve in curves if curve.steps)
        self.update()

    def point_at(self, place: QPointF | None) -> None:
        """Say what the step at ``place`` is, or nothing."""
        if place is not None and not self.boundingRect().contains(place):
            place = None
        if place is not None or self._pointed is not None:
            self._pointed = place
            self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the cells, then what is pointed at."""
        cells, left_out = self._placed()
        for cell in cells:
            self._paint_cell(painter, cell)
        if left_out and cells:
            names = ", ".join(curve.name for curve in left_out)
            last = cells[-1].whole
            place = QRectF(last.left(), self.size().height() - 14, last.width(), 14)
            self._write(painter, place, f"No room here for {names}", Qt.AlignmentFlag.AlignRight)
        for cell in cells:
            if self._pointed is not None and cell.plot.contains(self._pointed):
                self._paint_pointed(painter, cell, self._pointed)

    def _placed(self) -> tuple[list[_Cell], tuple[StepCurve, ...]]:
        """The cells that have room, and the curves that have none."""
        width, height = self.size().width(), self.size().height()
        columns = max(1, min(4, int((width + _GAP) // (_LEAST_WIDTH + _GAP))))
        room = columns * max(1, int(height // _LEAST_HEIGHT))
        first = sorted(self.curves, key=self._rank)[:room]
        kept = [curve for curve in self.curves if curve in first]
        left_out = tuple(curve for curve in self.curves if curve not in first)
        if not kept:
            return [], ()
        columns = min(columns, len(kept))
        rows = -(-len(kept) // columns)
        wide = (width - _GAP * (columns - 1)) / columns
        high = (height - (14 if left_out else 0)) / rows
        cells = []
        for index, curve in enumerate(kept):
            row, column = divmod(index, columns)
            whole = QRectF(column * (wide + _GAP), row * high, wide, high - 8)
            below = _TICKS + _ROW * self._lines(high)
            plot = whole.adjusted(_LEFT, _TITLE, -4, -below)
            cells.append(_Cell(curve, whole, plot))
        return cells, left_out

    def _rank(self, curve: StepCurve) -> int:
        """Which curve needs room first; of the parameters the first one."""
        order = ("local memory", "first parameter", "registers", "parameter", "group size")
        first = curve.kind == "parameter" and curve is self.curves[0]
        return order.index("first parameter" if first else curve.kind)

    @staticmethod
    def _lines(height: float) -> int:
        """Of the next step's sentence in a cell of this height."""
        return 2 if height > _TWO_LINES else 1

    def _paint_cell(self, painter: QPainter, cell: _Cell) -> None:
        self._paint_words(painter, cell)
        self._paint_grid(painter, cell)
        for index, step in enumerate(cell.curve.steps):
            self._paint_step(painter, cell, index, step)
        spot = cell.spot()
        if spot is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            pen = pixel_pen(self._theme.mark)
            pen.setDashPattern([3, 3])
            painter.setPen(pen)
            foot = cell.plot.bottom() - (_TICKS if cell.even else 0)  # not through the groups
            painter.drawLine(QPointF(spot.x(), cell.plot.top()), QPointF(spot.x(), foot))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
            painter.setPen(pixel_pen(self._theme.panel, 1.5))
            painter.setBrush(QColor(self._theme.mark))
            painter.drawEllipse(spot, 5, 5)

    def _paint_words(self, painter: QPainter, cell: _Cell) -> None:
        """Name and present value above, the next step below."""
        curve, whole = cell.curve, cell.whole
        font = text_font(LABEL_PIXELS, QFont.Weight.DemiBold)
        title = QRectF(whole.left() + 8, whole.top(), whole.width() - 8, _TITLE - 2)
        self._write(painter, title, curve.name, font=font, ink=self._theme.text)
        now = "unknown" if curve.present is None else _amount(curve, curve.present)
        here = curve.here
        if here is not None:
            now += f": {describe_step(here)}"
        left = title.adjusted(QFontMetricsF(font).horizontalAdvance(curve.name) + 10, 0, 0, 0)
        self._write(painter, left, now, ink=self._theme.mark)
        small = text_font(TICK_PIXELS)
        most = self._lines(whole.height())
        lines = wrapped(curve.next_step, QFontMetrics(small), whole.width() - 12, most)
        for row, line in enumerate(lines):
            top = cell.plot.bottom() + _TICKS + row * _ROW
            place = QRectF(whole.left() + 8, top, whole.width() - 8, _ROW)
            self._write(painter, place, line, font=small)

    def _paint_grid(self, painter: QPainter, cell: _Cell) -> None:
        """The lines of the left scale with their figures, and the figures below."""
        share = all(step.occupancy is not None for step in cell.curve.steps)
        most = cell.top / (1 + _ROOM)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for part in (0.0, 0.5, 1.0):
            y = cell.y(part * most)
            painter.setPen(pixel_pen(self._theme.border if part == 0 else self._theme.grid))
            painter.drawLine(QPointF(cell.plot.left(), y), QPointF(cell.plot.right(), y))
            if not share and part * most != int(part * most):
                continue
            text = f"{100 * part:.0f} %" if share else f"{part * most:.0f}"
            place = QRectF(cell.whole.left(), y - 8, _LEFT - 6, 16)
            self._write(painter, place, text, Qt.AlignmentFlag.AlignRight)
        for x, text in _ticks(cell):
            wide = QFontMetricsF(text_font(TICK_PIXELS)).horizontalAdvance(text) + 2
            left = min(x - wide / 2, cell.whole.right() + 2 - wide)
            self._write(painter, QRectF(left, cell.plot.bottom() + 1, wide, _TICKS - 2), text)

    def _paint_step(self, painter: QPainter, cell: _Cell, index: int, step: Step) -> None:
        left, right = cell.ends(index)
        color = limiter_color(step.limiters[0], self._theme)
        y = cell.y(_value(step))
        margin = min(6.0, (right - left) / 6) if cell.even else 0.0
        area = QRectF(left + margin, y, right - left - 2 * margin, cell.plot.bottom() - y)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.fillRect(area, mixed(color, self._theme.panel, 0.28))
        painter.fillRect(QRectF(area.left(), y - 1.5, max(1.0, area.width()), 3), QColor(color))
        font = text_font(TICK_PIXELS - 1)
        words = LIMITER_NAMES[step.limiters[0]]
        top = y + 2
        if cell.even and step.limiters[0] != REFUSED:
            words = f"{step.groups} group{'s' * (step.groups != 1)}"
            top = cell.plot.bottom() - 15  # away from the present point
        if not cell.even and step is cell.curve.here:
            return  # its limit is in the legend, and the point would hide it
        place = QRectF(area.left() + 2, top, area.width() - 4, 13)
        fits = QFontMetricsF(font).horizontalAdvance(words) < place.width()
        if fits and (area.height() > 15 or step.limiters[0] == REFUSED):
            place.moveBottom(min(place.bottom(), cell.plot.bottom() - 1))
            self._write(painter, place, words, Qt.AlignmentFlag.AlignHCenter, font=font)

    def _paint_pointed(self, painter: QPainter, cell: _Cell, place: QPointF) -> None:
        index = cell.index_at(place.x())
        if index is None:
            return
        text = describe_pointed(cell.curve, cell.curve.steps[index])
        draw_chip(
            painter, QPointF(place.x() + 12, place.y() - 14), text, font=text_font(LABEL_PIXELS),
            ink=self._theme.text, theme=self._theme, limits=self.boundingRect(),
        )  # fmt: skip

    def _write(
        self,
        painter: QPainter,
        place: QRectF,
        text: str,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        *,
        font: QFont | None = None,
        ink: str = "",
    ) -> None:
        """One line of text in the muted colour unless another is given."""
        font = font or text_font(TICK_PIXELS)
        painter.setFont(font)
        painter.setPen(QColor(ink or self._theme.muted))
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, int(side | Qt.AlignmentFlag.AlignVCenter), shown)


def describe_pointed(curve: StepCurve, step: Step) -> str:
    """A step in two lines: where it reaches, and what it holds and why no more."""
    ends = _amount(curve, step.high)
    if step.low != step.high:
        ends = f"{_amount(curve, step.low)} to {ends}"
    names = " and ".join(LIMITER_NAMES[name] for name in step.limiters)
    return f"{curve.name}: {ends}\n{describe_step(step)}, limited by {names}"


def _value(step: Step) -> float:
    return float(step.groups) if step.occupancy is None else step.occupancy


def _amount(curve: StepCurve, value: int) -> str:
    return memory(value) if curve.unit == "B" else str(value)


def _ticks(cell: _Cell) -> list[tuple[float, str]]:
    """Where figures stand below a plot: each value of a parameter, else the ends and halves."""
    curve = cell.curve
    if cell.even:
        return [
            (sum(cell.ends(index)) / 2, str(step.low)) for index, step in enumerate(curve.steps)
        ]
    last = curve.steps[-1].high
    parts = 4 if cell.plot.width() > _FOUR_TICKS else 2
    spacing = last / parts
    # A round distance: two digits of a binary number, as sizes of memory and groups are.
    unit = 2 ** max(0, math.floor(math.log2(max(1.0, spacing))) - 1)
    spacing = max(1, round(spacing / unit)) * unit
    places = [curve.steps[0].low, *range(spacing, last + 1, spacing)]
    return [(cell.x(value), _amount(curve, value)) for value in places]
