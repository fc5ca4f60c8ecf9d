"""``gemmviz export`` and ``gemmviz results export|report`` as a person runs them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from gemmviz.cli.parser import run_command
from gemmviz.core.kept_sweep import read_kept_sweep
from gemmviz.core.result_document import read_results
from gemmviz.core.store import ResultStore
from gemmviz.core.sweep_file import identity
from tests.cli.test_commands import gemmviz
from tests.core.store.saved import filled, same, saved
from tests.core.test_kept_sweep import held
from tests.core.test_t4 import keeps_to_t4
from tests.core.test_winners import SWEEP

BOTH = replace(SWEEP, problems=(*SWEEP.problems, replace(SWEEP.problems[0], m=128)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file with four results, ids 1 to 4, of M = N = K = 1 to 4."""
    path = tmp_path_factory.mktemp("results") / "r.gemmviz"
    assert filled(path, 4) == [1, 2, 3, 4]
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Runs a command in this process, which has Qt already; code, output and errors."""
    code = run_command([str(word) for word in words])
    out, errors = capsys.readouterr()
    return code, out, errors


def test_a_chart_is_drawn_by_a_process_of_its_own(store, tmp_path) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    code, out, errors = gemmviz("export", store, "--chart", "compare", "--png", png, "--svg", svg,
                                "--scale", 3, "--theme", "dark", "--json")  # fmt: skip
    assert code == 0, errors
    assert json.loads(out) == {"chart": "compare", "ids": [1, 2, 3, 4], "png": str(png),
                               "svg": str(svg), "files": [str(png), str(svg)],
                               "failure": None}  # fmt: skip
    image = QImage(str(png))
    assert (image.width(), image.height()) == (3600, 2400)
    assert [result.job.problem.m for _, result in read_results(png).results] == [1, 2, 3, 4]
    assert svg.read_bytes().count(b"<text") > 8


def test_a_chart_of_one_result_shows_the_last_or_the_chosen_one(qapp, capsys, store, tmp_path):
    path = tmp_path / "a.png"
    for words, size in (((), 4), (("--id", 2), 2), (("--id", 3, 1), 1)):
        code, _, errors = run(capsys, "export", store, "--chart", "live", "--png", path, *words)
        assert code == 0, errors
        ((_, result),) = read_results(path).results
        assert result.job.problem.m == size
        assert same(result, saved(size))


def test_a_picture_and_a_document_are_drawn_again(qapp, capsys, store, tmp_path) -> None:
    first, document, again = tmp_path / "a.png", tmp_path / "r.json", tmp_path / "b.png"
    assert run(capsys, "export", store, "--png", first)[0] == 0
    assert run(capsys, "results", "export", first, "--format", "json", "--output", document)[0] == 0
    assert run(capsys, "export", document, "--chart", "sizes", "--png", again)[0] == 0
    assert read_results(again).results == read_results(first).results


@pytest.mark.parametrize(
    "asked",
    [
        ((), "Say with --png or --svg where to draw."),
        (("--png", "a.jpg"), "does not end in .png"),
        (("--svg", "a.png"), "does not end in .svg"),
        (("--png", "missing/a.png"), "there is no folder missing"),
        (("--png", "a.png", "--id", "77"), "has no result 77"),
    ],
)
def test_what_cannot_be_drawn_is_said(capsys, store, tmp_path, monkeypatch, asked):
    words, sentence = asked
    monkeypatch.chdir(tmp_path)
    code, out, errors = run(capsys, "export", store, *words)
    assert (code, out) == (2, "")
    assert sentence in errors
    code, out, errors = run(capsys, "export", store, *words, "--json")
    assert code == 2
    told = json.loads(out)
    assert told.keys() == {"chart", "ids", "png", "svg", "files", "failure"}
    assert sentence in told["failure"]["sentence"]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_chart_is_a_sentence_and_no_file(capsys, store, tmp_path) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    code, out, errors = run(capsys, "export", store, "--chart", "error-map", "--png", png,
                            "--svg", svg)  # fmt: skip
    assert (code, out) == (2, "")
    assert errors == (
        "Every cell that was checked is within its bound: there is no error to map.\n"
    )
    code, out, errors = run(capsys, "export", store, "--chart", "sizes", "--id", 1, "--png", png,
                            "--json")  # fmt: skip
    assert code == 2
    assert json.loads(out)["failure"]["sentence"].startswith("A curve over sizes needs")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file with a sweep over two sizes, one over one of them, and a single result."""
    path = tmp_path_factory.mktemp("swept") / "s.gemmviz"
    store = ResultStore.open(path)
    with store.batch():
        one = store.put_sweep(identity(SWEEP))
        two = store.put_sweep(identity(BOTH))
        for result in held():
            store.add(result, one)
        for result in held(BOTH):
            store.add(result, two)
        store.add(saved(64))
    store.close()
    return path


