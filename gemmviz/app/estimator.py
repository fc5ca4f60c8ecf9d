"""The occupancy foreseen for a setup, and the registers that it waits for."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gemmviz.app.setup import Setup
from gemmviz.app.worker import Workers
from gemmviz.core.estimate import Estimate
from gemmviz.core.expr import ExprError
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.launch import geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Job, Registers
from gemmviz.core.occupancy import estimate

_DELAY_MILLISECONDS = 250


class Estimator(QObject):
    """Estimates at once with what is known, and asks the compiler for registers meanwhile.

    Answers are kept by source, parameters, element type, options and device, so one that comes
    late can never be taken for another's. ``registers_learned`` carries the question answered.
    """

    registers_learned = Signal(object)

    def __init__(self, workers: Workers, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers = workers
        self._known: dict[Job, Registers | None] = {}
        self._wanted: tuple[Job, Device] | None = None
        # While a person steps through values nothing is built for those passed by.
        self._delay = QTimer(self, singleShot=True, interval=_DELAY_MILLISECONDS)
        self._delay.timeout.connect(self._on_delay_passed)
        workers.registers_read.connect(self._on_registers_read)

    def estimate(
        self, setup: Setup, device: Device | None, what_if: Limits | None = None
    ) -> Estimate | None:
        """The occupancy of ``setup`` on a device, or on a row of the tables instead.

        None without either, without a kernel, for a library, and where formulas have no value.
        """
        if setup.variant is None or setup.variant.library:
            return None
        try:
            if what_if is not None:
                shape = geometry(setup.variant, setup.parameters, setup.problem())
                return estimate(what_if, shape.group_size, shape.local_bytes)
            if device is None:
                return None
            known = self._known.get(question(setup, device))
            return estimate_for(
                setup.variant, setup.parameters, setup.problem(), device, limits_for(device),
                registers=known.registers if known is not None else None,
            )  # fmt: skip
        except (ExprError, ValueError):
            return None

    def want_registers(self, setup: Setup, device: Device) -> None:
        """Ask for the registers of ``setup``, unless they are known or nobody tells them."""
        self._wanted = None
        if setup.variant is None or device.compute_capability is None or device.unavailable:
            return
        if setup.variant.library:
            return
        asked = question(setup, device)
        if asked not in self._known:
            self._wanted = asked, device
            self._delay.start()

    def waits_for(self, setup: Setup, device: Device) -> bool:
        """Whether registers of this setup were asked for and have not come yet."""
        return (
            self._wanted is not None
            and setup.variant is not None
            and self._wanted[0] == question(setup, device)
        )

    def stop(self) -> None:
        """Ask nothing more."""
        self._delay.stop()

    @Slot()
    def _on_delay_passed(self) -> None:
        if self._wanted is not None:
            self._workers.read_registers(*self._wanted)

    @Slot(object, object)
    def _on_registers_read(self, asked: Job, registers: Registers | None) -> None:
        self._known[asked] = registers
        if self._wanted is not None and self._wanted[0] == asked:
            self._wanted = None
        self.registers_learned.emit(asked)


def question(setup: Setup, device: Device) -> Job:
    """The job whose registers are asked for: its shape does not change the code."""
    assert setup.variant is not None
    return Job(
        0, device.key, setup.variant, setup.parameters,
        replace(setup.problem(), m=1, n=1, k=1), build_options=setup.build_options,
    )  # fmt: skip


def foreseen(job: Job, device: Device) -> Estimate | None:
    """The occupancy of a job by what its source and its device say; None for what has none."""
    if job.variant.library:
        return None
    try:
        return estimate_for(job.variant, job.parameters, job.problem, device, limits_for(device))
    except (ExprError, ValueError):
        return None
