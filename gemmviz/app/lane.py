"""One worker thread with its queue: what asks the engine, and how its answers reach the GUI."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from gemmviz.app.samples import Tally, tally
from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Experiment, Outcome
from gemmviz.core.messages import Listing, Message, SampleBatch
from gemmviz.core.model import Device, Failure, Job, Registers, Result, Samples

Event = Message | Tally | Result | Comparison | Outcome
_LAST = (Result, Comparison, Outcome)
REST_MILLISECONDS = 33
"""The least time between two deliveries of one lane to the GUI thread: about 30 a second."""


class Runner(Protocol):
    """What the app asks of an engine: blocking calls, and a ``stop`` for any thread."""

    def list_devices(self) -> Listing:
        """Every platform and device; never raises for driver trouble."""
        ...

    def run(self, job: Job, device: Device) -> Iterator[Message | Result]:
        """The messages of a job in order, the Result last."""
        ...

    def compare(
        self, jobs: Sequence[Job], devices: Sequence[Device], job_id: int
    ) -> Iterator[Message | Comparison]:
        """The messages of jobs that take turns, each with its own id, the Comparison last."""
        ...

    def perform(self, experiment: Experiment) -> Iterator[Message | Outcome]:
        """What an experiment says of its progress, its Outcome last."""
        ...

    def registers(self, job: Job, device: Device) -> Registers | None:
        """Registers per work-item where the compiler tells them."""
        ...

    def stop(self, job_id: int) -> None:
        """End a job, a comparison or an experiment; callable from any thread."""
        ...

    def close(self) -> None:
        """End every child."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What a lane does at a time: one job, with ``compared`` several in turns, or an experiment."""

    id: int
    jobs: tuple[Job, ...]
    devices: tuple[Device, ...]
    compared: bool = False
    experiment: Experiment | None = None


class Worker(QObject):
    """Drains one engine call at a time on the thread it lives in.

    Messages wait in an inbox; ``messages_arrived`` is emitted once for any number of them, so the
    GUI thread is never woken a sample at a time.
    """

    messages_arrived = Signal()
    devices_listed = Signal(object)
    registers_read = Signal(object, object)

    def __init__(self, engine: Runner) -> None:
        super().__init__()
        self._engine = engine
        self._lock = threading.Lock()
        self._inbox: list[Event] = []
        self._announced = False

    def take(self) -> list[Event]:
        """Everything that arrived since the last call; any thread."""
        with self._lock:
            taken, self._inbox = self._inbox, []
            self._announced = False
        return taken

    @Slot()
    def _on_listing_requested(self) -> None:
        self.devices_listed.emit(self._engine.list_devices())

    @Slot(object, object)
    def _on_registers_requested(self, job: Job, device: Device) -> None:
        answer = None
        try:
            answer = self._engine.registers(job, device)
        finally:
            self.registers_read.emit(job, answer)

    @Slot(object)
    def _on_task_requested(self, task: Task) -> None:
        ended = False
        try:
            for event in self._events(task):
                ended = ended or isinstance(event, _LAST)
                for result in _results(event):
                    self._deliver(tally(result.job.id, result.samples))
                self._deliver(event)
                if QThread.currentThread().isInterruptionRequested():
                    break
        finally:
            if not ended:  # what came before stays as it was heard
                self._deliver(_without_end(task))

    def _events(self, task: Task) -> Iterator[Message | Result | Comparison | Outcome]:
        if task.experiment is not None:
            yield from self._engine.perform(task.experiment)
        elif task.compared:
            yield from self._engine.compare(task.jobs, task.devices, task.id)
        else:
            yield from self._engine.run(task.jobs[0], task.devices[0])

    def _deliver(self, event: Event) -> None:
        with self._lock:
            self._inbox.append(event)
            announce, self._announced = not self._announced, True
        if announce:
            self.messages_arrived.emit()


def _results(event: Event) -> tuple[Result, ...]:
    if isinstance(event, Comparison):
        return event.results
    return (event,) if isinstance(event, Result) else ()


def _without_end(task: Task) -> Result | Comparison | Outcome:
    """The last word on a task that the engine left without one."""
    failure = Failure("crash", "The engine ended without a result: see the terminal.")
    if task.experiment is not None:
        return Outcome(task.experiment, None, failure)
    if task.compared:
        return Comparison(task.id, (), (), failure, False, "")
    return Result(task.jobs[0], task.devices[0], failure=failure, finished_at=time.time())


class Lane(QObject):
    """A queue of tasks that are done one after the other on a thread of their own.

    A batch holds the merged events of one task since the last batch, in order.
    """

    task_requested = Signal(object)
    task_started = Signal(int)
    batch_arrived = Signal(int, object)
    task_ended = Signal()

    def __init__(self, engine: Runner, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.running: int | None = None
        self._queue: deque[Task] = deque()
        self._rest = QTimer(self, singleShot=True, interval=REST_MILLISECONDS)
        self._rest.timeout.connect(self._drain)
        self._thread = QThread(self)
        self._thread.setObjectName(name)
        self.worker = Worker(engine)
        self.worker.moveToThread(self._thread)
        self.worker.messages_arrived.connect(self._on_messages_arrived)
        self.task_requested.connect(self.worker._on_task_requested)
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return self.running is None and not self._queue

    def submit(self, task: Task) -> None:
        """Queue a task; it starts when all earlier ones of this lane have ended."""
        self._queue.append(task)
        self._start_next()

    def stop(self, task_id: int) -> None:
        """End a running task or take a waiting one out of the queue."""
        self._queue = deque(task for task in self._queue if task.id != task_id)
        if task_id == self.running:
            self._engine.stop(task_id)

    def end(self) -> None:
        """Forget the queue and ask the thread to end."""
        self._queue.clear()
        self._thread.requestInterruption()
        if self.running is not None:
            self._engine.stop(self.running)
        self._thread.quit()

    def wait(self) -> None:
        """Block until the thread has ended; the engine must be closed."""
        self._thread.wait()

    def _start_next(self) -> None:
        if self.running is None and self._queue:
            task = self._queue.popleft()
            self.running = task.id
            self.task_started.emit(task.id)
            self.task_requested.emit(task)

    @Slot()
    def _on_messages_arrived(self) -> None:
        if not self._rest.isActive():
            self._drain()

    @Slot()
    def _drain(self) -> None:
        events = self.worker.take()
        if not events or self.running is None:
            return
        self._rest.start()
        task_id, ended = self.running, isinstance(events[-1], _LAST)
        if ended:
            self.running = None
        self.batch_arrived.emit(task_id, merge(events))
        if ended:
            self._start_next()
            self.task_ended.emit()


def merge(events: list[Event]) -> tuple[Event, ...]:
    """The same events in order, each run of one job's sample batches joined into one."""
    merged: list[Event] = []
    run: list[SampleBatch] = []
    for event in [*events, None]:
        if isinstance(event, SampleBatch) and (not run or run[0].job_id == event.job_id):
            run.append(event)
            continue
        if run:
            merged.append(_joined(run))
            run = []
        if isinstance(event, SampleBatch):
            run.append(event)
        elif event is not None:
            merged.append(event)
    return tuple(merged)


def _joined(run: list[SampleBatch]) -> SampleBatch:
    if len(run) == 1:
        return run[0]
    samples = [batch.samples for batch in run]
    return SampleBatch(
        run[0].job_id,
        Samples(
            tuple(value for part in samples for value in part.launches),
            tuple(value for part in samples for value in part.seconds),
            tuple(value for part in samples for value in part.at),
        ),
    )
