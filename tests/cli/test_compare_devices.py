"""``gemmviz compare --devices`` on three real devices."""

import json
from pathlib import Path

import pytest

from gemmviz.core.store import ResultStore
from tests.cli.test_commands import gemmviz

PNG = b"\x89PNG\r\n\x1a\n"


def test_three_devices_side_by_side(tmp_path: Path) -> None:
    picture, file = tmp_path / "devices.png", tmp_path / "results.gemmviz"
    code, out, errors = gemmviz(
        "compare", "--devices", "all", "tiled:TS=8", "--sizes", "48,16", "--launches", 12,
        "--png", picture, "--results", file, "--json",
    )  # fmt: skip
    assert code == 0, errors
    found = json.loads(out)
    assert found["sizes"] == [16, 48]
    assert (found["kernel"], found["whole"]) == ("Tiled in local memory", True)
    kinds = {device["label"]: device["type"] for device in found["devices"]}
    assert sorted(kinds.values()) == ["CPU", "CPU", "simulator"]
    assert len(found["figures"]) == 6
    for figure in found["figures"]:
        assert figure["parameters"] == {"TS": 8}
        simulated = kinds[figure["device"]] == "simulator"
        assert (figure["values"]["time"] is None) is simulated
        assert figure["seconds"] > 0
    assert [(duel["size"], duel["in_turns"]) for duel in found["duels"]] == [(16, True), (48, True)]
    assert set(found["fastest"]) == {"16", "48"}
    assert found["sentences"]
    assert picture.read_bytes().startswith(PNG)
    store = ResultStore.open(file, read_only=True)
    kept = [result for _, result in store.results()]
    store.close()
    assert {result.job.problem.m for result in kept} == {16, 48}
    assert len(kept) == 10  # two kernels and two libraries in turns, and the simulator's run


def test_the_table_gives_every_unit_and_the_reasons() -> None:
    code, out, errors = gemmviz(
        "compare", "--devices", "portable,oclgrind", "tiled", "--sizes", 80, "--launches", 5,
    )  # fmt: skip
    assert code == 0, errors
    head, names, first, second, *said = out.splitlines()
    assert head == "Tiled in local memory, float"
    assert names.split()[:3] == ["size", "device", "GFLOP/s"]
    assert "PoCL" in first
    assert "tiled TS=16" in first
    assert second.endswith("simulators are asked only up to 64")
    assert said[0].startswith("80: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--devices", "all", "tiled", "naive_strided"], "takes one kernel"),
        (["--devices", "nowhere"], "No platform or device matches 'nowhere'"),
        (["--devices", ","], "takes all, or parts of names"),
        (["--devices", "all", "nothing"], "There is no kernel nothing"),
        (["--devices", "all", "--png", "x.jpg"], "does not end in .png"),
        (["--devices", "all", "--no-check"], "--no-check does not go with --devices"),
        (["tiled", "naive_strided", "--sizes", "16"], "belong to --devices"),
    ],
)
def test_what_cannot_be_compared(words: list[str], sentence: str) -> None:
    code, out, _ = gemmviz("compare", *words, "--json")
    assert code == 2
    assert sentence in json.loads(out)["failure"]["sentence"]
