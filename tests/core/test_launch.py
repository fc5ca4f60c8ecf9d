"""Launch geometry, assembled source and predicted verdicts of the variants."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.catalog import load_catalog, load_variant
from gemmviz.core.expr import ExprError
from gemmviz.core.launch import (
    argument_numbers,
    assemble,
    default_parameters,
    describe_parameters,
    expected_verdict,
    flop,
    geometry,
    leading_dimensions,
    matrix_bytes,
    merge_parameters,
)
from gemmviz.core.model import Problem
from gemmviz.core.paths import data_dir
from tests.core.test_catalog import TOML, write

CATALOG = load_catalog(data_dir("kernels"))


def test_dimensions_walk_as_the_metadata_says() -> None:
    problem = Problem(100, 7, 64)
    shape = geometry(CATALOG.find("tiled"), (("TS", 16),), problem)
    assert (shape.local, shape.total, shape.groups) == ((16, 16), (16, 112), 7)
    strided = geometry(CATALOG.find("tiling_naive"), (("TS", 16),), problem)
    assert (strided.local, strided.total) == ((16, 16), (112, 16))
    swapped = geometry(CATALOG.find("mygemm_1b"), (("TS", 8),), Problem(64, 32, 8))
    assert swapped.total == (32, 64)


def test_local_bytes_follow_parameters_and_element() -> None:
    padded = CATALOG.find("barriers_padded")
    chosen = merge_parameters(padded, {"PAD": 2})
    assert geometry(padded, chosen, Problem(1, 1, 1)).local_bytes == 2 * 16 * 18 * 4
    assert geometry(padded, chosen, Problem(1, 1, 1, "double")).local_bytes == 2 * 16 * 18 * 8


def test_local_arguments_count_once(tmp_path: Path) -> None:
    argument = '"C", {local = "TS * element_bytes"},'
    left_out = TOML.replace('"C",', argument).replace("2 * TS * TS * element_bytes", "0")
    variant = load_variant(write(tmp_path, left_out))
    assert geometry(variant, (("TS", 16),), Problem(1, 1, 1)).local_bytes == 64
    whole = TOML.replace('"C",', argument)
    variant = load_variant(write(tmp_path, whole))
    assert geometry(variant, (("TS", 16),), Problem(1, 1, 1)).local_bytes == 2048


def test_arguments_as_numbers_in_the_kernels_own_order(tmp_path: Path) -> None:
    old = 'arguments = ["A", "B", "C", "M", "N", "K"]'
    assert old in TOML
    listed = """arguments = ["C", "A", "ldb", "alpha", "beta", "K",
      { value = 7, type = "int" }, "M", "lda", "ldc",
      { local = "TS * element_bytes" }, { value = "N - 1", type = "long" },
      { buffer = "K", type = "int" }, { scratch = "M * N * element_bytes" }, "B", "N"]"""
    text = TOML.replace(old, listed).replace("2 * TS * TS * element_bytes", "0")
    about = (("TS", 16),), Problem(5, 6, 3, "double")
    row = load_variant(write(tmp_path, text))
    assert argument_numbers(row, *about) == (
        0, 0, 6, 1, 0, 3, 7, 5, 3, 6, 128, 5, 3, 240, 0, 6
    )  # fmt: skip
    column = replace(row, order="column")
    assert leading_dimensions(column, about[1]) == {"A": 5, "B": 3, "C": 5}
    numbers = argument_numbers(column, *about)
    assert [numbers[place] for place in (8, 2, 9)] == [5, 3, 5]
    undefined = load_variant(write(tmp_path, text.replace("N - 1", "N // (K - 3)")))
    with pytest.raises(ExprError):
        argument_numbers(undefined, *about)


def test_parameters_are_checked_by_name_and_value() -> None:
    tiled = CATALOG.find("tiled")
    assert default_parameters(tiled) == (("TS", 16),)
    assert describe_parameters(merge_parameters(tiled, {"TS": 8})) == "TS=8"
    with pytest.raises(ValueError, match="no parameter WPT; it has: TS"):
        merge_parameters(tiled, {"WPT": 1})
    with pytest.raises(ValueError, match="TS=5 is not among"):
        merge_parameters(tiled, {"TS": 5})


def test_the_source_keeps_the_files_own_lines() -> None:
    tiled = CATALOG.find("tiled")
    source = assemble(tiled, (("TS", 8),), Problem(1, 1, 1, "double"))
    head, _, rest = source.partition('#line 1 "tiled.cl"\n')
    assert rest == tiled.source
    assert "#define TS 8\n" in head
    assert "#define real double\n" in head
    assert "cl_khr_fp64" in head


def test_work_and_sizes() -> None:
    problem = Problem(3, 5, 7)
    assert flop(CATALOG.find("tiled"), problem) == 2 * 3 * 5 * 7
    assert flop(CATALOG.find("mygemm_add"), problem) == 15
    assert matrix_bytes(CATALOG.find("tiled"), problem) == (84, 140, 60)
    assert matrix_bytes(CATALOG.find("mygemm_add"), problem) == (60, 60, 60)


@pytest.mark.parametrize(
    ("kernel", "shape", "verdict"),
    [
        ("tiling_tiled", (1, 1, 1), "verified"),
        ("tiling_tiled", (16, 16, 16), "wrong"),
        ("barriers_tiled", (16, 16, 16), "verified"),
        ("barriers_tiled", (16, 16, 17), "wrong"),
        ("mygemm_2", (16, 32, 48), "verified"),
        ("mygemm_2", (16, 32, 40), "wrong"),
        ("tiled", (9, 9, 9), "verified"),
    ],
)
def test_expected_verdicts(kernel: str, shape: tuple[int, int, int], verdict: str) -> None:
    variant = CATALOG.find(kernel)
    assert expected_verdict(variant, default_parameters(variant), Problem(*shape)) == verdict
