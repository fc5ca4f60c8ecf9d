"""Files that are dropped on the window: results in any form, and kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QMainWindow, QMessageBox, QWidget

from gemmviz.app.opening import Opener, Openings
from gemmviz.app.state import AppState
from gemmviz.views.theme import Theme, text_font

_HINT = "Drop to open"
_KINDS = "A results file, exported JSON, a chart as PNG or SVG, or a kernel's .toml"
_PLATE = (460, 132)
_MOST_FILES = 50


class DropTarget(QWidget):
    """Opens what is dropped on a window, and says so over it while something is dragged there.

    ``told`` is a remark for the status bar, ``opened`` brings the OpenedDocument whose results came
    last. What cannot be opened is said in a dialog, a sentence
    for each file.
    """

    told = Signal(str)
    opened = Signal(object)

    def __init__(self, window: QMainWindow, state: AppState) -> None:
        super().__init__(window)
        self._window = window
        self.opener = Opener(state, self)
        self.opener.ended.connect(self._on_ended)
        self._paths: tuple[Path, ...] = ()
        self._theme: Theme | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self._theme = theme
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what the window hears of files that are dragged over it."""
        if isinstance(event, QDropEvent) and not isinstance(event, QDragMoveEvent):
            self.hide()
            return self._take(event)
        if isinstance(event, QDragEnterEvent | QDragMoveEvent) and _files(event.mimeData()):
            event.acceptProposedAction()
            self._cover()
            return True
        if event.type() in (QEvent.Type.DragLeave, QEvent.Type.WindowDeactivate):
            self.hide()
        return super().eventFilter(watched, event)

    def _cover(self) -> None:
        if self.isHidden():
            self.setGeometry(self._window.rect())
            self.raise_()
            self.show()

    def _take(self, event: QDropEvent) -> bool:
        files = _files(event.mimeData())
        if not files:
            return False
        event.acceptProposedAction()
        self._paths += files
        # Later: the program that files come from waits until this event is over.
        QTimer.singleShot(0, self, self._on_dropped)
        return True

    @Slot()
    def _on_dropped(self) -> None:
        paths, self._paths = self._paths, ()
        self.open_files(paths)

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open files of any kind, and tell what came of it once it is done."""
        if len(paths) > _MOST_FILES:
            self.opener.complain(f"Only the first {_MOST_FILES} of {len(paths)} files were opened.")
        self.opener.open(paths[:_MOST_FILES])

    @Slot(object)
    def _on_ended(self, openings: Openings) -> None:
        if openings.remarks:
            self.told.emit("; ".join(openings.remarks))
        if openings.document is not None:
            self.opened.emit(openings.document)
        if openings.problems:
            self._complain("\n".join(openings.problems))

    def _complain(self, text: str) -> None:
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("This could not be opened")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(text)
        box.open()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A veil with a plate that says what can be dropped."""
        theme = self._theme
        if theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(theme.window)
        veil.setAlpha(170)
        painter.fillRect(self.rect(), veil)
        plate = QRectF(0, 0, *_PLATE)
        plate.moveCenter(QRectF(self.rect()).center())
        painter.setPen(QPen(QColor(theme.accent), 2.0, Qt.PenStyle.DashLine))
        painter.setBrush(QColor(theme.panel))
        painter.drawRoundedRect(plate, 12, 12)
        flags = int(Qt.AlignmentFlag.AlignCenter)
        painter.setPen(QColor(theme.text))
        painter.setFont(text_font(20))
        painter.drawText(plate.adjusted(0, 18, 0, -56), flags, _HINT)
        painter.setPen(QColor(theme.muted))
        painter.setFont(text_font(13))
        painter.drawText(plate.adjusted(8, 68, -8, -18), flags, _KINDS)


def _files(data: QMimeData) -> tuple[Path, ...]:
    """The files of this machine that something dragged stands for."""
    return tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
