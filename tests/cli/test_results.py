from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.__main__ import main
from gemmviz.cli.parser import run_command
from gemmviz.core.comparison import Comparison
from gemmviz.core.store import ResultStore
from tests.app.fake_engine import EQUAL, H200, WRONG, FakeEngine
from tests.core.store.saved import filled, saved


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("results") / "a.gemmviz"
    filled(made, 2)
    store = ResultStore.open(made)
    store.add(saved(64, 5e-4, check=WRONG, device=H200))
    store.annotate([2], note="before lunch", tags=["paper"])
    store.put_finding("Ladder", "the ladder on pthread-cpu", '{"rungs": []}')
    store.put_finding("Ladder", "nonsense", "[" * 100_000)
    store.close()
    return made


def asked(capsys, *words: object) -> str:
    assert run_command(["results", *map(str, words)]) == 0
    return capsys.readouterr().out


def listed(capsys, path, *words: object) -> list[int]:
    data = json.loads(asked(capsys, "list", path, "--json", *words))
    assert data["count"] == len(data["results"]) or "--limit" in words
    return [row["id"] for row in data["results"]]


def test_the_list_for_a_person(capsys, path):
    lines = asked(capsys, "list", path).splitlines()
    assert lines[-1] == "3 results"
    assert lines[0].startswith("3  ")
    assert "NVIDIA H200 · CUDA 12.8.1" in lines[0]
    assert lines[0].endswith("wrong")
    assert lines[1].endswith("verified  #paper  before lunch")
    assert asked(capsys, "list", path, "--limit", 1).splitlines()[-1] == "1 of 3 results"


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ((), [3, 2, 1]),
        (("--order", "oldest"), [1, 2, 3]),
        (("--device", "h200"), [3]),
        (("--device", "PoCL"), [2, 1]),
        (("--kernel", "tiled", "--shape", "64,64,64"), [3]),
        (("--shape", "2"), [2]),
        (("--verdict", "wrong"), [3]),
        (("--tag", "paper"), [2]),
        (("--text", "before LUNCH"), [2]),
        (("--element", "double"), []),
        (("--deleted",), []),
        (("--sweep", "1"), []),
        (("--limit", "2"), [3, 2]),
    ],
)
def test_the_list_is_filtered(capsys, path, words, ids):
    assert listed(capsys, path, *words) == ids


def test_keys_of_the_list(capsys, path):
    data = json.loads(asked(capsys, "list", path, "--json", "--tag", "paper"))
    assert (data["file"], data["problem"], data["count"]) == (str(path), "", 1)
    (row,) = data["results"]
    assert (row["kernel"], row["m"], row["note"], row["tags"]) == (
        "tiled", 2, "before lunch", ["paper"],
    )  # fmt: skip
    assert row["median_seconds"] == pytest.approx(1e-3, rel=1e-3)


def test_one_result(capsys, path):
    text = asked(capsys, "show", path, 2)
    assert text.startswith("Result 2, 2023-11-1")
    assert "before lunch #paper" in text
    assert "2 x 2 x 2 float" in text
    data = json.loads(asked(capsys, "show", path, 2, "--json"))
    assert (data["id"], data["verdict"], len(data["samples"])) == (2, "verified", 12)
    assert data["source"] == saved().job.variant.source


def test_what_changed(capsys, path):
    text = asked(capsys, "diff", path, 1, 3)
    assert "Device: pthread-cpu · PoCL 3.0-rc2  ->  NVIDIA H200 · CUDA 12.8.1" in text
    data = json.loads(asked(capsys, "diff", path, 1, 3, "--json"))
    assert {"section": "Answer", "name": "Verdict", "before": "✓ verified", "after": "✗ wrong"} in (
        data["entries"]
    )


def test_what_experiments_found(capsys, path):
    lines = asked(capsys, "findings", path).splitlines()
    assert lines[1].endswith("Ladder: the ladder on pthread-cpu")
    data = json.loads(asked(capsys, "findings", path, "--json"))
    assert [each["answer"] for each in data["findings"]] == [None, {"rungs": []}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "{tmp}/none.gemmviz"), "no such file"),
        (("list", "{tmp}/text.gemmviz"), "no results file"),
        (("show", "{path}", "9"), "no result 9"),
        (("diff", "{path}", "1", "9"), "no result 9"),
        (("list", "{path}", "--device", "voodoo"), "No device matches 'voodoo'"),
        (("list", "{path}", "--shape", "1,2"), "not three numbers"),
    ],
)
def test_what_cannot_be_answered_ends_with_a_sentence(capsys, path, tmp_path, words, said):
    (tmp_path / "text.gemmviz").write_text("words")
    filled_in = [word.format(tmp=tmp_path, path=path) for word in words]
    assert run_command(["results", *filled_in]) == 2
    assert said in capsys.readouterr().err
    assert run_command(["results", *filled_in, "--json"]) == 2
    assert said in json.loads(capsys.readouterr().out)["failure"]["sentence"]


