"""A sweep as points over any two of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gemmviz.core.metrics import Metric
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import (
    Dimension,
    Value,
    dimensions,
    recommended_configurations,
    value_of,
)


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """A configuration with both figures; ``group`` is the index of its value, -1 without one."""

    x: float
    y: float
    cell: SweepCell
    group: int = -1
    best: bool = False
    recommended: bool = False


@dataclass(frozen=True, slots=True)
class SweepScatter:
    """Points over two figures, told apart by a dimension (or not, where that is None)."""

    x: Metric
    y: Metric
    by: Dimension | None
    points: tuple[ScatterPoint, ...]


def sweep_scatter(
    sweep: Sweep,
    report: SweepReport,
    axes: tuple[Metric, Metric],
    by: str = "",
    fixed: Mapping[str, Value] | None = None,
) -> SweepScatter:
    """Every cell that has both figures, whose answer is not wrong.

    Args:
        sweep: What was to be tried.
        report: What came of it so far.
        axes: The figures across and upwards.
        by: The dimension that the points' looks tell; "" for none.
        fixed: Values of dimensions that points must have.
    """
    known = {each.name: each for each in dimensions(sweep)}
    groups = known.get(by)
    places = {value: index for index, value in enumerate(groups.values)} if groups else {}
    held = {name: value for name, value in (fixed or {}).items() if name in known}
    recommended = recommended_configurations(report.winners)
    points = []
    for cell in report.cells:
        configuration = cell.configuration
        if cell.state not in ("measured", "dropped"):
            continue
        if any(value_of(configuration, name) != value for name, value in held.items()):
            continue
        x, y = (metric.compute(cell) for metric in axes)
        if x is None or y is None:
            continue
        value = value_of(configuration, by) if groups is not None else None
        points.append(
            ScatterPoint(
                x, y, cell, places.get(value, -1) if value is not None else -1,
                cell.best, cell.best and configuration in recommended,
            )
        )  # fmt: skip
    return SweepScatter(*axes, groups, tuple(points))
