"""What is told of a device in words: readable values, and badges where one is not what it seems."""

from __future__ import annotations

from gemmviz.app.setup import Badge
from gemmviz.core.device_facts import local_text
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Property
from gemmviz.core.units import memory, scaled

_BADGE_PROPERTIES = {
    "LOCAL_MEM_SIZE": "local",
    "LOCAL_MEM_TYPE": "local",
    "MAX_CLOCK_FREQUENCY": "clock",
    "PREFERRED_WORK_GROUP_SIZE_MULTIPLE": "multiple",
}


def raw(entry: Property) -> str:
    """The value in its SI unit as the driver gave it; empty where the readable one says it all."""
    value = entry.value
    if value is None or not entry.unit:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def badges(device: Device, limits: Limits | None) -> dict[str, Badge]:
    """What is not as it seems on a device, by topic: "local", "clock", "type", "multiple"."""
    found: dict[str, Badge] = {}
    size = device.local_mem_bytes
    if device.type == "simulator":
        why = "A simulator checks kernels for faults; its times say nothing of any hardware."
        found["type"] = Badge("simulator", "doubt", why)
    if device.type == "CPU" and size is not None:
        why = (
            f"A CPU has no local memory of its own: these {memory(size)} are ordinary memory that "
            "lives in the caches, and staging a tile there is a copy from cache to cache."
        )
        found["local"] = Badge("cache", "doubt", why)
    elif limits is not None and size is not None and limits.pool_bytes != size:
        found["local"] = Badge(
            f"{memory(limits.pool_bytes)} a {limits.pool_name}",
            "plain",
            _local_meaning(size, limits),
        )
    if device.clock_hz is None:
        why = "This driver reports 0 or 1 MHz, which means that it does not know the clock."
        found["clock"] = Badge("unknown", "plain", why)
    multiple = next(
        (entry.value for entry in device.properties if _topic(entry) == "multiple"), None
    )
    if multiple is not None:
        why = "The driver's hint for the size of a work-group, not the width of a warp or wave."
        found["multiple"] = Badge("a hint", "plain", why)
    return found


def property_badge(entry: Property, found: dict[str, Badge]) -> Badge | None:
    """The badge that belongs to a property, if any."""
    topic = _topic(entry)
    return found.get(topic) if topic is not None else None


def _topic(entry: Property) -> str | None:
    return _BADGE_PROPERTIES.get(entry.name.removeprefix("CL_DEVICE_"))


def _local_meaning(size: int, limits: Limits) -> str:
    text = (
        f"The driver's {memory(size)} is what one group may ask for by default; each "
        f"{limits.pool_name} shares {memory(limits.pool_bytes)} among its groups "
        f"({limits.name}, {limits.source})."
    )
    if limits.per_group_bytes > size:
        text += f" A kernel's own __local arrays may take up to {memory(limits.per_group_bytes)}."
    return text


def device_facts(device: Device) -> str:
    """The figures of a device that decide what runs on it, on three short lines."""
    units = f"{_or_dash(device.compute_units)} unit{'s' * (device.compute_units != 1)}"
    clock = " ".join(scaled(device.clock_hz, "Hz")) if device.clock_hz else "clock unknown"
    size = "–" if device.local_mem_bytes is None else memory(device.local_mem_bytes)
    return (
        f"{device.type} · {units} · {clock}\n"
        f"Local {size} ({device.local_mem_type or 'type –'}) · "
        f"groups up to {_or_dash(device.max_work_group_size)}\n"
        f"Driver {device.driver_version or '–'}"
    )


def device_tip(device: Device, limits: Limits | None) -> str:
    """Every figure of a device on lines of their own."""
    clock = " ".join(scaled(device.clock_hz, "Hz")) if device.clock_hz else "not told by the driver"
    lines = [
        f"{device.name}",
        f"Type: {device.type}, {device.vendor}",
        f"Compute units: {_or_dash(device.compute_units)}",
        f"Local memory: {local_text(device)} a group"
        + (f", {memory(limits.pool_bytes)} a {limits.pool_name}" if limits is not None else ""),
        f"Largest work-group: {_or_dash(device.max_work_group_size)} work-items",
        f"Clock: {clock}",
        f"Driver: {device.driver_version or '–'} ({device.opencl_version or 'OpenCL'})",
    ]
    if device.unavailable:
        lines.insert(1, f"Cannot run: {device.unavailable}")
    return "\n".join(lines)


def _or_dash(value: object) -> str:
    return "–" if value is None else str(value)
