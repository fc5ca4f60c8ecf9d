"""Results out of every kind of file."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemmviz.core.result_document import DocumentError, document_parts
from gemmviz.core.result_source import kind_of, results_of
from gemmviz.core.sweep_of_results import sweep_of
from tests.app.fake_engine import INTEL
from tests.core.store.saved import filled, same, saved


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A results file and a document of the same four results, by kind."""
    folder = tmp_path_factory.mktemp("files")
    store, document = folder / "r.gemmviz", folder / "r.json"
    numbers = filled(store, 4)
    results = zip(numbers, (saved(size) for size in range(1, 5)), strict=True)
    document.write_text("".join(document_parts(results)))
    return {"store": store, "document": document}


@pytest.mark.parametrize("kind", ["store", "document"])
def test_all_some_or_the_last_are_read(files, kind) -> None:
    path = files[kind]
    assert kind_of(path) == kind
    found = list(results_of(path))
    numbers = [number for number, _ in found]
    assert len(found) == 4
    assert all(same(result, saved(size)) for size, (_, result) in enumerate(found, start=1))
    chosen = [numbers[2], numbers[0]]
    assert [number for number, _ in results_of(path, chosen)] == chosen
    assert [number for number, _ in results_of(path, last=2)] == numbers[-2:]
    assert [number for number, _ in results_of(path, chosen, last=1)] == chosen[1:]
    with pytest.raises(DocumentError, match="has no result 99"):
        list(results_of(path, [99]))


def test_a_kind_is_told_by_content(tmp_path: Path) -> None:
    named = tmp_path / "picture.json"
    named.write_bytes(b"\x89PNG\r\n\x1a\n")
    assert kind_of(named) == "picture"
    assert kind_of(tmp_path / "my.toml") == "kernel"
    with pytest.raises(DocumentError, match="cannot be read"):
        kind_of(tmp_path / "missing")


def test_what_a_cut_file_does_not_give_is_said(files, tmp_path: Path) -> None:
    cut, said = tmp_path / "cut.gemmviz", []
    whole = files["store"].read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    found = list(results_of(cut, complain=said.append))
    assert len(found) < 4
    assert "is cut short" in said[0]
    assert all(sentence.endswith(".") for sentence in said)
    list(results_of(files["store"], complain=pytest.fail))


def test_a_damaged_results_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "r.gemmviz"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 2000)
    with pytest.raises(DocumentError) as said:
        list(results_of(path))
    assert str(said.value).endswith(".")


def test_results_make_a_sweep_of_what_varies() -> None:
    results = [saved(64), saved(128), saved(64, device=INTEL), saved(64, seconds=2e-3)]
    sweep, report = sweep_of(results)
    assert [variant.id for variant in sweep.variants] == ["tiled"]
    assert sweep.axes == (("tiled", (("TS", (16,)),)),)
    assert [problem.m for problem in sweep.problems] == [64, 128]
    assert len(sweep.devices) == 2
    assert len(report.cells) == 3
    assert report.cells[0].seconds == pytest.approx(2e-3, rel=1e-3)  # the last one counts
    assert {cell.state for cell in report.cells} == {"measured"}
