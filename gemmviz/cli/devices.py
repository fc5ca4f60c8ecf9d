"""``gemmviz devices``: every platform and device with its limits."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gemmviz.cli.selection import say
from gemmviz.core.choice import NO_PLATFORM
from gemmviz.core.codec import to_json
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device
from gemmviz.core.units import memory, scaled
from gemmviz.engine.plan import Engine


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "devices",
        help="list platforms and devices",
        description="Exit code: 0 some device is listed, 2 there is none.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Prints the devices; 2 when there is none, or they could not be listed."""
    engine = Engine()
    try:
        listing = engine.list_devices()
    finally:
        engine.close()
    if arguments.json:
        devices = [device for platform in listing.platforms for device in platform.devices]
        print(json.dumps(to_json(devices), indent=2))
    else:
        _print(listing)
    if listing.problem:
        say(listing.problem)
        return 2
    if not any(platform.devices for platform in listing.platforms):
        say(f"{NO_PLATFORM}\nLooked in: {', '.join(listing.vendor_folders)}")
        return 2
    return 0


def _print(listing: Listing) -> None:
    for platform in listing.platforms:
        print(f"{platform.name} ({platform.version})")
        if platform.problem:
            print(f"  {platform.problem}")
        for device in platform.devices:
            print(f"  {device.name}")
            for label, text in _facts(device):
                print(f"    {label:<20}{text}")


def _facts(device: Device) -> list[tuple[str, str]]:
    def known(value: int | None, unit: str = "") -> str:
        return "-" if value is None else f"{value}{unit}"

    local = "-" if device.local_mem_bytes is None else memory(device.local_mem_bytes)
    if device.type == "CPU" and device.local_mem_type == "GLOBAL":
        local += " (cache: a CPU has no local memory of its own)"
    facts = [
        ("type", device.type),
        ("compute units", known(device.compute_units)),
        ("clock", "-" if device.clock_hz is None else " ".join(scaled(device.clock_hz, "Hz"))),
        ("local memory", f"{local}, type {device.local_mem_type or '-'}"),
        ("largest work-group", known(device.max_work_group_size)),
        ("element types", ", ".join(device.elements)),
        ("driver", device.driver_version or "-"),
    ]
    if device.unavailable:
        facts.append(("cannot run", device.unavailable))
    return facts
