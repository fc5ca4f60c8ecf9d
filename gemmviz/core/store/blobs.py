"""Texts and samples as compact bytes and back, with limits on what a stranger's bytes unpack to.

A block of samples is a head of three bytes, one for the form of each column, the count as a
little-endian uint32, and the columns one after the other, compressed by zlib. A column is

- "d": float64 values,
- "n": uint32 counts of a nanosecond, where multiplying them by 1e-9 gives back each value exactly,
- "g": the same where dividing them by 1e9 does,
- "i": uint32 values, or
- "c": one float64 that all values are equal to.

The bytes of "d", "n", "g" and "i" are shuffled: all first bytes, then all second ones and so on,
which compress better since high bytes hardly change.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from gemmviz.core.model import Samples

BLOCK = 65536
"""The most samples in one block."""
MOST_TEXT_BYTES = 32 * 2**20
"""The most that a text may unpack to."""

_MOST_SECONDS = 1e9
_HEAD = 7
_MOST_BLOCK_BYTES = _HEAD + 3 * 8 * BLOCK
_LEVEL = 1  # a higher one takes ten times as long for a twentieth of the size

_Floats = npt.NDArray[np.float64]
_TICKS: dict[str, Callable[[_Floats], _Floats]] = {
    "n": lambda ticks: ticks * 1e-9,
    "g": lambda ticks: ticks / 1e9,
}


class BlobError(ValueError):
    """Bytes that unpack to nothing sensible, or to too much."""


def pack_text(text: str) -> bytes:
    """A text as compressed UTF-8; halves of surrogate pairs become question marks."""
    return zlib.compress(text.encode("utf-8", "replace"), 6)


def unpack_text(data: object) -> str:
    """The text of ``pack_text``.

    Raises:
        BlobError: The bytes are no such text, or a text of more than ``MOST_TEXT_BYTES``.
    """
    try:
        return _unpacked(data, MOST_TEXT_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BlobError("its text is no UTF-8") from error


def pack_samples(samples: Samples) -> Iterator[tuple[int, bytes]]:
    """Samples as blocks: the count of each and its bytes."""
    columns = [np.asarray(each) for each in (samples.seconds, samples.at, samples.launches)]
    for start in range(0, len(samples), BLOCK):
        parts = [each[start : start + BLOCK] for each in columns]
        forms, packed = zip(*(_pack(each) for each in parts), strict=True)
        count = len(parts[0])
        head = "".join(forms).encode("ascii") + count.to_bytes(4, "little")
        yield count, zlib.compress(head + b"".join(packed), _LEVEL)


def unpack_samples(blocks: Iterable[object], most: int) -> Samples:
    """The samples of blocks in order, as arrays; what is beyond ``most`` samples is left out.

    Raises:
        BlobError: A block is damaged.
    """
    seconds, at, launches = array("d"), array("d"), array("q")
    for block in blocks:
        if len(seconds) >= most:
            break
        block_seconds, block_at, block_launches = _unpack(_unpacked(block, _MOST_BLOCK_BYTES))
        seconds.frombytes(block_seconds.tobytes())
        at.frombytes(block_at.tobytes())
        launches.frombytes(block_launches.astype(np.int64).tobytes())
    for column in (seconds, at, launches):
        del column[most:]
    return Samples(launches, seconds, at)


def _pack(values: npt.NDArray[np.generic]) -> tuple[str, bytes]:
    """A column in the most compact form that gives every value back."""
    floats = values.astype(np.float64)
    bits = floats.view(np.int64)  # a negative zero equals a zero, but is another value
    if (bits == bits[0]).all():
        return "c", floats[:1].tobytes()
    with np.errstate(invalid="ignore", over="ignore"):
        if np.issubdtype(values.dtype, np.integer):
            if values.min() >= 0 and values.max() < 2**32:
                return "i", _shuffled(values.astype("<u4"))
        elif floats.min() >= 0 and floats.max() < 4.0:  # false where one is NaN
            ticks = np.rint(floats * 1e9).astype("<u4")
            for form, of in _TICKS.items():
                if of(ticks.astype(np.float64)).tobytes() == floats.tobytes():
                    return form, _shuffled(ticks)
    return "d", _shuffled(floats.astype("<f8"))


def _unpack(data: bytes) -> tuple[_Floats, _Floats, _Floats]:
    """Seconds, ends and launches of a block."""
    count = int.from_bytes(data[3:_HEAD], "little")
    if len(data) < _HEAD or not 0 < count <= BLOCK:
        raise BlobError("a block of samples has no sensible head")
    columns, start = [], _HEAD
    for form in data[:3].decode("ascii", "replace"):
        width = 8 if form in "dc" else 4
        length = width if form == "c" else width * count
        part = data[start : start + length]
        if len(part) != length or form not in "dngic":
            raise BlobError("a block of samples is cut short")
        columns.append(_column(form, part, width, count))
        start += length
    seconds, at, launches = columns
    valid = (launches >= 1) & (launches < 2**31)  # false where one is NaN
    valid &= (seconds >= 0) & (seconds < _MOST_SECONDS) & (at >= 0) & (at < _MOST_SECONDS)
    if start != len(data) or not valid.all():
        raise BlobError("a block of samples is damaged")
    return seconds, at, launches


def _column(form: str, part: bytes, width: int, count: int) -> _Floats:
    if form == "c":
        return np.full(count, np.frombuffer(part, "<f8")[0])
    plain = np.frombuffer(part, np.uint8).reshape(width, count).T.tobytes()
    values = np.frombuffer(plain, "<f8" if form == "d" else "<u4").astype(np.float64)
    ticks = _TICKS.get(form)
    return ticks(values) if ticks is not None else values


def _shuffled(values: npt.NDArray[np.generic]) -> bytes:
    return values.view(np.uint8).reshape(len(values), values.itemsize).T.tobytes()


def _unpacked(data: object, most: int) -> bytes:
    if not isinstance(data, bytes):
        raise BlobError("bytes are missing")
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise BlobError("its bytes are damaged") from error
    if len(plain) > most or not unpacker.eof:
        raise BlobError("its bytes are cut short or unpack to too much")
    return plain
