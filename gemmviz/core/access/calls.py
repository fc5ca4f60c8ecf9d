"""Calls: the built-in functions of OpenCL C, and the functions of the source itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from gemmviz.core.access.expressions import Expressions, Place
from gemmviz.core.access.kinds import (
    FLOAT,
    HALF,
    INT,
    LONG,
    UCHAR,
    UINT,
    ULONG,
    Kind,
    Pointer,
    Scalar,
    Vector,
    leaf,
    named_kind,
)
from gemmviz.core.access.values import (
    DATA,
    Address,
    Value,
    binary,
    combine,
    common,
    convert,
    float_lanes,
    is_integer,
    lane_axis,
    select,
    truth,
    unknown,
)
from gemmviz.core.access.vocabulary import (
    ATOMIC,
    CONVERT,
    FLOAT_CALLS,
    INTEGER_CALLS,
    LOAD,
    SILENT,
    STORE,
    STRANGE,
)

_DEEPEST_CALL = 16


class Calls(Expressions):
    """The evaluation of calls; statements are built on it."""

    depth = 0

    @abstractmethod
    def run_function(self, function: Any, arguments: list[Value]) -> Value:
        """Executes a function of the source."""

    def call(self, node: Any) -> Value:
        """The value of a call, with what it reads and writes recorded."""
        name = getattr(node.name, "name", "")
        arguments = [self.evaluate(part) for part in (node.args.exprs if node.args else ())]
        if name in self.program.functions:
            return self._own(node, name, arguments)
        try:
            return self._built_in(node, name, arguments)
        except (IndexError, AttributeError):
            self.note(node, f"{name}() is called with arguments that do not fit it.")
            return unknown(INT)

    def _own(self, node: Any, name: str, arguments: list[Value]) -> Value:
        if self.depth >= _DEEPEST_CALL:
            self.note(node, f"{name}() calls itself too deeply to be followed.")
            return unknown(INT)
        self.depth += 1
        result = self.run_function(self.program.functions[name], arguments)
        self.depth -= 1
        return result

    def _built_in(self, node: Any, name: str, arguments: list[Value]) -> Value:
        if name.startswith("get_"):
            found = self._geometry(name, arguments)
            if found is not None:
                return found
        if name in SILENT:
            return unknown(INT)
        if name in _INTEGERS:
            return _integers(name, arguments)
        if name in ("mad", "fma", "dot"):
            count = float_lanes(arguments[0].kind)
            self.count_flops(2 * count - (name == "dot"))
            kind = arguments[0].kind
            return unknown(leaf(kind) if name == "dot" else kind)
        if name in FLOAT_CALLS:
            return unknown(arguments[0].kind)
        if name in INTEGER_CALLS:
            whole = is_integer(arguments[0].kind)
            return unknown(arguments[0].kind if whole else INT)
        return self._memory_call(node, name, arguments)

    def _memory_call(self, node: Any, name: str, arguments: list[Value]) -> Value:
        if match := CONVERT.match(name):
            kind = named_kind((match[2],)) or INT
            same = match[1] == "convert" or (is_integer(kind) and is_integer(arguments[0].kind))
            return convert(arguments[0], kind) if same else unknown(kind)
        if match := LOAD.match(name):
            return self._load(node, arguments, match)
        if match := STORE.match(name):
            return self._store(node, arguments, match)
        if ATOMIC.match(name):
            return self._atomic(node, arguments)
        if STRANGE.match(name):
            self.note(node, f"{name}() is not followed by the access lens.")
        else:
            self.note(node, f"{name}() is neither in the source nor known to the access lens.")
        return unknown(INT)

    def _geometry(self, name: str, arguments: list[Value]) -> Value | None:
        lanes = self.lanes
        dimension = arguments[0].data if arguments else 0
        if not isinstance(dimension, int):
            return unknown(ULONG)
        inside = 0 <= dimension < 3
        local = lanes.launch.local[dimension] if inside else 1
        groups = lanes.launch.groups[dimension] if inside else 1
        sizes = {"get_local_size": local, "get_enqueued_local_size": local,
                 "get_num_groups": groups, "get_global_size": local * groups,
                 "get_global_offset": 0}  # fmt: skip
        if name in sizes:
            return Value(ULONG, sizes[name])
        ids: dict[str, Callable[[int], Any]] = {
            "get_local_id": lanes.local_id, "get_group_id": lanes.group_id,
            "get_global_id": lanes.global_id,
        }  # fmt: skip
        if name in ids:
            return Value(ULONG, ids[name](dimension))
        if name == "get_work_dim":
            dims = [d for d in range(3) if lanes.launch.local[d] * lanes.launch.groups[d] > 1]
            return Value(UINT, max(dims, default=0) + 1)
        if name == "get_local_linear_id":
            numbers = np.arange(lanes.items, dtype=np.uint64)
            return Value(ULONG, np.tile(numbers, len(lanes.groups)))
        if name == "get_global_linear_id":
            total: Any = 0
            for d in (2, 1, 0):
                total = total * (lanes.launch.local[d] * lanes.launch.groups[d]) + lanes.global_id(
                    d
                )
            return Value(ULONG, total)
        return None

    def _target(self, node: Any, pointer: Value, steps: Value, kind: Kind, stride: int) -> Place:
        """Where ``vload`` and the like find their vector: ``stride`` bytes for each step."""
        if not isinstance(pointer.kind, Pointer):
            self.note(node, "What is read through here is no pointer.")
            return Place(None, 0, kind)
        bytewise = Value(Pointer(pointer.kind.space, UCHAR), pointer.data)
        moved = self.moved(node, bytewise, binary("*", convert(steps, LONG), _whole(stride)), 1)
        if not isinstance(moved.data, Address):
            if moved.data is pointer.data:
                self.note(node, "The address used here depends on data, or is not known.")
            return Place(None, 0, kind)
        return Place(moved.data.memory, moved.data.offset, kind)

    def _load(self, node: Any, arguments: list[Value], match: Any) -> Value:
        steps, pointer = arguments
        count = int(match[3] or 1)
        half = match[2] is not None
        place = self._packed(node, pointer, steps, half, count, aligned=bool(match[1]))
        self._move(node, place, "load", count)
        scalar = FLOAT if half else leaf(place.kind)
        assert isinstance(scalar, Scalar)
        return unknown(scalar if count == 1 else Vector(scalar, count))

    def _store(self, node: Any, arguments: list[Value], match: Any) -> Value:
        _, steps, pointer = arguments
        count = int(match[3] or 1)
        place = self._packed(
            node, pointer, steps, match[2] is not None, count, aligned=bool(match[1])
        )
        self._move(node, place, "store", count)
        return unknown(INT)

    def _packed(self, node: Any, pointer: Value, steps: Value, half: bool, count: int, *,
                aligned: bool) -> Place:  # fmt: skip
        scalar = HALF if half else leaf(pointer.kind.target if isinstance(pointer.kind, Pointer)
                                        else FLOAT)  # fmt: skip
        if not isinstance(scalar, Scalar):
            scalar = FLOAT
        stride = scalar.bytes * (4 if aligned and count == 3 else count)
        kind: Kind = scalar if count == 1 else Vector(scalar, count)
        return self._target(node, pointer, steps, kind, stride)

    def _move(self, node: Any, place: Place, kind: Any, count: int) -> None:
        memory = place.memory
        if memory is None:
            return
        size = leaf(place.kind).bytes * count  # vload3 moves three, not the four of a float3
        if memory.space in ("global", "local"):
            self.record(node, memory, kind, place.offset, size)
        elif kind == "store":
            memory.store(place.offset, place.kind, DATA, self.active, self.write)

    def _atomic(self, node: Any, arguments: list[Value]) -> Value:
        """An atomic reads and writes; what it returns is data."""
        pointer = arguments[0]
        place = self._behind(node, pointer)
        if place.memory is not None and place.memory.space in ("global", "local"):
            for kind in ("load", "store"):
                self.record(node, place.memory, kind, place.offset, place.kind.bytes)
        return unknown(place.kind)


_INTEGERS = ("min", "max", "clamp", "mul24", "mad24", "abs", "select")


def _whole(number: int) -> Value:
    return Value(LONG, number)


def _extreme(name: str, a: Value, b: Value) -> Value:
    """The smaller or larger of two integers or vectors of them."""
    shape = a.kind if isinstance(a.kind, Vector) else b.kind
    if isinstance(shape, Vector):
        kind: Kind = shape
    else:
        assert isinstance(a.kind, Scalar)
        assert isinstance(b.kind, Scalar)
        kind = common(a.kind, b.kind)
    x, y = convert(a, kind).data, convert(b, kind).data
    if x is DATA or y is DATA:
        return unknown(kind)
    op = "<" if name == "min" else ">"
    if not isinstance(kind, Vector):
        return Value(kind, select(_test(op, x, y, kind), x, y, kind))
    parts = zip(x, y, strict=True)
    scalar = kind.scalar
    return Value(kind, tuple(select(_test(op, p, q, scalar), p, q, scalar) for p, q in parts))


def _test(op: str, x: Any, y: Any, kind: Any) -> Any:
    if x is DATA or y is DATA:
        return DATA
    test = combine(op, x, y, kind)
    return test if lane_axis(test) else bool(test)


def _integers(name: str, arguments: list[Value]) -> Value:
    """Functions whose results may be part of an index."""
    if not all(is_integer(value.kind) for value in arguments):
        if name in ("mad24", "mul24"):
            return unknown(INT)
        return unknown(next(v.kind for v in arguments if not is_integer(v.kind)))
    a, *rest = arguments
    if name in ("min", "max"):
        return _extreme(name, a, rest[0])
    if name == "clamp":
        return _extreme("min", _extreme("max", a, rest[0]), rest[1])
    if name == "mul24":
        return binary("*", a, rest[0])
    if name == "mad24":
        return binary("+", binary("*", a, rest[0]), rest[1])
    if name == "abs":
        return _extreme("max", a, binary("-", Value(INT, 0), a))
    test = truth(rest[1])
    kind = a.kind
    return Value(kind, select(test, convert(rest[0], kind).data, a.data, kind))
