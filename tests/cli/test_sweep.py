"""``gemmviz sweep`` as a person runs it; what a configuration becomes is tried in the engine."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gemmviz.cli.sweep import _announce, _draw
from gemmviz.cli.sweep_report import sweep_json, sweep_lines
from gemmviz.core.kept_sweep import KeptSweep, read_kept_sweep
from gemmviz.core.store import ResultStore
from gemmviz.core.sweep import NOT_TRIED, SweepReport
from gemmviz.core.sweep_plan import SweepPlan, plan
from tests.cli.test_commands import gemmviz
from tests.cli.test_compare import PNG
from tests.core.sweeps import make_report, make_sweep

KEYS = {"planned", "measured", "resumed", "failed", "best_set", "recommended", "refused", "seconds",
        "confidence", "winners", "cells", "stopped", "failure"}  # fmt: skip


def write(folder: Path, *, sizes: str = "[48]", more: str = "") -> Path:
    file = folder / "mine.toml"
    file.write_text(f"""
kernels = ["work_1d"]
sizes = {sizes}
devices = ["portable"]
policy = "quick"
{more}
[parameters]
TS = [8, 16]
WPT = [1, 4]
""")
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, Any]:
    """A sweep of four configurations, saved, drawn, and made the default."""
    code, out, errors = gemmviz(
        "sweep", write(folder), "--results", folder / "mine.gemmviz", "--png", folder / "mine.png",
        "--save-default", "--json", XDG_CONFIG_HOME=str(folder),
    )  # fmt: skip
    assert code == 0, errors
    found: dict[str, Any] = json.loads(out)
    return found


def test_how_long_it_takes_is_foretold_where_something_can_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep = make_sweep()
    _announce(sweep, plan(sweep), ())
    assert "; about" in capsys.readouterr().err
    _announce(sweep, SweepPlan(()), ())
    assert capsys.readouterr().err == "0 configurations.\n"


def test_json(told: dict[str, Any]) -> None:
    assert told.keys() >= KEYS
    assert (told["planned"], told["measured"], told["resumed"], told["refused"]) == (4, 4, 0, 0)
    assert told["failed"] == []
    assert told["failure"] is None
    taken = told["recommended"]
    assert taken["kernel"] == "work_1d"
    assert taken["parameters"].keys() == {"TS", "WPT"}
    assert taken["flops_per_second"] > 0
    assert taken["parameters"] in [cell["parameters"] for cell in told["best_set"]]
    assert all(cell["best"] for cell in told["best_set"])
    assert len(told["cells"]) == 4
    assert told["winners"][0]["words"].endswith(".")


def test_the_picture_and_the_results(told: dict[str, Any], folder: Path) -> None:
    assert (folder / "mine.png").read_bytes().startswith(PNG)
    store = ResultStore.open(folder / "mine.gemmviz", read_only=True)
    try:
        ((number, _),) = store.sweeps()
        results = [result for _, result in store.results(number)]
    finally:
        store.close()
    assert len(results) >= 4 + len(told["best_set"])
    assert {result.verdict for result in results} == {"verified"}


def test_the_picture_of_the_file_is_that_of_the_sweep(told: dict[str, Any], folder: Path) -> None:
    again = folder / "again.png"
    code, _, errors = gemmviz(
        "export", folder / "mine.gemmviz", "--chart", "heat-map", "--png", again
    )
    assert (code, errors) == (0, f"Saved {again}\n")
    assert again.read_bytes() == (folder / "mine.png").read_bytes()
    kept = read_kept_sweep(again)
    assert kept is not None
    (winner,) = kept.report.winners
    assert winner.words == told["winners"][0]["words"]


def test_each_race_is_a_picture_and_nothing_is_none(
    qapp: object, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sweep = make_sweep(sizes=(256, 512))
    asked = argparse.Namespace(png=tmp_path / "map.png", scale=1, theme="light")
    assert _draw(asked, KeptSweep(sweep, make_report(sweep), ()))
    drawn = [tmp_path / f"map-{size}.png" for size in (256, 512)]
    assert capsys.readouterr().err == "".join(f"Saved {each}\n" for each in drawn)
    assert sorted(tmp_path.iterdir()) == drawn
    assert not _draw(asked, KeptSweep(sweep, SweepReport(()), ()))
    assert capsys.readouterr().err == "Nothing was measured, so no picture was drawn.\n"


def test_resumed_when_all_is_done_nothing_is_measured(told: dict[str, Any], folder: Path) -> None:
    code, out, errors = gemmviz(
        "sweep", write(folder), "--results", folder / "mine.gemmviz", "--resume", "--json"
    )
    assert code == 0, errors
    again = json.loads(out)
    assert (again["planned"], again["measured"], again["resumed"]) == (4, 0, 4)
    assert again["recommended"]["parameters"] == told["recommended"]["parameters"]
    assert again["recommended"]["seconds"] == told["recommended"]["seconds"]
    assert again["winners"] == told["winners"]


def test_a_saved_result_says_what_won_in_the_same_words(told: dict[str, Any], folder: Path) -> None:
    store = ResultStore.open(folder / "mine.gemmviz", read_only=True)
    try:
        placed = [number for number, result in store.results() if result.placing is not None]
    finally:
        store.close()
    assert len(placed) >= len(told["best_set"])
    code, out, errors = gemmviz("results", "show", folder / "mine.gemmviz", placed[0])
    assert code == 0, errors
    assert told["winners"][0]["words"] in out.splitlines()


def test_what_is_recommended_is_the_default_of_a_run(told: dict[str, Any], folder: Path) -> None:
    code, out, errors = gemmviz(
        "run", "work_1d", "--device", "portable", "--size", 32, "--launches", 1, "--json",
        XDG_CONFIG_HOME=str(folder),
    )  # fmt: skip
    assert code == 0, errors
    assert json.loads(out)["parameters"] == told["recommended"]["parameters"]


def test_words() -> None:
    sweep = make_sweep(sizes=(256, 512))
    report = make_report(sweep)
    lines = sweep_lines(sweep, report)
    assert lines[0].startswith("256 x 256 x 256 float on pthread-cpu")
    assert lines[0].endswith(" configurations")
    assert lines[1].split()[:2] == ["kernel", "parameters"]
    assert lines[2].startswith("take  register_2d  BM=")
    assert sum(line.startswith("512 x 512 x 512 float on ") for line in lines) == 1
    assert any(line.endswith("more: The driver ended with CL_OUT_OF_RESOURCES (-5).")
               for line in lines)  # fmt: skip
    assert any(line.startswith("and ") and line.endswith(" slower ones") for line in lines)
    assert lines[-1].endswith(" measured in 12.5 s.")
    passed = (replace(cell, state="dropped", why_not=NOT_TRIED) for cell in report.cells[:9])
    told = sweep_json(
        sweep, replace(report, cells=(*passed, *report.cells[9:])),
        resumed=0, stopped=False, failure=None,
    )  # fmt: skip
    assert told["measured"] == told["planned"] - 9
    assert lines[-2].startswith(f"{report.refused} configurations cannot run")


def test_killed_half_way_it_goes_on_where_it_was(tmp_path: Path) -> None:
    file, results = write(tmp_path, sizes="[16, 20, 28, 36]"), tmp_path / "mine.gemmviz"
    command = [sys.executable, "-m", "gemmviz", "sweep", str(file), "--results", str(results)]
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    assert child.stderr is not None
    seen = 0
    for line in child.stderr:
        seen += b"work_1d TS=" in line
        if seen >= 6:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stderr.close()
    code, out, errors = gemmviz("sweep", file, "--results", results, "--resume", "--json")
    assert code == 0, errors
    told = json.loads(out)
    assert told["planned"] == 16
    assert 4 <= told["resumed"] < 16
    assert told["measured"] == 16 - told["resumed"]
    assert len(told["winners"]) == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('kernels = ["tiled"]\nsizes = [8]\ndevices = ["zx81"]', "No platform or device matches"),
        ('kernels = ["tiled"]\nsizes = [8]\nparameters = { BM = 8 }', "no kernel has such a"),
        ('kernels = ["gpu_double"]\nsizes = [64]\nelements = ["half"]', "No configuration of the"),
    ],
)
def test_faults(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    code, out, errors = gemmviz("sweep", file, "--json")
    assert code == 2
    told = json.loads(out)
    assert sentence in told["failure"]["sentence"], errors
    assert told.keys() >= KEYS


def test_resume_needs_a_file_of_results(tmp_path: Path) -> None:
    code, out, errors = gemmviz("sweep", write(tmp_path), "--resume")
    assert (code, out) == (2, "")
    assert "--resume needs --results" in errors


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_prints_what_there_is(tmp_path: Path, how: signal.Signals) -> None:
    file = write(tmp_path, sizes="[16, 20, 28, 36]")
    child = subprocess.Popen(
        [sys.executable, "-m", "gemmviz", "sweep", str(file), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ},
    )  # fmt: skip
    assert child.stderr is not None
    while b"work_1d TS=" not in (line := child.stderr.readline()):
        pass
    assert b" s] 1 of 16, " in line
    assert b" at 16 x 16 x 16 float: " in line  # which of the four races it belongs to
    time.sleep(0.05)
    child.send_signal(how)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 2
    told = json.loads(out)
    assert told["stopped"] is True
    assert 0 < told["measured"] < 16
