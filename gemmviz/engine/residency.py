"""Counts in the child how many groups of a kernel's size a compute unit really holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gemmviz.core.counting import groups_to_launch, own_job, pools
from gemmviz.core.instrument import COUNTERS_HEAD
from gemmviz.core.launch import Geometry, dynamic_local_bytes, geometry, matrix_bytes
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import CountGroups, Finished, GroupsCounted, Phase
from gemmviz.core.model import Device, Failure
from gemmviz.core.probe import (
    COUNTERS,
    COUNTERS_SIZE,
    ENTRY,
    MOST_UNITS,
    Probe,
    probe_source,
)
from gemmviz.core.residency import Residency
from gemmviz.engine.bench import Cancelled, Emit
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.kernel_runner import KernelRunner
from gemmviz.engine.opencl import Kernel, Session

_REPEATS = 5
_SECONDS = 0.4  # no further repeat begins after so long
_MOST_ADDED = 256  # a driver's figure further from what was asked for counts something else


@dataclass(frozen=True, slots=True)
class Counted:
    """What the counters held: most groups at once in all, and on one unit where that is told."""

    most: int
    most_on_unit: int | None
    repeats: int


class Counters:
    """The counters of a counting kernel on the device."""

    def __init__(self, session: Session, *, nvidia: bool) -> None:
        """Makes them.

        Raises:
            DriverError: The device has no room for them.
        """
        self._session, self._nvidia = session, nvidia
        self._values = np.zeros(COUNTERS_SIZE, np.int32)
        self.buffer = session.buffer(self._values)

    def count(
        self,
        launch: Callable[[], object],
        cancelled: Cancelled,
        before: Callable[[], None] = lambda: None,
    ) -> Counted:
        """Launches a counting kernel a few times and takes the largest count.

        Args:
            launch: Launches it once and waits.
            cancelled: Ends it after the next launch.
            before: Is called before each launch.

        Raises:
            DriverError: A launch was refused or failed, or its groups did not count out.
        """
        most = most_on_unit = repeats = 0
        begun: float | None = None
        for _ in range(_REPEATS):
            self._values[:] = 0
            self._session.write(self.buffer, self._values)
            before()
            launch()
            self._session.read(self.buffer, self._values)
            repeats += 1
            if self._values[0] != 0:
                sentence = "Groups were counted in and not out, so the count means nothing."
                raise DriverError(Failure("driver", sentence, f"{self._values[0]} are left."))
            most = max(most, int(self._values[1]))
            on_units = self._values[COUNTERS_HEAD + 1 : COUNTERS_HEAD + 2 * MOST_UNITS : 2]
            most_on_unit = max(most_on_unit, int(on_units.max()))
            now = time.perf_counter()
            begun = begun or now  # the first launch may compile, and does not count
            if cancelled() or now - begun > _SECONDS:
                break
        return Counted(most, most_on_unit if self._nvidia else None, repeats)


def count_groups(request: CountGroups, session: Session, emit: Emit, cancelled: Cancelled) -> None:
    """Counts the resident groups of a job's kernel, or of a probe of its size.

    A kernel that cannot count its groups is stood in for by the probe. Emits GroupsCounted and
    Finished.

    Args:
        request: What to count.
        session: The open device.
        emit: Sends a message to the host.
        cancelled: Whether the host asked for an end.

    Raises:
        DriverError: A build or launch failed, or the device is a simulator.
        ExprError: A formula of the kernel has no value.
    """
    begun = time.perf_counter()
    job, device = request.job, request.device
    if device.type == "simulator":
        raise DriverError(
            Failure("refused", "A simulator has no compute units, so no groups can be counted.")
        )
    shape = geometry(job.variant, job.parameters, job.problem)
    nvidia = device.compute_capability is not None
    counters = Counters(session, nvidia=nvidia)
    own = _own_kernel(request, session, emit, counters) if request.instrumented else None
    if own is not None:
        launch, driver_bytes = own
    else:
        launch, driver_bytes = _probe(request, session, emit, counters, shape)

    def say() -> None:
        emit(Phase(job.id, "count", limited=True))

    found = counters.count(launch, cancelled, say)
    if cancelled():
        emit(Finished(job.id, stopped=True, reason="stopped"))
        return
    units = pools(device, limits_for(device))
    on_unit = found.most_on_unit
    counted = Residency(
        groups_per_unit=-(-found.most // units) if on_unit is None else on_unit,
        repeats=found.repeats,
        units=units,
        group_size=shape.group_size,
        local_bytes=shape.local_bytes,
        instrumented=own is not None,
        seconds=time.perf_counter() - begun,
        driver_bytes=driver_bytes,
        each_unit=on_unit is not None,
        most_at_once=found.most,
    )
    emit(GroupsCounted(job.id, counted))
    emit(Finished(job.id))


def launch_probe(
    session: Session, kernel: Kernel, local: tuple[int, ...], groups: int
) -> Callable[[], object]:
    """How to launch a bound probe of so many groups."""
    total = (local[0] * groups, *local[1:])
    return lambda: session.time_launches([kernel], total, local)


def _probe(
    request: CountGroups, session: Session, emit: Emit, counters: Counters, shape: Geometry
) -> tuple[Callable[[], object], int | None]:
    """The launch of a probe that takes what the driver says the kernel takes, and that figure."""
    job, device = request.job, request.device
    emit(Phase(job.id, "build", limited=False))
    reported = KernelRunner(job, session).facts().local_bytes
    wanted = shape.local_bytes
    if reported is not None:
        dynamic = dynamic_local_bytes(job.variant, job.parameters, job.problem)
        wanted = max(wanted, reported + dynamic)
    probe = Probe(shape.local, shape.local_bytes, request.live_values)
    built = _built(session, probe, device)
    # Drivers add some bytes, by the alignment of the arrays: the probe asks for so many less.
    missing = wanted - (built.facts().local_bytes or 0)
    if reported and missing and abs(missing) <= _MOST_ADDED and probe.local_bytes + missing >= 0:
        built = _built(session, replace(probe, local_bytes=probe.local_bytes + missing), device)
    built.bind([counters.buffer])
    groups = groups_to_launch(device, shape)
    return launch_probe(session, built, shape.local, groups), None if reported is None else wanted


def _built(session: Session, probe: Probe, device: Device) -> Kernel:
    source = probe_source(
        probe, cpu=device.type == "CPU", nvidia=device.compute_capability is not None
    )
    kernel, _ = session.build(source, ["-cl-std=CL1.2"], ENTRY)
    return kernel


def _own_kernel(
    request: CountGroups, session: Session, emit: Emit, counters: Counters
) -> tuple[Callable[[], object], int | None] | None:
    """The launch of the job's kernel counting its groups, and the driver's bytes; or None."""
    job = own_job(request.job, request.device)
    if job is None:
        return None
    emit(Phase(job.id, "build", limited=False))
    runner = KernelRunner(job, session)
    buffers = {COUNTERS: counters.buffer}
    for name, size in zip("ABC", matrix_bytes(job.variant, job.problem), strict=True):
        buffers[name] = session.room(size)
        session.fill(buffers[name], size // 4 * 4)  # odd numbers could be slow ones
    kernel = runner.bind(buffers)
    return lambda: runner.launch([kernel]), runner.facts().local_bytes
