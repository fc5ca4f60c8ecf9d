"""What the access lens says of a kernel: frozen nouns without logic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Machine:
    """How a device bundles work-items and splits local memory.

    Attributes:
        warp: Work-items that access memory together; consecutive, dimension 0 fastest.
        banks: Banks of local memory, four bytes wide each.
        vendor: "NVIDIA", "AMD", "Intel" or "": they serve accesses wider than four bytes in other
            parts of a warp.
        source: Where the figures come from, as words: "CC 9.0", "assumed: 32 lanes and 32 banks",
            "CC 9.0, banks given".
    """

    warp: int = 32
    banks: int = 32
    vendor: str = ""
    source: str = "assumed: 32 lanes and 32 banks"


@dataclass(frozen=True, slots=True)
class Access:
    """One access of the source, over every warp of the work-groups looked at.

    Attributes:
        array: The name in the source.
        matrix: "A", "B" or "C" where the array is one, else "".
        kind: Load or store.
        space: Global or local memory.
        line: Of the kernel's own file.
        text: The access as the source writes it.
        element_bytes: Bytes that one lane moves.
        executions: How often a warp executes it in the first work-group, over all warps.
        sectors: Distinct 32-byte sectors that a warp touches, the worst warp's; None in local
            memory, as ``lines`` and ``ideal_sectors``.
        sectors_mean: Their mean over all executions of the launch, as far as looked at.
        lines: Distinct 128-byte lines, the worst warp's.
        ideal_sectors: Sectors that would hold the distinct elements of that worst warp side by
            side; never above ``sectors``, and 1 where all lanes use one element.
        passes: Turns that the banks need, the worst warp's; None in global memory, as
            ``passes_mean``.
        passes_mean: Their mean over all executions.
        ideal_passes: Passes of the same lanes without any conflict: 1 where each moves four bytes,
            4 for a warp's float4. Passes above it are conflicts.
        bytes_per_group: Bytes that the first work-group asks for, every lane counted.
        distinct_bytes: Distinct bytes that the first work-group touches.
        broadcast: Whether all lanes of every warp use the same element.
        pattern: The strides in words: "32 rows apart: one sector per lane".
    """

    array: str
    matrix: str
    kind: Literal["load", "store"]
    space: Literal["global", "local"]
    line: int
    text: str
    element_bytes: int
    executions: int
    sectors: int | None
    sectors_mean: float | None
    lines: int | None
    ideal_sectors: int | None
    passes: int | None
    passes_mean: float | None
    bytes_per_group: int
    distinct_bytes: int
    broadcast: bool
    pattern: str
    ideal_passes: int | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something in the source that the lens cannot follow: where, and why, as one sentence."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class AccessReport:
    """Every access of a kernel and what they come to in one launch.

    Attributes:
        accesses: In the order of the source.
        unknowns: What could not be followed; totals leave it out and are lower bounds then, and
            ``intensity`` and ``reuse`` are None.
        machine: Warp and banks that ``sectors`` and ``passes`` are for.
        group_size: Work-items of a work-group.
        groups: Work-groups of the launch.
        flop: Floating-point operations of the launch, by the problem's own formula.
        executed_flop: Floating-point operations that the source executes; padding included.
        global_traffic_bytes: Bytes that all work-items ask of global memory, equal addresses in
            one warp's access counted once. How they lie in memory does not matter to it.
        local_traffic_bytes: Bytes that all work-items ask of local memory, every lane counted.
        minimum_bytes: Bytes of A, B and C, each moved once.
        intensity: ``flop`` over ``global_traffic_bytes``, FLOP/B; None without any traffic.
        reuse: Global bytes of the naive kernel (each cell loads its own K of A and of B and stores
            once, every lane counted) over this kernel's, every lane counted; above 1 is better.
        sector_bytes: Bytes that memory moves for ``global_traffic_bytes``: every sector of 32 bytes
            that a warp's access touches, whole. Sectors that caches keep from one access to the
            next are counted again, as the bytes asked for are.
    """

    accesses: tuple[Access, ...]
    unknowns: tuple[Unknown, ...]
    machine: Machine
    group_size: int
    groups: int
    flop: int
    executed_flop: int
    global_traffic_bytes: int
    local_traffic_bytes: int
    minimum_bytes: int
    intensity: float | None
    reuse: float | None
    sector_bytes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """The elements that one access touches in one work-group.

    Attributes:
        access: Index into ``AccessReport.accesses``.
        elements: Element indices (of the array's element type) of shape (steps, work-items), -1
            where a work-item takes no part. Work-items are in linear order, dimension 0 fastest.
        width: Consecutive elements that each lane moves: 4 for a float4.
        row_length: Elements from one row of the array as stored to the next: the leading dimension
            of a matrix, the inner dimension of a local array.
    """

    access: int
    elements: npt.NDArray[np.int64]
    width: int
    row_length: int


@dataclass(frozen=True, slots=True)
class Pad:
    """What another row length of the local arrays gives: passes of each local access, by index.

    ``pad`` is the value of the kernel's own PAD parameter where it has one, else the elements added
    to each row as written. ``total_passes`` is the sum over all executions of a work-group;
    ``local_bytes`` what the group then needs.
    """

    pad: int
    passes: tuple[tuple[int, int], ...]
    total_passes: int
    local_bytes: int
