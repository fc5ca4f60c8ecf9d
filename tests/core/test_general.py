"""C = alpha op(A) op(B) + beta C: launches, references, bounds, refusals and words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gemmviz.core import reference
from gemmviz.core.catalog import CatalogError, load_catalog, load_variant
from gemmviz.core.feasibility import form_refusal, plain_reason
from gemmviz.core.labels import form_label, formula, problem_label
from gemmviz.core.launch import (
    argument_numbers,
    assemble,
    default_parameters,
    flop,
    geometry,
    kernel_view,
    leading_dimensions,
    least_bytes,
    matrix_at,
    matrix_bytes,
    operand_orders,
    scalars,
    scratch_bytes,
    stored_shapes,
)
from gemmviz.core.library_share import Timing, fastest_libraries, library_share
from gemmviz.core.model import TRANSPOSES, Argument, Check, DeviceKey, Job, Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.reference import Answer, Inputs, draw_inputs, error_bound

CATALOG = load_catalog(data_dir("kernels"))
TILED, CPU, BLAS = (CATALOG.find(name) for name in ("tiled", "cpu_best", "blas"))
COLUMN, ADD = CATALOG.find("mygemm_1"), CATALOG.find("mygemm_add")
LEADING = replace(
    CPU, arguments=tuple(Argument("size", name) for name in ("M", "N", "K", "lda", "ldb", "ldc"))
)
PROBLEM = Problem(30, 20, 50, "float", seed=4, alpha=0.5, beta=-2.0)


# --- launches


@pytest.mark.parametrize(
    ("transpose", "leading"),
    [("nn", (50, 20, 20)), ("nt", (50, 50, 20)), ("tn", (30, 20, 20)), ("tt", (30, 50, 20))],
)
def test_leading_dimensions_are_those_of_the_matrices_as_stored(
    transpose: str, leading: tuple[int, int, int]
) -> None:
    problem = replace(PROBLEM, transpose=transpose)  # type: ignore[arg-type]
    assert tuple(leading_dimensions(CPU, problem).values()) == leading
    assert argument_numbers(LEADING, (), problem) == (30, 20, 50, *leading)


@pytest.mark.parametrize(
    ("transpose", "seen", "leading"),
    [("nn", "nn", (50, 30, 30)), ("nt", "tn", (20, 30, 30)), ("tn", "nt", (50, 50, 30)),
     ("tt", "tt", (20, 50, 30))],
)  # fmt: skip
def test_a_problem_stored_by_columns_is_handed_over_with_a_and_b_exchanged(
    transpose: str, seen: str, leading: tuple[int, int, int]
) -> None:
    problem = replace(PROBLEM, transpose=transpose, order="column")  # type: ignore[arg-type]
    view = kernel_view(CPU, problem)
    assert (view.m, view.n, view.k, view.transpose) == (20, 30, 50, seen)
    assert [matrix_at(CPU, problem, name) for name in "ABC"] == ["B", "A", "C"]
    assert argument_numbers(LEADING, (), problem) == (20, 30, 50, *leading)
    letters = [int(letter == "t") for letter in seen]
    source = assemble(CPU, default_parameters(CPU), problem)
    assert f"#define TRANSPOSE_A {letters[0]}\n#define TRANSPOSE_B {letters[1]}\n" in source


def test_a_kernel_sees_the_bytes_that_the_problem_stores() -> None:
    """Numbers by the address that a kernel reads at, against the problem's own storage."""
    inputs = draw_inputs(CPU, PROBLEM)
    for transpose in TRANSPOSES:
        for order in ("row", "column"):
            problem = replace(PROBLEM, transpose=transpose, order=order)  # type: ignore[arg-type]
            stored = {
                name: (matrix.T if letter == "t" else matrix).ravel("C" if order == "row" else "F")
                for name, matrix, letter in zip("AB", (inputs.a, inputs.b), transpose, strict=True)
            }
            view, leading = kernel_view(CPU, problem), leading_dimensions(CPU, problem)
            shapes = stored_shapes(CPU, problem)
            a, b = (
                stored[matrix_at(CPU, problem, name)].reshape(shapes[name]) for name in "AB"
            )  # fmt: skip
            assert (a.shape[1], b.shape[1]) == (leading["A"], leading["B"])
            first, second = (
                part.T if letter == "t" else part
                for part, letter in zip((a, b), view.transpose, strict=True)
            )
            c = (first @ second).ravel()
            wanted = (inputs.a @ inputs.b).ravel("C" if order == "row" else "F")
            np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-5)


