"""Values of all work-items at once, and C's arithmetic on them.

The payload of an integer is a Python int where all work-items agree, else an array whose last axis
is the work-items and whose leading axes, if any, are turns of loops; an axis of length one stands
for turns that agree. What comes out of memory is :data:`DATA`: nothing is known of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gemmviz.core.access.kinds import (
    BOOL,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    Array,
    Kind,
    Pointer,
    Scalar,
    Strange,
    Vector,
    fits,
)


class Data:
    """The type of :data:`DATA`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "DATA"


class TooWideError(Exception):
    """An array of so many turns of loops that going turn by turn is quicker."""


DATA: Final = Data()
_WIDEST = 2**23
Lanes = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Address:
    """A place in memory: the object and the byte offset in it, an integer's payload."""

    memory: Any
    offset: Any


@dataclass(frozen=True, slots=True)
class Value:
    """A value of all work-items.

    ``data`` is DATA, or for an integer its payload, for a floating-point number a Python float, for
    a vector a tuple of payloads, for a pointer an :class:`Address`.
    """

    kind: Kind
    data: Any


def unknown(kind: Kind) -> Value:
    """A value of which nothing is known."""
    return Value(kind, DATA)


def narrow(payload: Any) -> Any:
    """A payload as it is.

    Raises:
        TooWideError: It has too many turns of loops in it.
    """
    if lane_axis(payload) and payload.ndim > 1 and payload.size > _WIDEST:
        raise TooWideError
    return payload


def lane_axis(payload: Any) -> bool:
    """Whether work-items or turns differ."""
    return isinstance(payload, np.ndarray)


def convert(value: Value, kind: Kind) -> Value:
    """``value`` as another type, by the rules of C; DATA where that cannot be followed."""
    if value.kind == kind:
        return value
    if isinstance(kind, Pointer):
        known = isinstance(value.data, Address)
        return Value(kind, value.data if known else DATA)
    if isinstance(kind, Vector):
        if value.data is DATA or isinstance(value.data, Address):
            return unknown(kind)
        if isinstance(value.data, tuple):
            source = value.kind.scalar if isinstance(value.kind, Vector) else kind.scalar
            parts = value.data
        elif isinstance(value.kind, Scalar):
            source, parts = value.kind, (value.data,) * kind.count
        else:
            return unknown(kind)
        return Value(kind, tuple(convert_payload(part, source, kind.scalar) for part in parts))
    if isinstance(kind, Scalar) and isinstance(value.kind, Scalar):
        return Value(kind, convert_payload(value.data, value.kind, kind))
    return unknown(kind)


def convert_payload(data: Any, source: Scalar, kind: Scalar) -> Any:
    """A scalar's payload as another scalar type."""
    if data is DATA or source == kind:
        return data
    if kind.floating:
        return DATA if lane_axis(data) else float(data)
    if source.floating:
        return fits(int(data), kind) if abs(data) < 2**63 else DATA
    if lane_axis(data):
        return data != 0 if kind.rank == 0 else data.astype(kind.dtype)
    return fits(int(data), kind)


def truth(value: Value) -> Any:
    """A condition's payload: a bool, an array of them, or DATA."""
    data = value.data
    if data is DATA or isinstance(data, tuple):
        return DATA
    if isinstance(data, Address):
        return True
    if lane_axis(data):
        return data if data.dtype == np.bool_ else data != 0
    return data != 0


