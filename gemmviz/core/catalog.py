"""Reads kernel variants: a ``.toml`` checked key by key and the ``.cl`` beside it."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gemmviz.core.formulas import fault_of
from gemmviz.core.libraries import LIBRARIES
from gemmviz.core.model import ELEMENTS, Argument, Parameter, Variant

MATRICES = ("A", "B", "C")
SIZES = ("M", "N", "K", "lda", "ldb", "ldc")
SCALARS = ("alpha", "beta")
C_TYPES = ("int", "uint", "long", "ulong", "float", "double", "real")

_TABLES = {"local", "value", "buffer", "scratch", "tensor_map"}
_SWIZZLES = (0, 32, 64, 128)

_REQUIRED = ("title", "summary", "family", "order", "arguments", "group", "tile", "dims",
             "local_bytes", "shapes")  # fmt: skip
_CHOICES: dict[str, tuple[str, ...]] = {
    "order": ("row", "column"),
    "shapes": ("any", "exact", "square"),
    "operation": ("multiply", "add"),
    "expect": ("verified", "wrong"),
    "precision": ("element", "tf32", "tf32x3"),
    "build": ("ptx-sm_90a",),
}
_TEXTS = ("title", "summary", "family", "idea", "finding", "right_when", "local_bytes", "entry")
_KNOWN = {*_REQUIRED, *_CHOICES, *_TEXTS, "rung", "require", "needs", "elements", "parameters",
          "general", "groups", "stored"}  # fmt: skip
# A library has neither source nor work-groups, so its file says only what it is; parameters are
# those of its own kernels.
_REQUIRED_OF_LIBRARY = ("title", "summary", "family", "library", "elements")
_KNOWN_OF_LIBRARY = {*_REQUIRED_OF_LIBRARY, "rung", "needs", "precision", "general",
                     "require", "parameters"}  # fmt: skip
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ATTRIBUTE = r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*"
_KERNEL = re.compile(rf"\b(?:__)?kernel\s+(?:{_ATTRIBUTE})*void\s+(?:{_ATTRIBUTE})*(\w+)\s*\(")
_MAX_BYTES = 4 * 2**20
_MAX_INTEGER = 2**63
_MAX_SHOWN = 60
_MAX_REASON = 1500


class CatalogError(ValueError):
    """A variant that cannot be loaded: the file, the key in it ("" if none) and the reason."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        # A file may name anything, of any length.
        key, reason = key[:_MAX_SHOWN], reason[:_MAX_REASON]
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")
        self.file, self.key, self.reason = file, key, reason


@dataclass(frozen=True, slots=True)
class Catalog:
    """The variants that load, sorted for a menu, and those that do not."""

    variants: tuple[Variant, ...]
    problems: tuple[CatalogError, ...] = ()

    def find(self, variant_id: str) -> Variant:
        """The variant with this id.

        Raises:
            KeyError: There is none; its argument is a hint at the one that may be meant, or "".
        """
        for variant in self.variants:
            if variant.id == variant_id:
                return variant
        raise KeyError(_meant(variant_id, (variant.id for variant in self.variants)))


def load_catalog(folder: Path) -> Catalog:
    """Every ``*.toml`` of ``folder``; one that does not load hides no other."""
    variants: list[Variant] = []
    problems: list[CatalogError] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            variants.append(load_variant(path))
        except CatalogError as error:
            problems.append(error)
    variants.sort(key=lambda variant: (variant.family, variant.rung, variant.id))
    return Catalog(tuple(variants), tuple(problems))


