"""Finds the row of the limits tables for a device, or for a name that a person types."""

from __future__ import annotations

import re
from functools import cache

from gemmviz.core.limits_table import Limits, read_limits
from gemmviz.core.model import Device
from gemmviz.core.paths import data_dir

__all__ = ["Limits", "limits_for", "load_limits", "named_limits"]


@cache
def load_limits() -> tuple[Limits, ...]:
    """The rows of ``resources/limits``, read once.

    Raises:
        FileNotFoundError: A table is missing.
        ValueError: A row cannot be used; the message names file, line and column.
    """
    return read_limits(data_dir("resources") / "limits")


def limits_for(device: Device) -> Limits | None:
    """The row of a GPU, or None: a device that no row names is never given its neighbour's."""
    if device.type != "GPU":
        return None
    by_code = {limits.code: limits for limits in load_limits()}
    if device.compute_capability is not None:
        return by_code.get(device.compute_capability)
    if device.gfx is not None:
        return by_code.get(_gfx_code(device.gfx))
    if "intel" in f"{device.vendor} {device.platform}".lower():
        return _intel_limits(device, [row for row in by_code.values() if row.vendor == "Intel"])
    return None


def named_limits(text: str) -> Limits:
    """The row that a person names.

    Args:
        text: A compute capability ("9.0", "CC 9.0", "sm_90"), a card of NVIDIA's ("H100"), a gfx
            name, on RDNA with "cumode" or "wave64" behind it, or any part of an Intel row's name or
            code ("DG2"); in any case.

    Raises:
        ValueError: No row has that name or several have; the sentence lists what is known.
    """
    wanted = " ".join(text.lower().split())
    # As the sentence below lists them: "NVIDIA 9.0", "AMD gfx1030".
    wanted = re.sub(r"^(?:nvidia|amd|intel) (?=\S)", "", wanted)
    rows = load_limits()
    exact = {row.code: row for row in rows}
    capability = re.fullmatch(r"(?:cc ?)?(\d+\.\d)|sm_?(\d+)(\d)[af]?", wanted)
    if capability is not None:
        code = capability[1] or f"{capability[2]}.{capability[3]}"
    else:
        code = _gfx_code(wanted)
    if code in exact:
        return exact[code]
    by_card = {card.lower(): row for row in rows for card in row.cards}
    known_card = next((card for card in by_card if _is_card(wanted, card)), None)
    if known_card is not None:
        return by_card[known_card]
    found = [
        row for row in rows if row.vendor == "Intel" and wanted in f"{row.name} {row.code}".lower()
    ]
    if not re.search("[a-z]", wanted):  # a bare 9 is no Gen9
        found = []
    if len(found) > 1:  # "Xe HP" is also the start of "Xe HPC"
        whole = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)", re.IGNORECASE)
        found = [row for row in found if whole.search(f"{row.name} {row.code}")] or found
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(row.code for row in found)
        raise ValueError(f"{text!r} fits several GPUs: say which of {several}.")
    known = "; ".join(
        f"{vendor} {', '.join(row.code for row in rows if row.vendor == vendor)}"
        for vendor in dict.fromkeys(row.vendor for row in rows)
    )
    raise ValueError(
        f"No limits are known for {text!r}: name a card, as H100 or RTX 3080, or one of {known}."
    )


def _is_card(wanted: str, card: str) -> bool:
    """Whether a person means a card: "h100", "geforce rtx 3080", "rtx 3080 ti", "t4"."""
    bare = re.sub(r"^(?:geforce|tesla|quadro) ", "", wanted)
    own = card.removeprefix("tesla ")
    return (
        bare in (card, own)
        or re.fullmatch(rf"{re.escape(own)}( ti| super| laptop gpu)*", bare) is not None
    )


def _gfx_code(name: str) -> str:
    """A gfx name without the features that drivers append: gfx90a:sramecc+:xnack-."""
    return name.partition(":")[0].strip().lower()


def _intel_limits(device: Device, rows: list[Limits]) -> Limits | None:
    """The one Intel row that fits the name and shape of a device, else its IP version's."""
    queried = {entry.name.removeprefix("CL_DEVICE_"): entry.value for entry in device.properties}
    units = queried.get("NUM_EUS_PER_SUB_SLICE_INTEL")
    threads = queried.get("NUM_THREADS_PER_EU_INTEL")
    rows = [
        row
        for row in rows
        if units in (None, row.partitions) and threads in (None, row.slots // row.partitions)
    ]
    named = [
        row
        for row in rows
        if row.device_names and re.search(row.device_names, device.name, re.IGNORECASE)
    ]
    if len(named) == 1:
        return named[0]
    version = queried.get("IP_VERSION_INTEL")
    if isinstance(version, int):  # 10 bits of architecture, 8 of release, 14 of revision
        version = f"{version >> 22}.{version >> 14 & 0xFF}"
    return next((row for row in rows if version in row.ip_versions), None)
