"""The roofline: what a device's measured ceilings allow a kernel, and how near it comes.

Source: S. Williams, A. Waterman and D. Patterson, Roofline: an insightful visual performance model
for multicore architectures, Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gemmviz.core.ceilings import FMA, NEAR_READ, CeilingTable
from gemmviz.core.launch import flop, least_bytes
from gemmviz.core.model import Device, Problem, Variant
from gemmviz.core.units import scaled, throughput

Memory = Literal["global memory", "cache", "near cache"]

_LEVELS: tuple[Memory, ...] = ("global memory", "cache", "near cache")
# So much above a ceiling is noise of either measurement.
_TOLERANCE = 1.05
# Comments, which may speak of tensor cores, and strings, in which lines of assembly stand.
_WORDS = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
# How a source reaches matrix units: PTX by its instructions, AMD and Intel by built-in functions.
_MATRIX_UNITS = re.compile(
    r"\b(?:mma|wmma|wgmma|tcgen05)\.|\b(?:v|__builtin_amdgcn)_(?:mfma|wmma|smfmac|swmmac)_"
    r"|\bintel_sub_group_\w*matrix_mad"
)


@dataclass(frozen=True, slots=True)
class Roof:
    """One roof: a memory's slope in bytes a second, or the flat peak of an element type.

    ``name`` is a Memory or "FMA float" and the like.
    """

    name: str
    value: float
    flat: bool

    @property
    def label(self) -> str:
        """The roof as a person reads it: "cache 228 GB/s"."""
        return f"{self.name} {' '.join(scaled(self.value, 'FLOP/s' if self.flat else 'B/s'))}"

    def at(self, intensity: float) -> float:
        """FLOP a second that it allows at an intensity in FLOP/B."""
        return self.value if self.flat else intensity * self.value


@dataclass(frozen=True, slots=True)
class DeviceRoofs:
    """The roofs of one device under the label that a person reads."""

    device: str
    roofs: tuple[Roof, ...]


def roofs(table: CeilingTable, elements: Sequence[str] | None = None) -> tuple[Roof, ...]:
    """Memory from the farthest to the nearest, then the peaks; what was not measured is left out.

    Args:
        table: The ceilings of one device.
        elements: Whose peaks are wanted; all that were measured where None.
    """
    found = [Roof(name, value, flat=False) for name in _LEVELS if (value := _speed(table, name))]
    found += [
        Roof(f"FMA {ceiling.element}", ceiling.value, flat=True)
        for ceiling in table.ceilings
        if ceiling.name == FMA and (elements is None or ceiling.element in elements)
    ]
    return tuple(found)


def _speed(table: CeilingTable, memory: Memory) -> float | None:
    if memory == "global memory":
        return table.bandwidth("global")
    if memory == "cache":
        return table.bandwidth("cache")
    near = table.find(NEAR_READ)
    return near.value if near is not None else None


def ridge(table: CeilingTable, element: str, memory: Memory = "global memory") -> float | None:
    """The intensity in FLOP/B from which on arithmetic limits and no longer memory."""
    peak, speed = table.peak(element), _speed(table, memory)
    return peak / speed if peak is not None and speed else None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a result stands under the roofs of its device at one intensity.

    Attributes:
        intensity: FLOP a byte.
        flops_per_second: What it achieved.
        attainable: FLOP a second that the lower of the two roofs allows; None without ceilings.
        roof: The lower of the two: a memory's name, or "FMA float".
    """

    intensity: float
    flops_per_second: float
    attainable: float | None = None
    roof: str = ""

    @property
    def share(self) -> float | None:
        """How much of the roof it reaches; above 1 where nearer memory or registers serve it."""
        return self.flops_per_second / self.attainable if self.attainable else None


def standing(
    table: CeilingTable | None,
    element: str,
    intensity: float,
    flops_per_second: float,
    memory: Memory,
) -> Standing:
    """A result under the roof of one memory and the peak of its element type."""
    if table is None:
        return Standing(intensity, flops_per_second)
    speed, peak = _speed(table, memory), table.peak(element)
    allowed: list[tuple[float, str]] = []
    if speed is not None:
        allowed.append((intensity * speed, memory))
    if peak is not None:
        allowed.append((peak, f"FMA {element}"))
    if not allowed:
        return Standing(intensity, flops_per_second)
    attainable, roof = min(allowed)
    return Standing(intensity, flops_per_second, attainable, roof)