def test_an_export_of_half_a_file_says_so_and_ends_as_a_part(capsys, path, tmp_path):
    half = tmp_path / "half.gemmviz"
    half.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for words in (
        ["export", str(half)],
        ["export", str(half), "--output", str(tmp_path / "a.csv")],
    ):
        assert run_command(["results", *words]) == 2
        said = capsys.readouterr()
        assert f"{half} is cut short: it is read as far as it can be" in said.err
    assert (tmp_path / "a.csv").read_text().startswith("finished_at,")
    output = str(tmp_path / "a.json")
    words = ["export", str(half), "--format", "json", "--output", output, "--json"]
    assert run_command(["results", *words]) == 2
    assert "cut short" in json.loads(capsys.readouterr().out)["lacks"][0]


def test_a_damaged_file_is_read_with_a_remark(capsys, path, tmp_path):
    cut = tmp_path / "cut.gemmviz"
    data = path.read_bytes()
    cut.write_bytes(data[: len(data) - 4096])
    assert run_command(["results", "list", str(cut)]) == 0
    assert "cut short" in capsys.readouterr().err


def test_a_run_is_saved(capsys, tmp_path):
    path = tmp_path / "new.gemmviz"
    words = ["run", "tiled", "-p", "TS=4", "--size", "16", "--launches", "2", "--json"]
    assert run_command([*words, "--results", str(path)]) == 0
    told = capsys.readouterr()
    assert "Saved as result 1 in" in told.err
    store = ResultStore.open(path, read_only=True)
    ((number, result),) = store.results()
    store.close()
    assert (number, result.verdict, sum(result.samples.launches)) == (1, "verified", 2)
    assert json.loads(told.out)["seed"] == result.job.problem.seed


@pytest.fixture
def no_device(monkeypatch):
    """Lets commands find devices without asking a driver."""
    for command in ("run", "compare"):
        monkeypatch.setattr(f"gemmviz.cli.{command}.Engine", FakeEngine)


def test_a_comparison_is_saved(no_device, capsys, tmp_path, monkeypatch):
    path = tmp_path / "new.gemmviz"
    outcome = Comparison(0, (saved(16), saved(16, 2e-3)), (EQUAL,))
    monkeypatch.setattr("gemmviz.cli.compare.drain", lambda *_: outcome)
    words = ["compare", "tiled", "tiled:TS=8", "--size", "16"]
    assert run_command([*words, "--results", str(path)]) == 0
    assert "Saved as results 1, 2 in" in capsys.readouterr().err
    store = ResultStore.open(path, read_only=True)
    assert len(store.rows()) == 2
    store.close()


@pytest.mark.parametrize("words", [["run", "tiled"], ["compare", "tiled", "tiled:TS=8"]])
def test_a_file_that_cannot_be_written_is_refused_first(no_device, capsys, tmp_path, words):
    path = tmp_path / "text.gemmviz"
    path.write_text("words")
    assert run_command([*words, "--size", "16", "--results", str(path)]) == 2
    assert "no results file" in capsys.readouterr().err
    assert path.read_text() == "words"


@pytest.mark.parametrize(
    "words", [[], ["a.gemmviz"], ["--results", "a.gemmviz"], ["--theme", "dark", "a.gemmviz"]]
)
def test_a_results_file_opens_the_window(monkeypatch, words):
    opened = []
    monkeypatch.setattr("gemmviz.views.display.missing_display", lambda: None)
    monkeypatch.setattr("gemmviz.views.main.open_window", lambda argv: opened.append(argv) or 0)
    monkeypatch.setattr(sys, "argv", ["gemmviz", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert opened == [words]


def test_what_stands_in_a_file_cannot_steer_the_terminal(capsys, tmp_path):
    path = tmp_path / "a.gemmviz"
    store = ResultStore.open(path)
    job = saved().job
    title = "\x1b]0;owned\x07tiled"
    store.add(replace(saved(), job=replace(job, variant=replace(job.variant, title=title))))
    store.annotate([1], note="\x1b[2Jgone")
    store.add(saved())
    store.put_finding("Ladder", "\x1b[2J", "{}")
    store.close()
    for words in (("list", path), ("findings", path), ("show", path, 1), ("diff", path, 1, 2)):
        out = asked(capsys, *words)
        assert out.endswith("\n")
        assert "\x1b" not in out
