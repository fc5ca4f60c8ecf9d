"""The properties of the selected device: to filter, to read and to copy."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.property_table import FILTER_ROLE, PropertyTableModel
from gemmviz.app.readings import badges, device_facts
from gemmviz.app.state import AppState
from gemmviz.core.measurement_words import timer_text
from gemmviz.views.delegates import PropertyDelegate
from gemmviz.views.roles import BADGE_STATES, ElidedLabel, label, set_role
from gemmviz.views.theme import Theme, icon

_TOPICS = {"local": "Local memory", "clock": "Clock", "type": "Type"}
_TIMER_TIP = (
    "Measured with an empty kernel: the smallest step between two timestamps, what the driver says "
    "of it, the host's time for one of many launches, and the time from enqueueing one launch to "
    "knowing that it ended."
)
_ROW_PIXELS = 24
_NAME_SHARE = 0.6
_DETAIL_LINE_PIXELS = 14


class PropertyTable(QTableView):
    """The names take what they need, though never so much that the values have no room."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width anew."""
        super().resizeEvent(event)
        self.fit_names()

    def fit_names(self) -> None:
        """Give the names their width, or their share of a narrow table."""
        most = round(_NAME_SHARE * self.viewport().width())
        self.horizontalHeader().resizeSection(0, min(self.sizeHintForColumn(0) + 6, most))


class PropertyPanel(QWidget):
    """Name, badges and every query of the device; Ctrl+C copies the selected rows.

    What the table has no room for stands below it, of the current row.
    """

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.title = ElidedLabel("", "heading")
        self.facts = label("", "note", wrap=True)
        self.timer = label("", "note", wrap=True)
        self.timer.setToolTip(_TIMER_TIP)
        self.reason = label("", wrap=True)
        set_role(self.reason, "state", "bad")
        self._badges = QVBoxLayout()
        self._badges.setSpacing(2)
        self.filter = QLineEdit(placeholderText="Filter properties", clearButtonEnabled=True)
        self.copy_all = QToolButton()
        self.copy_all.setToolTip("Copy all properties")
        self.copy_all.setAccessibleName("Copy all properties")
        self.filter.setAccessibleName("Filter properties")
        self.copy_all.clicked.connect(self._on_copy_all_clicked)
        self.model = PropertyTableModel(self)
        self.proxy = QSortFilterProxyModel(self)
        self.proxy.setSourceModel(self.model)
        self.proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.proxy.setFilterRole(FILTER_ROLE)
        self.filter.textChanged.connect(self.proxy.setFilterFixedString)
        self.table = PropertyTable()
        self.delegate = PropertyDelegate(self)
        self._set_up_table()
        self.detail = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        self.detail.setAccessibleName("The chosen property in full")
        self.detail.setProperty("role", "detail")
        self.detail.setMinimumHeight(2 * _DETAIL_LINE_PIXELS + 12)
        self.detail.setMaximumHeight(4 * _DETAIL_LINE_PIXELS + 12)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.table)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self._on_copy_activated)
        self._lay_out()
        state.device_selected.connect(self._on_device_selected)
        state.timer_measured.connect(self._show_timer)
        self._on_device_selected()

    def _set_up_table(self) -> None:
        table = self.table
        table.setModel(self.proxy)
        table.setItemDelegate(self.delegate)
        table.setShowGrid(False)
        table.setAccessibleName("Properties of the device")
        table.setTabKeyNavigation(False)
        table.setMinimumHeight(60)
        table.setWordWrap(False)
        table.setAlternatingRowColors(True)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTextElideMode(Qt.TextElideMode.ElideRight)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(_ROW_PIXELS)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        table.selectionModel().currentRowChanged.connect(self._on_current_changed)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        column.addWidget(self.timer)
        column.addWidget(self.reason)
        column.addLayout(self._badges)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.filter, 1)
        row.addWidget(self.copy_all)
        column.addLayout(row)
        column.addWidget(self.table, 1)
        column.addWidget(self.detail)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.delegate.set_theme(theme)
        self.copy_all.setIcon(icon("copy", theme))
        self.table.viewport().update()

    @Slot()
    def _on_device_selected(self) -> None:
        device, limits = self._state.device, self._state.limits
        self.model.set_device(device, limits)
        self.table.fit_names()
        self.table.setCurrentIndex(self.proxy.index(0, 0))
        self.title.setText(device.name if device is not None else "No device selected")
        self.facts.setText(device_facts(device) if device is not None else "")
        self._show_timer()
        unavailable = device.unavailable if device is not None else None
        self.reason.setText(f"✗ Cannot run: {unavailable}" if unavailable else "")
        self.reason.setVisible(bool(unavailable))
        while (item := self._badges.takeAt(0)) is not None:
            if (line := item.widget()) is not None:
                line.hide()
                line.deleteLater()
        found = badges(device, limits) if device is not None else {}
        for topic, name in _TOPICS.items():
            badge = found.get(topic)
            if badge is None:
                continue
            line = ElidedLabel(f"{name}: {badge.text}", "note")
            set_role(line, "state", BADGE_STATES[badge.meaning])
            line.setToolTip(badge.why)
            self._badges.addWidget(line)

    @Slot()
    def _show_timer(self) -> None:
        timer = self._state.timer
        text = (
            timer_text(timer) if timer is not None else "timer not measured yet: the first run does"
        )
        self.timer.setText(text[:1].upper() + text[1:])
        self.timer.setVisible(self._state.device is not None)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        row = self.proxy.mapToSource(current).row()
        self.detail.setPlainText(self.model.detail(row) if row >= 0 else "")

    @Slot()
    def _on_copy_activated(self) -> None:
        rows = {self.proxy.mapToSource(index).row() for index in self.table.selectedIndexes()}
        self._copy(sorted(rows))

    @Slot()
    def _on_copy_all_clicked(self) -> None:
        self._copy(range(self.model.rowCount()))

    def _copy(self, rows: list[int] | range) -> None:
        QGuiApplication.clipboard().setText("\n".join(self.model.line(row) for row in rows))
