"""Turns executed together give what turn by turn gives, and the sample what all groups give."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gemmviz.core.access import loops
from gemmviz.core.access.lens import analyse
from gemmviz.core.access.running import launched, run
from gemmviz.core.access.summary import AccessTable, summarise
from gemmviz.core.launch import default_parameters
from gemmviz.core.model import Problem, Variant
from tests.core.access.own import KERNELS, MACHINE, own

SHAPE = Problem(100, 67, 45)
IDS = "  const int x = get_global_id(0), y = get_global_id(1);\n"
BODIES = [
    "int now = 0; for (int k = 0; k < K; ++k) { C[now + x] = A[k * M + y]; now ^= 32; }",
    "int i = x; while (i < 300) { C[i] = A[i]; i += 8 + (i > 100); }",
    "__global const real *p = A; for (int k = 0; k < K; k += 3, p += 3) { C[x] = p[y * K]; }",
    "int e = 7; for (int k = 0; k < K; ++k) { C[e] = A[k]; e = k % 5; }",
    "for (int k = 0; k < K; ++k) { if (k == 30 + x) break; C[k] = A[k]; }",
    "int last = 0; for (int k = 0; k < x + 9; ++k) { last = 2 * k; C[k] = 1; } C[last] = A[last];",
    "uint u = 0; for (int k = 0; k < K; ++k) { u -= 3; C[u & 63] = A[k]; }",
    "short s = 32760; for (int k = 0; k < 30; ++k) { C[s + 40000] = A[k]; ++s; }",
    "for (int i = 0; i < 6; ++i) for (int j = i; j < 40; j += 2) for (int k = j; k-- > 0;)"
    " C[i] = A[i * 100 + j * 3 + k];",
]


def step_by_step(monkeypatch: pytest.MonkeyPatch, variant: Variant, parameters: Any) -> Any:
    monkeypatch.setattr(loops, "_MOST_ATTEMPTS", 0)
    monkeypatch.setattr(loops, "_MOST_WORK", 10 * loops._MOST_WORK)  # to the end all the same
    found = analyse(variant, parameters, SHAPE, MACHINE)
    monkeypatch.undo()
    return found


@pytest.mark.parametrize("variant", KERNELS, ids=lambda variant: variant.id)
def test_kernels_together_as_step_by_step(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = default_parameters(variant)
    together = analyse(variant, parameters, SHAPE, MACHINE)
    assert step_by_step(monkeypatch, variant, parameters) == together


@pytest.mark.parametrize("body", BODIES)
def test_odd_loops_together_as_step_by_step(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variant = own(IDS + body)
    together = analyse(variant, (), SHAPE, MACHINE)
    assert not together.unknowns
    assert step_by_step(monkeypatch, variant, ()) == together


def test_long_loops_take_few_steps() -> None:
    variant = own(IDS + "for (int k = 0; k < K; ++k) { C[y * N + x] += A[y * K + k]; }")
    done = run(variant, (), Problem(64, 64, 2**17), ((0, 0, 0), (1, 1, 0)))
    assert len(done.state.events) < 200
    found = analyse(variant, (), Problem(8, 8, 100_003), MACHINE)
    assert [a.executions for a in found.accesses] == [200_006] * 3


@pytest.mark.parametrize("variant", KERNELS, ids=lambda variant: variant.id)
def test_the_sample_stands_for_all_groups(variant: Variant) -> None:
    problem = Problem(130, 131, 66) if variant.shapes != "square" else Problem(99, 99, 99)
    parameters = default_parameters(variant)
    groups = itertools.product(*map(range, launched(variant, parameters, problem).groups))
    every = tuple(groups)
    table = AccessTable(run(variant, parameters, problem, every))
    whole = summarise(table, (1,) * len(every), variant, problem, MACHINE)
    found = analyse(variant, parameters, problem, MACHINE)
    for name in ("global_traffic_bytes", "local_traffic_bytes", "executed_flop", "reuse"):
        assert getattr(found, name) == getattr(whole, name)
    for one, other in zip(found.accesses, whole.accesses, strict=True):
        assert (one.text, one.sectors, one.lines, one.passes) == (
            other.text, other.sectors, other.lines, other.passes
        )  # fmt: skip


def test_groups_that_differ_inside_the_launch_are_all_looked_at() -> None:
    body = IDS + "if (get_group_id(1) % 3 == 0) C[y * N + x] = A[y * K + x];"
    found = analyse(own(body), (), Problem(8 * 12, 8, 8), MACHINE)
    assert found.global_traffic_bytes == 4 * 64 * 4 * 2
