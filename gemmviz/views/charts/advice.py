"""Findings as a picture: each with its evidence, and its gain as a bar from least to most."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from gemmviz.core.advice.finding import Finding, ratio_text
from gemmviz.views.charts.chart import Chart, pixel_pen
from gemmviz.views.charts.heading import Heading
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import DARK, Theme, text_font

_ROW_PIXELS = 112
_AXIS_PIXELS = 34
_MARGIN = 14
_BAR_SHARE = 0.36
_TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class AdviceChart(Chart):
    """Rows of words at the left and of gains at the right, on one logarithmic axis."""

    export_title = "Advice"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Nothing to improve is known"
        self._findings: tuple[Finding, ...] = ()
        self._heading = Heading()
        self.centralLayout.addItem(self._heading, 0, 0)
        self.centralLayout.setRowStretchFactor(1, 1)
        self.set_theme(theme)

    def show_findings(self, subject: str, findings: tuple[Finding, ...]) -> None:
        """Draw the findings about ``subject``, a configuration in words."""
        self._findings = findings
        self._heading.set_text(subject)
        self.export_title = f"Advice for {subject}" if subject else "Advice"
        self.viewport().update()

    def is_empty(self) -> bool:
        """Whether there is no finding."""
        return not self._findings

    def wanted_height(self) -> int:
        """The height that all rows need."""
        rows = max(1, len(self._findings))
        return round(self._heading.minimumHeight()) + rows * _ROW_PIXELS + _AXIS_PIXELS + 24

    def restyle(self) -> None:
        """Put the theme's colours on."""
        self._heading.restyle(self.theme)

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """Write and draw every row."""
        super().drawForeground(painter, rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._findings:
            return
        top = self._heading.minimumHeight() + 16
        width = self.width() * _BAR_SHARE
        bars = QRectF(self.width() - width - 2 * _MARGIN, top, width, 0)
        height = min(_ROW_PIXELS, (self.height() - top - _AXIS_PIXELS) / len(self._findings))
        span = _span(self._findings)
        bars.setHeight(height * len(self._findings))
        self._draw_axis(painter, bars, span)
        for number, finding in enumerate(self._findings, start=1):
            row = QRectF(_MARGIN, top + (number - 1) * height, bars.left() - 3 * _MARGIN, height)
            self._write(painter, row, number, finding)
            self._draw_bar(painter, bars, row.top() + height * 0.4, span, finding)

    def _write(self, painter: QPainter, row: QRectF, number: int, finding: Finding) -> None:
        """Title, evidence and action, each cut to the lines that it has room for."""
        theme, top = self.theme, row.top() + 4
        parts = (
            (f"{number}. {finding.title}", theme.text, text_font(14, QFont.Weight.DemiBold), 1),
            (f"{finding.evidence} ({finding.source})", theme.muted, text_font(12), 3),
            (finding.action, theme.text, text_font(12), 2),
        )
        for text, ink, font, most in parts:
            painter.setFont(font)
            painter.setPen(QColor(ink))
            metrics = painter.fontMetrics()
            for line in wrapped(text, metrics, row.width(), most):
                if top + metrics.lineSpacing() > row.bottom():
                    return
                area = QRectF(row.left(), top, row.width(), metrics.lineSpacing())
                painter.drawText(area, int(Qt.AlignmentFlag.AlignLeft), line)
                top += metrics.lineSpacing()

    def _draw_axis(self, painter: QPainter, bars: QRectF, span: tuple[float, float]) -> None:
        painter.setFont(text_font(11))
        for tick in _TICKS:
            if not span[0] <= tick <= span[1]:
                continue
            x = _place(tick, bars, span)
            strong = tick == 1
            painter.setPen(pixel_pen(self.theme.muted if strong else self.theme.grid))
            painter.drawLine(int(x), int(bars.top()), int(x), int(bars.bottom()))
            painter.setPen(QColor(self.theme.muted))
            area = QRectF(x - 30, bars.bottom() + 2, 60, 14)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), f"{ratio_text(tick)}×")
        title = QRectF(bars.left(), bars.bottom() + 15, bars.width(), 16)
        painter.drawText(title, int(Qt.AlignmentFlag.AlignCenter), "times as fast as now")

    def _draw_bar(
        self, painter: QPainter, bars: QRectF, y: float, span: tuple[float, float], finding: Finding
    ) -> None:
        theme = self.theme
        painter.setFont(text_font(12))
        if finding.urgent:
            painter.setPen(QColor(theme.bad))
            area = QRectF(bars.left(), y - 12, bars.width(), 24)
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), "first make it right")
            return
        low, high = _place(finding.gain_low, bars, span), _place(finding.gain_high, bars, span)
        color = QColor(theme.good if finding.gain_low > 1 else theme.warn)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(QRectF(low, y - 5, max(4.0, high - low), 10), 4, 4)
        painter.setPen(QColor(theme.text))
        width = QFontMetricsF(painter.font()).horizontalAdvance(finding.gain_text)
        left = min(max(bars.left(), (low + high - width) / 2), bars.right() - width)
        area = QRectF(left, y + 8, width + 2, 18)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignLeft), finding.gain_text)


def _span(findings: tuple[Finding, ...]) -> tuple[float, float]:
    """The ends of the axis: ticks that hold every range."""
    low = min((f.gain_low for f in findings), default=1.0)
    high = max((f.gain_high for f in findings), default=2.0)
    below = [tick for tick in _TICKS if tick <= min(low, 1.0)]
    above = [tick for tick in _TICKS if tick >= max(high, 2.0)]
    return (below[-1] if below else low), (above[0] if above else high)


def _place(ratio: float, bars: QRectF, span: tuple[float, float]) -> float:
    """Where a ratio lies on the axis."""
    share = math.log(ratio / span[0]) / math.log(span[1] / span[0])
    return bars.left() + share * bars.width()
