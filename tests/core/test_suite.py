"""Suites: how their files read, what is wrong with one, and how a row is judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.codec import decode_line, encode_line
from gemmviz.core.messages import RowMeasured
from gemmviz.core.suite import (
    SUITES,
    BenchReport,
    BenchRow,
    SuiteError,
    find_suite,
    judge,
    load_suite,
    others_load,
    summary_of,
    too_wide,
)

ROW = BenchRow("fast / blas", "CPU", "fast", (), "float", 8, 8, 8, "blas", ratio=1.1,
               ratio_low=1.09, ratio_high=1.11, target=1.03, met=True)  # fmt: skip
GOOD = """
kind = "CPU"
[[rows]]
kernel = "tiled"
against = "blas"
elements = ["float", "double"]
shapes = [64, [1, 2, 3]]
quick = [64]
target = 1.5
parameters = { TS = 8 }
note = "small"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_a_table_stands_for_every_pair(tmp_path: Path) -> None:
    rows = load_suite(written(tmp_path, GOOD))
    assert [(row.element, row.shape, row.quick) for row in rows] == [
        ("float", (64, 64, 64), True),
        ("float", (1, 2, 3), False),
        ("double", (64, 64, 64), True),
        ("double", (1, 2, 3), False),
    ]
    first = rows[0]
    assert first.name == "tiled / blas, 64 x 64 x 64 float"
    assert (first.kind, first.parameters, first.target) == ("CPU", (("TS", 8),), 1.5)
    assert first.note == "small"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "CPU"', 'kind = "cpu"', "kind is"),
        ("[[rows]]", "[[lines]]", "has no"),
        ('kernel = "tiled"', "", "'kernel' is missing|kernel is missing"),
        ("[1, 2, 3]", "[1, 2]", "no shape"),
        ("[1, 2, 3]", "[1, 0, 3]", "no shape"),
        ("quick = [64]", "quick = [65]", "not among shapes"),
        ('"double"', '"quad"', "elements are among"),
        ('note = "small"', "speed = 3", "unknown: speed"),
        ("target = 1.5", 'target = "much"', "rows table 1"),
        ('kind = "CPU"', "kind = ", "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(SuiteError, match=words):
        load_suite(written(tmp_path, GOOD.replace(old, new)))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"nothing\.toml cannot be read"):
        load_suite(tmp_path / "nothing.toml")


@pytest.mark.parametrize("name", SUITES)
def test_the_suites_that_come_with_the_app(name: str) -> None:
    rows = find_suite(name)
    assert len({row.name for row in rows}) == len(rows)
    quick = [row for row in rows if row.quick]
    assert 3 <= len(quick) <= 8
    assert {row.kind for row in rows} == {name.upper()}
    assert all(row.target is None or row.target > 0.8 for row in rows)


def test_the_cpu_suite_asks_every_shape_in_both_types() -> None:
    rows = [row for row in find_suite("cpu") if row.against == "blas"]
    shapes = {row.shape for row in rows}
    assert {(1000, 900, 1100), (64, 64, 8192), (4096, 1, 4096), (16, 16, 16)} <= shapes
    assert len(rows) == 2 * len(shapes)
    targets = {row.shape: row.target for row in rows}
    assert targets[2048, 2048, 2048] == 1.03
    assert targets[64, 64, 64] is None


def test_others_load_leaves_out_what_is_the_benchmark_s_own() -> None:
    assert others_load(None, 2, 0) == ""
    assert others_load(3.0, None, 0) == ""
    assert others_load(0.9, 2, 0) == ""
    assert others_load(2.6, 2, 2) == ""
    assert others_load(2.6, 2, 0) == "others had a load of about 2.6 on 2 processors"
    assert others_load(4.0, 2, 2) == "others had a load of about 2.0 on 2 processors"


def test_a_wide_interval_judges_nothing() -> None:
    assert too_wide(1.0, 1.05) == ""
    assert too_wide(0.9, 1.4) == "rounds differ too much: 0.9 to 1.4"
    assert judge(1.2, 1.0, "") is True
    assert judge(0.9, 1.0, "") is False
    assert judge(1.2, 1.0, "busy") is None
    assert judge(1.2, None, "") is None


def test_the_summary_counts() -> None:
    report = BenchReport(
        (
            ROW,
            replace(ROW, met=False),
            replace(ROW, met=None, busy="rounds differ too much"),
            replace(ROW, met=None, ratio=None, why_not="There is no GPU here."),
        )
    )
    assert summary_of(report) == (
        "1 of 2 judged rows meet their targets; 1 could not be judged because the machine was too "
        "busy; 1 could not run."
    )
    assert len(report.measured) == 3


def test_a_row_crosses_the_wire() -> None:
    assert decode_line(encode_line(RowMeasured(3, ROW))) == RowMeasured(3, ROW)
