"""``gemmviz check`` as a person runs it."""

import json
from pathlib import Path

import pytest

from gemmviz.core.paths import data_dir
from tests.cli.test_commands import gemmviz
from tests.engine.runs import RIGHT, own_kernel

FAULTY = data_dir("resources") / "claims"
KEYS = {"kernel", "shape", "simulator", "findings", "seconds", "remark", "failure"}


def test_a_right_kernel_ends_with_0() -> None:
    code, out, errors = gemmviz("check", "tiled", "-p", "TS=8", "--shape", "19,18,21", "--json")
    assert code == 0, errors
    report = json.loads(out)
    assert report.keys() >= KEYS
    assert (report["kernel"], report["shape"], report["findings"]) == ("tiled", [19, 18, 21], [])
    assert report["simulator"].startswith("Oclgrind")
    assert "another shape" in report["remark"]
    assert report["failure"] is None


def test_a_faulty_one_ends_with_1_and_names_its_lines() -> None:
    words = ("check", FAULTY / "no_first_barrier.toml", "-p", "TS=8", "--shape", "19,18,21")
    code, out, errors = gemmviz(*words, "--json")
    assert code == 1, errors
    first = json.loads(out)["findings"][0]
    assert first.keys() >= {"kind", "lines", "count", "sentence", "detail"}
    assert first["kind"] == "data race"
    source = (FAULTY / "no_first_barrier.cl").read_text().splitlines()
    assert "As[ty][tx] =" in source[first["lines"][0] - 1]
    assert first["count"] > 1
    code, out, _ = gemmviz(*words)
    assert code == 1
    assert "data race: A work-item writes bytes of local memory in line" in out


def test_a_kernel_of_a_persons_own(tmp_path: Path) -> None:
    stray = own_kernel(tmp_path, RIGHT + " if (row == 0 && col == 0) C[M * N] = 1;")
    assert stray.id == "own"
    code, out, errors = gemmviz("check", tmp_path / "own.toml", "--shape", "3,4,5", "--json")
    assert code == 1, errors
    (finding,) = json.loads(out)["findings"]
    assert (finding["kind"], finding["lines"]) == ("out of bounds", [4])
    assert "written outside" in finding["sentence"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing"], "There is no kernel nothing"),
        (["tiled", "-p", "TS=5"], "TS=5 is not among the values"),
        (["tiled", "--element", "half"], "does not compute in half"),
        (["tradeoffs_tiled", "--shape", "4,5,6"], "square matrices alone"),
    ],
)
def test_what_cannot_be_checked_ends_with_2(words: list[str], sentence: str) -> None:
    code, out, _ = gemmviz("check", *words, "--json")
    assert code == 2
    report = json.loads(out)
    assert report.keys() >= KEYS
    assert sentence in report["failure"]["sentence"]
    code, _, errors = gemmviz("check", *words)
    assert code == 2
    assert sentence in errors
