"""The table of saved results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QItemSelectionRange, Qt, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView

from gemmviz.app.history_table import NOTE, SAMPLES, TAGS, TIME, HistoryModel
from gemmviz.views.column_room import Room, RoomyTable
from gemmviz.views.delegates import ResultDelegate

_ROW_PIXELS = 26
_WIDTHS = (94, 104, 100, 106, 84, 64, 102, 84, 56, 64, 58)
_PARAMETERS, _PARAMETER_PIXELS = 2, 100
_GROWING = ((4, 84), (1, 104), (3, 106))  # problem, kernel, device
_FROM_LEFT = (0, 1, _PARAMETERS, 4, 6, 7, SAMPLES, 3, 5, TAGS, NOTE)
"""The columns as they stand: what tells results apart comes before what scrolls out of sight."""
_TOLD_APART = sum(_WIDTHS[column] for column in (0, 1, 4, 6, 7, NOTE))
"""Pixels of the columns that come first, but for the parameters."""
_ROOM = Room((_PARAMETERS, _PARAMETER_PIXELS), _TOLD_APART, _GROWING, _WIDTHS[NOTE])
_MOST_COPIED = 10_000


class HistoryTable(RoomyTable):
    """Rows to select, sort, annotate and copy; its actions are those of its menu."""

    def __init__(self, model: HistoryModel) -> None:
        super().__init__(model, _ROOM)
        self._model = model
        self.delegate = ResultDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName("Saved results")
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.sortByColumn(TIME, Qt.SortOrder.DescendingOrder)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.verticalHeader().hide()
        # All rows are alike high: then Qt need not ask a hundred thousand of them.
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(_ROW_PIXELS)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        for column, width in enumerate(_WIDTHS):
            header.resizeSection(column, width)
        for place, column in enumerate(_FROM_LEFT):
            header.moveSection(header.visualIndex(column), place)
        self.show_again = self._action("&Show its samples", None)
        self.again = self._action("&Run again", None)
        self.changes = self._action("&What changed...", None)
        self.details = self._action("&Details...", "I")
        self.copy = self._action("&Copy", QKeySequence.StandardKey.Copy)
        self.delete = self._action("D&elete", QKeySequence.StandardKey.Delete)
        self.undo = self._action("&Undo delete", QKeySequence.StandardKey.Undo)
        self.copy.triggered.connect(self._on_copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _action(self, text: str, keys: str | QKeySequence.StandardKey | None) -> QAction:
        action = QAction(text, self)
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.addAction(action)
        return action

    def chosen_ids(self) -> list[int]:
        """The ids of the selected results, the current one first."""
        rows, current, ids = self._chosen_rows(), self.currentIndex().row(), self._model.ids
        if current in rows:
            rows = [current, *(row for row in rows if row != current)]
        return [ids[row] for row in rows if row < len(ids)]

    def _chosen_rows(self) -> list[int]:
        """The selected rows from the top; by ranges, since an index each takes long for many."""
        selection = cast("Iterable[QItemSelectionRange]", self.selectionModel().selection())
        return sorted({row for each in selection for row in range(each.top(), each.bottom() + 1)})

    def keep_selection(self, change: Callable[[], None]) -> None:
        """Make a change of the rows; what is still there stays selected."""
        chosen = self.chosen_ids()
        change()
        if not chosen or self.chosen_ids() == chosen:
            return
        places = {number: place for place, number in enumerate(self._model.ids)}
        selection = QItemSelection()
        for number in chosen:
            if number in places:
                index = self._model.index(places[number], 0)
                selection.select(index, index)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        if not selection.isEmpty():
            self.selectionModel().setCurrentIndex(selection.indexes()[0], flags.NoUpdate)

    @Slot()
    def _on_copy(self) -> None:
        rows = self._chosen_rows()
        columns = range(self._model.columnCount())
        head = [str(self._model.headerData(each, Qt.Orientation.Horizontal)) for each in columns]
        lines = ["\t".join(head)]
        for row in rows[:_MOST_COPIED]:
            cells = (self._model.data(self._model.index(row, column)) for column in columns)
            lines.append("\t".join(" ".join(str(cell).split()) for cell in cells))
        QGuiApplication.clipboard().setText("\n".join(lines))
