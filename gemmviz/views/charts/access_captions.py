"""The words beside A, B and C: what a warp fetches of each, and what the colours mean."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from gemmviz.core.access.marks import sector_tone, sector_words
from gemmviz.core.access.warps import SECTOR_BYTES
from gemmviz.core.units import percent
from gemmviz.views.charts.access_cells import AccessScene, element_size
from gemmviz.views.charts.access_layout import CAPTION_HEIGHT
from gemmviz.views.charts.access_shown import Shown
from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, pixel_pen
from gemmviz.views.theme import Theme, mixed, series_color, text_font

MARKS = {"good": "✓", "warn": "!", "bad": "✗"}
FAINT = 0.26
"""How much of its colour a cell has that is fetched and not used."""
_MINI = 34.0  # pixels of the little picture of a whole matrix
_WORDS = 128  # pixels of the words beside it
_LEGEND = ("used", "fetched with it, not used", "where the group ever gets")


@dataclass(frozen=True, slots=True)
class Captions:
    """Paints the words for one scene and warp in one theme."""

    scene: AccessScene
    warp: int | None
    theme: Theme

    def paint_caption(self, painter: QPainter, shown: Shown, area: QRectF) -> None:
        """Write size and verdict of a matrix, with a little picture of where the window is."""
        theme, low = self.theme, area.height() < CAPTION_HEIGHT
        if area.width() < _MINI:  # no room even for a word
            return
        words = area
        if area.width() >= _MINI + _WORDS:
            corner = QRectF(area.left(), area.top() + 3, _MINI, _MINI)
            self._paint_mini(painter, shown, corner)
            words = area.adjusted(_MINI + 8, 0, 0, 0)
        rows, cols = self.scene.shapes[shown.name]
        name = f"{shown.name}  {rows} × {cols}"
        lines = [(name, theme.text, text_font(LABEL_PIXELS, QFont.Weight.DemiBold))]
        lines += [
            (text, getattr(theme, tone), text_font(LABEL_PIXELS - (tone == "muted")))
            for text, tone in caption_lines(self.scene, shown, self.warp)[: 1 if low else 3]
        ]
        top = words.top()
        for text, color, font in lines:
            painter.setFont(font)
            painter.setPen(QColor(color))
            metrics = painter.fontMetrics()
            cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(words.width()))
            painter.drawText(QPointF(words.left(), top + metrics.ascent()), cut)
            top += metrics.lineSpacing()

    def _paint_mini(self, painter: QPainter, shown: Shown, area: QRectF) -> None:
        """All of the matrix as a small box, and what is shown of it filled."""
        rows, cols = self.scene.shapes[shown.name]
        scale = _MINI / max(rows, cols)
        whole = QRectF(area.left(), area.top(), max(4.0, cols * scale), max(4.0, rows * scale))
        part = QRectF(
            whole.left() + shown.first[1] * scale, whole.top() + shown.first[0] * scale,
            max(4.0, shown.size[1] * scale), max(4.0, shown.size[0] * scale),
        )  # fmt: skip
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.fillRect(whole, mixed(self.theme.text, self.theme.panel, 0.07))
        painter.fillRect(part & whole, QColor(self.theme.mark))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pixel_pen(self.theme.muted))
        painter.drawRect(whole)

    def paint_legend(self, painter: QPainter, area: QRectF) -> None:
        """Say how the matrices are stored and what the colours mean, as far as there is room."""
        theme, left = self.theme, area.left()
        painter.setFont(text_font(TICK_PIXELS))
        metrics = painter.fontMetrics()
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        full, faint = QColor(series_color(0)), mixed(series_color(0), theme.panel, FAINT)
        fills = full, faint, QColor(Qt.GlobalColor.transparent)
        order = describe_order(self.scene)
        painter.setPen(QColor(theme.text))
        painter.drawText(area, flags, order)
        left += metrics.horizontalAdvance(order) + 18
        for index, text in enumerate(_LEGEND):
            width = metrics.horizontalAdvance(text)
            if left + 16 + width > area.right():
                break
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setBrush(fills[index])
            dashed = pixel_pen(theme.muted, 1.2, Qt.PenStyle.DashLine)
            painter.setPen(dashed if index == 2 else pixel_pen(series_color(0)))
            painter.drawRect(QRectF(left, area.center().y() - 5, 10, 10))
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(left + 16, area.top(), width + 4, area.height()), flags, text)
            left += width + 34


def describe_order(scene: AccessScene) -> str:
    """How the matrices are stored: "Stored row by row, A transposed"."""
    own = scene.orders["C"]
    turned = " and ".join(name for name, each in scene.orders.items() if each != own)
    return f"Stored {own} by {own}" + (f", {turned} transposed" if turned else "")


def caption_lines(scene: AccessScene, shown: Shown, warp: int | None) -> list[tuple[str, str]]:
    """What is said beside a matrix, each line with its tone."""
    if shown.touches is None or shown.cells is None:
        return [("not touched", "muted")]
    access, cells = scene.access(shown.touches), shown.cells
    used = len(cells.rows) * element_size(scene, shown.touches)
    # Of the warp that is shown: the report's is that of the worst one.
    ideal = min(cells.sectors, -(-used // SECTOR_BYTES))
    if not len(cells.rows):
        verdict = ("no lane takes part", "muted")
    elif warp is None:
        verdict = (f"{cells.by_warp} sectors by {scene.warps} warps", "text")
    else:
        tone = sector_tone(cells.sectors, ideal)
        verdict = (f"{MARKS[tone]} {sector_words(cells.sectors, ideal)}", tone)
    share = used / (SECTOR_BYTES * cells.sectors) if cells.sectors else 0.0
    usage = f"{percent(share)} of the bytes used"
    if used == access.element_bytes:
        elements = shown.touches.elements[shown.execution, scene.lanes(warp)]
        usage = f"one {'lane' if (elements >= 0).sum() == 1 else 'element for all lanes'}"
    return [
        verdict,
        (usage, "muted"),
        (f"{access.kind}, line {access.line}", "muted"),
    ]
