"""What is known of the chosen configuration of a sweep, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.core.launch import describe_parameters
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import (
    describe_place,
    is_rough,
    recommended_configurations,
)
from gemmviz.views.charts.sweep_words import (
    BEST_WORDS,
    RECOMMENDED_SIGN,
    RECOMMENDED_WORDS,
    figures,
    state_words,
)
from gemmviz.views.roles import label, set_role
from gemmviz.views.theme import Theme, icon

_STATES = {"measured": "good", "failed": "bad", "wrong": "bad"}
_LEAST_PIXELS, _MOST_PIXELS = 224, 320


class SweepDetails(QFrame):
    """A card beside the chart; hidden until a configuration is chosen.

    ``open_asked``, ``use_asked`` and ``save_asked`` say which button was pressed.
    """

    open_asked = Signal()
    use_asked = Signal()
    save_asked = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.cell: SweepCell | None = None
        self.title = label("", "heading", wrap=True)
        self.place = label("", "note", wrap=True)
        self.state = label("", "", wrap=True)
        self.reason = label("", "note", wrap=True)
        self._figures = QWidget()
        self._grid = QGridLayout(self._figures)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self.open = QPushButton("Open result")
        self.use = QPushButton("Put into the setup bar")
        self.save = QPushButton("Save as default")
        self.hide_button = QToolButton()
        self.hide_button.setProperty("role", "quiet")
        self.hide_button.setToolTip("Hide the details")
        self.hide_button.setAccessibleName("Hide the details")
        self._lay_out()
        self.open.clicked.connect(self.open_asked)
        self.use.clicked.connect(self.use_asked)
        self.save.clicked.connect(self.save_asked)
        self.hide_button.clicked.connect(self._on_hide_clicked)
        self.hide()

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(10, 6, 8, 8)
        column.setSpacing(5)
        head = QGridLayout()
        head.addWidget(self.title, 0, 0)
        head.addWidget(self.hide_button, 0, 1, Qt.AlignmentFlag.AlignTop)
        head.setColumnStretch(0, 1)
        column.addLayout(head)
        for part in (self.place, self.state, self._figures, self.reason):
            column.addWidget(part)
        column.addSpacing(4)
        for button in (self.open, self.use, self.save):
            column.addWidget(button)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(1, 1, 1, 1)
        whole.addWidget(scroll)
        for part in (inner, scroll.viewport()):
            part.setAutoFillBackground(False)  # the card's own colour shows
        self.setMinimumWidth(_LEAST_PIXELS)
        self.setMaximumWidth(_MOST_PIXELS)

    def set_theme(self, theme: Theme) -> None:
        """Draw the cross in the colours of ``theme``."""
        self.hide_button.setIcon(icon("cross", theme))

    @property
    def texts(self) -> dict[str, str]:
        """Names and values of the figures that are shown."""
        found = {}
        for row in range(self._grid.rowCount()):
            parts = [self._grid.itemAtPosition(row, column) for column in (0, 1)]
            labels = [part.widget() for part in parts if part is not None]
            if len(labels) == 2 and all(isinstance(each, QLabel) for each in labels):
                name, value = (each.text() for each in labels)  # type: ignore[union-attr]
                found[name] = value
        return found

    def show_cell(
        self, sweep: Sweep, report: SweepReport, cell: SweepCell, *, result: bool, save_tip: str
    ) -> None:
        """Tell all of a cell.

        Args:
            sweep: The sweep that it is of.
            report: What came of it so far.
            cell: Which.
            result: Whether its result can be opened.
            save_tip: What saving it as the default will do; "" where that makes no sense.
        """
        self.cell = cell
        configuration = cell.configuration
        self.title.setText(describe_parameters(configuration.parameters) or "No parameters")
        self.place.setText(describe_place(sweep, configuration))
        words = state_words(cell).capitalize()
        if configuration in recommended_configurations(report.winners):
            words = f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS.capitalize()}; {BEST_WORDS}"
        elif cell.best:
            words = f"{words}; {BEST_WORDS}"
        self.state.setText(words)
        set_role(self.state, "state", "warn" if is_rough(cell) else _STATES.get(cell.state, ""))
        self.reason.setText(cell.why_not)
        self.reason.setVisible(bool(cell.why_not))
        self._show_figures(figures(cell))
        self.open.setEnabled(result)
        self.open.setToolTip(
            "Show its samples, and keep it among the results"
            if result
            else "There is no result of it in this session or in the open file"
        )
        self.use.setToolTip("Choose this kernel, these parameters, this shape and this device")
        self.save.setEnabled(bool(save_tip))
        self.save.setToolTip(save_tip or "Only one of the best set can be a default")
        self.show()

    def _show_figures(self, rows: list[tuple[str, str]]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for row, (name, value) in enumerate(rows):
            self._grid.addWidget(label(name, "note"), row, 0)
            text = label(value)
            text.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(text, row, 1)

    @Slot()
    def _on_hide_clicked(self) -> None:
        self.cell = None
        self.hide()
        self.closed.emit()
