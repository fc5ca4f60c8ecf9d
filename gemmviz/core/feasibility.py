"""Says before a launch why a variant cannot run on a device, in one sentence with the numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from gemmviz.core.expr import ExprError, evaluate, names_in
from gemmviz.core.launch import (
    Geometry,
    describe_parameters,
    dynamic_local_bytes,
    formula_names,
    geometry,
    kernel_view,
    matrix_bytes,
    scalars,
    scratch_bytes,
)
from gemmviz.core.libraries import memory_of
from gemmviz.core.limits import Limits
from gemmviz.core.model import ELEMENTS, Device, Parameters, Problem, Variant
from gemmviz.core.units import memory

FRONT_GUARD_BYTES = 4096
"""Bytes that the check puts in front of each matrix: a page, on which any device lets a part of a
buffer begin."""

GUARD_ELEMENTS = 4096
"""Elements that the check puts behind each matrix; both guards count towards device memory."""

_CC_NEED = re.compile(r"cc\s*(>=|<=|==|>|<)\s*(\d+)\.(\d+)\Z")
_VENDORS = ("nvidia", "amd", "intel")
_TYPES = ("cpu", "gpu")
_KINDS = {
    "cpu": "a CPU", "gpu": "a GPU", "nvidia": "an NVIDIA device", "amd": "an AMD device",
    "intel": "an Intel device",
}  # fmt: skip


def local_limit(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    device: Device,
    limits: Limits | None,
) -> int | None:
    """Bytes of local memory that one launch really gets, or None where nothing is known.

    NVIDIA launches static ``__local`` arrays up to the hardware's per-group maximum, which is more
    than CL_DEVICE_LOCAL_MEM_SIZE says; ``__local`` arguments and other drivers stop at the latter.
    """
    static = not dynamic_local_bytes(variant, parameters, problem)
    if static and limits is not None and limits.vendor == "NVIDIA":
        return limits.per_group_bytes
    return device.local_mem_bytes


def vector_bytes(device: Device) -> int | None:
    """Bytes of the vectors that a device computes with, or None where it does not say.

    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT counts floats: 16 of them where a CPU has AVX-512.
    """
    for each in device.properties:
        if each.name == "NATIVE_VECTOR_WIDTH_FLOAT" and isinstance(each.value, int):
            return each.value * ELEMENTS["float"].bytes
    return None


def refusal(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    device: Device,
    limits: Limits | None = None,
) -> str | None:
    """Why this cannot run on ``device``, or None if nothing speaks against it.

    Args:
        variant: The kernel.
        parameters: Its macros.
        problem: Shape and element type.
        device: Where it would run.
        limits: The device's row of the limits tables, or None without one.
    """
    if device.unavailable:
        return f"{device.name} cannot run: {device.unavailable}."
    try:
        return (
            form_refusal(variant, problem)
            or parameter_refusal(variant, parameters, problem, device, limits)
            or element_refusal(variant, problem.element, device)
            or _memory_refusal(variant, parameters, problem, device)
            or _shape_refusal(variant, parameters, problem)
        )
    except ExprError as error:
        return f"{variant.title} has no launch at this shape: {error}."


def parameter_refusal(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    device: Device,
    limits: Limits | None = None,
) -> str | None:
    """Why these parameters cannot run on ``device`` whatever the shape, or None."""
    unmet = needs_refusal(variant, device)
    if unmet is not None:
        return unmet
    try:
        shape = geometry(variant, parameters, problem)
        available = local_limit(variant, parameters, problem, device, limits)
        return (
            _group_refusal(shape, device)
            or _local_refusal(shape, available)
            or _require_refusal(variant, parameters, problem, device, available, shape=False)
        )
    except ExprError as error:
        return f"{variant.title} has no launch at {describe_parameters(parameters)}: {error}."


def plain_reason(variant: Variant) -> str:
    """Why a variant takes neither transposed inputs nor alpha and beta; "" for a general one."""
    if variant.general:
        return ""
    what = "A + B" if variant.operation == "add" else "A B"
    return (
        f"{variant.title} computes C = {what} alone, from matrices stored {variant.order} by "
        f"{variant.order}."
    )


def form_refusal(variant: Variant, problem: Problem) -> str | None:
    """Why a variant does not multiply in this form, or None: transposes, order, alpha, beta."""
    own = replace(problem, order="") if problem.order == variant.order else problem
    if not variant.general and not own.is_plain:
        return plain_reason(variant)
    least = float(np.finfo(ELEMENTS[problem.element].dtype).tiny)
    asked_of = (("Alpha", problem.alpha), ("Beta", problem.beta))
    for (name, asked), value in zip(asked_of, scalars(problem), strict=True):
        # Devices may take a number below the normal ones for zero.
        if not math.isfinite(value) or (asked and abs(value) < least):
            return f"{name} is {asked:g}, which is beyond the range of {problem.element}."
    return None


def element_refusal(variant: Variant, element: str, device: Device) -> str | None:
    """Why this element type is not to be had, or None."""
    if element not in variant.elements:
        return f"{variant.title} is written for {' or '.join(variant.elements)}, not {element}."
    # OpenCL's extensions bind what is compiled from OpenCL C and computes in the type.
    computes = memory_of(variant) == "device" and element not in variant.stored
    if computes and element not in device.elements:
        return f"{device.name} does not compute in {element}."
    return None


def _group_refusal(shape: Geometry, device: Device) -> str | None:
    limit = device.max_work_group_size
    edges = " x ".join(map(str, shape.local))
    if limit is not None and shape.group_size > limit:
        return (
            f"A group of {edges} = {shape.group_size} work-items is above this device's "
            f"{limit} (CL_DEVICE_MAX_WORK_GROUP_SIZE)."
        )
    for dimension, (size, most) in enumerate(
        zip(shape.local, device.max_work_item_sizes, strict=False)
    ):
        if size > most:
            return (
                f"A group of {edges} has {size} work-items in dimension {dimension}; "
                f"this device allows {most}."
            )
    return None


def _local_refusal(shape: Geometry, available: int | None) -> str | None:
    if available is not None and shape.local_bytes > available:
        return (
            f"The group needs {memory(shape.local_bytes)} of local memory; "
            f"a launch gets {memory(available)}."
        )
    return None


def _require_refusal(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    device: Device,
    available: int | None,
    *,
    shape: bool,
) -> str | None:
    """The first unmet rule of the variant, among those on the shape or among the others."""
    names = formula_names(parameters, kernel_view(variant, problem))
    if device.max_work_group_size is not None:
        names["max_group_size"] = device.max_work_group_size
    if available is not None:
        names["local_limit"] = available
    vector = vector_bytes(device)
    if vector is not None:
        names["vector_bytes"] = vector
    for text in variant.require:
        used = names_in(text)
        if bool(used & {"M", "N", "K"}) is not shape or not used <= names.keys():
            continue
        if not evaluate(text, names):
            values = ", ".join(f"{name} = {names[name]}" for name in sorted(used))
            return f"{variant.title} requires {text} (here {values})."
    return None


def _shape_refusal(variant: Variant, parameters: Parameters, problem: Problem) -> str | None:
    shape = geometry(variant, parameters, problem)
    rows, cols = shape.tile
    at = f"{problem.m} x {problem.n} x {problem.k}"
    if variant.shapes == "square" and not problem.m == problem.n == problem.k:
        return f"{variant.title} takes square matrices alone, M = N = K, not {at}."
    if variant.shapes == "exact" and (problem.m % rows or problem.n % cols):
        return (
            f"{variant.title} is right only where its tiles fit: M a multiple of {rows} "
            f"and N of {cols}, not {at}."
        )
    nowhere = Device("", "", "", "")
    return _require_refusal(variant, parameters, problem, nowhere, None, shape=True)


def _memory_refusal(
    variant: Variant, parameters: Parameters, problem: Problem, device: Device
) -> str | None:
    sizes = matrix_bytes(variant, problem)
    scratch = scratch_bytes(variant, parameters, problem)
    guard = FRONT_GUARD_BYTES + GUARD_ELEMENTS * ELEMENTS[problem.element].bytes
    largest = device.max_alloc_bytes
    single = [*zip("ABC", sizes, (guard,) * 3, strict=True), *(("Scratch", n, 0) for n in scratch)]
    for name, size, added in single:
        if largest is not None and size + added > largest:
            return (
                f"{name} takes {memory(size)}; the largest single buffer on this device is "
                f"{memory(largest)}."
            )
    total = sum(sizes) + 3 * guard + sum(scratch)
    if device.global_mem_bytes is not None and total > device.global_mem_bytes:
        what = "A, B, C and scratch" if scratch else "A, B and C"
        return (
            f"{what} take {memory(total)} together; this device has "
            f"{memory(device.global_mem_bytes)}."
        )
    return None


def needs_refusal(variant: Variant, device: Device) -> str | None:
    """Why a device is of no use to a variant whatever is asked of it, or None."""
    need = next((need for need in variant.needs if not _has(device, need)), None)
    if need is None:
        return None
    kind = _KINDS.get(need.strip().lower())
    if kind is not None:
        return f"{variant.title} runs on {kind} alone, and {device.name} is none."
    return f"{variant.title} needs {need}, and {device.name} has it not."


def _has(device: Device, need: str) -> bool:
    """Whether ``device`` meets one of a variant's needs; an unknown need is not met."""
    wanted = need.strip().lower()
    if wanted in _TYPES:
        return device.type.lower() in (wanted, "simulator")  # which runs what any kind runs
    if wanted in _VENDORS:
        return wanted in f"{device.vendor} {device.platform}".lower()
    match = _CC_NEED.match(wanted)
    if match is None or device.compute_capability is None:
        return False
    have = tuple(map(int, device.compute_capability.split(".")))
    asked = int(match[2]), int(match[3])
    return {
        ">=": have >= asked,
        "<=": have <= asked,
        "==": have == asked,
        ">": have > asked,
        "<": have < asked,
    }[match[1]]
