"""How many work-groups a compute unit was seen to hold at once, and why not as many as foreseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemmviz.core.estimate import Estimate
from gemmviz.core.units import memory


@dataclass(frozen=True, slots=True)
class Residency:
    """Resident work-groups, counted on the device.

    Attributes:
        groups_per_unit: Most groups that were under way on one compute unit at once; None where
            they cannot be counted, with ``difference`` saying why.
        repeats: How often it was counted; the largest count stands.
        units: Compute units that shared the groups.
        group_size: Work-items of a group.
        local_bytes: Local memory of a group as asked for.
        instrumented: Whether the kernel itself counted, not a probe of its size.
        difference: What explains that it is not the estimate, as a sentence, or "".
        seconds: How long it took.
        driver_bytes: Local memory of a group as the driver counts it, with what it adds.
        registers: Registers of a work-item of what was counted, or None if unknown.
        each_unit: Whether each unit was counted by itself; else the groups of the whole device were
            divided by ``units`` and rounded up.
        most_at_once: Most groups under way on the whole device.
    """

    groups_per_unit: int | None
    repeats: int
    units: int
    group_size: int
    local_bytes: int
    instrumented: bool = False
    difference: str = ""
    seconds: float = 0.0
    driver_bytes: int | None = None
    registers: int | None = None
    each_unit: bool = False
    most_at_once: int | None = None


def explain_difference(
    counted: Residency,
    foreseen: Estimate,
    foresee: Callable[[int, int | None], Estimate],
    registers: int | None,
) -> str:
    """Why a count is not the estimate, as a sentence; "" where they agree.

    Args:
        counted: What was counted.
        foreseen: The estimate of the kernel.
        foresee: The estimate with other bytes of local memory and other registers.
        registers: What a work-item of the kernel needs, or None if unknown.
    """
    groups, expected = counted.groups_per_unit, foreseen.groups_per_unit
    if groups is None:
        return counted.difference
    if foreseen.confidence == "not applicable":
        return _on_cpu(groups, counted.units)
    if expected is None:
        return "No limits of this device are documented, so there is no estimate to compare with."
    if foreseen.confidence == "local-memory budget only":
        return _by_budget(groups, expected)
    if groups == expected:
        return ""
    bytes_taken = counted.driver_bytes
    if bytes_taken is not None and bytes_taken != counted.local_bytes:
        again = foresee(bytes_taken, registers)
        if again.groups_per_unit == groups:
            return (
                f"The driver counts {bytes_taken} B of local memory a group where the kernel asks "
                f"for {counted.local_bytes} B, and with these the estimate is {groups} as well."
            )
    if registers is not None and counted.registers != registers:
        own = foresee(
            counted.local_bytes if bytes_taken is None else bytes_taken, counted.registers
        )
        if own.groups_per_unit == groups:
            needs = "other" if counted.registers is None else f"{counted.registers}"
            return (
                f"The probe needs {needs} registers a work-item and the kernel {registers}; for "
                "the probe's own the estimate is the same as what was counted."
            )
    return _unexplained(counted, groups, expected, registers_known=registers is not None)


def _on_cpu(groups: int, units: int) -> str:
    count = "one group" if groups == 1 else f"{groups} groups"
    return (
        f"The estimate does not apply to a CPU: {count} at a time ran on each of {units} compute "
        "units, and local memory is cache."
    )


def _by_budget(groups: int, expected: int) -> str:
    if groups == expected:
        return ""
    return (
        f"The budget of local memory would allow {expected}, which is no limit of a compute unit: "
        "work-items, registers and the real size of its local memory decide."
    )


def _unexplained(counted: Residency, groups: int, expected: int, *, registers_known: bool) -> str:
    if groups > expected:
        return (
            f"{groups} is more than the tables allow: this device's limits, or what the compiler "
            "made of the kernel, are not those that the estimate takes."
        )
    if counted.instrumented and not registers_known:
        return (
            "The compiler does not tell how many registers the kernel needs; they are the likely "
            f"limit to {groups}."
        )
    shared = "" if counted.each_unit else " Groups were counted on the whole device, not by unit."
    return (
        "Fewer than the limits allow: another program may hold a part of the device, or groups "
        f"ended before all had begun.{shared} Measure again."
    )


def describe_residency(counted: Residency) -> str:
    """What was counted, in a sentence."""
    if counted.groups_per_unit is None:
        return "Groups could not be counted."
    what = "The kernel itself" if counted.instrumented else "A probe of the same size"
    plural = "s" * (counted.groups_per_unit != 1)
    where = (
        "one compute unit"
        if counted.each_unit
        else "each compute unit (the whole device's, shared out and rounded up)"
    )
    times = f"{counted.repeats} time{'s' * (counted.repeats != 1)}"
    return (
        f"{what} had {counted.groups_per_unit} group{plural} of {counted.group_size} work-items "
        f"and {memory(counted.local_bytes)} under way at once on {where}, counted {times}."
    )
