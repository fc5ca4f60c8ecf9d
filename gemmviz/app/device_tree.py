"""The item model of platforms and their devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Slot

from gemmviz.app.readings import badges, device_tip
from gemmviz.app.state import AppState
from gemmviz.core.labels import platform_label
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Platform
from gemmviz.core.units import memory

KIND_ROLE = Qt.ItemDataRole.UserRole + 1
"""What an item is: "platform", "note", or the type of a device."""
DEVICE_ROLE = Qt.ItemDataRole.UserRole + 2
"""The Device of an item, or None."""
FAINT_ROLE = Qt.ItemDataRole.UserRole + 3
"""Whether an item is drawn faint: a device that cannot run, a platform without devices."""

Index = QModelIndex | QPersistentModelIndex
_HEADERS = ("Device", "Local", "CUs")
_HEADER_TIPS = (
    "Platforms and their devices; tick several to queue a run on each",
    "Local memory of one work-group as the driver says; see the badges below for what it means",
    "Compute units",
)


@dataclass(frozen=True, slots=True)
class _Node:
    """A line below a platform: a device, or the note why there is none."""

    device: Device | None = None
    note: str = ""


class DeviceTreeModel(QAbstractItemModel):
    """Platforms at the top, below each its devices, or one line saying why it has none."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._state = state
        self._platforms: tuple[Platform, ...] = ()
        self._children: list[list[_Node]] = []
        state.devices_listed.connect(self._on_devices_listed)
        state.devices_ticked.connect(self._on_devices_ticked)
        self._on_devices_listed()

    def index_of(self, device: Device) -> QModelIndex:
        """Where a device is, or an invalid index."""
        for row, nodes in enumerate(self._children):
            for child, node in enumerate(nodes):
                if node.device == device:
                    return self.index(child, 0, self.index(row, 0))
        return QModelIndex()

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """See QAbstractItemModel."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        # The id of a platform's index is 0, that of a device's one more than its platform's row.
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, child: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """See QAbstractItemModel."""
        if not child.isValid() or child.internalId() == 0:
            return QModelIndex()
        return self.createIndex(child.internalId() - 1, 0, 0)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        if not parent.isValid():
            return len(self._platforms)
        is_platform = parent.internalId() == 0 and parent.column() == 0
        return len(self._children[parent.row()]) if is_platform else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: ARG002, B008
        """See QAbstractItemModel."""
        return len(_HEADERS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """See QAbstractItemModel."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(_HEADERS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADERS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _HEADER_TIPS[section]
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """See QAbstractItemModel."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled
        device = self._node(index).device
        if device is not None:
            flags |= Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
            if index.column() == 0 and device.unavailable is None:
                flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """See QAbstractItemModel."""
        if not index.isValid():
            return None
        if index.internalId() == 0:
            return self._platform_data(self._platforms[index.row()], index.column(), role)
        node = self._node(index)
        if node.device is not None:
            return self._device_data(node.device, index.column(), role)
        return _note_data(node.note, index.column(), role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ticks a device."""
        device = self._node(index).device if index.isValid() else None
        if (
            device is None
            or device.unavailable is not None
            or role != Qt.ItemDataRole.CheckStateRole
            or index.column() != 0
        ):
            return False
        self._state.tick_device(device.key, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def _node(self, index: Index) -> _Node:
        platform = index.internalId() - 1
        return self._children[platform][index.row()] if platform >= 0 else _Node()

    def _platform_data(self, platform: Platform, column: int, role: int) -> Any:
        if column != 0:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return platform_label(platform.name, platform.version)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{platform.name}\n{platform.version}\n{platform.vendor}"
        return "platform" if role == KIND_ROLE else None

    def _device_data(self, device: Device, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(device, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            limits = limits_for(device)
            found = badges(device, limits)
            tip = device_tip(device, limits)
            return f"{tip}\n\n{found['local'].why}" if column == 1 and "local" in found else tip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.CheckStateRole and column == 0 and device.unavailable is None:
            ticked = device.key in self._state.ticked
            return Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
        values = {KIND_ROLE: device.type, DEVICE_ROLE: device,
                  FAINT_ROLE: device.unavailable is not None}  # fmt: skip
        return values.get(role)

    @Slot()
    def _on_devices_listed(self) -> None:
        listing = self._state.listing
        platforms = listing.platforms if listing is not None else ()
        if platforms == self._platforms:
            return
        self.beginResetModel()
        self._platforms = platforms
        self._children = [
            [_Node(device) for device in platform.devices]
            or [_Node(note=f"No device: {platform.problem or 'it offers none'}")]
            for platform in platforms
        ]
        self.endResetModel()

    @Slot()
    def _on_devices_ticked(self) -> None:
        for row, nodes in enumerate(self._children):
            parent = self.index(row, 0)
            first, last = self.index(0, 0, parent), self.index(len(nodes) - 1, 0, parent)
            self.dataChanged.emit(first, last, [Qt.ItemDataRole.CheckStateRole])


def _note_data(note: str, column: int, role: int) -> Any:
    if column != 0:
        return None
    values = {Qt.ItemDataRole.DisplayRole: note, Qt.ItemDataRole.ToolTipRole: note,
              KIND_ROLE: "note", FAINT_ROLE: True}  # fmt: skip
    return values.get(role)


def _cell(device: Device, column: int) -> str:
    if column == 0:
        return device.name
    value = device.local_mem_bytes if column == 1 else device.compute_units
    if value is None:
        return "–"
    return memory(value) if column == 1 else str(value)


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
    return int(side | Qt.AlignmentFlag.AlignVCenter)
