"""Which warp and banks a kernel's accesses are looked at for."""

from __future__ import annotations

from gemmviz.core.access.report import Machine
from gemmviz.core.limits import limits_for
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device

_LANES, _BANKS = 32, 32
_INTEL_BANKS, _GFX950_BANKS = 16, 64


def machine_for(
    device: Device | None, limits: Limits | None, warp: int | None = None, banks: int | None = None
) -> Machine:
    """Warp and banks of a GPU.

    Args:
        device: The device, or None; a device without a row of the limits tables counts as none.
        limits: The row to take in place of the device's own.
        warp: Work-items of a warp where a person gives them.
        banks: Banks where a person gives them.
    """
    row = limits or (limits_for(device) if device is not None else None)
    if row is None:
        lanes, count, vendor = _LANES, _BANKS, ""
        source = f"assumed: {_LANES} lanes and {_BANKS} banks"
    else:
        lanes, vendor, source = row.lane_width, row.vendor, row.name
        count = _BANKS
        if vendor == "Intel":
            count = _INTEL_BANKS
        elif row.code.startswith("gfx950"):
            count = _GFX950_BANKS
    given = [name for name, value in (("warp", warp), ("banks", banks)) if value is not None]
    if len(given) == 2 and row is None:
        source = "given"
    elif given:
        source = f"{source}, {' and '.join(given)} given"
    return Machine(warp or lanes, banks or count, vendor, source)
