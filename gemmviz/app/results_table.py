"""The item model of the finished runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Slot,
)

from gemmviz.app.book import ResultBook
from gemmviz.app.measured import measured
from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.app.tips import plain_tip
from gemmviz.core.labels import device_label, form_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Problem
from gemmviz.core.units import duration, percent, scaled, throughput

SORT_ROLE = Qt.ItemDataRole.UserRole + 1
"""A value of the cell to sort by."""
STRUCK_ROLE = Qt.ItemDataRole.UserRole + 2
"""Whether a cell is struck through: the speed of a run that does not count."""
STATE_ROLE = Qt.ItemDataRole.UserRole + 3
""""good", "bad", "warn" or "" for the colour of a cell."""
RUN_ROLE = Qt.ItemDataRole.UserRole + 4
"""The Run of a row."""
BASELINE_ROLE = Qt.ItemDataRole.UserRole + 5
"""Whether the row is the baseline."""

Index = QModelIndex | QPersistentModelIndex
_NONE = "–"


def _median(run: Run) -> str:
    return duration(run.summary.median) if run.summary is not None else _NONE


def _rate(run: Run) -> str:
    return throughput(run.flops_per_second) if run.flops_per_second is not None else _NONE


def _occupancy(run: Run) -> str:
    share = run.estimate.occupancy if run.estimate is not None else None
    return percent(share) if share is not None else _NONE


def _finished(run: Run) -> str:
    seconds = run.result.finished_at if run.result is not None else 0.0
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%H:%M:%S")


def _element(problem: Problem) -> str:
    """The element type, and what the problem is besides C = A B."""
    return ", ".join(filter(None, (problem.element, form_label(problem))))


_COLUMNS: tuple[tuple[str, Callable[[Run], str]], ...] = (
    ("Kernel", lambda run: run.job.variant.title),
    ("Parameters", lambda run: describe_parameters(run.job.parameters) or _NONE),
    ("Device", lambda run: device_label(run.device)),
    ("M × N × K", lambda run: run.shape),
    ("Element", lambda run: _element(run.job.problem)),
    ("Median", _median),
    ("Throughput", _rate),
    ("Verdict", lambda run: outcome(run).word),
    ("Speed-up", lambda _: _NONE),  # against the book's baseline, see data()
    ("Occupancy", _occupancy),
    ("Time", _finished),
    ("Samples", lambda run: f"{len(run.buffer):,}"),
)
_FIGURES = ("Bandwidth", "Of memory", "Of library")
"""Columns that come once ceilings, traffic or a library's run are known: see _figure()."""
_SORT_KEYS: dict[int, Callable[[Run], float]] = {
    3: lambda run: float(run.flop),
    5: lambda run: run.summary.median if run.summary is not None else 0.0,
    6: lambda run: run.flops_per_second or 0.0,
    9: lambda run: (run.estimate.occupancy or 0.0) if run.estimate is not None else 0.0,
    10: lambda run: run.result.finished_at if run.result is not None else 0.0,
    11: lambda run: float(len(run.buffer)),
}
"""What columns of numbers are sorted by; the others by the text that they show."""
_NUMBERS = (5, 6, 8, 9, 11, 12, 13, 14)
_SPEED_COLUMNS = (5, 6)
_VERDICT, _SPEED_UP = 7, 8
_SAMPLES = 11
SAMPLES_TIP = "A sweep screens with a few samples, and measures its finalists by its policy."
_BANDWIDTH, _SHARE, _LIBRARY = 12, 13, 14
_FIGURE_TIPS = {
    _BANDWIDTH: "All that the source asks of global memory, over the median time.",
    _SHARE: "That over the measured bandwidth of global memory; caches can serve more than all.",
    _LIBRARY: "The median of the device's fastest library for the same problem over this one; "
    "each was measured by itself, so a comparison in turns is surer.",
}


