"""The tree of devices, and below it the properties of the selected one."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.device_tree import DEVICE_ROLE, DeviceTreeModel
from gemmviz.app.state import AppState
from gemmviz.views.delegates import DeviceDelegate
from gemmviz.views.no_device import NoDevicePanel
from gemmviz.views.property_panel import PropertyPanel
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import Theme, icon

_NUMBER_WIDTHS = {1: 60, 2: 46}
_ROOM_FOR_UNITS = 250


class DevicePanel(QWidget):
    """What there is to run on; where there is nothing, how to get something."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.setMinimumWidth(226)
        self.model = DeviceTreeModel(state)
        self.tree = QTreeView()
        self.tree.setModel(self.model)
        self.delegate = DeviceDelegate(self)
        self.tree.setItemDelegate(self.delegate)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(10)
        self.tree.setRootIsDecorated(False)
        self.tree.setItemsExpandable(False)
        self.tree.setMinimumHeight(70)
        self.tree.setAccessibleName("Devices")
        self.tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._size_columns()
        self.refresh = QToolButton()
        self.refresh.setProperty("role", "quiet")
        self.refresh.setToolTip("Ask the drivers again (F5)")
        self.refresh.setAccessibleName("Ask the drivers again")
        self.refresh.clicked.connect(state.list_devices)
        self.status = ElidedLabel("", "note")
        self.properties = PropertyPanel(state)
        self.none = NoDevicePanel()
        self._pages = QStackedWidget()
        self._lay_out()
        state.devices_listed.connect(self._on_devices_listed)
        state.devices_ticked.connect(self._show_status)
        state.device_selected.connect(self._on_device_selected)
        self.model.modelReset.connect(self._on_model_reset)
        self.tree.selectionModel().currentChanged.connect(self._on_current_changed)
        self._on_model_reset()
        self._on_devices_listed()

    def _size_columns(self) -> None:
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, width in _NUMBER_WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, width)

    def _lay_out(self) -> None:
        top = QWidget()
        column = QVBoxLayout(top)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.tree, 1)
        row = QHBoxLayout()
        row.setContentsMargins(2, 0, 0, 0)
        row.addWidget(self.status, 1)
        row.addWidget(self.refresh)
        column.addLayout(row)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(top)
        splitter.addWidget(self.properties)
        splitter.setStretchFactor(0, 2)
        splitter.setStretchFactor(1, 3)
        splitter.setChildrenCollapsible(False)
        self._pages.addWidget(splitter)
        self._pages.addWidget(self.none)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(6, 0, 0, 6)
        outer.addWidget(self._pages)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the room to the names where there is little; the tips tell the compute units."""
        super().resizeEvent(event)
        self.tree.setColumnHidden(2, event.size().width() < _ROOM_FOR_UNITS)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.delegate.set_theme(theme)
        self.properties.set_theme(theme)
        self.refresh.setIcon(icon("refresh", theme))
        self.tree.viewport().update()

    @Slot()
    def _on_devices_listed(self) -> None:
        listing, asking = self._state.listing, self._state.listing_now
        nothing = listing is not None and not listing.platforms and not asking
        if nothing and listing is not None:
            self.none.show_listing(listing)
        self._pages.setCurrentIndex(1 if nothing else 0)
        self.refresh.setEnabled(not asking)
        self._show_status()

    @Slot()
    def _show_status(self) -> None:
        state = self._state
        if state.listing_now:
            text = "Asking the drivers..."
        elif len(state.ticked) > 1:
            text = f"{len(state.ticked)} ticked: Run queues on each"
        elif state.elsewhere:
            text = "1 ticked: Run goes there"
        else:
            text = "Tick several to run on each"
        self.status.setText(text)

    @Slot()
    def _on_model_reset(self) -> None:
        self.tree.expandAll()
        for row in range(self.model.rowCount()):
            parent = self.model.index(row, 0)
            self.tree.setFirstColumnSpanned(row, QModelIndex(), True)
            if self.model.index(0, 0, parent).data(DEVICE_ROLE) is None:
                self.tree.setFirstColumnSpanned(0, parent, True)
        self._on_device_selected()

    @Slot()
    def _on_device_selected(self) -> None:
        device = self._state.device
        if device is not None and self.tree.currentIndex().data(DEVICE_ROLE) != device:
            self.tree.setCurrentIndex(self.model.index_of(device))

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        device = current.siblingAtColumn(0).data(DEVICE_ROLE)
        if device is not None:
            self._state.select_device(device)
