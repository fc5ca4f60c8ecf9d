"""The tab of occupancy: its step curves, what was counted, and whether it matters."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gemmviz.app.residencies import Residencies
from gemmviz.app.state import AppState
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.residency import describe_residency
from gemmviz.core.throttle import compare_curves
from gemmviz.core.units import percent
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.steps import StepsChart
from gemmviz.views.charts.throttle import ThrottleChart, Throttled
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel, set_role
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_CURVES, _SPEED = "Curves", "Speed"
_PROBE, _KERNEL = "Probe", "Kernel"
_LOW_PIXELS = 400
_NO_SPEED = (
    "Matters? measures the kernel with fewer and fewer groups resident, by local "
    "memory left unused, and shows what that costs"
)
_NO_CURVES = (
    "{}\n\nFor the curves of a GPU that you do not have: Device > Estimate as if it ran on."
)


class OccupancyCurvesPanel(QWidget):
    """Step curves of the setup, or its speed against resident groups; both stay up to date."""

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._stale = True
        self._lab = Residencies(state, self)
        self.steps, self.speed = StepsChart(), ThrottleChart()
        self.speed.empty_text = _NO_SPEED
        self.tools = ToolRow(ElidedLabel("", "note"))
        self.view = self.tools.add_choice(
            (_CURVES, _SPEED),
            "Occupancy as one thing varies, or the speed with fewer and fewer groups resident",
        )
        self.counter = self.tools.add_choice(
            (_PROBE, _KERNEL),
            "What counts its groups: a probe of the same size, or the kernel itself where its "
            "source allows it",
        )
        self.measure = self.tools.add_button("run", "", "Measure")
        self.matters = self.tools.add_button("versus", "", "Matters?")
        self.stop = self.tools.add_button("stop", "End the measurement")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self.told = ElidedLabel("", "note")
        self.told.setContentsMargins(10, 2, 8, 2)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.steps)
        self.pages.addWidget(self.speed)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(0)
        column.addWidget(self.tools)
        column.addWidget(self.told)
        column.addWidget(self.pages, 1)
        # After the estimate is on the screen, and once for several changes.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.catch_up)
        self.view.choice_made.connect(self._on_view_chosen)
        self.measure.clicked.connect(self._on_measure_clicked)
        self.matters.clicked.connect(self._on_matters_clicked)
        self.stop.clicked.connect(self._lab.stop)
        self._lab.changed.connect(self._on_changed)
        state.estimated.connect(self._on_changed)
        self._show_buttons()

    @property
    def chart(self) -> Chart:
        """The chart in front."""
        return self.steps if self.pages.currentWidget() is self.steps else self.speed

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.steps.set_theme(theme)
        self.speed.set_theme(theme)
        self.tools.set_theme(theme)

    def title(self) -> Title | None:
        """What stands above an exported picture: the kernel, the device, and what is known."""
        variant, estimate = self._state.setup.variant, self._state.estimate
        if variant is None or estimate is None:
            return None
        what = " ".join((variant.id, describe_parameters(self._state.setup.parameters))).strip()
        lines = (Line(estimate.explanation), *self._counted_lines())
        if self.chart is self.speed:
            lines = self._speed_lines()
        return f"{what} on {self._place()}", lines

    @Slot()
    def catch_up(self) -> None:
        """Compute the curves of the setup as it is now."""
        if not self._stale:
            return
        self._stale = False
        estimate = self._state.estimate
        if estimate is not None:
            self.steps.empty_text = _NO_CURVES.format(estimate.explanation)
        self.steps.set_curves(self._lab.curves())
        self.steps.export_title = f"Occupancy on {self._place()}"
        shown = tuple(Throttled(each.name, each.curve) for each in self._lab.throttlings)
        self.speed.set_curves(shown)
        self.speed.set_heading("", self._speed_lines())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low panel has one line to tell, and its tip the rest."""
        super().resizeEvent(event)
        self.told.set_lines(1 if event.size().height() < _LOW_PIXELS else 2)

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while the tab was hidden is drawn now."""
        super().showEvent(event)
        self.catch_up()

    @Slot()
    def _on_changed(self) -> None:
        self._stale = True
        self._show_buttons()
        if self.isVisible():
            self._later.start()

    @Slot(str)
    def _on_view_chosen(self, word: str) -> None:
        self.pages.setCurrentWidget(self.steps if word == _CURVES else self.speed)
        self._show_buttons()

    @Slot()
    def _on_measure_clicked(self) -> None:
        self._lab.measure(instrumented=self.counter.word == _KERNEL)

    @Slot()
    def _on_matters_clicked(self) -> None:
        self.view.choose(_SPEED)
        self._on_view_chosen(_SPEED)
        self._lab.throttle()

    def _place(self) -> str:
        if self._state.what_if is not None:
            return self._state.what_if.name
        return device_label(self._state.device) if self._state.device is not None else ""

    def _show_buttons(self) -> None:
        """The buttons as they can be used, and the line of what was counted."""
        refusal = self._lab.refusal
        for button, tip in (
            (self.measure, "Count the groups that a compute unit of the selected device holds"),
            (self.matters, "Does it matter here? Measure with fewer and fewer groups resident"),
        ):
            button.setEnabled(not refusal and not self._lab.busy)
            button.setToolTip(refusal or tip)
        self.stop.setVisible(self._lab.busy)
        words, state = self._words()
        self.told.setText(words)
        set_role(self.told, "state", state)

    def _words(self) -> tuple[str, str]:
        """The line above the chart, and its state."""
        if self._lab.busy:
            return f"Measuring: {self._lab.progress}", ""
        if self._lab.failure:
            return self._lab.failure, "bad"
        lines = self._counted_lines()
        if lines:
            return " ".join(line.text for line in lines), lines[0].tone if lines else ""
        return self._estimated(), ""

    def _estimated(self) -> str:
        """The estimate in a few words, for the line beside a count."""
        estimate = self._state.estimate
        if estimate is None:
            return ""
        if estimate.groups_per_unit is None:
            return f"Estimate: {estimate.confidence}. Measure counts the groups."
        share = "" if estimate.occupancy is None else f", {percent(estimate.occupancy)}"
        return f"Estimate: {estimate.groups_per_unit} groups{share}. Measure counts them."

    def _speed_lines(self) -> tuple[Line, ...]:
        """What the curve of the setup says, and what all of them show together."""
        throttled = self._lab.throttled
        own = () if throttled is None else (Line(throttled.curve.sentence, "text"),)
        together = compare_curves([(each.name, each.curve) for each in self._lab.throttlings])
        return (*own, Line(together)) if together else own

    def _counted_lines(self) -> tuple[Line, ...]:
        """What was counted beside the estimate, and why they differ."""
        counted, estimate = self._lab.counted, self._state.estimate
        if counted is None or counted.residency is None or estimate is None:
            return ()
        found = counted.residency
        same = found.groups_per_unit == estimate.groups_per_unit
        foreseen = "none" if estimate.groups_per_unit is None else f"{estimate.groups_per_unit}"
        plural = "s" * (found.groups_per_unit != 1)
        first = f"Estimate: {foreseen}. Measured: {found.groups_per_unit} group{plural} a unit."
        detail = describe_residency(found) if same else found.difference
        tone = "good" if same else "text"
        return Line(first, tone), Line(detail)
