"""The item model of saved results: the rows of the open file that a filter lets through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal, Slot

from gemmviz.app.archive import Archive
from gemmviz.app.results_table import SAMPLES_TIP, STATE_ROLE, STRUCK_ROLE, Index
from gemmviz.app.tips import plain_tip
from gemmviz.core.store import Filter, Row, StoreError
from gemmviz.core.store.rows import Order
from gemmviz.core.units import duration, moment, throughput

_NONE = "–"
_WORDS = {
    "verified": "✓ verified",
    "wrong": "✗ wrong",
    "failed": "✗ failed",
    "unchecked": "not checked",
    "stopped": "stopped",
}
_TONES = {"verified": "good", "wrong": "bad", "failed": "bad"}


def _lost(row: Row) -> bool:
    """Whether a damaged file has nothing of it but its number."""
    return not row.m


def _when(row: Row) -> str:
    """The time of day today, else the day; the tip has all of it."""
    if _lost(row):
        return _NONE
    then = datetime.fromtimestamp(row.moment, UTC).astimezone()
    now = datetime.now(UTC).astimezone()
    if then.date() == now.date():
        return f"{then:%H:%M:%S}"
    return f"{then:%d %b %H:%M}" if then.year == now.year else f"{then:%Y-%m-%d}"


def _problem(row: Row) -> str:
    if _lost(row):
        return _NONE
    sizes = f"{row.m}³" if row.m == row.n == row.k else f"{row.m} × {row.n} × {row.k}"
    return ", ".join(filter(None, (f"{sizes} {row.element}", row.form)))


def _median(row: Row) -> str:
    return duration(row.median_seconds) if row.median_seconds is not None else _NONE


def _rate(row: Row) -> str:
    return throughput(row.flops_per_second) if row.flops_per_second is not None else _NONE


def _verdict(row: Row) -> str:
    if _lost(row):
        return _NONE
    return "under way" if row.running else _WORDS.get(row.verdict, row.verdict)


_COLUMNS: tuple[tuple[str, Callable[[Row], str], Order | None, Order | None], ...] = (
    ("Time", _when, "oldest", "newest"),
    ("Kernel", lambda row: row.title, "kernel", "kernel"),
    ("Parameters", lambda row: row.parameters or _NONE, None, None),
    ("Device", lambda row: row.device, "device", "device"),
    ("M × N × K", _problem, "size", "size"),
    ("Median", _median, None, None),
    ("Throughput", _rate, "slowest", "fastest"),
    ("Verdict", _verdict, None, None),
    ("Tags", lambda row: " ".join(row.tags), None, None),
    ("Note", lambda row: row.note, None, None),
    ("Samples", lambda row: f"{row.samples:,}" if row.samples else _NONE, None, None),
)
"""Name, text, and the orders of a rising and of a falling sort, where there are any."""
TIME, TAGS, NOTE, SAMPLES = 0, 8, 9, 10
_NUMBERS = (5, 6, SAMPLES)
_FIGURES = (5, 6)
_VERDICT = 7


class HistoryModel(QAbstractTableModel):
    """Rows of the open file, read as they come into sight; tags and notes can be edited.

    ``problem`` says why they cannot be read, if so. ``refreshed`` follows each look at the file.
    """

    refreshed = Signal()

    def __init__(self, archive: Archive, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._archive = archive
        self.filter = Filter()
        self.problem = ""
        self._rows: Sequence[Row] = ()
        self._ids: tuple[int, ...] = ()

    @property
    def ids(self) -> Sequence[int]:
        """The ids of the rows, from the top."""
        return self._ids

    def row_at(self, place: int) -> Row:
        """The saved result in a row, counted from the top."""
        return self._rows[place]

    def choose(self, wanted: Filter) -> None:
        """Show what a filter lets through, in the order that holds."""
        self.filter = replace(wanted, order=self.filter.order)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Look at the file again."""
        store = self._archive.store
        rows: Sequence[Row] = ()
        ids: tuple[int, ...] = ()
        self.problem = ""
        if store is not None:
            try:
                found = store.rows(self.filter)
            except StoreError as error:
                self.problem = str(error)
            else:
                rows, ids = found, tuple(found.ids)
        self._replace(rows, ids)
        self.refreshed.emit()

    def _replace(self, rows: Sequence[Row], ids: tuple[int, ...]) -> None:
        """Take rows over so that what is selected stays so where it is still there."""
        more = len(ids) - len(self._ids)
        if more == 0 and ids == self._ids:
            self._rows = rows
            if ids:
                last = self.index(len(ids) - 1, len(_COLUMNS) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
        elif more > 0 and self._ids and ids[more:] == self._ids:
            self.beginInsertRows(QModelIndex(), 0, more - 1)
            self._rows, self._ids = rows, ids
            self.endInsertRows()
        else:
            self.beginResetModel()
            self._rows, self._ids = rows, ids
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self._ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """See QAbstractItemModel."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(_COLUMNS):
            return None
        name, _, rising, _ = _COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.ToolTipRole and rising is None:
            about = f"{SAMPLES_TIP}\n" if section == SAMPLES else ""
            return f"{about}The file is not sorted by this column"
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """See QAbstractItemModel."""
        flags = super().flags(index)
        if index.isValid() and index.column() in (TAGS, NOTE) and self._archive.writable:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """See QAbstractItemModel."""
        if not index.isValid():
            return None
        column = index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        try:
            row = self._rows[index.row()]
        except StoreError:  # the file has just become unreadable: refresh() will say so
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return _COLUMNS[column][1](row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(_tip(row, column))
        values = {
            STRUCK_ROLE: row.verdict in ("wrong", "failed") and column in _FIGURES,
            STATE_ROLE: _TONES.get(row.verdict, "") if column == _VERDICT else "",
        }
        return values.get(role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Writes tags or a note into the file; they are shown once they are there."""
        if not index.isValid() or role != Qt.ItemDataRole.EditRole:
            return False
        try:
            row, text = self._rows[index.row()], str(value).strip()
        except StoreError:
            return False
        if text == _COLUMNS[index.column()][1](row):
            return False
        if index.column() == TAGS:
            tags = text.replace("#", " ").replace(",", " ").split()
            self._archive.edits.annotate([row.id], tags=tags)
        elif index.column() == NOTE:
            self._archive.edits.annotate([row.id], note=text)
        else:
            return False
        return True

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column that can be sorted by; by any other the newest come first."""
        rising, falling = _COLUMNS[column][2:] if 0 <= column < len(_COLUMNS) else (None, None)
        wanted = rising if order == Qt.SortOrder.AscendingOrder else falling
        self.filter = replace(self.filter, order=wanted or "newest")
        self.refresh()


def _tip(row: Row, column: int) -> str:
    if _lost(row):
        return f"Result {row.id} cannot be read: the file is damaged there"
    if column == TAGS:
        return "Words to find it by; double-click to edit"
    if column == NOTE:
        return row.note or "Double-click to write a note"
    lines = [f"Result {row.id}, {_verdict(row)}, {moment(row.moment)}", row.title, row.device,
             _problem(row)]  # fmt: skip
    if row.low_seconds is not None and row.high_seconds is not None:
        lines.append(
            f"Median {_median(row)} of {row.launches:,} launches, {duration(row.low_seconds)} to "
            f"{duration(row.high_seconds)}"
        )
    if row.version:
        lines.append(f"Measured by gemmviz {row.version}")
    if row.sweep is not None:
        lines.append(f"Of sweep {row.sweep}")
    return "\n".join(lines)


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