def promoted(kind: Scalar) -> Scalar:
    """The type that arithmetic turns a scalar into."""
    return INT if kind.rank < INT.rank else kind


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type that an operator brings two scalars to: the usual arithmetic conversions."""
    a, b = promoted(a), promoted(b)
    if a.floating or b.floating:
        return a if a.rank > b.rank else b
    if a.rank == b.rank:
        return a if not a.signed else b
    return a if a.rank > b.rank else b


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip
_DIRECT: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_,
    "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def binary(op: str, a: Value, b: Value) -> Value:
    """``a op b`` for scalars and vectors."""
    if isinstance(a.kind, Vector) or isinstance(b.kind, Vector):
        return _vector_binary(op, a, b)
    if not isinstance(a.kind, Scalar) or not isinstance(b.kind, Scalar):
        return unknown(INT)
    kind = promoted(a.kind) if op in ("<<", ">>") else common(a.kind, b.kind)
    result = BOOL if op in _COMPARE else kind
    if a.data is DATA or b.data is DATA:
        return unknown(result)
    x, y = convert_payload(a.data, a.kind, kind), convert_payload(b.data, b.kind, kind)
    if x is DATA or y is DATA:
        return unknown(result)
    return Value(result, combine(op, x, y, kind))


def combine(op: str, x: Any, y: Any, kind: Scalar) -> Any:
    """Two payloads of one type under an operator, wrapped to the type."""
    if op in _COMPARE:
        return _COMPARE[op](x, y)
    if kind.floating:
        return _float_combine(op, x, y)
    if op in _DIRECT:
        result = _DIRECT[op](x, y)
    elif op in ("<<", ">>"):
        bits = 8 * kind.bytes - 1
        y = y & bits
        result = x << y if op == "<<" else x >> y
    else:
        result = _divide(op, x, y)
    if lane_axis(result):
        return narrow(result).astype(kind.dtype, copy=False)
    return DATA if result is DATA else fits(result, kind)


def _float_combine(op: str, x: float, y: float) -> Any:
    if op == "/":
        return x / y if y else DATA
    if op in ("+", "-", "*"):
        return float(_DIRECT[op](x, y))
    return DATA


def _divide(op: str, x: Any, y: Any) -> Any:
    """Division towards zero and its remainder; lanes that divide by zero get any value."""
    if not lane_axis(x) and not lane_axis(y):
        if y == 0:
            return DATA
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op == "/" else x - quotient * y
    if lane_axis(y):
        y = np.where(y == 0, y.dtype.type(1), y)
    elif y == 0:
        return DATA
    rest = np.fmod(x, y)
    return rest if op == "%" else (x - rest) // y


def _vector_binary(op: str, a: Value, b: Value) -> Value:
    shape = a.kind if isinstance(a.kind, Vector) else b.kind
    assert isinstance(shape, Vector)
    scalars = [value.kind.scalar if isinstance(value.kind, Vector) else value.kind
               for value in (a, b)]  # fmt: skip
    if not all(isinstance(kind, Scalar) for kind in scalars):
        return unknown(shape)
    kind = Vector(shape.scalar, shape.count)
    result = Vector(INT, shape.count) if op in _COMPARE else kind
    x, y = convert(a, kind), convert(b, kind)
    if x.data is DATA or y.data is DATA or kind.scalar.floating:
        return unknown(result)
    parts = []
    for left, right in zip(x.data, y.data, strict=True):
        if left is DATA or right is DATA:
            parts.append(DATA)
            continue
        part = combine(op, left, right, kind.scalar)
        if op in _COMPARE:
            part = -part.astype(np.int32) if lane_axis(part) else -int(part)
        parts.append(part)
    return Value(result, tuple(parts))


def negate(value: Value) -> Value:
    """``-value``."""
    kind = value.kind.scalar if isinstance(value.kind, Vector) else value.kind
    if not isinstance(kind, Scalar):
        return unknown(INT)
    return binary("-", Value(INT, 0), value)


def invert(value: Value) -> Value:
    """``~value``."""
    return binary("^", value, Value(INT, -1))


def denied(value: Value) -> Value:
    """``!value``."""
    test = truth(value)
    if test is DATA:
        return unknown(INT)
    return Value(BOOL, ~test if lane_axis(test) else not test)


def select(test: Any, a: Any, b: Any, kind: Kind) -> Any:
    """Payload ``a`` where ``test``, else ``b``; both of ``kind``. DATA where that is unknown."""
    if test is True or a is b:
        return a
    if test is False:
        return b
    if a is DATA or b is DATA or test is DATA or a is None or b is None:
        return DATA
    if isinstance(kind, Vector):
        return tuple(select(test, x, y, kind.scalar) for x, y in zip(a, b, strict=True))
    if isinstance(a, Address) or isinstance(b, Address):
        if isinstance(a, Address) and isinstance(b, Address) and a.memory is b.memory:
            return Address(a.memory, select(test, a.offset, b.offset, LONG))
        return DATA
    if isinstance(kind, Scalar) and kind.floating:
        return a if a == b else DATA
    if not isinstance(kind, Scalar):
        return DATA
    if not lane_axis(a) and not lane_axis(b) and a == b:
        return a
    dtype = kind.dtype
    return np.where(test, _as(a, dtype), _as(b, dtype))


def _as(payload: Any, dtype: np.dtype[np.generic]) -> Any:
    return payload if lane_axis(payload) else dtype.type(payload)


def constant(kind_name: str, text: str) -> Value:
    """A literal of the source."""
    if kind_name == "char":
        return Value(INT, ord(text.strip("'").encode().decode("unicode_escape")[:1] or "\0"))
    if kind_name == "string":
        return unknown(Strange("string"))
    if "float" in kind_name or "double" in kind_name:
        number = text.rstrip("fFlL") if not text.lower().startswith("0x") else text
        try:
            return Value(FLOAT, float(number))
        except ValueError:
            return unknown(FLOAT)
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    number_value = int(digits, 8 if octal else 0)
    unsigned, wide = "u" in suffix, "l" in suffix
    for kind in (INT, UINT, LONG, ULONG):
        if (wide and kind.bytes < 8) or (unsigned and kind.signed):
            continue
        decimal = not digits.lower().startswith("0x") and not octal
        if not unsigned and not kind.signed and decimal and kind is UINT:
            continue
        if number_value == fits(number_value, kind):
            return Value(kind, number_value)
    return Value(ULONG, fits(number_value, ULONG))


def is_integer(kind: Kind) -> bool:
    """Whether values of ``kind`` are integers or vectors of them."""
    scalar = kind.scalar if isinstance(kind, Vector) else kind
    return isinstance(scalar, Scalar) and not scalar.floating


def float_lanes(kind: Kind) -> int:
    """How many floating-point numbers a value of ``kind`` holds; 0 for anything else."""
    if isinstance(kind, Vector):
        return kind.count if kind.scalar.floating else 0
    return int(isinstance(kind, Scalar) and kind.floating)


def decayed(value: Value, space: Any) -> Value:
    """An array as the address of its first element, as C hands it on."""
    if isinstance(value.kind, Array):
        return Value(Pointer(space, value.kind.element), value.data)
    return value
