"""A small error map, packed as a child sends it."""

from __future__ import annotations

import math

import numpy as np

from gemmviz.core.error_map import ErrorMap, pack


def error_map(rows: int = 48, cols: int = 32, step: int = 1) -> ErrorMap:
    """The tile at (1, 0) is 1000 times off, its first cell NaN; the last row is not compared."""
    height, width = -(-rows // step), -(-cols // step)
    row, col = np.mgrid[0:height, 0:width] * step
    excess = np.full((height, width), 0.25)
    excess[(row >= 16) & (row < 32) & (col < 16)] = 1000.0
    excess[16 // step, 0] = math.inf
    excess[-1] = math.nan
    value = np.where(np.isinf(excess), math.nan, 1.5 + 1e-3 * row)
    parts = (
        excess.astype(np.float32),
        (row * cols + col).astype(np.int64),
        value,
        np.full((height, width), 2.0),
    )
    return ErrorMap(rows, cols, (16, 16), step, step, *map(pack, parts), "One tile is wrong.")
