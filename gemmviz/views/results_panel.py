"""The table of finished runs, with its tools."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSize, QSortFilterProxyModel, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.results_table import RUN_ROLE, SORT_ROLE, ResultsTableModel
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.views.column_room import Room, RoomyTable
from gemmviz.views.delegates import ResultDelegate
from gemmviz.views.details_dialog import DetailsDialog
from gemmviz.views.history_panel import HistoryPanel
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import Choice, ToolRow

_SESSION, _SAVED = "This session", "Saved"
_ROW_PIXELS = 26
_NARROWEST, _WORDS_FROM = 430, 720  # pixels
_WIDTHS = (140, 70, 96, 72, 52, 60, 98, 94, 62, 72, 68, 58)
_PARAMETERS, _PARAMETER_PIXELS = 1, 70
_GROWING = ((0, 120), (3, 72), (2, 96))  # kernel, sizes, device
_FROM_LEFT = (0, _PARAMETERS, 3, 5, 6, 7, 11, 8, 2, 4, 9, 10)
"""The columns as they stand: what tells runs apart comes before what scrolls out of sight."""
_TOLD_APART = 120 + 72 + 60 + 98 + 94 + 58 + 62
"""Pixels of the columns that come first, but for the parameters."""
_ROOM = Room((_PARAMETERS, _PARAMETER_PIXELS), _TOLD_APART, _GROWING, _WIDTHS[10])


class ResultsTable(RoomyTable):
    """Rows to tick, sort, copy and show; Enter or a double click shows the row's run.

    The key I and the menu of the right button tell everything that is recorded with it.
    """

    def __init__(self, state: AppState, model: ResultsTableModel) -> None:
        proxy = QSortFilterProxyModel()
        super().__init__(proxy, _ROOM)
        self._state, self._model, self.proxy = state, model, proxy
        self.proxy.setParent(self)
        self.proxy.setSourceModel(model)
        self.proxy.setSortRole(SORT_ROLE)
        self.delegate = ResultDelegate(self)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName("Finished runs")
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_PIXELS)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        for column, width in enumerate(_WIDTHS):
            header.resizeSection(column, width)
        for place, column in enumerate(_FROM_LEFT):
            header.moveSection(header.visualIndex(column), place)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self._on_copy_activated)
        self.activated.connect(self._on_activated)
        self.details = QAction("&Details...", self)
        self.details.setShortcut(QKeySequence("I"))
        self.details.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.details.triggered.connect(self.show_details)
        self.show_run = QAction("&Show its samples", self)
        self.show_run.triggered.connect(self._on_show_run)
        self.addActions([self.show_run, self.details])
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    @property
    def chosen(self) -> Run | None:
        """The run of the current row, else of the newest one."""
        index = self.currentIndex()
        if index.isValid():
            run = index.data(RUN_ROLE)
            return run if isinstance(run, Run) else None
        runs = self._state.book.runs
        return runs[-1] if runs else None

    @Slot()
    def show_details(self) -> None:
        """Tell everything that is recorded with the chosen run."""
        if self.chosen is not None:
            DetailsDialog(self.chosen, self.window()).open()

    @Slot()
    def _on_show_run(self) -> None:
        self._on_activated(self.currentIndex())

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        run = index.data(RUN_ROLE)
        if isinstance(run, Run):
            self._state.show(run)

    @Slot()
    def _on_copy_activated(self) -> None:
        selected = self.selectionModel().selectedRows()
        rows = sorted(self.proxy.mapToSource(index).row() for index in selected)
        lines = [self._model.header_line(), *(self._model.line(row) for row in rows)]
        QGuiApplication.clipboard().setText("\n".join(lines))


class ResultsPanel(QWidget):
    """The runs of this session or the saved results, each below its tools.

    ``told`` is a remark for the status bar.
    """

    told = Signal(str)

    def __init__(self, state: AppState, model: ResultsTableModel) -> None:
        super().__init__()
        self._state = state
        self.table = ResultsTable(state, model)
        self.title = ElidedLabel("", "note")
        self.tools = ToolRow(self.title)
        self.pin = self.tools.add_button(
            "pin", "Pin the selected row as the baseline (B)", "Baseline"
        )
        self.details = self.tools.add_button(
            "info", "Everything that is recorded with the selected row (I)", "Details"
        )
        self.export = self.tools.add_button(
            "export", "Export the table as CSV, JSON or T4", "Export"
        )
        self.clear = self.tools.add_button("cross", "Forget all results", "Clear")
        self.empty = QLabel(
            "Every finished run becomes a row here, to tick, compare and export. Saved has those "
            "of earlier sessions too."
        )
        self.empty.setProperty("role", "caption")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        pages = QWidget()
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.table)
        self.history = HistoryPanel(state)
        self.history.told.connect(self.told)
        self.switch = Choice((_SESSION, _SAVED), "Runs of this session, or all that are saved")
        self.switch.choice_made.connect(self.choose_page)
        self._tool_pages, self._bodies = QStackedLayout(), QStackedLayout()
        for tools, body in ((self.tools, pages), (self.history.tools, self.history)):
            self._tool_pages.addWidget(tools)
            self._bodies.addWidget(body)
        row = QHBoxLayout()
        row.setContentsMargins(6, 3, 0, 0)
        row.addWidget(self.switch)
        row.addLayout(self._tool_pages, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addLayout(row)
        column.addLayout(self._bodies, 1)
        self.pin.clicked.connect(self.pin_baseline)
        self.details.clicked.connect(self.table.show_details)
        for signal in (state.book.run_added, state.book.marks_changed, state.book.cleared):
            signal.connect(self._refresh)
        self._refresh()

    def minimumSizeHint(self) -> QSize:
        """Narrower than the words of all buttons: they are left out there."""
        return QSize(_NARROWEST, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the words of buttons out where there is no room for them."""
        super().resizeEvent(event)
        for tools in (self.tools, self.history.tools):
            tools.set_compact(event.size().width() < _WORDS_FROM)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.table.delegate.set_theme(theme)
        self.tools.set_theme(theme)
        self.history.set_theme(theme)
        self.table.viewport().update()

    @Slot(str)
    def choose_page(self, word: str) -> None:
        """Show "This session" or "Saved"."""
        self.switch.choose(word)
        for pages in (self._tool_pages, self._bodies):
            pages.setCurrentIndex(1 if word == _SAVED else 0)

    @Slot()
    def pin_baseline(self) -> None:
        """Measure the others against the selected row; again to end that."""
        if self._bodies.currentWidget() is self.history:
            self.told.emit("Only a run of this session is a baseline: show a saved one first")
            return
        if self.table.chosen is not None:
            self._state.book.pin_baseline(self.table.chosen)

    @Slot()
    def _refresh(self) -> None:
        book = self._state.book
        self._pages.setCurrentIndex(1 if book.runs else 0)
        for button in (self.pin, self.details, self.export, self.clear):
            button.setEnabled(bool(book.runs))
        base = f", speed-up against {book.baseline.label}" if book.baseline is not None else ""
        runs = f"{len(book.runs)} run{'s' * (len(book.runs) != 1)}"
        self.title.setText(
            f"{runs}, {len(book.ticked)} ticked{base}" if book.runs else "No run yet"
        )
