"""Which results a file holds, also where only a part of it can still be read."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence

import numpy as np

from gemmviz.core.store.files import TROUBLE
from gemmviz.core.store.rows import ORDERS, Filter

_MOST_QUERIES = 20_000  # a damaged page costs some twenty
_LARGEST_ID = 2**40


def wanted_ids(connection: sqlite3.Connection, wanted: Filter) -> Sequence[int]:
    """The ids of the results that a filter lets through, in its order.

    Raises:
        sqlite3.Error: They cannot be read.
    """
    condition, values = wanted.where()
    if wanted.order in ("newest", "oldest"):
        # One text of all ids is had in a third of the time of a row each; its order is not sure.
        query = f"SELECT group_concat(id) FROM results WHERE {condition}"  # noqa: S608 (our words)
        (text,) = connection.execute(query, values).fetchone()
        ids = np.sort(np.fromstring(text or "", np.int64, sep=","))
        found = array("q", ids.tobytes())
        if wanted.order == "newest":
            found.reverse()
        return found
    found = array("q")
    for more, order in ORDERS[wanted.order]:
        where = f"{condition} AND {more}" if more else condition
        query = f"SELECT id FROM results WHERE {where} ORDER BY {order}"  # noqa: S608
        found.extend(number for (number,) in connection.execute(query, values))
    return found


def readable_ids(connection: sqlite3.Connection, wanted: Filter) -> Sequence[int]:
    """The same of a damaged file, as far as it can be read, newest first.

    A range of ids that cannot be read is halved until what can be read is found. Indices are left
    alone: they may be damaged while the table is not.
    """
    condition, values = wanted.where()
    query = f"SELECT id FROM results NOT INDEXED WHERE id BETWEEN ? AND ? AND {condition}"  # noqa: S608
    found: list[int] = []
    ranges = [(0, _largest_id(connection))]
    for _ in range(_MOST_QUERIES):
        if not ranges:
            break
        low, high = ranges.pop()
        try:
            rows = connection.execute(query, (low, high, *values)).fetchall()
        except TROUBLE:
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]  # the lower first: ids rise from 1
            continue
        found += [number for (number,) in rows]
    return array("q", sorted(set(found), reverse=True))


def _largest_id(connection: sqlite3.Connection) -> int:
    """A bound on the ids; the file's own where that can be read."""
    for query in (
        "SELECT max(id) FROM results",
        "SELECT max(seq) FROM sqlite_sequence WHERE name = 'results'",
        "SELECT max(result) FROM bodies",
    ):
        try:
            (largest,) = connection.execute(query).fetchone()
        except TROUBLE:
            continue
        if isinstance(largest, int) and 0 < largest < _LARGEST_ID:
            return largest
    return _LARGEST_ID
