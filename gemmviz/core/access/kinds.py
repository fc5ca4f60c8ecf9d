"""The types of OpenCL C: scalars, vectors, pointers and arrays, with their sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

Space = Literal["private", "local", "global", "constant"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """An integer or floating-point type; ``rank`` orders the conversions of C."""

    name: str
    bytes: int
    floating: bool
    signed: bool
    rank: int

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of the same values."""
        return _DTYPES[self.name]


@dataclass(frozen=True, slots=True)
class Vector:
    """``count`` scalars side by side; three take the room of four."""

    scalar: Scalar
    count: int

    @property
    def bytes(self) -> int:
        """Bytes in memory."""
        return self.scalar.bytes * (4 if self.count == 3 else self.count)


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of a ``target`` in an address space."""

    space: Space
    target: Kind

    @property
    def bytes(self) -> int:
        """Bytes in memory."""
        return 8


@dataclass(frozen=True, slots=True)
class Array:
    """``count`` elements in a row."""

    element: Kind
    count: int

    @property
    def bytes(self) -> int:
        """Bytes in memory."""
        return self.element.bytes * self.count


@dataclass(frozen=True, slots=True)
class Strange:
    """A type that the lens does not follow: a struct, an event, an image."""

    name: str

    @property
    def bytes(self) -> int:
        """Unknown; one byte, so that addresses stay defined."""
        return 1


Kind = Scalar | Vector | Pointer | Array | Strange

BOOL = Scalar("bool", 1, floating=False, signed=False, rank=0)
CHAR = Scalar("char", 1, floating=False, signed=True, rank=1)
UCHAR = Scalar("uchar", 1, floating=False, signed=False, rank=1)
SHORT = Scalar("short", 2, floating=False, signed=True, rank=2)
USHORT = Scalar("ushort", 2, floating=False, signed=False, rank=2)
INT = Scalar("int", 4, floating=False, signed=True, rank=3)
UINT = Scalar("uint", 4, floating=False, signed=False, rank=3)
LONG = Scalar("long", 8, floating=False, signed=True, rank=4)
ULONG = Scalar("ulong", 8, floating=False, signed=False, rank=4)
HALF = Scalar("half", 2, floating=True, signed=True, rank=5)
FLOAT = Scalar("float", 4, floating=True, signed=True, rank=6)
DOUBLE = Scalar("double", 8, floating=True, signed=True, rank=7)
VOID = Strange("void")

_SCALARS = {kind.name: kind for kind in (BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG,
                                         HALF, FLOAT, DOUBLE)}  # fmt: skip
_DTYPES: dict[str, np.dtype[np.generic]] = {
    "bool": np.dtype(np.bool_), "char": np.dtype(np.int8), "uchar": np.dtype(np.uint8),
    "short": np.dtype(np.int16), "ushort": np.dtype(np.uint16), "int": np.dtype(np.int32),
    "uint": np.dtype(np.uint32), "long": np.dtype(np.int64), "ulong": np.dtype(np.uint64),
    "half": np.dtype(np.float16), "float": np.dtype(np.float32), "double": np.dtype(np.float64),
}  # fmt: skip
_OTHER_NAMES = {
    "size_t": ULONG, "ptrdiff_t": LONG, "intptr_t": LONG, "uintptr_t": ULONG, "intmax_t": LONG,
    "uintmax_t": ULONG, "int8_t": CHAR, "uint8_t": UCHAR, "int16_t": SHORT, "uint16_t": USHORT,
    "int32_t": INT, "uint32_t": UINT, "int64_t": LONG, "uint64_t": ULONG, "_Bool": BOOL,
}  # fmt: skip
_VECTOR = re.compile(r"([a-z]+)(2|3|4|8|16)\Z")


def named_kind(names: tuple[str, ...]) -> Kind | None:
    """The built-in type that words such as ``unsigned int`` or ``float4`` name, or None."""
    words = [word for word in names if word not in ("const", "signed", "volatile", "restrict")]
    if len(words) == 1:
        word = words[0]
        if word == "void":
            return VOID
        if word in _SCALARS or word in _OTHER_NAMES:
            return _SCALARS.get(word) or _OTHER_NAMES[word]
        match = _VECTOR.match(word)
        if match and match[1] in _SCALARS:
            return Vector(_SCALARS[match[1]], int(match[2]))
    unsigned = "unsigned" in words
    words = [word for word in words if word != "unsigned"]
    if not words:
        return UINT if unsigned else INT
    for word, signed, without in (
        ("char", CHAR, UCHAR), ("short", SHORT, USHORT), ("long", LONG, ULONG), ("int", INT, UINT)
    ):  # fmt: skip
        if word in words and set(words) <= {word, "int"}:
            return without if unsigned else signed
    return None


def leaf(kind: Kind) -> Scalar | Pointer | Strange:
    """What a value is made of in the end."""
    while isinstance(kind, Array | Vector):
        kind = kind.element if isinstance(kind, Array) else kind.scalar
    return kind


def fits(value: int, kind: Scalar) -> int:
    """An integer as ``kind`` holds it: wrapped around as the machine does."""
    if kind.rank == 0:
        return int(value != 0)
    bits = 8 * kind.bytes
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind.signed and value >> (bits - 1) else value


def components(name: str, count: int) -> tuple[int, ...] | None:
    """Which parts of a vector of ``count`` a name such as ``x``, ``s3``, ``lo`` or ``wzyx`` is."""
    half = (count + 1) // 2
    halves = {"lo": (0, half), "hi": (half, 2 * half)}
    if name in halves:
        return tuple(range(*halves[name]))
    if name in ("even", "odd"):
        return tuple(range(int(name == "odd"), 2 * half, 2))
    letters = "xyzw"
    if name[:1] in ("s", "S") and len(name) > 1:
        try:
            parts = tuple(int(letter, 16) for letter in name[1:])
        except ValueError:
            return None
    elif all(letter in letters for letter in name):
        parts = tuple(letters.index(letter) for letter in name)
    else:
        return None
    return parts if parts and all(part < count for part in parts) else None
