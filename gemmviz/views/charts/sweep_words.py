"""What is told of one cell of a sweep, line by line."""

from __future__ import annotations

import textwrap

from gemmviz.core import units, winners
from gemmviz.core.launch import describe_parameters
from gemmviz.core.stats import FEWEST_FOR_95
from gemmviz.core.sweep import SweepCell
from gemmviz.core.sweep_dimensions import is_rough

STATE_WORDS = {
    "planned": "not measured yet",
    "dropped": "measured and right; slower than the best",
    "measured": "measured and right",
    "failed": "failed",
    "wrong": "wrong answer",
}
ROUGH_WORDS = "dropped early: it cannot be the best, so its figures are rough"
ROUGH_SIGN = "≈"
STATE_SIGNS = {"planned": "·", "failed": "✗", "wrong": "wrong", "refused": "–"}
BEST_SIGN, RECOMMENDED_SIGN = "□", "★"
BEST_WORDS = winners.BEST_WORDS
RECOMMENDED_WORDS = "recommended"
HOLLOW_WORDS = "hollow: dropped early"
_WORDS_A_LINE = 56


def figures(cell: SweepCell) -> list[tuple[str, str]]:
    """Names and values of what was measured and is known of a cell."""
    rows = []
    if cell.seconds:
        rows.append(("Median", units.duration(cell.seconds)))
        if cell.low is not None and cell.high is not None:
            kind = "95 % interval" if cell.samples >= FEWEST_FOR_95 else "Range"
            rows.append((kind, _span(cell.low, cell.high)))
        rate = cell.flops_per_second
        if rate is not None:
            rows.append(("Throughput", units.throughput(rate)))
        rows.append(("Samples", f"{cell.samples:,}"))
    if cell.registers is not None:
        rows.append(("Registers", f"{cell.registers}"))
    if cell.local_bytes is not None:
        rows.append(("Local memory", units.memory(cell.local_bytes)))
    if cell.group_size is not None:
        rows.append(("Group size", f"{cell.group_size}"))
    if cell.occupancy is not None:
        rows.append(("Occupancy", units.percent(cell.occupancy)))
    return rows


def _span(low: float, high: float) -> str:
    """Two times, their unit once where it is the same: "106 to 108 µs"."""
    (first, unit), (last, other) = units.scaled(low, "s"), units.scaled(high, "s")
    return f"{first} to {last} {unit}" if unit == other else f"{first} {unit} to {last} {other}"


def state_words(cell: SweepCell) -> str:
    """How far a cell has come, in a few words."""
    if cell.passed_over:
        return "not measured"
    return ROUGH_WORDS if is_rough(cell) else STATE_WORDS[cell.state]


def folded(text: str) -> str:
    """A sentence on lines that a plate beside the mouse has room for."""
    return "\n".join(textwrap.wrap(text, _WORDS_A_LINE))


def describe_cell(cell: SweepCell, marks: tuple[str, ...] = ()) -> str:
    """Parameters, how it ended, figures, reason and marks of a cell, on some lines."""
    parameters = describe_parameters(cell.configuration.parameters)
    lines = [parameters or "no parameters", state_words(cell)]
    lines += [f"{name.lower()} {value}" for name, value in figures(cell)]
    if cell.why_not:
        lines.append(folded(cell.why_not))
    return "\n".join([*lines, *marks])
