"""The tab of devices: which one for which size, as bars, as curves, or as a race of two."""

from __future__ import annotations

from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.device_comparison import SIZE_PRESETS, DeviceTrials
from gemmviz.app.race import Race
from gemmviz.app.setup import Option
from gemmviz.app.state import AppState
from gemmviz.core.device_comparison import sentences
from gemmviz.core.device_units import UNITS
from gemmviz.core.labels import device_label
from gemmviz.core.model import Result
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.device_curves import DeviceCurvesChart
from gemmviz.views.charts.device_words import headline, unit_note
from gemmviz.views.charts.devices import DevicesChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.export import Title
from gemmviz.views.flow_layout import FlowLayout
from gemmviz.views.option_combo import OptionCombo
from gemmviz.views.race_panel import RacePanel
from gemmviz.views.roles import ElidedLabel, Meter, label, set_role
from gemmviz.views.theme import Theme, icon
from gemmviz.views.tool_row import Choice, ToolRow

_BARS, _CURVES, _RACE = "Bars", "Curves", "Race"
_THIS, _BEST = "This kernel", "Its best"
_LOW_PIXELS = 420
_RUN_TIP = (
    "Measure the ticked devices, or all where none is ticked, at every size; devices that share "
    "hardware take turns launch by launch"
)
_RACE_TIP = "Run what is set up on both devices at once and see which one is faster"
_SIZES_PIXELS = 190
_SIZES_TIP = "M = N = K of each comparison, as 64, 128, 256"


