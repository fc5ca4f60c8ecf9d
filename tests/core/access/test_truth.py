"""The published kernels against 292 rows of figures found by other means."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest

from gemmviz.core.access.lens import analyse, trace
from gemmviz.core.access.report import Machine, Touches
from gemmviz.core.access.warps import Rows, costs
from gemmviz.core.launch import default_parameters
from gemmviz.core.model import Parameters, Problem, Variant
from tests.core.access.own import CATALOG

Row = dict[str, str]
KERNELS = {
    ("0", "matmul_naive"): "tiling_naive", ("0", "matmul_tiled"): "tiling_tiled",
    ("1", "matmul_naive"): "barriers_naive", ("1", "matmul_tiled"): "barriers_tiled",
    ("2", "matmul_naive"): "tradeoffs_naive", ("2", "matmul_tiled"): "tradeoffs_tiled",
    ("3", "myAdd"): "mygemm_add", ("3", "myGEMM1"): "mygemm_1", ("3", "myGEMM1b"): "mygemm_1b",
    ("3", "myGEMM2"): "mygemm_2",
}  # fmt: skip
CASE = ("seed", "kernel", "tile", "pad", "M", "N", "K")
MACHINE = Machine(32, 32)


def read() -> list[tuple[tuple[str, ...], list[Row]]]:
    path = Path(__file__).parents[2] / "data" / "access_truth.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    # Padded cases list local rows only, beside the global ones of the case without a pad.
    key = lambda row: tuple(row[column] for column in CASE)  # noqa: E731
    return [(case, list(group)) for case, group in itertools.groupby(sorted(rows, key=key), key)]


CASES = read()


def chosen(case: tuple[str, ...]) -> tuple[Variant, Parameters, Problem]:
    seed, kernel, tile, pad, *shape = case
    variant = CATALOG.find(KERNELS[seed, kernel])
    values = {**dict(default_parameters(variant)), "TS": int(tile)}
    if "PAD" in values:
        values["PAD"] = int(pad)
    return variant, tuple(values.items()), Problem(*map(int, shape))


def figures(touches: Touches, row: Row) -> dict[str, float]:
    """The columns of a row, from the steps that it covers.

    It was found without the boundary checks and over the first steps of a tiled kernel.
    """
    items = touches.elements.shape[1]
    steps = int(row["warps_x_execs"]) // -(-items // 32)
    found = touches.elements[:steps]
    size = int(row["elem_bytes"])
    offsets = np.where(found < 0, np.iinfo(np.int64).min, found * size)
    local = row["space"] == "local"
    paid = costs(Rows(offsets, np.ones(len(found), dtype=np.int64)), 1, size, MACHINE, local=local)
    units, made = paid.units[paid.lanes > 0], paid.lanes > 0
    name = "passes" if local else "sectors"
    result = {f"{name}_min": units.min(), f"{name}_mean": round(float(units.mean()), 4),
              f"{name}_max": units.max()}  # fmt: skip
    if local:
        return {**result, "conflict_degree_max": paid.lines.max()}
    return {
        **result,
        "ideal_sectors_if_32_contiguous": paid.ideal.max(),
        "distinct_bytes_mean": round(float(paid.distinct[made].mean() * size), 4),
        "lines128_mean": round(float(paid.lines[made].mean()), 4),
    }


def test_every_row_is_there() -> None:
    assert sum(len(rows) for _, rows in CASES) == 292
    assert {case[:2] for case, _ in CASES} == KERNELS.keys()


@pytest.mark.parametrize(("case", "rows"), CASES, ids=["-".join(case) for case, _ in CASES])
def test_the_figures_are_reproduced(case: tuple[str, ...], rows: list[Row]) -> None:
    variant, parameters, problem = chosen(case)
    report = analyse(variant, parameters, problem, MACHINE)
    assert not report.unknowns
    touched = trace(variant, parameters, problem, MACHINE, (1, 1))
    for row in rows:
        number = next(
            number for number, access in enumerate(report.accesses)
            if (access.array, access.kind, access.space) == (row["array"], row["kind"],
                                                             row["space"])
        )  # fmt: skip
        found = figures(touched[number], row)
        assert found == {name: float(row[name]) for name in found}, row["access"]
        access = report.accesses[number]
        if {problem.m, problem.n, problem.k} == {128}:  # all groups are alike there
            worst = access.passes if row["space"] == "local" else access.sectors
            assert worst == found["passes_max" if row["space"] == "local" else "sectors_max"]
