"""Evaluates expressions for all work-items at once and records what they read and write."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from gemmviz.core.access.declarations import Declarations
from gemmviz.core.access.kinds import (
    INT,
    LONG,
    ULONG,
    VOID,
    Array,
    Kind,
    Pointer,
    Scalar,
    Strange,
    Vector,
    components,
)
from gemmviz.core.access.memory import Memory
from gemmviz.core.access.state import both, without
from gemmviz.core.access.values import (
    DATA,
    Address,
    Value,
    binary,
    common,
    constant,
    convert,
    convert_payload,
    decayed,
    denied,
    float_lanes,
    invert,
    lane_axis,
    narrow,
    negate,
    select,
    truth,
    unknown,
)
from gemmviz.core.access.vocabulary import CONSTANTS

_ARITHMETIC = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True)
class Place:
    """Something that can be read or assigned: where, of what type, which parts of a vector.

    ``memory`` is None where the address is not known.
    """

    memory: Memory | None
    offset: Any
    kind: Kind
    parts: tuple[int, ...] = ()


class Expressions(Declarations):
    """The evaluation of expressions; calls of functions are added by what is built on it."""

    def evaluate(self, node: Any) -> Value:
        """The value of an expression."""
        self.work += 1
        method = getattr(self, f"_on_{type(node).__name__.lower()}", None)
        if method is None:
            self.note(node, f"{type(node).__name__} is outside what the access lens follows.")
            return unknown(INT)
        value: Value = method(node)
        return value

    @abstractmethod
    def call(self, node: Any) -> Value:
        """The value of a function call."""

    # Names, literals, calls

    def _on_constant(self, node: Any) -> Value:
        return constant(node.type, node.value)

    def _on_id(self, node: Any) -> Value:
        memory = self.find(node.name)
        if memory is not None:
            return self._read(node, Place(memory, 0, memory.kind))
        known = CONSTANTS.get(node.name)
        if known is not None:
            return known
        self.note(node, f"{node.name} is not declared in the source.")
        return unknown(INT)

    def _on_funccall(self, node: Any) -> Value:
        return self.call(node)

    def _on_exprlist(self, node: Any) -> Value:
        value = unknown(INT)
        for part in node.exprs:
            value = self.evaluate(part)
        return value

    # What has an address

    def place(self, node: Any) -> Place:
        """What an expression on the left of an assignment stands for."""
        match node:
            case c_ast.ID(name=name) if (memory := self.find(name)) is not None:
                return Place(memory, 0, memory.kind)
            case c_ast.ArrayRef():
                return self._element(node)
            case c_ast.UnaryOp(op="*"):
                return self._behind(node, self.evaluate(node.expr))
            case c_ast.StructRef(type="."):
                return self._component(node)
            case c_ast.StructRef():
                self.evaluate(node.name)
                self.note(node, "What lies behind a pointer to a struct is not followed.")
                return Place(None, 0, INT)
        self.note(node, "This is no place that the access lens can follow.")
        return Place(None, 0, INT)

    def _element(self, node: Any) -> Place:
        base = self.evaluate(node.name)
        index = self.evaluate(node.subscript)
        if not isinstance(base.kind, Pointer):
            self.note(node, "Only pointers and arrays can be indexed here.")
            return Place(None, 0, INT)
        return self._behind(node, self.moved(node, base, index, 1))

    def _behind(self, node: Any, pointer: Value) -> Place:
        if not isinstance(pointer.kind, Pointer):
            self.note(node, "What is read through here is no pointer.")
            return Place(None, 0, INT)
        target = pointer.kind.target
        if isinstance(target, Strange):
            self.note(node, f"What lies behind a pointer to {target.name} is not followed.")
            return Place(None, 0, target)
        if not isinstance(pointer.data, Address):
            if not self.noted(node):  # the sentence on what it was made of says more
                self.note(node, "The address used here depends on data, or is not known.")
            return Place(None, 0, target)
        return Place(pointer.data.memory, pointer.data.offset, target)

    def _component(self, node: Any) -> Place:
        name = node.field.name
        if isinstance(node.name, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp):
            inner = self.place(node.name)
        else:
            value = self.evaluate(node.name)
            inner = Place(None, 0, value.kind)
        if not isinstance(inner.kind, Vector):
            if inner.memory is not None:
                self.note(node, f"The member {name} of a struct is not followed.")
            return Place(None, 0, INT)
        parts = components(name, inner.kind.count)
        if parts is None:
            self.note(node, f"{name} names no part of a vector.")
            return Place(None, 0, inner.kind.scalar)
        if inner.parts:
            parts = tuple(inner.parts[part] for part in parts if part < len(inner.parts))
        if len(parts) == 1 and inner.memory is not None:
            scalar = inner.kind.scalar
            return Place(inner.memory, inner.offset + parts[0] * scalar.bytes, scalar)
        return Place(inner.memory, inner.offset, inner.kind, parts)

    def moved(self, node: Any, pointer: Value, index: Value, sign: int) -> Value:
        """A pointer ``index`` elements further on, or back for a ``sign`` of -1."""
        assert isinstance(pointer.kind, Pointer)
        if not isinstance(pointer.data, Address):
            return pointer
        steps = convert(index, LONG).data
        if steps is DATA:
            self.note(node, f"Which element of {pointer.data.memory.name} is used here depends on "
                      "data, or is not known.")  # fmt: skip
            return unknown(pointer.kind)
        offset = pointer.data.offset + steps * (sign * pointer.kind.target.bytes)
        return Value(pointer.kind, Address(pointer.data.memory, narrow(offset)))

    def _read(self, node: Any, place: Place) -> Value:
        """What lies at a place; an array hands on its address instead."""
        memory = place.memory
        if isinstance(place.kind, Array):
            if memory is None:
                return unknown(Pointer("private", place.kind.element))
            return decayed(Value(place.kind, Address(memory, place.offset)), memory.space)
        if memory is None:
            return unknown(self._shown(place))
        if memory.space in ("global", "local"):
            self.record(node, memory, "load", place.offset, place.kind.bytes)
            return Value(self._shown(place), self.held(memory, place.offset))
        data = memory.load(place.offset, place.kind)
        if place.parts and isinstance(place.kind, Vector) and data is not DATA:
            data = tuple(data[part] for part in place.parts)
            data = data[0] if len(data) == 1 else data
        return Value(self._shown(place), data)

    @staticmethod
    def _shown(place: Place) -> Kind:
        """The type of what is read: the parts of a vector that are asked for."""
        if not place.parts or not isinstance(place.kind, Vector):
            return place.kind
        count = len(place.parts)
        return place.kind.scalar if count == 1 else Vector(place.kind.scalar, count)

    def _write(self, node: Any, place: Place, value: Value) -> None:
        memory = place.memory
        if memory is None or isinstance(place.kind, Array):
            return
        value = convert(value, self._shown(place))
        if memory.space in ("global", "local"):
            if not place.parts or not isinstance(place.kind, Vector):
                self.record(node, memory, "store", place.offset, place.kind.bytes)
                return
            size = place.kind.scalar.bytes
            for part in place.parts:
                self.record(node, memory, "store", place.offset + part * size, size)
            return
        if place.parts and isinstance(place.kind, Vector):
            scalar = place.kind.scalar
            data = value.data if isinstance(value.data, tuple) else (DATA,) * len(place.parts)
            for part, payload in zip(place.parts, data, strict=True):
                memory.store(
                    place.offset + part * scalar.bytes, scalar, payload, self.active, self.write
                )
            return
        memory.store(place.offset, place.kind, value.data, self.active, self.write)

    def _on_arrayref(self, node: Any) -> Value:
        return self._read(node, self.place(node))

    def _on_structref(self, node: Any) -> Value:
        return self._read(node, self.place(node))

    def _on_assignment(self, node: Any) -> Value:
        place = self.place(node.lvalue)
        if node.op == "=":
            value = self.evaluate(node.rvalue)
        else:
            old = self._read(node.lvalue, place)
            value = self.operate(node, node.op[:-1], old, self.evaluate(node.rvalue))
        value = convert(value, self._shown(place))
        self._write(node.lvalue, place, value)
        return value

    # Operators

    def operate(self, node: Any, op: str, a: Value, b: Value) -> Value:
        """``a op b``, pointers included; floating-point operations are counted."""
        if isinstance(a.kind, Pointer) or isinstance(b.kind, Pointer):
            return self._operate_pointers(node, op, a, b)
        result = binary(op, a, b)
        if op in _ARITHMETIC and (count := float_lanes(result.kind)):
            self.count_flops(count)
        return result

    def _operate_pointers(self, node: Any, op: str, a: Value, b: Value) -> Value:
        if op == "+":
            return self.moved(node, a, b, 1) if isinstance(a.kind, Pointer) else self.moved(
                node, b, a, 1)  # fmt: skip
        if op == "-" and not isinstance(b.kind, Pointer):
            return self.moved(node, a, b, -1)
        x, y = a.data, b.data
        if not (isinstance(x, Address) and isinstance(y, Address) and x.memory is y.memory):
            return unknown(INT)
        left, right = Value(LONG, x.offset), Value(LONG, y.offset)
        if op == "-":
            assert isinstance(a.kind, Pointer)
            return binary("/", binary("-", left, right), Value(LONG, a.kind.target.bytes))
        return binary(op, left, right)

    def _on_binaryop(self, node: Any) -> Value:
        if node.op in ("&&", "||"):
            return self._logic(node)
        return self.operate(node, node.op, self.evaluate(node.left), self.evaluate(node.right))

    def _logic(self, node: Any) -> Value:
        """``&&`` and ``||``: the right side is evaluated only where the left leaves it open."""
        left = truth(self.evaluate(node.left))
        is_and = node.op == "&&"
        if left is (not is_and):
            return Value(INT, int(left))
        before = self.active
        if lane_axis(left):
            self.active = both(before, left) if is_and else without(before, left)
        right = truth(self.evaluate(node.right)) if self.active is not False else is_and
        self.active = before
        if left is is_and:
            return Value(INT, right if right is DATA or lane_axis(right) else int(right))
        if right is (not is_and):
            return Value(INT, int(right))
        if left is DATA or right is DATA:
            return unknown(INT)
        return Value(INT, left & right if is_and else left | right)

    def _on_ternaryop(self, node: Any) -> Value:
        test = truth(self.evaluate(node.cond))
        if test is True or test is False:
            return self.evaluate(node.iftrue if test else node.iffalse)
        before, recorded = self.active, len(self.events)
        if test is not DATA:
            self.active = both(before, test)
        a = self.evaluate(node.iftrue) if self.active is not False else None
        if test is not DATA:
            self.active = without(before, test)
        b = self.evaluate(node.iffalse) if self.active is not False else None
        self.active = before
        if test is DATA and len(self.events) > recorded:
            self.note(node, "Which of two accesses is made here depends on data.")
        if a is None or b is None:
            return a or b or unknown(INT)
        return self._joined(test, a, b)

    @staticmethod
    def _joined(test: Any, a: Value, b: Value) -> Value:
        """The value of ``test ? a : b`` where lanes differ."""
        kind = a.kind
        if isinstance(a.kind, Scalar) and isinstance(b.kind, Scalar):
            kind = common(a.kind, b.kind)
        elif isinstance(b.kind, Vector | Pointer) and not isinstance(a.kind, Vector | Pointer):
            kind = b.kind
        return Value(kind, select(test, convert(a, kind).data, convert(b, kind).data, kind))

    def _on_unaryop(self, node: Any) -> Value:
        match node.op:
            case "sizeof":
                return Value(ULONG, self.size_of(node.expr))
            case "&":
                place = self.place(node.expr)
                if place.memory is None or place.parts:
                    return unknown(Pointer("private", place.kind))
                kind = Pointer(place.memory.space, place.kind)
                return Value(kind, Address(place.memory, place.offset))
            case "*":
                return self._read(node, self.place(node))
            case "++" | "--" | "p++" | "p--":
                place = self.place(node.expr)
                old = self._read(node.expr, place)
                new = self.operate(node, node.op[-1], old, Value(INT, 1))
                new = convert(new, self._shown(place))
                self._write(node.expr, place, new)
                return old if node.op[0] == "p" else new
        value = self.evaluate(node.expr)
        if node.op == "!":
            return denied(value)
        if node.op == "-":
            return negate(value)
        return invert(value) if node.op == "~" else value

    def size_of(self, node: Any) -> int:
        """``sizeof`` of a type or an expression, which is not executed."""
        if isinstance(node, c_ast.Typename):
            return self.kind_of(node.type)[0].bytes
        if isinstance(node, c_ast.ID) and (memory := self.find(node.name)) is not None:
            return memory.kind.bytes
        mark = self.mark()
        size = self.evaluate(node).kind.bytes
        self.back_to(mark)
        return size

    def _on_cast(self, node: Any) -> Value:
        kind, _ = self.kind_of(node.to_type.type)
        if isinstance(kind, Vector) and isinstance(node.expr, c_ast.ExprList):
            return self._vector(node, kind, [self.evaluate(part) for part in node.expr.exprs])
        value = self.evaluate(node.expr)
        return value if kind == VOID else convert(value, kind)

    def _on_compoundliteral(self, node: Any) -> Value:
        kind, _ = self.kind_of(node.type.type)
        values = [self.evaluate(part) for part in node.init.exprs]
        if isinstance(kind, Vector):
            return self._vector(node, kind, values)
        return unknown(kind)

    def _vector(self, node: Any, kind: Vector, values: list[Value]) -> Value:
        """``(float4)(a, b)``: the parts one behind the other, a single one for all."""
        if len(values) == 1:
            return convert(values[0], kind)
        parts: list[Any] = []
        for value in values:
            if isinstance(value.kind, Vector):
                known = isinstance(value.data, tuple)
                data = value.data if known else (DATA,) * value.kind.count
                parts += [convert_payload(part, value.kind.scalar, kind.scalar) for part in data]
            elif isinstance(value.kind, Scalar):
                parts.append(convert_payload(value.data, value.kind, kind.scalar))
        if len(parts) != kind.count:
            self.note(node, f"A vector of {kind.count} is made of {len(parts)} parts.")
            return unknown(kind)
        return Value(kind, tuple(parts))
