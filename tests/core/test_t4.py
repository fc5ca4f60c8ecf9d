"""Results in the format of the auto-tuning community."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from gemmviz.core.model import Check, Failure, Problem, Samples
from gemmviz.core.t4 import INVALIDITIES, to_t4
from tests.app.fake_engine import INTEL
from tests.core.store.saved import saved


def keeps_to_t4(document: object) -> None:
    """Check what the results schema 1.0.0 asks for, word by word."""
    data = json.loads(json.dumps(document, allow_nan=False))
    assert re.fullmatch(r"\d+\.\d+\.\d+", data["schema_version"])
    for entry in data["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= entry.keys()
        assert isinstance(entry["timestamp"], str)
        assert isinstance(entry["configuration"], dict)
        assert isinstance(entry["objectives"], list)
        for name in ("compilation_time", "framework", "search_algorithm", "validation"):
            assert isinstance(entry["times"].get(name, 0), int | float)
        assert all(isinstance(value, float) for value in entry["times"]["runtimes"])
        assert entry["invalidity"] in INVALIDITIES
        assert type(entry["correctness"]) in (int, float)
        for measurement in entry["measurements"]:
            assert measurement.keys() == {"name", "value", "unit"}
            assert isinstance(measurement["value"], int | float | str | list)


def measurements(entry: dict[str, object]) -> dict[str, object]:
    return {each["name"]: each["value"] for each in entry["measurements"]}


def test_one_kernel_is_told_by_its_parameters() -> None:
    first = saved(seconds=2e-3)
    second = saved(seconds=1e-3, job=replace(first.job, parameters=(("TS", 32),)))
    document = to_t4([first, second])
    keeps_to_t4(document)
    one, other = document["results"]
    assert one["configuration"] == {"TS": 16}
    assert other["configuration"] == {"TS": 32}
    assert one["objectives"] == ["time"]
    assert measurements(one)["time"] == pytest.approx(2.0, rel=1e-3)
    assert measurements(one)["kernel"] == "tiled"
    assert measurements(one)["m"] == 64
    assert one["times"]["runtimes"] == pytest.approx([2.0] * 12, rel=1e-3)
    assert one["correctness"] == 1.0


def test_the_build_is_told_where_it_is_known() -> None:
    document = to_t4([saved(build_seconds=0.25), saved()])
    keeps_to_t4(document)
    known, unknown = (entry["times"] for entry in document["results"])
    assert known["compilation_time"] == 250.0
    assert "compilation_time" not in unknown


def test_what_results_differ_in_is_part_of_their_configurations() -> None:
    first = saved(64)
    variant = replace(first.job.variant, id="naive")
    second = saved(128, job=replace(first.job, variant=variant, problem=Problem(128, 64, 64)))
    third = saved(64, device=INTEL)
    document = to_t4([first, second, third])
    keeps_to_t4(document)
    names = ("kernel", "device", "platform", "m")
    assert [{name: each["configuration"][name] for name in names} for each in document["results"]]
    assert document["results"][1]["configuration"]["kernel"] == "naive"
    assert document["results"][1]["configuration"]["m"] == 128
    assert "n" not in document["results"][1]["configuration"]


WRONG = Check("wrong", 64, 64, 64, cells_wrong=1024)


@pytest.mark.parametrize(
    ("fields", "invalidity", "correctness"),
    [
        ({}, "correct", 1.0),
        ({"check": None}, "correct", 0.0),
        ({"check": WRONG, "failure": Failure("wrong", "Wrong.")}, "correctness", 0.75),
        ({"samples": Samples(), "check": None, "stopped": True}, "runtime", 0.0),
        ({"failure": Failure("build", "No.")}, "compile", 1.0),
        ({"failure": Failure("hang", "No.")}, "timeout", 1.0),
        ({"failure": Failure("refused", "No.")}, "constraints", 1.0),
        ({"failure": Failure("crash", "No.")}, "runtime", 1.0),
        ({"failure": Failure("out_of_memory", "No.")}, "runtime", 1.0),
    ],
)
def test_what_came_of_it_has_its_word(fields, invalidity, correctness) -> None:
    document = to_t4([saved(**fields)])
    keeps_to_t4(document)
    (entry,) = document["results"]
    assert entry["invalidity"] == invalidity
    assert entry["correctness"] == correctness


def test_a_wrong_answer_is_never_wholly_correct() -> None:
    strays = Check("wrong", 64, 64, 64, overrun=3)
    assert to_t4([saved(check=strays)])["results"][0]["correctness"] < 1.0


def test_no_result_and_no_sample_are_documents_too() -> None:
    keeps_to_t4(to_t4([]))
    document = to_t4([saved(samples=Samples(), check=None, failure=Failure("build", "No."))])
    keeps_to_t4(document)
    assert "time" not in measurements(document["results"][0])
