"""``gemmviz advise``: findings as JSON and words, with and without a device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gemmviz.cli.parser import run_command


def _findings(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert run_command(["advise", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    assert isinstance(found, list)
    return found


def test_a_run_on_pocl_leads_to_blocking(capsys: pytest.CaptureFixture[str]) -> None:
    findings = _findings(capsys, "naive_strided", "--size", "128", "--device", "portable",
                         "--launches", "2")  # fmt: skip
    first = findings[0]
    assert {"rule", "evidence", "source", "kernel", "parameters", "gain_low", "gain_high"} <= set(
        first
    )
    assert str(first["rule"]).startswith("intensity")
    assert not any(found["rule"] == "access.coalescing" for found in findings)


def test_a_gpu_that_is_not_here_needs_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    findings = _findings(capsys, "naive_strided", "--size", "1024", "--on", "CC 9.0")
    coalescing = next(found for found in findings if found["rule"] == "access.coalescing")
    assert coalescing["kernel"] == "naive_coalesced"
    assert coalescing["parameters"] == {"TS": 16}


def test_a_wrong_kernel_is_told_first(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "tiling_tiled", "--size", "64", "--device", "portable", "--launches", "1"]
    assert run_command(words) == 0
    text = capsys.readouterr().out
    assert "1. The result is wrong" in text
    assert "mended" in text


def test_a_picture_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "advice.png"
    assert run_command(["advise", "tiled", "--on", "gfx1030", "--png", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "words", [["nosuch"], ["tiled", "--on", "CC 1.0"], ["tiled", "-p", "TS=7"]]
)
def test_what_is_unknown_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["advise", *words, "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["findings"] == []
    assert report["failure"]["sentence"]


def test_a_library_is_told_to_have_no_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["advise", "blas", "--on", "CC 9.0"]) == 2
    said = capsys.readouterr().err
    assert run_command(["check", "blas"]) == 2
    assert said.strip() in capsys.readouterr().err
    assert "is a library: its kernels have no source" in said
