"""The row of what saved results are searched and filtered by."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QWidget

from gemmviz.core.store import VERDICTS, Choices, Filter
from gemmviz.views.option_combo import widen_list

_TYPING_MILLISECONDS = 150
_ONE_ROW_FROM = 680  # pixels
_MOST_CHOICES = 500  # in a box; more are found by words


class HistoryFilters(QWidget):
    """Words to search for, and a box each for device, kernel, shape, verdict and tag.

    ``changed`` follows a choice at once and typing a moment later; ``wanted`` is what holds.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = QLineEdit()
        self.words.setPlaceholderText("Search kernels, devices, notes, tags")
        self.words.setAccessibleName("Words to search saved results for")
        self.words.setClearButtonEnabled(True)
        self.words.setMinimumWidth(110)
        self.device, self.kernel, self.shape, self.verdict, self.tag = self._boxes = tuple(
            _box(name) for name in ("device", "kernel", "shape", "verdict", "tag")
        )
        _offer(self.verdict, "verdict", [(word, word) for word in VERDICTS])
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MILLISECONDS)
        self._typing.timeout.connect(self.changed)
        self.words.textChanged.connect(self._typing.start)
        self._row = QGridLayout(self)
        self._row.setContentsMargins(6, 2, 6, 2)
        self._row.setSpacing(6)
        self._narrow: bool | None = None
        self._arrange(narrow=False)
        for box in self._boxes:
            box.activated.connect(self._on_activated)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the boxes below the words where both have no room beside each other."""
        super().resizeEvent(event)
        self._arrange(narrow=event.size().width() < _ONE_ROW_FROM)

    def _arrange(self, *, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        count = len(self._boxes)
        self._row.addWidget(self.words, 0, 0, 1, count if narrow else 1)
        for place, box in enumerate(self._boxes):
            if narrow:
                self._row.addWidget(box, 1, place)
            else:
                self._row.addWidget(box, 0, place + 1)
        for column in range(count + 1):
            self._row.setColumnStretch(column, 2 if column == 0 and not narrow else 1)
        self._row.setColumnStretch(count, 0 if narrow else 1)

    @property
    def wanted(self) -> Filter:
        """What saved results must be like."""
        device = self.device.currentData()
        return Filter(
            text=self.words.text().strip(), devices=(device,) if device else (),
            kernel=self.kernel.currentData() or "", shape=self.shape.currentData(),
            verdict=self.verdict.currentData() or "", tag=self.tag.currentData() or "",
        )  # fmt: skip

    def fill(self, choices: Choices) -> None:
        """Offer what the file has; what is chosen stays so while it is there."""
        _offer(self.device, "device", [(device, device) for device in choices.devices])
        _offer(self.kernel, "kernel", [(title, name) for name, title in choices.kernels])
        shapes = ((" × ".join(map(str, shape)), shape) for shape in choices.shapes)
        _offer(self.shape, "shape", list(shapes))
        _offer(self.tag, "tag", [(tag, tag) for tag in choices.tags])

    def clear(self) -> None:
        """Let everything through, without a signal."""
        with QSignalBlocker(self.words):
            self.words.clear()
        for box in self._boxes:
            box.setCurrentIndex(0)

    @Slot()
    def _on_activated(self) -> None:
        self.changed.emit()


def _box(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(f"Only this {name}")
    box.setToolTip(f"Only results of this {name}")
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(5)
    box.addItem(name.capitalize())
    return box


def _offer(box: QComboBox, name: str, items: list[tuple[str, object]]) -> None:
    del items[_MOST_CHOICES:]
    known = [box.itemData(place) for place in range(1, box.count())]
    if known == [value for _, value in items]:
        return
    chosen = box.currentData()
    with QSignalBlocker(box):
        box.clear()
        box.addItem(name.capitalize())
        for text, value in items:
            box.addItem(text, value)
        values = [value for _, value in items]
        box.setCurrentIndex(values.index(chosen) + 1 if chosen in values else 0)
    widen_list(box)
