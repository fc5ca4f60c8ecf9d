"""The schema of exported results, made of the types that the codec reads.

``python -m tests.core.result_schema`` writes it where it belongs; a test sees to it that it is
there as it should be, and another that exported documents keep to it.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from gemmviz.core.model import Result
from gemmviz.core.paths import data_dir
from gemmviz.core.result_document import FORMAT, VERSION
from gemmviz.core.result_figures import COLUMNS, RELATIVE

PATH = data_dir("resources") / "result.schema.json"
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
_SCALARS: dict[Any, dict[str, Any]] = {
    int: {"type": "integer"},
    float: _NUMBER,
    str: {"type": "string"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
}


def make_schema() -> dict[str, Any]:
    """The schema, in the draft of 2020-12."""
    definitions: dict[str, Any] = {}
    result = _schema(Result, definitions)
    figures = {
        "type": "object",
        "description": "Computed from the result, for other programs; null is not known. Times are "
        "of one launch.",
        "properties": {name: {} for name in COLUMNS if name not in RELATIVE},
    }
    entry = {
        "type": "object",
        "required": ["result"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "integer", "description": "The number in the file it comes from."},
            "figures": figures,
            "result": result,
            "samples_recorded": {
                "type": "integer",
                "description": "How many samples there were, where only an even part is kept.",
            },
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT,
        "description": "Results that gemmviz exports as JSON, and that its pictures carry in "
        "the text chunk 'gemmviz'. All units are SI base units, named in the keys. Numbers that "
        'JSON has no sign for are "nan", "inf" and "-inf". A field that is left out has the value '
        "that its description or its default says.",
        "type": "object",
        "required": ["format", "version", "results"],
        "additionalProperties": False,
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "app_version": {"type": "string"},
            "chart": {"type": "string", "description": "The tab that has the chart of a picture."},
            "sweep": {
                "type": "string",
                "description": "Of a picture of a sweep: what tells this sweep from others.",
            },
            "results": {"type": "array", "items": entry},
        },
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if is_dataclass(kind):
        return _reference(kind, definitions)
    if origin in (tuple, Sequence):
        if origin is Sequence or arguments[1:] == (Ellipsis,):
            return {"type": "array", "items": _schema(arguments[0], definitions)}
        items = [_schema(each, definitions) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items),
                "maxItems": len(items)}  # fmt: skip
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(each, definitions) for each in arguments]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    return dict(_SCALARS[kind])


def _reference(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # before its fields, which may lead back here
        hints = typing.get_type_hints(kind)
        definitions[name] = {
            "type": "object",
            "description": inspect.getdoc(kind),
            "additionalProperties": False,
            "required": [
                field.name
                for field in fields(kind)
                if field.default is MISSING and field.default_factory is MISSING
            ],
            "properties": {
                field.name: _schema(hints[field.name], definitions) for field in fields(kind)
            },
        }
    return {"$ref": f"#/$defs/{name}"}


def schema_text() -> str:
    """The schema as it stands in the file."""
    return json.dumps(make_schema(), indent=1, ensure_ascii=False) + "\n"


class SchemaError(AssertionError):
    """A value that a schema does not allow; the message says where."""


def conform(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "$") -> None:
    """Check a value against the words that these schemas use.

    Raises:
        SchemaError: It does not keep to them.
    """
    if "$ref" in schema:
        conform(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, where)
        return
    if "anyOf" in schema:
        for each in schema["anyOf"]:
            try:
                conform(value, each, root, where)
            except SchemaError:
                continue
            return
        raise SchemaError(f"{where}: {value!r} is none of {schema['anyOf']}")
    if "const" in schema and value != schema["const"]:
        raise SchemaError(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise SchemaError(f"{where}: {value!r} is none of {schema['enum']}")
    _conform_type(value, schema.get("type"), where)
    if isinstance(value, dict):
        _conform_object(value, schema, root, where)
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            raise SchemaError(f"{where} has {len(value)} items")
        each = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
        for place, (item, wanted) in enumerate(zip(value, each, strict=True)):
            conform(item, wanted, root, f"{where}[{place}]")


def _conform_object(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], where: str
) -> None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise SchemaError(f"{where} lacks {name}")
    for name, item in value.items():
        if name in known:
            conform(item, known[name], root, f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            raise SchemaError(f"{where} has {name}")


def _conform_type(value: Any, wanted: str | list[str] | None, where: str) -> None:
    if wanted is None:
        return
    named = {
        bool: ("boolean",), int: ("integer", "number"), float: ("number",), str: ("string",),
        type(None): ("null",), list: ("array",), dict: ("object",),
    }  # fmt: skip
    allowed = [wanted] if isinstance(wanted, str) else wanted
    if not set(named[type(value)]) & set(allowed):
        raise SchemaError(f"{where}: {value!r} is no {wanted}")


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