@dataclass(frozen=True, slots=True)
class Dot:
    """A result on the roofline: one speed at two intensities.

    Attributes:
        device: The label of its device.
        kernel: What was run.
        element: Its element type.
        seconds: The time of one launch.
        least: At the problem's minimum traffic, each matrix moved once: no kernel can do with less.
        source: At the traffic that the source asks for, all of it served by the nearest cache;
            None where that is not known.
        wrong: Whether its answer is, so that its speed counts for nothing.
    """

    device: str
    kernel: str
    element: str
    seconds: float
    least: Standing
    source: Standing | None = None
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """What a person reads of a result: its device, and its kernel with the parameters."""

    device: str
    kernel: str


def dot(
    names: Names,
    work: tuple[Variant, Problem, float],
    device: Device,
    table: CeilingTable | None,
    traffic_bytes: int | None = None,
    *,
    wrong: bool = False,
) -> Dot:
    """Places a result.

    Args:
        names: What it is called.
        work: What was run, on what, and the seconds of one launch.
        device: Where.
        table: The ceilings of ``device``, if known.
        traffic_bytes: What the source asks of global memory in a launch, if known.
        wrong: Whether the answer is wrong.
    """
    variant, problem, seconds = work
    operations, moved = flop(variant, problem), least_bytes(variant, problem)
    rate, element = operations / seconds, problem.element
    # Matrices that fit the cache stay there from one launch to the next.
    fits = moved <= (device.global_cache_bytes or 0)
    least = standing(table, element, operations / moved, rate, "cache" if fits else "global memory")
    source = None
    if traffic_bytes:
        source = standing(table, element, operations / traffic_bytes, rate, "near cache")
    return Dot(names.device, names.kernel, element, seconds, least, source, wrong)


def bytes_per_second(traffic_bytes: int, seconds: float) -> float:
    """The bandwidth that a launch achieved by what its source asks of global memory."""
    return traffic_bytes / seconds


def bandwidth_share(traffic_bytes: int, seconds: float, table: CeilingTable) -> float | None:
    """That bandwidth over the measured one of global memory; above 1 where caches serve it."""
    speed = table.bandwidth("global")
    return bytes_per_second(traffic_bytes, seconds) / speed if speed else None


def uses_matrix_units(variant: Variant) -> bool:
    """Whether its multiply-adds may run on tensor cores or the like: a library's always may."""
    return (
        bool(variant.library)
        or variant.family == "tensor"
        or variant.precision != "element"
        or _reaches_matrix_units(variant.source)
    )


@lru_cache(maxsize=256)
def _reaches_matrix_units(source: str) -> bool:
    code = _WORDS.sub(lambda found: found[1] or " ", source)
    return _MATRIX_UNITS.search(code) is not None


def above_ceiling(
    variant: Variant, problem: Problem, seconds: float, table: CeilingTable | None
) -> str:
    """Why a time cannot be right, as a sentence, or "": it beats what was measured as the most.

    Tensor cores are not what the ceilings of plain arithmetic were measured on, so libraries and
    kernels that use them are held to the memory alone.

    Args:
        variant: What was run.
        problem: On what.
        seconds: The time of one launch.
        table: The ceilings of the device it ran on, if known.
    """
    if table is None or not seconds > 0:
        return ""
    rate = flop(variant, problem) / seconds
    peak = table.peak(problem.element)
    if peak and rate > _TOLERANCE * peak and not uses_matrix_units(variant):
        return (
            f"{throughput(rate)} is {rate / peak:.3g} times what a loop of nothing but "
            f"multiply-adds reached here ({throughput(peak)}): the timer is wrong, or the ceilings "
            "were measured on a busy device."
        )
    speed = table.fastest_bandwidth
    moved = least_bytes(variant, problem) / seconds
    if speed and moved > _TOLERANCE * speed:
        return (
            f"Moving each matrix once at {' '.join(scaled(moved, 'B/s'))} is "
            f"{moved / speed:.3g} times the fastest memory measured here "
            f"({' '.join(scaled(speed, 'B/s'))}): the timer is wrong, or the ceilings were "
            "measured on a busy device."
        )
    return ""
