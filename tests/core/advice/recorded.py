"""Situations as they were seen on real devices, and a lens that answers from written figures."""

from __future__ import annotations

import math
from dataclasses import replace

from gemmviz.core.access.report import Access, AccessReport, Machine
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.outlook import Look, Outlook
from gemmviz.core.advice.rules import RULES
from gemmviz.core.advice.situation import Measurement, Situation
from gemmviz.core.catalog import load_catalog
from gemmviz.core.launch import flop, geometry, merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Check, Device, Parameters, Problem, Variant
from gemmviz.core.paths import data_dir

CATALOG = load_catalog(data_dir("kernels"))
KNOWN = tuple(
    variant
    for variant in CATALOG.variants
    if variant.family == "published"
    or variant.id in ("naive_strided", "naive_coalesced", "tiled", "tiled_padded", "work_1d",
                      "register_2d")
)  # fmt: skip
"""The kernels whose figures are written down here; others may join the catalogue."""

H200 = Device(
    platform="NVIDIA CUDA", platform_version="OpenCL 3.0 CUDA 12.8.1", name="NVIDIA H200",
    type="GPU", vendor="NVIDIA Corporation", compute_units=132, clock_hz=1_980_000_000,
    local_mem_bytes=49152, local_mem_type="LOCAL", max_work_group_size=1024,
    max_work_item_sizes=(1024, 1024, 64), elements=("float", "double"), compute_capability="9.0",
)  # fmt: skip
POCL = Device(
    platform="Portable Computing Language", platform_version="OpenCL 3.0 PoCL 3.0-rc2",
    name="pthread-CPU", type="CPU", compute_units=2, clock_hz=2_600_000_000,
    local_mem_bytes=2**20, local_mem_type="GLOBAL", max_work_group_size=4096,
    max_work_item_sizes=(4096, 4096, 4096), elements=("float", "double"),
)  # fmt: skip
WRONG = Check("wrong", 512, 512, 512, cells_wrong=261_619, max_error=12.5)
SIMULATOR = Device("Oclgrind", "OpenCL 1.2", "Oclgrind Simulator", "simulator")


def blind(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> AccessReport | None:
    """A lens that can say nothing."""
    return None


def situation(
    kernel: str,
    size: int | tuple[int, int, int],
    device: Device,
    /,
    *,
    seconds: float | None = None,
    check: Check | None = None,
    **macros: int,
) -> Situation:
    """A configuration on a device, measured where it has ``seconds`` or a check."""
    variant = CATALOG.find(kernel)
    parameters = merge_parameters(variant, macros)
    m, n, k = (size,) * 3 if isinstance(size, int) else size
    measured = ()
    if seconds is not None or check is not None:
        measured = (measurement(kernel, seconds, check=check, **macros),)
    return Situation(device, limits_for(device), variant, parameters, Problem(m, n, k),
                     KNOWN, measured=measured)  # fmt: skip


def measurement(
    kernel: str, seconds: float | None, /, *, check: Check | None = None, **macros: int
) -> Measurement:
    """What was measured of a configuration, its interval 1 % wide."""
    variant = CATALOG.find(kernel)
    low, high = (None, None) if seconds is None else (0.995 * seconds, 1.005 * seconds)
    return Measurement(variant, merge_parameters(variant, macros), seconds, low, high, check)


def access(
    array: str, space: str = "global", kind: str = "load", *, executions: int = 1000,
    sectors: float | None = None, ideal: int | None = None, passes: float | None = None,
    each: int = 128, distinct: int = 4096,
) -> Access:  # fmt: skip
    """One access with the figures that rules look at; a scattered one touches a line a sector."""
    loaded = space == "global"
    return Access(
        array=array, matrix=array if loaded else "", kind=kind, space=space, line=31,
        text=f"{array}[row * K + k]", element_bytes=4, executions=executions,
        sectors=math.ceil(sectors) if sectors else None, sectors_mean=sectors,
        lines=max(1, math.ceil(sectors / 4) if ideal == 4 else math.ceil(sectors))
        if sectors else None,
        ideal_sectors=ideal, passes=math.ceil(passes) if passes else None, passes_mean=passes,
        bytes_per_group=executions * each, distinct_bytes=distinct if loaded else 0,
        broadcast=False, pattern="64 elements apart",
    )  # type: ignore[arg-type]  # fmt: skip


def report(
    variant: Variant, parameters: Parameters, problem: Problem, *accesses: Access
) -> AccessReport:
    """A report of these accesses."""
    shape, work = geometry(variant, parameters, problem), flop(variant, problem)
    moved = shape.groups * sum(a.bytes_per_group for a in accesses if a.space == "global")
    local = shape.groups * sum(a.bytes_per_group for a in accesses if a.space == "local")
    return AccessReport(
        accesses, (), Machine(source="CC 9.0"), shape.group_size, shape.groups, work, work, moved,
        local, 1, work / moved if moved else None, 1.0,
    )  # fmt: skip


def lens(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> AccessReport | None:
    """The accesses of the ladder at warps of 32, as 292 rows of addresses on devices gave them.

    Naive strided touches one sector a row of A, coalesced two rows of B; tiles conflict nowhere
    unless stored on their side: 16 deep without a pad, 2 with one element, not at all with two.
    """
    values = dict(parameters)
    shape = geometry(variant, parameters, problem)
    warps, k = -(-shape.group_size // 32), problem.k
    edge = values.get("TS", 16)
    rows, cols = shape.tile
    fetched = (rows + cols) * k * 4 // 2
    if not shape.local_bytes:
        strided = variant.dims[0] == "rows"
        return report(
            variant, parameters, problem,
            access("A", executions=warps * k, distinct=fetched,
                   sectors=edge if strided else 32 // edge, ideal=4 if edge >= 32 else 2),
            access("B", executions=warps * k, distinct=fetched, sectors=2, ideal=2),
            access("C", kind="store", executions=warps, sectors=edge if strided else 4, ideal=4),
        )  # fmt: skip
    if "WPT" in values or "TM" in values:
        return None
    staged = access("A", executions=warps * k // edge, sectors=4, ideal=4, distinct=2 * fetched)
    pad = values.get("PAD")
    store = {None: 1, 0: edge, 1: 2, 2: 1, 4: 2}[pad if variant.rung == 4 else None]
    return report(
        variant, parameters, problem, staged,
        access("As", "local", "store", executions=warps * k // edge, passes=store),
        access("Bs", "local", "store", executions=warps * k // edge, passes=1),
        access("As", "local", executions=warps * k, passes=1),
        access("Bs", "local", executions=warps * k, passes=1),
    )  # fmt: skip


def judged(rule: str, about: Situation, look: Look = lens) -> Finding | None:
    """What one rule says, by its id."""
    found = next(each for each in RULES if each.id == rule)
    if about.access is None:
        seen = look(about.variant, about.parameters, about.problem, about.machine)
        about = replace(about, access=seen)
    return found.judge(about, Outlook(about, look))


def seconds(kernel: str, size: int, tflops: float) -> float:
    """The time of one launch at a rate in TFLOP/s."""
    return flop(CATALOG.find(kernel), Problem(size, size, size)) / (tflops * 1e12)
