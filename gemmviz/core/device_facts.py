"""What a device reports, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from gemmviz.core.model import Device, Property
from gemmviz.core.units import duration, memory, scaled

_ABBREVIATIONS = frozenset(("AMD", "C", "CUDA", "DMA", "FP", "GPU", "ID", "IL", "IP", "KHR", "LUID",
                            "NV", "PCI", "SIMD", "SPIR", "SVM", "UUID"))  # fmt: skip


def readable(entry: Property) -> str:
    """The value of a property as a person reads it; a dash where the query was refused."""
    value = entry.value
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if entry.unit == "bytes":
        return memory(value)
    if entry.unit == "Hz":
        return " ".join(scaled(value, "Hz")) if value > 10**6 else "unknown"
    if entry.unit == "s":
        return duration(value)
    return str(value)


def property_title(entry: Property) -> str:
    """The name of a query as words, which are narrower: "Global mem cache size"."""
    words = entry.name.removeprefix("CL_DEVICE_").split("_")
    text = " ".join(word if word in _ABBREVIATIONS else word.lower() for word in words)
    return text[:1].upper() + text[1:]


def local_text(device: Device) -> str:
    """Local memory of a group with what it is made of."""
    if device.local_mem_bytes is None:
        return "–"
    kinds = {"GLOBAL": " (in global memory)", "LOCAL": " (own memory)"}
    return memory(device.local_mem_bytes) + kinds.get(device.local_mem_type or "", "")


def device_entries(device: Device) -> Iterator[tuple[str, str]]:
    """Names and values of what decides how fast a device is, without what its driver refuses."""
    yield "Platform", f"{device.platform}, {device.platform_version}"
    yield "Driver", " · ".join(filter(None, (device.driver_version, device.opencl_version)))
    yield "Type", ", ".join(filter(None, (device.type, device.vendor)))
    if device.compute_units is not None:
        yield "Compute units", str(device.compute_units)
    if device.clock_hz:
        yield "Clock", " ".join(scaled(device.clock_hz, "Hz"))
    if device.local_mem_bytes is not None:
        yield "Local memory", local_text(device)
    if device.global_mem_bytes is not None:
        yield "Global memory", memory(device.global_mem_bytes)
    if device.global_cache_bytes:
        yield "Global cache", memory(device.global_cache_bytes)
    if device.max_work_group_size is not None:
        yield "Largest work-group", f"{device.max_work_group_size} work-items"
    if device.compute_capability is not None:
        yield "Compute capability", device.compute_capability
    yield "Element types", ", ".join(device.elements)