def test_tiles_lie_in_the_problems_own_rows_and_columns() -> None:
    parameters = default_parameters(CPU)
    wide = Problem(100, 1000, 64, order="column")
    turned = geometry(CPU, parameters, wide)
    assert turned.tile[0] >= 100
    assert turned.groups == -(-1000 // turned.tile[1]) == 2
    same = geometry(CPU, parameters, Problem(1000, 100, 64))
    assert (turned.total, turned.tile) == (same.total, same.tile[::-1])
    assert scratch_bytes(CPU, parameters, wide) == scratch_bytes(
        CPU, parameters, Problem(1000, 100, 64)
    )


def test_a_kernel_that_is_not_general_is_never_exchanged() -> None:
    problem = Problem(30, 20, 50, order="column")
    assert kernel_view(COLUMN, problem) == problem
    assert matrix_at(COLUMN, problem, "A") == "A"
    assert "TRANSPOSE" not in assemble(COLUMN, (), problem)
    assert leading_dimensions(COLUMN, problem) == {"A": 30, "B": 50, "C": 30}


def test_operands_lie_turned_where_they_are_transposed() -> None:
    assert operand_orders(CPU, replace(PROBLEM, transpose="tn")) == {
        "A": "column", "B": "row", "C": "row"
    }  # fmt: skip
    by_columns = replace(PROBLEM, transpose="tn", order="column")
    assert operand_orders(CPU, by_columns)["B"] == "column"  # which is the problem's A


def test_alpha_and_beta_are_rounded_as_a_kernel_gets_them() -> None:
    assert scalars(replace(PROBLEM, alpha=0.1)) == (float(np.float32(0.1)), -2.0)
    assert scalars(replace(PROBLEM, alpha=0.1, element="half"))[0] == float(np.float16(0.1))
    assert scalars(replace(PROBLEM, alpha=0.1, element="double"))[0] == 0.1
    assert scalars(replace(PROBLEM, beta=-1e300))[1] == -np.inf
    told = argument_numbers(
        replace(CPU, arguments=(Argument("scalar", "alpha"), Argument("scalar", "beta"))), (),
        replace(PROBLEM, alpha=0.1),
    )  # fmt: skip
    assert told == (float(np.float32(0.1)), -2.0)


def test_the_work_stays_that_of_the_product_and_c_is_read_with_beta() -> None:
    assert flop(CPU, PROBLEM) == 2 * 30 * 20 * 50
    a, b, c = matrix_bytes(CPU, PROBLEM)
    assert least_bytes(CPU, PROBLEM) == a + b + 2 * c
    assert least_bytes(CPU, replace(PROBLEM, beta=0.0)) == a + b + c


# --- the reference


def computed(inputs: Inputs, alpha: float, beta: float) -> np.ndarray:
    """The worst usual order in the element type: a running sum, then scaled and added."""
    dtype = inputs.a.dtype.type
    total = np.zeros((inputs.a.shape[0], inputs.b.shape[1]), dtype)
    for k in range(inputs.a.shape[1]):
        total = (total + inputs.a[:, k : k + 1] * inputs.b[k : k + 1, :]).astype(dtype)
    scaled = (dtype(alpha) * total).astype(dtype)
    return scaled if inputs.c is None else (scaled + dtype(beta) * inputs.c).astype(dtype)


def checked(problem: Problem, c: np.ndarray, inputs: Inputs) -> Check:
    unwritten = np.zeros(c.shape, bool)
    if inputs.c is not None:
        unwritten = c == inputs.c
    found = reference.check(CPU, problem, inputs, Answer(c, unwritten))
    assert found is not None
    return found


def test_the_form_changes_no_input() -> None:
    plain = draw_inputs(TILED, Problem(30, 20, 50, seed=4))
    assert plain.c is None
    for transpose in TRANSPOSES:
        formed = draw_inputs(CPU, replace(PROBLEM, transpose=transpose, order="column"))
        assert np.array_equal(formed.a, plain.a)
        assert np.array_equal(formed.b, plain.b)
        assert formed.c is not None
        assert formed.c.shape == (30, 20)
        assert not np.array_equal(formed.c, draw_inputs(CPU, replace(PROBLEM, seed=5)).c)


@pytest.mark.parametrize("element", ["half", "float", "double"])
@pytest.mark.parametrize("k", [1, 2, 65, 1500])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 2.0), (-3.0, 0.1), (0.0, 1.5), (0.3, 0.0)])
def test_a_right_answer_passes(element: str, k: int, alpha: float, beta: float) -> None:
    problem = Problem(20, 30, k, element, 3, alpha=alpha, beta=beta)
    inputs = draw_inputs(CPU, problem)
    found = checked(problem, computed(inputs, alpha, beta), inputs)
    assert found.verdict == "verified", found


