"""The tab of the access lens: what the chosen kernel reads and writes, and what that costs."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QIcon, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from gemmviz.app.state import AppState
from gemmviz.core.access.cautions import cautions
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.marks import conflict_words, worst_conflict
from gemmviz.core.access.report import AccessReport, Pad, Touches
from gemmviz.views.access_headline import Headline
from gemmviz.views.access_tables import AccessTable, PadPanel
from gemmviz.views.charts.access_cells import access_scene
from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.access_words import (
    heading_lines,
    machine_words,
    subject,
    total_parts,
    unknown_lines,
)
from gemmviz.views.export import Title
from gemmviz.views.roles import ElidedLabel, label, set_role
from gemmviz.views.step_bar import StepBar
from gemmviz.views.theme import DARK, Theme, icon
from gemmviz.views.tool_row import ToolRow

_ROOM_FOR_ALL = 450  # below this height the picture and the tables take turns
_LOWER_PIXELS = 150
_PADS_PIXELS = 284
_WORKING = "Working out what the kernel touches..."
_WAITING = "The kernel is being timed: the analysis waits, as it would disturb that"
_ONE_AT_A_TIME = "There is room for one of them at a time"
_ON_CPU = "a CPU caches local memory and has no banks: read this as a GPU's"
_CELLS, _BANKS, _ACCESSES, _PADS = "Cells", "Banks", "Table", "Pads"

Answers = tuple[AccessReport | LensError | None, tuple[Touches, ...] | None, tuple[Pad, ...] | None]


class AccessPanel(QWidget):
    """The picture of the setup's kernel with its steps, its accesses and the best pad.

    It asks the lens only while someone looks, and never while a kernel is timed in quiet.
    """

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self._state = state
        self._theme = DARK
        self._shown: Answers = (None, None, None)
        self._kernel = ""
        self.chart = AccessMapChart()
        self.totals, self.machine = Headline(), ElidedLabel("", "note")
        words = QWidget()
        lines = QVBoxLayout(words)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        lines.addWidget(self.totals)
        lines.addWidget(self.machine)
        self.tools = ToolRow(words)
        self.part = self.tools.add_choice((_CELLS, _BANKS, _ACCESSES, _PADS), _ONE_AT_A_TIME)
        self.export = self.tools.add_button("export", "Export this chart (Ctrl+E)")
        self.caution, self.unknown = ElidedLabel("", "note"), label("", "note", wrap=True)
        for strip in (self.caution, self.unknown):
            strip.setContentsMargins(10, 0, 6, 0)
            set_role(strip, "state", "warn")
        self.steps = StepBar()
        self.table, self.pads = AccessTable(), PadPanel()
        self._lower = QWidget()
        row = QHBoxLayout(self._lower)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.table, 1)
        row.addWidget(self.pads)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.addWidget(self.chart)
        self._splitter.addWidget(self._lower)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 2, 2, 2)
        column.setSpacing(2)
        for part in (self.tools, self.caution, self.unknown, self.steps):
            column.addWidget(part)
        column.addWidget(self._splitter, 1)
        self._connect()
        self._show(None, None, None)

    def _connect(self) -> None:
        state = self._state
        self.table.access_chosen.connect(self._on_access_chosen)
        self.part.choice_made.connect(self._on_part_chosen)
        self.steps.warp_chosen.connect(self._on_warp_chosen)
        self.steps.step_chosen.connect(self._on_step_chosen)
        space = QShortcut(QKeySequence(Qt.Key.Key_Space), self.chart)
        space.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        space.activated.connect(self.steps.toggle)
        for signal in (state.setup_changed, state.estimated, state.lens.report_ready):
            signal.connect(self.refresh)
        laboratory = state.laboratory
        for ends in (state.job_ended, state.comparison_ended, laboratory.experiment_ended):
            ends.connect(self.refresh)
        for goes_on in (state.job_advanced, laboratory.experiment_started):
            goes_on.connect(self._on_timing_advanced)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of ``theme``."""
        self._theme = theme
        self.chart.set_theme(theme)
        for part in (self.tools, self.steps, self.pads, self.table.delegate):
            part.set_theme(theme)
        self.table.viewport().update()
        self._mark_parts()

    def catch_up(self) -> None:
        """Show what is known of the setup even while the tab is hidden."""
        self._show(*self._answers())

    def title(self) -> Title | None:
        """What stands above an exported picture: the kernel, its totals and the machine."""
        report, variant = self._shown[0], self._state.setup.variant
        if not isinstance(report, AccessReport) or variant is None:
            return None
        setup = self._state.setup
        about = setup.parameters, setup.problem()
        return subject(variant, *about), heading_lines(report, cautions(variant, *about))

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what changed while another tab was in front."""
        super().showEvent(event)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show all parts, or one at a time where there is little room."""
        super().resizeEvent(event)
        self._show_parts()

    @Slot()
    def refresh(self) -> None:
        """Show what the lens says of the setup, if anyone sees it."""
        if self.isVisible():
            self._show(*self._answers())

    @Slot(int)
    def _on_timing_advanced(self, job_id: int) -> None:
        if self._undisturbed:
            self.steps.pause()

    @property
    def _undisturbed(self) -> bool:
        """Whether something is timed that an analysis or a film must not disturb."""
        return self._state.quiet or bool(self._state.laboratory.begun)

    def _answers(self) -> Answers:
        """Report, touches and pads of the setup, each None while it is not known."""
        state, setup = self._state, self._state.setup
        if setup.variant is None:
            return None, None, None
        row = state.what_if or state.limits
        machine = machine_for(None if state.what_if is not None else state.device, row)
        question = setup.variant, setup.parameters, setup.problem(), machine
        if self._undisturbed:
            return state.lens.known(*question)
        report = state.lens.report(*question)
        if not isinstance(report, AccessReport):
            return report, None, None
        # The newest question is answered first: the picture before the pads.
        pads = state.lens.pads(*question)
        return report, state.lens.picture(*question), pads

    def _show(
        self,
        report: AccessReport | LensError | None,
        touches: tuple[Touches, ...] | None,
        pads: tuple[Pad, ...] | None,
    ) -> None:
        before, self._shown = self._shown, (report, touches, pads)
        known = report if isinstance(report, AccessReport) else None
        if report is not before[0]:
            self._show_report(report)
        if report is not before[0] or touches is not before[1]:
            self._show_picture(known, touches)
        if report is not before[0] or pads is not before[2]:
            self.pads.show_pads(pads or (), known)
        self._show_empty(report)
        self._show_parts()

    def _show_report(self, report: AccessReport | LensError | None) -> None:
        known = report if isinstance(report, AccessReport) else None
        setup = self._state.setup
        self.table.set_report(known)
        self.totals.set_parts(total_parts(known) if known is not None else ())
        machine = machine_words(known.machine) if known is not None else ""
        device = self._state.device
        if known is not None and self._state.what_if is None and device and device.type == "CPU":
            machine = f"{machine}; {_ON_CPU}"
        self.machine.setText(machine)
        text = "\n".join(unknown_lines(known)) if known is not None else ""
        self.unknown.setText(text)
        self.unknown.setVisible(bool(text))
        warned: tuple[str, ...] = ()
        if setup.variant is not None:
            about = setup.variant, setup.parameters, setup.problem()
            self.chart.export_title = f"Access of {subject(*about)}"
            warned = cautions(*about) if known is not None else ()
        self.caution.setText("\n".join(warned))
        self.caution.setVisible(bool(warned))
        self._mark_parts()

    def _mark_parts(self) -> None:
        """Put a sign on the parts that show a bank conflict, as they may be out of sight."""
        report = self._shown[0]
        worst = worst_conflict(report) if isinstance(report, AccessReport) else None
        for word in (_BANKS, _ACCESSES):
            button, tip, name = self.part.buttons[word], _ONE_AT_A_TIME, word
            style, sign = Qt.ToolButtonStyle.ToolButtonTextOnly, QIcon()
            if worst is not None:
                tip = f"{conflict_words(worst)}: {worst.text}, line {worst.line}"
                name = f"{word}: {conflict_words(worst)}"
                style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
                sign = icon("warning", self._theme, self._theme.bad)
            button.setToolTip(tip)
            button.setAccessibleName(name)
            button.setToolButtonStyle(style)
            button.setIcon(sign)
            button.setIconSize(QSize(13, 13))

    def _show_picture(
        self, report: AccessReport | None, touches: tuple[Touches, ...] | None
    ) -> None:
        setup = self._state.setup
        scene = None
        if report is not None and touches and setup.variant is not None:
            scene = access_scene(setup.variant, setup.problem(), report, touches)
            self.steps.set_warps(scene.warps)
        self.chart.set_scene(scene)
        self.chart.set_warp(self.steps.chosen_warp)
        self.chart.choose(self.table.chosen)
        kernel = setup.variant.id if setup.variant is not None else ""
        if kernel != self._kernel:
            self._kernel = kernel
            self.steps.slider.setValue(0)
        self._show_steps()

    def _show_steps(self) -> None:
        self.steps.set_steps(self.chart.steps)
        self.chart.set_step(self.steps.slider.value())
        self.steps.describe(self.chart.describe_step())

    def _show_empty(self, report: AccessReport | LensError | None) -> None:
        """Say in the empty chart why it is empty."""
        if self._state.setup.variant is None:
            text = self._state.next_step
        elif isinstance(report, LensError):
            text = str(report)
        else:
            text = _WAITING if self._undisturbed else _WORKING
        if text != self.chart.empty_text:
            self.chart.empty_text = text
            self.chart.viewport().update()

    def _show_parts(self) -> None:
        """Everything where there is room, else the part that is chosen."""
        tight = self.height() < _ROOM_FOR_ALL
        report, _, pads = self._shown
        has_report, has_pads = isinstance(report, AccessReport), bool(pads)
        self.part.setVisible(tight and has_report)
        self.part.buttons[_PADS].setEnabled(has_pads)
        word = self.part.word if tight else ""
        picture = not has_report or word not in (_ACCESSES, _PADS)
        self.chart.setVisible(picture)
        self.steps.setVisible(picture and has_report)
        self.chart.prefer(banks=word == _BANKS)
        self.table.setVisible(has_report and word != _PADS)
        self.pads.setVisible(has_pads and word in ("", _PADS))
        if tight:
            self.pads.setMinimumWidth(0)
            self.pads.setMaximumWidth(16_777_215)
        else:
            self.pads.setFixedWidth(_PADS_PIXELS)
        lower = has_report and (not tight or not picture)
        if lower and self._lower.isHidden() and not tight:
            self._splitter.setSizes([self.height() - _LOWER_PIXELS, _LOWER_PIXELS])
        self._lower.setVisible(lower)

    @Slot(str)
    def _on_part_chosen(self, word: str) -> None:
        self._show_parts()

    @Slot(object)
    def _on_access_chosen(self, access: int | None) -> None:
        self.chart.choose(access)
        self._show_steps()

    @Slot(object)
    def _on_warp_chosen(self, warp: int | None) -> None:
        self.chart.set_warp(warp)
        self._show_steps()

    @Slot(int)
    def _on_step_chosen(self, step: int) -> None:
        self.chart.set_step(step)
        self.steps.describe(self.chart.describe_step())