def test_a_heat_map_of_a_swept_file_is_that_of_the_newest_sweep(qapp, capsys, swept, tmp_path):
    code, out, errors = run(capsys, "export", swept, "--chart", "heat-map", "--png",
                            tmp_path / "m.png", "--json")  # fmt: skip
    assert code == 0, errors
    files = [tmp_path / f"m-{size}.png" for size in ("64", "128x64x64")]
    assert errors == "".join(f"Saved {file}\n" for file in files)
    told = json.loads(out)
    assert told["files"] == list(map(str, files))
    assert told["png"] == str(files[0])
    assert len(told["ids"]) == len(held(BOTH))
    for file, problem in zip(files, BOTH.problems, strict=True):
        kept = read_kept_sweep(file)
        assert kept.sweep.problems == (problem,)
        assert {each.job.problem for each in kept.results} == {problem}
        assert kept.report.winners[0].problem == problem
        assert QImage(str(file)).text("Title").startswith("Heat map of Several cells a work-item")


def test_another_sweep_or_other_results_can_be_chosen(qapp, capsys, swept, tmp_path) -> None:
    path = tmp_path / "m.png"
    asked = ("export", swept, "--chart", "heat-map", "--png", path)
    assert run(capsys, *asked, "--sweep", 1)[0] == 0
    assert read_kept_sweep(path).sweep.problems == SWEEP.problems
    assert run(capsys, *asked, "--id", 1, 2, 3, 4)[0] == 0
    assert read_kept_sweep(path) is None
    code, _, errors = run(capsys, *asked, "--sweep", 3)
    assert (code, errors) == (2, "s.gemmviz has no sweep 3: it has 2 sweeps.\n")
    code, _, errors = run(capsys, *asked, "--sweep", 1, "--id", 1)
    assert (code, errors) == (2, "--sweep and --id exclude each other.\n")
    scatter = ("export", swept, "--chart", "scatter", "--png", path, "--sweep", 2)
    assert run(capsys, *scatter)[0] == 0
    assert len(read_results(path).results) == len(held(BOTH))


def test_an_unknown_chart_lists_the_known_ones(capsys, store) -> None:
    with pytest.raises(SystemExit) as ended:
        run_command(["export", str(store), "--chart", "pie", "--png", "a.png"])
    assert ended.value.code == 2
    errors = capsys.readouterr().err
    for name in ("live", "distribution", "error-map", "compare", "sizes", "heat-map", "scatter"):
        assert name in errors


def test_csv_goes_to_standard_output(capsys, store) -> None:
    code, out, errors = run(capsys, "results", "export", store, "--id", 2, 4)
    assert (code, errors) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["id"], row["m"]) for row in rows] == [("2", "2"), ("4", "4")]


def test_json_and_t4_go_to_files(capsys, store, tmp_path) -> None:
    path = tmp_path / "r.json"
    code, out, _ = run(capsys, "results", "export", store, "--format", "json", "--output", path,
                       "--json")  # fmt: skip
    assert code == 0
    assert json.loads(out) == {"output": str(path), "results": 4, "lacks": [], "failure": None}
    assert [number for number, _ in read_results(path).results] == [1, 2, 3, 4]
    code, out, _ = run(capsys, "results", "export", store, "--format", "t4")
    assert code == 0
    document = json.loads(out)
    keeps_to_t4(document)
    assert [entry["configuration"]["m"] for entry in document["results"]] == [1, 2, 3, 4]
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]


def test_a_report_is_one_page(store, tmp_path) -> None:
    path = tmp_path / "report.html"
    code, _, errors = gemmviz("results", "report", store, "--output", path)
    assert code == 0, errors
    page = path.read_text(encoding="utf-8")
    assert "4 of r.gemmviz: 4 verified" in page
    assert page.count("<img ") >= 10  # each light and dark
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_report_of_very_many_says_that_it_tells_the_last(
    qapp, capsys, store, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("gemmviz.cli.results_export.MOST_ROWS", 2)
    path = tmp_path / "report.html"
    assert run(capsys, "results", "report", store, "--output", path)[0] == 0
    assert "2 of r.gemmviz, the last ones: 2 verified" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["export", "report"])
def test_files_that_hold_nothing_are_said(capsys, tmp_path, command) -> None:
    output = tmp_path / "out.html"
    for name, data, words in (
        ("missing.gemmviz", None, "cannot be read"),
        ("empty.json", b"", "is not JSON"),
        ("damaged.gemmviz", b"SQLite format 3\0" + b"\xff" * 900, "damaged.gemmviz"),
    ):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        code, out, errors = run(capsys, "results", command, path, "--output", output)
        assert (code, out) == (2, "")
        assert words in errors
        assert not output.exists()
    code, out, _ = run(capsys, "results", command, tmp_path / "x", "--output", output, "--json")
    assert code == 2
    assert "cannot be read" in json.loads(out)["failure"]["sentence"]


def test_an_output_that_cannot_be_is_said_and_the_old_one_stays(capsys, store, tmp_path) -> None:
    code, _, errors = run(capsys, "results", "export", store, "--output", tmp_path / "no" / "a.csv")
    assert code == 2
    assert "there is no folder" in errors
    code, _, errors = run(capsys, "results", "report", store, "--output", tmp_path / "a.pdf")
    assert code == 2
    assert "does not end in .html" in errors
    kept = tmp_path / "kept.csv"
    kept.write_text("old")
    assert run(capsys, "results", "export", store, "--id", 99, "--output", kept)[0] == 2
    assert kept.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["kept.csv"]
    code, _, errors = run(capsys, "results", "export", store, "--json")
    assert code == 2
    assert "name an --output" in json.loads(_)["failure"]["sentence"]