class DevicesPanel(QWidget):
    """What to compare, the comparison in a unit of choice, and the race."""

    def __init__(self, state: AppState, colors: ColorBook | None = None) -> None:
        super().__init__()
        self._state = state
        self._colors = colors or ColorBook()
        self._stale = True
        self._chosen_size: int | None = None  # else the bars show the last one measured
        state.devices_listed.connect(self._on_devices_listed)  # before any chart asks for colours
        self._on_devices_listed()
        self.trials, self.contest = DeviceTrials(state, self), Race(state, self)
        self.bars = DevicesChart(devices=self._colors)
        self.curves = DeviceCurvesChart(devices=self._colors)
        self.race = RacePanel(self.contest, self._colors)
        self.pages = QStackedWidget()
        for page in (self.bars, self.curves, self.race):
            self.pages.addWidget(page)
        self.note = ElidedLabel("", "note")
        self.tools = ToolRow(self.note)
        self.view = self.tools.add_choice(
            (_BARS, _CURVES, _RACE),
            "Bars at one size, curves over all sizes, or two devices' live charts side by side",
        )
        self.run = self.tools.add_button("run", _RUN_TIP, "Compare")
        self.stop = self.tools.add_button("stop", "End it; what was measured stays")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self._make_form()
        self.meter = Meter()
        self.told = ElidedLabel("", "note")
        self.told.setContentsMargins(10, 2, 8, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        for part in (self.tools, self.form, self.meter, self.told):
            column.addWidget(part)
        column.addWidget(self.pages, 1)
        self._connect()
        self._show_tools()

    def _make_form(self) -> None:
        """The row of choices, which wraps where it is narrow."""
        self.form = QWidget()
        row = FlowLayout(self.form, gap=8, row_gap=4)
        self.form.setContentsMargins(10, 0, 6, 0)
        self.kernel = Choice(
            (_THIS, _BEST),
            "All devices run the kernel of the setup, or each the fastest of all kernels with the "
            "parameters that were measured to be the best",
        )
        self.sizes = QLineEdit()
        self.sizes.setFixedWidth(_SIZES_PIXELS)
        self.sizes.setToolTip(_SIZES_TIP)
        self.sizes.setAccessibleName("Sizes")
        self.presets = QToolButton()
        self.presets.setIconSize(QSize(14, 14))
        self.presets.setToolTip("Usual lists of sizes")
        self.presets.setAccessibleName("Usual lists of sizes")
        self.presets.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        for name, preset in SIZE_PRESETS.items():
            text = ", ".join(map(str, preset))
            menu.addAction(f"{name}: {text}").setData(text)
        menu.triggered.connect(self._on_preset_triggered)
        self.presets.setMenu(menu)
        self._unit = first = next(iter(UNITS))
        self.unit = OptionCombo()
        self.unit.set_options([Option(words.choice, key) for key, words in UNITS.items()],
                              first)  # fmt: skip
        self.unit.set_tip(unit_note(first))
        self.at_size = OptionCombo()
        self.at_size.set_tip("At which size the bars are")
        self.ceilings = QToolButton()
        self.ceilings.setText("Measure ceilings too")
        sizes = QWidget()  # kept together where the row wraps
        together = QHBoxLayout(sizes)
        together.setContentsMargins(0, 0, 0, 0)
        together.setSpacing(6)
        for field in (label("Sizes", "unit"), self.sizes, self.presets):
            together.addWidget(field)
        for part in (self.kernel, sizes, self.at_size, self.unit, self.ceilings):
            row.addWidget(part)

    def _connect(self) -> None:
        state = self._state
        self.view.choice_made.connect(self._on_view_chosen)
        self.kernel.choice_made.connect(self._on_kernel_chosen)
        self.sizes.editingFinished.connect(self._on_sizes_edited)
        self.unit.option_chosen.connect(self._on_unit_chosen)
        self.at_size.option_chosen.connect(self._on_size_chosen)
        self.run.clicked.connect(self._on_run_clicked)
        self.ceilings.clicked.connect(self._on_ceilings_clicked)
        self.stop.clicked.connect(self._on_stop_clicked)
        self.trials.changed.connect(self._on_changed)
        self.contest.changed.connect(self._show_tools)
        self.contest.advanced.connect(self._on_race_advanced)
        self.race.export_wanted.connect(self.export.click)
        state.laboratory.ceilings_changed.connect(self._show_tools)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        for part in (self.tools, self.bars, self.curves, self.race):
            part.set_theme(theme)
        self.presets.setIcon(icon("chevron-down", theme))

    @property
    def chart(self) -> Chart:
        """The chart that is shown; of a race the one whose export was asked for last."""
        page = self.pages.currentWidget()
        return page if isinstance(page, Chart) else self.race.front

    def catch_up(self) -> None:
        """Draw all that is known by now."""
        if self._racing:
            self.race.catch_up()
        if self._stale:
            self._stale = False
            comparison = self.trials.comparison
            self.bars.set_comparison(comparison, self._chosen_size)
            self.curves.set_comparison(comparison)

    def results(self) -> tuple[Result, ...]:
        """What an exported picture carries: the results behind the chart that is shown."""
        if self._racing:
            recorded = (run.recorded for run in self.contest.runs)
            return tuple(result for result in recorded if result is not None)
        return self.trials.results

    def title(self) -> Title | None:
        """What stands above an exported picture: what was compared, and what that shows."""
        if self._racing:
            return self.race.title()
        comparison = self.trials.comparison
        if comparison is None:
            return None
        size = self.bars.shown_size if self.chart is self.bars else None
        lines = [Line(text, "muted") for text in sentences(comparison)]
        return headline(comparison, size), tuple(lines)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low panel has one line to tell, and its tip the rest."""
        super().resizeEvent(event)
        self.told.set_lines(1 if event.size().height() < _LOW_PIXELS else 2)

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while the tab was hidden is drawn now."""
        super().showEvent(event)
        self.catch_up()

    @property
    def _racing(self) -> bool:
        return self.pages.currentWidget() is self.race

    @Slot()
    def _show_tools(self) -> None:
        """The buttons as they can be used, and the words above the chart."""
        racing = self._racing
        trial = self.contest if racing else self.trials
        refusal = trial.refusal
        self.run.setText(_RACE if racing else "Compare")
        self.run.setEnabled(not refusal)
        self.run.setToolTip(refusal or (_RACE_TIP if racing else _RUN_TIP))
        self.stop.setVisible(trial.running)
        self.export.setEnabled(not self.chart.is_empty())
        self.form.setVisible(not racing)
        missing = self.trials.needs_ceilings
        self.ceilings.setVisible(bool(missing) and self._unit == "ceiling")
        self.ceilings.setEnabled(not self.trials.refusal)
        names = " and ".join(map(device_label, missing))
        self.ceilings.setToolTip(
            f"Compare, and measure first what {names} can do at most: some ten seconds each. "
            "The % of ceiling needs it"
        )
        self.meter.setVisible(self.trials.running and not racing)
        self.meter.show_share(self.trials.share)
        self._show_note(racing=racing)
        self._show_sizes()

    def _show_note(self, *, racing: bool) -> None:
        trials = self.trials
        if racing:
            self.note.setText(self.contest.note or self.contest.how)
        else:
            self.note.setText(trials.note or trials.subject)
        failed = bool(self.contest.note) if racing else trials.failed
        set_role(self.note, "state", "bad" if failed else "")
        comparison = trials.comparison
        said = " ".join(sentences(comparison)) if comparison is not None and not racing else ""
        self.told.setVisible(bool(said))
        self.told.setText(said)
        waits = trials.note if trials.running else trials.refusal
        text = waits or (
            f"Compare measures {trials.subject} at {', '.join(map(str, trials.sizes))} and says "
            "which device is the fastest at which size"
        )
        for chart in (self.bars, self.curves):
            chart.empty_text = text
            chart.viewport().update()

    def _show_sizes(self) -> None:
        trials = self.trials
        if not self.sizes.hasFocus():
            self.sizes.setText(", ".join(map(str, trials.sizes)))
            self.sizes.setCursorPosition(0)
            set_role(self.sizes, "state", "")
        self.sizes.setEnabled(not trials.running)
        self.presets.setEnabled(not trials.running)
        comparison = trials.comparison
        sizes = comparison.measured_sizes if comparison is not None else ()
        bars = self.pages.currentWidget() is self.bars
        self.at_size.setVisible(bars and bool(sizes))
        options = [Option(f"at {size}", size) for size in sizes]
        self.at_size.set_options(options, self.bars.shown_size)

    @Slot(str)
    def _on_view_chosen(self, word: str) -> None:
        pages: dict[str, QWidget] = {
            _BARS: self.bars, _CURVES: self.curves, _RACE: self.race,
        }  # fmt: skip
        self.pages.setCurrentWidget(pages[word])
        self._show_tools()

    @Slot(str)
    def _on_kernel_chosen(self, word: str) -> None:
        self.trials.choose_best(word == _BEST)

    @Slot()
    def _on_sizes_edited(self) -> None:
        why = self.trials.choose_sizes(self.sizes.text())
        set_role(self.sizes, "state", "bad" if why else "")
        self.sizes.setToolTip(why or _SIZES_TIP)
        if why:
            self.note.setText(why)
            set_role(self.note, "state", "bad")

    @Slot(QAction)
    def _on_preset_triggered(self, action: QAction) -> None:
        self.trials.choose_sizes(action.data())

    @Slot(object)
    def _on_unit_chosen(self, value: object) -> None:
        self._unit = unit = next(key for key in UNITS if key == value)
        self.unit.set_tip(unit_note(unit))
        self.bars.set_unit(unit)
        self.curves.set_unit(unit)
        self._show_tools()

    @Slot(object)
    def _on_size_chosen(self, size: object) -> None:
        self._chosen_size = size if isinstance(size, int) else None
        self.bars.set_comparison(self.trials.comparison, self._chosen_size)

    @Slot()
    def _on_run_clicked(self) -> None:
        if self._racing:
            self.contest.start()
        else:
            self._start(ceilings=False)

    @Slot()
    def _on_ceilings_clicked(self) -> None:
        self._start(ceilings=True)

    def _start(self, *, ceilings: bool) -> None:
        if self.sizes.isModified():  # a click on a tool button does not end the editing
            self._on_sizes_edited()
        if self.sizes.property("state") == "bad":
            return
        self._chosen_size = None
        self.trials.start(ceilings=ceilings)

    @Slot()
    def _on_stop_clicked(self) -> None:
        if self._racing:
            self.contest.stop()
        else:
            self.trials.stop()

    @Slot()
    def _on_race_advanced(self) -> None:
        if self._racing:
            self.export.setEnabled(not self.chart.is_empty())

    @Slot()
    def _on_devices_listed(self) -> None:
        """Every device has its colour from the start, in the order of the tree of devices."""
        for device in self._state.devices:
            self._colors.look(device_label(device))

    @Slot()
    def _on_changed(self) -> None:
        self._stale = True
        if self.isVisible():
            self.catch_up()
        self._show_tools()
