"""Inputs, the float64 reference with its error bound, and the check; knows nothing of OpenCL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.core.freivalds import VECTORS, failing_rows
from gemmviz.core.launch import flop, matrix_shapes, scalars
from gemmviz.core.model import ELEMENTS, Check, Outside, Problem, Variant
from gemmviz.core.pattern import Tally

Matrix = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
Region = tuple[Places, Places]
"""Rows and columns; every cell where one of each meets is compared."""

FULL_CHECK_FLOP = 2 * 2048**3
"""Up to this many operations every cell of C is compared; above it, sampled rows and columns."""

SAMPLED = 64
"""So many rows, and so many columns, are drawn where not all cells are compared."""

_BLOCK_EDGE = 512
# Entries of A and of B that a block turns to float64: few enough that a stop between two blocks
# comes within a tenth of a second.
_BLOCK_ENTRIES = 2**20

_ROUNDOFF = {"element": 0.0, "tf32": 2.0**-11, "tf32x3": 2.0**-21}


@dataclass(frozen=True, slots=True)
class Inputs:
    """The logical matrices of a problem, row-major and in the element type: op(A) and op(B).

    ``c`` is what C holds before the launch; None where the kernel must not read it.
    """

    a: Matrix
    b: Matrix
    c: Matrix | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a kernel left behind.

    Attributes:
        c: C, m x n, in the element type.
        unwritten: Whether a cell holds what it was filled with before the launch, m x n.
        outside: What was overwritten around the buffers.
    """

    c: Matrix
    unwritten: Mask
    outside: tuple[Outside, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some cells of C against the reference, all in float64.

    ``excess`` is |C - reference| over its bound, infinite for NaN: above 1 is wrong. ``rows`` and
    ``cols`` say which cells these are; the other arrays are of shape (rows, cols).
    """

    rows: Places
    cols: Places
    value: Matrix
    expected: Matrix
    bound: Matrix
    excess: Matrix


def draw_inputs(variant: Variant, problem: Problem) -> Inputs:
    """A, B and with beta C uniform in [-1, 1), in the element type, from the problem's seed.

    Uniform values of both signs: zeros, ones or powers of two let wrong kernels pass. How the
    matrices are stored changes no value.
    """
    shapes = matrix_shapes(variant, problem)
    streams = dict(zip("ABC", (*_streams(problem)[:2], _streams(problem)[4]), strict=True))
    drawn = {
        name: _uniform(np.random.default_rng(stream), shapes[name], problem.element)
        for name, stream in streams.items()
        if name != "C" or problem.beta
    }
    return Inputs(drawn["A"], drawn["B"], drawn.get("C"))


def _streams(problem: Problem) -> list[np.random.SeedSequence]:
    """Independent random streams of the seed: A, B, the sampled places, the vectors and C."""
    return np.random.SeedSequence(problem.seed).spawn(5)


def _uniform(generator: np.random.Generator, shape: tuple[int, int], element: str) -> Matrix:
    dtype = np.dtype(ELEMENTS[element].dtype)
    drawn = np.float64 if element == "double" else np.float32
    values: Matrix = generator.random(shape, dtype=drawn)
    values *= 2
    values -= 1
    return values.astype(dtype, copy=False)


def error_bound(
    variant: Variant, problem: Problem, a: Matrix, b: Matrix, c: Matrix | None = None
) -> Matrix:
    """The largest error that rounding may leave in each cell of alpha A B + beta C (or of A + B).

    A dot product of length K in any order errs by at most gamma_K (|A| |B|), gamma_K = K u to first
    order in the unit roundoff u (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
    section 3.1). For entries of random sign the roundings mostly cancel: 8 sqrt(K) u times
    sqrt(A^2 B^2), the size that a sum of K such products reaches, holds but for odds far below one
    in 10^9 cells (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019; sequential sums in half and
    float reached 2.8 at K from 64 to 8192). The smaller of both counts; by the first alone zeros
    would pass in half from K = 1536. One more rounding stores the result; in double the reference
    rounds as the kernel does, so it has the same allowance once more.

    beta C is one more term of the sum, and a scaling by alpha one more rounding: the first bound
    becomes (K + 3) u (|alpha| |A| |B| + |beta| |C|), the second grows alike.

    Args:
        variant: Says the operation and the precision.
        problem: Says K and the element type.
        a: Rows of A in float64, shape (rows, k).
        b: Columns of B in float64, shape (k, cols).
        c: What C held there before in float64, shape (rows, cols); None where beta is 0.

    Returns:
        Absolute bounds, shape (rows, cols).
    """
    u = _unit_roundoff(problem)
    tiny = _tiny(problem)
    if variant.operation == "add":
        sums: Matrix = u * (np.abs(a) + np.abs(b)) + tiny
        return sums
    usual_count = _usual_count(variant, problem)
    alpha, beta = scalars(problem)
    # Reduced-precision products carry two rounded operands each, once whatever the length.
    worst_count = (_terms(problem) + 1) * u + 2 * _ROUNDOFF[variant.precision]
    # Float32 is exact enough for a bound and takes half the time; entries are at most 1.
    squares = np.square(a).astype(np.float32) @ np.square(b).astype(np.float32)
    size: Matrix = np.sqrt(squares.astype(np.float64)) * abs(alpha)
    if c is not None:
        size = np.hypot(size, beta * c)  # squares of either could leave the range of float64
    bound: Matrix = size * usual_count
    # |A| |B| is never below sqrt(A^2 B^2), so a larger count cannot give the smaller bound.
    if worst_count < usual_count:
        sizes = np.abs(a) @ np.abs(b) * abs(alpha)
        if c is not None:
            sizes += np.abs(beta * c)
        np.minimum(bound, sizes * worst_count, out=bound)
    bound += tiny
    return bound


def _terms(problem: Problem) -> int:
    """Terms of the sum that a cell is; a scaling by alpha rounds like one more."""
    return problem.k + (problem.alpha != 1) + (problem.beta != 0)


def _usual_count(variant: Variant, problem: Problem) -> float:
    """The usual error of a cell relative to sqrt(A^2 B^2); see :func:`error_bound`."""
    coarse = _ROUNDOFF[variant.precision]
    return (8 * math.sqrt(_terms(problem)) + 1) * _unit_roundoff(problem) + 16 * coarse


def _unit_roundoff(problem: Problem) -> float:
    return ELEMENTS[problem.element].unit_roundoff * (2 if problem.element == "double" else 1)


def _tiny(problem: Problem) -> float:
    return float(np.finfo(ELEMENTS[problem.element].dtype).smallest_subnormal)


def compared_regions(variant: Variant, problem: Problem, most_flop: int) -> tuple[Region, ...]:
    """Which cells of C are compared with the reference: regions without a common cell.

    Args:
        variant: Says the operation; a sum is always compared whole.
        problem: Its size decides, its seed draws.
        most_flop: Up to so many operations everything is compared.

    Returns:
        All of C, or 64 random rows and, of the other rows, 64 random columns.
    """
    rows, cols = np.arange(problem.m), np.arange(problem.n)
    small = flop(variant, problem) <= most_flop or variant.operation == "add"
    if small or min(problem.m, problem.n) <= SAMPLED:
        return ((rows, cols),)
    generator = np.random.default_rng(_streams(problem)[2])
    some_rows = np.sort(generator.choice(problem.m, SAMPLED, replace=False))
    some_cols = np.sort(generator.choice(problem.n, SAMPLED, replace=False))
    return (some_rows, cols), (np.delete(rows, some_rows), some_cols)


def compared_blocks(
    variant: Variant, problem: Problem, inputs: Inputs, c: Matrix, regions: Sequence[Region]
) -> Iterator[Block]:
    """Compares the cells of ``regions`` block by block; nothing is computed ahead of its block.

    Float64 copies of whole matrices would not fit beside them, and a person may stop in between.
    """
    depth = 1 if variant.operation == "add" else problem.k
    edge = min(_BLOCK_EDGE, max(16, _BLOCK_ENTRIES // depth))
    alpha, beta = scalars(problem)
    for rows, cols in regions:
        for some_rows in _pieces(rows, edge):
            a = None
            for some_cols in _pieces(cols, edge):
                if variant.operation == "add":
                    a, b = (_float64(x, some_rows, some_cols) for x in (inputs.a, inputs.b))
                    expected = a + b
                else:
                    if a is None:
                        a = inputs.a[_span(some_rows)].astype(np.float64)
                    b = inputs.b[:, _span(some_cols)].astype(np.float64)
                    expected = alpha * (a @ b)
                before = None
                if inputs.c is not None:
                    before = _float64(inputs.c, some_rows, some_cols)
                    expected += beta * before
                bound = error_bound(variant, problem, a, b, before)
                value = _float64(c, some_rows, some_cols)
                with np.errstate(invalid="ignore", over="ignore"):
                    excess = np.abs(value - expected) / bound
                excess[np.isnan(excess)] = np.inf
                yield Block(some_rows, some_cols, value, expected, bound, excess)


def _pieces(places: Places, edge: int) -> Iterator[Places]:
    return (places[start : start + edge] for start in range(0, len(places), edge))


def _span(places: Places) -> slice | Places:
    """Places as a slice where they are in a row: that needs no copy."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


def _float64(matrix: Matrix, rows: Places, cols: Places) -> Matrix:
    some_rows, some_cols = _span(rows), _span(cols)
    if isinstance(some_rows, slice) or isinstance(some_cols, slice):
        part = matrix[some_rows, some_cols]
    else:
        part = matrix[np.ix_(rows, cols)]
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return part.astype(np.float64)


def never() -> bool:
    """Stands in for a question whether to stop where nobody can ask for it."""
    return False


def check(
    variant: Variant,
    problem: Problem,
    inputs: Inputs,
    answer: Answer,
    *,
    tile: tuple[int, int] = (1, 1),
    cancelled: Callable[[], bool] = never,
) -> Check | None:
    """Compares a computed C with the float64 reference.

    Every cell while that is quick; in larger problems 64 random rows and 64 random columns exactly,
    and Freivalds' test on the whole of C (see :mod:`gemmviz.core.freivalds` for what it can miss).

    Args:
        variant: Says the operation and the precision.
        problem: Shape, element and seed.
        inputs: A and B as the kernel got them.
        answer: What the kernel left behind.
        tile: Rows and columns of C that one work-group computes; (1, 1) where that says nothing.
        cancelled: Asked between blocks; true ends the check.

    Returns:
        The verdict with the number of wrong cells, the largest error and the worst cell; None when
        cancelled.
    """
    regions = compared_regions(variant, problem, FULL_CHECK_FLOP)
    tally = Tally(problem.m, problem.n, tile, regions)
    worst = _Worst()
    for block in compared_blocks(variant, problem, inputs, answer.c, regions):
        if cancelled():
            return None
        tally.add_block(block.rows, block.cols, block.excess > 1, answer.unwritten, block.value)
        worst.see(block)
    sampled = len(regions) > 1
    failed: Mask = np.zeros(problem.m, np.bool_)
    if sampled:
        found = failing_rows(
            inputs.a,
            inputs.b,
            answer.c,
            scalars=scalars(problem),
            before=inputs.c,
            relative=_usual_count(variant, problem),
            tiny=_tiny(problem),
            seed=_streams(problem)[3],
            cancelled=cancelled,
        )
        if found is None:
            return None
        failed = found
        tally.add_rows(failed)
    unwritten, nan = _count_empty(answer)
    if inputs.c is not None:
        # C held numbers, and a cell may come out as it was: one left alone is a wrong one.
        unwritten = tally.unwritten + _left_unseen(answer, regions, failed)
    overrun = sum(place.elements for place in answer.outside)
    wrong = tally.wrong or tally.rows_failed or unwritten or nan or overrun
    return Check(
        verdict="wrong" if wrong else "verified",
        rows_checked=len(regions[0][0]),
        rows=problem.m,
        cols=problem.n,
        cells_wrong=tally.wrong,
        cells_unwritten=unwritten,
        overrun=overrun,
        max_error=worst.max_error,
        worst_row=worst.row,
        worst_col=worst.col,
        worst_value=worst.value,
        worst_expected=worst.expected,
        worst_bound=worst.bound,
        cols_checked=len(regions[1][1]) if sampled else 0,
        vectors=VECTORS if sampled else 0,
        rows_failed=tally.rows_failed,
        cells_nan=nan,
        outside=answer.outside,
        pattern=tally.describe(answer.c, answer.outside) if wrong else "",
    )


class _Worst:
    """The cell furthest above its bound, or the nearest to it, among the blocks seen."""

    def __init__(self) -> None:
        self.max_error = 0.0
        self.row = self.col = 0
        self.value = self.expected = self.bound = 0.0
        self._excess = -1.0

    def see(self, block: Block) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(block.value - block.expected)
        there = ~np.isnan(block.value)
        self.max_error = max(self.max_error, float(np.max(error, where=there, initial=0.0)))
        index = int(np.argmax(block.excess))
        row, col = divmod(index, len(block.cols))
        excess = float(block.excess[row, col])
        if excess > self._excess:
            self._excess = excess
            self.row, self.col = int(block.rows[row]), int(block.cols[col])
            self.value = float(block.value[row, col])
            self.expected = float(block.expected[row, col])
            self.bound = float(block.bound[row, col])


def _count_empty(answer: Answer) -> tuple[int, int]:
    """How many cells were never written, and into how many others NaN was."""
    unwritten = nan = 0
    for rows in _pieces(np.arange(len(answer.c)), _BLOCK_EDGE):
        span = _span(rows)
        left = answer.unwritten[span]
        unwritten += int(np.count_nonzero(left))
        nan += int(np.count_nonzero(np.isnan(answer.c[span]) & ~left))
    return unwritten, nan


def _left_unseen(answer: Answer, regions: Sequence[Region], failed: Mask) -> int:
    """How many cells that were not compared are as they were, in rows that were found wrong."""
    unseen = failed.copy()
    unseen[regions[0][0]] = False
    cols = np.delete(np.arange(answer.c.shape[1]), regions[-1][1])
    return sum(int(np.count_nonzero(answer.unwritten[row, cols])) for row in np.flatnonzero(unseen))


def cells_differing(first: Matrix, second: Matrix) -> int:
    """How many cells of two answers differ in any bit; equal NaNs are equal, 0 and -0 are not."""
    bits = np.dtype(f"u{first.itemsize}")
    return int(np.count_nonzero(first.view(bits) != second.view(bits)))
