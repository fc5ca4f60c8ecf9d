"""Finds the kernel and the device that a command names."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from gemmviz.core.catalog import CatalogError, load_catalog, load_own
from gemmviz.core.choice import NO_PLATFORM, default_device, matching_devices, newest
from gemmviz.core.launch import merge_parameters
from gemmviz.core.messages import Listing
from gemmviz.core.model import Device, Failure, Parameters, Variant
from gemmviz.core.paths import data_dir


def say(text: str, end: str = "\n") -> None:
    """Writes to stderr; a stderr that is closed or full ends no run."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text + end)
        sys.stderr.flush()


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
    if name.endswith(".cl"):
        raise SelectionError(f"{name} is the kernel's source: name the .toml beside it.", "refused")
    if name.endswith(".toml") or "/" in name:
        try:
            return load_own(Path(name))
        except CatalogError as error:
            raise SelectionError(f"{error}.", "refused") from error
    catalog = load_catalog(data_dir("kernels"))
    try:
        return catalog.find(name)
    except KeyError as missing:
        broken = next((p for p in catalog.problems if p.file == f"{name}.toml"), None)
        if broken is not None:
            raise SelectionError(f"{broken}.", "refused") from broken
        hint = missing.args[0] or "."
        raise SelectionError(
            f"There is no kernel {name}{hint} `gemmviz kernels` lists them, and the path of a "
            ".toml names your own."
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
        SelectionError: There is no platform, or nothing matches, or ``text`` is blank.
    """
    devices = [device for platform in listing.platforms for device in platform.devices]
    if not devices:
        raise SelectionError(listing.problem or NO_PLATFORM)
    if text is None:
        chosen = default_device(devices)
        if chosen is None:
            names = ", ".join(device.name for device in devices)
            raise SelectionError(f"There are only simulators ({names}); choose one with --device.")
        return chosen
    if not text.strip():
        raise SelectionError("--device needs part of a name; without it the default is taken.")
    matches = matching_devices(devices, text)
    best = newest(matches)
    if best is None:
        names = "; ".join(f"{d.platform}: {d.name}" for d in devices)
        raise SelectionError(f"No platform or device matches {text!r}; there are: {names}.")
    if len(matches) > 1:
        say(
            f"{len(matches)} devices match {text!r}; taking {best.name} on {best.platform} "
            f"({best.platform_version})."
        )
    return best
