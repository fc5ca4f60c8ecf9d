"""What platforms and devices are called where a person reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gemmviz.core.model import Device, Platform

_SHORT = {
    "Portable Computing Language": "PoCL",
    "Intel(R) OpenCL": "Intel",
    "Intel(R) OpenCL Graphics": "Intel GPU",
    "NVIDIA CUDA": "CUDA",
    "AMD Accelerated Parallel Processing": "AMD",
}


def platform_label(name: str, version: str) -> str:
    """A platform's usual name, with its own version where it states one: "PoCL 3.0"."""
    own = version.removeprefix("OpenCL ").partition(" ")[2]
    number = re.search(r"\d+\.\d[\w.-]*", own)
    return f"{_SHORT.get(name, name)} {number[0] if number else ''}".strip()


def device_label(device: Device) -> str:
    """A device with its platform: two drivers often give one piece of hardware the same name."""
    return f"{device.name} · {platform_label(device.platform, device.platform_version)}"


def count_devices(platforms: Sequence[Platform]) -> str:
    """How many devices on how many platforms: "2 devices on 1 platform"."""
    count = sum(len(platform.devices) for platform in platforms)
    devices = f"{count} device{'s' * (count != 1)}"
    return f"{devices} on {len(platforms)} platform{'s' * (len(platforms) != 1)}"
