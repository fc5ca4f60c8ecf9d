"""Integer formulas of a kernel's metadata, parsed with ast and walked, never run by Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

_MAX_LENGTH = 1000
_MAX_DEPTH = 100
# Wider than any byte count; keeps a hostile product from growing without bound.
_MAX_MAGNITUDE = 2**128

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class ExprError(ValueError):
    """A formula that cannot be read or has no value; the message is one sentence."""


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """The value of ``text``; comparisons and logic give 0 or 1.

    Args:
        text: Integers, names, ``+ - * // %``, comparisons, ``and or not``, ``a if c else b``.
        names: The value of each name.

    Raises:
        ExprError: A construct outside this list, an unknown name, or a division by zero.
    """
    return _value(_parse(text), names, text)


@lru_cache(maxsize=1024)
def names_in(text: str) -> frozenset[str]:
    """The names that ``text`` uses.

    Raises:
        ExprError: ``text`` is no formula.
    """
    return frozenset(node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name))


@lru_cache(maxsize=1024)
def _parse(text: str) -> ast.expr:
    if len(text) > _MAX_LENGTH:
        raise ExprError(f"the formula is longer than {_MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _check_constructs(tree, text)
        _check_depth(tree, text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        if isinstance(error, ExprError):
            raise
        raise ExprError(f"'{text}' is not a formula") from error
    return tree


def _check_depth(tree: ast.expr, text: str) -> None:
    """Refuse nesting that the walk through the values could not hold."""
    level: list[ast.AST] = [tree]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise ExprError(f"'{text[:40]}...' is nested too deeply")


def _check_constructs(tree: ast.expr, text: str) -> None:
    """Refuse what lies outside the language before any value is computed."""
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                raise ExprError(f"'{text}' calls a function; formulas have none")
            case ast.BinOp(op=op) if type(op) not in _BINARY:
                hint = " (use // for division)" if isinstance(op, ast.Div) else ""
                raise ExprError(f"'{text}' uses an operator that formulas lack{hint}")
            case ast.Constant(value=value) if type(value) not in (int, bool):
                raise ExprError(f"'{text}' holds {value!r}, which is no integer")
            case ast.Compare(ops=ops) if any(type(op) not in _COMPARE for op in ops):
                raise ExprError(f"'{text}' uses a comparison that formulas lack")
            case ast.UnaryOp(op=ast.Invert()):
                raise ExprError(f"'{text}' uses an operator that formulas lack")
            case (
                ast.BinOp()
                | ast.UnaryOp()
                | ast.BoolOp()
                | ast.Compare()
                | ast.IfExp()
                | ast.Name()
                | ast.Constant()
                | ast.operator()
                | ast.unaryop()
                | ast.boolop()
                | ast.cmpop()
                | ast.expr_context()
            ):
                pass
            case _:
                raise ExprError(f"'{text}' is not a formula")


def _value(node: ast.expr, names: Mapping[str, int], text: str) -> int:  # noqa: PLR0912 (one a construct)
    match node:
        case ast.Constant(value=int(value)):
            if value > _MAX_MAGNITUDE:
                raise ExprError(f"'{text}' grows beyond any size")
            return int(value)
        case ast.Name(id=name):
            if name not in names:
                raise ExprError(f"'{text}' uses {name}, which is not known here")
            return int(names[name])
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, names, text), _value(right, names, text)
            if b == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
                raise ExprError(f"'{text}' divides by zero")
            result = _BINARY[type(op)](a, b)
            if abs(result) > _MAX_MAGNITUDE:
                raise ExprError(f"'{text}' grows beyond any size")
            return result
        case ast.UnaryOp(op=op, operand=operand):
            inner = _value(operand, names, text)
            return (
                int(not inner)
                if isinstance(op, ast.Not)
                else inner * (-1 if isinstance(op, ast.USub) else 1)
            )
        case ast.BoolOp(op=op, values=values):
            test = all if isinstance(op, ast.And) else any
            return int(test(_value(value, names, text) for value in values))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            a = _value(left, names, text)
            for comparison, comparator in zip(ops, comparators, strict=True):
                b = _value(comparator, names, text)
                if not _COMPARE[type(comparison)](a, b):
                    return 0
                a = b
            return 1
        case ast.IfExp(test=condition, body=body, orelse=orelse):
            return _value(body if _value(condition, names, text) else orelse, names, text)
        case _:
            raise ExprError(f"'{text}' is not a formula")
