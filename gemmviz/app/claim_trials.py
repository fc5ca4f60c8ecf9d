"""The documents' statements on each device: what has come of them, and trying them again."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QObject

from gemmviz import __version__
from gemmviz.app.device_trial import DeviceTrial
from gemmviz.app.state import AppState
from gemmviz.core.claim_list import CLAIMS
from gemmviz.core.claim_report import claim_page
from gemmviz.core.claims import ClaimResult
from gemmviz.core.experiments import TryClaims
from gemmviz.core.messages import ClaimTried, Message
from gemmviz.core.model import Device, DeviceKey


class ClaimTrials(DeviceTrial):
    """What is known of the statements on the selected device."""

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(state, "Stopped", parent)
        self._asked: Device | None = None
        self._found: dict[DeviceKey, dict[str, ClaimResult]] = {}

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
        self._asked, variants = device, self._state.catalog.variants
        self._begin(TryClaims(self._state.laboratory.next_id(), device, variants, ids))

    def page(self) -> str:
        """The report page of the selected device."""
        assert self.device is not None
        return claim_page(self.results, self.device, __version__, datetime.now().astimezone())

    def _take(self, message: Message) -> None:
        if isinstance(message, ClaimTried):
            self._keep(message.result)

    def _finish(self, answer: object) -> None:
        # Told one by one before; a stop may have kept the last of them back.
        for result in answer if isinstance(answer, tuple) else ():
            self._keep(result)
        self._asked = None

    def _keep(self, result: ClaimResult) -> None:
        if self._asked is not None:
            self._found.setdefault(self._asked.key, {})[result.id] = result
