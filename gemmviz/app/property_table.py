"""The item model of one device's properties."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gemmviz.app.readings import badges, property_badge, raw
from gemmviz.app.setup import Badge
from gemmviz.core.device_facts import property_title, readable
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Property

BADGE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The Badge of a row, or None."""
REFUSED_ROLE = Qt.ItemDataRole.UserRole + 2
"""Whether the driver refused the query of a row."""
FILTER_ROLE = Qt.ItemDataRole.UserRole + 3
"""All that a row can be found by: its name both ways and its value."""

Index = QModelIndex | QPersistentModelIndex
_HEADERS = ("Property", "Value")


class PropertyTableModel(QAbstractTableModel):
    """Name and value of every query; a refused one is a dash with the reason.

    Names are shown as words; ``line`` and ``detail`` have them as OpenCL writes them.
    """

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
        exact = f"{raw(entry)} {entry.unit}" if raw(entry) else ""
        return "\t".join(part for part in (entry.name, _readable(entry), exact) if part)

    def detail(self, row: int) -> str:
        """All there is to say of a row: name, value and raw value, and what its badge means."""
        badge = property_badge(self._entries[row], self._badges)
        text = self.line(row).replace("\t", "\n", 1).replace("\t", "  =  ")
        return f"{text}\n{badge.text}: {badge.why}" if badge is not None else text

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
        if role == Qt.ItemDataRole.DisplayRole:
            return property_title(entry) if index.column() == 0 else _value(entry)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.detail(index.row())
        if role == BADGE_ROLE:
            return property_badge(entry, self._badges) if index.column() == 1 else None
        if role == FILTER_ROLE:
            return f"{property_title(entry)}\n{self.line(index.row())}"
        return entry.value is None if role == REFUSED_ROLE else None


def _readable(entry: Property) -> str:
    """The readable value, or why there is none."""
    return f"– ({entry.reason})" if entry.value is None else readable(entry)


def _value(entry: Property) -> str:
    """The readable value, and the raw one behind it where that says more."""
    exact = raw(entry)
    return f"{readable(entry)}  ({exact})" if exact else _readable(entry)
