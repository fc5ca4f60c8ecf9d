"""Whether occupancy matters for a kernel: its speed while fewer groups are made to be resident."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gemmviz.core.units import memory, percent

POINTS = 6
SAME = 0.05
"""Relative difference of speed that counts as none."""

_ALIGNMENT = 16  # of the sizes tried, as of arrays of vectors


@dataclass(frozen=True, slots=True)
class ThrottlePoint:
    """One measurement: dummy local memory a group, groups resident, FLOP/s and its interval."""

    dummy_bytes: int
    groups_per_unit: int
    flops: float
    flops_low: float
    flops_high: float


@dataclass(frozen=True, slots=True)
class ThrottleCurve:
    """Points by falling residency, the first as the kernel is; ``sentence`` says what they mean."""

    points: tuple[ThrottlePoint, ...]
    sentence: str


def dummy_steps(
    groups_at: Callable[[int], int], local_bytes: int, most_bytes: int, points: int = POINTS
) -> tuple[tuple[int, int], ...]:
    """Dummy bytes that leave ever fewer groups resident, each with its groups; (0, n) first.

    Each size lies in the middle of those with the same residency, so that a few bytes which a
    driver adds change nothing. Where many residencies can be had, some are left out evenly; the
    lowest is always there.

    Args:
        groups_at: Groups resident with so many bytes of local memory a group; never rises.
        local_bytes: What the kernel takes by itself.
        most_bytes: What a group may take at most.
        points: How many at most, at least 2.
    """
    most = groups_at(local_bytes)
    steps = [(0, most)]
    if most < 1 or most_bytes <= local_bytes:
        return tuple(steps)
    fewest = max(1, groups_at(most_bytes))
    count = min(points - 1, most - fewest)
    wanted = {round(most - (index + 1) * (most - fewest) / count) for index in range(count)}
    for groups in sorted(wanted, reverse=True):
        low = _first(groups_at, groups, local_bytes, most_bytes)
        high = _first(groups_at, groups - 1, local_bytes, most_bytes + 1) - 1
        if low > high or groups_at(low) != groups:
            continue  # hardware gives local memory out in steps that miss this residency
        middle = (low + high) // 2 // _ALIGNMENT * _ALIGNMENT
        steps.append((max(low, middle) - local_bytes, groups))
    return tuple(steps)


def _first(groups_at: Callable[[int], int], groups: int, low: int, high: int) -> int:
    """The smallest size from ``low`` to ``high`` with at most ``groups``, or ``high``."""
    while low < high:
        middle = (low + high) // 2
        if groups_at(middle) <= groups:
            high = middle
        else:
            low = middle + 1
    return low


def judge(points: Sequence[ThrottlePoint]) -> str:
    """What a curve says of occupancy, as a sentence.

    Args:
        points: By falling residency, at least one.
    """
    first, last = points[0], points[-1]
    if first.groups_per_unit == 1:
        return (
            "One group is resident as it is, and there cannot be fewer: its speed comes from "
            "independent work in each work-item, not from occupancy."
        )
    if len(points) == 1:
        return (
            "Fewer groups cannot be forced: so much local memory as that would take is more than "
            "one group may have."
        )
    share = last.flops / first.flops
    kept = f"with {last.groups_per_unit} of {first.groups_per_unit} groups resident it keeps"
    best = max(points[1:], key=lambda point: point.flops)
    if best.flops > (1 + SAME) * first.flops:
        return (
            f"Less occupancy is better here: {best.groups_per_unit} of {first.groups_per_unit} "
            f"groups resident give {percent(best.flops / first.flops)} of its speed."
        )
    if share >= 1 - SAME:
        return (
            f"Occupancy does not matter here: {kept} {percent(share)} of its speed. Independent "
            "work in each work-item hides the latency that more groups would hide."
        )
    enough = [point for point in points if point.flops >= (1 - SAME) * first.flops][-1]
    text = f"Occupancy matters here: {kept} {percent(share)} of its speed."
    if enough is not first:
        text += f" More than {enough.groups_per_unit} groups gain next to nothing."
    return text


def judge_on_cpu(points: Sequence[ThrottlePoint]) -> str:
    """What dummy local memory does on a CPU, where it limits no groups, as sentences.

    Args:
        points: By growing dummy memory, at least one.
    """
    text = (
        "Occupancy does not apply to a CPU: it runs about one group at a time on a core, and local "
        "memory is its cache."
    )
    if len(points) > 1:
        last = points[-1]
        share = percent(last.flops / points[0].flops)
        text += (
            f" With {memory(last.dummy_bytes)} of unused local memory a group it keeps {share} of "
            "its speed."
        )
    return text


def compare_curves(curves: Sequence[tuple[str, ThrottleCurve]]) -> str:
    """What several kernels of one device show together, as a sentence, or "".

    Args:
        curves: Each with the name of its kernel.
    """
    if len(curves) < 2:
        return ""
    first = {name: curve.points[0] for name, curve in curves}
    fastest = max(first, key=lambda name: first[name].flops)
    others = [point for name, point in first.items() if name != fastest]
    groups = first[fastest].groups_per_unit
    if all(groups < point.groups_per_unit for point in others):
        return (
            f"The fastest of these, {fastest}, has the fewest groups resident ({groups}): a figure "
            "of occupancy alone misleads."
        )
    return ""
