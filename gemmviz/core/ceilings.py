"""What a device can do at most, as measured on it: bandwidths and peak rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemmviz.core.model import DeviceKey

FMA = "fma"
NEAR_READ = "near cache read"
LOCAL_READ = "local read"
STRIDES = (1, 2, 4, 8, 16, 32, 33)
"""Between neighbours' words of local memory; 33 is the row of 32 with its pad."""

Level = Literal["global", "cache"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One measured ceiling.

    Attributes:
        name: "global copy", "global read" or "global write" with far more than any cache holds;
            "cache copy", "cache read" or "cache write" within the cache that all share (on a CPU
            within a core's second level); "near cache read" within the first level; "local read"
            with the widest vectors; "local stride 1" and so on, of single words; or "fma".
        element: The element type it was measured with.
        value: Bytes or FLOP a second. A copy counts what it reads and what it writes; local memory
            counts what all work-items read.
        unit: "B/s" or "FLOP/s".
        seconds: How long measuring it took.
        detail: How: sizes, vector width, chains.
    """

    name: str
    element: str
    value: float
    unit: Literal["B/s", "FLOP/s"]
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CeilingTable:
    """Every ceiling of a device under one driver; ``measured_at`` in seconds since 1970."""

    device: DeviceKey
    driver_version: str
    ceilings: tuple[Ceiling, ...]
    measured_at: float = 0.0

    def find(self, name: str, element: str | None = None) -> Ceiling | None:
        """The ceiling of a name, of any element type unless one is given; None if not measured."""
        for ceiling in self.ceilings:
            if ceiling.name == name and element in (None, ceiling.element):
                return ceiling
        return None

    def peak(self, element: str) -> float | None:
        """FLOP a second of fused multiply-adds in an element type."""
        found = self.find(FMA, element)
        return found.value if found is not None else None

    def bandwidth(self, level: Level) -> float | None:
        """Bytes a second of a level of memory: the fastest of copy, read and write."""
        names = [f"{level} {access}" for access in ("copy", "read", "write")]
        values = [ceiling.value for ceiling in self.ceilings if ceiling.name in names]
        return max(values, default=None)

    @property
    def fastest_bandwidth(self) -> float | None:
        """Bytes a second of global memory from wherever it is fastest, caches included."""
        levels = [self.bandwidth("global"), self.bandwidth("cache")]
        near = self.find(NEAR_READ)
        found = [value for value in (*levels, near.value if near else None) if value is not None]
        return max(found, default=None)


def local_stride(stride: int) -> str:
    """The name of the ceiling of local reads ``stride`` words apart."""
    return f"local stride {stride}"
