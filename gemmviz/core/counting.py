"""What is launched to count groups: how many, of which problem, and the kernel that counts."""

from __future__ import annotations

import math
from dataclasses import replace

from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.instrument import with_counters
from gemmviz.core.launch import Geometry, geometry, kernel_view
from gemmviz.core.limits import limits_for
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Argument, Device, Job, Parameters, Problem, Variant
from gemmviz.core.occupancy import limiters
from gemmviz.core.probe import COUNTERS

_WAVES = 4  # groups launched for each that could be under way at once
_CPU_GROUPS, _UNKNOWN_GROUPS = 8, 32
# A kernel's own groups are short, and on a CPU another thread takes a while to begin.
_CPU_OWN_GROUPS = 64
# So long that the first groups still run when the last that a full device holds begin.
_GPU_K, _CPU_K = 2048, 256


def pools(device: Device, limits: Limits | None) -> int:
    """The units of a device as the limits tables count them; at least 1.

    Intel's driver counts EUs, of which a sub-slice has several that share its groups.
    """
    units = device.compute_units or 1
    if limits is not None and limits.vendor == "Intel":
        units //= limits.partitions
    return max(1, units)


def groups_to_launch(device: Device, shape: Geometry, *, own: bool = False) -> int:
    """Groups enough to fill a device more than once.

    Args:
        device: The device.
        shape: What a group takes.
        own: For a kernel that works instead of waiting.
    """
    row = limits_for(device)
    if device.type == "CPU":
        each = _CPU_OWN_GROUPS if own else _CPU_GROUPS
    elif row is None:
        each = _WAVES * _UNKNOWN_GROUPS
    else:
        fits = limiters(row, shape.group_size, shape.local_bytes, None)
        each = _WAVES * max(1, *(limiter.groups for limiter in fits))
    return each * pools(device, row)


def own_job(job: Job, device: Device) -> Job | None:
    """The job whose kernel counts its own groups, on enough of them; None where that cannot be."""
    if job.variant.library:
        return None
    variant = counting_variant(job.variant, nvidia=device.compute_capability is not None)
    if variant is None:
        return None
    try:
        shape = geometry(job.variant, job.parameters, job.problem)
        groups = groups_to_launch(device, shape, own=True)
        problem = counting_problem(
            job.variant, job.parameters, job.problem.element, groups, cpu=device.type == "CPU"
        )
        # The transposes are macros of the very kernel whose groups are counted.
        problem = replace(problem, transpose=kernel_view(job.variant, job.problem).transpose)
    except ExprError:
        return None
    if refusal(job.variant, job.parameters, problem, device, limits_for(device)) is not None:
        return None
    return replace(job, variant=variant, problem=problem, check=False)


def counting_variant(variant: Variant, *, nvidia: bool) -> Variant | None:
    """The variant with a kernel that counts its own groups, or None where its source forbids it.

    The counters are one more matrix argument, called ``COUNTERS``.

    Args:
        variant: The kernel.
        nvidia: Count on each SM as well.
    """
    source = with_counters(variant.source, variant.entry, nvidia=nvidia)
    if source is None:
        return None
    arguments = (*variant.arguments, Argument("matrix", COUNTERS))
    return replace(variant, source=source, arguments=arguments)


def counting_problem(
    variant: Variant, parameters: Parameters, element: str, groups: int, *, cpu: bool = False
) -> Problem:
    """A problem of at least so many groups, whose sizes are multiples of the kernel's tile.

    Args:
        variant: The kernel.
        parameters: Its macros.
        element: The element type.
        groups: How many at least.
        cpu: A shorter K is enough, and a long one takes too long.

    Raises:
        ExprError: A formula has no value.
    """
    rows, cols = geometry(variant, parameters, Problem(1024, 1024, 1024, element)).tile
    edge = math.lcm(rows, cols)
    high = math.isqrt(max(1, groups) - 1) + 1
    wide = -(-groups // high)
    k = -(-(_CPU_K if cpu else _GPU_K) // edge) * edge
    if variant.shapes == "square":
        tiles = -(-high * rows // edge), -(-wide * cols // edge)
        size = max(k, edge * max(tiles))
        return Problem(size, size, size, element)
    return Problem(high * rows, wide * cols, k, element)
