"""The item model of one device's properties."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gemmviz.app.readings import badges, property_badge, raw, readable
from gemmviz.app.setup import Badge
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Property

BADGE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The Badge of a row, or None."""
REFUSED_ROLE = Qt.ItemDataRole.UserRole + 2
"""Whether the driver refused the query of a row."""

Index = QModelIndex | QPersistentModelIndex
_HEADERS = ("Property", "Value")


class PropertyTableModel(QAbstractTableModel):
    """Name and value of every query, raw value included; a refused one is a dash with a reason."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[Property, ...] = ()
        self._badges: dict[str, Badge] = {}

    def set_device(self, device: Device | None, limits: Limits | None) -> None:
        """Show another device, or none."""
        self.beginResetModel()
        self._entries = device.properties if device is not None else ()
        self._badges = badges(device, limits) if device is not None else {}
        self.endResetModel()

    def line(self, row: int) -> str:
        """A row as text to copy: name, value and raw value, with tabs between."""
        entry = self._entries[row]
        value = f"– ({entry.reason})" if entry.value is None else readable(entry)
        exact = f"{raw(entry)} {entry.unit}" if raw(entry) else ""
        return "\t".join(part for part in (entry.name, value, exact) if part)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """See QAbstractItemModel."""
        horizontal = orientation == Qt.Orientation.Horizontal
        if role == Qt.ItemDataRole.DisplayRole and horizontal and 0 <= section < len(_HEADERS):
            return _HEADERS[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """See QAbstractItemModel."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        badge = property_badge(entry.name, self._badges)
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.name if index.column() == 0 else _value(entry)
        if role == Qt.ItemDataRole.ToolTipRole:
            parts = [self.line(index.row()).replace("\t", "  ·  "), badge.why if badge else ""]
            return "\n\n".join(part for part in parts if part)
        if role == BADGE_ROLE:
            return badge if index.column() == 1 else None
        return entry.value is None if role == REFUSED_ROLE else None


def _value(entry: Property) -> str:
    """The readable value, and the raw one behind it where that says more."""
    exact = raw(entry)
    return f"{readable(entry)}  ({exact})" if exact else readable(entry)
