"""A sweep as lines over parallel axes: one axis for each thing that varies, the last a figure.

The chart is that of A. Inselberg, "The plane with parallel coordinates", 1985.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gemmviz.core.metrics import THROUGHPUT, Metric
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import (
    Dimension,
    Value,
    dimensions,
    recommended_configurations,
    value_of,
)

LEAST_AXES = 3
"""With fewer things that vary a heat map or a scatter tells more."""
_NONE = "–"


@dataclass(frozen=True, slots=True)
class LineAxis:
    """One axis: what varies, and how its values are written from the bottom up.

    The lowest one is a dash where kernels are among the lines that have no such parameter.
    """

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One configuration.

    Attributes:
        places: Index of its value on each axis.
        cell: What came of it.
        value: Its figure; None where it failed, is wrong or has none.
        best: Whether it cannot be told apart from the best.
        recommended: Whether it is the one to take.
    """

    places: tuple[int, ...]
    cell: SweepCell
    value: float | None
    best: bool = False
    recommended: bool = False


@dataclass(frozen=True, slots=True)
class SweepLines:
    """All lines, the worst first; ``untried`` counts configurations that have none yet."""

    metric: Metric
    axes: tuple[LineAxis, ...]
    lines: tuple[SweepLine, ...]
    untried: int = 0

    @property
    def span(self) -> tuple[float, float] | None:
        """The lowest and the highest figure; None where no line has one."""
        values = [line.value for line in self.lines if line.value is not None]
        return (min(values), max(values)) if values else None


def can_be_lines(known: Iterable[Dimension]) -> bool:
    """Whether enough varies for lines over parallel axes to tell anything."""
    return sum(1 for _ in known) >= LEAST_AXES


def sweep_lines(
    sweep: Sweep,
    report: SweepReport,
    metric: Metric = THROUGHPUT,
    fixed: Mapping[str, Value] | None = None,
) -> SweepLines | None:
    """The lines of a sweep.

    Args:
        sweep: What was to be tried.
        report: What came of it so far.
        metric: The figure of the last axis.
        fixed: Values that lines must have; such a thing has no axis.

    Returns:
        The lines, or None where fewer than :data:`LEAST_AXES` things vary or all are held.
    """
    known = dimensions(sweep)
    if not can_be_lines(known):
        return None
    held = {name: value for name, value in (fixed or {}).items()
            if any(each.name == name for each in known)}  # fmt: skip
    free = [each for each in known if each.name not in held]
    if not free:
        return None
    recommended = recommended_configurations(report.winners)
    shown: list[tuple[tuple[Value | None, ...], SweepCell]] = []
    untried = 0
    for cell in report.cells:
        configuration = cell.configuration
        if any(value_of(configuration, name) != value for name, value in held.items()):
            continue
        if not cell.tried:
            untried += 1
            continue
        shown.append((tuple(value_of(configuration, each.name) for each in free), cell))
    lacking = [any(values[place] is None for values, _ in shown) for place in range(len(free))]
    axes = tuple(
        LineAxis(each.name, ((_NONE,) if lacks else ()) + each.texts)
        for each, lacks in zip(free, lacking, strict=True)
    )
    index = [
        {None: 0} | {value: place + lacks for place, value in enumerate(each.values)}
        for each, lacks in zip(free, lacking, strict=True)
    ]
    lines = []
    for values, cell in shown:
        good = cell.state in ("measured", "dropped")
        places = tuple(known_at[value] for known_at, value in zip(index, values, strict=True))
        taken = cell.best and cell.configuration in recommended
        value = metric.compute(cell) if good else None
        lines.append(SweepLine(places, cell, value, cell.best, taken))
    sign = -1.0 if metric.better == "lower" else 1.0
    lines.sort(
        key=lambda line: (
            line.value is not None, line.best, line.recommended, sign * (line.value or 0.0)
        )
    )  # fmt: skip
    return SweepLines(metric, axes, tuple(lines), untried)
