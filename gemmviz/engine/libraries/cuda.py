"""The little of CUDA's driver that a library on NVIDIA needs: a context, memory, graphs, events."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from gemmviz.core.model import Failure
from gemmviz.engine.discovery import DriverError

_FILE = "libcuda.so.1"
_OUT_OF_MEMORY = 2
_NON_BLOCKING, _OF_THIS_THREAD = 1, 1  # CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
_NANOSECONDS = 1e6  # of CUDA's milliseconds
_MOST_GRAPHS = 64

Size, Pointer = ctypes.c_size_t, ctypes.c_void_p
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (ctypes.c_uint,),
    "cuDeviceGet": (Pointer, ctypes.c_int),
    "cuDeviceGetByPCIBusId": (Pointer, ctypes.c_char_p),
    "cuDevicePrimaryCtxRetain": (Pointer, ctypes.c_int),
    "cuCtxSetCurrent": (Pointer,),
    "cuCtxSynchronize": (),
    "cuMemAlloc_v2": (Pointer, Size),
    "cuMemFree_v2": (ctypes.c_uint64,),
    "cuMemcpyHtoD_v2": (ctypes.c_uint64, Pointer, Size),
    "cuMemcpyDtoH_v2": (Pointer, ctypes.c_uint64, Size),
    "cuMemsetD8_v2": (ctypes.c_uint64, ctypes.c_ubyte, Size),
    "cuStreamCreate": (Pointer, ctypes.c_uint),
    "cuStreamDestroy_v2": (Pointer,),
    "cuStreamBeginCapture_v2": (Pointer, ctypes.c_int),
    "cuStreamEndCapture": (Pointer, Pointer),
    "cuGraphInstantiateWithFlags": (Pointer, Pointer, ctypes.c_ulonglong),
    "cuGraphDestroy": (Pointer,),
    "cuGraphExecDestroy": (Pointer,),
    "cuGraphUpload": (Pointer, Pointer),
    "cuGraphLaunch": (Pointer, Pointer),
    "cuEventCreate": (Pointer, ctypes.c_uint),
    "cuEventDestroy_v2": (Pointer,),
    "cuEventRecord": (Pointer, Pointer),
    "cuEventElapsedTime": (Pointer, Pointer, Pointer),
    "cuGetErrorName": (ctypes.c_int, Pointer),
    "cuTensorMapEncodeTiled": (
        Pointer,
        ctypes.c_int,
        ctypes.c_uint32,
        Pointer,
        *(Pointer,) * 4,
        *(ctypes.c_int,) * 4,
    ),
}


class Allocation:
    """Bytes on the device, freed with the last part of them."""

    def __init__(self, cuda: Cuda, address: int, owner: Allocation | None = None) -> None:
        self._cuda, self.address, self._owner = cuda, address, owner

    def part(self, offset_bytes: int) -> Allocation:
        """What lies from an offset on."""
        return Allocation(self._cuda, self.address + offset_bytes, self)

    def __del__(self) -> None:
        if self._owner is None:
            self._cuda.free(self.address)


Call = Callable[[], None]


class Cuda:
    """The primary context of one device with a stream of its own; a memory for matrices."""

    def __init__(self, pci_address: str) -> None:
        """Opens the device at a place on the bus, or the first one where that is not known.

        Raises:
            DriverError: The driver is missing or refuses.
        """
        try:
            self._library = ctypes.CDLL(_FILE)
        except OSError as error:
            sentence = f"CUDA's driver {_FILE} is missing, which comes with NVIDIA's driver."
            raise DriverError(Failure("not_found", sentence, str(error))) from error
        for name, types in _FUNCTIONS.items():
            function = getattr(self._library, name, None)  # an older driver has not all of them
            if function is not None:
                function.argtypes, function.restype = types, ctypes.c_int
        self._graphs: dict[tuple[Call, ...], ctypes.c_void_p] = {}
        self.stream = ctypes.c_void_p()
        self._events = ctypes.c_void_p(), ctypes.c_void_p()
        self.ask("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if pci_address:
            self.ask("cuDeviceGetByPCIBusId", ctypes.byref(device), pci_address.encode())
        else:
            self.ask("cuDeviceGet", ctypes.byref(device), 0)
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.ask("cuCtxSetCurrent", context)
        try:
            self.ask("cuStreamCreate", ctypes.byref(self.stream), _NON_BLOCKING)
            for event in self._events:
                self.ask("cuEventCreate", ctypes.byref(event), 0)
        except DriverError:
            self.close()
            raise

    def close(self) -> None:
        """Gives back graphs, events and the stream, as far as a driver that failed still can.

        The context stays: buffers may outlive this, and the next job would wait for another one.
        """
        graphs, self._graphs = self._graphs, {}  # their keys hold the calls, and these the buffers
        for graph in graphs.values():
            self._library.cuGraphExecDestroy(graph)
        for event in self._events:
            if event:
                self._library.cuEventDestroy_v2(event)
        if self.stream:
            self._library.cuStreamDestroy_v2(self.stream)
        self.stream, self._events = ctypes.c_void_p(), (ctypes.c_void_p(), ctypes.c_void_p())

    def ask(self, name: str, *arguments: Any) -> None:
        """Calls one of the driver's functions.

        Raises:
            DriverError: It failed, or the driver is too old to have it.
        """
        function = getattr(self._library, name, None)
        if function is None:
            sentence = f"NVIDIA's driver is too old: it has no {name}."
            raise DriverError(Failure("not_found", sentence))
        status = function(*arguments)
        if status:
            raise DriverError(self._failure(name, status))

    def _failure(self, name: str, status: int) -> Failure:
        text = ctypes.c_char_p()
        self._library.cuGetErrorName(status, ctypes.byref(text))
        word = (text.value or b"unknown").decode()
        if status == _OUT_OF_MEMORY:
            return Failure("out_of_memory", "The device ran out of memory.", f"{name}: {word}")
        return Failure("driver", f"CUDA's driver failed: {word}.", f"{name} gave {status}.")

    def buffer(self, content: npt.NDArray[Any]) -> Allocation:
        """A buffer holding ``content``.

        Raises:
            DriverError: The device has no room for it.
        """
        buffer = self.room(content.nbytes)
        self.write(buffer, content)
        return buffer

    def room(self, size_bytes: int) -> Allocation:
        """A buffer with nothing in it.

        Raises:
            DriverError: The device has no room for it.
        """
        address = ctypes.c_uint64()
        self.ask("cuMemAlloc_v2", ctypes.byref(address), size_bytes)
        return Allocation(self, address.value)

    def free(self, address: int) -> None:
        """Gives memory back; a context that has failed gives none, and is left at that."""
        self._library.cuMemFree_v2(address)

    def part(self, buffer: Allocation, offset_bytes: int, size_bytes: int) -> Allocation:  # noqa: ARG002 (Memory's)
        """A part of ``buffer``, sharing its memory."""
        return buffer.part(offset_bytes)

    def write(self, buffer: Allocation, content: npt.NDArray[Any]) -> None:
        """Copies ``content`` into a buffer and waits.

        Raises:
            DriverError: A launch before it failed.
        """
        self.ask("cuMemcpyHtoD_v2", buffer.address, content.ctypes.data, content.nbytes)
        self.wait()  # it may return while the bytes still wait on the host's side

    def fill(self, buffer: Allocation, size_bytes: int) -> None:
        """Writes zeros over a buffer and waits.

        Raises:
            DriverError: A launch before it failed.
        """
        self.ask("cuMemsetD8_v2", buffer.address, 0, size_bytes)
        self.wait()

    def wait(self) -> None:
        """Waits for all that was begun.

        Raises:
            DriverError: Some of it failed.
        """
        self.ask("cuCtxSynchronize")

    def read(self, buffer: Allocation, into: npt.NDArray[Any]) -> None:
        """Copies out of a buffer and waits.

        Raises:
            DriverError: A launch before it failed.
        """
        self.ask("cuMemcpyDtoH_v2", into.ctypes.data, buffer.address, into.nbytes)

    def replay(self, calls: Sequence[Call]) -> tuple[float, float]:
        """Makes calls that fill the stream, back to back as graphs, and waits.

        Called one by one from Python, short ones would leave the device idle between them.

        Returns:
            Nanoseconds of the device's clock from before the first to after the last, and seconds
            of the host's.

        Raises:
            DriverError: A call failed.
        """
        graphs = [self._graph(part) for part in _parts(calls)]
        begin, end = self._events
        begun = time.perf_counter()
        self.ask("cuEventRecord", begin, self.stream)
        for graph in graphs:
            self.ask("cuGraphLaunch", graph, self.stream)
        self.ask("cuEventRecord", end, self.stream)
        self.wait()
        wall = time.perf_counter() - begun
        milliseconds = ctypes.c_float()
        self.ask("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return milliseconds.value * _NANOSECONDS, wall

    def _graph(self, calls: tuple[Call, ...]) -> ctypes.c_void_p:
        """The graph of some calls, made once and ready on the device."""
        if calls in self._graphs:
            return self._graphs[calls]
        if len(self._graphs) >= _MOST_GRAPHS:
            for old in self._graphs.values():
                self.ask("cuGraphExecDestroy", old)
            self._graphs.clear()
        graph, ready = self._captured(calls), ctypes.c_void_p()
        try:
            self.ask("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, 0)
        finally:
            self._library.cuGraphDestroy(graph)
        self._graphs[calls] = ready
        self.ask("cuGraphUpload", ready, self.stream)
        self.wait()
        return ready

    def _captured(self, calls: tuple[Call, ...]) -> ctypes.c_void_p:
        """The graph of what some calls put into the stream."""
        graph = ctypes.c_void_p()
        self.ask("cuStreamBeginCapture_v2", self.stream, _OF_THIS_THREAD)
        try:
            for call in calls:
                call()
        except BaseException:
            # What the call said counts, not that a broken capture has no graph.
            self._library.cuStreamEndCapture(self.stream, ctypes.byref(graph))
            if graph:
                self._library.cuGraphDestroy(graph)
            raise
        self.ask("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        return graph


def _parts(calls: Sequence[Call]) -> list[tuple[Call, ...]]:
    """``calls`` in parts whose sizes are powers of two, so that few graphs make any number."""
    parts, begin = [], 0
    while begin < len(calls):
        size = 1 << (len(calls) - begin).bit_length() - 1
        parts.append(tuple(calls[begin : begin + size]))
        begin += size
    return parts
