"""Where an answer is wrong: the error of every cell of C against its bound, and its pattern."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[Any]

_MOST_PIXELS = 2**22  # far more than a picture shows


@dataclass(frozen=True, slots=True)
class ErrorMap:
    """The errors of C as an image, packed so that it crosses a pipe.

    A pixel stands for ``step_rows`` x ``step_cols`` cells of C and holds the worst of them. Each
    array is base64 of zlib of little-endian values, shape (height, width), row-major.

    Attributes:
        rows: Rows of C.
        cols: Columns of C.
        tile: Rows and columns of C that one work-group computes.
        step_rows: Rows of C in one pixel.
        step_cols: Columns of C in one pixel.
        excess: float32, |C - reference| over its bound; infinite for NaN, NaN where not compared.
        place: int64, the worst cell's index row * cols + col.
        value: float64, what the kernel wrote there.
        expected: float64, the reference there.
        pattern: One sentence that says how the wrong cells lie.
    """

    rows: int
    cols: int
    tile: tuple[int, int]
    step_rows: int
    step_cols: int
    excess: str
    place: str
    value: str
    expected: str
    pattern: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """The arrays of an ErrorMap, each of shape (height, width).

    ``excess`` is float32 and NaN where nothing was compared; the others mean nothing there.
    ``place`` is the index row * cols + col of the worst cell of the pixel.
    """

    excess: Pixels
    place: Pixels
    value: Pixels
    expected: Pixels


def pack(values: Pixels) -> str:
    """An array as an ErrorMap holds it: base64 of zlib of little-endian bytes, row-major."""
    ordered = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    # Random digits do not shrink; the fastest level finds what does.
    return base64.b64encode(zlib.compress(ordered.tobytes(), 1)).decode("ascii")


def unpack(error_map: ErrorMap) -> Errors:
    """The arrays of ``error_map``.

    Raises:
        ValueError: They are damaged: no base64 of zlib, or of another size.
    """
    if min(error_map.step_rows, error_map.step_cols) < 1:
        raise ValueError("the error map is damaged: its pixels have no size")
    shape = (-(-error_map.rows // error_map.step_rows), -(-error_map.cols // error_map.step_cols))
    if min(shape) < 1 or shape[0] * shape[1] > _MOST_PIXELS:
        raise ValueError("the error map is damaged: it has no usable size")

    def read(text: str, dtype: str) -> Pixels:
        wanted = shape[0] * shape[1] * np.dtype(dtype).itemsize
        try:
            # A map from elsewhere may claim little and unpack to more than there is memory.
            data = zlib.decompressobj().decompress(
                base64.b64decode(text, validate=True), wanted + 1
            )
        except zlib.error as error:
            raise ValueError(f"the error map is damaged: {error}") from error
        if len(data) != wanted:
            raise ValueError("the error map is damaged: it has another size than it says")
        return np.frombuffer(data, dtype).reshape(shape)

    return Errors(
        excess=read(error_map.excess, "<f4"),
        place=read(error_map.place, "<i8"),
        value=read(error_map.value, "<f8"),
        expected=read(error_map.expected, "<f8"),
    )