class ResultsTableModel(QAbstractTableModel):
    """One row a finished run, ticked to compare; speeds that do not count are struck through."""

    def __init__(self, book: ResultBook, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._book = book
        self._count = len(book.runs)
        self._names = tuple(name for name, _ in _COLUMNS)
        book.figures_changed.connect(self._on_figures_changed)
        book.run_added.connect(self._on_run_added)
        book.run_marked.connect(self._on_run_marked)
        book.baseline_pinned.connect(self._on_baseline_pinned)
        book.cleared.connect(self._on_cleared)

    def line(self, row: int) -> str:
        """A row as text to copy, with tabs between."""
        cells = (self.index(row, column) for column in range(len(self._names)))
        return "\t".join(str(self.data(cell)) for cell in cells)

    def header_line(self) -> str:
        """The names of the columns, with tabs between."""
        return "\t".join(self._names)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self._names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """See QAbstractItemModel."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._names):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._names[section]
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """See QAbstractItemModel."""
        flags = super().flags(index)
        if index.isValid() and index.column() == 0 and self._run(index).summary is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """See QAbstractItemModel."""
        if not index.isValid():
            return None
        run, column = self._book.runs[index.row()], index.column()
        if role == SORT_ROLE:  # asked for most: some 30 times a row to sort ten thousand
            return self._sort_key(run, column)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(run, column))
        if role == Qt.ItemDataRole.CheckStateRole:
            if column != 0 or run.summary is None:
                return None
            return Qt.CheckState.Checked if self._book.is_ticked(run) else Qt.CheckState.Unchecked
        values = {
            STRUCK_ROLE: not run.valid and column in _SPEED_COLUMNS,
            STATE_ROLE: outcome(run).tone if column == _VERDICT else "",
            RUN_ROLE: run,
            BASELINE_ROLE: run is self._book.baseline,
        }
        return values.get(role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ticks a row."""
        if not index.isValid() or index.column() != 0 or role != Qt.ItemDataRole.CheckStateRole:
            return False
        self._book.tick(self._run(index), Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def _run(self, index: Index) -> Run:
        return self._book.runs[index.row()]

    def _text(self, run: Run, column: int) -> str:
        if column in _FIGURE_TIPS:
            return self._figure(run, column)
        if column != _SPEED_UP:
            return _COLUMNS[column][1](run)
        if run is self._book.baseline:
            return "baseline"
        factor = self._book.speed_up(run)
        return f"{factor:.2f} ×" if factor is not None else _NONE

    def _figure(self, run: Run, column: int) -> str:
        if column == _BANDWIDTH:
            speed = self._book.bytes_per_second(run)
            return " ".join(scaled(speed, "B/s")) if speed is not None else _NONE
        asked = self._book.bandwidth_share if column == _SHARE else self._book.library_share
        share = asked(run)
        return percent(share) if share is not None else _NONE

    def _tip(self, run: Run, column: int) -> str:
        if column in _FIGURE_TIPS:
            return _FIGURE_TIPS[column]
        if column == _SAMPLES:
            return SAMPLES_TIP
        if run.failure is not None:
            return f"{run.failure.sentence}\n\n{run.failure.detail}".strip()
        if column == _SPEED_UP and self._book.baseline is None:
            return "Pin a row as the baseline (B) to see how many times faster the others are."
        if column == _SPEED_UP and self._book.speed_up(run) is None:
            return "No figure: the baseline computes another problem, or has no result."
        where = f"{run.label} on {device_label(run.device)}"
        return f"{where}\n{run.problem_text}\n{measured(run).tip}"

    def _sort_key(self, run: Run, column: int) -> Any:
        key = _SORT_KEYS.get(column)
        if key is not None:
            return key(run)
        if column == _BANDWIDTH:
            return self._book.bytes_per_second(run) or 0.0
        if column == _SHARE:
            return self._book.bandwidth_share(run) or 0.0
        if column == _LIBRARY:
            return self._book.library_share(run) or 0.0
        return self._book.speed_up(run) or 0.0 if column == _SPEED_UP else self._text(run, column)

    @Slot(int)
    def _on_run_added(self, row: int) -> None:
        self.beginInsertRows(QModelIndex(), row, row)
        self._count = row + 1
        self.endInsertRows()

    @Slot(int)
    def _on_run_marked(self, row: int) -> None:
        cell = self.index(row, 0)
        self.dataChanged.emit(cell, cell, [Qt.ItemDataRole.CheckStateRole])

    @Slot(int, int)
    def _on_baseline_pinned(self, before: int, now: int) -> None:
        """The speed-ups change in every row, the rest in those of both baselines alone."""
        last = len(self._names) - 1
        for row in (before, now):
            if row >= 0:
                self.dataChanged.emit(self.index(row, 0), self.index(row, last))
        if self._count:
            bottom = self.index(self._count - 1, _SPEED_UP)
            self.dataChanged.emit(self.index(0, _SPEED_UP), bottom)

    @Slot()
    def _on_figures_changed(self) -> None:
        """The columns of traffic come with the first figure, and stay."""
        if len(self._names) == len(_COLUMNS):
            self.beginInsertColumns(QModelIndex(), _BANDWIDTH, _LIBRARY)
            self._names += _FIGURES
            self.endInsertColumns()
        elif self._count:
            bottom = self.index(self._count - 1, _LIBRARY)
            self.dataChanged.emit(self.index(0, _BANDWIDTH), bottom)

    @Slot()
    def _on_cleared(self) -> None:
        self.beginResetModel()
        self._count = 0
        self.endResetModel()


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
