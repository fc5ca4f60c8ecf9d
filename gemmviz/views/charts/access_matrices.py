"""A, B and C with the cells that a warp touches, each 32-byte sector in a colour of its own."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from gemmviz.views.charts.access_captions import FAINT, Captions
from gemmviz.views.charts.access_cells import AccessScene, Cells
from gemmviz.views.charts.access_layout import Layout, Place, lay_out
from gemmviz.views.charts.access_shown import Shown, View, shown_at
from gemmviz.views.charts.chart import TICK_PIXELS, clipped, pixel_pen
from gemmviz.views.theme import DARK, Theme, mixed, series_color, text_font

_NUMBERED = 9.0  # pixels of a cell that has room for the number of its sector
_ROW_STEP, _COL_STEP = 17.0, 34.0  # pixels between two numbers at an edge
_STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Matrices(QGraphicsWidget):
    """The three grids; what a warp fetches of each is said beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = DARK
        self._scene: AccessScene | None = None
        self._view = View()
        self._layout: Layout | None = None
        self.shown: dict[str, Shown] = {}
        self.setMinimumSize(200, 120)

    def show_view(self, scene: AccessScene | None, view: View) -> None:
        """Paint a step of a scene, or nothing."""
        self._scene, self._view = scene, view
        self.shown = {}
        if scene is not None:
            self.shown = {name: shown_at(scene, name, view) for name in scene.shapes}
        self._fit()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self.update()

    def resizeEvent(self, event: object) -> None:
        """Fit the grids into the new size."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _fit(self) -> None:
        scene = self._scene
        self._layout = None
        if scene is not None:
            size = self.size()
            self._layout = lay_out(size.width(), size.height(), scene.window, scene.axes)
        self.update()

    def cell_at(self, point: QPointF) -> tuple[str, int, int] | None:
        """The matrix, row and column under a point, if any."""
        if self._layout is None:
            return None
        for name, place in self._layout.places.items():
            if place.grid.contains(point):
                shown, cell = self.shown[name], self._layout.cell
                row = shown.first[0] + int((point.y() - place.grid.top()) / cell)
                col = shown.first[1] + int((point.x() - place.grid.left()) / cell)
                return name, row, col
        return None

    def box(self, name: str, row: int, col: int, rows: int = 1, cols: int = 1) -> QRectF:
        """Some cells of a matrix in pixels."""
        assert self._layout is not None
        grid, cell = self._layout.places[name].grid, self._layout.cell
        first = self.shown[name].first
        return QRectF(
            grid.left() + (col - first[1]) * cell, grid.top() + (row - first[0]) * cell,
            cols * cell, rows * cell,
        )  # fmt: skip

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint grids, sectors and words."""
        if self._layout is None or self._scene is None:
            return
        captions = Captions(self._scene, self._view.warp, self._theme)
        for name, place in self._layout.places.items():
            self._paint_grid(painter, self.shown[name], place)
            self._paint_numbers(painter, self.shown[name], place)
            captions.paint_caption(painter, self.shown[name], place.caption)
        captions.paint_legend(painter, self._layout.legend)

    def _paint_grid(self, painter: QPainter, shown: Shown, place: Place) -> None:
        assert self._layout is not None
        theme, cell = self._theme, self._layout.cell
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.fillRect(place.grid, mixed(theme.text, theme.panel, 0.04))
        with clipped(painter, place.grid.adjusted(-1, -1, 1, 1)):
            every = 1 if cell >= 5 else 8
            if every * cell >= 5:
                self._paint_lines(painter, shown, place, every)
            if shown.cells is not None:
                self._paint_cells(painter, shown.name, shown.cells)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pixel_pen(theme.muted))
        painter.drawRect(place.grid)
        if shown.touches is not None:
            self._paint_reach(painter, shown, place)

    def _paint_lines(self, painter: QPainter, shown: Shown, place: Place, every: int) -> None:
        grid = place.grid
        assert self._layout is not None
        cell = self._layout.cell
        lines = []
        for index in range(-shown.first[0] % every, shown.size[0], every):
            y = grid.top() + index * cell
            lines.append(QLineF(grid.left(), y, grid.right(), y))
        for index in range(-shown.first[1] % every, shown.size[1], every):
            x = grid.left() + index * cell
            lines.append(QLineF(x, grid.top(), x, grid.bottom()))
        painter.setPen(pixel_pen(mixed(self._theme.text, self._theme.panel, 0.11)))
        painter.drawLines(lines)

    def _paint_cells(self, painter: QPainter, name: str, cells: Cells) -> None:
        """Each sector faint, what is used of it in full colour, and a frame around it."""
        theme = self._theme
        boxes = [
            (rank, self.box(name, row, col, rows, cols))
            for rank, row, col, rows, cols in cells.boxes.tolist()
        ]
        for rank, box in boxes:
            painter.fillRect(box, mixed(series_color(rank), theme.panel, FAINT))
        for row, col, rank in zip(
            cells.rows.tolist(), cells.cols.tolist(), cells.ranks.tolist(), strict=True
        ):
            painter.fillRect(_visible(self.box(name, row, col)), QColor(series_color(rank)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for rank, box in boxes:
            if max(box.width(), box.height()) >= 3:
                painter.setPen(pixel_pen(series_color(rank)))
                painter.drawRect(_visible(box))
        if self._layout is not None and self._layout.cell >= _NUMBERED:
            self._paint_sector_numbers(painter, name, cells)

    def _paint_sector_numbers(self, painter: QPainter, name: str, cells: Cells) -> None:
        """Number each sector in the cell nearest to its middle that is not used, else there."""
        used = set(zip(cells.rows.tolist(), cells.cols.tolist(), strict=True))
        painter.setFont(text_font(9))
        for rank, top, left, rows, cols in cells.boxes.tolist():
            middle = top + rows // 2, left + cols // 2
            free = [
                (row, col)
                for row in range(top, top + rows)
                for col in range(left, left + cols)
                if (row, col) not in used
            ]
            row, col = min(
                free, key=lambda at: abs(at[0] - middle[0]) + abs(at[1] - middle[1]), default=middle
            )
            painter.setPen(QColor(self._theme.text if free else "#ffffff"))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip)
            painter.drawText(self.box(name, row, col), flags, str(rank))

    def _paint_reach(self, painter: QPainter, shown: Shown, place: Place) -> None:
        """A dashed frame around what the whole work-group gets to, if that is not all."""
        assert self._scene is not None
        assert shown.touches is not None
        top, left, bottom, right = self._scene.reach.get(shown.touches.access, (0, 0, 0, 0))
        frame = self.box(shown.name, top, left, bottom - top, right - left)
        with clipped(painter, place.grid.adjusted(-2, -2, 2, 2)):
            painter.setPen(pixel_pen(self._theme.muted, 1.2, Qt.PenStyle.DashLine))
            painter.drawRect(frame)

    def _paint_numbers(self, painter: QPainter, shown: Shown, place: Place) -> None:
        assert self._layout is not None
        cell, grid = self._layout.cell, place.grid
        painter.setFont(text_font(TICK_PIXELS - 1))
        painter.setPen(QColor(self._theme.muted))
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for index in _labelled(*_edge(shown, 0), cell, _ROW_STEP):
            y = grid.top() + (index - shown.first[0] + 0.5) * cell
            painter.drawText(QRectF(grid.left() - 64, y - 7, 60, 14), right, f"{index}")
        middle = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom)
        for index in _labelled(*_edge(shown, 1), cell, _COL_STEP):
            x = grid.left() + (index - shown.first[1] + 0.5) * cell
            painter.drawText(QRectF(x - 30, grid.top() - 15, 60, 13), middle, f"{index}")


def _visible(box: QRectF) -> QRectF:
    """A box of at least two pixels each way: what is touched must not vanish."""
    return QRectF(box.left(), box.top(), max(2.0, box.width()), max(2.0, box.height()))


def _edge(shown: Shown, axis: int) -> tuple[int, int]:
    """First index along an axis, and one past the last."""
    return shown.first[axis], shown.first[axis] + shown.size[axis]


def _labelled(first: int, end: int, cell: float, room: float) -> list[int]:
    """The indices to write at an edge, ``room`` pixels apart at least."""
    step = next((step for step in _STEPS if step * cell >= room), _STEPS[-1])
    return [index for index in range(first, end) if index % step == 0] or [first]
