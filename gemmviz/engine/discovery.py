"""Finds platforms and devices and describes them as their drivers do."""

from __future__ import annotations

import ctypes
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

from gemmviz.core.model import Device, DeviceKey, Failure, Platform, Property
from gemmviz.engine.queries import (
    RAW_QUERIES,
    clean,
    device_type,
    property_of,
    unavailable_reason,
    wanted,
)
from gemmviz.engine.status import failure_of

_PCI_BUS_INFO = 0x410F  # cl_khr_pci_bus_info; pyopencl has no name for it
_PLATFORM_NOT_FOUND = -1001


class DriverError(Exception):
    """A failed OpenCL call as a Failure, classified by its status code."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


def driver_error(error: cl.Error, during: str, *, ran: bool = False) -> DriverError:
    """``error`` as a DriverError; see :func:`gemmviz.engine.status.failure_of` for ``ran``."""
    name = cl.status_code.to_string(int(error.code), "status %d")
    return DriverError(failure_of(int(error.code), name, f"{during}: {error}", ran=ran))


def list_platforms() -> tuple[Platform, ...]:
    """Every platform and device that the loader finds; no platform is an empty tuple."""
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        if error.code == _PLATFORM_NOT_FOUND:
            return ()
        raise driver_error(error, "listing platforms") from error
    return tuple(_describe_platform(platform) for platform in platforms)


def _platform_devices(platform: cl.Platform) -> list[cl.Device]:
    try:
        return list(platform.get_devices())
    except cl.Error as error:
        if error.code == -1:  # DEVICE_NOT_FOUND: a platform without devices is no fault
            return []
        raise


def _describe_platform(platform: cl.Platform) -> Platform:
    name, version, vendor = (
        _platform_text(platform, query) for query in ("NAME", "VERSION", "VENDOR")
    )
    try:
        handles = _platform_devices(platform)
    except cl.Error as error:
        return Platform(name, version, vendor, (), f"its driver fails: {error}")
    seen: dict[str, int] = {}
    devices = []
    for handle in handles:
        device_name = _device_name(handle)
        ordinal = seen.get(device_name, 0)
        seen[device_name] = ordinal + 1
        devices.append(_describe_device(handle, name, version, ordinal))
    problem = "" if devices else "it has no devices"
    return Platform(name, version, vendor, tuple(devices), problem)


def _platform_text(platform: cl.Platform, query: str) -> str:
    try:
        return clean(platform.get_info(getattr(cl.platform_info, query)))
    except (cl.Error, UnicodeDecodeError):
        return "unknown"


def _device_name(handle: cl.Device) -> str:
    return clean(str(_ask(handle, "NAME") or "unknown"))


def _ask(handle: cl.Device, name: str) -> Any:
    """One query by name; None where the driver or the binding refuses it."""
    try:
        return handle.get_info(getattr(cl.device_info, name))
    except (cl.Error, AttributeError, UnicodeDecodeError):
        return None


def _describe_device(handle: cl.Device, platform: str, version: str, ordinal: int) -> Device:
    extensions = str(_ask(handle, "EXTENSIONS") or "").split()
    elements = tuple(
        name
        for name, extension in (("half", "cl_khr_fp16"), ("float", ""), ("double", "cl_khr_fp64"))
        if not extension or extension in extensions
    )
    clock_mhz = _ask(handle, "MAX_CLOCK_FREQUENCY")
    local_type = _ask(handle, "LOCAL_MEM_TYPE")
    major, minor = (_ask(handle, f"COMPUTE_CAPABILITY_{part}_NV") for part in ("MAJOR", "MINOR"))
    vendor = clean(str(_ask(handle, "VENDOR") or ""))
    kind = device_type(int(_ask(handle, "TYPE") or 0), platform)
    name = _device_name(handle)
    gfx = re.match(r"gfx\w+", name)
    return Device(
        platform=platform,
        platform_version=version,
        name=name,
        type=kind,
        vendor=vendor,
        driver_version=clean(str(_ask(handle, "DRIVER_VERSION") or "")),
        opencl_version=clean(str(_ask(handle, "VERSION") or "")),
        ordinal=ordinal,
        compute_units=_ask(handle, "MAX_COMPUTE_UNITS"),
        # Drivers that do not know their clock say 0 or 1 MHz.
        clock_hz=clock_mhz * 10**6 if clock_mhz and clock_mhz > 1 else None,
        local_mem_bytes=_ask(handle, "LOCAL_MEM_SIZE"),
        local_mem_type=None
        if local_type is None
        else str(property_of("LOCAL_MEM_TYPE", local_type).value),
        global_mem_bytes=_ask(handle, "GLOBAL_MEM_SIZE"),
        max_alloc_bytes=_ask(handle, "MAX_MEM_ALLOC_SIZE"),
        global_cache_bytes=_ask(handle, "GLOBAL_MEM_CACHE_SIZE"),
        max_work_group_size=_ask(handle, "MAX_WORK_GROUP_SIZE"),
        max_work_item_sizes=tuple(_ask(handle, "MAX_WORK_ITEM_SIZES") or ()),
        elements=elements,
        compute_capability=f"{major}.{minor}" if major is not None else None,
        gfx=gfx[0] if gfx else None,
        hardware=_hardware(handle, kind, platform, ordinal),
        unavailable=unavailable_reason(
            platform, bool(_ask(handle, "AVAILABLE")), bool(_ask(handle, "COMPILER_AVAILABLE"))
        ),
        properties=_properties(handle, vendor),
    )


def _properties(handle: cl.Device, vendor: str) -> tuple[Property, ...]:
    properties = []
    names = (name for name in dir(cl.device_info) if name.isupper())
    for name in (name for name in names if wanted(name, vendor)):
        try:
            properties.append(property_of(name, handle.get_info(getattr(cl.device_info, name))))
        except cl.Error as error:
            who = "the driver" if "clGetDeviceInfo" in str(error) else "pyopencl"
            reason = f"{who} refuses this query (status {error.code})"
            properties.append(Property(name, None, reason=reason))
        except UnicodeDecodeError:
            properties.append(Property(name, None, reason="the driver's text is not readable"))
    for owner, queries in RAW_QUERIES.items():
        for name, code in queries.items() if owner in vendor.lower() else ():
            answer = _raw_query(handle, code, 4)
            value = None if answer is None else int.from_bytes(answer, sys.byteorder)
            reason = "the driver refuses this query" if value is None else ""
            properties.append(Property(name, value, reason=reason))
    return tuple(properties)


def _hardware(handle: cl.Device, kind: str, platform: str, ordinal: int) -> str:
    """Equal for devices on the same silicon: CPUs and simulators share the host's cores."""
    if kind in ("CPU", "simulator"):
        return "host processor"
    address = pci_address(handle)
    return f"PCI {address}" if address else f"{platform} {_device_name(handle)} {ordinal}"


