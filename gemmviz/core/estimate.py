"""What an occupancy estimate says: its figures, its limits and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemmviz.core.units import memory

Confidence = Literal[
    "vendor-documented limits",
    "vendor limits, registers unknown: an upper bound",
    "local-memory budget only",
    "not applicable",
]
Source = Literal["vendor table", "queried"]


@dataclass(frozen=True, slots=True)
class Limiter:
    """One limit of a compute unit and what the resident groups take of it.

    Attributes:
        name: "slots", "groups", "local memory", "registers" or "barriers".
        groups: Groups that fit by this limit alone; 0 also where one group breaks a rule of it.
        used: What one group takes, rounded as the hardware rounds.
        capacity: What a unit has, or the driver allows.
        unit: Of ``used`` and ``capacity``: "B", "warps", "waves", "threads", "groups", "registers"
            or "barriers".
        resident: Groups that fit by all limits together.
        source: Where ``capacity`` comes from.
    """

    name: str
    groups: int
    used: int
    capacity: int
    unit: str
    resident: int
    source: Source = "vendor table"

    @property
    def fraction(self) -> float:
        """Share of the capacity that the resident groups take."""
        return self.used * self.resident / self.capacity

    @property
    def text(self) -> str:
        """The bar in words: "3 KiB × 6 of 228 KiB"; without a group, what one would take."""
        times = "for one group" if self.resident == 0 else f"× {self.resident}"
        if self.unit == "B":
            return f"{memory(self.used)} {times} of {memory(self.capacity)}"
        if self.used == 1 and self.resident:
            return f"{self.resident} of {self.capacity} {self.unit}"
        return f"{self.used} {times} of {self.capacity} {self.unit}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a compute unit holds of one kernel; None where it is not known or does not apply.

    Attributes:
        group_size: Work-items of a group, as asked.
        local_bytes: Local memory of a group, as asked.
        registers: Registers per work-item, as asked, or None if unknown.
        confidence: What the figures are worth.
        groups_per_unit: Groups resident on one unit; 0 if the kernel cannot launch. With
            "local-memory budget only" it is the budget divided by ``local_bytes``.
        groups_by_local_memory: The same by local memory alone, to be shown beside it.
        warps_per_group: Warps, waves or threads of a group.
        work_items: Work-items resident on one unit.
        occupancy: Share of the unit's slots in use, 0 to 1.
        limiters: Name of every limit that allows no more than ``groups_per_unit``.
        limits: Every limit that applies.
        allocated_local_bytes: ``local_bytes`` with what the system adds, rounded.
        pool_bytes: Local memory that the unit's groups share.
        per_group_bytes: Most local memory of one group,
        per_group_source: and who says so.
        headroom_bytes: ``local_bytes`` may grow to this without losing a group.
        next_step_bytes: For one more group by local memory, ``local_bytes`` must be at most this.
        refusal: Why it cannot launch, as one sentence, or "".
        explanation: The figures in sentences.
        pool_name: What the unit is called: "SM", "CU", "WGP", "sub-slice" or "".
        warp_name: "warp", "wave", "thread" or "".
        lane_width: Work-items of a warp.
        slots: Most warps of a unit.
        cache_bytes: Where local memory is cache, the size of it.
        source: Who documents the limits.
        assumes: What the limits take for granted, as a sentence, or "".
    """

    group_size: int
    local_bytes: int
    registers: int | None
    confidence: Confidence
    groups_per_unit: int | None = None
    groups_by_local_memory: int | None = None
    warps_per_group: int | None = None
    work_items: int | None = None
    occupancy: float | None = None
    limiters: tuple[str, ...] = ()
    limits: tuple[Limiter, ...] = ()
    allocated_local_bytes: int | None = None
    pool_bytes: int | None = None
    per_group_bytes: int | None = None
    per_group_source: Source = "vendor table"
    headroom_bytes: int | None = None
    next_step_bytes: int | None = None
    refusal: str = ""
    explanation: str = ""
    pool_name: str = ""
    warp_name: str = ""
    lane_width: int | None = None
    slots: int | None = None
    cache_bytes: int | None = None
    source: str = ""
    assumes: str = ""
