"""The threads of the app: what runs at the same time, and what waits for what."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.lane import Lane, Runner, Task
from gemmviz.core.experiments import (
    CheckRaces,
    CompareDevices,
    Experiment,
    RaceDevices,
    RunSuite,
    RunSweep,
)
from gemmviz.core.model import Device, Job, Registers


class Workers(QObject):
    """Every worker thread: one for each piece of hardware, for comparisons and for enquiries.

    Devices that share hardware share a lane and so take turns; only separate hardware runs at the
    same time. An experiment is done on its device's lane. A comparison runs alone: whatever was
    queued before it has ended, and what is queued later waits. A batch holds the merged events of
    one job, comparison or experiment since the last batch, in order.
    """

    devices_listed = Signal(object)
    registers_read = Signal(object, object)
    job_started = Signal(int)
    batch_arrived = Signal(int, object)
    comparison_started = Signal(int)
    comparison_advanced = Signal(int, object)
    _listing_requested = Signal()
    _registers_requested = Signal(object, object)

    def __init__(self, engine: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._lanes: dict[str, Lane] = {}
        self._comparing: Lane | None = None
        self._held: deque[Task] = deque()  # behind a comparison that waits or goes on
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
        self._held.append(Task(job.id, (job,), (device,)))
        self._advance()

    def compare(self, jobs: Sequence[Job], devices: Sequence[Device], job_id: int) -> None:
        """Queue a comparison of ``jobs``, each on the device at its place, under an id of its own.

        ``comparison_advanced`` brings its events; the last of them is its Comparison.
        """
        self._held.append(Task(job_id, tuple(jobs), tuple(devices), compared=True))
        self._advance()

    def perform(self, experiment: Experiment) -> None:
        """Queue an experiment on its device's lane; one of no device or of several runs alone.

        ``batch_arrived`` brings its events, or ``comparison_advanced`` if it runs alone; the last
        of them is its Outcome.
        """
        several = CheckRaces | RunSuite | CompareDevices | RaceDevices | RunSweep
        alone = isinstance(experiment, several)
        devices = () if isinstance(experiment, several) else (experiment.device,)
        task = Task(experiment.job_id, (), devices, compared=alone, experiment=experiment)
        self._held.append(task)
        self._advance()

    def stop(self, job_id: int) -> None:
        """End a running or waiting job, comparison or experiment."""
        self._held = deque(task for task in self._held if task.id != job_id)
        for lane in self._all_lanes:
            lane.stop(job_id)
        self._advance()

    def close(self) -> None:
        """End every job, child and thread, and wait for them."""
        self._held.clear()
        lanes = [self._enquiries, *self._all_lanes]
        for lane in lanes:
            lane.end()
        self._engine.close()
        for lane in lanes:
            lane.wait()

    @property
    def _all_lanes(self) -> list[Lane]:
        """Those that do tasks."""
        return [*self._lanes.values(), *([self._comparing] if self._comparing is not None else [])]

    @Slot()
    def _advance(self) -> None:
        """Hand on what needs to wait for no comparison, and a comparison that is alone."""
        while self._held and (self._comparing is None or self._comparing.idle):
            if not self._held[0].compared:
                self._lane_of(self._held[0].devices[0]).submit(self._held.popleft())
            elif all(lane.idle for lane in self._lanes.values()):
                self._comparison_lane().submit(self._held.popleft())
            else:
                break

    def _lane_of(self, device: Device) -> Lane:
        hardware = hardware_of(device)
        if hardware not in self._lanes:
            lane = Lane(self._engine, hardware, self)
            lane.task_started.connect(self.job_started)
            lane.batch_arrived.connect(self.batch_arrived)
            lane.task_ended.connect(self._advance)
            self._lanes[hardware] = lane
        return self._lanes[hardware]

    def _comparison_lane(self) -> Lane:
        if self._comparing is None:
            self._comparing = Lane(self._engine, "comparisons", self)
            self._comparing.task_started.connect(self.comparison_started)
            self._comparing.batch_arrived.connect(self.comparison_advanced)
            self._comparing.task_ended.connect(self._advance)
        return self._comparing

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


def hardware_of(device: Device) -> str:
    """What a device computes on: devices of the same take turns."""
    return device.hardware or str(device.key)
