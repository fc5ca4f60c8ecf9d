"""The experiments under way, and what the last ones have found of each device."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.book import ResultBook
from gemmviz.app.lane import Event
from gemmviz.app.narration import Line
from gemmviz.app.worker import Workers
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.experiments import Experiment, Outcome, describe_experiment
from gemmviz.core.messages import Began
from gemmviz.core.model import Device, DeviceKey
from gemmviz.engine.ceiling_table import kept_ceilings


class Laboratory(QObject):
    """Hands experiments to the workers and follows what comes of them.

    ``busy`` are those that wait or go on, by their ids; ``begun`` the ids of those that go on.
    ``ceilings`` are the tables that are known, by device.
    """

    busy_changed = Signal()
    experiment_started = Signal(int)
    experiment_advanced = Signal(int, object)
    experiment_ended = Signal(object)
    ceilings_changed = Signal()
    line_logged = Signal(object)

    def __init__(
        self,
        workers: Workers,
        book: ResultBook,
        ids: Iterator[int],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workers, self._book, self._ids = workers, book, ids
        self.busy: dict[int, Experiment] = {}
        self.begun: set[int] = set()
        self.ceilings: dict[DeviceKey, CeilingTable] = {}
        workers.job_started.connect(self._on_task_started)
        workers.comparison_started.connect(self._on_task_started)
        workers.batch_arrived.connect(self._on_batch_arrived)
        workers.comparison_advanced.connect(self._on_batch_arrived)

    def next_id(self) -> int:
        """An id that no job, comparison or experiment has."""
        return next(self._ids)

    @property
    def note(self) -> str:
        """What is measured and what waits, in a few words; "" while nothing does."""
        begun = [each for job_id, each in self.busy.items() if job_id in self.begun]
        waiting = len(self.busy) - len(begun)
        parts = [f"Measuring {' and '.join(map(describe_experiment, begun))}"] if begun else []
        if waiting:
            parts.append(f"{waiting} experiment{'s' * (waiting != 1)} waiting for the device")
        return "; ".join(parts)

    def start(self, experiment: Experiment) -> None:
        """Queue an experiment; ``experiment_ended`` brings its Outcome."""
        self.busy[experiment.job_id] = experiment
        self.busy_changed.emit()
        self._workers.perform(experiment)

    def stop(self, job_id: int | None = None) -> None:
        """End an experiment, or all; one that still waits is forgotten without an Outcome."""
        for each in [job_id] if job_id is not None else list(self.busy):
            self._workers.stop(each)
            if each in self.busy and each not in self.begun:
                outcome = Outcome(self.busy.pop(each), None, stopped=True)
                self.busy_changed.emit()
                self.experiment_ended.emit(outcome)

    def learn_ceilings(self, table: CeilingTable) -> None:
        """Know the ceilings of a device from now on."""
        if self.ceilings.get(table.device) != table:
            self.ceilings[table.device] = table
            self._book.learn_ceilings(table)
            self.ceilings_changed.emit()

    def recall(self, devices: Iterable[Device]) -> None:
        """Know the ceilings that an earlier session measured on these devices."""
        for device in devices:
            table = kept_ceilings(device) if device.key not in self.ceilings else None
            if table is not None:
                self.learn_ceilings(table)

    @Slot(int)
    def _on_task_started(self, job_id: int) -> None:
        if job_id in self.busy:
            self.begun.add(job_id)
            self._tell(f"measuring {describe_experiment(self.busy[job_id])}")
            self.busy_changed.emit()
            self.experiment_started.emit(job_id)

    @Slot(int, object)
    def _on_batch_arrived(self, job_id: int, events: tuple[Event, ...]) -> None:
        if job_id not in self.busy:
            return
        said = tuple(event for event in events if not isinstance(event, Outcome | Began))
        if said:
            self.experiment_advanced.emit(job_id, said)
        if isinstance(events[-1], Outcome):
            self._end(job_id, events[-1])

    def _end(self, job_id: int, outcome: Outcome) -> None:
        del self.busy[job_id]
        self.begun.discard(job_id)
        what = describe_experiment(outcome.experiment)
        if outcome.failure is not None:
            self._tell(f"{what}: {outcome.failure.sentence}", bad=True)
        else:
            self._tell(f"{what}: {'stopped' if outcome.stopped else 'done'}")
        if isinstance(outcome.answer, CeilingTable) and not outcome.stopped:
            self.learn_ceilings(outcome.answer)
        self.busy_changed.emit()
        self.experiment_ended.emit(outcome)

    def _tell(self, text: str, *, bad: bool = False) -> None:
        self.line_logged.emit(Line(time.time(), "experiment", text, bad))
