"""The reference and its bound: right answers pass, wrong, missing and stray ones do not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.core.catalog import load_catalog
from gemmviz.core.model import Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.reference import (
    SAMPLED_ROWS,
    check,
    checked_rows,
    draw_inputs,
    error_bound,
)
from gemmviz.core.verdict import describe

CATALOG = load_catalog(data_dir("kernels"))
TILED, ADD = CATALOG.find("tiled"), CATALOG.find("mygemm_add")


def _sequential(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The worst usual order: one running sum, rounded to the element type at every step."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        total = (total + a[:, k : k + 1] * b[k : k + 1, :]).astype(a.dtype)
    return total


@pytest.mark.parametrize("element", ["half", "float", "double"])
@pytest.mark.parametrize("k", [1, 2, 65, 700, 3000])
def test_a_sum_in_the_element_type_passes_at_any_length(element: str, k: int) -> None:
    problem = Problem(20, 30, k, element, seed=3)
    inputs = draw_inputs(TILED, problem)
    outcome = check(TILED, problem, inputs, _sequential(inputs.a, inputs.b))
    assert outcome.verdict == "verified", describe(outcome)


@settings(deadline=None)
@given(st.data())
def test_one_missing_product_or_cell_is_found(data: st.DataObject) -> None:
    m, n, k = (data.draw(st.integers(2, 40)) for _ in "mnk")
    problem = Problem(m, n, k, "float", seed=data.draw(st.integers(0, 99)))
    inputs = draw_inputs(TILED, problem)
    right = (inputs.a.astype(float) @ inputs.b.astype(float)).astype(np.float32)
    row, col = data.draw(st.integers(0, m - 1)), data.draw(st.integers(0, n - 1))
    step = data.draw(st.integers(0, k - 1))
    short = right.copy()
    short[row, col] -= inputs.a[row, step] * inputs.b[step, col]
    if abs(inputs.a[row, step] * inputs.b[step, col]) > 1e-4:
        outcome = check(TILED, problem, inputs, short)
        assert outcome.verdict == "wrong"
        assert (outcome.cells_wrong, outcome.worst_row, outcome.worst_col) == (1, row, col)
    unwritten = right.copy()
    unwritten[row, col] = np.nan
    outcome = check(TILED, problem, inputs, unwritten)
    assert (outcome.verdict, outcome.cells_wrong, outcome.cells_unwritten) == ("wrong", 1, 1)
    assert (outcome.worst_row, outcome.worst_col) == (row, col)
    assert np.isfinite(outcome.max_error)


def test_an_all_nan_and_an_infinite_answer_are_wrong() -> None:
    problem = Problem(3, 4, 5)
    inputs = draw_inputs(TILED, problem)
    for value in (np.nan, np.inf, 0.0):
        outcome = check(TILED, problem, inputs, np.full((3, 4), value, np.float32))
        assert outcome.verdict == "wrong"
        assert outcome.cells_wrong == 12
        assert "Wrong: 12 of 12 cells" in describe(outcome)


def test_writing_behind_c_is_wrong_though_every_cell_is_right() -> None:
    problem = Problem(8, 8, 8)
    inputs = draw_inputs(TILED, problem)
    outcome = check(TILED, problem, inputs, inputs.a @ inputs.b, overrun=240)
    assert (outcome.verdict, outcome.cells_wrong) == ("wrong", 0)
    assert "240 elements behind C" in describe(outcome)


def test_inputs_come_from_the_seed_and_are_never_trivial() -> None:
    one, again, other = (
        draw_inputs(TILED, Problem(50, 60, 70, "float", seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.a, again.a)
    assert np.array_equal(one.b, again.b)
    assert not np.array_equal(one.a, other.a)
    assert not np.array_equal(one.a[:50, :60], one.b[:50, :60])
    assert one.a.min() < -0.9
    assert one.a.max() > 0.9
    assert len(np.unique(one.a)) > 3400


def test_an_addition_is_checked_as_one() -> None:
    problem = Problem(30, 20, 999)
    inputs = draw_inputs(ADD, problem)
    assert inputs.a.shape == inputs.b.shape == (30, 20)
    assert check(ADD, problem, inputs, inputs.a + inputs.b).verdict == "verified"
    assert check(ADD, problem, inputs, inputs.a - inputs.b).verdict == "wrong"


def test_the_bound_grows_with_k_and_with_the_roundoff() -> None:
    def bound(k: int, element: str = "float") -> float:
        return float(error_bound(TILED, Problem(1, 1, k, element), np.ones((1, k)),
                                 np.ones((k, 1)))[0, 0])  # fmt: skip

    assert bound(1) == pytest.approx(2 * 2.0**-24)
    assert bound(4) == pytest.approx(4 * 5 * 2.0**-24)
    assert bound(4) < bound(32) < bound(512) < bound(8192)
    assert bound(64, "double") < bound(64, "float") < bound(64, "half")


@pytest.mark.parametrize("element", ["half", "float", "double"])
@pytest.mark.parametrize("k", [64, 1024, 4096, 8192])
def test_no_length_lets_an_answer_pass_that_is_not_one(element: str, k: int) -> None:
    problem = Problem(16, 16, k, element, seed=8)
    inputs = draw_inputs(TILED, problem)
    a, b = inputs.a.astype(float), inputs.b.astype(float)
    right = a @ b
    half_done = a[:, : k // 2] @ b[: k // 2]
    for answer in (np.zeros_like(right), -right, half_done, right.T):
        assert check(TILED, problem, inputs, answer.astype(inputs.a.dtype)).verdict == "wrong"
    assert check(TILED, problem, inputs, right.astype(inputs.a.dtype)).verdict == "verified"


def test_wide_matrices_are_compared_in_blocks_of_columns() -> None:
    problem = Problem(5, 1300, 9, seed=2)
    inputs = draw_inputs(TILED, problem)
    right = inputs.a @ inputs.b
    assert check(TILED, problem, inputs, right).verdict == "verified"
    right[3, 1200] += 1
    right[2, 40] = np.nan
    right[4, 700] += 0.5
    outcome = check(TILED, problem, inputs, right)
    assert (outcome.cells_wrong, outcome.cells_unwritten) == (3, 1)
    assert (outcome.worst_row, outcome.worst_col) == (2, 40)
    assert outcome.max_error == pytest.approx(1.0, abs=1e-5)


def test_large_problems_are_checked_in_random_rows_and_say_so() -> None:
    problem = Problem(2049, 3, 2, seed=5)
    rows = checked_rows(problem)
    assert len(rows) == len(set(rows)) == SAMPLED_ROWS
    assert not np.array_equal(rows, checked_rows(Problem(2049, 3, 2, seed=6)))
    inputs = draw_inputs(TILED, problem)
    right = inputs.a @ inputs.b
    outcome = check(TILED, problem, inputs, right)
    assert (outcome.verdict, outcome.cells_checked) == ("verified", 64 * 3)
    assert "64 random rows" in describe(outcome)
    right[rows[7], 1] += 1
    outcome = check(TILED, problem, inputs, right)
    assert (outcome.verdict, outcome.worst_row, outcome.worst_col) == ("wrong", rows[7], 1)
    assert len(checked_rows(Problem(2048, 2048, 2048))) == 2048
    assert len(checked_rows(Problem(10, 4096, 10))) == 10
