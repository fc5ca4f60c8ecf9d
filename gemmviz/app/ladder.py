"""The ladders that were climbed, by device and problem, and climbing one."""

from __future__ import annotations

from PySide6.QtCore import QObject

from gemmviz.app.device_trial import DeviceTrial
from gemmviz.app.state import AppState
from gemmviz.core.experiments import ClimbLadder
from gemmviz.core.ladder import Ladder
from gemmviz.core.messages import LadderClimbed, Message
from gemmviz.core.model import DeviceKey, Problem

_Question = tuple[DeviceKey, Problem]


class LadderClimb(DeviceTrial):
    """What is known of the ladder on the selected device at the setup's shape and element type."""

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(state, "Stopped before every rung was measured", parent)
        self._asked: _Question | None = None
        self._found: dict[_Question, Ladder] = {}
        state.setup_changed.connect(self.changed)

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
        setup, self._asked = self._state.setup, asked
        self._begin(
            ClimbLadder(
                self._state.laboratory.next_id(), device, self._state.catalog.variants,
                setup.problem(setup.seed or 0),
            )
        )  # fmt: skip

    def _question(self) -> _Question | None:
        return (self.device.key, self.problem) if self.device is not None else None

    def _keep(self, ladder: Ladder) -> None:
        if self._asked is not None and ladder.rungs:
            self._found[self._asked] = ladder

    def _take(self, message: Message) -> None:
        if isinstance(message, LadderClimbed):
            self._keep(message.ladder)

    def _finish(self, answer: object) -> None:
        if isinstance(answer, Ladder):
            self._keep(answer)
        self._asked = None
