"""A sweep as a grid over two of its dimensions: in each place the best of what falls there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.metrics import THROUGHPUT, Metric
from gemmviz.core.model import Variant
from gemmviz.core.sweep import CellState, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_dimensions import (
    DEVICE,
    ELEMENT,
    KERNEL,
    RACE,
    SHAPE,
    Dimension,
    Value,
    dimensions,
    fastest,
    recommended_configurations,
    shape_text,
    value_of,
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """One place of a grid.

    Attributes:
        column: Index of the value across.
        row: Index of the value down, from the bottom.
        state: That of ``cell``; "refused" where no configuration of this place can run.
        cell: The one that stands for the configurations that fall here.
        value: Its figure; None without one, and where its answer is wrong.
        count: How many configurations fall here.
        best: Whether one that cannot be told apart from the best is among them.
        recommended: Whether the one to take is among them.
        why_not: Why there is no figure, or why it is a rough one.
    """

    column: int
    row: int
    state: CellState | Literal["refused"]
    cell: SweepCell | None = None
    value: float | None = None
    count: int = 0
    best: bool = False
    recommended: bool = False
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class SweepGrid:
    """Places over two dimensions; ``down`` is None where only one varies.

    Attributes:
        metric: What is shown.
        across: The columns.
        down: The rows, from the bottom.
        cells: One for each place, row by row.
        total: Configurations in all of them.
    """

    metric: Metric
    across: Dimension
    down: Dimension | None
    cells: tuple[GridCell, ...]
    total: int = 0

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.down.values) if self.down is not None else 1

    def at(self, column: int, row: int) -> GridCell:
        """The place at a column and a row."""
        return self.cells[row * len(self.across.values) + column]


def sweep_grid(
    sweep: Sweep,
    report: SweepReport,
    axes: tuple[str, str],
    metric: Metric = THROUGHPUT,
    fixed: Mapping[str, Value] | None = None,
) -> SweepGrid | None:
    """The grid over two dimensions; of the others each is fixed, or its best is taken.

    Args:
        sweep: What was to be tried.
        report: What came of it so far.
        axes: The dimensions of columns and of rows; the latter "" for a single row.
        metric: What each place shows.
        fixed: Values of other dimensions. Shape, element type and device are always fixed, at the
            first one where they are not named, since a best one of several means nothing.

    Returns:
        The grid, or None where the dimension of the columns does not vary.
    """
    across, down = axes
    known = {each.name: each for each in dimensions(sweep)}
    if across not in known:
        return None
    columns, rows = known[across], known.get(down) if down != across else None
    held = {
        name: value
        for name, value in (fixed or {}).items()
        if name in known and name not in (across, down)
    }
    for name in RACE:
        if name in known and name not in (across, down):
            held.setdefault(name, known[name].values[0])
    shown_axes = [columns] if rows is None else [rows, columns]
    placed: dict[tuple[Value, ...], list[SweepCell]] = {}
    for cell in report.cells:
        configuration = cell.configuration
        if any(value_of(configuration, name) != value for name, value in held.items()):
            continue
        place = tuple(value_of(configuration, axis.name) for axis in shown_axes)
        if None not in place:
            placed.setdefault(place, []).append(cell)  # type: ignore[arg-type]
    recommended = recommended_configurations(report.winners)
    cells = []
    for place in product(*(axis.values for axis in shown_axes)):
        column = columns.values.index(place[-1])
        row = rows.values.index(place[0]) if rows is not None else 0
        here = placed.get(place, [])
        shown = fastest(here, recommended)
        if shown is None:
            at = held | dict(zip((axis.name for axis in shown_axes), place, strict=True))
            cells.append(GridCell(column, row, "refused", why_not=_refusal(sweep, at)))
            continue
        best = [cell.configuration for cell in here if cell.best]
        value = metric.compute(shown) if shown.state in ("measured", "dropped") else None
        cells.append(
            GridCell(
                column, row, shown.state, shown, value, len(here), bool(best),
                any(each in recommended for each in best), shown.why_not,
            )
        )  # fmt: skip
    total = sum(cell.count for cell in cells)
    return SweepGrid(metric, columns, rows, tuple(cells), total)


def _refusal(sweep: Sweep, at: Mapping[str, Value]) -> str:
    """Why no configuration of a place can run, by the first of them."""
    problems = [
        each
        for each in sweep.problems
        if at.get(SHAPE, shape_text(each)) == shape_text(each)
        and at.get(ELEMENT, each.element) == each.element
    ]
    for variant in sweep.variants:
        if at.get(KERNEL, variant.id) != variant.id or not problems:
            continue
        tried = _first_parameters(sweep, variant, at)
        if tried is None:
            continue
        device = sweep.devices[int(at.get(DEVICE, 0))]
        why = refusal(variant, tried, problems[0], device, limits_for(device))
        if why is not None:
            return why
    return "No kernel of this sweep has such a configuration that can run."


def _first_parameters(
    sweep: Sweep, variant: Variant, at: Mapping[str, Value]
) -> tuple[tuple[str, int], ...] | None:
    """The first combination of a kernel's parameters that falls in a place; None without one."""
    tried = dict(dict(sweep.axes).get(variant.id, ()))
    names = {parameter.name for parameter in variant.parameters}
    if any(name not in names for name in at if name not in (KERNEL, SHAPE, ELEMENT, DEVICE)):
        return None
    chosen = {}
    for parameter in variant.parameters:
        values = tried.get(parameter.name, parameter.values)
        chosen[parameter.name] = int(at.get(parameter.name, values[0]))
        if chosen[parameter.name] not in values:
            return None
    return merge_parameters(variant, chosen)
