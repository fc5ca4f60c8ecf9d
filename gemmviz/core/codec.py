"""Frozen values to JSON and back: one codec for the wire, ``--json`` and files."""

from __future__ import annotations

import json
import math
import types
import typing
from array import array
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from gemmviz.core import messages

T = TypeVar("T")

_TAG = "type"
_MESSAGES: dict[str, type] = {
    kind.__name__: kind
    for kind in (*typing.get_args(messages.Request), *typing.get_args(messages.Message))
}


class CodecError(ValueError):
    """Text or JSON that does not decode to the expected value; the message is one sentence."""


def to_json(value: Any) -> Any:
    """``value`` as what ``json`` writes; non-finite floats become "nan", "inf" and "-inf"."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple | list | array):
        if value and type(value[0]) is float and all(map(math.isfinite, value)):
            return list(value)  # a batch of samples: no walk through each
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    raise CodecError(f"{type(value).__name__} has no JSON form")


def from_json(kind: type[T], data: Any) -> T:
    """The value of type ``kind`` that ``data`` (parsed JSON) stands for.

    Raises:
        CodecError: ``data`` has another shape; the message names the field.
    """
    return typing.cast("T", _decoder(typing.cast("Any", kind))(data, kind.__name__))


def encode_line(message: messages.Request | messages.Message) -> str:
    """A message as one line of JSON, tagged with its type, without the line end."""
    return json.dumps({_TAG: type(message).__name__, **to_json(message)}, allow_nan=False)


def decode_line(line: str) -> messages.Request | messages.Message:
    """The message of one line.

    Raises:
        CodecError: The line is no JSON, of an unknown type, or of another shape.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"not a message: {line[:80]!r}") from error
    tag = data.pop(_TAG, None) if isinstance(data, dict) else None
    kind = _MESSAGES.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise CodecError(f"not a message: {line[:80]!r}")
    try:
        return typing.cast("messages.Request | messages.Message", from_json(kind, data))
    except RecursionError as error:  # in the words for what is wrong with a deep nest
        raise CodecError(f"not a message: {line[:80]!r}") from error


_Decoder = Callable[[Any, str], Any]


@cache
def _decoder(kind: Any) -> _Decoder:
    """A function that turns parsed JSON into ``kind``, made once for each type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_decoder(kind)
    if origin is tuple:
        return _tuple_decoder(arguments)
    if origin is Sequence:
        return _tuple_decoder((*arguments, Ellipsis))
    if origin in (typing.Union, types.UnionType):
        return _union_decoder(arguments)
    if origin is typing.Literal:
        return _literal_decoder(arguments)
    if kind in (int, float, str, bool, types.NoneType):
        return _scalar_decoder(kind)
    raise TypeError(f"no decoder for {kind}")


def _dataclass_decoder(kind: type) -> _Decoder:
    hints = typing.get_type_hints(kind)
    known = {field.name: hints[field.name] for field in fields(kind)}

    def decode(data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            raise CodecError(f"{where} is no object")
        unknown = data.keys() - known.keys()
        if unknown:
            raise CodecError(f"{where} has an unknown field {min(unknown)[:40]!r}")
        try:
            return kind(
                **{
                    name: _decoder(known[name])(item, f"{where}.{name}")
                    for name, item in data.items()
                }
            )
        except TypeError as error:  # a field without default is missing
            raise CodecError(f"{where} lacks a field: {error}") from error

    return decode


def _tuple_decoder(arguments: tuple[Any, ...]) -> _Decoder:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = arguments[0]

        def decode_many(data: Any, where: str) -> Any:
            if not isinstance(data, list):
                raise CodecError(f"{where} is no list")
            if inner in (int, float) and set(map(type, data)) <= {inner}:
                return tuple(data)
            item = _decoder(inner)
            return tuple(item(value, where) for value in data)

        return decode_many

    def decode_fixed(data: Any, where: str) -> Any:
        if not isinstance(data, list) or len(data) != len(arguments):
            raise CodecError(f"{where} is no list of {len(arguments)}")
        return tuple(
            _decoder(kind)(value, where) for kind, value in zip(arguments, data, strict=True)
        )

    return decode_fixed


def _union_decoder(arguments: tuple[Any, ...]) -> _Decoder:
    def decode(data: Any, where: str) -> Any:
        for kind in arguments:
            try:
                return _decoder(kind)(data, where)
            except CodecError:
                continue
        raise CodecError(f"{where} has an unexpected value {str(data)[:40]!r}")

    return decode


def _literal_decoder(arguments: tuple[Any, ...]) -> _Decoder:
    def decode(data: Any, where: str) -> Any:
        if data not in arguments:
            raise CodecError(f"{where} is {str(data)[:40]!r}, not one of {arguments}")
        return data

    return decode


def _scalar_decoder(kind: type) -> _Decoder:
    def decode(data: Any, where: str) -> Any:
        if type(data) is kind:
            return data
        if kind is float:
            if type(data) is int:
                try:
                    return float(data)
                except OverflowError as error:
                    raise CodecError(f"{where} is too large") from error
            if data in ("nan", "inf", "-inf"):
                return float(data)
        raise CodecError(f"{where} is {str(data)[:40]!r}, not {kind.__name__}")

    return decode
