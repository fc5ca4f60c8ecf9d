"""From the source that is built to a syntax tree that keeps the lines of the kernel's own file."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pcpp
from pycparser import c_ast
from pycparserext.ext_c_parser import OpenCLCParser

from gemmviz.core.access.errors import LensError

_PREDEFINED = {
    "__OPENCL_VERSION__": "120",
    "__OPENCL_C_VERSION__": "120",
    "CL_VERSION_1_0": "100",
    "CL_VERSION_1_1": "110",
    "CL_VERSION_1_2": "120",
    "__ENDIAN_LITTLE__": "1",
    "__kernel_exec(X, T)": "",
}
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma\b.*$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"__attribute(?:__)?\s*\(")
# The parser knows no suffix of half.
_HALF = re.compile(r"(?<![\w.])((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)[hH]\b")
_WHERE = re.compile(r"^[^:]*:(\d+):\d+:\s*(.*)$", re.DOTALL)
_LINE = re.compile(r'^#line 1 ".*"$', re.MULTILINE)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A parsed source: its kernel, its other functions, and what stands outside of them.

    ``lines`` are those of the kernel's own file, as a person wrote them.
    """

    entry: Any
    functions: Mapping[str, Any]
    declarations: tuple[Any, ...]
    lines: tuple[str, ...]


@lru_cache(maxsize=64)
def parse(source: str, entry: str) -> Program:
    """The syntax tree of an assembled source.

    Args:
        source: Macros, then a line ``#line 1 "<file>"``, then the file.
        entry: The name of the kernel.

    Raises:
        LensError: It does not preprocess or parse, or has no such kernel.
    """
    text = _without_attributes(_PRAGMA.sub("", preprocess(source)))
    text = _HALF.sub(r"\1f", text)
    parser = OpenCLCParser()
    try:
        tree = parser.parse(text)
    except RecursionError as error:
        raise LensError("The source is nested too deeply to be followed.") from error
    except Exception as error:
        raise _parse_error(error, parser) from error
    functions: dict[str, Any] = {}
    declarations: list[Any] = []
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            functions[node.decl.name] = node
        else:
            declarations.append(node)
    if entry not in functions:
        raise LensError(f"The source has no kernel {entry}.")
    return Program(functions[entry], functions, tuple(declarations), _own_lines(source))


def preprocess(source: str) -> str:
    """The source with macros expanded and comments removed, line for line.

    Raises:
        LensError: A directive is wrong, or an ``#error`` is reached.
    """
    found: list[tuple[int, str]] = []
    tool = pcpp.Preprocessor()
    tool.line_directive = None  # it would number the assembled source, not the kernel's file
    tool.on_error = lambda _file, line, message: found.append((line, message))
    tool.on_directive_unknown = lambda directive, tokens, _passed, _before: _unknown_directive(
        directive, tokens, found
    )
    tool.on_file_open = _refuse_file
    for name, value in _PREDEFINED.items():
        tool.define(f"{name} {value}")
    out = io.StringIO()
    try:
        tool.parse(source, "source")
        tool.write(out)
    except Exception as error:
        raise LensError(f"The source cannot be preprocessed: {error}.") from error
    if found:
        line, message = found[0]
        raise LensError(f"The preprocessor stops: {message.strip()}.", _own_line(source, line))
    return out.getvalue()


def _refuse_file(_is_system: bool, name: str) -> Any:
    """Opens nothing: a source may be a stranger's, and is built without files beside it."""
    raise FileNotFoundError(name)


def _unknown_directive(directive: Any, tokens: Any, found: list[tuple[int, str]]) -> bool | None:
    """Notes ``#error``; lets pragmas and ``#line`` pass into the output."""
    if directive.value == "error":
        text = "".join(token.value for token in tokens).strip().strip('"')
        found.append((directive.lineno, f"#error {text}"))
        return True
    return True if directive.value == "warning" else None


def _parse_error(error: Exception, parser: Any) -> LensError:
    """Where and before what the parser stops; it does not always say the line itself."""
    match = _WHERE.match(str(error))
    if match is not None:
        detail = " ".join(match[2].split()).replace("before: ", "before ")
        return LensError(f"The source cannot be parsed at line {match[1]} ({detail}).",
                         int(match[1]))  # fmt: skip
    line = getattr(parser.clex, "_lineno", None)
    return LensError(f"The source cannot be parsed at line {line}.", line)


def _own_lines(source: str) -> tuple[str, ...]:
    match = _LINE.search(source)
    return tuple((source[match.end() + 1 :] if match else source).splitlines())


def _own_line(source: str, line: int) -> int | None:
    """A line of the assembled source as one of the kernel's file, or None in front of it."""
    match = _LINE.search(source)
    head = source[: match.end()].count("\n") + 1 if match else 0
    return line - head if line > head else None


def _without_attributes(text: str) -> str:
    """Attributes say nothing about addresses, and stand where the parser takes none."""
    kept: list[str] = []
    start = 0
    for match in _ATTRIBUTE.finditer(text):
        if match.start() < start:
            continue
        kept.append(text[start : match.start()])
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        kept.append("\n" * text.count("\n", match.start(), end))
        start = end
    return "".join(kept) + text[start:]


def written(program: Program, line: int, name: str, turn: int, expanded: str) -> str:
    """An access as the source writes it: ``As[ty][k]`` rather than with its macros expanded.

    Args:
        program: What was parsed.
        line: Where the access stands.
        name: What it starts with, up to its first bracket.
        turn: Which one of that name on that line it is, from 0.
        expanded: What to say where the source does not show it.
    """
    if not 1 <= line <= len(program.lines):
        return expanded
    row = program.lines[line - 1].partition("//")[0]
    starts = [m.start() for m in re.finditer(rf"(?<![\w.>]){re.escape(name)}\s*\[", row)]
    if turn >= len(starts):
        return expanded
    start = starts[turn]
    end = start + len(name)
    while (opened := len(row) - len(row[end:].lstrip())) < len(row) and row[opened] == "[":
        closed = _closing(row, opened)
        if closed is None:
            return expanded
        end = closed + 1
    return row[start:end]


def _closing(row: str, opened: int) -> int | None:
    """Where the bracket at ``opened`` is closed, or None on another line."""
    depth = 0
    for place in range(opened, len(row)):
        depth += {"[": 1, "]": -1}.get(row[place], 0)
        if depth == 0:
            return place
    return None
