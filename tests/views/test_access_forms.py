"""Cells of transposed and column-major operands are shown where the operands have them."""

from __future__ import annotations

import pytest

from gemmviz.core.access.lens import analyse, trace
from gemmviz.core.access.report import Machine
from gemmviz.core.model import TRANSPOSES, Argument, Problem
from gemmviz.views.charts.access_captions import describe_order
from gemmviz.views.charts.access_cells import access_scene, cells_of
from tests.core.access.own import own

HEAD = (
    "__kernel void own(__global const real *A, __global const real *B, __global real *C,\n"
    "                  const int M, const int N, const int K, const int lda, const int ldb,\n"
    "                  const int ldc, const real alpha, const real beta) {\n"
)
BODY = """
  const int row = get_global_id(1), col = get_global_id(0);
  real sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[TRANSPOSE_A ? k * lda + row : row * lda + k]
        * B[TRANSPOSE_B ? col * ldb + k : k * ldb + col];
  }
  C[row * ldc + col] = alpha * sum + beta * C[row * ldc + col];
"""
SIZES = ("M", "N", "K", "lda", "ldb", "ldc")
GENERAL = own(
    BODY, head=HEAD, general=True,
    arguments=(
        *(Argument("matrix", name) for name in "ABC"),
        *(Argument("size", name) for name in SIZES),
        Argument("scalar", "alpha"), Argument("scalar", "beta"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("transpose", TRANSPOSES)
@pytest.mark.parametrize("order", ["row", "column"])
def test_a_general_kernels_cells_lie_in_its_operands(transpose, order):
    problem = Problem(40, 24, 30, transpose=transpose, order=order, alpha=2.0, beta=1.0)
    machine = Machine(warp=8)
    report = analyse(GENERAL, (), problem, machine)
    scene = access_scene(GENERAL, problem, report, trace(GENERAL, (), problem, machine))
    high, wide = (40, 24) if order == "row" else (24, 40)
    assert scene.shapes == {"A": (high, 30), "B": (30, wide), "C": (high, wide)}
    found = {
        name: cells_of(scene, name, scene.on_matrix(name), 7 if name != "C" else 0, 0)
        for name in "ABC"
    }
    # The first warp is a row of eight work-items.
    assert list(zip(found["A"].rows, found["A"].cols, strict=True)) == [(0, 7)]
    assert list(zip(found["B"].rows, found["B"].cols, strict=True)) == [
        (7, col) for col in range(8)
    ]
    assert list(zip(found["C"].rows, found["C"].cols, strict=True)) == [
        (0, col) for col in range(8)
    ]
    seen = transpose if order == "row" else transpose[::-1]
    assert found["B"].sectors == (8 if seen[1] == "t" else 1)
    turned = [name for name, letter in zip("AB", seen, strict=True) if letter == "t"]
    assert [name for name in "ABC" if scene.orders[name] == "column"] == turned
    assert describe_order(scene).endswith(" and ".join(turned) + " transposed") is bool(turned)
    assert describe_order(scene).startswith("Stored row by row")
