"""Reports and touches of some kernels, made by their index formulas instead of the lens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemmviz.core.access.report import Access, AccessReport, Machine, Touches
from gemmviz.core.catalog import load_catalog
from gemmviz.core.model import Problem, Variant
from gemmviz.core.paths import data_dir
from gemmviz.views.charts.access_cells import AccessScene, access_scene

SIZE = 128
EDGE = 16
PROBLEM = Problem(SIZE, SIZE, SIZE)
Formula = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def variant(name: str) -> Variant:
    """A kernel of the catalogue."""
    found = load_catalog(data_dir("kernels")).variants
    return next(each for each in found if each.id == name)


def touches(access: int, formula: Formula, steps: int, row_length: int = SIZE) -> Touches:
    """Elements by a formula of the local ids of dimension 0 and 1, and the step."""
    item = np.arange(EDGE * EDGE)
    first, second = item % EDGE, item // EDGE
    elements = np.stack([formula(first, second, step) for step in range(steps)])
    return Touches(access, elements.astype(np.int64), 1, row_length)


def access(array: str, sectors: int, ideal: int, kind: str = "load", line: int = 1) -> Access:
    """An access of global memory with so many sectors a warp."""
    return Access(
        array, array, kind, "global", line, f"{array}[...]", 4, 1, sectors, float(sectors),
        sectors, ideal, None, None, 1024, 1024, False, "some words",
    )  # fmt: skip


def local_access(array: str, passes: int, line: int, broadcast: bool = False) -> Access:
    """An access of local memory with so many passes a warp."""
    return Access(
        array, "", "load", "local", line, f"{array}[...]", 4, 1, None, None, None, None, passes,
        float(passes), 1024, 1024, broadcast, "some words", 1,
    )  # fmt: skip


def report(*accesses: Access, machine: Machine | None = None) -> AccessReport:
    """A report with those accesses of a 16 x 16 group."""
    return AccessReport(
        accesses, (), machine or Machine(), EDGE * EDGE, 64, 2 * SIZE**3, 2 * SIZE**3,
        2**20, 2**18, 3 * 4 * SIZE**2, 4.0, 1.0, 2**22,
    )  # fmt: skip


def mygemm_1(swapped: bool = False) -> AccessScene:
    """Column-major and naive: dimension 0 goes down a column, or with ``swapped`` along a row."""

    def row(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return second if swapped else first

    def col(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return first if swapped else second

    parts = (
        touches(0, lambda x, y, k: k * SIZE + row(x, y), SIZE),
        touches(1, lambda x, y, k: col(x, y) * SIZE + k, SIZE),
        touches(2, lambda x, y, _: col(x, y) * SIZE + row(x, y), 1),
    )
    counts = (1, 16, 16) if swapped else (2, 2, 4)
    made = report(
        access("A", counts[0], 1 if swapped else 2, line=33),
        access("B", counts[1], 2 if swapped else 1, line=33),
        access("C", counts[2], 4, "store", line=36),
    )
    return access_scene(variant("mygemm_1b" if swapped else "mygemm_1"), PROBLEM, made, parts)


def transposed_tile(pad: int = 0) -> AccessScene:
    """Row-major; reads a local tile down its columns, 16 passes without a pad."""
    length = EDGE + pad
    steps = SIZE // EDGE
    parts = (
        touches(0, lambda x, y, t: y * SIZE + t * EDGE + x, steps),
        touches(1, lambda x, y, t: (t * EDGE + y) * SIZE + x, steps),
        touches(2, lambda x, y, _: y * SIZE + x, 1),
        touches(3, lambda x, _, k: x * length + k % EDGE, SIZE, length),
        touches(4, lambda _, y, k: y * length + k % EDGE, SIZE, length),
    )
    made = report(
        access("A", 4, 4), access("B", 4, 4), access("C", 4, 4, "store"),
        local_access("Asub", 8 if pad == 0 else 1, 40), local_access("Bsub", 1, 41, True),
    )  # fmt: skip
    return access_scene(variant("tiled"), PROBLEM, made, parts)
