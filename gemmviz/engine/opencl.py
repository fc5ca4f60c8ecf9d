"""The only importer of pyopencl: lists devices; builds, binds, launches and times kernels."""

from __future__ import annotations

import ctypes
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from gemmviz.core.model import (
    Device,
    DeviceKey,
    Failure,
    KernelFacts,
    Platform,
    Property,
)
from gemmviz.engine.compiler import compiler_words
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


def _driver_error(error: cl.Error, during: str, *, ran: bool = False) -> DriverError:
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
        raise _driver_error(error, "listing platforms") from error
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
    info = _raw_query(handle, _PCI_BUS_INFO, 16)
    if info is not None:
        domain, bus, slot, function = np.frombuffer(info, dtype=np.uint32)
        return f"PCI {domain:04x}:{bus:02x}:{slot:02x}.{function}"
    bus, slot = _ask(handle, "PCI_BUS_ID_NV"), _ask(handle, "PCI_SLOT_ID_NV")
    if bus is not None and slot is not None:
        return f"PCI {_ask(handle, 'PCI_DOMAIN_ID_NV') or 0:04x}:{bus:02x}:{slot >> 3:02x}.0"
    topology = _ask(handle, "TOPOLOGY_AMD")
    if topology is not None:
        return f"PCI 0000:{topology.bus:02x}:{topology.device:02x}.{topology.function}"
    return f"{platform} {_device_name(handle)} {ordinal}"


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


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """A ``__local`` kernel argument of so many bytes."""

    bytes: int


class Kernel:
    """A built kernel with its arguments bound; keeps its buffers alive while launches run."""

    def __init__(self, kernel: cl.Kernel, log: str, device: cl.Device) -> None:
        self._kernel, self._device, self.log = kernel, device, log
        self._arguments: Sequence[Any] = ()

    def bind(self, arguments: Sequence[Any]) -> None:
        """Sets all arguments: buffers, numpy scalars and LocalMemory.

        Raises:
            DriverError: The kernel has other arguments.
        """
        bound = [
            cl.LocalMemory(item.bytes) if isinstance(item, LocalMemory) else item
            for item in arguments
        ]
        if len(bound) != self._kernel.num_args:
            raise DriverError(
                Failure(
                    "launch",
                    f"The kernel takes {self._kernel.num_args} arguments and its metadata lists "
                    f"{len(bound)}.",
                )
            )
        for index, item in enumerate(bound):
            try:
                self._kernel.set_arg(index, item)
            except cl.Error as error:
                failure = _driver_error(error, f"setting argument {index}").failure
                sentence = f"Argument {index} of the kernel is of another type than the metadata's."
                raise DriverError(replace(failure, kind="launch", sentence=sentence)) from error
        self._arguments = bound

    def facts(self) -> KernelFacts:
        """The driver's own figures, read after bind."""
        group = self._group_info("COMPILE_WORK_GROUP_SIZE")
        return KernelFacts(
            local_bytes=self._group_info("LOCAL_MEM_SIZE"),
            max_group_size=self._group_info("WORK_GROUP_SIZE"),
            preferred_multiple=self._group_info("PREFERRED_WORK_GROUP_SIZE_MULTIPLE"),
            private_bytes=self._group_info("PRIVATE_MEM_SIZE"),
            compiled_group=None if group is None else tuple(group),
        )

    def _group_info(self, name: str) -> Any:
        try:
            info = getattr(cl.kernel_work_group_info, name)
            return self._kernel.get_work_group_info(info, self._device)
        except cl.Error:
            return None

    def launch(
        self, queue: cl.CommandQueue, total: tuple[int, ...], local: tuple[int, ...]
    ) -> cl.Event:
        """Enqueues one launch.

        Raises:
            DriverError: The driver refused it.
        """
        try:
            return cl.enqueue_nd_range_kernel(queue, self._kernel, total, local)
        except cl.Error as error:
            raise _driver_error(error, f"launching {total} in groups of {local}") from error


class Session:
    """A context and a profiling queue on one device."""

    def __init__(self, key: DeviceKey) -> None:
        self._device = _find(key)
        try:
            self._context = cl.Context([self._device])
            self._queue = cl.CommandQueue(
                self._context, properties=cl.command_queue_properties.PROFILING_ENABLE
            )
        except cl.Error as error:
            raise _driver_error(error, "opening the device") from error

    def build(self, source: str, options: Sequence[str], entry: str) -> Kernel:
        """Compiles ``source`` and takes its kernel ``entry``.

        Raises:
            DriverError: A build error with the compiler's words, or no such kernel.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # drivers that always write a log make pyopencl warn
            try:
                program = cl.Program(self._context, source)
                program.build(options=list(options), cache_dir=False)
                log = program.get_build_info(self._device, cl.program_build_info.LOG).strip()
            except cl.Error as error:
                failure = _driver_error(error, "building").failure
                words = compiler_words(str(error), source)
                raise DriverError(replace(failure, detail=words or failure.detail)) from error
            try:
                return Kernel(cl.Kernel(program, entry), log, self._device)
            except cl.Error as error:
                raise DriverError(
                    Failure("build", f"The source has no kernel named {entry}.", str(error))
                ) from error

    def buffer(self, content: npt.NDArray[Any]) -> cl.Buffer:
        """A device buffer holding ``content``.

        Raises:
            DriverError: The device has no room for it.
        """
        try:
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, content.nbytes)
            self.write(buffer, content)
        except cl.Error as error:
            raise _driver_error(error, f"allocating {content.nbytes} bytes") from error
        return buffer

    def write(self, buffer: cl.Buffer, content: npt.NDArray[Any]) -> None:
        """Copies ``content`` to the device and waits."""
        cl.enqueue_copy(self._queue, buffer, content, is_blocking=True)

    def read(self, buffer: cl.Buffer, into: npt.NDArray[Any]) -> None:
        """Copies from the device and waits.

        Raises:
            DriverError: A launch before it failed.
        """
        try:
            cl.enqueue_copy(self._queue, into, buffer, is_blocking=True)
        except cl.Error as error:
            raise _driver_error(error, "reading back", ran=True) from error

    def time_launches(
        self, kernel: Kernel, total: tuple[int, ...], local: tuple[int, ...], count: int
    ) -> list[float]:
        """Runs ``count`` launches back to back and waits.

        Returns:
            END - START of each in seconds, signed: not above zero is no measurement.

        Raises:
            DriverError: A launch was refused or failed.
        """
        events = [kernel.launch(self._queue, total, local) for _ in range(count)]
        try:
            events[-1].wait()
            return [(event.profile.end - event.profile.start) * 1e-9 for event in events]
        except cl.Error as error:
            raise _driver_error(error, "running the kernel", ran=True) from error


def _find(key: DeviceKey) -> cl.Device:
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
