"""Paints the axes of parallel coordinates: names, values, colours, and what is picked on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from gemmviz.core.sweep_lines import SweepLines
from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, draw_haloed, pixel_pen
from gemmviz.views.charts.color_scale import ColorScale
from gemmviz.views.charts.parallel_layout import Layout, Margins
from gemmviz.views.charts.sweep_words import RECOMMENDED_SIGN
from gemmviz.views.theme import Theme, text_font

_STRIP = 9.0
_APART = 8.0  # the names of two axes
_TRIM = 0.16  # of the scale at the end that the theme's panel is too near to
_MOST_LABEL = 150.0
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ParallelAxes:
    """The axes of some lines; ``scale`` is None where no line has a figure."""

    shown: SweepLines
    scale: ColorScale | None
    theme: Theme

    def color(self, share: float) -> QColor:
        """The colour at a share of the scale, without the end that cannot be told from the panel.

        On a dark panel that is the worst end, on a light one the best, which is drawn bold.
        """
        scale = self.scale
        if scale is None:
            return QColor(self.theme.muted)
        falling = scale.metric.better == "lower"
        good = 1 - share if falling else share
        good = _TRIM + (1 - _TRIM) * good if self.theme.name == "dark" else (1 - _TRIM) * good
        return scale.color(scale.value(1 - good if falling else good))

    def margins(self) -> Margins:
        """Room for names above, the values of the first axis at the left, figures at the right."""
        small, bold = QFontMetricsF(text_font(TICK_PIXELS)), QFontMetricsF(_bold())
        first = max(map(small.horizontalAdvance, self.shown.axes[0].texts))
        half = bold.horizontalAdvance(self.shown.axes[0].name) / 2
        ticks = self._ticks()
        last = max((small.horizontalAdvance(text) for _, text in ticks), default=0.0)
        name = 0.6 * bold.horizontalAdvance(self._last_name())  # the more where no axis follows
        return Margins(
            max(min(first, _MOST_LABEL) + 10, half) + 6, bold.height() + 12,
            max(_STRIP + last + 12, name) + 6, 8 + (small.height() + 6) * self._lacks_figures,
        )  # fmt: skip

    @property
    def _lacks_figures(self) -> bool:
        return any(line.value is None for line in self.shown.lines)

    def _ticks(self) -> list[tuple[float, str]]:
        scale = self.scale
        return [(scale.share(v), scale.text(v)) for v in scale.ticks()] if scale else []

    def _last_name(self) -> str:
        unit = self.scale.unit if self.scale is not None else ""
        name = self.shown.metric.name
        return f"{name} ({unit})" if unit else name

    def paint(
        self,
        painter: QPainter,
        layout: Layout,
        brushes: Mapping[int, tuple[float, float]],
        limits: QRectF,
    ) -> None:
        """Paint them over the lines.

        Args:
            painter: Paints in pixels of the plot.
            layout: Where everything is.
            brushes: What is picked on each axis, by its number, as shares of it from the foot.
            limits: All there is to paint in.
        """
        theme, area = self.theme, layout.area
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pixel_pen(theme.muted, 1.2))
        for x in layout.axes[:-1]:
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        self._paint_strip(painter, layout)
        fill = QColor(theme.accent)
        for axis, (low, high) in brushes.items():
            fill.setAlpha(70)
            painter.setPen(pixel_pen(theme.accent, 1.2))
            painter.setBrush(fill)
            top = area.bottom() - high * area.height()
            painter.drawRect(QRectF(layout.axes[axis] - 6, top, 12, (high - low) * area.height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        self._paint_names(painter, layout, limits)
        self._paint_values(painter, layout)
        self._paint_stars(painter, layout, limits)

    def _paint_strip(self, painter: QPainter, layout: Layout) -> None:
        """The colours of the figures along their axis, and the figures."""
        area, left = layout.area, float(layout.axes[-1])
        rows = max(2, round(area.height()))
        for row in range(rows if self.scale is not None else 0):
            share = 1 - row / (rows - 1)
            painter.fillRect(QRectF(left, area.top() + row, _STRIP, 1.0), self.color(share))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pixel_pen(self.theme.border))
        painter.drawRect(QRectF(left, area.top(), _STRIP, area.height()))
        font = text_font(TICK_PIXELS)
        line = QFontMetricsF(font).height()
        ticks = self._ticks()
        room = area.height() / (line + 4)
        painter.setFont(font)
        painter.setPen(QColor(self.theme.muted))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for share, text in ticks if len(ticks) <= room + 1 else (ticks[0], ticks[-1]):
            y = area.bottom() - share * area.height()
            painter.drawText(QRectF(left + _STRIP + 5, y - line / 2, 200, line), flags, text)
        if self._lacks_figures:
            y = area.bottom() + 0.5 * self.margins().bottom
            painter.drawText(QRectF(left + 5, y - line / 2, 200, line), flags, _FAILED)

    def _paint_names(self, painter: QPainter, layout: Layout, limits: QRectF) -> None:
        """What each axis is of, above it, cut to the room that the one before it leaves."""
        font, height = _bold(), layout.area.top() - 6
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(self.theme.text))
        names = [*(axis.name for axis in self.shown.axes), self._last_name()]
        free = 0.0  # where the name before it ends
        for x, name in zip(layout.axes, names, strict=True):
            room = max(layout.gap - _APART, 2 * (limits.right() - x))
            room = min(room, limits.right() - free)
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            wide = metrics.horizontalAdvance(text)
            left = max(free, min(x - wide / 2, limits.right() - wide))
            area = QRectF(left, 0, wide + 2, height)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter), text)
            free = left + wide + _APART

    def _paint_values(self, painter: QPainter, layout: Layout) -> None:
        """The values at the left of each axis, on plates through which lines show faintly."""
        font = text_font(TICK_PIXELS, QFont.Weight.Medium)
        metrics = QFontMetricsF(font)
        line = metrics.height()
        plate = QColor(self.theme.panel)
        plate.setAlpha(205)
        painter.setFont(font)
        painter.setPen(QColor(self.theme.text))
        room = min(_MOST_LABEL, 0.6 * layout.gap)
        for x, axis, middles in zip(layout.axes, self.shown.axes, layout.centers, strict=False):
            step = max(1, int(np.ceil((line + 1) * len(middles) / max(layout.area.height(), 1))))
            for text, y in list(zip(axis.texts, middles, strict=True))[::step]:
                most = _MOST_LABEL if x == layout.axes[0] else room
                cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, most)
                wide = metrics.horizontalAdvance(cut)
                box = QRectF(x - wide - 8, y - line / 2, wide + 4, line)
                painter.fillRect(box, plate)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), cut)

    def _paint_stars(self, painter: QPainter, layout: Layout, limits: QRectF) -> None:
        for number, line in enumerate(self.shown.lines):
            if line.recommended:
                draw_haloed(
                    painter, QPointF(layout.axes[-1] - 24, layout.lines[number, -1]),
                    RECOMMENDED_SIGN, font=text_font(LABEL_PIXELS + 2), ink=self.theme.text,
                    theme=self.theme, limits=limits,
                )  # fmt: skip


def _bold() -> QFont:
    return text_font(LABEL_PIXELS, QFont.Weight.DemiBold)
