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


def relative_bound(variant: Variant, problem: Problem) -> float:
    """The largest error of a cell relative to (|A| |B|) of that cell.

    A dot product of length K in any order has an error of at most gamma_K = K u / (1 - K u), about
    K u, with the unit roundoff u (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
    section 3.1). Beyond K = 64 the probabilistic bound lambda sqrt(K) u with lambda = 8 is smaller
    and still fails to hold less than once in 10^10 cells for inputs of random sign (Higham and
    Mary, SIAM J. Sci. Comput. 41(5), 2019, theorem 2.4); without it, half at K = 2048 would accept
    any answer. One more rounding stores the result.
    """
    u = ELEMENTS[problem.element].unit_roundoff
    coarse = _ROUNDOFF[variant.precision]
    if variant.operation == "add":
        return u
    terms = min(float(problem.k), 8.0 * math.sqrt(problem.k)) + 1
    # Reduced-precision products carry two rounded operands each, once whatever the length.
    return terms * u + (2 * coarse if coarse is not None and coarse > u else 0.0)


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
    a = inputs.a[rows].astype(np.float64)
    b = inputs.b.astype(np.float64) if variant.operation == "multiply" else inputs.b[rows]
    if variant.operation == "add":
        expected = a + b
        scale = np.abs(a) + np.abs(b)
    else:
        expected = a @ b
        scale = np.abs(a) @ np.abs(b)
    value = c[rows].astype(np.float64)
    tiny = float(np.finfo(ELEMENTS[problem.element].dtype).smallest_subnormal)
    bound = relative_bound(variant, problem) * scale + tiny
    with np.errstate(invalid="ignore"):
        error = np.abs(value - expected)
        # Not "error > bound": a NaN must count as wrong.
        wrong = ~(error <= bound)
    unwritten = np.isnan(value)
    excess = np.where(unwritten, np.inf, error / bound)
    row, col = np.unravel_index(int(np.argmax(excess)), excess.shape)
    cells_wrong = int(np.count_nonzero(wrong))
    return Check(
        verdict="wrong" if cells_wrong or overrun else "verified",
        rows_checked=len(rows),
        rows=problem.m,
        cols=problem.n,
        cells_wrong=cells_wrong,
        cells_unwritten=int(np.count_nonzero(unwritten)),
        overrun=overrun,
        max_error=float(np.max(error, where=~unwritten, initial=0.0)),
        worst_row=int(rows[row]),
        worst_col=int(col),
        worst_value=float(value[row, col]),
        worst_expected=float(expected[row, col]),
        worst_bound=float(bound[row, col]),
    )


def describe(check: Check) -> str:
    """The outcome in one sentence."""
    rows = "all" if check.rows_checked == check.rows else f"{check.rows_checked} random"
    scope = f"{check.cells_checked:,} cells in {rows} rows"
    if check.verdict == "verified":
        return f"Verified: {scope} within the bound, largest error {check.max_error:.1e}."
    parts = []
    if check.cells_wrong:
        share = 100 * check.cells_wrong / check.cells_checked
        where = (
            f"worst at row {check.worst_row}, column {check.worst_col}: "
            f"{check.worst_value:.6g} instead of {check.worst_expected:.6g}"
        )
        parts.append(
            f"{check.cells_wrong:,} of {scope} ({share:.3g} %), largest error "
            f"{check.max_error:.2g}, {where}"
        )
    if check.cells_unwritten:
        parts.append(f"{check.cells_unwritten:,} cells are NaN or never written")
    if check.overrun:
        parts.append(f"{check.overrun:,} elements behind C were overwritten")
    return f"Wrong: {'; '.join(parts)}."
