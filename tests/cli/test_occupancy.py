"""Occupancy measured, throttled and drawn from the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import gemmviz


def size_of(picture: Path) -> tuple[int, int]:
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


def test_measured_on_a_cpu() -> None:
    code, out, error = gemmviz("occupancy", "tiled", "-p", "TS=16", "--device", "portable",
                               "--measure", "--json")  # fmt: skip
    assert code == 0, error
    report = json.loads(out)
    measured = report["measured"]
    assert measured["groups_per_unit"] == 1
    assert measured["repeats"] >= 2
    assert "does not apply to a CPU" in measured["difference"]
    assert report["confidence"] == "not applicable"
    assert report["curves"] == []


def test_throttled_and_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "speed.png"
    code, out, error = gemmviz("occupancy", "tiled", "--device", "portable", "--throttle",
                               "--size", 64, "--png", picture, DISPLAY="")  # fmt: skip
    assert code == 0, error
    assert out.count("of dummy local memory") == 3
    assert "100 %, 0 B" in out
    assert "does not apply to a CPU" in out
    assert size_of(picture) == (1100, 700)


def test_curves_of_a_gpu_one_does_not_have(tmp_path: Path) -> None:
    picture = tmp_path / "curves.png"
    code, out, error = gemmviz("occupancy", "tiled", "--on", "CC 9.0", "--registers", 36,
                               "--json", "--png", picture, "--scale", 2, DISPLAY="")  # fmt: skip
    assert code == 0, error
    curves = {curve["name"]: curve for curve in json.loads(out)["curves"]}
    assert curves["TS"]["present"] == 16
    assert [step["groups"] for step in curves["TS"]["steps"]] == [32, 24, 6, 1]
    assert "8 groups with at most 32" in curves["Registers of a work-item"]["next_step"]
    assert size_of(picture) == (2200, 1400)
    code, out, _ = gemmviz("occupancy", "tiled", "--on", "CC 9.0", "--registers", 36)
    assert code == 0
    assert "Registers of a work-item: Next step: 8 groups" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tiled", "--on", "CC 9.0", "--measure"), "takes a device"),
        (("tiled", "--on", "CC 9.0", "--throttle"), "takes a device"),
        (("tiled", "--device", "oclgrind", "--measure"), "simulator has no compute units"),
        (("tiled", "--on", "CC 9.0", "--png", "x.jpg"), "x.jpg does not end in .png"),
        (("blas", "--device", "portable", "--throttle"), "library"),
    ],
)
def test_what_cannot_be_measured_is_said(arguments: tuple[str, ...], words: str) -> None:
    code, out, error = gemmviz("occupancy", *arguments)
    assert code == 2
    assert words in error
    assert not out
