"""The actions on results files, and the words in the status bar that say where results go."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence, QPaintEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu, QMessageBox, QWidget

from gemmviz.app.archive import Archive
from gemmviz.app.tips import plain_tip
from gemmviz.core.paths import RESULTS_SUFFIX
from gemmviz.views.roles import set_role

_KIND = f"Results (*{RESULTS_SUFFIX})"


class ResultFiles(QObject):
    """New, Open, Save as and Recent, in the order of the menu."""

    def __init__(self, archive: Archive, parent: QObject) -> None:
        super().__init__(parent)
        self._archive = archive
        self.new = self._action("&New results file...", QKeySequence.StandardKey.New)
        self.open = self._action("Open &results...", "Ctrl+Shift+O")
        self.save_as = self._action("Save results &as...", QKeySequence.StandardKey.SaveAs)
        self.recent = QMenu("Rec&ent results")
        self.recent.setToolTipsVisible(True)
        self.new.triggered.connect(self._on_new)
        self.open.triggered.connect(self._on_open)
        self.save_as.triggered.connect(self._on_save_as)
        self.recent.aboutToShow.connect(self._on_recent_opened)
        self.recent.triggered.connect(self._on_recent_triggered)
        archive.opened.connect(self._show_state)
        archive.file_ended.connect(self._on_file_ended)
        self._asked: set[str] = set()
        self._show_state()

    def open_file(self, path: Path) -> None:
        """Open a results file; a dialog says why it cannot be, or why it is only read."""
        self._asked.add(str(path))
        self._archive.open(path)

    @Slot(str, str)
    def _on_file_ended(self, path: str, problem: str) -> None:
        if path not in self._asked:
            return  # nobody waits for it
        self._asked.remove(path)
        if problem:
            QMessageBox.warning(_window(), "This file was not opened", problem)
        elif self._archive.remark:
            QMessageBox.information(_window(), "Nothing is saved into this file",
                                    self._archive.remark)  # fmt: skip

    def _action(self, text: str, keys: str | QKeySequence.StandardKey) -> QAction:
        action = QAction(text, self)
        action.setAutoRepeat(False)
        action.setShortcut(QKeySequence(keys))
        return action

    @Slot()
    def _show_state(self) -> None:
        self.save_as.setEnabled(self._archive.path is not None)

    @Slot()
    def _on_new(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            _window(), "Keep results in a new file", "results.gemmviz", _KIND,
            options=QFileDialog.Option.DontConfirmOverwrite,
        )  # fmt: skip
        path = _named(name)
        if path is not None and path.exists():
            text = f"{path} is there already: open it, or choose another name."
            QMessageBox.warning(_window(), "There is such a file", text)
        elif path is not None:
            self.open_file(path)

    @Slot()
    def _on_open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(_window(), "Open results", "", _KIND)
        if name:
            self.open_file(Path(name))

    @Slot()
    def _on_save_as(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            _window(), "Save all results in another file and go on there", "results.gemmviz", _KIND
        )
        path = _named(name)
        if path is not None:
            self._archive.save_copy(path)

    @Slot()
    def _on_recent_opened(self) -> None:
        self.recent.clear()
        for path in self._archive.recent.paths:
            action = self.recent.addAction(path.name)
            action.setData(str(path))
            action.setToolTip(str(path))
            action.setEnabled(path != self._archive.path)
        if self.recent.isEmpty():
            self.recent.addAction("No file yet").setEnabled(False)

    @Slot(QAction)
    def _on_recent_triggered(self, action: QAction) -> None:
        if action.data():
            self.open_file(Path(action.data()))


class SavedLabel(QLabel):
    """Where results go, that they are not saved, or what is done with a file just now."""

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self._archive = archive
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setContentsMargins(8, 0, 8, 2)
        for signal in (archive.opened, archive.file_ended, archive.trouble_changed):
            signal.connect(self._refresh)
        archive.reader.busy_changed.connect(self._refresh)
        self._refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Whole or not at all: new words may be painted before they have been given their room."""
        if self.width() >= self.minimumSizeHint().width():
            super().paintEvent(event)

    @Slot()
    def _refresh(self) -> None:
        archive = self._archive
        saving, trouble = archive.saving, archive.trouble
        if archive.reader.busy:
            self.setText(archive.reader.busy)
        elif trouble:
            self.setText("⚠ Results are not saved")
        else:
            self.setText(f"Saved in {saving.name}" if saving is not None else "")
        self.setToolTip(plain_tip(trouble or (str(saving) if saving is not None else "")))
        set_role(self, "state", "warn" if trouble else "")


def _named(name: str) -> Path | None:
    """The chosen path, with our ending where it has none; None where nothing was chosen."""
    if not name:
        return None
    path = Path(name)
    return path if path.suffix else path.with_name(path.name + RESULTS_SUFFIX)


def _window() -> QWidget | None:
    return QApplication.activeWindow()
