"""Listing devices: what drivers say, what they refuse, and odd sets of drivers."""

import os
from pathlib import Path

import pytest

from gemmviz.core.codec import from_json, to_json
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device
from gemmviz.engine import environment
from gemmviz.engine.environment import prepare_environment, vendor_folders
from gemmviz.engine.plan import Engine
from gemmviz.engine.queries import (
    clean,
    device_type,
    property_of,
    unavailable_reason,
    wanted,
)


def _listed(**variables: str) -> Listing:
    old = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    engine = Engine()
    try:
        return engine.list_devices()
    finally:
        engine.close()
        for name, value in old.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def test_real_devices(pocl: Device, intel: Device) -> None:
    for device in (pocl, intel):
        assert device.type == "CPU"
        assert device.unavailable is None
        assert device.local_mem_type == "GLOBAL"
        assert device.compute_units is not None
        assert device.compute_units >= 1
        assert {"float", "double"} <= set(device.elements)
        assert device.hardware == pocl.hardware, "two runtimes on one processor take turns"
    assert intel.clock_hz is None, "a clock of 0 MHz is no clock"
    by_name = {prop.name: prop for prop in pocl.properties}
    assert by_name["LOCAL_MEM_SIZE"].unit == "bytes"
    assert by_name["LOCAL_MEM_SIZE"].value == pocl.local_mem_bytes
    refused = [prop for prop in intel.properties if prop.value is None]
    assert refused
    assert all("refuses" in prop.reason for prop in refused)


def test_a_listing_survives_the_codec(listing: Listing) -> None:
    assert from_json(Listing, to_json(listing)) == listing


def test_no_platform_is_an_empty_list_without_a_problem() -> None:
    listing = _listed(OCL_ICD_VENDORS="/nonexistent")
    assert (listing.platforms, listing.problem) == ((), "")
    assert "/nonexistent" in listing.vendor_folders


def test_a_platform_without_devices_says_so() -> None:
    listing = _listed(POCL_DEVICES="nosuch")
    pocl = next(p for p in listing.platforms if "Portable" in p.name)
    assert (pocl.devices, pocl.problem) == ((), "it has no devices")


def test_two_devices_of_one_name_have_keys_of_their_own() -> None:
    listing = _listed(POCL_DEVICES="pthread pthread")
    pocl = next(p for p in listing.platforms if "Portable" in p.name)
    assert len({device.key for device in pocl.devices}) == 2
    assert len({device.name for device in pocl.devices}) == 1


def test_a_small_group_limit_is_seen() -> None:
    listing = _listed(POCL_MAX_WORK_GROUP_SIZE="64")
    pocl = next(p for p in listing.platforms if "Portable" in p.name)
    assert pocl.devices[0].max_work_group_size == 64


@pytest.mark.parametrize(
    ("name", "raw", "value", "unit"),
    [
        ("LOCAL_MEM_SIZE", 49152, 49152, "bytes"),
        ("MAX_CLOCK_FREQUENCY", 1980, 1_980_000_000, "Hz"),
        ("PROFILING_TIMER_RESOLUTION", 1000, 1e-6, "s"),
        ("LOCAL_MEM_TYPE", 1, "LOCAL", ""),
        ("TYPE", 15, "DEFAULT | CPU | GPU | ACCELERATOR", ""),
        ("AVAILABLE", 1, "yes", ""),
        ("IMAGE_SUPPORT", False, "no", ""),
        ("NUMERIC_VERSION", (3 << 22) | (1 << 12) | 7, "3.1.7", ""),
        ("MAX_WORK_ITEM_SIZES", [1024, 1024, 64], "1024 x 1024 x 64", ""),
        ("NAME", "GeForce\0  RTX \0", "GeForce RTX", ""),
        ("BOARD_NAME_AMD", b"Radeon\0", "Radeon", ""),
        ("SINGLE_FP_CONFIG", 0, "none", ""),
    ],
)
def test_answers_in_si_units_or_words(name: str, raw: object, value: object, unit: str) -> None:
    found = property_of(name, raw)
    assert found.value == (pytest.approx(value) if isinstance(value, float) else value)
    assert found.unit == unit


def test_which_queries_a_device_is_asked() -> None:
    assert wanted("LOCAL_MEM_SIZE", "Intel")
    assert wanted("WARP_SIZE_NV", "NVIDIA Corporation")
    assert not wanted("WARP_SIZE_NV", "Advanced Micro Devices, Inc.")
    assert not wanted("PLATFORM", "Intel")


def test_types_and_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    assert device_type(15, "Oclgrind") == "simulator"
    assert device_type(4, "NVIDIA CUDA") == "GPU"
    assert device_type(2 | 1, "Intel") == "CPU"
    assert device_type(8, "x") == "accelerator"
    assert unavailable_reason("x", available=True, compiler=True) is None
    assert "not available" in str(unavailable_reason("x", available=False, compiler=True))
    assert "no compiler" in str(unavailable_reason("x", available=True, compiler=False))
    monkeypatch.setenv("PATH", "/nonexistent")
    pocl = "Portable Computing Language"
    assert "ld" in str(unavailable_reason(pocl, available=True, compiler=True))
    assert clean(" a\0b  c ") == "a b c"


def test_the_environment_keeps_a_persons_own_settings() -> None:
    own = {"POCL_AFFINITY": "0", "POCL_CACHE_DIR": "/mine", "OCL_ICD_VENDORS": "/drivers"}
    prepared = dict(own)
    prepare_environment(prepared)
    assert prepared.items() >= own.items()
    assert vendor_folders(prepared)[0] == "/drivers"


def test_a_folder_that_cannot_be_made_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "cache_dir", lambda: tmp_path)
    (tmp_path / "pocl").write_text("a file where a folder belongs")
    (tmp_path / "drivers").write_text("and another")
    prepared: dict[str, str] = {}
    prepare_environment(prepared)
    assert Path(prepared["POCL_CACHE_DIR"]).is_dir()
    driver = tmp_path / "one.icd"
    driver.write_text("libone.so")
    prepared |= environment.only_drivers([str(driver)])
    environment.confine_loader(prepared)
    (icd,) = Path(prepared["OCL_ICD_VENDORS"]).iterdir()
    assert icd.read_text() == "libone.so"


def test_intels_runtime_joins_the_systems_drivers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "vendors"
    system.mkdir()
    (system / "other.icd").write_text("libother.so\n")
    monkeypatch.setattr(environment, "_SYSTEM_VENDORS", system)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    prepared: dict[str, str] = {}
    prepare_environment(prepared)
    folder = Path(prepared["OCL_ICD_VENDORS"])
    texts = {path.name: path.read_text().strip() for path in folder.glob("*.icd")}
    assert texts.pop("other.icd") == "libother.so"
    (library,) = texts.values()
    assert Path(library).exists()
    (system / "other.icd").unlink()
    prepare_environment({})
    assert not (folder / "other.icd").exists()
