"""Pictures of charts: exactly as drawn, sharp at one to four times the size, light or dark."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QIODevice, QRectF, QSaveFile, QStandardPaths, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter, QPixmap
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.theme import THEMES, Theme

SCALES = (1, 2, 3, 4)
_DOTS_PER_METER = 96 / 0.0254  # of a picture at scale 1
_PREVIEW_PIXELS = 380

Title = tuple[str, tuple[Line, ...]]
"""A title and the lines below it, as a Heading shows them."""


def render_chart(
    chart: Chart, *, scale: int = 1, theme: Theme | None = None, title: Title | None = None
) -> QImage:
    """A picture of ``chart`` at its present size, without what follows the mouse.

    The chart paints into an image whose pixels are ``scale`` times as dense, so text, lines and
    marks grow with it and stay sharp. For another theme it changes its colours and back before
    the screen is painted again.

    Args:
        chart: Shown or not.
        scale: 1 to 4; the picture has ``scale`` times the chart's width and height.
        theme: The chart's own where None.
        title: Stands above the plots instead of the chart's heading on the screen; the picture
            is as much higher as it needs.
    """
    chart.hide_hover()
    chart.settle()
    if title is None:
        return _painted(chart, scale, theme)
    with _titled(chart, title):
        return _painted(chart, scale, theme)


@contextmanager
def _titled(chart: Chart, title: Title) -> Iterator[None]:
    """Another heading for a while, with room of its own."""
    size = chart.size()
    headings = [item for item in chart.scene().items() if isinstance(item, Heading)]
    kept = [(heading, heading.text, heading.minimumHeight()) for heading in headings]
    try:
        for heading in headings:
            heading.set_text(*title)
        more = sum(heading.minimumHeight() - height for heading, _, height in kept)
        chart.resize(size.width(), size.height() + round(more))
        chart.settle()
        yield
    finally:
        for heading, text, _ in kept:
            heading.set_text(*text)
        chart.resize(size)
        chart.settle()


def _painted(chart: Chart, scale: int, theme: Theme | None) -> QImage:
    own = chart.theme
    width, height = chart.width(), chart.height()
    image = QImage(width * scale, height * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    try:
        if theme is not None and theme != own:
            chart.set_theme(theme)
        painter = QPainter(image)
        painter.setRenderHints(chart.renderHints())
        chart.render(painter, QRectF(0, 0, width, height), chart.viewport().rect())
        painter.end()
    finally:
        if chart.theme != own:
            chart.set_theme(own)
    # Only now: a density set before painting would change the size of text.
    image.setDotsPerMeterX(round(_DOTS_PER_METER * scale))
    image.setDotsPerMeterY(round(_DOTS_PER_METER * scale))
    image.setText("Title", chart.export_title)
    return image


def save_png(
    chart: Chart,
    path: Path | str,
    *,
    scale: int = 1,
    theme: Theme | None = None,
    title: Title | None = None,
) -> None:
    """Write a picture of ``chart`` as a PNG file, replacing ``path`` only once it is complete.

    Raises:
        OSError: The file cannot be written; the message is a sentence.
    """
    image = render_chart(chart, scale=scale, theme=theme, title=title)
    file = QSaveFile(str(path))
    opened = file.open(QIODevice.OpenModeFlag.WriteOnly)
    if not (opened and QImageWriter(file, b"png").write(image) and file.commit()):
        raise OSError(f"The picture cannot be written to {path}: {file.errorString()}.")


def copy_chart(
    chart: Chart, *, scale: int = 1, theme: Theme | None = None, title: Title | None = None
) -> None:
    """Put a picture of ``chart`` on the clipboard."""
    QGuiApplication.clipboard().setImage(render_chart(chart, scale=scale, theme=theme, title=title))


def suggested_path(chart: Chart, folder: Path | None = None) -> Path:
    """A file name made of the chart's title that does not exist yet.

    Args:
        chart: The chart to save.
        folder: Where; the person's picture folder where None.
    """
    location = QStandardPaths.StandardLocation.PicturesLocation
    folder = folder or Path(QStandardPaths.writableLocation(location))
    if not folder.is_dir():
        folder = Path.home()
    plain = unicodedata.normalize("NFKD", chart.export_title).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-.") or "chart"
    path, number = folder / f"{stem}.png", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}.png", number + 1
    return path


class ExportDialog(QDialog):
    """Asks for scale, theme and file, shows what will come out, and saves or copies it."""

    saved = Signal(str)
    """The file that was written."""

    def __init__(
        self, chart: Chart, parent: QWidget | None = None, title: Title | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export picture")
        self._chart, self._title = chart, title
        shape = render_chart(chart, title=title).size()
        self._preview = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.scale = QComboBox()
        for scale in SCALES:
            size = f"{shape.width() * scale} × {shape.height() * scale} pixels"
            self.scale.addItem(f"{scale}×  ({size})", scale)
        self.scale.setCurrentIndex(SCALES.index(2))
        self.theme = QComboBox()
        for name in THEMES:
            self.theme.addItem(name.capitalize(), name)
        self.theme.setCurrentIndex(self.theme.findData(chart.theme.name))
        self.file = QLineEdit(str(suggested_path(chart)))
        self.file.setMinimumWidth(320)
        self._message = QLabel(wordWrap=True)
        self._message.setProperty("role", "note")
        self._browse = QPushButton("&Browse...")
        self._copy = QPushButton("&Copy")
        self._save = QPushButton("&Save")
        self._save.setProperty("role", "primary")
        self._save.setDefault(True)
        self._lay_out()
        self.theme.currentIndexChanged.connect(self._on_theme_chosen)
        self.file.textChanged.connect(self._on_file_edited)
        self._browse.clicked.connect(self._on_browse_clicked)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._save.clicked.connect(self._on_save_clicked)
        self._on_theme_chosen()

    def _lay_out(self) -> None:
        file_row = QHBoxLayout()
        file_row.addWidget(self.file, 1)
        file_row.addWidget(self._browse)
        form = QFormLayout()
        form.addRow("S&ize", self.scale)
        form.addRow("&Theme", self.theme)
        file_label = QLabel("&File")
        file_label.setBuddy(self.file)
        form.addRow(file_label, file_row)
        buttons = QHBoxLayout()
        buttons.addWidget(self._copy)
        buttons.addStretch(1)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        buttons.addWidget(cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self._preview)
        column.addLayout(form)
        column.addWidget(self._message)
        column.addLayout(buttons)

    @property
    def message(self) -> str:
        """What the dialog says below the form: a warning, an error or that it is done."""
        return self._message.text()

    def _say(self, text: str, state: str = "") -> None:
        self._message.setText(text)
        self._message.setProperty("state", state)
        self._message.style().polish(self._message)

    def _chosen(self) -> tuple[int, Theme]:
        return int(self.scale.currentData()), THEMES[self.theme.currentData()]

    @Slot()
    def _on_theme_chosen(self) -> None:
        image = render_chart(self._chart, theme=self._chosen()[1], title=self._title)
        smooth = Qt.TransformationMode.SmoothTransformation
        width = min(_PREVIEW_PIXELS, image.width())
        self._preview.setPixmap(QPixmap.fromImage(image.scaledToWidth(width, smooth)))

    @Slot(str)
    def _on_file_edited(self, text: str) -> None:
        exists = bool(text) and Path(text).is_file()
        self._say("This file exists and will be replaced." if exists else "", "warn")

    @Slot()
    def _on_browse_clicked(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Export picture", self.file.text(), "PNG pictures (*.png)"
        )
        if name:
            self.file.setText(name if Path(name).suffix else f"{name}.png")

    @Slot()
    def _on_copy_clicked(self) -> None:
        scale, theme = self._chosen()
        copy_chart(self._chart, scale=scale, theme=theme, title=self._title)
        self._say("Copied to the clipboard.", "good")

    @Slot()
    def _on_save_clicked(self) -> None:
        scale, theme = self._chosen()
        try:
            save_png(self._chart, self.file.text(), scale=scale, theme=theme, title=self._title)
        except OSError as error:
            self._say(str(error), "bad")
            return
        self.saved.emit(self.file.text())
        self.accept()
