"""Transposes, storage order, alpha and beta on the command line."""

import json

import pytest

from tests.cli.test_commands import gemmviz, run_json

FORM = ("--transpose", "tn", "--order", "column", "--alpha", 0.5, "--beta", 2)


def test_a_run_in_another_form() -> None:
    code, report = run_json("cpu_best", "--shape", "17,33,65", *FORM, "--launches", 2)
    assert code == 0
    assert report["verdict"] == "verified"
    form = {name: report[name] for name in ("transpose", "order", "alpha", "beta")}
    assert form == {"transpose": "tn", "order": "column", "alpha": 0.5, "beta": 2.0}
    code, report = run_json("mygemm_1", "--size", 32, "--launches", 1)
    assert code == 0
    assert (report["transpose"], report["order"]) == ("nn", "column")


def test_a_comparison_in_another_form_is_like_for_like() -> None:
    code, out, errors = gemmviz(
        "compare", "blas", "cpu_best", "--shape", "40,50,60", *FORM, "--launches", 5, "--json"
    )
    assert code == 0, errors
    found = json.loads(out)
    assert found["first"]["verdict"] == found["other"]["verdict"] == "verified"
    assert found["first"]["transpose"] == found["other"]["transpose"] == "tn"


def test_words_name_the_form() -> None:
    code, out, _ = gemmviz("run", "blas", "--shape", "9,8,7", *FORM, "--launches", 1, "--seed", 5)
    assert code == 0
    assert "9 x 8 x 7 float, TN, column by column, alpha 0.5, beta 2, seed 5" in out


def test_a_kernel_that_only_multiplies_refuses() -> None:
    code, report = run_json("tiled", "--size", 16, "--transpose", "nt")
    assert code == 2
    assert "computes C = A B alone" in report["failure"]["sentence"]  # type: ignore[index]
    code, out, errors = gemmviz("access", "tiled", "--size", 16, "--beta", 1)
    assert code == 2
    assert "computes C = A B alone" in out + errors


def test_accesses_of_a_transposed_input_are_told() -> None:
    words = ("access", "cpu_best", "--shape", "48,64,32", "--order", "column", "--json")
    code, out, errors = gemmviz(*words, "--transpose", "nt")
    assert code == 0, errors
    report = json.loads(out)
    assert {access["matrix"] for access in report["accesses"]} >= {"A", "B", "C"}
    assert not report["unknowns"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--alpha", "many"), "'many' is no number"),
        (("--beta", "inf"), "'inf' is no number"),
        (("--transpose", "nx"), "invalid choice: 'nx'"),
        (("--order", ""), "invalid choice: ''"),
    ],
)
def test_words_that_are_no_form(words: tuple[str, str], sentence: str) -> None:
    code, _, errors = gemmviz("run", "blas", *words)
    assert code == 2
    assert sentence in errors


def test_scalars_beyond_the_element_type_are_refused() -> None:
    code, report = run_json("blas", "--size", 16, "--beta", "1e300")
    assert code == 2
    assert "Beta is 1e+300" in report["failure"]["sentence"]  # type: ignore[index]
