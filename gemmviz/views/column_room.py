"""Shares the room of a table between the columns that have most use for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QTableView

Span = tuple[int, int]
"""A column, and the fewest pixels of it; it never has more than its rows in sight need."""
_MOST_PIXELS = 360
_HEADING_MARGIN = 12


def needed(table: QTableView, column: int) -> int:
    """Pixels that show a column whole, in its heading and in the rows in sight, up to a limit."""
    header = table.horizontalHeader()
    in_sight = table.viewport().height() // table.verticalHeader().defaultSectionSize() + 1
    header.setResizeContentsPrecision(in_sight)  # with 0 Qt would measure all of a hidden table
    title = str(header.model().headerData(column, header.orientation()))
    heading = header.fontMetrics().horizontalAdvance(title) + _HEADING_MARGIN
    return min(max(heading, table.sizeHintForColumn(column)), _MOST_PIXELS)


def share_room(table: QTableView, spans: Sequence[Span], last: int) -> None:
    """Give some columns what the rest leave of a table's width.

    All have their fewest pixels, unless their rows need less; each grows to what its rows need
    before the next one does.

    Args:
        table: Its last column takes what is left over.
        spans: Of the columns, in the order in which they grow.
        last: Pixels to keep for the last column.
    """
    header = table.horizontalHeader()
    end = header.logicalIndex(header.count() - 1)
    others = set(range(header.count())) - {end} - {column for column, _ in spans}
    most = {column: needed(table, column) for column, _ in spans}
    fewest = {column: min(pixels, most[column]) for column, pixels in spans}
    room = table.viewport().width() - last - sum(map(header.sectionSize, others))
    room -= sum(fewest.values())
    for column, pixels in fewest.items():
        more = min(max(room, 0), most[column] - pixels)
        header.resizeSection(column, pixels + more)
        room -= more


@dataclass(frozen=True, slots=True)
class Room:
    """How a table of results shares its width.

    Attributes:
        parameters: The column of parameters, and the fewest pixels of it.
        told_apart: Pixels of the other columns that tell results apart and stay in sight.
        growing: The columns that may grow after that of parameters.
        last: Pixels to keep for the last column.
    """

    parameters: Span
    told_apart: int
    growing: Sequence[Span]
    last: int


class RoomyTable(QTableView):
    """A table whose parameters are whole where the columns before stay in sight."""

    def __init__(self, model: QAbstractItemModel, room: Room) -> None:
        super().__init__()
        self._room = room
        self.setModel(model)
        model.modelReset.connect(self._share_room)
        model.rowsInserted.connect(self._on_rows_inserted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the room anew."""
        super().resizeEvent(event)
        self._share_room()

    def showEvent(self, event: QShowEvent) -> None:
        """Parameters may have come that need more room."""
        super().showEvent(event)
        self._on_rows_inserted()

    @Slot()
    def _share_room(self) -> None:
        column, fewest = self._room.parameters
        parameters = max(fewest, self.viewport().width() - self._room.told_apart)
        share_room(self, ((column, parameters), *self._room.growing), self._room.last)

    @Slot()
    def _on_rows_inserted(self) -> None:
        column, _ = self._room.parameters
        if self.isVisible() and self.columnWidth(column) < needed(self, column):
            self._share_room()
