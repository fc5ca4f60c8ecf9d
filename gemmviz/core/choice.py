"""Which of several devices is meant: by a person's text, or by default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gemmviz.core.model import Device

NO_PLATFORM = (
    "No OpenCL platform was found. On Linux x86-64, `pip install pocl-binary-distribution` gives "
    "a CPU device; on Debian or Ubuntu, `apt install pocl-opencl-icd`; a GPU needs its vendor's "
    "driver."
)


def default_device(devices: Sequence[Device]) -> Device | None:
    """The first GPU, else PoCL, else any CPU; one that can run before one that cannot.

    Never a simulator: None where there is nothing else.
    """
    real = [device for device in devices if device.type != "simulator"]
    usable = [device for device in real if device.unavailable is None] or real
    gpus = [device for device in usable if device.type == "GPU"]
    pocl = [device for device in usable if "portable computing language" in device.platform.lower()]
    cpus = [device for device in usable if device.type == "CPU"]
    return gpus[0] if gpus else newest(pocl or cpus or usable)


def matching_devices(devices: Sequence[Device], text: str) -> list[Device]:
    """The devices whose platform's name and version hold ``text``, else those whose name does."""
    wanted = text.lower()
    found = [d for d in devices if wanted in f"{d.platform} {d.platform_version}".lower()]
    return found or [device for device in devices if wanted in device.name.lower()]


def measurable(devices: Iterable[Device]) -> tuple[Device, ...]:
    """The devices whose ceilings can be measured: those that work, but no simulators."""
    return tuple(
        device for device in devices if device.type != "simulator" and device.unavailable is None
    )


def newest(devices: Sequence[Device]) -> Device | None:
    """The one with the highest platform version; the first of equal ones; None of none."""
    return max(devices, key=_version, default=None)


def _version(device: Device) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", device.platform_version))


def quiet_by_default(device: Device) -> bool:
    """Whether drawing is held back while ``device`` is timed: on every GPU.

    A busy screen took 10 to 15 % of a benchmark's score on the GPU that drew it (clpeak).
    """
    return device.type == "GPU"
