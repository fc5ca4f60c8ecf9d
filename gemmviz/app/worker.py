"""The thread side of the app: the worker that drains the engine, and the threads it lives on."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Protocol

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from gemmviz.app.samples import Tally, tally
from gemmviz.core.messages import Listing, Message, SampleBatch
from gemmviz.core.model import Device, Failure, Job, Registers, Result, Samples

Event = Message | Tally | Result
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

    def registers(self, job: Job, device: Device) -> Registers | None:
        """Registers per work-item where the compiler tells them."""
        ...

    def stop(self, job_id: int) -> None:
        """End a job; callable from any thread."""
        ...

    def close(self) -> None:
        """End every child."""
        ...


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

    @Slot(object, object)
    def _on_job_requested(self, job: Job, device: Device) -> None:
        ended = False
        try:
            for event in self._engine.run(job, device):
                if isinstance(event, Result):
                    ended = True
                    self._deliver(tally(event.samples))
                self._deliver(event)
                if QThread.currentThread().isInterruptionRequested():
                    break
        finally:
            if not ended:  # what came before stays as it was heard
                self._deliver(_without_result(job, device))

    def _deliver(self, event: Event) -> None:
        with self._lock:
            self._inbox.append(event)
            announce, self._announced = not self._announced, True
        if announce:
            self.messages_arrived.emit()


def _without_result(job: Job, device: Device) -> Result:
    """The result of a job that the engine left without one."""
    failure = Failure("crash", "The engine ended without a result: see the terminal.")
    return Result(job, device, failure=failure, finished_at=time.time())


class Lane(QObject):
    """One worker thread with its queue: the jobs of one piece of hardware, one after the other."""

    job_requested = Signal(object, object)
    job_started = Signal(int)
    batch_arrived = Signal(int, object)

    def __init__(self, engine: Runner, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self.running: int | None = None
        self._queue: deque[tuple[Job, Device]] = deque()
        self._rest = QTimer(self, singleShot=True, interval=REST_MILLISECONDS)
        self._rest.timeout.connect(self._drain)
        self._thread = QThread(self)
        self._thread.setObjectName(name)
        self.worker = Worker(engine)
        self.worker.moveToThread(self._thread)
        self.worker.messages_arrived.connect(self._on_messages_arrived)
        self.job_requested.connect(self.worker._on_job_requested)
        self._thread.start()

    @property
    def waiting(self) -> tuple[int, ...]:
        """The ids of the jobs that wait for this hardware, next first."""
        return tuple(job.id for job, _ in self._queue)

    def submit(self, job: Job, device: Device) -> None:
        """Queue a job; it starts when all earlier ones of this hardware have ended."""
        self._queue.append((job, device))
        self._start_next()

    def stop(self, job_id: int) -> None:
        """End a running job or take a waiting one out of the queue."""
        self._queue = deque(pair for pair in self._queue if pair[0].id != job_id)
        if job_id == self.running:
            self._engine.stop(job_id)

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
            job, device = self._queue.popleft()
            self.running = job.id
            self.job_started.emit(job.id)
            self.job_requested.emit(job, device)

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
        job_id, ended = self.running, isinstance(events[-1], Result)
        if ended:
            self.running = None
        self.batch_arrived.emit(job_id, merge(events))
        if ended:
            self._start_next()


class Workers(QObject):
    """Every worker thread: one for each piece of hardware and one for enquiries.

    Devices that share hardware share a lane and so take turns; only separate hardware runs at the
    same time. A batch holds the merged messages of one job since the last batch, in order.
    """

    devices_listed = Signal(object)
    registers_read = Signal(object, object)
    job_started = Signal(int)
    batch_arrived = Signal(int, object)
    _listing_requested = Signal()
    _registers_requested = Signal(object, object)

    def __init__(self, engine: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._lanes: dict[str, Lane] = {}
        self._asking = False
        self._next_question: tuple[Job, Device] | None = None
        self._enquiries = Lane(engine, "enquiries", self)
        worker = self._enquiries.worker
        self._listing_requested.connect(worker._on_listing_requested)
        self._registers_requested.connect(worker._on_registers_requested)
        worker.devices_listed.connect(self.devices_listed)
        worker.registers_read.connect(self._on_registers_read)

    def list_devices(self) -> None:
        """Ask for the devices; ``devices_listed`` answers with a Listing."""
        self._listing_requested.emit()

    def read_registers(self, job: Job, device: Device) -> None:
        """Ask for registers; ``registers_read`` answers (job, Registers or None).

        While one question is open only the newest further one is kept: the rest are stale.
        """
        self._next_question = (job, device)
        self._ask()

    def submit(self, job: Job, device: Device) -> None:
        """Queue a job on the lane of its device's hardware."""
        hardware = device.hardware or str(device.key)
        if hardware not in self._lanes:
            lane = Lane(self._engine, hardware, self)
            lane.job_started.connect(self.job_started)
            lane.batch_arrived.connect(self.batch_arrived)
            self._lanes[hardware] = lane
        self._lanes[hardware].submit(job, device)

    def stop(self, job_id: int) -> None:
        """End a running or waiting job."""
        for lane in self._lanes.values():
            lane.stop(job_id)

    def close(self) -> None:
        """End every job, child and thread, and wait for them."""
        lanes = [self._enquiries, *self._lanes.values()]
        for lane in lanes:
            lane.end()
        self._engine.close()
        for lane in lanes:
            lane.wait()

    def _ask(self) -> None:
        if not self._asking and self._next_question:
            question, self._next_question = self._next_question, None
            self._asking = True
            self._registers_requested.emit(*question)

    @Slot(object, object)
    def _on_registers_read(self, job: Job, registers: Registers | None) -> None:
        self._asking = False
        self.registers_read.emit(job, registers)
        self._ask()


def merge(events: list[Event]) -> tuple[Event, ...]:
    """The same messages in order, each run of sample batches joined into one."""
    merged: list[Event] = []
    run: list[SampleBatch] = []
    for event in [*events, None]:
        if isinstance(event, SampleBatch):
            run.append(event)
            continue
        if run:
            merged.append(_joined(run))
            run = []
        if event is not None:
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
