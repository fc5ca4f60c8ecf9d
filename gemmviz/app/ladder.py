"""The ladders that were climbed, by device and problem, and climbing one."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.state import AppState
from gemmviz.core.experiments import ClimbLadder, Outcome
from gemmviz.core.ladder import Ladder
from gemmviz.core.messages import LadderClimbed, Message, Progressed
from gemmviz.core.model import Device, DeviceKey, Problem

_Question = tuple[DeviceKey, Problem]


class LadderClimb(QObject):
    """What is known of the ladder on the selected device at the setup's shape and element type.

    ``changed`` follows every change of it.

    Attributes:
        share: How much of the climb under way is done, 0 to 1; 0 without one.
        note: What it does now, or how the last one ended where it failed.
        failed: Whether ``note`` says what went wrong.
    """

    changed = Signal()

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._job_id: int | None = None
        self._asked: _Question | None = None
        self._found: dict[_Question, Ladder] = {}
        self.share = 0.0
        self.note, self.failed = "", False
        state.laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        state.laboratory.experiment_ended.connect(self._on_experiment_ended)
        state.device_selected.connect(self.changed)
        state.setup_changed.connect(self.changed)

    @property
    def running(self) -> bool:
        """Whether a ladder is being climbed, on whatever device."""
        return self._job_id is not None

    @property
    def device(self) -> Device | None:
        """The device that is looked at."""
        return self._state.device

    @property
    def problem(self) -> Problem:
        """The setup's shape and element type; its seed says nothing."""
        return self._state.setup.problem()

    @property
    def refusal(self) -> str:
        """Why no ladder can be climbed now, or ""."""
        if self.running:
            return "A ladder is being climbed."
        if self.device is None:
            return "There is no device to climb it on."
        if self.device.unavailable:
            return f"{self.device.name} cannot run: {self.device.unavailable}."
        if self.device.type == "simulator":
            return "A simulator's speed says nothing of a device: choose a real one."
        return ""

    @property
    def ladder(self) -> Ladder | None:
        """The ladder of the selected device and the setup's problem, whole or in the making."""
        asked = self._question()
        return self._found.get(asked) if asked is not None else None

    @property
    def here(self) -> bool:
        """Whether the climb under way is that of the selected device and the setup's problem."""
        return self.running and self._asked == self._question()

    def start(self) -> None:
        """Climb the ladder on the selected device at the setup's problem."""
        device, asked = self.device, self._question()
        if self.refusal or device is None:
            return
        laboratory, setup = self._state.laboratory, self._state.setup
        self._job_id, self._asked = laboratory.next_id(), asked
        self.share, self.note, self.failed = 0.0, "Waiting for the device", False
        laboratory.start(
            ClimbLadder(
                self._job_id, device, self._state.catalog.variants, setup.problem(setup.seed or 0)
            )
        )
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """End the climb under way; the rungs that were measured stay."""
        if self._job_id is not None:
            self._state.laboratory.stop(self._job_id)

    def _question(self) -> _Question | None:
        return (self.device.key, self.problem) if self.device is not None else None

    def _keep(self, ladder: Ladder) -> None:
        if self._asked is not None and ladder.rungs:
            self._found[self._asked] = ladder

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, messages: tuple[Message, ...]) -> None:
        if job_id != self._job_id:
            return
        for message in messages:
            match message:
                case Progressed(share=share, text=text):
                    self.share, self.note = share or self.share, text
                case LadderClimbed(ladder=ladder):
                    self._keep(ladder)
                case _:
                    pass
        self.changed.emit()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        if outcome.experiment.job_id != self._job_id:
            return
        if isinstance(outcome.answer, Ladder):
            self._keep(outcome.answer)
        self._job_id, self._asked, self.share = None, None, 0.0
        self.failed = outcome.failure is not None
        self.note = outcome.failure.sentence if outcome.failure is not None else ""
        if outcome.stopped:
            self.note = "Stopped before every rung was measured"
        self.changed.emit()
