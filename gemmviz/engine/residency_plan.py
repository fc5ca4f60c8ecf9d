"""Measures how many groups of a kernel are resident, and says why it is not the estimate."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from gemmviz.core.counting import own_job
from gemmviz.core.estimate import Estimate
from gemmviz.core.experiments import MeasureResidency
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import parameter_refusal
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.launch import Geometry, geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.limits_table import Limits
from gemmviz.core.messages import CountGroups, Failed, Finished, GroupsCounted, Message, Progressed
from gemmviz.core.model import Device, Failure, Job
from gemmviz.core.probe import MOST_LIVE, Probe, probe_variant
from gemmviz.core.residency import Residency, explain_difference
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_ADDED_REGISTERS = 12  # about what the probe needs besides the values that it keeps
_TRIES = 6


def measure_residency(
    experiment: MeasureResidency, engine: Engine
) -> Generator[Message, None, Residency]:
    """Counts resident groups, by the kernel itself where that is wanted and its source allows it.

    Else by a probe with the kernel's local size and local memory, and on NVIDIA its registers.

    Raises:
        ExperimentFailed: The kernel cannot run there, the device is a simulator, or the run failed.
    """
    job, device = experiment.job, experiment.device
    row = limits_for(device)
    shape = _shape(job, device, row)
    yield Progressed(job.id, 0.0, "reading the kernel's registers")
    report = engine.registers(job, device, job.id)
    registers = None if report is None else report.registers
    own = own_job(job, device) if experiment.instrumented else None
    live, taken = 0, registers
    if own is None and registers is not None:
        live, taken = live_values(engine, job, device, shape, registers)
    yield Progressed(job.id, 0.5, "counting groups")
    counted: Residency | None = None
    request = CountGroups(job, device, own is not None, live)
    for message in engine.ask(request, job.id, [device.key]):
        match message:
            case GroupsCounted(residency=residency):
                counted = replace(residency, registers=taken)
            case Failed(failure=failure):
                raise ExperimentFailed(failure)
            case Finished():
                pass
            case _:
                yield message
    if counted is None:
        raise ExperimentFailed(Failure("stopped", "Groups were not counted: it was stopped."))

    def foresee(local_bytes: int, of_registers: int | None) -> Estimate:
        return estimate_for(
            job.variant, job.parameters, job.problem, device, row,
            registers=of_registers, local_bytes=local_bytes,
        )  # fmt: skip

    foreseen = foresee(shape.local_bytes, registers)
    words = explain_difference(counted, foreseen, foresee, registers)
    if experiment.instrumented and own is None:
        words = f"{words} {_WHY_PROBE}".strip()
    yield Progressed(job.id, 1.0, "counted")
    return replace(counted, difference=words)


_WHY_PROBE = (
    "A probe of its size stood in, for the kernel's source does not allow it to count its groups."
)


def _shape(job: Job, device: Device, row: Limits | None) -> Geometry:
    """What a group of the job takes.

    Raises:
        ExperimentFailed: Such a group cannot run on the device.
    """
    if device.type == "simulator":
        raise ExperimentFailed(
            Failure("refused", "A simulator has no compute units, so no groups can be counted.")
        )
    reason = device.unavailable or parameter_refusal(
        job.variant, job.parameters, job.problem, device, row
    )
    if job.variant.library:
        reason = f"The kernels that {job.variant.title} launches are its own: none can be counted."
    if reason is not None:
        raise ExperimentFailed(Failure("refused", reason))
    try:
        return geometry(job.variant, job.parameters, job.problem)
    except ExprError as error:
        raise ExperimentFailed(
            Failure("refused", f"{job.variant.title} has no launch at this shape: {error}.")
        ) from error


def live_values(
    engine: Engine, job: Job, device: Device, shape: Geometry, registers: int
) -> tuple[int, int | None]:
    """How many values a probe must keep to be given as many registers, and how many it then has.

    Registers are given out in multiples, so a few more or less are the same.
    """
    row = limits_for(device)
    granule = 1 if row is None else max(1, row.register_granule // row.register_lanes)
    live, low, high = max(0, registers - _ADDED_REGISTERS), -1, MOST_LIVE + 1
    best: tuple[int, int | None] = (live, None)
    for _ in range(_TRIES):
        live = min(max(live, low + 1), high - 1)
        found = _probe_registers(engine, job, device, Probe(shape.local, shape.local_bytes, live))
        if found is None:
            break
        if best[1] is None or abs(found - registers) < abs(best[1] - registers):
            best = live, found
        if -(-found // granule) == -(-registers // granule):
            break
        # Compilers go up in leaps, so a step by what is missing may never end.
        low, high = (live, high) if found < registers else (low, live)
        if high - low < 2:
            break
        live += registers - found
        if not low < live < high:
            live = (low + high) // 2
    return best


def _probe_registers(engine: Engine, job: Job, device: Device, probe: Probe) -> int | None:
    """What the compiler gives a probe."""
    variant = probe_variant(probe, cpu=False, nvidia=device.compute_capability is not None)
    job = replace(job, variant=variant, parameters=(), build_options="", dummy_local_bytes=0)
    built = engine.registers(job, device, job.id)
    return None if built is None else built.registers
