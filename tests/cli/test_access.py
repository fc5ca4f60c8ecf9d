"""``gemmviz access`` as a person runs it: figures, JSON keys, and a sentence for every mistake."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from gemmviz.cli import access
from tests.engine.runs import own_kernel

KEYS = {"array", "kind", "space", "line", "sectors", "ideal_sectors", "passes"}
TOTALS = {"flop", "global_traffic_bytes", "local_traffic_bytes", "sector_bytes", "intensity",
          "unknowns", "machine", "cautions", "kernel", "parameters", "m", "n", "k"}  # fmt: skip
SHAPE = ("--shape", "128,128,128")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser()
    access.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["access", *words])
    code = arguments.answer(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code, out, _ = run(capsys, *words, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    assert found.keys() >= TOTALS
    assert all(entry.keys() >= KEYS for entry in found["accesses"])
    return found


def test_json_of_the_article(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "barriers_tiled", "-p", "TS=16", *SHAPE)
    by_name = {(e["array"], e["kind"]): e for e in found["accesses"]}
    assert by_name["Asub", "store"]["passes"] == 8
    assert by_name["Bsub", "load"]["passes"] == 1
    assert by_name["A", "load"]["sectors"] == 16
    assert by_name["A", "load"]["ideal_sectors"] == 4
    assert by_name["A", "load"]["passes"] is None
    assert by_name["Asub", "load"]["sectors"] is None
    assert (by_name["C", "store"]["space"], by_name["Asub", "load"]["space"]) == ("global", "local")
    assert found["flop"] == 2 * 128**3
    assert found["intensity"] == found["flop"] / found["global_traffic_bytes"]
    assert found["unknowns"] == []
    machine = {"warp": 32, "banks": 32, "vendor": "", "source": "assumed: 32 lanes and 32 banks"}
    assert found["machine"] == machine
    assert "pads" not in found


def test_a_gpu_by_name_and_figures_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    wide = run_json(capsys, "tiled", *SHAPE, "--on", "gfx90a")
    assert (wide["machine"]["warp"], wide["machine"]["vendor"]) == (64, "AMD")
    own = run_json(capsys, "tiled", *SHAPE, "--on", "CC 9.0", "--warp", "16", "--banks", "64")
    assert (own["machine"]["warp"], own["machine"]["banks"]) == (16, 64)
    assert own["machine"]["source"] == "CC 9.0, warp and banks given"


def test_a_device_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "tiled", "--size", "32", "--device", "Portable")
    assert code == 0
    assert "PoCL" in out
    assert "assumed: 32 lanes and 32 banks" in out


def test_pads(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "barriers_tiled", "-p", "TS=16", "--size", "64", "--pads")
    assert [pad["pad"] for pad in found["pads"]] == list(range(9))
    code, out, _ = run(capsys, "barriers_tiled", "-p", "TS=16", "--size", "64", "--pads")
    assert code == 0
    (best,) = [line for line in out.splitlines() if line.endswith("<- best")]
    assert best.split()[0] == "2"
    _, out, _ = run(capsys, "naive_strided", "--size", "64", "--pads")
    assert "No local array" in out


def test_the_table_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "naive_strided", "-p", "TS=32", *SHAPE)
    assert code == 0
    assert out.startswith("naive_strided TS=32 at 128 x 128 x 128 float\n32 lanes a warp")
    assert "1 row apart: one sector per lane" in out
    assert "32 sectors, ideal 4" in out
    assert "1 sector  " in out
    assert "16 groups of 1024; 4.19 MFLOP\n" in out
    assert "MiB moved in whole sectors (" in out
    assert "intensity" in out
    assert "NOT FOLLOWED" not in out


def test_what_is_not_followed_comes_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own_kernel(tmp_path, "C[row * N + col] = A[(int)B[0]];")
    code, out, _ = run(capsys, str(tmp_path / "own.toml"), "--size", "32")
    assert code == 0
    head = out.splitlines()
    assert head[3].startswith("NOT FOLLOWED")
    assert "line 4: Which element of A" in head[4]
    (totals,) = [line for line in head if line.startswith("global")]
    assert totals.startswith("global at least ")
    assert ", at least " in totals
    assert "used" not in totals
    assert head[-1] == "intensity and reuse are not known: line 4 could not be followed"
    found = run_json(capsys, str(tmp_path / "own.toml"), "--size", "32")
    assert found["intensity"] is None
    assert [unknown["line"] for unknown in found["unknowns"]] == [4]


def test_two_mappings_differ_in_what_memory_moves(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = (run_json(capsys, name, *SHAPE) for name in ("mygemm_1", "mygemm_1b"))
    assert good["global_traffic_bytes"] == bad["global_traffic_bytes"]
    assert bad["sector_bytes"] > 4 * good["sector_bytes"]


def test_a_launch_that_would_be_wrong_or_refused_is_said_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "barriers_tiled", *SHAPE)
    assert out.splitlines()[2].startswith("The answer is wrong at this shape. Wrong unless")
    _, out, _ = run(capsys, "tradeoffs_tiled", "--shape", "48,32,16")
    assert out.splitlines()[2].startswith("Would be refused: ")
    _, out, _ = run(capsys, "tiled", *SHAPE)
    assert out.splitlines()[2] == ""
    assert len(run_json(capsys, "barriers_tiled", *SHAPE)["cautions"]) == 1


def test_one_group_and_what_the_padding_computes(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "tiled", "-p", "TS=16", "--shape", "1,1,1")
    assert "1 group of 256; 2.00 FLOP, 8.19 kFLOP in the source" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nope",), "There is no kernel nope"),
        (("tiled", "-p", "TS=5"), "TS=5 is not among"),
        (("tiled", "--on", "Voodoo"), "No limits are known"),
        (("blas",), "no source to look at"),
    ],
)
def test_mistakes(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    code, out, _ = run(capsys, *words, "--json")
    assert code == 2
    assert sentence in json.loads(out)["failure"]["sentence"]


def test_a_source_that_does_not_parse(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own_kernel(tmp_path, "C[0] = = 1;")
    code, _, err = run(capsys, str(tmp_path / "own.toml"))
    assert code == 2
    assert "line 4" in err


@pytest.mark.parametrize("words", [("--warp", "0"), ("--shape", "1,2"), ("--size", "1,2,3")])
def test_wrong_words(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as raised:
        run(capsys, "tiled", *words)
    assert raised.value.code == 2


def test_reuse_is_said_as_what_a_naive_kernel_asks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A kernel that asks for more than a naive one asks for no fraction of "times less"."""
    greedy = own_kernel(
        tmp_path,
        "real s = 0; for (int k = 0; k < K; k++) for (int again = 0; again < 4; again++) "
        "s += A[row * K + k] * B[k * N + col]; C[row * N + col] = s;",
        stem="greedy",
    )
    own = str(tmp_path / f"{greedy.id}.toml")
    for kernel, times in (("naive_coalesced", "1"), (own, "0.251")):
        _, out, _ = run(capsys, kernel, "--size", "64")
        (line,) = [line for line in out.splitlines() if line.startswith("intensity")]
        assert line.endswith(f"; a naive kernel asks {times} times as much of global memory")
