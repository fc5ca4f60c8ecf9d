"""Which bank of local memory serves which lane in which pass: plain values and their picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.access.report import Machine, Touches
from gemmviz.core.access.warps import WORD_BYTES
from gemmviz.views.charts.access_cells import AccessScene, element_size
from gemmviz.views.charts.chart import TICK_PIXELS, clipped, pixel_pen
from gemmviz.views.theme import DARK, Theme, mixed, text_font

_LEFT = 48.0  # pixels for "pass 12"
_HEAD = 15.0
_FOOT = 18.0
_TALLEST = 24.0
_UNLIMITED = 16_777_215.0
_WIDEST = 30.0
_STRIPE = 5.0
_LEGEND = ("lane served", "conflict: one pass more", "one word for several lanes")


@dataclass(frozen=True, slots=True)
class Served:
    """One word that a bank serves in one pass: its address in words, and the lanes that want it.

    ``row`` counts the passes of all parts of the warp; ``turn`` those of its own part, so that
    turn 0 is free of conflict.
    """

    row: int
    turn: int
    bank: int
    word: int
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BankMap:
    """The passes of one access of one warp: a row each, and the words that they serve.

    ``ideal`` is how many rows there would be without any conflict.
    """

    slots: tuple[Served, ...]
    rows: int
    ideal: int
    banks: int


def bank_map(scene: AccessScene, touches: Touches, execution: int, warp: int) -> BankMap:
    """How the banks serve a warp, each array beginning in bank 0.

    The words of a bank come in the order of the lanes that ask for them.
    """
    machine = scene.report.machine
    size = element_size(scene, touches)
    elements = touches.elements[execution, scene.lanes(warp)].tolist()
    slots: list[Served] = []
    rows = ideal = 0
    for offset, piece, part in _turns(machine, size * touches.width, len(elements)):
        wanted: dict[int, list[int]] = {}
        for lane in part:
            if elements[lane] >= 0:
                first = elements[lane] * size + offset
                for word in range(first // WORD_BYTES, (first + piece - 1) // WORD_BYTES + 1):
                    wanted.setdefault(word, []).append(lane)
        filled = [0] * machine.banks
        for word, who in wanted.items():
            bank = word % machine.banks
            slots.append(Served(rows + filled[bank], filled[bank], bank, word, tuple(who)))
            filled[bank] += 1
        rows += max(filled)
        ideal += bool(wanted)
    return BankMap(tuple(slots), rows, ideal, machine.banks)


def worst_warp(scene: AccessScene, touches: Touches, execution: int) -> int:
    """The warp with the most passes at an execution, the first of several."""
    counts = [bank_map(scene, touches, execution, warp).rows for warp in range(scene.warps)]
    return counts.index(max(counts))


def _turns(machine: Machine, lane_bytes: int, lanes: int) -> list[tuple[int, int, range]]:
    """What is served one after the other: which bytes of each lane, how many, of which lanes.

    The rule is that of :mod:`gemmviz.core.access.warps`, which counts what is drawn here.
    """
    piece = lane_bytes
    if lane_bytes not in (1, 2, 4, 8, 16):
        piece = 16 if lane_bytes % 16 == 0 else WORD_BYTES
    together = 16 if machine.vendor == "Intel" else 32
    part = max(1, min(machine.warp, together // max(1, piece // WORD_BYTES)))
    return [
        (offset, piece, range(start, min(start + part, lanes)))
        for offset in range(0, lane_bytes, piece)
        for start in range(0, lanes, part)
    ]


class BankGrid(QGraphicsWidget):
    """Banks as columns, passes as rows; every pass below the first one is a conflict."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._map: BankMap | None = None
        self.setMinimumSize(200, 60)

    @property
    def bank_map(self) -> BankMap | None:
        """What is shown."""
        return self._map

    def set_map(self, bank_map: BankMap | None) -> None:
        """Show the passes of another access, or nothing."""
        self._map = bank_map
        self.update()

    def limit(self, rows: int | None) -> None:
        """Take no more height than so many passes need, or with None all there is."""
        self.setMaximumHeight(
            _UNLIMITED if rows is None else _HEAD + _FOOT + _TALLEST * max(1, rows)
        )

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def slot_at(self, point: QPointF) -> Served | None:
        """The word under a point, if any."""
        if self._map is None:
            return None
        return next((slot for slot in self._map.slots if self.box(slot).contains(point)), None)

    def box(self, slot: Served) -> QRectF:
        """Where a word is, in pixels."""
        width, height = self._cell()
        return QRectF(_LEFT + slot.bank * width, _HEAD + slot.row * height, width, height)

    def _cell(self) -> tuple[float, float]:
        assert self._map is not None
        rows = max(1, self._map.rows)
        size = self.size()
        width = min(_WIDEST, (size.width() - _LEFT) / self._map.banks)
        return width, min(_TALLEST, (size.height() - _HEAD - _FOOT) / rows)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the banks, the words and what the colours mean."""
        shown = self._map
        if shown is None:
            return
        theme = self._theme
        width, height = self._cell()
        rows = max(1, shown.rows)
        whole = QRectF(_LEFT, _HEAD, width * shown.banks, height * rows)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.fillRect(whole, mixed(theme.text, theme.panel, 0.04))
        painter.setPen(pixel_pen(mixed(theme.text, theme.panel, 0.11)))
        for bank in range(1, shown.banks):
            x = whole.left() + bank * width
            painter.drawLine(QLineF(x, whole.top(), x, whole.bottom()))
        if height >= 4:
            for row in range(1, rows):
                y = whole.top() + row * height
                painter.drawLine(QLineF(whole.left(), y, whole.right(), y))
        for slot in shown.slots:
            self._paint_slot(painter, slot)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pixel_pen(theme.muted))
        painter.drawRect(whole)
        self._paint_numbers(painter, shown, width, height)
        self._paint_legend(painter, whole.bottom() + 4)

    def _paint_slot(self, painter: QPainter, slot: Served) -> None:
        theme, box = self._theme, self.box(slot).adjusted(1, 1, 0, 0)
        color = theme.bad if slot.turn else theme.fill
        painter.fillRect(box, mixed(color, theme.panel, 0.85))
        if slot.turn:
            _paint_stripes(painter, box, theme)
        if len(slot.lanes) > 1:  # a bar at the foot: shared, so no lane waits
            painter.fillRect(
                QRectF(box.left(), box.bottom() - 3, box.width(), 3), QColor(theme.mark)
            )
        painter.setFont(text_font(9 if box.width() < 20 else 10))
        painter.setPen(QColor("#ffffff"))
        metrics = painter.fontMetrics()
        for text in (",".join(map(str, slot.lanes)), f"×{len(slot.lanes)}"):
            if metrics.horizontalAdvance(text) <= box.width() and box.height() >= 11:
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
                break

    def _paint_numbers(
        self, painter: QPainter, shown: BankMap, width: float, height: float
    ) -> None:
        painter.setFont(text_font(TICK_PIXELS - 1))
        painter.setPen(QColor(self._theme.muted))
        every = next(step for step in (1, 2, 4, 8, 16, 32, 64) if step * width >= 17)
        middle = int(Qt.AlignmentFlag.AlignCenter)
        for bank in range(0, shown.banks, every):
            box = QRectF(_LEFT + (bank + 0.5) * width - 20, 0, 40, _HEAD)
            painter.drawText(box, middle, str(bank))
        left = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(0, 0, _LEFT, _HEAD), left, "bank")
        down = max(1, int(np.ceil(13 / height)))
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for row in range(0, shown.rows, down):
            box = QRectF(0, _HEAD + (row + 0.5) * height - 7, _LEFT - 5, 14)
            painter.drawText(box, right, f"pass {row + 1}")

    def _paint_legend(self, painter: QPainter, top: float) -> None:
        theme, left = self._theme, _LEFT
        painter.setFont(text_font(TICK_PIXELS))
        for index, text in enumerate(_LEGEND):
            width = painter.fontMetrics().horizontalAdvance(text)
            if left + 15 + width > self.size().width():
                break
            swatch = QRectF(left, top + 2, 10, 10)
            color = theme.bad if index == 1 else theme.fill
            painter.fillRect(swatch, mixed(color, theme.panel, 0.85))
            if index == 1:
                _paint_stripes(painter, swatch, theme)
            if index == 2:
                painter.fillRect(swatch.adjusted(0, 7, 0, 0), QColor(theme.mark))
            painter.setPen(QColor(theme.muted))
            flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(QRectF(left + 15, top, width + 4, 14), flags, text)
            left += width + 30


def _paint_stripes(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Diagonal lines, so that a conflict is no matter of colour alone."""
    with clipped(painter, box):
        painter.setPen(pixel_pen(mixed(theme.bad, theme.panel, 0.55), 1.5))
        place = box.left() - box.height()
        while place < box.right():
            painter.drawLine(QLineF(place, box.bottom(), place + box.height(), box.top()))
            place += _STRIPE