def pci_address(handle: cl.Device) -> str:
    """Where a device sits on the bus, as "0000:1b:00.0"; "" where its driver does not tell."""
    info = _raw_query(handle, _PCI_BUS_INFO, 16)
    if info is not None:
        domain, bus, slot, function = np.frombuffer(info, dtype=np.uint32)
        return f"{domain:04x}:{bus:02x}:{slot:02x}.{function}"
    bus, slot = _ask(handle, "PCI_BUS_ID_NV"), _ask(handle, "PCI_SLOT_ID_NV")
    if bus is not None and slot is not None:
        return f"{_ask(handle, 'PCI_DOMAIN_ID_NV') or 0:04x}:{bus:02x}:{slot >> 3:02x}.0"
    topology = _ask(handle, "TOPOLOGY_AMD")
    if topology is not None:
        return f"0000:{topology.bus:02x}:{topology.device:02x}.{topology.function}"
    return ""


def _raw_query(handle: cl.Device, parameter: int, size: int) -> bytes | None:
    """A query that pyopencl has no name for, through the loader it already mapped (Linux)."""
    try:
        maps = Path("/proc/self/maps").read_text()
        path = re.search(r"(/\S*libOpenCL\S*)", maps)
        if path is None:
            return None
        function = ctypes.CDLL(path[1]).clGetDeviceInfo
        buffer = ctypes.create_string_buffer(size)
        status = function(
            ctypes.c_void_p(handle.int_ptr), ctypes.c_uint(parameter), ctypes.c_size_t(size),
            buffer, None,
        )  # fmt: skip
    except (OSError, AttributeError):
        return None
    return buffer.raw if status == 0 else None


def find_device(key: DeviceKey) -> cl.Device:
    """The device of this key in this process.

    Raises:
        DriverError: It is no longer there.
    """
    gone = Failure("not_found", f"{key.name} on {key.platform} is no longer there.")
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        raise DriverError(replace(gone, detail=str(error))) from error
    for platform in platforms:
        words = tuple(_platform_text(platform, query) for query in ("NAME", "VERSION"))
        if words == (key.platform, key.platform_version):
            named = [d for d in _platform_devices(platform) if _device_name(d) == key.name]
            if key.ordinal < len(named):
                return named[key.ordinal]
    raise DriverError(gone)
