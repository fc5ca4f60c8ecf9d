"""Describes matrices to NVIDIA's tensor memory access unit, through CUDA's driver."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from gemmviz.core.model import ELEMENTS
from gemmviz.engine.libraries.cuda import Cuda

BYTES = 128
"""Of a map."""

_ALIGNMENT = 64
_MANNER = (0, 2, 0)  # not interleaved, L2 reads ahead 128 bytes, zeros outside
# CUtensorMapDataType and CUtensorMapSwizzle of cuda.h. A float that is copied as TF32 is rounded to
# the nearest on its way, where the multiplication would cut it off.
_TYPES = {("half", False): 6, ("float", False): 7, ("double", False): 8, ("float", True): 11}
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


@dataclass(frozen=True, slots=True)
class TiledMatrix:
    """A matrix that a kernel copies a tile at a time.

    Attributes:
        address: Where it begins on the device.
        shape: How many elements a row has as stored, and how many rows there are.
        element: The element type.
        box: Elements in a tile: along a row, and across.
        swizzle: Bytes of a tile's row that are swizzled: 32, 64, 128, or 0.
        tf32: Whether floats are rounded to TF32 on their way.
    """

    address: int
    shape: tuple[int, int]
    element: str
    box: tuple[int, ...]
    swizzle: int
    tf32: bool = False


def encode(cuda: Cuda, matrix: TiledMatrix) -> bytes:
    """The map of a matrix, as a kernel takes it from a buffer.

    Raises:
        DriverError: CUDA's driver refuses, as where rows do not begin on 16 bytes.
    """
    room = ctypes.create_string_buffer(BYTES + _ALIGNMENT)
    start = -ctypes.addressof(room) % _ALIGNMENT
    interleave, ahead, outside = _MANNER
    cuda.ask(
        "cuTensorMapEncodeTiled",
        ctypes.byref(room, start), _TYPES[matrix.element, matrix.tf32], 2, matrix.address,
        (ctypes.c_uint64 * 2)(*matrix.shape),
        (ctypes.c_uint64 * 1)(matrix.shape[0] * ELEMENTS[matrix.element].bytes),
        (ctypes.c_uint32 * 2)(*matrix.box), (ctypes.c_uint32 * 2)(1, 1),
        interleave, _SWIZZLES[matrix.swizzle], ahead, outside,
    )  # fmt: skip
    return room.raw[start : start + BYTES]
