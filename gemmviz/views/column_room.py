"""Shares the room of a table between the columns that have most use for it."""

from __future__ import annotations

from collections.abc import Sequence

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
