"""The bars of the ladder: what each rung adds to the last one, or takes away."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core.ladder import Ladder, Rung
from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, Layer, Plot, draw_chip, pixel_pen
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.ladder_words import Level, describe_rung, free_place, label_rows
from gemmviz.views.charts.legend import fill_bar
from gemmviz.views.theme import DARK, Theme, mixed, text_font

_BAR_SHARE = 0.68  # of the room of a rung
_CAP_PIXELS = 8.0
_BASE_SHARE = 0.42  # how much of the accent what was there before has
_TONES = {"gain": "good", "loss": "bad", "same": "muted", "open": "muted"}
_MOST_HEADROOM = 0.55  # of the plot's height that labels on end may take

Posture = Literal["flat", "upright", "signs"]
_GAP = "   "


class LadderLayer(Layer):
    """Paints the rungs: a pale bar up to what was there before, and above it what changed."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._ladder: Ladder | None = None
        self._levels: tuple[Level, ...] = ()
        self._pointed: int | None = None

    @property
    def pointed(self) -> Rung | None:
        """The rung under the mouse, if any."""
        if self._ladder is None or self._pointed is None:
            return None
        return self._ladder.rungs[self._pointed]

    def set_ladder(self, ladder: Ladder | None, levels: tuple[Level, ...]) -> None:
        """Show another ladder, with lines across it."""
        self._ladder, self._levels = ladder, levels
        if self._pointed is not None and self._pointed >= len(self._rungs):
            self._pointed = None
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def point_at(self, x: float | None) -> None:
        """Tell more of the rung at ``x``, counted from 0, or of none."""
        found = round(x) if x is not None else None
        if found is not None and not 0 <= found < len(self._rungs):
            found = None
        if found != self._pointed:
            self._pointed = found
            self.update()

    @property
    def posture(self) -> Posture:
        """How all labels are written: flat, on end where one is too wide, or their signs alone."""
        metrics = QFontMetricsF(text_font(TICK_PIXELS))
        texts = ("".join(row) for rung in self._measured for row in self._rows(rung))
        if max(map(metrics.horizontalAdvance, texts), default=0.0) <= self._slot - 2:
            return "flat"
        upright = self._upright_pixels() <= _MOST_HEADROOM * self.plot.height()
        return "upright" if upright else "signs"

    def headroom(self) -> float:
        """Pixels that the labels above the bars need."""
        height, posture = QFontMetricsF(text_font(TICK_PIXELS)).height(), self.posture
        if posture == "upright":
            return self._upright_pixels()
        return (2 if posture == "flat" else 1) * height + 14

    def _upright_pixels(self) -> float:
        metrics = QFontMetricsF(text_font(TICK_PIXELS))
        words = (_GAP.join(text for _, text in self._rows(rung)) for rung in self._measured)
        return max(map(metrics.horizontalAdvance, words), default=0.0) + metrics.height() + 14

    def _rows(self, rung: Rung) -> list[tuple[str, str]]:
        tallest = max((each.flops_per_second or 0.0 for each in self._measured), default=0.0)
        return label_rows(rung, tallest)

    @property
    def _measured(self) -> tuple[Rung, ...]:
        return tuple(rung for rung in self._rungs if rung.flops_per_second is not None)

    @property
    def _rungs(self) -> tuple[Rung, ...]:
        return self._ladder.rungs if self._ladder is not None else ()

    @property
    def _slot(self) -> float:
        left, right = self.plot.viewRange()[0]
        return float(self.plot.width() / (right - left))

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint lines, bars over them, names of lines where there is room, then the details."""
        for level in self._levels:
            self._paint_line(painter, level)
        taken: list[QRectF] = []
        posture = self.posture
        for place, rung in enumerate(self._rungs):
            if rung.flops_per_second is None:
                taken.append(self._paint_missing(painter, place, rung))
            else:
                taken += self._paint_rung(painter, place, rung, posture)
        for level in self._levels:
            taken.append(self._paint_name(painter, level, taken))
        if self._pointed is not None:
            self._paint_details(painter, self._pointed)

    def _before(self, rung: Rung) -> float:
        """The speed of the rung that it is compared with; 0 without one."""
        speeds = {each.variant: each.flops_per_second or 0.0 for each in self._rungs}
        return speeds.get(rung.against, 0.0)

    def _span(self, place: int, low: float, high: float) -> QRectF:
        """A rung's bar between two speeds, in pixels."""
        return QRectF(
            self.to_pixel(place - _BAR_SHARE / 2, high), self.to_pixel(place + _BAR_SHARE / 2, low)
        )

    def _paint_rung(
        self, painter: QPainter, place: int, rung: Rung, posture: Posture
    ) -> list[QRectF]:
        """A bar with its interval and label; where they are."""
        speed, before, theme = rung.flops_per_second or 0.0, self._before(rung), self._theme
        bar = self._span(place, 0.0, speed)
        if rung.wrong:
            fill_bar(painter, bar, Look(theme.muted), theme, hatched=True)
        else:
            change = self._span(place, min(before, speed), max(before, speed))
            pale = mixed(theme.accent, theme.panel, _BASE_SHARE)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.fillRect(self._span(place, 0.0, min(before, speed)), pale)
            lost = rung.step == "loss"
            look = Look(theme.bad if lost else theme.accent)
            if lost or rung.step == "gain" or not before:
                fill_bar(painter, change, look, theme, hatched=lost)
            elif speed > before:  # nobody knows that it is a gain
                painter.fillRect(change, pale)
            if before:
                self._paint_step(painter, place, before)
        low, high = rung.low or speed, rung.high or speed
        self._paint_interval(painter, bar, low, high)
        highest = speed if rung.wrong else max(speed, before)
        top = min(self.to_pixel(0, high).y(), self.to_pixel(0, highest).y())
        whole = self._span(place, 0.0, highest)
        return [whole, self._paint_label(painter, place, rung, top, posture)]

    def _paint_step(self, painter: QPainter, place: int, before: float) -> None:
        """The line from the bar before to this one, at the speed that it starts from."""
        painter.setPen(pixel_pen(self._theme.muted, 1.0, Qt.PenStyle.DotLine))
        edge = _BAR_SHARE / 2
        painter.drawLine(
            self.to_pixel(place - 1 + edge, before), self.to_pixel(place + edge, before)
        )

    def _paint_interval(self, painter: QPainter, bar: QRectF, low: float, high: float) -> None:
        x, cap = bar.center().x(), min(_CAP_PIXELS, bar.width()) / 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pixel_pen(self._theme.text, 1.2))
        ends = [self.to_pixel(0, value).y() for value in (low, high)]
        painter.drawLine(QPointF(x, ends[0]), QPointF(x, ends[1]))
        for y in ends:
            painter.drawLine(QPointF(x - cap, y), QPointF(x + cap, y))

    def _paint_label(
        self, painter: QPainter, place: int, rung: Rung, top: float, posture: Posture
    ) -> QRectF:
        """Speed and step above a bar, as they fit; where they are."""
        rows, theme = self._rows(rung), self._theme
        tone = "bad" if rung.wrong else _TONES.get(rung.step or "", "text")
        inks = [theme.muted if rung.wrong else theme.text, getattr(theme, tone)]
        font = text_font(TICK_PIXELS)
        metrics = QFontMetricsF(font)
        x, height = self.to_pixel(place, 0.0).x(), metrics.height()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        if posture == "signs":
            rows, inks = [(sign, "") for sign, _ in rows if sign], inks[1:]
        if posture != "upright":
            room = QRectF(x - self._slot / 2, top - 4 - height * len(rows), self._slot,
                          height * len(rows))  # fmt: skip
        else:
            length = metrics.horizontalAdvance(_GAP.join(text for _, text in rows)) + height
            room = QRectF(x - height / 2, top - 6 - length, height, length)
        foot = QPointF(x, top - 5)
        for index, ((sign, text), ink) in enumerate(zip(rows, inks, strict=False), start=1):
            font.setStrikeOut(rung.wrong and index == 1)
            painter.setFont(font)
            painter.setPen(QColor(ink))
            if posture != "upright":
                self._write(painter, QPointF(x, top - 4 - height * (index - 0.5)), sign + text)
                continue
            self._paint_upright(painter, foot, text, ink)
            foot -= QPointF(0, metrics.horizontalAdvance(f"{text}{_GAP}"))
            if sign:
                self._write(painter, foot - QPointF(0, height / 2 - 2), sign)
        return room

    def _write(self, painter: QPainter, middle: QPointF, text: str) -> None:
        """Text around a point, on a plate of the panel's colour that hides lines behind it."""
        width = painter.fontMetrics().horizontalAdvance(text) + 2
        area = QRectF(middle.x() - width / 2, middle.y() - 7, width, 14)
        painter.fillRect(area, QColor(self._theme.panel))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), text)

    def _paint_missing(self, painter: QPainter, place: int, rung: Rung) -> QRectF:
        """A cross where the bar would stand, and above it why; where they are."""
        foot = self.to_pixel(place, 0.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(pixel_pen(self._theme.bad, 1.6))
        for slope in (-4, 4):
            painter.drawLine(foot + QPointF(-4, -10 - slope), foot + QPointF(4, -10 + slope))
        font = text_font(TICK_PIXELS)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        room = max(0.0, foot.y() - 30)
        text = metrics.elidedText(rung.why_not, Qt.TextElideMode.ElideRight, room)
        self._paint_upright(painter, foot + QPointF(0, -20), text, self._theme.muted)
        length = metrics.horizontalAdvance(text)
        height = metrics.height()
        return QRectF(foot.x() - height / 2, foot.y() - 20 - length, height, length + 20)

    def _paint_upright(self, painter: QPainter, foot: QPointF, text: str, ink: str) -> None:
        """Text that reads upwards from ``foot``."""
        painter.save()
        painter.translate(foot)
        painter.rotate(-90)
        width = painter.fontMetrics().horizontalAdvance(text)
        painter.fillRect(QRectF(0, -7, width, 14), QColor(self._theme.panel))
        painter.setPen(QColor(ink))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, -10, width + 2, 20), int(flags), text)
        painter.restore()

    def _paint_line(self, painter: QPainter, level: Level) -> None:
        y = self.to_pixel(0.0, level.flops_per_second).y()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pixel_pen(self._theme.mark, 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(0, y), QPointF(self.plot.width(), y))

    def _paint_name(self, painter: QPainter, level: Level, taken: list[QRectF]) -> QRectF:
        """What a line is, at its left where no bar or label is in the way; where that is."""
        y = self.to_pixel(0.0, level.flops_per_second).y()
        font = text_font(TICK_PIXELS)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        size = metrics.horizontalAdvance(level.text) + 6, metrics.height()
        area = free_place(y, size, self.plot.width(), taken)
        if area is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
            painter.setPen(QColor(self._theme.mark))
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), level.text)
        return area or QRectF()

    def _paint_details(self, painter: QPainter, place: int) -> None:
        rung = self._rungs[place]
        speed = rung.flops_per_second or 0.0
        anchor = QPointF(self.to_pixel(place, 0).x() + 16, self.to_pixel(0, speed).y() + 40)
        draw_chip(
            painter, anchor, describe_rung(rung, self._ladder), font=text_font(LABEL_PIXELS),
            ink=self._theme.text, theme=self._theme,
            limits=self.boundingRect().adjusted(4, 4, -4, -4),
        )  # fmt: skip
