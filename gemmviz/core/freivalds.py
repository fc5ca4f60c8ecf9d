"""Freivalds' test: whether C = alpha A B + beta C0, row by row, without computing the product.

R. Freivalds, Probabilistic machines can use less running time, IFIP Congress 1977: for a random
vector x, C x equals A (B x) where C = A B, and where a row of C is wrong the two differ there with
a probability of at least 1/2. That takes three products of a matrix and a vector.

In floating point C is never exact, so the two are compared within a tolerance. A cell of row i errs
by at most r sqrt(sum_k a_ik^2 b_kj^2), r being the usual relative error of a dot product (see
:func:`gemmviz.core.reference.error_bound`). The entries of x are +1 or -1, independent of these
errors, so their sum over the row stays below the root of the sum of their squares but for odds that
fall with the square of how far r is above the usual error (Hoeffding's inequality)::

    |C x - A (B x)|_i  <=  r sqrt(sum_k a_ik^2 * sum_j b_kj^2)

With alpha, and with beta times what C held before, each side has one more term of its kind.

What it can miss: an error of less than about twice this tolerance, which is sqrt(N) times the bound
of one cell; and errors in one row that cancel in every vector, with a probability of at most
2^-vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[Any]

VECTORS = 8

_BLOCK_ENTRIES = 2**21  # of a matrix in float64 at a time: 16 MiB
_ROUNDOFF = 2.0**-53  # of float64, in which the test itself computes


def failing_rows(
    a: Matrix,
    b: Matrix,
    c: Matrix,
    *,
    scalars: tuple[float, float] = (1.0, 0.0),
    before: Matrix | None = None,
    relative: float,
    tiny: float,
    seed: np.random.SeedSequence,
    cancelled: Callable[[], bool],
    vectors: int = VECTORS,
) -> npt.NDArray[np.bool_] | None:
    """The rows of C that are not those of alpha A B + beta C0.

    Args:
        a: Of shape (m, k).
        b: Of shape (k, n).
        c: The product as computed, of shape (m, n).
        scalars: Alpha and beta.
        before: C0, what C held before, of shape (m, n); None where beta is 0.
        relative: The error allowed to a cell, relative to sqrt(sum_k a_ik^2 b_kj^2).
        tiny: The absolute error allowed to a cell besides.
        seed: Draws the vectors.
        cancelled: Asked between blocks; true ends the test.
        vectors: How many vectors; each halves the odds that errors cancel.

    Returns:
        A mask of m rows, or None when cancelled.
    """
    m, k, n = *a.shape, b.shape[1]
    x = np.random.default_rng(seed).integers(0, 2, (n, vectors)) * 2.0 - 1.0
    # The test rounds too: in sums of N, of K and of N terms.
    relative += 8 * _ROUNDOFF * (2 * math.sqrt(n) + math.sqrt(k))
    b_x = np.empty((k, vectors))
    b_squares = np.empty(k)
    for rows in _blocks(k, n):
        if cancelled():
            return None
        part = b[rows].astype(np.float64)
        b_x[rows] = part @ x
        b_squares[rows] = np.square(part).sum(axis=1)
    failed = np.zeros(m, np.bool_)
    alpha, beta = scalars
    for rows in _blocks(m, max(k, n)):
        if cancelled():
            return None
        a_part = a[rows].astype(np.float64)
        spread = abs(alpha) * np.sqrt(np.square(a_part) @ b_squares)
        expected = alpha * (a_part @ b_x)
        if before is not None:
            c_part = before[rows].astype(np.float64)
            spread += abs(beta) * np.sqrt(np.square(c_part).sum(axis=1))
            expected += beta * (c_part @ x)
        tolerance = relative * spread + tiny * math.sqrt(n)
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(c[rows].astype(np.float64) @ x - expected)
            # Not "off > tolerance": a NaN must count as wrong.
            failed[rows] = ~(off <= tolerance[:, np.newaxis]).all(axis=1)
    return failed


def _blocks(rows: int, width: int) -> list[slice]:
    height = max(1, _BLOCK_ENTRIES // width)
    return [slice(start, start + height) for start in range(0, rows, height)]
