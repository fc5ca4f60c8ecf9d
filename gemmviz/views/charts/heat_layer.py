"""The cells of a heat map: colours, values, and signs for what colour alone must not say."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core.sweep_dimensions import is_rough
from gemmviz.core.sweep_grid import GridCell, SweepGrid
from gemmviz.views.charts.chart import LABEL_PIXELS, TICK_PIXELS, Layer, Plot, draw_chip, pixel_pen
from gemmviz.views.charts.color_scale import ColorScale, ink_on
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.legend import fill_bar
from gemmviz.views.charts.sweep_words import (
    BEST_WORDS,
    RECOMMENDED_SIGN,
    RECOMMENDED_WORDS,
    ROUGH_SIGN,
    STATE_SIGNS,
    describe_cell,
    folded,
)
from gemmviz.views.theme import DARK, Theme, mixed, text_font

_GAP = 1.0
_FRAME = 2.5
_SMALLEST_MARKED = 12.0  # pixels of a cell that has room for a sign
_SMALLEST_HATCHED = 6.0


class HeatLayer(Layer):
    """Cells of a grid; column c and row r of it lie from (c, r) to (c + 1, r + 1)."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._grid: SweepGrid | None = None
        self._scale: ColorScale | None = None
        self._pointed: GridCell | None = None
        self._chosen: tuple[int, int] | None = None

    @property
    def pointed(self) -> GridCell | None:
        """The cell under the mouse, if any."""
        return self._pointed

    def set_grid(self, grid: SweepGrid | None, scale: ColorScale | None) -> None:
        """Show other cells."""
        if self._grid is None or grid is None or _places(grid) != _places(self._grid):
            self._chosen = None
        pointed = self._pointed
        self._grid, self._scale, self._pointed = grid, scale, None
        if pointed is not None and grid is not None and self._chosen_in(grid, pointed):
            self._pointed = grid.at(pointed.column, pointed.row)
        self.update()

    @staticmethod
    def _chosen_in(grid: SweepGrid, cell: GridCell) -> bool:
        return cell.column < len(grid.across.values) and cell.row < grid.rows

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def cell_at(self, place: QPointF | None) -> GridCell | None:
        """The cell at a place in plot coordinates, if any."""
        grid = self._grid
        if grid is None or place is None:
            return None
        column, row = int(place.x() // 1), int(place.y() // 1)
        inside = 0 <= column < len(grid.across.values) and 0 <= row < grid.rows
        return grid.at(column, row) if inside else None

    def point_at(self, cell: GridCell | None) -> None:
        """Tell more of a cell, or of none."""
        if cell != self._pointed:
            self._pointed = cell
            self.update()

    def choose(self, cell: GridCell | None) -> None:
        """Frame the cell whose details are looked at, or none."""
        self._chosen = (cell.column, cell.row) if cell is not None else None
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint every cell, then frames over their edges, then the details."""
        grid = self._grid
        if grid is None:
            return
        fonts = text_font(LABEL_PIXELS), text_font(TICK_PIXELS)
        room = self._box(0, 0).size()
        texts = [self._text(cell) for cell in grid.cells]
        font = next((each for each in fonts if self._fit(texts, each, room.width())), None)
        if room.height() < QFontMetricsF(fonts[1]).height() + 2:
            font = None
        for cell, text in zip(grid.cells, texts, strict=True):
            self._paint_cell(painter, cell, text, font)
        for cell in grid.cells:
            self._paint_marks(painter, cell, written=font is not None)
        if self._chosen is not None:
            self._paint_frame(painter, self._box(*self._chosen), self._theme.accent)
        if self._pointed is not None:
            self._paint_details(painter, self._pointed)

    @staticmethod
    def _fit(texts: list[str], font: QFont, width: float) -> bool:
        metrics = QFontMetricsF(font)
        return max(map(metrics.horizontalAdvance, texts), default=0.0) <= width - 6

    def _box(self, column: int, row: int) -> QRectF:
        box = QRectF(self.to_pixel(column, row + 1), self.to_pixel(column + 1, row))
        return box.adjusted(_GAP, _GAP, -_GAP, -_GAP)

    def _text(self, cell: GridCell) -> str:
        """The value with a sign where it is a rough one, else why there is none."""
        if cell.value is None or self._scale is None:
            passed = cell.cell is not None and cell.cell.passed_over
            return STATE_SIGNS.get("planned" if passed else cell.state, "–")
        sign = ROUGH_SIGN if cell.cell is not None and is_rough(cell.cell) else ""
        return f"{sign}{self._scale.text(cell.value)}"

    def _fill(self, cell: GridCell) -> QColor:
        if cell.value is not None and self._scale is not None:
            return self._scale.color(cell.value)
        share = 0.0 if cell.state == "planned" else 0.18
        return mixed(self._theme.muted, self._theme.panel, share)

    def _paint_cell(self, painter: QPainter, cell: GridCell, text: str, font: QFont | None) -> None:
        box, fill = self._box(cell.column, cell.row), self._fill(cell)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        if cell.state == "refused" and min(box.width(), box.height()) >= _SMALLEST_HATCHED:
            look = Look(mixed(self._theme.muted, self._theme.panel, 0.3).name())
            fill_bar(painter, box, look, self._theme, hatched=True)
        else:
            painter.fillRect(box, fill)
        if cell.state == "planned":
            painter.setPen(pixel_pen(self._theme.border))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)
        if font is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setFont(font)
        known = cell.value is not None
        bad = cell.state in ("failed", "wrong")
        ink = ink_on(fill) if known else self._theme.bad if bad else self._theme.muted
        painter.setPen(QColor(ink))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    def _paint_marks(self, painter: QPainter, cell: GridCell, *, written: bool) -> None:
        """The frame of the best set, and the sign of the one to take."""
        box = self._box(cell.column, cell.row)
        if cell.best:
            self._paint_frame(painter, box, self._theme.text)
        if not cell.recommended or min(box.width(), box.height()) < _SMALLEST_MARKED:
            return
        tall = written and box.height() >= 40  # else the sign would stand on the value
        font = text_font(LABEL_PIXELS + 2 if tall else TICK_PIXELS)
        painter.setFont(font)
        painter.setPen(QColor(ink_on(self._fill(cell))))
        corner = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        at = corner if written else Qt.AlignmentFlag.AlignCenter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.drawText(box.adjusted(5, 2, -2, -2), int(at), RECOMMENDED_SIGN)

    def _paint_frame(self, painter: QPainter, box: QRectF, color: str) -> None:
        """A frame with a rim of the panel's colour, so that it shows on every fill."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inner = box.adjusted(_FRAME / 2, _FRAME / 2, -_FRAME / 2, -_FRAME / 2)
        painter.setPen(pixel_pen(self._theme.panel, _FRAME + 2))
        painter.drawRect(inner)
        painter.setPen(pixel_pen(color, _FRAME))
        painter.drawRect(inner)

    def _paint_details(self, painter: QPainter, cell: GridCell) -> None:
        box = self._box(cell.column, cell.row)
        self._paint_frame(painter, box, self._theme.muted)
        font = text_font(LABEL_PIXELS)
        text = describe_place(self._grid, cell)
        metrics = QFontMetricsF(font)
        wide = max(map(metrics.horizontalAdvance, text.split("\n"))) + 12
        area = self.boundingRect().adjusted(4, 4, -4, -4)
        place = QPointF(box.right() + 8, box.center().y())
        if place.x() + wide > area.right():  # the other side, or the plate would cover the cell
            place.setX(box.left() - 8 - wide)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        draw_chip(
            painter, place, text, font=font, ink=self._theme.text, theme=self._theme, limits=area
        )


def _places(grid: SweepGrid) -> tuple[object, ...]:
    return grid.across, grid.down


def describe_place(grid: SweepGrid | None, cell: GridCell) -> str:
    """What is known of a place of a grid, on some lines."""
    lines = []
    if grid is not None:
        lines.append(f"{grid.across.name} {grid.across.texts[cell.column]}")
        if grid.down is not None:
            lines[0] += f", {grid.down.name} {grid.down.texts[cell.row]}"
    if cell.cell is None:
        return "\n".join([*lines, "cannot run here", folded(cell.why_not)])
    if cell.count > 1:
        which = "one" if cell.value is None else "the best"
        lines[:1] = [f"{lines[0]}: {which} of {cell.count}" if lines else ""]
    marks = [BEST_WORDS] * cell.best + [
        f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS}"
    ] * cell.recommended
    return "\n".join([*lines, describe_cell(cell.cell, tuple(marks))])
