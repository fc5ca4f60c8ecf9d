"""Builds, binds and launches kernels on one device; the times are the device's and the host's."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from gemmviz.core.model import DeviceKey, Failure, KernelFacts
from gemmviz.core.trust import DeviceTimer
from gemmviz.engine import ptx
from gemmviz.engine.compiler import compiler_words
from gemmviz.engine.discovery import DriverError, driver_error, find_device, pci_address

_NO_PROFILING = -7
_ADDRESS = "kernel void address(global uchar *of, global ulong *at) { *at = (ulong)of; }"


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
                failure = driver_error(error, f"setting argument {index}").failure
                sentence = f"Argument {index} of the kernel is of another type than the metadata's."
                raise DriverError(replace(failure, kind="launch", sentence=sentence)) from error
        self._arguments = bound

    def another(self) -> Kernel:
        """The same kernel with arguments of its own."""
        twin = cl.Kernel(self._kernel.program, self._kernel.function_name)
        return Kernel(twin, self.log, self._device)

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
            raise driver_error(error, f"launching {total} in groups of {local}") from error


@dataclass(frozen=True, slots=True)
class Launches:
    """Launches enqueued back to back.

    Attributes:
        stamps: START and END of each in nanoseconds of the device's clock, in order.
        wall_seconds: Host time from before the first was enqueued to after the last ended.
        apart: Whether each was timed by itself, and has not its share of the whole.
    """

    stamps: tuple[tuple[int, int], ...]
    wall_seconds: float
    apart: bool = True

    @property
    def durations(self) -> list[int]:
        """END - START of each in nanoseconds, signed: not above zero is no measurement."""
        return [end - start for start, end in self.stamps]

    @property
    def seconds(self) -> list[float]:
        """END - START of each, signed."""
        return [duration * 1e-9 for duration in self.durations]

    @property
    def span_seconds(self) -> float:
        """From the first START to the last END, signed."""
        return (self.stamps[-1][1] - self.stamps[0][0]) * 1e-9


class Session:
    """A context and a profiling queue on one device.

    ``timer`` is its calibration, once made, and ``idle_kernel`` what that launches, once built.
    """

    def __init__(self, key: DeviceKey) -> None:
        self._device = find_device(key)
        self.timer: DeviceTimer | None = None
        self.idle_kernel: Kernel | None = None
        self._address_kernel: Kernel | None = None
        try:
            self._context = cl.Context([self._device])
            self._queue = cl.CommandQueue(
                self._context, properties=cl.command_queue_properties.PROFILING_ENABLE
            )
        except cl.Error as error:
            raise driver_error(error, "opening the device") from error

    def build(
        self, source: str, options: Sequence[str], entry: str, step: str = ""
    ) -> tuple[Kernel, float]:
        """Compiles ``source`` and takes its kernel ``entry``.

        Args:
            source: OpenCL C.
            options: The compiler's.
            entry: The kernel's name.
            step: What is done to the compiler's output: "" or :data:`gemmviz.engine.ptx.STEP`.

        Returns:
            The kernel, and how long the compiler took in seconds.

        Raises:
            DriverError: A build error with the compiler's words, or no such kernel.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # drivers that always write a log make pyopencl warn
            begun = time.perf_counter()
            try:
                program = (self._through_ptx if step else self._compiled)(source, options)
                log = program.get_build_info(self._device, cl.program_build_info.LOG).strip()
                seconds = time.perf_counter() - begun
            except cl.Error as error:
                failure = driver_error(error, "building").failure
                words = compiler_words(str(error), source)
                raise DriverError(replace(failure, detail=words or failure.detail)) from error
            try:
                kernel = Kernel(cl.Kernel(program, entry), log, self._device)
            except cl.Error as error:
                raise DriverError(
                    Failure("build", f"The source has no kernel named {entry}.", str(error))
                ) from error
        return kernel, seconds

    def _compiled(self, source: str, options: Sequence[str]) -> cl.Program:
        program = cl.Program(self._context, source)
        return program.build(options=list(options), cache_dir=False)

    def _through_ptx(self, source: str, options: Sequence[str]) -> cl.Program:
        """Builds what :mod:`gemmviz.engine.ptx` makes of the output, kept from last time.

        Raises:
            DriverError: The output is no such PTX.
            cl.Error: The compiler or the driver's assembler refuses.
        """
        device = self._device
        file = ptx.cache_file((source, *options, device.name, device.driver_version))
        text = ptx.kept(file)
        if text is not None:
            with contextlib.suppress(cl.Error):  # a file that was damaged: compile again
                return self._assembled(text, options)
        output = self._compiled(source, options).get_info(cl.program_info.BINARIES)[0]
        try:
            text = ptx.patched(output.rstrip(b"\0").decode("utf-8", "replace"))
        except ptx.PtxError as error:
            raise DriverError(Failure("build", str(error))) from error
        program = self._assembled(text, options)
        ptx.keep(file, text)
        return program

    def _assembled(self, text: str, options: Sequence[str]) -> cl.Program:
        """Builds PTX; of the options those for the assembler count, others silence its report."""
        program = cl.Program(self._context, [self._device], [text.encode()])
        return program.build(options=[option for option in options if option.startswith("-cl-nv")])

    def address(self, buffer: cl.Buffer) -> int:
        """Where a buffer lies on the device, told by a kernel: OpenCL itself does not say.

        Raises:
            DriverError: The driver refuses.
        """
        if self._address_kernel is None:
            self._address_kernel, _ = self.build(_ADDRESS, (), "address")
        told = np.zeros(1, np.uint64)
        into = self.buffer(told)
        self._address_kernel.bind([buffer, into])
        self.time_launches([self._address_kernel], (1,), (1,))
        self.read(into, told)
        return int(told[0])

    def buffer(self, content: npt.NDArray[Any]) -> cl.Buffer:
        """A device buffer holding ``content``.

        Raises:
            DriverError: The device has no room for it.
        """
        try:
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, content.nbytes)
            self.write(buffer, content)
        except cl.Error as error:
            raise driver_error(error, f"allocating {content.nbytes} bytes") from error
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
            raise driver_error(error, "reading back", ran=True) from error

    def part(self, buffer: cl.Buffer, offset_bytes: int, size_bytes: int) -> cl.Buffer:
        """A part of ``buffer`` as a buffer of its own, sharing its memory.

        Raises:
            DriverError: The driver refuses, as for an offset that its alignment forbids.
        """
        try:
            return buffer.get_sub_region(offset_bytes, size_bytes)
        except cl.Error as error:
            raise driver_error(error, f"taking {size_bytes} bytes at {offset_bytes}") from error

    def fill(self, buffer: cl.Buffer, size_bytes: int) -> None:
        """Writes zeros over a buffer and waits.

        Raises:
            DriverError: The driver failed.
        """
        try:
            zero = np.zeros(1, np.uint32)
            cl.enqueue_fill_buffer(self._queue, buffer, zero, 0, size_bytes).wait()
        except cl.Error as error:
            raise driver_error(error, "flushing the cache", ran=True) from error

    def room(self, size_bytes: int) -> cl.Buffer:
        """A buffer with nothing in it.

        Raises:
            DriverError: The device has no room for it.
        """
        try:
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size_bytes)
        except cl.Error as error:
            raise driver_error(error, f"allocating {size_bytes} bytes") from error

    def time_launches(
        self, launches: Sequence[Kernel], total: tuple[int, ...], local: tuple[int, ...]
    ) -> Launches:
        """Enqueues ``launches`` back to back, each a bound kernel, and waits for all.

        Raises:
            DriverError: A launch was refused or failed.
        """
        begun = time.perf_counter()
        events = [kernel.launch(self._queue, total, local) for kernel in launches]
        try:
            events[-1].wait()
            wall = time.perf_counter() - begun
            stamps = [(event.profile.start, event.profile.end) for event in events]
        except cl.Error as error:
            if error.code != _NO_PROFILING:
                raise driver_error(error, "running the kernel", ran=True) from error
            stamps = [(0, 0)] * len(events)  # no time at all: the host's clock will be used
        return Launches(tuple(stamps), wall)

    @property
    def queue_pointer(self) -> int:
        """The queue as the ``cl_command_queue`` that a library in C takes."""
        return int(self._queue.int_ptr)

    @property
    def device_pointer(self) -> int:
        """The device as the ``cl_device_id`` that a library in C takes."""
        return int(self._device.int_ptr)

    @property
    def pci_address(self) -> str:
        """Where the device sits on the bus, by which other drivers find it; "" if unknown."""
        return pci_address(self._device)

    def finish(self) -> None:
        """Waits for all that was enqueued.

        Raises:
            DriverError: Some of it failed.
        """
        try:
            self._queue.finish()
        except cl.Error as error:
            raise driver_error(error, "waiting for a library", ran=True) from error

    def fact(self, name: str) -> Any:
        """One figure of the device by the name of its query, or None where it is refused."""
        try:
            return self._device.get_info(getattr(cl.device_info, name))
        except (cl.Error, AttributeError):
            return None
