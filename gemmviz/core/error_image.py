"""Draws the error map of a wrong answer from the float64 reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemmviz.core.error_map import ErrorMap, pack
from gemmviz.core.model import Problem, Variant
from gemmviz.core.pattern import Tally
from gemmviz.core.reference import (
    Answer,
    Block,
    Inputs,
    compared_blocks,
    compared_regions,
    never,
)

MOST_PIXELS = 512
"""An error map has at most so many rows and columns of pixels."""

FULL_MAP_FLOP = 2 * 4096**3
"""Up to this many operations every cell is compared; above it, those that the check samples."""


def make_error_map(
    variant: Variant,
    problem: Problem,
    inputs: Inputs,
    answer: Answer,
    *,
    tile: tuple[int, int] = (1, 1),
    cancelled: Callable[[], bool] = never,
) -> ErrorMap | None:
    """Where and how far an answer is off.

    Args:
        variant: Says the operation and the precision.
        problem: Shape, element and seed.
        inputs: A and B as the kernel got them.
        answer: What the kernel left behind.
        tile: Rows and columns of C that one work-group computes; (1, 1) where that says nothing.
        cancelled: Asked between blocks; true ends it.

    Returns:
        The map, or None when cancelled.
    """
    regions = compared_regions(variant, problem, FULL_MAP_FLOP)
    tally = Tally(problem.m, problem.n, tile, regions)
    step = pixel_step(problem.m, tile[0]), pixel_step(problem.n, tile[1])
    canvas = _Canvas(problem, step)
    for block in compared_blocks(variant, problem, inputs, answer.c, regions):
        if cancelled():
            return None
        tally.add_block(block.rows, block.cols, block.excess > 1, answer.unwritten, block.value)
        canvas.draw(block)
    excess = np.where(canvas.excess < 0, np.nan, canvas.excess).astype(np.float32)
    return ErrorMap(
        rows=problem.m,
        cols=problem.n,
        tile=tile,
        step_rows=step[0],
        step_cols=step[1],
        excess=pack(excess),
        place=pack(canvas.place),
        value=pack(canvas.value),
        expected=pack(canvas.expected),
        pattern=tally.describe(answer.c, answer.outside),
    )


def pixel_step(cells: int, tile: int) -> int:
    """Cells along one side of a pixel: as few as fit, in whole tiles or whole parts of one."""
    step = -(-cells // MOST_PIXELS)
    if step >= tile:
        return -(-step // tile) * tile
    return next(size for size in range(step, tile + 1) if tile % size == 0)


class _Canvas:
    """The worst cell of each pixel; ``excess`` is below 0 where none was drawn yet."""

    def __init__(self, problem: Problem, step: tuple[int, int]) -> None:
        self._step, self._cols = step, problem.n
        shape = (-(-problem.m // step[0]), -(-problem.n // step[1]))
        self.excess = np.full(shape, -1.0)
        self.place = np.zeros(shape, np.int64)
        self.value = np.zeros(shape)
        self.expected = np.zeros(shape)

    def draw(self, block: Block) -> None:
        down, across = block.rows // self._step[0], block.cols // self._step[1]
        # Rows and columns ascend, so the cells of a pixel lie side by side.
        first_down = np.flatnonzero(np.diff(down, prepend=-1))
        first_across = np.flatnonzero(np.diff(across, prepend=-1))
        peaks = np.maximum.reduceat(block.excess, first_down, axis=0)
        peaks = np.maximum.reduceat(peaks, first_across, axis=1)
        pixels = np.ix_(down[first_down], across[first_across])
        before = self.excess[pixels]
        limit = np.where(peaks > before, peaks, np.nan)  # NaN is equal to nothing
        tall = np.diff(first_down, append=len(down))
        wide = np.diff(first_across, append=len(across))
        hits = block.excess == np.repeat(np.repeat(limit, tall, axis=0), wide, axis=1)
        # From the end, for the first of several equal cells is to stay.
        row, col = (places[::-1] for places in np.nonzero(hits))
        at = down[row], across[col]
        self.excess[at] = block.excess[row, col]
        self.place[at] = block.rows[row] * self._cols + block.cols[col]
        self.value[at] = block.value[row, col]
        self.expected[at] = block.expected[row, col]
