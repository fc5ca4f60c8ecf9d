"""The saved results: found, annotated, shown again, measured again, compared and deleted."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QMessageBox, QStackedLayout, QVBoxLayout, QWidget

from gemmviz.app.history_table import HistoryModel
from gemmviz.app.runs import Run
from gemmviz.app.starts import is_known
from gemmviz.app.state import AppState
from gemmviz.app.tips import plain_tip
from gemmviz.core.changes import Changes
from gemmviz.core.model import Variant
from gemmviz.core.store import Filter, StoreError
from gemmviz.views.changes_dialog import ChangesDialog
from gemmviz.views.details_dialog import DetailsDialog
from gemmviz.views.history_filters import HistoryFilters
from gemmviz.views.history_table import HistoryTable
from gemmviz.views.roles import ElidedLabel
from gemmviz.views.theme import DARK, Theme
from gemmviz.views.tool_row import ToolRow

_MOST_SHOWN = 40
_STRANGE = (
    "What this file holds is none of the kernels here, or is built with options of its own. "
    "Measuring it again runs that source on your device."
)


class HistoryPanel(QWidget):
    """The table of saved results below its filters; ``tools`` stand above it, see ResultsPanel.

    ``told`` is a remark for the status bar.
    """

    told = Signal(str)

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state, self._archive = state, state.archive
        self._theme = DARK
        self._stale = True
        self.model = HistoryModel(state.archive, self)
        self.table = HistoryTable(self.model)
        self.title = ElidedLabel("", "note")
        self.tools = ToolRow(self.title)
        self.show_again = self.tools.add_button("page", "", "Show")
        self.again = self.tools.add_button("refresh", "", "Run again")
        self.changes = self.tools.add_button("versus", "", "What changed")
        self.details = self.tools.add_button("info", "Everything that was saved with it (I)")
        self.delete = self.tools.add_button("cross", "")
        self.undo = self.tools.add_button("undo", "")
        self.filters = HistoryFilters()
        self.empty = QLabel()
        self.empty.setProperty("role", "caption")
        self.empty.setTextFormat(Qt.TextFormat.PlainText)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self._lay_out()
        self._connect()
        self._show_tools()

    def _lay_out(self) -> None:
        pages = QWidget()
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.table)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.filters)
        column.addWidget(pages, 1)

    def _connect(self) -> None:
        archive, table = self._archive, self.table
        archive.opened.connect(self._on_opened)
        archive.changed.connect(self._on_changed)
        archive.trouble_changed.connect(self._show_tools)
        archive.reader.busy_changed.connect(self._on_busy_changed)
        archive.run_read.connect(self._on_run_read)
        archive.changes_read.connect(self._on_changes_read)
        archive.told.connect(self.told)
        self.model.refreshed.connect(self._on_refreshed)
        self.filters.changed.connect(self._on_filter_changed)
        table.selectionModel().selectionChanged.connect(self._show_tools)
        table.activated.connect(self._on_activated)
        for button, action in (
            (self.show_again, table.show_again), (self.again, table.again),
            (self.changes, table.changes), (self.details, table.details),
            (self.delete, table.delete), (self.undo, table.undo),
        ):  # fmt: skip
            button.clicked.connect(action.trigger)
        table.show_again.triggered.connect(self._on_show)
        table.again.triggered.connect(self._on_again)
        table.changes.triggered.connect(self._on_changes)
        table.details.triggered.connect(self._on_details)
        table.delete.triggered.connect(self._on_delete)
        table.undo.triggered.connect(self._on_undo)
        self._state.devices_listed.connect(self._show_tools)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self._theme = theme
        self.table.delegate.set_theme(theme)
        self.tools.set_theme(theme)
        self.table.viewport().update()

    def showEvent(self, event: QShowEvent) -> None:
        """What was saved while nobody looked is shown now."""
        super().showEvent(event)
        self.catch_up()

    def catch_up(self) -> None:
        """Look at the file, if it has changed since the last time."""
        if self._stale:
            self._stale = False
            self._fill_filters()
            self._on_filter_changed()

    @Slot()
    def _on_opened(self) -> None:
        self.filters.clear()
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        self._stale = True
        # Drawing must not disturb a quiet measurement; the file changes once more at its end.
        if self.isVisible() and not self._state.quiet:
            self.catch_up()

    @Slot()
    def _on_busy_changed(self) -> None:
        self._show_empty()
        self._show_tools()

    def _fill_filters(self) -> None:
        store = self._archive.store
        if store is None:
            return
        try:
            self.filters.fill(store.choices())
        except StoreError as error:
            self.told.emit(str(error))

    @Slot()
    def _on_filter_changed(self) -> None:
        self.table.keep_selection(lambda: self.model.choose(self.filters.wanted))

    @Slot()
    def _on_refreshed(self) -> None:
        self._pages.setCurrentIndex(1 if self.model.ids else 0)
        self._show_empty()
        self._show_tools()

    def _show_empty(self) -> None:
        """Say why no row is there."""
        model, archive = self.model, self._archive
        if archive.store is None:
            words = archive.reader.busy or archive.trouble or "No results file is open."
        elif model.problem:
            words = model.problem
        elif self.filters.wanted != Filter():
            words = "No saved result is like that: change the search or the filters."
        else:
            words = archive.trouble or archive.remark
            words = words or "Everything that is measured is kept here, in this results file."
        self.empty.setText(words)

    @Slot()
    def _show_tools(self) -> None:
        """The buttons as they can be used, and what is in the file."""
        archive, chosen = self._archive, self.table.chosen_ids()
        count, name = len(self.model.ids), archive.path.name if archive.path is not None else ""
        results = f"{count:,} result{'s' * (count != 1)} in {name}" if name else "No file"
        some = f", {len(chosen):,} selected" if len(chosen) > 1 else ""
        self.title.setText(archive.reader.busy or f"{results}{some}")
        if archive.path is not None:
            tip = "\n".join(filter(None, (str(archive.path), archive.remark, archive.trouble)))
            self.title.setToolTip(plain_tip(tip))
        undoable = archive.edits.undoable
        states = (
            (self.show_again, self.table.show_again, 1 <= len(chosen) <= _MOST_SHOWN,
             "Draw the selected results again, without measuring (Enter)"),
            (self.again, self.table.again, len(chosen) == 1,
             "Measure the selected result's job once more"),
            (self.changes, self.table.changes, len(chosen) == 2,
             "Select two results to see what is different between them"),
            (self.details, self.table.details, len(chosen) == 1, self.details.toolTip()),
            (self.delete, self.table.delete, bool(chosen) and archive.writable,
             "Delete the selected results (Del)"),
            (self.undo, self.table.undo, undoable > 0,
             f"Bring the last {undoable:,} deleted back (Ctrl+Z), until this window is closed or "
             "another file opened" if undoable
             else "Nothing was deleted since this file was opened"),
        )  # fmt: skip
        for button, action, possible, tip in states:
            button.setEnabled(possible)
            action.setEnabled(possible)
            button.setToolTip(tip)

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        if not self.model.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self._on_show()

    @Slot()
    def _on_show(self) -> None:
        problem = self._archive.show_saved(self.table.chosen_ids()[:_MOST_SHOWN])
        if problem:
            self.told.emit(problem)

    @Slot()
    def _on_again(self) -> None:
        store, chosen = self._archive.store, self.table.chosen_ids()
        if store is None or not chosen:
            return
        try:
            job = store.result(chosen[0], samples=False).job
        except StoreError as error:
            self.told.emit(str(error))
            return
        if not is_known(job, self._state.catalog) and not self._agrees(job.variant):
            return
        problem = self._state.run_again(job)
        self.told.emit(problem or f"{job.variant.title} is queued once more")

    def _agrees(self, variant: Variant) -> bool:
        answer = QMessageBox.question(
            self, f"Run the saved source of {variant.id[:60]}?", _STRANGE,
            QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.Cancel,
            QMessageBox.StandardButton.Cancel,
        )  # fmt: skip
        return answer == QMessageBox.StandardButton.Yes

    @Slot()
    def _on_changes(self) -> None:
        chosen = sorted(self.table.chosen_ids())
        if len(chosen) == 2:
            self._archive.read(chosen, "changes")

    @Slot(object, object)
    def _on_changes_read(self, numbers: tuple[int, ...], changes: Changes) -> None:
        first, other = (f"result {number}" for number in numbers)
        dialog = ChangesDialog((first, other), changes, self._theme, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    @Slot()
    def _on_details(self) -> None:
        chosen = self.table.chosen_ids()
        if chosen:
            self._archive.read(chosen[:1], "details")

    @Slot(object)
    def _on_run_read(self, run: Run) -> None:
        DetailsDialog(run, self.window()).open()

    @Slot()
    def _on_delete(self) -> None:
        chosen = self.table.chosen_ids()
        if chosen and self._archive.writable:
            self._archive.edits.delete(chosen)
            count = f"{len(chosen):,} result{'s' * (len(chosen) != 1)}"
            how = "until this window is closed, Ctrl+Z brings back what was deleted last"
            self.told.emit(f"Deleted {count}; {how}")
            self._show_tools()

    @Slot()
    def _on_undo(self) -> None:
        self._archive.edits.undo()
        self._show_tools()
