"""The reference and its bound: right answers pass, wrong, missing and stray ones do not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemmviz.core import reference
from gemmviz.core.catalog import load_catalog
from gemmviz.core.model import Check, Outside, Problem, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.reference import (
    FULL_CHECK_FLOP,
    SAMPLED,
    Answer,
    Inputs,
    cells_differing,
    compared_regions,
    draw_inputs,
    error_bound,
)
from gemmviz.core.verdict import describe

CATALOG = load_catalog(data_dir("kernels"))
TILED, ADD = CATALOG.find("tiled"), CATALOG.find("mygemm_add")


def check(
    variant: Variant, problem: Problem, inputs: Inputs, c: np.ndarray, *outside: Outside
) -> Check:
    """The check of an answer of which every cell was written."""
    outcome = reference.check(
        variant, problem, inputs, Answer(c, np.zeros(c.shape, bool), outside), tile=(16, 16)
    )
    assert outcome is not None
    return outcome


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
    nan = right.copy()
    nan[row, col] = np.nan
    outcome = check(TILED, problem, inputs, nan)
    assert (outcome.verdict, outcome.cells_wrong) == ("wrong", 1)
    assert (outcome.cells_nan, outcome.cells_unwritten) == (1, 0)
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
    outcome = check(
        TILED,
        problem,
        inputs,
        inputs.a @ inputs.b,
        Outside("C", "behind", 240),
        Outside("A", "in front of", 1),
    )
    assert (outcome.verdict, outcome.cells_wrong) == ("wrong", 0)
    assert outcome.overrun == 241
    assert "240 elements behind C and 1 element in front of A" in describe(outcome)


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
    assert (outcome.cells_wrong, outcome.cells_nan) == (3, 1)
    assert (outcome.worst_row, outcome.worst_col) == (2, 40)
    assert outcome.max_error == pytest.approx(1.0, abs=1e-5)


def test_large_problems_are_sampled() -> None:
    edge = Problem(2048, 2048, 2048)
    assert [len(places) for places in compared_regions(TILED, edge, FULL_CHECK_FLOP)[0]] == [
        2048,
        2048,
    ]
    larger = Problem(2048, 2048, 2049, seed=1)
    (rows, all_cols), (rest, cols) = compared_regions(TILED, larger, FULL_CHECK_FLOP)
    assert len(set(rows)) == len(set(cols)) == SAMPLED
    assert len(all_cols) == 2048
    assert sorted({*rows, *rest}) == list(range(2048))
    assert not set(rows) & set(rest)
    other = compared_regions(TILED, Problem(2048, 2048, 2049, seed=2), FULL_CHECK_FLOP)
    assert not np.array_equal(other[0][0], rows)
    assert len(compared_regions(TILED, Problem(64, 9999, 99999), FULL_CHECK_FLOP)) == 1
    assert len(compared_regions(ADD, Problem(99999, 99999, 1), FULL_CHECK_FLOP)) == 1


@pytest.fixture
def sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every multiplication is too large for a full check."""
    monkeypatch.setattr(reference, "FULL_CHECK_FLOP", 0)


@pytest.mark.parametrize("element", ["half", "float", "double"])
def test_a_sampled_check_finds_what_the_samples_miss(sampling: None, element: str) -> None:
    problem = Problem(150, 130, 90, element, seed=5)
    inputs = draw_inputs(TILED, problem)
    right = _sequential(inputs.a, inputs.b)
    outcome = check(TILED, problem, inputs, right)
    assert outcome.verdict == "verified", describe(outcome)
    assert (outcome.rows_checked, outcome.cols_checked, outcome.vectors) == (64, 64, 8)
    assert outcome.cells_checked == 64 * 130 + 64 * (150 - 64)
    _, (rest, cols) = compared_regions(TILED, problem, 0)
    seen, missed = right.copy(), right.copy()
    seen[rest[3], cols[7]] += 20
    outcome = check(TILED, problem, inputs, seen)
    assert (outcome.cells_wrong, outcome.rows_failed) == (1, 1)
    assert (outcome.worst_row, outcome.worst_col) == (rest[3], cols[7])
    between = next(col for col in range(130) if col not in cols)
    missed[rest[3], between] += 20
    outcome = check(TILED, problem, inputs, missed)
    assert (outcome.verdict, outcome.cells_wrong, outcome.rows_failed) == ("wrong", 0, 1)
    assert outcome.pattern == f"Freivalds' test finds that row {rest[3]} is wrong."


def test_cells_never_written_are_found_where_no_sample_is(sampling: None) -> None:
    problem = Problem(70, 80, 5)
    inputs = draw_inputs(TILED, problem)
    right = inputs.a @ inputs.b
    _, (rest, cols) = compared_regions(TILED, problem, 0)
    between = next(col for col in range(80) if col not in cols)
    right[rest[0], between] = np.nan
    unwritten = np.isnan(right)
    outcome = reference.check(TILED, problem, inputs, Answer(right, unwritten))
    assert outcome is not None
    assert (outcome.verdict, outcome.cells_wrong) == ("wrong", 0)
    assert (outcome.cells_unwritten, outcome.cells_nan, outcome.rows_failed) == (1, 0, 1)


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_a_check_ends_between_two_blocks_when_asked(sampling: None, blocks: int) -> None:
    problem = Problem(70, 1100, 6)
    inputs = draw_inputs(TILED, problem)
    answer = Answer(inputs.a @ inputs.b, np.zeros((70, 1100), bool))
    asked = iter([False] * blocks + [True])
    outcome = reference.check(TILED, problem, inputs, answer, cancelled=lambda: next(asked))
    assert outcome is None
    assert next(asked, None) is None  # nobody asked again


def test_answers_are_compared_bit_by_bit() -> None:
    first = np.array([[0.0, np.nan, 1.0], [2.0, np.inf, 3.0]], np.float32)
    second = first.copy()
    assert cells_differing(first, second) == 0
    second[0, 0] = -0.0
    second[1, 2] = np.nextafter(np.float32(3), np.float32(4))
    assert cells_differing(first, second) == 2
    assert cells_differing(np.asfortranarray(first), second) == 2


def test_a_bound_of_few_terms_is_the_worst_case_of_these() -> None:
    for element, k in (("float", 8), ("float", 200), ("half", 8)):
        a, b = np.random.default_rng(1).uniform(-1, 1, (2, 9, k))
        u = 2.0**-24 if element == "float" else 2.0**-11
        worst = np.abs(a) @ np.abs(b.T) * (k + 1) * u
        usual = np.sqrt(a**2 @ (b**2).T) * (8 * k**0.5 + 1) * u
        bound = error_bound(TILED, Problem(9, 9, k, element), a, b.T)
        assert np.allclose(bound, np.minimum(worst, usual), rtol=1e-3)
