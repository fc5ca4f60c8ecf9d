"""The commands as a person runs them: exit codes, JSON keys, and a sentence for every mistake."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gemmviz.cli.parser import run_command
from gemmviz.cli.selection import SelectionError, find_device
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device, Platform
from tests.app.fake_engine import FakeEngine
from tests.engine.runs import RIGHT, own_kernel

RUN_KEYS = {
    "device", "kernel", "parameters", "m", "n", "k", "input_element", "output_element", "verdict",
    "median_seconds", "flops_per_second", "launches", "samples", "max_error", "failure",
}  # fmt: skip


def gemmviz(*arguments: object, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "gemmviz", *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=90,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def run_json(*arguments: object, **environment: str) -> tuple[int, dict[str, object]]:
    code, out, _ = gemmviz("run", *arguments, "--json", **environment)
    report = json.loads(out)
    assert report.keys() >= RUN_KEYS
    return code, report


def test_devices() -> None:
    code, out, _ = gemmviz("devices", "--json")
    assert code == 0
    devices = json.loads(out)
    assert len(devices) >= 2
    for device in devices:
        assert device.keys() >= {
            "platform", "platform_version", "name", "type", "driver_version", "compute_units",
            "local_mem_bytes", "local_mem_type", "max_work_group_size", "unavailable",
        }  # fmt: skip
        assert device["unavailable"] is None
    assert {"Portable Computing Language", "Intel(R) OpenCL"} <= {d["platform"] for d in devices}
    code, out, _ = gemmviz("devices")
    assert code == 0
    assert "Portable Computing Language" in out
    assert "KiB" in out or "MiB" in out


@pytest.mark.parametrize("platforms", [(), (Platform("P", "", "", ()),)])
def test_no_device_is_an_error(
    platforms: tuple[Platform, ...], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    listing = Listing(1, platforms)
    monkeypatch.setattr("gemmviz.cli.devices.Engine", lambda: FakeEngine(listing))
    assert run_command(["devices"]) == 2
    assert "Looked in" in capsys.readouterr().err


def test_kernels() -> None:
    code, out, _ = gemmviz("kernels", "--json")
    assert code == 0
    listed = {entry["id"]: entry for entry in json.loads(out)}
    assert listed["tiling_tiled"]["expect"] == "wrong"
    assert listed["barriers_padded"]["parameters"][1]["default"] == 1
    code, out, _ = gemmviz("kernels")
    assert code == 0
    assert "wrong as published" in out
    assert "only where M = N = K" in out


def test_a_verified_run() -> None:
    code, report = run_json("tradeoffs_tiled", "--size", 96, "--launches", 7, "--seed", 5)
    assert code == 0
    assert report["verdict"] == "verified"
    assert report["failure"] is None
    assert "pthread" in str(report["device"]) or "cpu" in str(report["device"])
    assert report["parameters"] == {"TS": 16, "PAD": 0}
    assert (report["m"], report["n"], report["k"], report["seed"]) == (96, 96, 96, 5)
    samples = report["samples"]
    assert isinstance(samples, list)
    assert len(samples) == report["launches"] == 7
    median = sorted(sample["seconds"] for sample in samples)[3]
    assert report["median_seconds"] == median
    assert report["flops_per_second"] == pytest.approx(2 * 96**3 / median)


def test_a_wrong_run_names_the_fault() -> None:
    code, out, _ = gemmviz("run", "tiling_tiled", "--size", 64, "--launches", 2)
    assert code == 1
    assert "Wrong: " in out
    assert "diagonal" in out
    assert "not valid" in out
    code, report = run_json("tiling_tiled", "--size", 64, "--launches", 2)
    assert (code, report["verdict"]) == (1, "wrong")
    assert report["failure"]["kind"] == "wrong"  # type: ignore[index]


def test_unchecked_comes_only_when_asked_for() -> None:
    code, report = run_json("tiling_tiled", "--size", 64, "--launches", 2, "--no-check")
    assert (code, report["verdict"], report["failure"]) == (0, "unchecked", None)


def test_shape_element_and_device() -> None:
    code, report = run_json("work_1d", "--shape", "33,50,20", "--element", "double",
                            "--device", "INTEL", "--launches", 3)  # fmt: skip
    assert code == 0
    assert report["platform"] == "Intel(R) OpenCL"
    assert (report["m"], report["n"], report["k"]) == (33, 50, 20)
    assert report["input_element"] == report["output_element"] == "double"


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (["nosuch"], "not_found", "no kernel nosuch"),
        (["tiled", "-p", "TS=5"], "refused", "not among the values"),
        (["tiled", "-p", "TS"], "refused", "NAME=INTEGER"),
        (["tiled", "-p", "Q=1"], "refused", "no parameter Q"),
        (["tiled", "--device", "nosuch"], "not_found", "matches 'nosuch'"),
        (["tiled", "--size", "100000"], "refused", "largest single buffer"),
        (["tiled", "--element", "half"], "refused", "does not compute in half"),
        (["tradeoffs_tiled", "--shape", "16,16,32"], "refused", "square"),
        (["tiled", "--build-options", "-DM=7"], "build", "compiler rejected"),
        (["./nowhere.toml"], "refused", "cannot be read"),
        (["/dev/zero"], "refused", "cannot be read"),
        (["tield"], "not_found", "did you mean tiled?"),
        (["kernels/tiled.cl"], "refused", "name the .toml"),
        (["tiled", "--png", "picture.jpg"], "refused", ".png"),
        (["tiled", "--png", "/nonexistent/run.png"], "refused", "no folder /nonexistent"),
        (["tiled", "--device", " "], "not_found", "part of a name"),
    ],
)
def test_what_cannot_run_ends_with_2_and_a_sentence(
    arguments: list[str], kind: str, words: str
) -> None:
    code, report = run_json(*arguments, "--launches", 1)
    assert code == 2
    assert report["verdict"] is None
    failure = report["failure"]
    assert isinstance(failure, dict)
    assert failure["kind"] == kind
    assert words in failure["sentence"]
    code, out, error = gemmviz("run", *arguments, "--launches", 1)
    assert code == 2
    assert words in out + error
    assert "Traceback" not in error


def test_a_kernel_of_ones_own_runs_from_any_folder(tmp_path: Path) -> None:
    own_kernel(tmp_path, RIGHT)
    code, report = run_json(tmp_path / "own.toml", "--shape", "5,6,7", "--launches", 2)
    assert (code, report["verdict"], report["kernel"]) == (0, "verified", "own")
    (tmp_path / "own.cl").unlink()
    code, report = run_json(tmp_path / "own.toml")
    assert code == 2
    assert "own.cl cannot be read" in report["failure"]["sentence"]  # type: ignore[index]


@pytest.mark.parametrize("moment", ["measure", "check"])
def test_an_interrupt_stops_and_still_reports(tmp_path: Path, moment: str) -> None:
    endless = "volatile __global real *c = C; while (c[0] != 12345) c[0] += 1;"
    own_kernel(tmp_path, RIGHT if moment == "measure" else endless)
    process = subprocess.Popen(
        [sys.executable, "-m", "gemmviz", "run", str(tmp_path / "own.toml"), "--size", "4",
         "--launches", "2000000000", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if moment in line:
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=20)
    report = json.loads(out)
    assert report["stopped"] is True
    assert "Traceback" not in error
    if moment == "measure":
        assert (process.returncode, report["verdict"]) == (0, "verified")
        assert report["launches"] > 0
    else:
        assert (process.returncode, report["verdict"]) == (2, None)


def test_closed_pipes_end_quietly() -> None:
    command = f"{sys.executable} -m gemmviz run tiled --size 32 --json"
    for closed in ("2>&-", "| head -c 1", "2>&1 | head -n 1"):
        done = subprocess.run(
            f"{command} {closed}", shell=True, capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr


def test_an_endless_kernel_is_ended_by_its_limit(tmp_path: Path) -> None:
    own_kernel(tmp_path, "volatile __global real *c = C; while (c[0] != 12345) c[0] += 1;")
    code, report = run_json(tmp_path / "own.toml", "--size", 4, "--launch-limit", 1.5)
    assert code == 2
    assert report["failure"]["kind"] == "hang"  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["run"], "KERNEL"), (["run", "tiled", "--size", "0"], "--size"),
     (["run", "tiled", "--shape", "1,2"], "M,N,K"), (["run", "tiled", "--scale", "9"], "--scale"),
     (["run", "tiled", "--launch-limit", "nan"], "--launch-limit"),
     (["ladder", "--frob"], "gemmviz ladder: error: unrecognized arguments: --frob")],
)  # fmt: skip
def test_wrong_words_end_with_2(arguments: list[str], words: str) -> None:
    code, _, error = gemmviz(*arguments)
    assert code == 2
    assert words in error


def test_occupancy_on_a_gpu_one_does_not_have() -> None:
    code, out, _ = gemmviz("occupancy", "tiled", "-p", "TS=32", "--on", "CC 9.0", "--registers", 36,
                           "--json")  # fmt: skip
    assert code == 0
    report = json.loads(out)
    assert (report["groups_per_unit"], report["occupancy"]) == (1, 0.5)
    assert report["limiters"] == ["registers"]
    assert report.keys() >= {"work_items", "limits", "local_bytes", "confidence"}
    assert report["limits"]["registers"] == 1
    code, out, _ = gemmviz("occupancy", "tiled", "--on", "DG2")
    assert code == 0
    assert "%" in out
    code, out, error = gemmviz("occupancy", "tiled", "--on", "Voodoo 2")
    assert code == 2
    assert "Voodoo 2" in error


def test_occupancy_on_a_cpu_does_not_apply() -> None:
    code, out, _ = gemmviz("occupancy", "tiled", "--device", "portable", "--json")
    assert code == 0
    assert json.loads(out)["confidence"] == "not applicable"


def test_a_picture_without_a_display(tmp_path: Path) -> None:
    picture = tmp_path / "run.png"
    code, _, error = gemmviz("run", "tiled", "--size", 64, "--png", picture, "--scale", 3,
                             "--theme", "dark", DISPLAY="", QT_QPA_PLATFORM="")  # fmt: skip
    assert code == 0, error
    assert f"Saved {picture}" in error
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) == (3600, 2400)
    code, _, error = gemmviz("run", "tiled", "--size", 64, "--png", "/nonexistent/run.png")
    assert code == 2
    assert "/nonexistent/run.png" in error


def test_one_launch_claims_no_interval() -> None:
    code, out, _ = gemmviz("run", "tiled", "--size", 32, "--launches", 1)
    assert code == 0
    assert "one launch of" in out
    assert "%" not in out
    code, out, _ = gemmviz("run", "tiled", "--size", 32, "--launches", 5, "--per-launch")
    assert "range" in out
    code, out, _ = gemmviz("run", "tiled", "--size", 32, "--launches", 6, "--per-launch")
    assert "95 % interval" in out


def test_without_a_display_the_window_says_so() -> None:
    code, _, error = gemmviz(DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert code == 2
    assert "no display" in error
    assert len(error.strip().splitlines()) == 1
    code, _, error = gemmviz(DISPLAY=":987", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="xcb")
    assert code == 2
    assert "no display" in error


def _listing(*devices: Device) -> Listing:
    return Listing(1, tuple(Platform(d.platform, d.platform_version, "", (d,)) for d in devices))


_POCL_30 = Device("Portable Computing Language", "OpenCL 3.0 PoCL 3.0-rc2", "pthread-Intel", "CPU")
_POCL_31 = Device("Portable Computing Language", "OpenCL 3.0 PoCL 3.1+debian", "pthread-x", "CPU")
_INTEL = Device("Intel(R) OpenCL", "OpenCL 3.0", "Core i7", "CPU")
_SIMULATOR = Device("Oclgrind", "OpenCL 1.2", "Oclgrind Simulator", "simulator")
_GPU = Device("NVIDIA CUDA", "OpenCL 3.0 CUDA 12.8", "H200", "GPU")


@pytest.mark.parametrize(
    ("devices", "text", "expected"),
    [
        ((_INTEL, _POCL_30, _GPU), None, _GPU),
        ((_SIMULATOR, _INTEL, _POCL_30), None, _POCL_30),
        ((_SIMULATOR, _INTEL), None, _INTEL),
        ((_POCL_30, _POCL_31), None, _POCL_31),
        ((_POCL_30, _POCL_31), "pocl", _POCL_31),
        ((_POCL_31, _POCL_30), "3.0-RC2", _POCL_30),
        # A platform goes before a device's name, even where both hold the text.
        ((_POCL_30, _INTEL), "intel", _INTEL),
        ((_POCL_30, _GPU), "pthread", _POCL_30),
        ((_SIMULATOR, _INTEL), "oclgrind", _SIMULATOR),
    ],
)
def test_which_device_a_text_names(
    devices: tuple[Device, ...], text: str | None, expected: Device,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert find_device(_listing(*devices), text) == expected
    assert ("2 devices match" in capsys.readouterr().err) is (text == "pocl")


def test_a_simulator_is_never_the_default() -> None:
    with pytest.raises(SelectionError, match="only simulators"):
        find_device(_listing(_SIMULATOR), None)
    with pytest.raises(SelectionError, match="pocl-binary-distribution"):
        find_device(Listing(1, ()), None)
