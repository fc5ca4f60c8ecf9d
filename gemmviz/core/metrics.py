"""The figures that a configuration of a sweep can be looked at by, one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from gemmviz.core import units
from gemmviz.core.model import Problem
from gemmviz.core.sweep import SweepCell

Better = Literal["lower", "higher", ""]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a cell.

    Attributes:
        name: What it is called: "Throughput", or a parameter's name.
        unit: SI: "FLOP/s", "s", "B"; "%" for values from 0 to 100; "" for counts.
        better: Whether less or more of it is better; "" where neither is.
        compute: The figure in ``unit``, or None where the cell has none.
    """

    name: str
    unit: str
    better: Better
    compute: Callable[[SweepCell], float | None]

    def text(self, value: float) -> str:
        """A value as a person reads it: "1.84 TFLOP/s", "48 KiB", "67 %", "256"."""
        match self.unit:
            case "":
                return f"{value:.4g}" if value != int(value) else f"{value:.0f}"
            case "%":
                return f"{value:.3g} %"
            case "B":
                return units.memory(value)
            case unit:
                return " ".join(units.scaled(value, unit))


def size_of(problem: Problem) -> float:
    """The edge of the cube with as much work: M where M = N = K, else the cube root of M N K."""
    if problem.m == problem.n == problem.k:
        return float(problem.m)
    return float((problem.m * problem.n * problem.k) ** (1 / 3))


def _counts(cell: SweepCell) -> bool:
    """Whether its times mean something: nothing failed, and its answer is right."""
    return cell.state in ("measured", "dropped")


def _speed(cell: SweepCell) -> float | None:
    return cell.flops_per_second if _counts(cell) else None


def _seconds(cell: SweepCell) -> float | None:
    return cell.seconds if _counts(cell) else None


def _spread(cell: SweepCell) -> float | None:
    """Half the median's interval, in percent of the median."""
    if not _counts(cell) or not cell.seconds or cell.low is None or cell.high is None:
        return None
    return 50 * (cell.high - cell.low) / cell.seconds


def _occupancy(cell: SweepCell) -> float | None:
    return None if cell.occupancy is None else 100 * cell.occupancy


METRICS: tuple[Metric, ...] = (
    Metric("Throughput", "FLOP/s", "higher", _speed),
    Metric("Time", "s", "lower", _seconds),
    Metric("Uncertainty", "%", "lower", _spread),
    Metric("Occupancy", "%", "higher", _occupancy),
    Metric("Registers", "", "", lambda cell: cell.registers),
    Metric("Local memory", "B", "", lambda cell: cell.local_bytes),
    Metric("Group size", "", "", lambda cell: cell.group_size),
    Metric("Samples", "", "", lambda cell: cell.samples or None),
    Metric("Size", "", "", lambda cell: size_of(cell.configuration.problem)),
)
"""Every figure that is no parameter; a new one is a row."""
THROUGHPUT, TIME = METRICS[:2]


def parameter_metric(name: str) -> Metric:
    """The values of one parameter as a figure; None for cells of kernels that have it not."""
    return Metric(name, "", "", lambda cell: dict(cell.configuration.parameters).get(name))


def metrics_of(cells: Iterable[SweepCell]) -> tuple[Metric, ...]:
    """Throughput and time, the figures that any of these cells has, then their parameters."""
    cells = tuple(cells)
    parameters = dict.fromkeys(name for cell in cells for name, _ in cell.configuration.parameters)
    known = [each for each in METRICS[2:] if any(each.compute(cell) is not None for cell in cells)]
    return (THROUGHPUT, TIME, *known, *map(parameter_metric, parameters))
