"""How much room columns need, and how many rows are looked at for that."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QTableView

from gemmviz.views.column_room import needed

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class Rows(QAbstractTableModel):
    """Many rows of one column, the last with a long text; notes which are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[int] = set()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else 5000

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        self.asked.add(index.row())
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return "a long text that needs room" if index.row() == 4999 else "x"


def test_only_rows_in_sight_are_measured_of_a_table_that_is_hidden_too(qtbot):
    model, table = Rows(), QTableView()
    qtbot.addWidget(table)
    table.setModel(model)
    table.resize(300, 200)
    hidden = needed(table, 0)
    assert 0 < len(model.asked) < 50
    table.show()
    assert needed(table, 0) == hidden
    table.scrollToBottom()
    assert needed(table, 0) > hidden
