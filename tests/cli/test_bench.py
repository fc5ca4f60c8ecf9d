"""``gemmviz bench`` as a person runs it, with a suite of tiny rows."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz.cli.bench import _figures
from gemmviz.core.store import ResultStore
from gemmviz.core.suite import BenchRow
from tests.cli.test_commands import gemmviz

KEYS = {
    "name", "device", "element", "m", "n", "k", "against", "ratio", "ratio_low", "ratio_high",
    "why_not", "kernel", "parameters", "target", "met", "word", "busy",
}  # fmt: skip
TINY = """
kind = "CPU"
[[rows]]
kernel = "tiled"
against = "blas"
elements = ["float", "double"]
shapes = [16, [17, 3, 5]]
quick = [16]
target = 1e-9
parameters = { TS = 8 }
[[rows]]
kernel = "nothing"
against = "blas"
elements = ["float"]
shapes = [16]
quick = [16]
"""
POCL = ("--device", "portable")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_json_of_a_quick_look(suite: Path) -> None:
    code, out, errors = gemmviz("bench", "--suite", suite, *POCL, "--quick", "--json")
    assert code == 0, errors
    report = json.loads(out)
    rows = report["rows"]
    assert all(row.keys() >= KEYS for row in rows)
    assert [(row["element"], row["m"]) for row in rows] == [
        ("float", 16), ("double", 16), ("float", 16),
    ]  # fmt: skip
    assert all(row["ratio_low"] <= row["ratio"] <= row["ratio_high"] for row in rows[:2])
    assert all(row["why_not"] == "" for row in rows[:2])
    assert rows[0]["parameters"] == {"TS": 8}
    assert (rows[2]["ratio"], rows[2]["why_not"]) == (None, "There is no kernel nothing.")
    assert report["too_busy"] is any(row["busy"] for row in rows)
    assert not report["stopped"]
    assert report["context"]["cores"] >= 1
    assert "could not run" in report["summary"]


def test_words_of_the_whole_suite(suite: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.gemmviz"
    code, out, errors = gemmviz("bench", "--suite", suite, *POCL, "--results", file)
    assert code == 0, errors
    store = ResultStore.open(file, read_only=True)
    assert len(store.rows()) == 8  # a kernel and the library in each of four rows
    store.close()
    # Each row is said as it comes, before all are printed.
    assert errors.index("  tiled / blas, 16 x 16 x 16 float  ") < errors.index("2 of 5: ")
    assert "processors, load" in out.splitlines()[0]
    assert "against OpenBLAS" in out.splitlines()[1]
    assert "tiled / blas, 17 x 3 x 5 double" in out
    assert "target 0.00 met" in out or "too busy to judge" in out
    assert "Not run:\n  nothing / blas, 16 x 16 x 16 float: There is no kernel nothing." in out
    assert "1 of 5: tiled / blas, 16 x 16 x 16 float on " in errors


@pytest.mark.parametrize(
    ("target", "seconds", "told"),
    [(None, 1e-3, True), (1.0, 1e-3, False), (1.0, 9e-6, True)],
)
def test_the_floor_stands_beside_rows_without_a_target_and_those_near_it(
    target: float | None, seconds: float, told: bool
) -> None:
    row = BenchRow(
        "a row", "a device", "tiled", (), "float", 16, 16, 16, "blas", ratio=1.0, ratio_low=0.9,
        ratio_high=1.1, target=target, seconds=seconds, floor_seconds=1e-6,
    )  # fmt: skip
    assert ("an empty one 1.00 µs" in _figures(row)) is told


def test_without_the_hardware_every_row_says_so() -> None:
    code, out, _ = gemmviz("bench", "--suite", "gpu", *POCL, "--json")
    assert code == 2
    rows = json.loads(out)["rows"]
    assert len(rows) > 20
    assert {row["why_not"] for row in rows} == {"There is no GPU here."}


def test_an_interrupt_prints_what_is_done(suite: Path) -> None:
    words = [sys.executable, "-m", "gemmviz", "bench", "--suite", str(suite), *POCL, "--json"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "] 2 of 5" in line:
                process.send_signal(signal.SIGINT)
                break
        out, errors = process.communicate(timeout=90)
    assert process.returncode == 2
    report = json.loads(out)
    assert report["stopped"] is True
    assert 1 <= len(report["rows"]) < 5
    assert report["rows"][0]["ratio"] > 0
    assert "Stopped" in errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--suite", "tpu"], "There is no suite tpu: cpu, gpu, or a file ending in .toml."),
        (["--suite", "/no/such.toml"], "/no/such.toml cannot be read: No such file or directory."),
        (["--device", "nowhere"], "No platform or device matches 'nowhere'"),
        (["--device", "oclgrind"], "choose a real one"),
    ],
)
def test_what_cannot_be_measured_ends_with_2(words: list[str], sentence: str) -> None:
    code, out, _ = gemmviz("bench", *words, "--json")
    assert code == 2
    report = json.loads(out)
    assert report["rows"] == []
    assert sentence in report["failure"]["sentence"]
