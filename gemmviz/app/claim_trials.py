"""The documents' statements on each device: what has come of them, and trying them again."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz import __version__
from gemmviz.app.state import AppState
from gemmviz.core.claim_list import CLAIMS
from gemmviz.core.claim_report import claim_page
from gemmviz.core.claims import ClaimResult
from gemmviz.core.experiments import Outcome, TryClaims
from gemmviz.core.messages import ClaimTried, Message, Progressed
from gemmviz.core.model import Device, DeviceKey


class ClaimTrials(QObject):
    """What is known of the statements on the selected device; ``changed`` follows every change.

    Attributes:
        share: How much of the trial under way is done, 0 to 1; 0 without one.
        note: What it does now, or how the last one ended where it failed.
        failed: Whether ``note`` says what went wrong.
    """

    changed = Signal()

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._job_id: int | None = None
        self._device: Device | None = None
        self._found: dict[DeviceKey, dict[str, ClaimResult]] = {}
        self.share = 0.0
        self.note, self.failed = "", False
        state.laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        state.laboratory.experiment_ended.connect(self._on_experiment_ended)
        state.device_selected.connect(self.changed)

    @property
    def running(self) -> bool:
        """Whether statements are being tried, on whatever device."""
        return self._job_id is not None

    @property
    def device(self) -> Device | None:
        """The device that is looked at."""
        return self._state.device

    @property
    def refusal(self) -> str:
        """Why nothing can be tried now, or ""."""
        if self.running:
            return "Statements are being tried."
        if self.device is None:
            return "There is no device to try them on."
        if self.device.unavailable:
            return f"{self.device.name} cannot run: {self.device.unavailable}."
        return ""

    def result(self, claim_id: str) -> ClaimResult | None:
        """What came of a statement on the selected device."""
        return self._known.get(claim_id)

    @property
    def results(self) -> tuple[ClaimResult, ...]:
        """All that is known of the selected device, in the order of the documents."""
        return tuple(self._known[claim.id] for claim in CLAIMS if claim.id in self._known)

    @property
    def _known(self) -> dict[str, ClaimResult]:
        return self._found.get(self.device.key, {}) if self.device is not None else {}

    def start(self, ids: tuple[str, ...] = ()) -> None:
        """Try statements on the selected device, all of them where none is named."""
        device = self.device
        if self.refusal or device is None:
            return
        laboratory = self._state.laboratory
        self._job_id, self._device = laboratory.next_id(), device
        self.share, self.note, self.failed = 0.0, "Waiting for the device", False
        variants = self._state.catalog.variants
        laboratory.start(TryClaims(self._job_id, device, variants, ids))
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """End the trial under way."""
        if self._job_id is not None:
            self._state.laboratory.stop(self._job_id)

    def page(self) -> str:
        """The report page of the selected device."""
        assert self.device is not None
        return claim_page(self.results, self.device, __version__, datetime.now().astimezone())

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, messages: tuple[Message, ...]) -> None:
        if job_id != self._job_id or self._device is None:
            return
        for message in messages:
            match message:
                case Progressed(share=share, text=text):
                    self.share, self.note = share or self.share, text
                case ClaimTried(result=result):
                    self._keep(self._device, result)
                case _:
                    pass
        self.changed.emit()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        if outcome.experiment.job_id != self._job_id or self._device is None:
            return
        # Told one by one before; a stop may have kept the last of them back.
        for result in outcome.answer if isinstance(outcome.answer, tuple) else ():
            self._keep(self._device, result)
        self._job_id, self._device, self.share = None, None, 0.0
        self.failed = outcome.failure is not None
        self.note = outcome.failure.sentence if outcome.failure is not None else ""
        if outcome.stopped:
            self.note = "Stopped"
        self.changed.emit()

    def _keep(self, device: Device, result: ClaimResult) -> None:
        self._found.setdefault(device.key, {})[result.id] = result
