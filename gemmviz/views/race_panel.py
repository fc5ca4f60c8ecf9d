"""The race: the live charts of two devices side by side, on one scale, while both run."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from gemmviz.app.outcomes import outcome
from gemmviz.app.race import Race
from gemmviz.app.runs import Run
from gemmviz.app.setup import Option
from gemmviz.core.labels import device_label
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.device_live import DeviceLiveChart, share_scale
from gemmviz.views.charts.heading import Line
from gemmviz.views.duel_panel import DuelPanel
from gemmviz.views.export import Title
from gemmviz.views.option_combo import OptionCombo
from gemmviz.views.pace import Pace
from gemmviz.views.roles import ElidedLabel, label
from gemmviz.views.run_panel import describe_run
from gemmviz.views.theme import Theme
from gemmviz.views.tool_row import ToolRow

_REDRAW_MILLISECONDS, _SLOW_REDRAW_MILLISECONDS = 66, 150
"""As seldom as the live panel redraws: often enough for a GPU, and less so where a kernel runs on
the cores that draw."""
_CATCH_UP_MILLISECONDS = 25
_NARROWEST = 90
_SWATCH_STYLE = "background: {}; border-radius: 3px;"


class RaceSide(QWidget):
    """One device of a race: which one, its speed so far, and its live chart."""

    export_wanted = Signal()

    def __init__(self, race: Race, place: int, colors: ColorBook) -> None:
        super().__init__()
        self._race, self._place, self._colors = race, place, colors
        self._drawn: tuple[int, int, int] | None = None
        self._objection = ""
        self.chart = DeviceLiveChart()
        self.swatch = label()
        self.swatch.setFixedSize(12, 12)
        self.choice = OptionCombo()
        self.choice.set_tip("Which device races here")
        self.figure = ElidedLabel("", "note")
        title = QWidget()
        row = QHBoxLayout(title)
        row.setContentsMargins(0, 0, 0, 0)
        for part in (self.swatch, self.choice):
            row.addWidget(part)
        row.addWidget(self.figure, 1)
        self.tools = ToolRow(title)
        self.export = self.tools.add_button("export", "Export the chart of this device")
        self.export.setEnabled(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tools)
        column.addWidget(self.chart, 1)
        self.choice.option_chosen.connect(self._on_option_chosen)
        self.export.clicked.connect(self.export_wanted)

    @property
    def run(self) -> Run | None:
        """The run of this side; None before the first race."""
        runs = self._race.runs
        return runs[self._place] if len(runs) > self._place else None

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.chart.set_theme(theme)
        self.tools.set_theme(theme)

    def show_device(self) -> None:
        """The device that races here, next or now, and the choice of others."""
        race, devices = self._race, self._race.devices
        options = [Option(device_label(each), each.key) for each in race.candidates]
        run = self.run
        device = run.device if run is not None and race.running else None
        if device is None and len(devices) > self._place:
            device = devices[self._place]
        self.choice.set_options(options, device.key if device is not None else None)
        self.choice.setMinimumWidth(_NARROWEST)  # names of two drivers may be longer than a side
        self.choice.setEnabled(not race.running and len(options) > 1)
        shown = run.device if run is not None else device
        if shown is not None:
            color = self._colors.color(device_label(shown))
            self.chart.set_color(color)
            self.swatch.setStyleSheet(_SWATCH_STYLE.format(color))
        if run is None or not len(run.buffer):
            self._say(run)

    def _say(self, run: Run | None) -> None:
        race = self._race
        if run is not None and race.running:
            text = f"{device_label(run.device)}: {run.status}"
        else:
            text = race.refusal or "Press Race to run the kernel on both devices"
        self.chart.empty_text = text
        self.chart.viewport().update()

    def redraw(self, *, at_once: bool) -> None:
        """Show what has come; ``at_once`` all of it, however much that is."""
        run = self.run
        if run is None:
            if self._drawn is not None:
                self._drawn = None
                self.chart.clear_samples()
                self.figure.setText("")
                self.export.setEnabled(False)
            return
        drawn = run.job.id, run.restarts, len(run.buffer)
        if self._drawn is None or self._drawn[0] != run.job.id:
            self.chart.clear_samples()
        if drawn != self._drawn or self.chart.behind:
            self._drawn = drawn
            self.chart.set_samples(
                run.buffer.at, run.buffer.seconds_per_launch, run.flop, at_once=at_once
            )
        objection = outcome(run).objection
        if objection != self._objection:
            self._objection = objection
            reason = f"{objection.capitalize()}: the figures do not count"
            self.chart.set_struck(bool(objection), reason)
        self.chart.export_title = describe_run(run)
        if not len(run.buffer):
            self._say(run)
        self._show_figure(run)

    def _show_figure(self, run: Run) -> None:
        launches = run.buffer.launch_count
        many = f"{launches:,} launch{'' if launches == 1 else 'es'}"
        self.figure.setText(many if launches else "")
        self.export.setEnabled(not self.chart.is_empty())

    @Slot(object)
    def _on_option_chosen(self, value: object) -> None:
        for device in self._race.candidates:
            if device.key == value:
                self._race.choose(self._place, device.key)


class RacePanel(QWidget):
    """Both sides, and at the end which one is faster.

    ``front`` is the chart that was asked for last, which an export draws.
    """

    export_wanted = Signal()

    def __init__(self, race: Race, colors: ColorBook) -> None:
        super().__init__()
        self.race = race
        self.sides = tuple(RaceSide(race, place, colors) for place in range(2))
        self.front: Chart = self.sides[0].chart
        self.verdict = DuelPanel()
        self.verdict.kind.hide()
        self._splitter = QSplitter()
        self._splitter.setChildrenCollapsible(False)
        for side in self.sides:
            self._splitter.addWidget(side)
            side.export_wanted.connect(self._on_export_wanted)
            side.chart.scale_chosen.connect(self._on_scale_chosen)
            side.chart.scale_left.connect(self._on_scale_left)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.verdict)
        column.addWidget(self._splitter, 1)
        self._pace = Pace(self, _SLOW_REDRAW_MILLISECONDS)
        self._fast = Pace(self, _REDRAW_MILLISECONDS)
        self._catching_up = QTimer(self, singleShot=True, interval=_CATCH_UP_MILLISECONDS)
        for due in (self._pace.due, self._fast.due, self._catching_up.timeout):
            due.connect(self._redraw)
        race.changed.connect(self._on_changed)
        race.advanced.connect(self._on_advanced)
        self._on_changed()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        for side in self.sides:
            side.set_theme(theme)
        self.verdict.set_theme(theme)

    def catch_up(self) -> None:
        """Show every sample there is."""
        for side in self.sides:
            side.redraw(at_once=True)
        self._share_scale()

    def title(self) -> Title | None:
        """What stands above an exported picture: the device in front, and how the race ended."""
        side = next(side for side in self.sides if side.chart is self.front)
        run, match = side.run, self.race.match
        if run is None:
            return None
        said = match.to_text().splitlines()[1:] if match is not None else []
        return describe_run(run), tuple(Line(text) for text in said)

    def home(self) -> None:
        """Show everything again on both sides."""
        for side in self.sides:
            side.chart.home()

    def showEvent(self, event: QShowEvent) -> None:
        """What came while the race was hidden is drawn now."""
        super().showEvent(event)
        self._redraw()

    @property
    def _pace_now(self) -> Pace:
        runs = self.race.runs
        return self._fast if all(run.device.type == "GPU" for run in runs) else self._pace

    @Slot()
    def _on_export_wanted(self) -> None:
        side = self.sender()
        if isinstance(side, RaceSide):
            self.front = side.chart
        self.export_wanted.emit()

    def _share_scale(self) -> None:
        """Both charts have one scale, so that they can be compared by eye."""
        first, other = (side.chart for side in self.sides)
        share_scale(first, other)

    def _others(self, chart: object) -> list[DeviceLiveChart]:
        return [side.chart for side in self.sides if side.chart is not chart]

    @Slot()
    def _on_scale_chosen(self) -> None:
        zoomed = self.sender()
        if isinstance(zoomed, DeviceLiveChart):
            for other in self._others(zoomed):
                other.take_scale(zoomed.ranges)

    @Slot()
    def _on_scale_left(self) -> None:
        for other in self._others(self.sender()):
            if not other.following:
                other.home()
        self._share_scale()

    @Slot()
    def _on_changed(self) -> None:
        race = self.race
        for side in self.sides:
            side.show_device()
        match = race.match
        if match is None:
            self.verdict.hide()
        else:
            self.verdict.show_match(match)
            self.verdict.kind.hide()
        self._redraw()

    @Slot()
    def _on_advanced(self) -> None:
        if not self.isVisible():
            return
        if self.race.quiet:  # the moment after a batch is the only one in which nothing is timed
            for pace in (self._pace, self._fast):
                pace.cancel()
            self._catching_up.stop()
            self._redraw()
            return
        self._pace_now.ask()

    @Slot()
    def _redraw(self) -> None:
        if not self.isVisible():
            return
        with self._pace_now.measured():
            for side in self.sides:
                side.redraw(at_once=False)
            self._share_scale()
        if any(side.chart.behind for side in self.sides) and not self.race.quiet:
            self._catching_up.start()
