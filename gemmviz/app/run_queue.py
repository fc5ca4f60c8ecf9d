"""The runs that wait or go on, and the one of all runs that is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.book import ResultBook
from gemmviz.app.lane import Event
from gemmviz.app.narration import Line, narrate, narrate_comparison, narrate_timer
from gemmviz.app.runs import Run
from gemmviz.app.worker import Workers, hardware_of
from gemmviz.core.comparison import Comparison
from gemmviz.core.labels import device_label
from gemmviz.core.messages import Calibrated
from gemmviz.core.model import DeviceKey, Result
from gemmviz.core.trust import DeviceTimer


class RunQueue(QObject):
    """Hands runs to the workers, follows what comes of them and puts the ended ones in the book.

    ``timers`` are what launching and timing was found to cost, by device.
    """

    job_queued = Signal(int)
    job_advanced = Signal(int)
    job_ended = Signal(int)
    run_shown = Signal()
    comparison_advanced = Signal(int)
    comparison_ended = Signal(object)
    timer_measured = Signal(object)
    line_logged = Signal(object)

    def __init__(self, workers: Workers, book: ResultBook, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers, self._book = workers, book
        self.active: dict[int, Run] = {}
        self.shown: Run | None = None
        self.timers: dict[DeviceKey, DeviceTimer] = {}
        self._comparisons: dict[int, tuple[Run, ...]] = {}
        workers.job_started.connect(self._on_job_started)
        workers.batch_arrived.connect(self._on_batch_arrived)
        workers.comparison_started.connect(self._on_comparison_started)
        workers.comparison_advanced.connect(self._on_comparison_advanced)

    @property
    def comparing(self) -> bool:
        """Whether a comparison waits or goes on."""
        return bool(self._comparisons)

    @property
    def quiet(self) -> bool:
        """Whether something is timed that drawing must not disturb."""
        return any(run.began is not None and run.job.policy.quiet for run in self.active.values())

    @property
    def note(self) -> str:
        """What runs and what waits, in a few words; "" while nothing does."""
        running = [run for run in self.active.values() if run.began is not None]
        names = " and ".join(f"{run.label} on {device_label(run.device)}" for run in running)
        doing = "Comparing" if self.comparing and len(running) > 1 else "Running"
        parts = [f"{doing} {names}"] if running else []
        waiting = Counter(self._hindrance(run) for run in self.active.values() if run.began is None)
        for hindrance, count in waiting.items():
            who = f"{count} more" if running else f"{count} run{'s' * (count != 1)}"
            parts.append(f"{who} wait{'s' * (count == 1)} for {hindrance}")
        return "; ".join(parts)

    def _hindrance(self, waiting: Run) -> str:
        """What a run that waits waits for; see :class:`gemmviz.app.worker.Workers`."""
        running = [run for run in self.active.values() if run.began is not None]
        if any(waiting in runs for runs in self._comparisons.values()):
            return "all before it, as a comparison runs alone"
        if any(run in runs for runs in self._comparisons.values() for run in running):
            return "the comparison, which runs alone"
        hardware = hardware_of(waiting.device)
        for run in running:
            if hardware_of(run.device) == hardware:
                return f"{run.label}, which runs on the same hardware"
        return "what is measured now to end"

    def add(self, run: Run) -> None:
        """Queue a run on the hardware of its device."""
        self._enter(run)
        self._workers.submit(run.job, run.device)

    def add_comparison(self, runs: Sequence[Run], comparison_id: int) -> None:
        """Queue runs that take turns, when nothing else runs; the first is what counts as 1."""
        self._comparisons[comparison_id] = tuple(runs)
        for run in runs:
            self._enter(run)
        jobs, devices = [run.job for run in runs], [run.device for run in runs]
        self._workers.compare(jobs, devices, comparison_id)

    def stop(self) -> None:
        """End every run and comparison, and forget the waiting ones."""
        compared = {run.job.id for runs in self._comparisons.values() for run in runs}
        for comparison_id, runs in tuple(self._comparisons.items()):
            self._workers.stop(comparison_id)
            if all(run.began is None for run in runs):
                del self._comparisons[comparison_id]
                compared -= {run.job.id for run in runs}
        for job_id, run in tuple(self.active.items()):
            if job_id not in compared:
                self._workers.stop(job_id)
                if run.began is None:
                    self._leave(run)

    def show(self, run: Run | None) -> None:
        """Put a run on the cards and the live charts."""
        if run is not self.shown:
            self.shown = run
            self.run_shown.emit()

    def forget(self) -> None:
        """Follow nothing any more."""
        self.active.clear()
        self._comparisons.clear()

    def _enter(self, run: Run) -> None:
        self.active[run.job.id] = run
        self._show_next(run)
        self.job_queued.emit(run.job.id)

    def _leave(self, run: Run) -> None:
        if self.active.pop(run.job.id, None) is not None:
            self.job_ended.emit(run.job.id)

    def _show_next(self, run: Run) -> None:
        """Show a new run, unless the one that is shown goes on or waits for its turn."""
        if self.shown is None or self.shown.job.id not in self.active:
            self.show(run)

    def _begin(self, run: Run) -> None:
        run.begin()
        self._show_next(run)
        self._tell(narrate(run, None))
        self.job_advanced.emit(run.job.id)

    def _take(self, run: Run, event: object) -> None:
        run.take(event)
        if isinstance(event, Calibrated) and self.timers.get(run.device.key) != event.timer:
            self.timers[run.device.key] = event.timer
            self._tell((narrate_timer(run, event.timer),))
            self.timer_measured.emit(run.device.key)
        self._tell(narrate(run, event))

    def _end(self, run: Run, result: Result) -> None:
        self.active.pop(run.job.id, None)
        if run.summary is not None or not result.stopped:
            self._book.add(run)  # one stopped before its first sample is no row
        self.job_ended.emit(run.job.id)

    @Slot(int)
    def _on_job_started(self, job_id: int) -> None:
        run = self.active.get(job_id)
        if run is not None:
            self._begin(run)

    @Slot(int, object)
    def _on_batch_arrived(self, job_id: int, events: tuple[Event, ...]) -> None:
        run = self.active.get(job_id)
        if run is None:
            return  # a late word of a job that was given up
        for event in events:
            self._take(run, event)
        self.job_advanced.emit(job_id)
        if isinstance(events[-1], Result):
            self._end(run, events[-1])

    @Slot(int)
    def _on_comparison_started(self, comparison_id: int) -> None:
        for run in self._comparisons.get(comparison_id, ()):
            self._begin(run)
        self.comparison_advanced.emit(comparison_id)

    @Slot(int, object)
    def _on_comparison_advanced(self, comparison_id: int, events: tuple[Event, ...]) -> None:
        runs = {run.job.id: run for run in self._comparisons.get(comparison_id, ())}
        if not runs:
            return
        touched: dict[int, Run] = {}
        for event in events:
            if isinstance(event, Comparison | Result):
                continue
            run = runs.get(event.job_id)
            if run is not None:
                self._take(run, event)
                touched[run.job.id] = run
        for job_id in touched:
            self.job_advanced.emit(job_id)
        self.comparison_advanced.emit(comparison_id)
        if isinstance(events[-1], Comparison):
            self._end_comparison(runs, events[-1])

    def _end_comparison(self, runs: dict[int, Run], comparison: Comparison) -> None:
        del self._comparisons[comparison.job_id]
        for result in comparison.results:
            run = runs.pop(result.job.id, None)
            if run is not None:
                self._take(run, result)
                self.job_advanced.emit(run.job.id)
                self._end(run, result)
        for run in runs.values():
            self._leave(run)
        self._tell(narrate_comparison(comparison))
        self.comparison_ended.emit(comparison)

    def _tell(self, lines: tuple[Line, ...]) -> None:
        for line in lines:
            self.line_logged.emit(line)
