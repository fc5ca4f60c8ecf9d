"""One experiment on the selected device, followed from its start to its end."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.state import AppState
from gemmviz.core.experiments import Experiment, Outcome
from gemmviz.core.messages import Message, Progressed
from gemmviz.core.model import Device


class DeviceTrial(QObject):
    """Starts an experiment, follows and stops it; ``changed`` follows every change.

    A subclass keeps what is found in ``_take`` and ``_finish``.

    Attributes:
        share: How much of the experiment under way is done, 0 to 1; 0 without one.
        note: What it does now, or how the last one ended where it failed.
        failed: Whether ``note`` says what went wrong.
    """

    changed = Signal()

    def __init__(self, state: AppState, stopped: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state, self._stopped = state, stopped
        self._job_id: int | None = None
        self.share = 0.0
        self.note, self.failed = "", False
        state.laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        state.laboratory.experiment_ended.connect(self._on_experiment_ended)
        state.device_selected.connect(self.changed)

    @property
    def running(self) -> bool:
        """Whether an experiment waits or goes on, on whatever device."""
        return self._job_id is not None

    @property
    def device(self) -> Device | None:
        """The device that is looked at."""
        return self._state.device

    @Slot()
    def stop(self) -> None:
        """End the experiment under way; what it has found stays."""
        if self._job_id is not None:
            self._state.laboratory.stop(self._job_id)

    def _begin(self, experiment: Experiment) -> None:
        """Hand an experiment on."""
        self._job_id = experiment.job_id
        self.share, self.note, self.failed = 0.0, "Waiting for the device", False
        self._state.laboratory.start(experiment)
        self.changed.emit()

    def _take(self, message: Message) -> None:
        """Keep what a message of the experiment tells."""

    def _finish(self, answer: object) -> None:
        """Keep the answer, or None, and forget what was asked."""

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, messages: tuple[Message, ...]) -> None:
        if job_id != self._job_id:
            return
        for message in messages:
            if isinstance(message, Progressed):
                self.share, self.note = message.share or self.share, message.text
            else:
                self._take(message)
        self.changed.emit()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        if outcome.job_id != self._job_id:
            return
        self._finish(outcome.answer)
        self._job_id, self.share = None, 0.0
        self.failed = outcome.failure is not None
        self.note = outcome.failure.sentence if outcome.failure is not None else ""
        if outcome.stopped:
            self.note = self._stopped
        self.changed.emit()
