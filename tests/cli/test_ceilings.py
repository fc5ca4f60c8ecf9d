"""``gemmviz ceilings`` as a person runs it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device
from gemmviz.engine import ceiling_table
from gemmviz.engine.plan import Engine
from tests.cli.test_commands import gemmviz

FOUND = (
    Ceiling("global copy", "float", 1.25e10, "B/s", 0.5, "2 × 128 MiB, float16"),
    Ceiling("cache read", "float", 2e11, "B/s", 0.25, "192 KiB a core, float16"),
    Ceiling("fma", "float", 2.5e11, "FLOP/s", 0.75, "float8, 12 chains"),
)


@pytest.fixture(scope="module")
def pocl() -> Device:
    engine = Engine()
    try:
        listing: Listing = engine.list_devices()
    finally:
        engine.close()
    return next(d for p in listing.platforms if "Portable" in p.name for d in p.devices)


@pytest.fixture
def measured(pocl: Device) -> Device:
    """PoCL, as if it had been measured: what is kept need not be measured again."""
    table = CeilingTable(pocl.key, pocl.driver_version, FOUND, time.time())
    ceiling_table._keep(pocl, table)
    return pocl


def test_json_is_a_list_of_what_was_measured(measured: Device) -> None:
    code, out, errors = gemmviz("ceilings", "--device", "portable", "--json")
    assert code == 0, errors
    rows = json.loads(out)
    assert [row["name"] for row in rows] == ["global copy", "cache read", "fma"]
    for row, ceiling in zip(rows, FOUND, strict=True):
        assert row["device"] == measured.name
        for key in ("element", "value", "unit", "seconds"):
            assert row[key] == getattr(ceiling, key)
    assert "was measured before" in errors


def test_words_tell_the_ceilings_and_the_ridge(measured: Device) -> None:
    code, out, _ = gemmviz("ceilings", "--device", "portable")
    assert code == 0
    assert measured.name in out
    assert "global copy float" in out
    assert "12.5 GB/s" in out
    assert "float: arithmetic limits from 20 FLOP/B on" in out


def test_a_picture_is_drawn(measured: Device, tmp_path: Path) -> None:
    picture = tmp_path / "roofs.png"
    code, _, errors = gemmviz("ceilings", "--device", "portable", "--png", picture, "--scale", 2)
    assert code == 0, errors
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) == 2200
    code, _, errors = gemmviz("ceilings", "--device", "portable", "--png", tmp_path / "roofs.jpg")
    assert code == 2
    assert "does not end in .png" in errors


def test_simulators_and_unknown_devices_are_refused() -> None:
    code, out, errors = gemmviz("ceilings", "--device", "oclgrind", "--json")
    assert code == 2
    assert json.loads(out)["failure"]["kind"] == "refused"
    assert "is a simulator" in errors
    code, out, errors = gemmviz("ceilings", "--device", "nowhere")
    assert code == 2
    assert out == ""
    assert "No platform or device matches 'nowhere'" in errors
