"""What is said of the cell or the bank under the mouse, and the plate that it is written on."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.core.access.warps import SECTOR_BYTES
from gemmviz.views.charts.access_banks import Served
from gemmviz.views.charts.access_cells import AccessScene, element_size
from gemmviz.views.charts.access_shown import Shown
from gemmviz.views.charts.chart import LABEL_PIXELS, draw_chip
from gemmviz.views.theme import DARK, Theme, text_font


class Hover(QGraphicsWidget):
    """A plate with words beside the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._theme, self._text, self._place = DARK, "", QPointF()
        self.setZValue(100)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def say(self, text: str, place: QPointF | None = None) -> None:
        """Show ``text`` at a place of the scene, or nothing."""
        self._text = text
        if place is not None:
            self._place = place
        self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the plate."""
        if not self._text:
            return
        limits = self.rect().adjusted(4, 4, -4, -4)
        draw_chip(
            painter, self._place + QPointF(14, 0), self._text, font=text_font(LABEL_PIXELS),
            ink=self._theme.text, theme=self._theme, limits=limits,
        )  # fmt: skip


def describe_cell(scene: AccessScene, shown: Shown, warp: int | None, row: int, col: int) -> str:
    """All of a cell: where it is, in which sector, and who touches it."""
    lines = [f"{shown.name}: row {row}, column {col}"]
    if shown.touches is None:
        return lines[0]
    outer, inner = (row, col) if scene.orders[shown.name] == "row" else (col, row)
    element = outer * shown.touches.row_length + inner
    address = element * element_size(scene, shown.touches)
    lines.append(f"byte {address:,}: sector {address // SECTOR_BYTES:,}")
    lanes = scene.lanes(warp)
    found = shown.touches.elements[shown.execution, lanes]
    first = (found >= 0) & (found <= element) & (element < found + shown.touches.width)
    who = first.nonzero()[0].tolist()
    word = "lane" if warp is not None else "work-item"
    lines.append(_listed(word, who) if who else "not touched in this step")
    return "\n".join(lines)


def describe_slot(slot: Served) -> str:
    """All of a word that a bank serves: where, for whom, and whether it waits."""
    lines = [f"bank {slot.bank}, pass {slot.row + 1}", f"word {slot.word} of the array"]
    lines.append(_listed("lane", list(slot.lanes)))
    if slot.turn:
        lines.append("waits: its bank serves another word first")
    return "\n".join(lines)


def _listed(word: str, numbers: list[int]) -> str:
    """Numbers behind a word: "lanes 0 to 31", or the first few and how many more."""
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{word}s {numbers[0]} to {numbers[-1]}"
    few = ", ".join(map(str, numbers[:6]))
    return f"{word}s {few}" + (f" and {len(numbers) - 6} more" if len(numbers) > 6 else "")
