"""A combo box whose impossible choices are greyed and say why."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal, Slot
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gemmviz.app.setup import Option

TRAIL_ROLE = Qt.ItemDataRole.UserRole + 1
"""Text that stands behind an item in the open list only."""
_WIDEST_LIST = 760
_ROW_SPACE = 6
ARROW_PIXELS = 42
"""Of a closed box beside its text."""


class TrailDelegate(QStyledItemDelegate):
    """Writes an item's trail behind its text."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """See QStyledItemDelegate."""
        super().initStyleOption(option, index)
        trail = index.data(TRAIL_ROLE)
        if trail:
            option.text = f"{option.text}   –   {trail}"

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """A row with room around its text."""
        hint = super().sizeHint(option, index)
        return QSize(hint.width(), hint.height() + _ROW_SPACE)


class OptionCombo(QComboBox):
    """Shows Options; ``option_chosen`` carries the value that a person picked.

    An option with a reason is disabled; the reason stands beside it in the list and in its tip.
    """

    option_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._options: tuple[Option, ...] = ()
        self._items = QStandardItemModel(self)
        self._tip = ""
        self.setModel(self._items)
        self.setItemDelegate(TrailDelegate(self))
        self.activated.connect(self._on_activated)

    def set_tip(self, tip: str) -> None:
        """What the box is for, said where the choice itself needs no remark."""
        self._tip = tip
        self.setToolTip(tip)

    def set_options(self, options: Sequence[Option], chosen: object) -> None:
        """Show ``options`` and the one whose value is ``chosen``."""
        if tuple(options) != self._options:
            self._options = tuple(options)
            self._items.clear()
            for option in options:
                self._items.appendRow(_item(option))
            widen_list(self)
            widest = max((self.fontMetrics().horizontalAdvance(o.text) for o in options), default=0)
            self.setFixedWidth(widest + ARROW_PIXELS)
        for row, option in enumerate(self._options):
            if option.value == chosen:
                self.setCurrentIndex(row)
                self.setToolTip(option.reason or self._tip)
                return

    @Slot(int)
    def _on_activated(self, row: int) -> None:
        self.option_chosen.emit(self._options[row].value)


def widen_list(combo: QComboBox) -> None:
    """Give the open list room for the trails, which are longer than the closed box."""
    metrics, widest = combo.fontMetrics(), 0
    for row in range(combo.count()):
        trail = combo.itemData(row, TRAIL_ROLE)
        text = combo.itemText(row) + (f"   –   {trail}" if trail else "")
        widest = max(widest, metrics.horizontalAdvance(text))
    combo.view().setMinimumWidth(min(widest + 40, _WIDEST_LIST))


def _item(option: Option) -> QStandardItem:
    item = QStandardItem(option.text)
    if option.reason:
        item.setData(option.reason, TRAIL_ROLE)
        item.setToolTip(option.reason)
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
    return item
