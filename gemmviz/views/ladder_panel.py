"""The tab of the ladder: what each idea gains on the selected device at the setup's shape."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.app.ladder import LadderClimb
from gemmviz.app.state import AppState
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.ladder import sentences
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.ladder import LadderChart
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel, Meter, set_role
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_LOW_PIXELS = 420
_RUN_TIP = "Measure every rung, each in turns with the one below it and with the device's library"


class LadderPanel(QWidget):
    """The waterfall with its buttons; rungs appear as they are measured."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._stale = True
        self.climb = LadderClimb(state, self)
        self.chart = LadderChart()
        self.note = ElidedLabel("", "note")
        self.tools = ToolRow(self.note)
        self.run = self.tools.add_button("run", _RUN_TIP, "Run ladder")
        self.stop = self.tools.add_button("stop", "End the climb; what was measured stays")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self.meter = Meter()
        self.told = ElidedLabel("", "note")
        self.told.setContentsMargins(10, 2, 8, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addWidget(self.tools)
        column.addWidget(self.meter)
        column.addWidget(self.told)
        column.addWidget(self.chart, 1)
        self.run.clicked.connect(self._on_run_clicked)
        self.stop.clicked.connect(self.climb.stop)
        self.climb.changed.connect(self._on_changed)
        self._show_tools()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.tools.set_theme(theme)
        self.chart.set_theme(theme)

    def catch_up(self) -> None:
        """Draw the ladder that is known by now."""
        if self._stale:
            self._stale = False
            self.chart.set_ladder(self.climb.ladder)

    def title(self) -> Title | None:
        """What stands above an exported picture: device, shape, and what the ladder shows."""
        ladder = self.climb.ladder
        if ladder is None:
            return None
        lines = tuple(Line(text) for text in sentences(ladder))
        return f"The ladder at {self._where()}", lines

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low panel has one line to tell, and its tip the rest."""
        super().resizeEvent(event)
        self.told.set_lines(1 if event.size().height() < _LOW_PIXELS else 2)

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while the tab was hidden is drawn now."""
        super().showEvent(event)
        self.catch_up()

    def _where(self) -> str:
        problem, device = self.climb.problem, self.climb.device
        place = device_label(device) if device is not None else "no device"
        return f"{problem_label(problem, '×')} on {place}"

    def _show_tools(self) -> None:
        """The buttons as they can be used, and the words above the chart."""
        climb = self.climb
        refusal, ladder = climb.refusal, climb.ladder
        self.run.setEnabled(not refusal)
        self.run.setToolTip(refusal or _RUN_TIP)
        self.stop.setVisible(climb.running)
        self.export.setEnabled(ladder is not None)
        self.meter.setVisible(climb.running)
        self.meter.show_share(climb.share)
        self.note.setText(climb.note or f"The ladder at {self._where()}")
        set_role(self.note, "state", "bad" if climb.failed else "")
        said = " ".join(sentences(ladder)) if ladder is not None else ""
        self.told.setVisible(bool(said))
        self.told.setText(said)
        if climb.here:
            self.chart.empty_text = "The first rung is being measured"
        else:
            self.chart.empty_text = refusal or (
                f"Run ladder measures every rung at {self._where()}, each idea against the last"
            )
        self.chart.export_title = f"Ladder at {self._where()}"

    @Slot()
    def _on_run_clicked(self) -> None:
        self.climb.start()

    @Slot()
    def _on_changed(self) -> None:
        self._stale = True
        self._show_tools()
        if self.isVisible():
            self.catch_up()
        self.chart.viewport().update()