@pytest.mark.parametrize("wrong", [(1.0, -2.0), (0.5, 0.0), (0.5, 2.0), (0.5, -4.0), (-0.5, -2.0)])
def test_another_alpha_or_beta_is_wrong_nearly_everywhere(wrong: tuple[float, float]) -> None:
    inputs = draw_inputs(CPU, PROBLEM)
    found = checked(PROBLEM, computed(inputs, *wrong), inputs)
    assert found.verdict == "wrong"
    assert found.cells_wrong > 0.99 * 30 * 20


def test_beta_times_an_answer_of_a_launch_before_is_wrong() -> None:
    inputs = draw_inputs(CPU, PROBLEM)
    twice = computed(replace(inputs, c=computed(inputs, 0.5, -2.0)), 0.5, -2.0)
    assert checked(PROBLEM, twice, inputs).verdict == "wrong"


def test_the_bound_grows_with_alpha_and_beta() -> None:
    a, b, c = (np.random.default_rng(seed).uniform(-1, 1, (9, 9)) for seed in range(3))
    formed = error_bound(CPU, Problem(9, 9, 9, alpha=-3.0, beta=2.0), a, b, c)
    worst = 12 * (3 * np.abs(a) @ np.abs(b) + 2 * np.abs(c))
    usual = (8 * 11**0.5 + 1) * np.sqrt(9 * a**2 @ b**2 + 4 * c**2)
    assert np.allclose(formed, np.minimum(worst, usual) * 2.0**-24, rtol=1e-5, atol=0)
    assert (worst < usual).any()
    assert (worst > usual).any()


@pytest.mark.parametrize(("alpha", "beta"), [(1e200, -2e200), (1e-200, 3e-200)])
@pytest.mark.parametrize("most_flop", [reference.FULL_CHECK_FLOP, 0])
def test_a_check_holds_where_squares_leave_the_range(
    monkeypatch: pytest.MonkeyPatch, alpha: float, beta: float, most_flop: int
) -> None:
    monkeypatch.setattr(reference, "FULL_CHECK_FLOP", most_flop)
    problem = Problem(150, 130, 90, "double", seed=5, alpha=alpha, beta=beta)
    inputs = draw_inputs(CPU, problem)
    assert checked(problem, computed(inputs, alpha, beta), inputs).verdict == "verified"
    found = checked(problem, computed(inputs, alpha, 1.01 * beta), inputs)
    assert found.cells_wrong > 0.9 * found.rows_checked * 130
    assert (found.rows_failed > 0) is (most_flop == 0)


def test_cells_left_alone_are_told_from_cells_that_come_out_as_they_were() -> None:
    inputs = draw_inputs(CPU, PROBLEM)
    assert inputs.c is not None
    c = computed(inputs, 0.5, -2.0)
    c[3, 4:7] = inputs.c[3, 4:7]
    found = checked(PROBLEM, c, inputs)
    assert (found.verdict, found.cells_wrong, found.cells_unwritten) == ("wrong", 3, 3)
    assert "never written" in found.pattern
    nothing = replace(PROBLEM, alpha=0.0, beta=1.0)
    found = checked(nothing, inputs.c.copy(), inputs)
    assert (found.verdict, found.cells_unwritten) == ("verified", 0)


@pytest.mark.parametrize("element", ["half", "float", "double"])
def test_a_sampled_check_knows_alpha_and_beta(
    monkeypatch: pytest.MonkeyPatch, element: str
) -> None:
    monkeypatch.setattr(reference, "FULL_CHECK_FLOP", 0)
    problem = Problem(150, 130, 90, element, seed=5, alpha=0.5, beta=-2.0)
    inputs = draw_inputs(CPU, problem)
    right = computed(inputs, 0.5, -2.0)
    found = checked(problem, right, inputs)
    assert (found.verdict, found.rows_checked) == ("verified", 64), found
    assert checked(problem, computed(inputs, 0.5, 0.0), inputs).rows_failed > 100
    _, (rest, cols) = reference.compared_regions(CPU, problem, 0)
    between = next(col for col in range(130) if col not in cols)
    assert inputs.c is not None
    right[rest[3], between] = inputs.c[rest[3], between] + np.float16(20)
    found = checked(problem, right, inputs)
    assert (found.cells_wrong, found.rows_failed, found.cells_unwritten) == (0, 1, 0)


def test_cells_left_alone_where_no_sample_is_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "FULL_CHECK_FLOP", 0)
    problem = Problem(150, 130, 90, seed=5, beta=3.0)
    inputs = draw_inputs(CPU, problem)
    assert inputs.c is not None
    c = computed(inputs, 1.0, 3.0)
    _, (rest, cols) = reference.compared_regions(CPU, problem, 0)
    between = np.setdiff1d(np.arange(130), cols)
    c[np.ix_(rest[2:5], between)] = inputs.c[np.ix_(rest[2:5], between)]
    found = checked(problem, c, inputs)
    assert (found.cells_wrong, found.rows_failed) == (0, 3)
    assert found.cells_unwritten == 3 * len(between)


