"""How the lanes of a warp lie to each other, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.core.access.marks import sector_tone

_FULL = 0.5


@dataclass(frozen=True, slots=True)
class Grid:
    """How an array lies in memory: elements from one line to the next, and what a line is called.

    ``line`` is "row", or "column" for a matrix stored by columns.
    """

    row_length: int
    line: str = "row"


def describe(elements: npt.NDArray[np.int64], width: int, grid: Grid) -> str:
    """The strides between the active lanes of one warp.

    Args:
        elements: Element indices of the lanes in order.
        width: Elements that one lane moves.
        grid: How the array lies in memory.
    """
    if len(elements) == 0:
        return "no lane takes part"
    if len(elements) == 1:
        return "one lane alone"
    steps = np.diff(elements)
    if (steps == steps[0]).all():
        return _even(int(steps[0]), width, grid)
    run = int(np.argmax(steps != steps[0])) + 1
    shaped = len(elements) // run
    if run == 1 or shaped * run != len(elements):
        return "scattered"
    inner = elements.reshape(shaped, run)
    jumps = np.diff(inner[:, 0])
    if not (np.diff(inner, axis=1) == steps[0]).all() or not (jumps == jumps[0]).all():
        return "scattered"
    return (
        f"{shaped} × {_run(run, int(steps[0]), width, grid)}, {_runs(int(jumps[0]), width, grid)}"
    )


def _run(lanes: int, step: int, width: int, grid: Grid) -> str:
    """What the lanes of one run do: "16 neighbours", "16 lanes on one element"."""
    if step == width:
        return f"{lanes} neighbours"
    return f"{lanes} lanes {'on one element' if step == 0 else _even(step, width, grid)}"


def _runs(jump: int, width: int, grid: Grid) -> str:
    """How one run lies to the next."""
    if jump == 0:
        return "all runs alike"
    return f"runs {'side by side' if jump == width else _even(jump, width, grid)}"


def _even(step: int, width: int, grid: Grid) -> str:
    if step == 0:
        return "all the same element"
    if step == width:
        return f"neighbours in a {grid.line}"
    back = " back" if step < 0 else ""
    size = abs(step)
    if grid.row_length > 1 and size % grid.row_length == 0:
        lines = size // grid.row_length
        return f"{lines} {grid.line}{'s' * (lines != 1)} apart{back}"
    return f"{size} element{'s' * (size != 1)} apart{back}"


def global_effect(lanes: int, distinct: int, sectors: int, ideal: int, used: float) -> str:
    """What strides mean for global memory: the end of the sentence.

    Args:
        lanes: Active lanes.
        distinct: Distinct elements among them.
        sectors: What they touch.
        ideal: Sectors that would do.
        used: The share of the sectors' bytes that any lane uses.
    """
    if distinct == 1 and lanes > 1:
        return "broadcast"
    if sectors <= ideal:
        # Few elements, as of lanes that share them, leave most of even the fewest sectors unused.
        return "coalesced" if used >= _FULL else "fewest sectors"
    if sectors == lanes:
        return "one sector per lane"
    if sector_tone(sectors, ideal) == "bad":
        return "not coalesced"
    return f"{sectors} sectors where {ideal} would do"


def local_effect(lanes: int, distinct: int, passes: int, ideal: int) -> str:
    """What strides mean for the banks of local memory."""
    if distinct == 1 and lanes > 1:
        return "broadcast"
    if passes <= ideal:
        return "no bank conflict"
    degree = passes / max(1, ideal)
    return f"{degree:.3g}-way bank conflict"
