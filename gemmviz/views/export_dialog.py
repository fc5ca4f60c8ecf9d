"""The dialog that saves or copies a picture of a chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPixmap
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

from gemmviz.core.model import Result
from gemmviz.core.result_document import fits_picture
from gemmviz.views.charts.chart import Chart
from gemmviz.views.export import (
    SCALES,
    Title,
    copy_chart,
    render_chart,
    save_png,
    save_svg,
    suggested_path,
)
from gemmviz.views.theme import THEMES, Theme

_PREVIEW_PIXELS = 380
_PNG, _SVG = ".png", ".svg"
_FORMATS = {_PNG: "PNG: pixels", _SVG: "SVG: lines and text, for print and slides"}


class ExportDialog(QDialog):
    """Asks for format, scale, theme and file, shows what will come out, and saves or copies it.

    A picture carries ``results``, so that it can be opened again by dropping it on the window, and
    the identity of the ``sweep`` that it shows, if any.
    """

    saved = Signal(str)
    """The file that was written."""

    def __init__(
        self,
        chart: Chart,
        parent: QWidget | None = None,
        title: Title | None = None,
        results: Sequence[Result] = (),
        sweep: str = "",
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export picture")
        self._chart, self._title = chart, title
        self._results, self._sweep = results, sweep
        shape = render_chart(chart, title=title).size()
        self._preview = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.format = QComboBox()
        for suffix, text in _FORMATS.items():
            self.format.addItem(text + _carried(len(results)), suffix)
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
        self.format.currentIndexChanged.connect(self._on_format_chosen)
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
        form.addRow("F&ormat", self.format)
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

    @Slot()
    def _on_format_chosen(self) -> None:
        """The name of the file follows; pixels have a size, lines have none."""
        suffix = self.format.currentData()
        self.scale.setEnabled(suffix == _PNG)
        path = Path(self.file.text())
        if path.suffix.lower() in _FORMATS and path.suffix.lower() != suffix:
            self.file.setText(str(path.with_suffix(suffix)))

    @Slot(str)
    def _on_file_edited(self, text: str) -> None:
        place = self.format.findData(Path(text).suffix.lower())
        if place >= 0:
            self.format.setCurrentIndex(place)
        exists = bool(text) and Path(text).is_file()
        self._say("This file exists and will be replaced." if exists else "", "warn")

    @Slot()
    def _on_browse_clicked(self) -> None:
        suffix = self.format.currentData()
        filters = ["PNG pictures (*.png)", "SVG drawings (*.svg)"]
        if suffix == _SVG:
            filters.reverse()
        name, _ = QFileDialog.getSaveFileName(
            self, "Export picture", self.file.text(), ";;".join(filters)
        )
        if name:
            self.file.setText(name if Path(name).suffix else f"{name}{suffix}")

    @Slot()
    def _on_copy_clicked(self) -> None:
        scale, theme = self._chosen()
        copy_chart(self._chart, scale=scale, theme=theme, title=self._title)
        self._say("Copied to the clipboard.", "good")

    @Slot()
    def _on_save_clicked(self) -> None:
        scale, theme = self._chosen()
        try:
            if self.format.currentData() == _SVG:
                save_svg(self._chart, self.file.text(), theme=theme, title=self._title,
                         results=self._results, sweep=self._sweep)  # fmt: skip
            else:
                save_png(self._chart, self.file.text(), scale=scale, theme=theme,
                         title=self._title, results=self._results,
                         sweep=self._sweep)  # fmt: skip
        except OSError as error:
            self._say(str(error), "bad")
            return
        self.saved.emit(self.file.text())
        self.accept()


def _carried(count: int) -> str:
    """What a picture of so many results holds besides pixels."""
    if not count:
        return ""
    if fits_picture(count):
        return ", and the results with them"
    return f", without the {count:,} results: too many"