def load_variant(path: Path) -> Variant:
    """The variant of a ``.toml`` and the ``.cl`` of the same name beside it.

    One that names a ``library`` has no ``.cl``.

    Raises:
        CatalogError: A file is missing or unreadable, or a key is unknown, missing or wrong.
    """
    try:
        data = tomllib.loads(_read(path, path.name))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, CatalogError):
            raise
        raise CatalogError(path.name, "", f"this is no TOML: {error}") from error
    # The id becomes a file name in compilers' messages, so it holds no quotes or odd bytes.
    stem = re.sub(r"[^\w.-]", "_", path.stem)
    if "library" in data:
        return _Reader(path.name, data).library(stem)
    return _Reader(path.name, data).variant(stem, _read(path.with_suffix(".cl"), path.name))


def load_own(path: Path) -> Variant:
    """A person's own kernel: as :func:`load_variant`, in a family of its own.

    Whatever its file says: it is then the same kernel wherever it was opened.

    Raises:
        CatalogError: As there.
    """
    return replace(load_variant(path), family="user")


def _read(path: Path, blamed: str) -> str:
    """The text of ``path``; public kernels are not always UTF-8, and Latin-1 reads any byte."""
    try:
        if not path.is_file():
            reason = "it is no file" if path.exists() else "it does not exist"
            raise CatalogError(blamed, "", f"{path} cannot be read: {reason}")
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CatalogError(blamed, "", f"{path.name} cannot be read: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise CatalogError(blamed, "", f"{path.name} is larger than 4 MiB")
    if b"\0" in raw:
        raise CatalogError(blamed, "", f"{path.name} is no text file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _meant(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that ``word`` resembles, or ""."""
    near = difflib.get_close_matches(word, sorted(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def _shown(value: object) -> str:
    """``value`` as the file has it, cut to what fits into a sentence."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # too many digits, or nested too deeply
        return "this value"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


class _Reader:
    """Turns one parsed file into a Variant, blaming file and key for what is wrong."""

    def __init__(self, file: str, data: Mapping[str, Any]) -> None:
        self._file, self._data = file, data

    def _error(self, key: str, reason: str) -> CatalogError:
        return CatalogError(self._file, key, reason)

    def _check_keys(self, known: Iterable[str], required: Iterable[str]) -> None:
        for key in self._data:
            if key not in known:
                raise self._error(key, f"this key is unknown{_meant(key, known)}")
        for key in required:
            if key not in self._data:
                raise self._error(key, "this key is missing")

    def library(self, stem: str) -> Variant:
        """A library's variant: one group of one item that has the whole of C for its tile."""
        self._check_keys(_KNOWN_OF_LIBRARY, _REQUIRED_OF_LIBRARY)
        name = self._data["library"]
        if not isinstance(name, str) or name not in LIBRARIES:
            listed = ", ".join(LIBRARIES)
            raise self._error("library", f"{_shown(name)} is not one of {listed}")
        variant = Variant(
            id=stem,
            title=self._text("title"),
            summary=self._text("summary"),
            family=self._text("family"),
            precision=self._choice("precision") if "precision" in self._data else "element",
            order="row",
            arguments=(),
            group=("1",),
            tile_rows="M",
            tile_cols="N",
            dims=("rows",),
            local_bytes="0",
            shapes="any",
            source="",
            entry="",
            rung=self._integer("rung", self._data.get("rung", 0)),
            needs=self._strings("needs"),
            elements=self._elements(""),
            library=name,
            general=self._flag("general"),
            require=self._formulas("require", self._data.get("require", [])),
            parameters=self._parameters(None),
        )
        return self._sound(variant)

    def variant(self, stem: str, source: str) -> Variant:
        self._check_keys(_KNOWN, _REQUIRED)
        texts = {key: self._text(key) for key in _TEXTS if key in self._data and key != "entry"}
        choices = {key: self._choice(key) for key in _CHOICES if key in self._data}
        tile = self._data["tile"]
        if not isinstance(tile, dict) or tile.keys() != {"rows", "cols"}:
            raise self._error("tile", 'this must be { rows = "...", cols = "..." }')
        variant = Variant(
            id=stem,
            **texts,
            **choices,
            arguments=self._arguments(),
            group=self._formulas("group", self._list("group")),
            tile_rows=self._formula("tile", tile["rows"]),
            tile_cols=self._formula("tile", tile["cols"]),
            dims=self._strings("dims", ("rows", "cols")),
            source=source,
            entry=self._entry(source),
            rung=self._integer("rung", self._data.get("rung", 0)),
            require=self._formulas("require", self._data.get("require", [])),
            needs=self._strings("needs"),
            elements=self._elements(source),
            parameters=self._parameters(source),
            general=self._general(source),
            groups=self._formula("groups", self._data.get("groups", "")),
            stored=self._strings("stored", tuple(ELEMENTS)),
        )
        return self._sound(variant)

    def _sound(self, variant: Variant) -> Variant:
        """``variant``, each of whose formulas has a value."""
        fault = fault_of(variant)
        if fault is not None:
            raise self._error(fault.key, fault.reason)
        return variant

    def _text(self, key: str) -> str:
        value = self._data[key]
        if key == "local_bytes" and type(value) is int:
            return str(self._integer(key, value))
        if not isinstance(value, str):
            raise self._error(key, "this must be a text")
        return " ".join(value.split())

    def _flag(self, key: str) -> bool:
        value = self._data.get(key, False)
        if not isinstance(value, bool):
            raise self._error(key, f"{_shown(value)} is neither true nor false")
        return value

    def _general(self, source: str) -> bool:
        """Whether the kernel says it is general; one that ignores what that means cannot be."""
        if not self._flag("general"):
            return False
        if self._data.get("operation", "multiply") != "multiply":
            raise self._error("general", "only a multiplication can be general")
        code = _COMMENT.sub(" ", source)
        for macro in ("TRANSPOSE_A", "TRANSPOSE_B"):
            if not re.search(rf"\b{macro}\b", code):
                raise self._error("general", f"the kernel's source never uses {macro}")
        for name in SCALARS:
            if name not in self._list("arguments"):
                raise self._error("general", f"{name} is missing among the arguments")
        return True

    def _choice(self, key: str) -> str:
        value = self._data[key]
        if value not in _CHOICES[key]:
            raise self._error(key, f"{_shown(value)} is not one of {', '.join(_CHOICES[key])}")
        return str(value)

    def _list(self, key: str) -> list[Any]:
        value = self._data.get(key, [])
        if not isinstance(value, list):
            raise self._error(key, "this must be a list")
        return value

    def _strings(self, key: str, allowed: tuple[str, ...] = ()) -> tuple[str, ...]:
        values = self._list(key)
        for value in values:
            if not isinstance(value, str) or (allowed and value not in allowed):
                raise self._error(key, f"{_shown(value)} is not allowed here")
        return tuple(values)

    def _integer(self, key: str, value: Any) -> int:
        if type(value) is not int:
            raise self._error(key, f"{_shown(value)} is no integer")
        if abs(value) >= _MAX_INTEGER:
            raise self._error(key, "an integer is too large for 64 bits")
        return value

    def _formula(self, key: str, value: Any) -> str:
        if type(value) is int:
            return str(self._integer(key, value))
        if not isinstance(value, str):
            raise self._error(key, f"{_shown(value)} is no formula")
        return value

    def _formulas(self, key: str, values: Any) -> tuple[str, ...]:
        if not isinstance(values, list):
            raise self._error(key, "this must be a list")
        return tuple(self._formula(key, value) for value in values)

    def _arguments(self) -> tuple[Argument, ...]:
        arguments = tuple(self._argument(item) for item in self._list("arguments"))
        if Argument("matrix", "C") not in arguments:
            raise self._error("arguments", "C is missing, so there is no answer to check")
        return arguments

    def _argument(self, item: Any) -> Argument:
        if isinstance(item, str):
            for kind, names in (("matrix", MATRICES), ("size", SIZES), ("scalar", SCALARS)):
                if item in names:
                    return Argument(kind, item)
            raise self._error("arguments", f"{_shown(item)} is unknown")
        kinds = (_TABLES & item.keys()) if isinstance(item, dict) else set()
        if kinds == {"tensor_map"}:
            return self._tensor_map(item)
        if len(kinds) != 1 or item.keys() - kinds - {"type"}:
            raise self._error("arguments", f"{_shown(item)} is no argument")
        kind = kinds.pop()
        c_type = item.get("type", "int")
        if c_type not in C_TYPES:
            raise self._error("arguments", f"{_shown(c_type)} is not one of {', '.join(C_TYPES)}")
        text = item[kind]
        if kind == "value" and type(text) is float and math.isfinite(text):
            return Argument("constant", repr(text), str(c_type))
        return Argument(kind, self._formula("arguments", text), str(c_type))

    def _tensor_map(self, item: Mapping[str, Any]) -> Argument:
        name, box, swizzle = item["tensor_map"], item.get("box"), item.get("swizzle", 0)
        if item.keys() - {"tensor_map", "box", "swizzle"} or name not in MATRICES:
            raise self._error("arguments", f"{_shown(item)} is no argument")
        if not isinstance(box, list) or len(box) != 2:
            raise self._error("arguments", "a tensor map's box has two sizes: along a row, across")
        if swizzle not in _SWIZZLES:
            listed = ", ".join(map(str, _SWIZZLES))
            raise self._error("arguments", f"{_shown(swizzle)} is not one of {listed}")
        return Argument("tensor_map", name, "real", self._formulas("arguments", box), int(swizzle))

    def _entry(self, source: str) -> str:
        kernels = _KERNEL.findall(_COMMENT.sub(" ", source))
        entry = self._data.get("entry")
        if entry is None:
            if len(kernels) != 1:
                found = ", ".join(kernels) or "none"
                raise self._error("entry", f"name the kernel; the source has: {found}")
            return str(kernels[0])
        if not isinstance(entry, str) or not entry.isidentifier():
            raise self._error("entry", f"{_shown(entry)} is no kernel name")
        return entry

    def _elements(self, source: str) -> tuple[str, ...]:
        if "elements" in self._data:
            return self._strings("elements", tuple(ELEMENTS)) or ("float",)
        code = _COMMENT.sub(" ", source)
        # A kernel that names its type outright would misread a buffer of another type.
        if re.search(r"\breal\b", code):
            return tuple(ELEMENTS)
        written = tuple(name for name in ELEMENTS if re.search(rf"\b{name}\d*\b", code))
        return written[:1] if len(written) == 1 else ("float",)

    def _parameters(self, source: str | None) -> tuple[Parameter, ...]:
        table = self._data.get("parameters", {})
        if not isinstance(table, dict):
            raise self._error("parameters", "this must be a table")
        return tuple(self._parameter(name, entry, source) for name, entry in table.items())

    def _parameter(self, name: str, entry: Any, source: str | None) -> Parameter:
        key = f"parameters.{name}"
        if not _MACRO.match(name):
            raise self._error(key, "a parameter is an upper-case macro")
        if not isinstance(entry, dict) or not {"default", "values"} <= entry.keys():
            raise self._error(key, "default and values are needed")
        if entry.keys() - {"default", "values", "help"}:
            raise self._error(key, "only default, values and help are known here")
        if not isinstance(entry["values"], list) or not entry["values"]:
            raise self._error(key, "values must be a list of integers")
        values = tuple(self._integer(key, value) for value in entry["values"])
        default = self._integer(key, entry["default"])
        if default not in values:
            raise self._error(key, f"the default {default} is not among its values")
        if source is not None and not re.search(rf"\b{name}\b", source):
            raise self._error(key, "the kernel's source never uses it")
        about = entry.get("help", "")
        if not isinstance(about, str):
            raise self._error(key, "help must be a text")
        return Parameter(name, default, values, about)