# --- refusals, words, shares


def test_a_kernel_that_knows_no_form_says_so() -> None:
    for form in ({"transpose": "tn"}, {"order": "column"}, {"alpha": 2.0}, {"beta": 1.0}):
        problem = replace(Problem(8, 8, 8), **form)  # type: ignore[arg-type]
        assert form_refusal(CPU, problem) is None
        assert form_refusal(TILED, problem) == plain_reason(TILED)
    assert "C = A B alone, from matrices stored row by row" in plain_reason(TILED)
    assert "C = A + B alone, from matrices stored column by column" in plain_reason(ADD)
    assert form_refusal(TILED, Problem(8, 8, 8, order="row")) is None
    assert form_refusal(COLUMN, Problem(8, 8, 8, order="column")) is None
    assert plain_reason(CPU) == ""


def test_scalars_that_the_element_type_cannot_hold_are_refused() -> None:
    assert "Alpha is 1e+06" in (form_refusal(CPU, Problem(8, 8, 8, "half", alpha=1e6)) or "")
    assert "Beta is 1e-40" in (form_refusal(CPU, Problem(8, 8, 8, beta=1e-40)) or "")
    assert form_refusal(CPU, Problem(8, 8, 8, "double", beta=1e-40)) is None
    assert form_refusal(CPU, Problem(8, 8, 8, alpha=0.0)) is None


def test_a_form_in_words() -> None:
    problem = Problem(17, 33, 65)
    assert form_label(problem) == ""
    assert formula(problem) == "C = A B"
    assert problem_label(problem) == "17 x 33 x 65 float"
    formed = replace(problem, transpose="tn", order="column", alpha=0.5, beta=-2.0)
    assert problem_label(formed, "×") == (
        "17 × 33 × 65 float, TN, column by column, alpha 0.5, beta -2"
    )
    assert formula(formed) == "C = 0.5 Aᵀ B - 2 C, column by column"
    assert formula(replace(problem, alpha=-1.0, beta=1.0, transpose="nt")) == "C = -A Bᵀ + C"
    assert form_label(replace(problem, alpha=1.00000001)) == "alpha 1.00000001"
    assert formula(replace(problem, beta=-1e-7)) == "C = A B - 1e-07 C"


def test_a_share_of_the_library_is_that_of_the_same_form() -> None:
    def timing(kernel: str, seconds: float, **form: object) -> Timing:
        problem = replace(Problem(8, 8, 8), **form)  # type: ignore[arg-type]
        job = Job(1, DeviceKey("P", "1", "D"), CATALOG.find(kernel), (), problem)
        return Timing(job, seconds, "verified")

    library = fastest_libraries([timing("blas", 1.0), timing("blas", 3.0, transpose="nt", seed=1)])
    assert library_share(timing("cpu_best", 2.0, seed=9), library) == 0.5
    assert library_share(timing("cpu_best", 2.0, transpose="nt"), library) == 1.5
    for form in ({"transpose": "tn"}, {"beta": 1.0}, {"alpha": 2.0}, {"order": "column"}):
        assert library_share(timing("cpu_best", 2.0, **form), library) is None


# --- the catalogue


TOML = """
title = "Mine"
summary = "A kernel."
family = "user"
order = "row"
general = true
arguments = ["A", "B", "C", "M", "N", "K", "alpha", "beta"]
group = [1, 1]
tile = { rows = 1, cols = 1 }
dims = ["cols", "rows"]
local_bytes = 0
shapes = "any"
"""
SOURCE = "__kernel void mine(__global real *C) { C[0] = TRANSPOSE_A + TRANSPOSE_B; }"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("true", '"yes"', "'yes' is neither true nor false"),
        (', "beta"', "", "beta is missing among the arguments"),
        ('shapes = "any"', 'shapes = "any"\noperation = "add"', "only a multiplication"),
    ],
)
def test_a_kernel_that_cannot_be_general_does_not_load(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    file = tmp_path / "mine.toml"
    (tmp_path / "mine.cl").write_text(SOURCE)
    file.write_text(TOML)
    assert load_variant(file).general
    file.write_text(TOML.replace(old, new))
    with pytest.raises(CatalogError, match=reason):
        load_variant(file)
    file.write_text(TOML)
    (tmp_path / "mine.cl").write_text(SOURCE.replace("TRANSPOSE_B", "0 /* TRANSPOSE_B */"))
    with pytest.raises(CatalogError, match="never uses TRANSPOSE_B"):
        load_variant(file)


def test_the_general_ones_of_the_catalogue() -> None:
    general = {variant.id for variant in CATALOG.variants if variant.general}
    assert {"cpu_best", "blas", "clblast", "cublas", "cublas_tf32"} <= general
    assert "tiled" not in general
