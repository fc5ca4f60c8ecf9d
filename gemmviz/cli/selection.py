"""Finds the kernel and the device that a command names."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gemmviz.core.catalog import CatalogError, load_catalog, load_variant
from gemmviz.core.launch import merge_parameters
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device, Failure, Parameters, Variant
from gemmviz.core.paths import data_dir

NO_PLATFORM = (
    "No OpenCL platform was found. On Linux x86-64, `pip install pocl-binary-distribution` gives "
    "a CPU device; on Debian or Ubuntu, `apt install pocl-opencl-icd`; a GPU needs its vendor's "
    "driver."
)


class SelectionError(Exception):
    """What was asked for is not to be had; holds the Failure that says so."""

    def __init__(self, sentence: str, kind: str = "not_found") -> None:
        super().__init__(sentence)
        self.failure = Failure(kind, sentence)


def find_variant(name: str) -> Variant:
    """A kernel by its id, or by the path of a ``.toml`` with its ``.cl`` beside it.

    Raises:
        SelectionError: There is none, or its files are wrong.
    """
    if name.endswith(".toml") or "/" in name:
        try:
            return load_variant(Path(name))
        except CatalogError as error:
            raise SelectionError(f"{error}.", "refused") from error
    catalog = load_catalog(data_dir("kernels"))
    try:
        return catalog.find(name)
    except KeyError:
        broken = next((p for p in catalog.problems if p.file == f"{name}.toml"), None)
        if broken is not None:
            raise SelectionError(f"{broken}.", "refused") from broken
        raise SelectionError(
            f"There is no kernel {name}; `gemmviz kernels` lists them, and the path of a .toml "
            "names your own."
        ) from None


def find_parameters(variant: Variant, words: Sequence[str]) -> Parameters:
    """The parameters of ``-p NAME=VALUE`` words, defaults elsewhere.

    Raises:
        SelectionError: A word is no assignment, or the variant has no such parameter or value.
    """
    chosen: dict[str, int] = {}
    for word in words:
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(-?\d{1,18})\s*", word)
        if match is None:
            raise SelectionError(f"-p {word} is not NAME=INTEGER.", "refused")
        chosen[match[1]] = int(match[2])
    try:
        return merge_parameters(variant, chosen)
    except ValueError as error:
        raise SelectionError(f"{error}.", "refused") from error


def find_device(listing: Listing, text: str | None) -> Device:
    """The device that ``--device TEXT`` names, or the default one.

    ``text`` is matched without case against platform names and versions, and against device names
    only where no platform matches; the newest version of several is taken and said on stderr.
    Without it: the first GPU, else PoCL, else any CPU, never a simulator.

    Raises:
        SelectionError: There is no platform, or nothing matches.
    """
    devices = [device for platform in listing.platforms for device in platform.devices]
    if not devices:
        raise SelectionError(listing.problem or NO_PLATFORM)
    if text is None:
        return _default_device(devices)
    wanted = text.lower()
    matches = [d for d in devices if wanted in f"{d.platform} {d.platform_version}".lower()]
    matches = matches or [d for d in devices if wanted in d.name.lower()]
    if not matches:
        names = "; ".join(f"{d.platform}: {d.name}" for d in devices)
        raise SelectionError(f"No platform or device matches {text!r}; there are: {names}.")
    best = max(matches, key=_version)
    if len(matches) > 1:
        print(
            f"{len(matches)} devices match {text!r}; taking {best.name} on {best.platform} "
            f"({best.platform_version}).",
            file=sys.stderr,
        )
    return best


def _default_device(devices: Sequence[Device]) -> Device:
    real = [device for device in devices if device.type != "simulator"]
    usable = [device for device in real if device.unavailable is None] or real
    if not usable:
        names = ", ".join(device.name for device in devices)
        raise SelectionError(f"There are only simulators ({names}); choose one with --device.")
    gpus = [device for device in usable if device.type == "GPU"]
    pocl = [device for device in usable if "portable computing language" in device.platform.lower()]
    cpus = [device for device in usable if device.type == "CPU"]
    if gpus:
        return gpus[0]
    return max(pocl or cpus or usable, key=_version)


def _version(device: Device) -> tuple[int, ...]:
    """The numbers of a platform's version; the first of equal ones wins in ``max``."""
    return tuple(int(number) for number in re.findall(r"\d+", device.platform_version))
