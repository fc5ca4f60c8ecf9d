"""The state of the app: what is selected, running and measured, and the signals that say so."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.access_lens import AccessLens
from gemmviz.app.archive import Archive
from gemmviz.app.book import ResultBook
from gemmviz.app.estimator import Estimator, question
from gemmviz.app.laboratory import Laboratory
from gemmviz.app.narration import Line
from gemmviz.app.rematch import comparison_refusal
from gemmviz.app.run_queue import RunQueue
from gemmviz.app.runs import Run
from gemmviz.app.setup import Option, Setup
from gemmviz.app.shelf import KernelShelf, default_kernel
from gemmviz.app.starts import Starter, same_device
from gemmviz.app.targets import (
    Target,
    element_options,
    next_step,
    parameter_options,
    preset_options,
    remarks,
    run_refusal,
    target_of,
)
from gemmviz.app.traffic import Traffic
from gemmviz.app.worker import Workers
from gemmviz.core.catalog import Catalog, CatalogError
from gemmviz.core.choice import default_device
from gemmviz.core.estimate import Estimate
from gemmviz.core.labels import count_devices
from gemmviz.core.limits import limits_for
from gemmviz.core.limits_table import Limits
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device, DeviceKey, Job, Parameter, Variant
from gemmviz.core.trust import DeviceTimer


class AppState(QObject):
    """What the person has chosen and what has come of it; lives on the GUI thread.

    Everything that the window shows is read from here, and every change of it is a signal.
    """

    devices_listed = Signal()
    device_selected = Signal()
    devices_ticked = Signal()
    catalog_loaded = Signal()
    setup_changed = Signal()
    estimated = Signal()
    job_queued = Signal(int)
    job_advanced = Signal(int)
    job_ended = Signal(int)
    run_shown = Signal()
    comparison_advanced = Signal(int)
    comparison_ended = Signal(object)
    timer_measured = Signal(object)
    theme_chosen = Signal(str)
    line_logged = Signal(object)

    def __init__(self, workers: Workers, kernels: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.book = ResultBook(self)
        self.setup = Setup()
        self.listing: Listing | None = None
        self.listing_now = False
        self.catalog = Catalog((), ())
        self.device: Device | None = None
        self.ticked: frozenset[DeviceKey] = frozenset()
        self.what_if: Limits | None = None
        self.estimate: Estimate | None = None
        self.targets: tuple[Target, ...] = ()
        self.theme = "system"
        self._shelf = KernelShelf(kernels)
        self._ids = count(1)
        self._workers = workers
        workers.devices_listed.connect(self._on_devices_listed)
        self._queue = RunQueue(workers, self.book, self)
        for name in (
            "job_queued", "job_advanced", "job_ended", "run_shown", "comparison_advanced",
            "comparison_ended", "timer_measured", "line_logged",
        ):  # fmt: skip
            getattr(self._queue, name).connect(getattr(self, name))
        self.laboratory = Laboratory(workers, self.book, self._ids, self)
        self.laboratory.line_logged.connect(self.line_logged)
        self.archive = Archive(self._queue, self.laboratory, self.book, self)
        self.archive.line_logged.connect(self.line_logged)
        self.lens = AccessLens(self)
        self._traffic = Traffic(self.book, self.lens, lambda: self.timing, self)
        for ended in (self.job_ended, self.comparison_ended, self.laboratory.experiment_ended):
            ended.connect(self._traffic.catch_up)
        self._estimator = Estimator(workers, self)
        self._estimator.registers_learned.connect(self._on_registers_learned)
        self._starter = Starter(self._queue, self._estimator, self._ids)

    # --- devices

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every device of every platform."""
        if self.listing is None:
            return ()
        return tuple(device for platform in self.listing.platforms for device in platform.devices)

    @property
    def limits(self) -> Limits | None:
        """The row of the limits tables that the selected device has."""
        return limits_for(self.device) if self.device is not None else None

    def list_devices(self) -> None:
        """Ask the drivers again, unless they are being asked; ``devices_listed`` follows."""
        if self.listing_now:
            return
        self.listing_now = True
        self._workers.list_devices()
        self.devices_listed.emit()

    def select_device(self, device: Device | None) -> None:
        """Choose the device that is looked at, and run on while none is ticked."""
        if device != self.device:
            self.device = device
            self.device_selected.emit()
            self._setup_touched()

    def tick_device(self, key: DeviceKey, ticked: bool) -> None:
        """Add a device to those that a run is queued for, or take it out."""
        self.ticked = self.ticked | {key} if ticked else self.ticked - {key}
        self.devices_ticked.emit()
        self._setup_touched()

    @Slot(object)
    def _on_devices_listed(self, listing: Listing) -> None:
        self.listing, self.listing_now = listing, False
        if listing.problem:
            self.log("devices", listing.problem, bad=True)
        known = {device.key: device for device in self.devices}
        usable = frozenset(key for key, device in known.items() if device.unavailable is None)
        ticked_before, device_before = self.ticked, self.device
        self.ticked &= usable
        kept = known.get(self.device.key) if self.device is not None else None
        self.device = kept or default_device(self.devices) or next(iter(self.devices), None)
        self._choose_targets()
        self.laboratory.recall(self.devices)
        self.devices_listed.emit()
        self.log("devices", count_devices(listing.platforms))
        if self.ticked != ticked_before:
            self.devices_ticked.emit()
        if self.device != device_before:
            self.device_selected.emit()
        self._setup_touched()

    # --- kernels

    def load_kernels(self) -> None:
        """Read every kernel again and keep the chosen one; the log tells where it is gone."""
        before = self.setup.variant
        self.catalog, after = self._shelf.read(before)
        for problem in self.catalog.problems:
            self.log("kernels", str(problem), bad=True)
        default = default_kernel(self.catalog)
        if before is not None and after is None and default is not None:
            text = f"{before.title} is no longer to be had: {default.title} is chosen instead."
            self.log("kernels", text, bad=True)
        self.catalog_loaded.emit()
        chosen = after or default
        if chosen is None:
            self.change(replace(self.setup, variant=None, parameters=()))
        elif chosen != before:
            self.choose_variant(chosen)

    def open_kernel(self, path: Path) -> str:
        """Add and choose a person's own kernel; returns why it does not load, or ""."""
        try:
            variant = self._shelf.open(path)
        except CatalogError as error:
            self.log("kernels", str(error), bad=True)
            return str(error)
        self.load_kernels()
        self.choose_variant(variant)
        return ""

    def file_of(self, variant: Variant) -> Path | None:
        """The file of a person's own kernel; None of one of the catalogue."""
        return self._shelf.file_of(variant)

    # --- setup

    def choose_variant(self, variant: Variant) -> None:
        """Choose a kernel; its parameters go to their defaults."""
        self.change(self.setup.with_variant(variant, self.device))

    def change(self, setup: Setup) -> None:
        """Replace the setup; what follows from it is computed before ``setup_changed``."""
        if setup != self.setup:
            self.setup = setup
            self._setup_touched()

    def choose_what_if(self, limits: Limits | None) -> None:
        """Estimate for a row of the tables instead of the selected device; None ends that."""
        self.what_if = limits
        self._estimate_again()

    @property
    def refusal(self) -> str:
        """Why Run would do nothing at all, or ""."""
        return run_refusal(self.setup, self.targets, asking=self._asking)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know before Run, a sentence each: where it goes, who is left out, who waits."""
        return remarks(self.targets, self.device)

    @property
    def remark(self) -> str:
        """All remarks on one line."""
        return " ".join(self.remarks)

    def parameter_options(self, parameter: Parameter) -> tuple[Option, ...]:
        """The values of a parameter; with a reason those that no target can take."""
        return parameter_options(self.setup, parameter, self._target_devices)

    @property
    def element_options(self) -> tuple[Option, ...]:
        """The element types; with a reason those that no target computes in."""
        return element_options(self.setup, self._target_devices)

    @property
    def preset_options(self) -> tuple[Option, ...]:
        """The square sizes to pick; with a reason those that no target can take."""
        return preset_options(self.setup, self._target_devices)

    @property
    def _target_devices(self) -> tuple[Device, ...]:
        return tuple(target.device for target in self.targets)

    @property
    def next_step(self) -> str:
        """What to do while there is nothing to look at."""
        return next_step(self.setup, self.targets, self.devices, asking=self._asking)

    @property
    def _asking(self) -> bool:
        """Whether the drivers have yet to say which devices there are."""
        return self.listing is None or self.listing_now

    @property
    def queue_note(self) -> str:
        """What runs and what waits, in a few words; "" while nothing does."""
        return self._queue.note

    @property
    def can_run(self) -> bool:
        """Whether Run would start something."""
        return bool(self.targets) and not self.refusal

    @property
    def elsewhere(self) -> bool:
        """Whether Run leaves the selected device out because others are ticked."""
        return self.device is not None and self.device.key not in {
            target.device.key for target in self.targets
        }

    def _setup_touched(self) -> None:
        self._choose_targets()
        self.setup_changed.emit()
        if self.device is not None:
            self._estimator.want_registers(self.setup, self.device)
        self._estimate_again()

    def _choose_targets(self) -> None:
        ticked = [device for device in self.devices if device.key in self.ticked]
        chosen = ticked or ([self.device] if self.device is not None else [])
        self.targets = tuple(target_of(self.setup, device) for device in chosen)

    # --- occupancy

    def _estimate_again(self) -> None:
        self.estimate = self._estimator.estimate(self.setup, self.device, self.what_if)
        self.estimated.emit()

    @property
    def awaits_registers(self) -> bool:
        """Whether the estimate will change when the compiler has told the registers."""
        return (
            self.what_if is None
            and self.device is not None
            and self._estimator.waits_for(self.setup, self.device)
        )

    @Slot(object)
    def _on_registers_learned(self, asked: Job) -> None:
        device, variant = self.device, self.setup.variant
        if device and variant and asked == question(self.setup, device):
            self._estimate_again()

    # --- runs

    @property
    def active(self) -> dict[int, Run]:
        """The runs that wait or go on, by the ids of their jobs."""
        return self._queue.active

    @property
    def shown(self) -> Run | None:
        """The run on the cards and the live charts."""
        return self._queue.shown

    @property
    def comparing(self) -> bool:
        """Whether a comparison waits or goes on."""
        return self._queue.comparing

    @property
    def timing(self) -> bool:
        """Whether anything may be timed that other work would disturb."""
        return bool(self.active) or self.comparing or bool(self.laboratory.busy)

    @property
    def quiet(self) -> bool:
        """Whether something is timed that drawing must not disturb."""
        return self._queue.quiet

    @property
    def timer(self) -> DeviceTimer | None:
        """What launching and timing costs on the selected device, once a run has measured it."""
        return self._queue.timers.get(self.device.key) if self.device is not None else None

    def start(self) -> None:
        """Queue a run on every chosen device that can take it."""
        self._starter.start(self.setup, self.targets)

    def run_again(self, job: Job) -> str:
        """Queue a job as it once was; returns why it cannot run here, or ""."""
        device = same_device(job.device, self.devices)
        if device is None:
            return f"{job.device.name} is not there now."
        if device.unavailable is not None:
            return device.unavailable
        self._starter.again(job, device)
        return ""

    def comparison_refusal(self, runs: Sequence[Run]) -> str:
        """Why these finished runs cannot be measured in turns, or ""."""
        if self.comparing:
            return "A comparison is under way."
        return comparison_refusal(runs, self.devices)

    def compare(self, runs: Sequence[Run]) -> None:
        """Measure the configurations of finished runs again, in turns, against the first.

        The first is the baseline where it is among them, else the oldest. All have the same inputs.
        ``comparison_ended`` brings the outcome; nothing happens where they are refused.
        """
        if not self.comparison_refusal(runs):
            self._starter.compare(runs, self.setup, self.book.baseline)

    def stop(self) -> None:
        """End every run, comparison and experiment, and forget the waiting ones."""
        self._queue.stop()
        self.laboratory.stop()

    def show(self, run: Run | None) -> None:
        """Put a run on the cards and the live charts."""
        self._queue.show(run)

    # --- the rest

    def choose_theme(self, theme: str) -> None:
        """Choose "light", "dark" or "system"."""
        if theme != self.theme:
            self.theme = theme
            self.theme_chosen.emit(theme)

    def log(self, kind: str, text: str, *, bad: bool = False) -> None:
        """Add a line to the log."""
        self.line_logged.emit(Line(time.time(), kind, text, bad))

    def close(self) -> None:
        """End every run, child and thread, and wait for them."""
        self._estimator.stop()
        self.lens.close()
        self.archive.close()
        self._queue.forget()
        self._workers.close()
