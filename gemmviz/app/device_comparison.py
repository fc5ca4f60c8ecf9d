"""The last comparison of devices, and making one: which devices, which sizes, which kernel."""

from __future__ import annotations

import re

from PySide6.QtCore import QObject, Slot

from gemmviz.app.device_trial import DeviceTrial
from gemmviz.app.setup import LARGEST_SIZE
from gemmviz.app.state import AppState
from gemmviz.core.choice import measurable
from gemmviz.core.device_comparison import COMPARE, SIMULATOR_SIZE, DeviceComparison
from gemmviz.core.experiments import CompareDevices
from gemmviz.core.labels import form_label
from gemmviz.core.messages import DevicesMeasured, Message
from gemmviz.core.model import Device, Result
from gemmviz.core.policy import Policy

SIZE_PRESETS: dict[str, tuple[int, ...]] = {
    "Small": (16, 32, 64, 128),
    "Usual": (64, 128, 256, 512, 1024),
    "Large": (256, 512, 1024, 2048, 4096),
}
"""M = N = K of one comparison, each twice the last."""
_MOST_SIZES = 24


class DeviceTrials(DeviceTrial):
    """What is known of the devices side by side, whole or in the making.

    Attributes:
        comparison: The last one, as far as it was measured; None before the first.
        results: Its results, which hold all samples.
        sizes: M = N = K of the next one, rising.
        each_best: Whether each device runs its best kernel, instead of all the setup's.
    """

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(state, "Stopped before every size was measured", parent)
        self.comparison: DeviceComparison | None = None
        self.results: tuple[Result, ...] = ()
        self.sizes = SIZE_PRESETS["Usual"]
        self._sized = False  # by a person
        self.each_best = False
        self.policy: Policy = COMPARE
        for signal in (state.setup_changed, state.devices_ticked, state.devices_listed):
            signal.connect(self.changed)
        state.devices_listed.connect(self._choose_sizes)

    @property
    def devices(self) -> tuple[Device, ...]:
        """Those that a comparison is for: the ticked ones, else all that can run."""
        usable = [device for device in self._state.devices if device.unavailable is None]
        ticked = [device for device in usable if device.key in self._state.ticked]
        return tuple(ticked or usable)

    @property
    def refusal(self) -> str:
        """Why no comparison can be made now, or ""."""
        if self.running:
            return "Devices are being compared."
        if not self.devices:
            return "There is no device to compare."
        if not self.sizes:
            return "Say at least one size, as 64, 128, 256."
        if not self.each_best and self._state.setup.variant is None:
            return "Choose a kernel: none could be loaded."
        return ""

    @property
    def needs_ceilings(self) -> tuple[Device, ...]:
        """The devices whose ceilings are not measured, so that no share of them is known."""
        known = self._state.laboratory.ceilings
        return tuple(each for each in measurable(self.devices) if each.key not in known)

    @property
    def subject(self) -> str:
        """What the next comparison compares: the kernel, the element type and the devices."""
        setup, count = self._state.setup, len(self.devices)
        title = setup.variant.title if setup.variant is not None else "no kernel"
        kernel = "each with its best kernel" if self.each_best else title
        what = (f"{count} device{'s' * (count != 1)}", kernel, setup.element,
                form_label(setup.problem()))  # fmt: skip
        return ", ".join(filter(None, what))

    def choose_sizes(self, text: str) -> str:
        """Take the sizes that a person typed; returns why not, or ""."""
        sizes, why = parse_sizes(text)
        if not why:
            self.sizes, self._sized = sizes, True
            self.changed.emit()
        return why

    def choose_best(self, each_best: bool) -> None:
        """Let each device run its best kernel, or all the setup's."""
        self.each_best = each_best
        self.changed.emit()

    def start(self, *, ceilings: bool = False) -> None:
        """Compare the devices; with ``ceilings`` measure first what they can do at most."""
        if self.refusal:
            return
        setup = self._state.setup
        self.comparison, self.results = None, ()
        self._begin(
            CompareDevices(
                self._state.laboratory.next_id(), self.devices, self._state.catalog.variants,
                setup.problem(setup.seed or 0), self.sizes,
                None if self.each_best else setup.variant,
                () if self.each_best else setup.parameters, self.policy, ceilings,
            )
        )  # fmt: skip

    @Slot()
    def _choose_sizes(self) -> None:
        """The sizes that suit the devices there are, unless a person has chosen some."""
        if self._sized or self.running:
            return
        kinds = {device.type for device in self.devices}
        self.sizes = SIZE_PRESETS["Large" if kinds == {"GPU"} else "Usual"]
        if kinds == {"simulator"}:
            self.sizes = tuple(s for s in SIZE_PRESETS["Small"] if s <= SIMULATOR_SIZE)
        self.changed.emit()

    def _take(self, message: Message) -> None:
        if isinstance(message, DevicesMeasured):
            self.comparison = message.comparison
            self.results += message.results

    def _finish(self, answer: object) -> None:
        if isinstance(answer, DeviceComparison) and answer.figures:
            self.comparison = answer
        self._state.laboratory.recall(self._state.devices)


def parse_sizes(text: str) -> tuple[tuple[int, ...], str]:
    """Sizes as a person types them, "64, 128" or "64 128", rising and each once; or why not."""
    words = [word for word in re.split(r"[\s,;]+", text) if word]
    if not words:
        return (), "Say at least one size, as 64, 128, 256."
    if len(words) > _MOST_SIZES:
        return (), f"At most {_MOST_SIZES} sizes, not {len(words)}."
    sizes = set()
    for word in words:
        if not word.isdecimal() or not 1 <= int(word) <= LARGEST_SIZE:
            return (), f"{word} is no size from 1 to {LARGEST_SIZE}."
        sizes.add(int(word))
    return tuple(sorted(sizes)), ""
