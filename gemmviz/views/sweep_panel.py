"""The tab of sweeps: what to try, and what came of it while it goes on and afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QMessageBox,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gemmviz.app.state import AppState
from gemmviz.app.sweep_defaults import saving_words, winners_with
from gemmviz.app.sweep_draft import DraftError
from gemmviz.app.sweep_files import last_draft, open_draft, sweep_text, unsayable
from gemmviz.app.sweeping import SweepTrial
from gemmviz.core.defaults import DefaultsError, save_defaults
from gemmviz.core.model import Result
from gemmviz.core.sweep import SweepCell, Winner
from gemmviz.views.charts.chart import Chart
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel, Meter, label, set_role
from gemmviz.views.sweep_details import SweepDetails
from gemmviz.views.sweep_form import SweepForm
from gemmviz.views.sweep_views import VIEWS, SweepViews
from gemmviz.views.theme import Theme, icon
from gemmviz.views.tool_row import ToolRow

PLAN = "Plan"
_START_TIP = "Measure every configuration that is ticked"
_REDRAW_MILLISECONDS = 400
_LOW_PIXELS = 380
_FILES = "Sweeps (*.toml)"


class SweepPanel(QWidget):
    """A form, and behind it the views of the sweep that goes on or was the last one.

    ``told`` is a remark for the status bar.
    """

    told = Signal(str)

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self.trial = SweepTrial(state, self)
        self.form = SweepForm(state, self.trial)
        self.views = SweepViews()
        self.details = SweepDetails()
        self.note = ElidedLabel("", "note")
        self.tools = ToolRow(self.note)
        self.page = self.tools.add_choice(
            (PLAN, *VIEWS), "What to try, or a view of what came of it"
        )
        self.preset = self.tools.add_button("refresh", "Let the form be what the setup bar says")
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self.words, self.times = ElidedLabel("", ""), label("", "note")
        self.start = _button("Start", "primary", _START_TIP)
        self.save = _button("Save as default", "", "")
        self.pause = _button("Pause", "", "Stop for now; Resume goes on where it was")
        self.resume = _button("Resume", "", "Go on where it was; nothing is measured twice")
        self.show_known = _button("Show", "", "Show what is known of it; nothing is measured")
        self.cancel = _button("Cancel", "", "End the sweep; what was measured stays")
        self.meter = Meter()
        self._pages = QStackedWidget()
        # Charts are not drawn for each message: a fast sweep brings many.
        self._redraw = QTimer(self, singleShot=True, interval=_REDRAW_MILLISECONDS)
        self._lay_out()
        self._connect()
        self._show_all()

    def _lay_out(self) -> None:
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(10, 2, 8, 2)
        row.setSpacing(6)
        row.addWidget(self.words, 1)
        row.addWidget(self.times)
        # Pause stands where Start was: a second click there must not cancel the sweep.
        row.addWidget(self.save)
        for button in (self.start, self.cancel, self.show_known, self.resume, self.pause):
            row.addWidget(button)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.views)
        split.addWidget(self.details)
        split.setStretchFactor(0, 1)
        split.setChildrenCollapsible(False)
        self._pages.addWidget(self.form)
        self._pages.addWidget(split)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        column.addWidget(self.tools)
        column.addWidget(bar)
        column.addWidget(self.meter)
        column.addWidget(self._pages, 1)

    def _connect(self) -> None:
        trial = self.trial
        self.page.choice_made.connect(self._on_page_chosen)
        self.preset.clicked.connect(trial.preset)
        self.start.clicked.connect(self._on_start_clicked)
        self.pause.clicked.connect(trial.pause)
        for button in (self.resume, self.show_known):
            button.clicked.connect(self._on_resume_clicked)
        self.cancel.clicked.connect(trial.stop)
        trial.changed.connect(self._show_tools)
        trial.draft_changed.connect(self._show_tools)
        trial.report_changed.connect(self._on_report_changed)
        self._redraw.timeout.connect(self._show_report)
        self.views.cell_clicked.connect(self._on_cell_clicked)
        self.views.cell_opened.connect(self._on_cell_opened)
        self.views.picks_changed.connect(self._show_tools)
        self.details.closed.connect(self._on_details_closed)
        self.details.open_asked.connect(self._on_open_asked)
        self.details.use_asked.connect(self._on_use_asked)
        self.details.save_asked.connect(self._on_cell_save_asked)
        self.save.clicked.connect(self._on_save_clicked)
        self.form.open.clicked.connect(self._on_open_clicked)
        self.form.save.clicked.connect(self._on_file_save_clicked)
        self.form.last.clicked.connect(self._on_last_clicked)

    # --- what every panel of a chart has

    @property
    def chart(self) -> Chart:
        """The chart in front, or the heat map while the form or the table is."""
        return self.views.chart

    def catch_up(self) -> None:
        """Draw what came by now, whether somebody looks or not."""
        self._redraw.stop()
        self._show_report()
        self.views.catch_up()

    def title(self) -> Title | None:
        """What stands above an exported picture."""
        return self.views.title()

    def results(self) -> Sequence[Result]:
        """The results that the charts are made of."""
        return tuple(self.trial.results.values())

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self.tools.set_theme(theme)
        self.views.set_theme(theme)
        self.details.set_theme(theme)
        self.start.setIcon(icon("run", theme, "#ffffff"))
        self.resume.setIcon(icon("run", theme))
        self.pause.setIcon(icon("pause", theme))
        self.cancel.setIcon(icon("stop", theme, theme.bad))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low panel has one line of words, and its tip the rest."""
        super().resizeEvent(event)
        self.words.set_lines(1 if event.size().height() < _LOW_PIXELS else 2)

    def showEvent(self, event: QShowEvent) -> None:
        """Count what is ticked, and draw what came meanwhile."""
        super().showEvent(event)
        self.trial.watch(True)
        self._show_report()

    def hideEvent(self, event: QHideEvent) -> None:
        """Count nothing for nobody."""
        super().hideEvent(event)
        self.trial.watch(False)

    # --- pages

    @property
    def planning(self) -> bool:
        """Whether the form is in front."""
        return self._pages.currentIndex() == 0

    def choose_page(self, word: str) -> None:
        """Bring the form or a view to the front."""
        self.page.choose(word)
        self._pages.setCurrentIndex(0 if word == PLAN else 1)
        if word != PLAN:
            self.views.choose_view(word)
        self._show_tools()

    def _show_all(self) -> None:
        self._show_tools()
        self._show_report()

    def _show_offered(self) -> None:
        """The views that tell something of the sweep; the heat map instead of another one."""
        for view in VIEWS:
            self.page.buttons[view].setVisible(view in self.views.offered)
        if self.page.word not in (PLAN, *self.views.offered):
            self.choose_page(VIEWS[0])

    @Slot()
    def _show_tools(self) -> None:
        """The buttons as they can be used, and the words beside them."""
        trial = self.trial
        refusal = trial.refusal
        running = trial.running
        winners = trial.report.winners if trial.report is not None else ()
        self.save.setVisible(bool(winners) and not running and not self.planning)
        if trial.sweep is not None:
            self.save.setToolTip(saving_words(trial.sweep, winners))
        self.start.setVisible(not running and self.planning)
        self.start.setEnabled(not refusal)
        self.start.setToolTip(refusal or _START_TIP)
        known = self.planning and bool(trial.kept) and not refusal and not running
        self.resume.setVisible((trial.paused and not running) or (known and not trial.done))
        self.show_known.setVisible(known and trial.done)
        self.times.setText(trial.times)
        self.times.setVisible(bool(trial.times))
        self.pause.setVisible(running)
        self.cancel.setVisible(running)
        self.meter.setVisible(running)
        self.meter.show_share(trial.share)
        self.preset.setVisible(self.planning)
        some = trial.report is not None and bool(trial.report.cells)
        self.export.setEnabled(some and (self.planning or not self.chart.is_empty()))
        self.note.setText(self.views.place if not self.planning else "")
        bad = trial.failed
        if self.planning and not running:
            text, bad = trial.words, bool(refusal)
        elif running or trial.failed:
            text = trial.note
        else:
            text = trial.winner_words(self.views.held) or trial.note
        self.words.setText(text)
        set_role(self.words, "state", "bad" if bad else "")

    @Slot()
    def _show_report(self) -> None:
        trial = self.trial
        self.views.set_empty_text(
            "The first configuration is being measured"
            if trial.running
            else "Tick what to try under Plan, and start the sweep"
        )
        self.views.set_report(trial.sweep, trial.report)
        self._show_offered()
        if self.details.cell is not None and trial.report is not None:
            asked = self.details.cell.configuration
            found = (cell for cell in trial.report.cells if cell.configuration == asked)
            self._show_cell(next(found, None))
        self._show_tools()

    def _show_cell(self, cell: SweepCell | None) -> None:
        """Tell all of a configuration beside the charts, or take that away."""
        trial = self.trial
        self.views.choose(cell)
        if cell is None or trial.sweep is None or trial.report is None:
            self.details.cell = None
            self.details.hide()
            return
        known = trial.can_open(cell.configuration)
        tip = saving_words(trial.sweep, winners_with(trial.report, cell.configuration))
        self.details.show_cell(trial.sweep, trial.report, cell, result=known, save_tip=tip)

    @Slot(str)
    def _on_page_chosen(self, word: str) -> None:
        self.choose_page(word)

    @Slot()
    def _on_start_clicked(self) -> None:
        self._show_cell(None)
        self.trial.start()
        if self.trial.running and self.planning:
            self.choose_page(VIEWS[0])

    @Slot()
    def _on_resume_clicked(self) -> None:
        self.trial.resume()
        if self.planning and (self.trial.running or self.trial.done):
            self.choose_page(VIEWS[0])

    @Slot()
    def _on_report_changed(self) -> None:
        if not self._redraw.isActive():
            self._redraw.start()

    @Slot(object)
    def _on_cell_clicked(self, cell: object) -> None:
        if isinstance(cell, SweepCell):
            self._show_cell(cell)

    @Slot(object)
    def _on_cell_opened(self, cell: object) -> None:
        if isinstance(cell, SweepCell):
            self._show_cell(cell)
            self._on_open_asked()

    @Slot()
    def _on_details_closed(self) -> None:
        self.views.choose(None)

    @Slot()
    def _on_open_asked(self) -> None:
        if self.details.cell is not None:
            self.trial.open(self.details.cell.configuration)

    @Slot()
    def _on_use_asked(self) -> None:
        if self.details.cell is not None:
            self.trial.use(self.details.cell.configuration)
            self.told.emit("The configuration is in the setup bar")

    @Slot()
    def _on_save_clicked(self) -> None:
        report = self.trial.report
        self._save_defaults(report.winners if report is not None else ())

    @Slot()
    def _on_cell_save_asked(self) -> None:
        cell, report = self.details.cell, self.trial.report
        if cell is not None and report is not None:
            self._save_defaults(winners_with(report, cell.configuration))

    def _save_defaults(self, winners: Sequence[Winner]) -> None:
        """Say what will be the default from now on, and do it if the person agrees."""
        sweep = self.trial.sweep
        if sweep is None or not winners:
            return
        yes = QMessageBox.StandardButton.Yes
        if QMessageBox.question(self, "Save as default?", saving_words(sweep, winners)) != yes:
            return
        try:
            file = save_defaults(sweep, winners)
        except DefaultsError as error:
            QMessageBox.warning(self, "Nothing was saved", str(error))
            return
        self.told.emit(f"Saved {file}")

    @Slot()
    def _on_open_clicked(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open a sweep", "", _FILES)
        if name:
            self.open_file(Path(name))

    def open_file(self, path: Path) -> None:
        """Fill the form from a sweep's file; what is wrong with it is said in a dialog."""
        try:
            self.trial.change(open_draft(path, self._state))
        except DraftError as error:
            QMessageBox.warning(self, "The sweep was not opened", str(error))
            return
        self.choose_page(PLAN)

    @Slot()
    def _on_last_clicked(self) -> None:
        try:
            self.trial.change(last_draft(self._state))
        except DraftError as error:
            QMessageBox.warning(self, "The sweep was not opened", str(error))

    @Slot()
    def _on_file_save_clicked(self) -> None:
        try:
            sweep = self.trial.drafted
            reason = unsayable(sweep)
        except DraftError as error:
            reason = str(error)
        if reason:
            QMessageBox.warning(self, "The sweep was not saved", reason)
            return
        name, _ = QFileDialog.getSaveFileName(self, "Save the sweep", "sweep.toml", _FILES)
        if not name:
            return
        file = Path(name)
        try:
            file.write_text(sweep_text(sweep, self._state, file.parent), encoding="utf-8")
        except OSError as error:
            QMessageBox.warning(self, "The sweep was not saved", f"{name}: {error.strerror}")
            return
        self.told.emit(f"Saved {name}")


def _button(text: str, role: str, tip: str) -> QPushButton:
    made = QPushButton(text)
    made.setProperty("role", role)
    made.setToolTip(tip)
    return made
