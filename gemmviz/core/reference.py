"""Inputs, the float64 reference, its error bound and the verdict; knows nothing of OpenCL."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.core.launch import matrix_shapes
from gemmviz.core.model import ELEMENTS, Check, Problem, Variant

Matrix = npt.NDArray[Any]

FULL_CHECK_EDGE = 2048
"""Up to this M, N and K every cell of C is compared; above it, sampled rows."""

SAMPLED_ROWS = 64
_BLOCK_COLUMNS = 512

_ROUNDOFF = {"element": None, "tf32": 2.0**-11, "tf32x3": 2.0**-21}


@dataclass(frozen=True, slots=True)
class Inputs:
    """The logical matrices of a problem, row-major: ``a`` and ``b`` in the element type."""

    a: Matrix
    b: Matrix


def draw_inputs(variant: Variant, problem: Problem) -> Inputs:
    """A and B uniform in [-1, 1), rounded to the element type, from the problem's seed.

    Uniform values of both signs: zeros, ones or powers of two let wrong kernels pass.
    """
    shapes = matrix_shapes(variant, problem)
    streams = np.random.SeedSequence(problem.seed).spawn(2)
    a, b = (
        _uniform(np.random.default_rng(stream), shapes[name], problem.element)
        for name, stream in zip("AB", streams, strict=True)
    )
    return Inputs(a, b)


def _uniform(generator: np.random.Generator, shape: tuple[int, int], element: str) -> Matrix:
    dtype = np.dtype(ELEMENTS[element].dtype)
    drawn = np.float64 if element == "double" else np.float32
    values: Matrix = generator.random(shape, dtype=drawn)
    values *= 2
    values -= 1
    return values.astype(dtype, copy=False)


def error_bound(variant: Variant, problem: Problem, a: Matrix, b: Matrix) -> Matrix:
    """The largest error that rounding may leave in each cell of A B (or of A + B).

    A dot product of length K in any order errs by at most gamma_K (|A| |B|), gamma_K = K u to first
    order in the unit roundoff u (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
    section 3.1). For entries of random sign the roundings mostly cancel: 8 sqrt(K) u times
    sqrt(A^2 B^2), the size that a sum of K such products reaches, holds but for odds far below one
    in 10^9 cells (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019; sequential sums in half and
    float reached 2.8 at K from 64 to 8192). The smaller of both counts; by the first alone zeros
    would pass in half from K = 1536. One more rounding stores the result; in double the reference
    rounds as the kernel does, so it has the same allowance once more.

    Args:
        variant: Says the operation and the precision.
        problem: Says K and the element type.
        a: Rows of A in float64, shape (rows, k).
        b: Columns of B in float64, shape (k, cols).

    Returns:
        Absolute bounds, shape (rows, cols).
    """
    u = ELEMENTS[problem.element].unit_roundoff
    if problem.element == "double":
        u *= 2
    tiny = float(np.finfo(ELEMENTS[problem.element].dtype).smallest_subnormal)
    if variant.operation == "add":
        sums: Matrix = u * (np.abs(a) + np.abs(b)) + tiny
        return sums
    coarse = _ROUNDOFF[variant.precision] or 0.0
    # Reduced-precision products carry two rounded operands each, once whatever the length.
    worst = np.abs(a) @ np.abs(b) * ((problem.k + 1) * u + 2 * coarse)
    usual = np.sqrt(np.square(a) @ np.square(b))
    usual *= (8 * math.sqrt(problem.k) + 1) * u + 16 * coarse
    bound: Matrix = np.minimum(worst, usual) + tiny
    return bound


def checked_rows(problem: Problem) -> npt.NDArray[np.intp]:
    """The rows of C that are compared: all, or 64 of them drawn from the seed."""
    if max(problem.m, problem.n, problem.k) <= FULL_CHECK_EDGE or problem.m <= SAMPLED_ROWS:
        return np.arange(problem.m)
    generator = np.random.default_rng(np.random.SeedSequence(problem.seed).spawn(3)[2])
    return np.sort(generator.choice(problem.m, SAMPLED_ROWS, replace=False))


def check(
    variant: Variant, problem: Problem, inputs: Inputs, c: Matrix, *, overrun: int = 0
) -> Check:
    """Compares a computed C with the float64 reference, cell by cell.

    Args:
        variant: Says the operation and the precision.
        problem: Shape, element and seed.
        inputs: A and B as the kernel got them.
        c: The computed m x n matrix, row-major; NaN where never written.
        overrun: Changed guard elements behind C; any makes the answer wrong.

    Returns:
        The verdict with the number of wrong cells, the largest error and the worst cell.
    """
    rows = checked_rows(problem)
    blocks = []
    # Column by column of blocks: float64 copies of whole matrices would not fit beside them.
    for start in range(0, problem.n, _BLOCK_COLUMNS):
        columns = slice(start, start + _BLOCK_COLUMNS)
        value = c[rows, columns].astype(np.float64)
        if variant.operation == "add":
            a, b = (matrix[rows, columns].astype(np.float64) for matrix in (inputs.a, inputs.b))
        else:
            a, b = inputs.a[rows].astype(np.float64), inputs.b[:, columns].astype(np.float64)
        blocks.append(_compare(variant, problem, a, b, value))
    worst = max(blocks, key=lambda block: block.excess)
    first_column = _BLOCK_COLUMNS * blocks.index(worst)
    cells_wrong = sum(block.wrong for block in blocks)
    return Check(
        verdict="wrong" if cells_wrong or overrun else "verified",
        rows_checked=len(rows),
        rows=problem.m,
        cols=problem.n,
        cells_wrong=cells_wrong,
        cells_unwritten=sum(block.unwritten for block in blocks),
        overrun=overrun,
        max_error=max(block.error for block in blocks),
        worst_row=int(rows[worst.row]),
        worst_col=first_column + worst.col,
        worst_value=worst.value,
        worst_expected=worst.expected,
        worst_bound=worst.bound,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """What the comparison of some columns found; the last six describe its worst cell."""

    wrong: int
    unwritten: int
    error: float
    excess: float
    row: int
    col: int
    value: float
    expected: float
    bound: float


def _compare(variant: Variant, problem: Problem, a: Matrix, b: Matrix, value: Matrix) -> _Block:
    """Compares some columns of C, all in float64."""
    expected = a + b if variant.operation == "add" else a @ b
    bound = error_bound(variant, problem, a, b)
    with np.errstate(invalid="ignore"):
        error = np.abs(value - expected)
        # Not "error > bound": a NaN must count as wrong.
        wrong = ~(error <= bound)
    unwritten = np.isnan(value)
    excess = np.where(unwritten, np.inf, error / bound)
    row, col = (int(place) for place in np.unravel_index(int(np.argmax(excess)), excess.shape))
    return _Block(
        wrong=int(np.count_nonzero(wrong)),
        unwritten=int(np.count_nonzero(unwritten)),
        error=float(np.max(error, where=~unwritten, initial=0.0)),
        excess=float(excess[row, col]),
        row=row,
        col=col,
        value=float(value[row, col]),
        expected=float(expected[row, col]),
        bound=float(bound[row, col]),
    )
