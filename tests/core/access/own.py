"""Kernels written in a test, and what the lens says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from gemmviz.core.access.lens import analyse, trace
from gemmviz.core.access.report import Access, AccessReport, Machine
from gemmviz.core.catalog import load_catalog
from gemmviz.core.model import Argument, Problem, Variant
from gemmviz.core.paths import data_dir

CATALOG = load_catalog(data_dir("kernels"))
SOURCES = [variant for variant in CATALOG.variants if not variant.library]
KERNELS = [variant for variant in SOURCES if not variant.build]
HIDDEN = [variant for variant in SOURCES if variant.build]
MACHINE = Machine()
HEAD = (
    "__kernel void own(__global const real *A, __global const real *B, __global real *C,\n"
    "                  const int M, const int N, const int K) {\n"
)
"""Two lines: what a body of ``own(...)`` starts with stands on line 3."""


def own(body: str, *, before: str = "", head: str = HEAD, **changes: Any) -> Variant:
    """A variant of 8 x 8 work-items, dimension 0 along the columns of C, one cell each."""
    found: dict[str, Any] = {
        "id": "own", "entry": "own", "source": before + head + body + "}\n", "parameters": (),
        "group": ("8", "8"), "tile_rows": "8", "tile_cols": "8", "local_bytes": "0",
        "require": (),
    }  # fmt: skip
    return replace(CATALOG.find("tiled"), **found | changes)


def report(variant: Variant, problem: Problem | None = None,
           machine: Machine = MACHINE) -> AccessReport:  # fmt: skip
    return analyse(variant, (), problem or Problem(16, 16, 16), machine)


def only(found: AccessReport, array: str, kind: str = "load") -> Access:
    """The one access of an array."""
    (access,) = [a for a in found.accesses if (a.array, a.kind) == (array, kind)]
    return access


def elements(variant: Variant, array: str, kind: str = "load", problem: Problem | None = None,
             group: tuple[int, ...] = (0, 0)) -> np.ndarray:  # fmt: skip
    """What the only access of an array touches: (steps, work-items)."""
    problem = problem or Problem(16, 16, 16)
    found = only(report(variant, problem), array, kind)
    touches = trace(variant, (), problem, MACHINE, group)
    return touches[report(variant, problem).accesses.index(found)].elements


def expected(steps: Callable[[int, int], Iterable[int | None]]) -> np.ndarray:
    """Elements by a Python function of local ids 0 and 1 that lists one item's; None for none."""
    items = [list(steps(x, y)) for y in range(8) for x in range(8)]
    columns = [[-1 if e is None else e for e in item] for item in items]
    return np.array(columns, dtype=np.int64).T


def argument(text: str) -> Argument:
    kind = "matrix" if text in "ABC" else "size"
    return Argument(kind, text)
