"""``gemmviz ladder`` as a person runs it; what a rung holds is tried in the tests of the engine."""

import json
from pathlib import Path

import pytest

from gemmviz.cli.ladder import _print
from tests.app.fake_engine import H200
from tests.cli.test_commands import gemmviz
from tests.cli.test_compare import PNG
from tests.core.ladders import make_ladder

SMALL = ("--device", "portable", "--size", 16, "--seed", 3)
KEYS = {
    "variant", "title", "number", "parameters", "flops_per_second", "low", "high", "gain",
    "against", "library", "library_share", "ceiling_share", "registers", "spill_bytes",
    "local_bytes", "group_size", "occupancy", "wrong", "why_not", "step",
}  # fmt: skip


def test_json_and_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "ladder.png"
    code, out, errors = gemmviz("ladder", *SMALL, "--json", "--png", picture)
    assert code == 0, errors
    ladder = json.loads(out)
    problem = {"m": 16, "n": 16, "k": 16, "element": "float", "seed": 3}
    assert ladder["problem"].items() >= problem.items()
    assert ladder["whole"] is True
    assert ladder["library"]["variant"] == "blas"
    rungs = ladder["rungs"]
    assert all(rung.keys() >= KEYS for rung in rungs)
    assert [rung["number"] for rung in rungs] == sorted(rung["number"] for rung in rungs)
    assert rungs[0]["variant"] == "naive_strided"
    assert rungs[0]["step"] is None
    assert rungs[1]["against"] == "naive_strided"
    assert rungs[1]["step"] in ("gain", "loss", "same", "open")
    assert rungs[0]["parameters"]["TS"] == 16
    measured = {rung["variant"]: rung["flops_per_second"] for rung in rungs}
    assert ladder["fastest"] == max(measured, key=lambda name: measured[name] or 0.0)
    assert ladder["sentences"][0].endswith(".")
    assert picture.read_bytes().startswith(PNG)


def test_words(capsys: pytest.CaptureFixture[str]) -> None:
    _print(make_ladder(), H200)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("4096 x 4096 x 4096 float, seed ")
    assert lines[1].split() == [
        "rung", "kernel", "speed", "step", "of", "library", "of", "peak", "registers", "local",
        "occupancy", "parameters",
    ]  # fmt: skip
    assert lines[2].split()[0] == "1"
    assert "is the fastest at 51.2 TFLOP/s" in "\n".join(lines)
    assert "lowest occupancy" in "\n".join(lines)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--device", "nowhere"], "No platform or device matches 'nowhere'"),
        (["--device", "oclgrind"], "choose a real one"),
        (["--png", "ladder.jpg"], "does not end in .png"),
    ],
)
def test_what_cannot_be_climbed_ends_with_2(words: list[str], sentence: str) -> None:
    code, out, _ = gemmviz("ladder", *words, "--json")
    assert code == 2
    assert sentence in json.loads(out)["failure"]["sentence"]


def test_a_ladder_without_a_rung_that_can_run_ends_with_2() -> None:
    code, out, errors = gemmviz("ladder", *SMALL, "--element", "half", "--json")
    assert code == 2
    assert "No rung could run." in errors
    assert all("does not compute in half" in rung["why_not"] for rung in json.loads(out)["rungs"])
