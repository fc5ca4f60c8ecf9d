"""Libraries on the command line: beside kernels in runs and comparisons."""

import json

from tests.cli.test_commands import gemmviz, run_json


def test_a_library_against_a_kernel_is_one_comparison() -> None:
    code, out, errors = gemmviz(
        "compare", "tiled", "blas", "--device", "portable", "--size", 96, "--policy", "quick",
        "--json",
    )  # fmt: skip
    assert code == 0, errors
    found = json.loads(out)
    assert found["word"] in ("faster", "slower", "same", "undecided")
    assert found["ratio_low"] <= found["ratio"] <= found["ratio_high"]
    assert found["first"]["context"]["library"] is None
    assert found["other"]["context"]["library"]["name"] == "OpenBLAS"


def test_a_run_of_a_library_says_what_ran() -> None:
    code, report = run_json("blas", "--device", "portable", "--shape", "17,33,65", "--launches", 3)
    assert code == 0
    assert report["verdict"] == "verified"
    assert report["context"]["library"]["threads"] >= 1  # type: ignore[index]
    assert report["timer_trust"]["source"] == "host"  # type: ignore[index]
    code, out, _ = gemmviz("run", "blas", "--device", "portable", "--size", 20, "--launches", 1)
    assert code == 0
    assert "Ran OpenBLAS" in out


def test_what_a_library_needs_is_said_in_a_sentence() -> None:
    code, _, errors = gemmviz("occupancy", "blas", "--on", "CC 9.0")
    assert code == 2
    assert "is a library: its kernels have no source here" in errors
    code, out, _ = gemmviz("run", "cublas", "--device", "portable", "--size", 16)
    assert code == 2
    assert "cuBLAS runs on an NVIDIA device alone" in out
    code, out, _ = gemmviz("kernels", "--json")
    assert code == 0
    listed = {entry["id"]: entry for entry in json.loads(out)}
    assert listed["blas"]["why_not"] == listed["tiled"]["why_not"] == ""
    assert listed["cublas"]["why_not"] == "" or "to get it" in listed["cublas"]["why_not"]
