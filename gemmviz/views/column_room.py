"""Shares the room of a table between the two columns that have most use for it."""

from __future__ import annotations

from PySide6.QtWidgets import QTableView

Span = tuple[int, int, int]
"""A column, and the fewest and the most pixels of it."""


def share_room(table: QTableView, first: Span, other: Span, last: int) -> None:
    """Give two columns what the rest leave of a table's width.

    Both have their fewest pixels at least; ``other`` grows to its most before ``first`` does.

    Args:
        table: Its last column takes what is left over.
        first: One of the columns.
        other: The one that grows first.
        last: Pixels to keep for the last column.
    """
    header = table.horizontalHeader()
    others = set(range(header.count() - 1)) - {first[0], other[0]}
    room = table.viewport().width() - last - sum(map(header.sectionSize, others))
    size = min(max(room - first[1], other[1]), other[2])
    header.resizeSection(other[0], size)
    header.resizeSection(first[0], min(max(room - size, first[1]), first[2]))
