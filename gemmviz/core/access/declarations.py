"""Names and types: what a declaration makes, and which object a name stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, cast

from pycparser import c_ast

from gemmviz.core.access.kinds import Array, Kind, Pointer, Scalar, Space, Strange, leaf, named_kind
from gemmviz.core.access.lanes import Lanes
from gemmviz.core.access.memory import Memory
from gemmviz.core.access.source import Program
from gemmviz.core.access.state import State
from gemmviz.core.access.values import DATA, Value, convert, convert_payload, lane_axis

_SPACES = {"global": "global", "local": "local", "constant": "constant", "private": "private"}


class Declarations(State, ABC):
    """Scopes, declarations and types; expressions are built on it.

    Args:
        program: What is evaluated.
        lanes: Its work-items.
        extra: Elements to add to the inner row of every local array of two or more dimensions.
    """

    def __init__(self, program: Program, lanes: Lanes, extra: int = 0) -> None:
        super().__init__(lanes)
        self.program, self.extra = program, extra
        self.known: dict[Memory, Any] = {}
        self.locals: dict[int, Memory] = {}
        self.padded_arrays = 0
        self.file_scope: dict[str, Memory] = {}
        self.typedefs: dict[str, tuple[Kind, Space]] = {}
        self.scopes: list[dict[str, Memory]] = []

    @abstractmethod
    def evaluate(self, node: Any) -> Value:
        """The value of an expression."""

    def find(self, name: str) -> Memory | None:
        """The object of a name as seen from the present scope."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.file_scope.get(name)

    def bind(self, name: str, memory: Memory) -> None:
        """Gives a name to an object in the innermost scope."""
        (self.scopes[-1] if self.scopes else self.file_scope)[name] = memory

    def held(self, memory: Memory, offset: Any) -> Any:
        """What is known of a buffer's content at an offset: the number it was made for."""
        known = self.known.get(memory, DATA)
        return known if not lane_axis(offset) and offset == 0 else DATA

    def kind_of(self, node: Any) -> tuple[Kind, Space]:
        """The type that a declarator describes, and the address space of the object."""
        match node:
            case c_ast.PtrDecl():
                target, space = self.kind_of(node.type)
                return Pointer(space, target), _space(node.quals)
            case c_ast.ArrayDecl():
                element, space = self.kind_of(node.type)
                return Array(element, self._count(node)), space
            case c_ast.TypeDecl():
                kind, space = self.kind_of(node.type)
                return kind, _space(node.quals, space)
            case c_ast.IdentifierType(names=names):
                kind_named = named_kind(tuple(names))
                if kind_named is not None:
                    return kind_named, "private"
                return self.typedefs.get(names[-1], (Strange(" ".join(names)), "private"))
            case c_ast.Enum():
                self._enumerate(node)
                return cast("Scalar", named_kind(("int",))), "private"
            case c_ast.Struct() | c_ast.Union():
                return Strange(f"struct {node.name or ''}".strip()), "private"
        return Strange(type(node).__name__), "private"

    def _count(self, node: Any) -> int:
        if node.dim is None:
            return 0
        count = self.evaluate(node.dim).data
        if isinstance(count, int) and 0 <= count < 2**31:
            return count
        self.note(node, "The length of this array is not a constant.")
        return 1

    def _enumerate(self, node: Any) -> None:
        value = -1
        for item in node.values.enumerators if node.values else ():
            given = self.evaluate(item.value).data if item.value is not None else value + 1
            value = given if isinstance(given, int) else 0
            memory = self.new_memory(item.name, "private", cast("Scalar", named_kind(("int",))))
            memory.cells = [value]
            self.bind(item.name, memory)

    def declare(self, node: Any) -> None:
        """Executes a declaration: an object, a type's name, or a function, which is passed over."""
        if isinstance(node, c_ast.Typedef):
            self.typedefs[node.name] = self.kind_of(node.type)
            return
        if not isinstance(node, c_ast.Decl):
            self.note(node, f"{type(node).__name__} is outside what the access lens follows.")
            return
        if isinstance(node.type, c_ast.Enum | c_ast.Struct | c_ast.Union):
            self.kind_of(node.type)
            return
        if not isinstance(node.type, c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl):
            return
        kind, space = self.kind_of(node.type)
        if space == "local":
            self.bind(node.name, self._local_array(node, kind))
            return
        if isinstance(kind, Array) and kind.count == 0 and isinstance(node.init, c_ast.InitList):
            kind = Array(kind.element, len(node.init.exprs))
        memory = self.new_memory(node.name, space, kind, row_length=_row(kind))
        if node.init is not None:
            self._initialise(memory, node.init)
        self.bind(node.name, memory)

    def _local_array(self, node: Any, kind: Kind) -> Memory:
        """The one object of a local declaration, however often it is passed."""
        memory = self.locals.get(id(node))
        if memory is None:
            if isinstance(kind, Array) and isinstance(kind.element, Array):
                self.padded_arrays += 1
                kind = _lengthened(kind, self.extra)
            memory = self.new_memory(node.name, "local", kind, row_length=_row(kind))
            self.locals[id(node)] = memory
        return memory

    def _initialise(self, memory: Memory, node: Any) -> None:
        if not isinstance(node, c_ast.InitList):
            value = convert(self.evaluate(node), memory.kind)
            memory.store(0, memory.kind, value.data, True, _set)
            return
        flat = [self.evaluate(item) for item in _items(node)]
        if memory.cells is None or not isinstance(memory.leaf, Scalar):
            return
        memory.cells[:] = [0] * len(memory.cells)
        for place, value in enumerate(flat[: len(memory.cells)]):
            known = isinstance(value.kind, Scalar)
            data = convert_payload(value.data, value.kind, memory.leaf) if known else DATA  # type: ignore[arg-type]
            memory.cells[place] = data


def _set(memory: Memory, index: int, data: Any) -> None:
    """Writes into an object so young that no loop has to undo it."""
    assert memory.cells is not None
    memory.cells[index] = data


def _space(quals: Any, inherited: Space = "private") -> Space:
    for word in quals or ():
        name = str(word).strip("_")
        if name in _SPACES:
            return cast("Space", _SPACES[name])
    return inherited


def _row(kind: Kind) -> int:
    """Scalars from one row to the next of an array; its whole length where it has but one."""
    while isinstance(kind, Array) and isinstance(kind.element, Array):
        kind = kind.element
    return kind.bytes // max(1, leaf(kind).bytes)


def _lengthened(kind: Array, extra: int) -> Array:
    if isinstance(kind.element, Array):
        return Array(_lengthened(kind.element, extra), kind.count)
    return Array(kind.element, kind.count + extra)


def _items(node: Any) -> list[Any]:
    """The expressions of a nested initialiser in order; gaps are not filled."""
    return [one for item in node.exprs
            for one in (_items(item) if isinstance(item, c_ast.InitList) else [item])]  # fmt: skip
