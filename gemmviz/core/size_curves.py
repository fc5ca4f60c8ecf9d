"""The best of each kernel at each size, as curves, and where one kernel overtakes another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from gemmviz.core.labels import device_label
from gemmviz.core.metrics import size_of
from gemmviz.core.model import Problem
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import fastest, recommended_configurations


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The best configuration of a kernel at one problem.

    ``size`` is M where M = N = K, else the cube root of M N K.
    """

    size: float
    problem: Problem
    cell: SweepCell

    @property
    def speed(self) -> float:
        """FLOP per second."""
        return self.cell.flops_per_second or 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The lower and the upper end of its interval, FLOP per second; both ``speed`` if none."""
        cell = self.cell
        if not cell.seconds or not cell.low or not cell.high:
            return self.speed, self.speed
        return self.speed * cell.seconds / cell.high, self.speed * cell.seconds / cell.low


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """A kernel in one element type on one device, by rising size; ``name`` tells what differs."""

    name: str
    variant: str
    element: str
    device: int
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Crossing:
    """Between two sizes the faster of two kernels changes.

    Attributes:
        size: Where, if speed follows a power of the size between the two.
        speed: FLOP per second there.
        below: The name of the curve that is faster at the smaller size.
        above: The name of the one that is faster at the larger size.
        between: The two sizes that were measured.
        sure: Whether their intervals lie apart at both.
        leads: Whether no third curve of that device and element type is faster there.
    """

    size: float
    speed: float
    below: str
    above: str
    between: tuple[float, float]
    sure: bool
    leads: bool


def size_curves(sweep: Sweep, report: SweepReport) -> tuple[SizeCurve, ...]:
    """A curve for each kernel, element type and device that has a figure."""
    placed: dict[tuple[int, str, str], dict[Problem, list[SweepCell]]] = {}
    for cell in report.cells:
        if cell.state in ("measured", "dropped") and cell.seconds:
            about = cell.configuration
            curve = placed.setdefault((about.device, about.problem.element, about.variant), {})
            curve.setdefault(about.problem, []).append(cell)
    recommended = recommended_configurations(report.winners)
    titles = {variant.id: variant.title for variant in sweep.variants}
    several_elements = len({problem.element for problem in sweep.problems}) > 1
    curves = []
    for (device, element, variant), problems in placed.items():
        name = titles.get(variant, variant)
        name += f" · {element}" if several_elements else ""
        name += f" · {device_label(sweep.devices[device])}" if len(sweep.devices) > 1 else ""
        points = []
        for problem, cells in problems.items():
            best = fastest(cells, recommended)
            assert best is not None
            points.append(CurvePoint(size_of(problem), problem, best))
        points.sort(key=lambda point: (point.size, point.problem.m, point.problem.n))
        curves.append(SizeCurve(name, variant, element, device, tuple(points)))
    return tuple(curves)


def crossings(curves: Sequence[SizeCurve]) -> tuple[Crossing, ...]:
    """Where curves of one device and element type cross, by rising size."""
    found = []
    for one, other in combinations(curves, 2):
        if (one.device, one.element) != (other.device, other.element):
            continue
        rivals = [each for each in curves if each not in (one, other) and
                  (each.device, each.element) == (one.device, one.element)]  # fmt: skip
        shared = {point.problem: point for point in other.points}
        both = [(point, shared[point.problem]) for point in one.points if point.problem in shared]
        for (a, b), (next_a, next_b) in pairwise(both):
            before, after = math.log(a.speed / b.speed), math.log(next_a.speed / next_b.speed)
            if before * after >= 0 or next_a.size <= a.size:
                continue
            share = before / (before - after)
            size = a.size * (next_a.size / a.size) ** share
            speed = a.speed * (next_a.speed / a.speed) ** share
            below, above = (one, other) if before > 0 else (other, one)
            leads = all((speed_at(rival, size) or 0.0) <= speed for rival in rivals)
            sure = _apart(a, b) and _apart(next_a, next_b)
            sizes = a.size, next_a.size
            found.append(Crossing(size, speed, below.name, above.name, sizes, sure, leads))
    return tuple(sorted(found, key=lambda crossing: crossing.size))


def speed_at(curve: SizeCurve, size: float) -> float | None:
    """FLOP per second of a curve at a size, as a power of it between two points; None outside."""
    for point, later in pairwise(curve.points):
        if point.size <= size <= later.size and point.size < later.size:
            share = math.log(size / point.size) / math.log(later.size / point.size)
            return float(point.speed * (later.speed / point.speed) ** share)
    return next((point.speed for point in curve.points if point.size == size), None)


def _apart(one: CurvePoint, other: CurvePoint) -> bool:
    """Whether the intervals of two points have nothing in common."""
    return one.ends[0] > other.ends[1] or other.ends[0] > one.ends[1]
