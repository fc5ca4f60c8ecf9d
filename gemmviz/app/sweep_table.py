"""The cells of a sweep as the rows of a table, each figure in a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.metrics import METRICS, Metric
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import recommended_configurations, shape_text

CELL_ROLE = Qt.ItemDataRole.UserRole + 20
"""The SweepCell of a row."""
_Index = QModelIndex | QPersistentModelIndex
_NUMBERS = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its caption, and text and number (to sort by) of a cell; None goes last."""

    name: str
    text: Callable[[SweepCell], str]
    number: Callable[[SweepCell], float | str | None]
    numeric: bool = True


class SweepTableModel(QAbstractTableModel):
    """A row for each cell of a sweep's report."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sweep: Sweep | None = None
        self._cells: tuple[SweepCell, ...] = ()
        self._rows: list[int] = []  # the cell of each row
        self._sorted: tuple[int, Qt.SortOrder] | None = None
        self._recommended: frozenset[Configuration] = frozenset()
        self._titles: dict[str, str] = {}
        self._columns = self._make_columns()

    def _make_columns(self) -> tuple[_Column, ...]:
        def words(name: str, text: Callable[[SweepCell], str]) -> _Column:
            return _Column(name, text, text, numeric=False)

        return (
            words("Kernel", lambda cell: self._title(cell.configuration.variant)),
            words("Parameters", lambda cell: describe_parameters(cell.configuration.parameters)),
            words("Shape", lambda cell: shape_text(cell.configuration.problem)),
            words("Element", lambda cell: cell.configuration.problem.element),
            words("Device", lambda cell: self._device(cell.configuration.device)),
            words("State", self._state_text),
            *(_figure(metric) for metric in METRICS if metric.name != "Size"),
            words("Note", lambda cell: cell.why_not),
        )

    @property
    def names(self) -> list[str]:
        """The captions of the columns."""
        return [column.name for column in self._columns]

    def set_report(self, sweep: Sweep | None, report: SweepReport | None) -> None:
        """Show these cells; the same rows keep their place and selection."""
        cells = report.cells if report is not None else ()
        winners = report.winners if report is not None else ()
        same = sweep is self._sweep and len(cells) == len(self._cells)
        if not same:
            self.beginResetModel()
        self._sweep, self._cells = sweep, cells
        self._recommended = recommended_configurations(winners)
        variants = sweep.variants if sweep is not None else ()
        self._titles = {variant.id: variant.title for variant in variants}
        if not same:
            self._rows = list(range(len(cells)))
            self.endResetModel()
        elif cells:
            last = self.index(len(cells) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
        if self._sorted is not None:
            self.sort(*self._sorted)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order the rows by a column, those without a figure last; -1 is the plan's order.

        A proxy would ask for a thousand cells some ten times each.
        """
        self._sorted = column, order
        falling = order == Qt.SortOrder.DescendingOrder
        places = range(len(self._cells))
        if column < 0:
            rows = list(places)
        else:
            number = self._columns[column].number
            values = [number(cell) for cell in self._cells]
            known = [place for place in places if values[place] is not None]
            known.sort(key=lambda place: values[place], reverse=falling)  # type: ignore[arg-type,return-value]
            rows = [*known, *(place for place in places if values[place] is None)]
        if rows == self._rows:
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        row_of = {place: row for row, place in enumerate(rows)}
        after = [self.index(row_of[self._rows[each.row()]], each.column()) for each in before]
        self._rows = rows
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def row_of(self, cell: SweepCell) -> int:
        """The row of a cell's configuration, -1 without one."""
        wanted = cell.configuration
        rows = (row for row, place in enumerate(self._rows)
                if self._cells[place].configuration == wanted)  # fmt: skip
        return next(rows, -1)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        """See QAbstractTableModel."""
        return 0 if parent.isValid() else len(self._cells)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractTableModel."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The captions of the columns."""
        across = orientation == Qt.Orientation.Horizontal
        if across and role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].name
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, number and alignment of a cell."""
        if not index.isValid():
            return None
        cell = self._cells[self._rows[index.row()]]
        column = self._columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(cell)
            case Qt.ItemDataRole.ToolTipRole:
                return cell.why_not or column.text(cell)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _NUMBERS if column.numeric else None
            case _ if role == CELL_ROLE:
                return cell
            case _:
                return None

    def _title(self, variant: str) -> str:
        return self._titles.get(variant, variant)

    def _device(self, place: int) -> str:
        return device_label(self._sweep.devices[place]) if self._sweep is not None else ""

    def _state_text(self, cell: SweepCell) -> str:
        if cell.configuration in self._recommended:
            return "★ recommended"
        if cell.best:
            return "□ among the best"
        if cell.passed_over:
            return "not tried"
        return "slower" if cell.state == "dropped" and cell.final else cell.state


def _figure(metric: Metric) -> _Column:
    def text(cell: SweepCell) -> str:
        value = metric.compute(cell)
        return "" if value is None else metric.text(value)

    return _Column(metric.name, text, metric.compute)
