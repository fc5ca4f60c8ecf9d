"""A sweep from its draft to its winner: counted, started, paused, resumed and followed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal, Slot

from gemmviz.app.analysis_process import AnalysisProcess
from gemmviz.app.device_trial import DeviceTrial
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.app.sweep_draft import DraftError, SweepDraft, draft_of, sweep_of
from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.kept_sweep import KeptSweep, configurations
from gemmviz.core.labels import device_label, form_label
from gemmviz.core.messages import CellMeasured, Message, SweepAdvanced
from gemmviz.core.model import Result
from gemmviz.core.store import StoreError
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_count import SweepCount
from gemmviz.core.sweep_dimensions import Value, winners_at
from gemmviz.core.sweep_file import identity
from gemmviz.core.sweep_progress import SweepProgress, is_done
from gemmviz.core.winners import cells_of

CHILD = "gemmviz.app.sweep_child"
_DELAY_MILLISECONDS = 150
_STOPPED = "Cancelled; what was measured stays"
_PAUSED = "Paused: Resume goes on where it was"


class SweepTrial(DeviceTrial):
    """The sweep that is made, goes on, or was the last one.

    The draft follows the setup bar until a person changes it. ``report_changed`` follows the cells,
    ``draft_changed`` the draft and what it comes to, ``changed`` all else.

    Attributes:
        draft: What is ticked.
        count: What the draft comes to; None while it is being counted.
        kept: Cells of the draft's sweep that are known: of this session, or the open results file.
        sweep: What is or was measured; None before the first start.
        report: What came of it so far.
        results: The last Result of each configuration of this session.
        paused: Whether Resume would go on.
    """

    report_changed = Signal()
    draft_changed = Signal()

    def __init__(self, state: AppState, parent: QObject | None = None, child: str = CHILD) -> None:
        super().__init__(state, _STOPPED, parent)
        self.draft = SweepDraft()
        self.count: SweepCount | None = None
        self.kept: tuple[SweepCell, ...] = ()
        self.sweep: Sweep | None = None
        self.report: SweepReport | None = None
        self.results: dict[Configuration, Result] = {}
        self.paused = False
        self._progress: SweepProgress | None = None
        self._opened: dict[Configuration, Run] = {}
        # Of results that the open file has: of the draft's sweep, and of the one that is shown.
        self._kept_numbers: dict[Configuration, int] = {}
        self._numbers: dict[Configuration, int] = {}
        self._pausing = False
        self._own = False  # whether a person has changed the draft
        self._watched = False
        self._asked: Sweep | None = None
        self._counted: Sweep | None = None
        self._process = AnalysisProcess(child, self)
        self._process.answered.connect(self._on_counted)
        # While a person ticks one after another nothing is counted for those passed by.
        self._delay = QTimer(self, singleShot=True, interval=_DELAY_MILLISECONDS)
        self._delay.timeout.connect(self._ask)
        for signal in (state.setup_changed, state.devices_listed, state.catalog_loaded):
            signal.connect(self._on_setup_changed)
        for ended in (state.job_ended, state.comparison_ended, state.laboratory.experiment_ended):
            ended.connect(self._on_timing_ended)
        state.archive.opened.connect(self._on_file_opened)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)
        self._on_setup_changed()

    # --- the draft

    @property
    def drafted(self) -> Sweep:
        """The sweep that the draft stands for.

        Raises:
            DraftError: Something is missing; the message says what to do.
        """
        state = self._state
        return sweep_of(self.draft, state.catalog.variants, state.devices, state.setup.seed or 0)

    def change(self, draft: SweepDraft) -> None:
        """Replace the draft; it does not follow the setup bar any more."""
        self._own = True
        self._show(draft)

    def preset(self) -> None:
        """Let the draft be what the setup bar says, and follow it."""
        self._own = False
        self._on_setup_changed()

    @property
    def refusal(self) -> str:
        """Why Start would do nothing, or ""."""
        if self.running:
            return "A sweep is under way."
        try:
            devices = self.drafted.devices
        except DraftError as error:
            return str(error)
        for device in devices:
            if device.unavailable:
                return f"{device_label(device)} cannot run: {device.unavailable}."
        if self.count is not None and self.count.problem:
            return self.count.problem
        if self.count is not None and not self.count.configurations:
            return "No configuration can run: tick other values."
        return ""

    @property
    def words(self) -> str:
        """What the draft comes to, in a line."""
        try:
            devices = self.drafted.devices
        except DraftError as error:
            return str(error)
        if self.count is None:
            if self._state.timing:
                return "Counted when nothing is timed any more"
            return "Counting the configurations..."
        where = device_label(devices[0]) if len(devices) == 1 else f"{len(devices)} devices"
        words = self.count.words
        if not self.count.configurations:
            return words
        form = form_label(self.draft.like)
        where += f", {form}" if form else ""
        known = "all" if self.done else f"{len(self.kept):,}"
        kept = f"; {known} measured before" if self.kept else ""
        return f"{words} on {where}{kept}"

    @property
    def done(self) -> bool:
        """Whether all of the draft's sweep is known, so that nothing of it is left to measure."""
        count = self.count
        if count is None:
            return False
        return is_done(self.kept, count.configurations if count.tries is None else count.tries)

    @property
    def times(self) -> str:
        """How long the sweep goes on and still takes, in a few words; "" where none does."""
        return self._progress.words if self.running and self._progress is not None else ""

    def winner_words(self, held: Mapping[str, Value]) -> str:
        """What won, in sentences: of the problems and devices that are held, or of all."""
        winners = self.report.winners if self.report is not None else ()
        return " ".join(winner.words for winner in winners_at(winners, held) if winner.words)

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks at the draft; nothing is counted for nobody."""
        self._watched = watched
        if watched:
            self._delay.start()
        else:
            self._give_up()

    @Slot()
    def close(self) -> None:
        """End the child that counts."""
        self._watched = False
        self._give_up()

    def _give_up(self) -> None:
        """End the child and forget what it was asked."""
        self._delay.stop()
        self._asked = None
        self._process.close()

    def _show(self, draft: SweepDraft) -> None:
        if draft == self.draft:
            return
        self.draft, self.count = draft, None
        self._forget_kept()
        self._delay.start()
        self.draft_changed.emit()

    @Slot()
    def _on_setup_changed(self) -> None:
        if not self._own:
            state = self._state
            devices = [target.device for target in state.targets]
            self._show(draft_of(state.setup, devices))
        self.draft_changed.emit()

    def _forget_kept(self) -> None:
        self.kept, self._kept_numbers = (), {}

    @Slot()
    def _on_file_opened(self) -> None:
        """Numbers of another file's results stand for nothing here."""
        self._numbers = {}
        self.count = None
        self._forget_kept()
        self._delay.start()
        self.draft_changed.emit()

    @Slot()
    def _on_timing_ended(self) -> None:
        self._delay.start()

    def _known_of(self, sweep: Sweep) -> tuple[SweepCell, ...]:
        """What is known of a sweep: by this session, or by the open file where that has more."""
        mine = self.report.cells if sweep == self.sweep and self.report is not None else ()
        known = tuple(cell for cell in mine if cell.tried)
        return max(known, self._saved_cells(sweep), key=len)

    @Slot()
    def _ask(self) -> None:
        if not self._watched or self._asked is not None or self._state.timing:
            return  # the answer under way, or the end of what is timed, asks again
        try:
            sweep = self.drafted
        except DraftError:
            self.draft_changed.emit()
            return
        if self.count is None or sweep != self._counted:
            self._asked = sweep
            self._process.ask("count", sweep, os.cpu_count() or 1)

    @Slot(object)
    def _on_counted(self, answer: object) -> None:
        asked, self._asked = self._asked, None
        try:
            wanted = self.drafted
        except DraftError:
            wanted = None
        if asked != wanted:
            self._delay.start()
            return
        self._counted = asked
        self.kept = self._known_of(asked) if asked is not None else ()
        good = isinstance(answer, SweepCount)
        self.count = answer if good else SweepCount(0, problem=str(answer))  # type: ignore[assignment]
        self.draft_changed.emit()

    # --- measuring

    def start(self, done: tuple[SweepCell, ...] = ()) -> None:
        """Measure what the draft stands for, but for what is ``done`` of this very sweep."""
        if self.refusal:
            return
        self._become(self.drafted, SweepReport(()))
        self._numbers = self._kept_numbers if done else {}
        self._go(done)

    def _become(self, sweep: Sweep, report: SweepReport) -> None:
        """Forgets an earlier sweep for another one."""
        self.sweep, self.report = sweep, report
        self.paused, self.failed, self.note = False, False, ""
        self.results, self._opened, self._numbers, self._progress = {}, {}, {}, None

    def show(self, kept: KeptSweep, runs: Sequence[Run]) -> bool:
        """Show a sweep of a picture, of which there are runs; False where one is under way."""
        if not self.running:
            self._become(kept.sweep, kept.report)
            names = configurations(kept.sweep, kept.results)
            self.results = dict(zip(names, kept.results, strict=True))
            self._opened = dict(zip(names, runs, strict=True))
            self.report_changed.emit()
        return not self.running

    def pause(self) -> None:
        """Stop for now; ``resume`` goes on where it was."""
        self._pausing = self.running
        self.stop()

    def resume(self) -> None:
        """Go on with the sweep that was paused, or that is known in part.

        Of one that is known as a whole nothing is measured; it is shown.
        """
        if self.running:
            return
        if self.paused and self.report is not None:
            cells = self.report.cells
            self._go(tuple(cell for cell in cells if cell.state != "planned"))
        elif self.kept and not self.refusal and self.drafted == self.sweep:
            self._numbers = {**self._numbers, **self._kept_numbers}
            if not self.done:  # else it is shown already
                self._go(self.kept)
        elif self.kept:
            self.start(self.kept)

    def _saved_cells(self, sweep: Sweep) -> tuple[SweepCell, ...]:
        """What the open results file has of this very sweep."""
        store = self._state.archive.store
        if store is None:
            return ()
        wanted = identity(sweep)
        try:
            number = next((number for number, text in store.sweeps() if text == wanted), None)
            if number is None:
                return ()
            saved = tuple(store.results(number))
        except StoreError:
            return ()
        results = [result for _, result in saved]
        names = configurations(sweep, results)
        self._kept_numbers = dict(zip(names, (number for number, _ in saved), strict=True))
        return cells_of(sweep, results)

    def can_open(self, configuration: Configuration) -> bool:
        """Whether there is a result of a configuration, of this session or saved before."""
        return configuration in self.results or configuration in self._numbers

    def open(self, configuration: Configuration) -> None:
        """Show the result of a configuration, and keep it among the session's."""
        known = self._opened.get(configuration)
        if known is not None and known in self._state.book.runs:
            self._state.show(known)
        elif configuration in self.results:
            (run,) = self._state.archive.show([self.results[configuration]])
            self._opened[configuration] = run
        elif configuration in self._numbers:
            reason = self._state.archive.show_saved([self._numbers[configuration]])
            if reason:
                self._state.log("sweep", reason, bad=True)

    def use(self, configuration: Configuration) -> None:
        """Put a configuration into the setup bar, and select its device."""
        sweep = self.sweep
        if sweep is None:
            return
        variant = next(each for each in sweep.variants if each.id == configuration.variant)
        problem = configuration.problem
        setup = replace(
            self._state.setup.with_variant(variant), parameters=configuration.parameters,
            m=problem.m, n=problem.n, k=problem.k, element=problem.element,
            transpose=problem.transpose, order=problem.order, alpha=problem.alpha,
            beta=problem.beta, square=problem.m == problem.n == problem.k,
        )  # fmt: skip
        self._state.select_device(sweep.devices[configuration.device])
        self._state.change(setup)

    def _go(self, done: tuple[SweepCell, ...]) -> None:
        if self.sweep is None:
            return
        self._pausing = self.paused = False
        spent = self._progress.elapsed_seconds if self._progress is not None else 0.0
        self._progress = SweepProgress(self.sweep, done, spent)
        self._give_up()  # it would take a processor from what is measured
        self._begin(RunSweep(self._state.laboratory.next_id(), self.sweep, done))
        self.report_changed.emit()

    def _take(self, message: Message) -> None:
        match message:
            case SweepAdvanced(report=report):
                self.report = report
                if self._progress is not None:
                    self._progress.take(report)
                self.report_changed.emit()
            case CellMeasured(cell=cell, result=result):
                self.results[cell.configuration] = result
                self._opened.pop(cell.configuration, None)
            case _:
                pass

    def _finish(self, answer: object) -> None:
        if isinstance(answer, SweepReport) and answer.cells:
            self.report = answer

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        mine = outcome.job_id == self._job_id
        if mine:
            self.paused = self._pausing and outcome.stopped and self._some_left(outcome.answer)
            self._pausing = False
        super()._on_experiment_ended(outcome)
        if mine:
            if self.paused:
                self.note = _PAUSED
            if self._counted is not None and self.count is not None:
                self.kept = self._known_of(self._counted)
                self.draft_changed.emit()
            self.report_changed.emit()
            self.changed.emit()

    def _some_left(self, answer: object) -> bool:
        """Whether a sweep that was stopped with this answer has anything left to do."""
        report = answer if isinstance(answer, SweepReport) and answer.cells else self.report
        cells = report.cells if report is not None else ()
        return not is_done(cells, sum(not cell.passed_over for cell in cells))
