"""The occupancy of a kernel as it would be launched on a device."""

from __future__ import annotations

from gemmviz.core.estimate import Estimate
from gemmviz.core.feasibility import local_limit
from gemmviz.core.launch import geometry
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Parameters, Problem, Variant
from gemmviz.core.occupancy import estimate_on


def estimate_for(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    device: Device,
    limits: Limits | None,
    *,
    registers: int | None = None,
    local_bytes: int | None = None,
) -> Estimate:
    """What a compute unit of a device holds of a kernel.

    Args:
        variant: The kernel.
        parameters: Its macros.
        problem: What it computes.
        device: Where it would run.
        limits: The device's row of the limits tables, or None without one.
        registers: Registers per work-item, or None if unknown.
        local_bytes: Local memory of a group where it is not what the kernel asks for.

    Raises:
        ExprError: It has no launch at this problem.
        ValueError: A figure of its launch is out of range.
    """
    shape = geometry(variant, parameters, problem)
    return estimate_on(
        device,
        limits,
        shape.group_size,
        shape.local_bytes if local_bytes is None else local_bytes,
        registers,
        local_limit=local_limit(variant, parameters, problem, device, limits),
    )
