"""``gemmviz compare`` and what ``gemmviz run`` says of how it measured."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import gemmviz, run_json

PNG = b"\x89PNG\r\n\x1a\n"


def test_two_kernels_are_one_object() -> None:
    code, out, errors = gemmviz(
        "compare", "naive_strided:TS=8", "tiled@portable", "--size", 64, "--policy", "quick",
        "--json",
    )  # fmt: skip
    assert code == 0, errors
    found = json.loads(out)
    assert found["word"] in ("faster", "slower", "same", "undecided")
    assert found["ratio_low"] <= found["ratio"] <= found["ratio_high"]
    assert found["valid"] is True
    assert found["first"]["kernel"] == "naive_strided"
    assert found["first"]["parameters"] == {"TS": 8}
    assert found["other"]["kernel"] == "tiled"
    assert found["first"]["seed"] == found["other"]["seed"]
    assert len(found["first"]["samples"]) == found["rounds"]


def test_three_kernels_are_a_list_and_a_wrong_one_ends_with_1() -> None:
    code, out, errors = gemmviz(
        "compare", "tiled", "tiling_tiled", "tiled", "--size", 48, "--launches", 20, "--json"
    )
    assert code == 1, errors
    found = json.loads(out)
    assert [entry["other"]["kernel"] for entry in found] == ["tiling_tiled", "tiled"]
    assert [entry["valid"] for entry in found] == [False, True]
    code, out, errors = gemmviz("compare", "tiled", "tiling_tiled", "--size", 48, "--launches", 20)
    assert code == 1, errors
    assert "tiling_tiled TS=16" in out
    assert "counts for nothing" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tiled"], "two kernels or more"),
        (["tiled", "nothing"], "There is no kernel nothing"),
        (["tiled", "tiled:TS=5"], "TS=5 is not among the values"),
        (["tiled", "tiled@nowhere"], "No platform or device matches 'nowhere'"),
        (["tiled", "mygemm_1", "--shape", "33,32,32"], "mygemm_1: "),
    ],
)
def test_what_cannot_be_compared(words: list[str], sentence: str) -> None:
    code, _, errors = gemmviz("compare", *words, "--size" if "--shape" not in words else "--quiet",
                              64 if "--shape" not in words else "off")  # fmt: skip
    assert code == 2
    assert sentence in errors
    code, out, _ = gemmviz("compare", *words, "--json")
    assert code == 2
    report = json.loads(out)
    assert sentence in report["failure"]["sentence"]
    assert {"word", "ratio", "ratio_low", "ratio_high"} <= report.keys()


def test_a_run_tells_how_it_was_measured() -> None:
    code, report = run_json("tiled", "--size", 64, "--policy", "quick", "--cache", "rotating")
    assert code == 0
    assert report["policy"]["name"] == "Quick"  # type: ignore[index]
    assert report["policy"]["cache"] == "rotating"  # type: ignore[index]
    assert report["stop_reason"] in ("steady", "settled", "limit")
    assert report["timer_trust"]["badge"] in (  # type: ignore[index]
        "events trusted", "suspicious", "host timing used",
    )  # fmt: skip
    assert report["device_timer"]["launch_seconds"] > 0  # type: ignore[index]
    context = report["context"]
    assert isinstance(context, dict)
    assert context["affinity"] is True
    assert context["app_version"]
    assert report["check"]["cells_differing"] == 0  # type: ignore[index]


def test_the_map_of_a_wrong_answer(tmp_path: Path) -> None:
    path = tmp_path / "errors.png"
    code, _, errors = gemmviz("run", "barriers_tiled", "--shape", "96,64,80", "--launches", 1,
                              "--error-map", path)  # fmt: skip
    assert code == 1, errors
    assert path.read_bytes().startswith(PNG)
    assert path.stat().st_size > 5000
    right = tmp_path / "right.png"
    code, _, errors = gemmviz("run", "tiled", "--size", 32, "--launches", 1, "--error-map", right)
    assert code == 0
    assert "the answer is right" in errors
    assert not right.exists()
