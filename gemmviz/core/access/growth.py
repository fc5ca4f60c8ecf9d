"""How objects grow from turn to turn of a loop, and whether they grew as foreseen."""

from __future__ import annotations

from typing import Any

import numpy as np
from pycparser import c_ast

from gemmviz.core.access.kinds import LONG, Scalar
from gemmviz.core.access.memory import Memory
from gemmviz.core.access.state import Written
from gemmviz.core.access.values import DATA, Address, combine, lane_axis

Steps = dict[tuple[Memory, int], tuple[Any, Any]]
"""What each cell holds at the start of the next turn, and by how much it grows a step."""


def growth_of(history: list[Written]) -> Steps | None:
    """How every cell grew over some turns, or None where one did not grow by a constant."""
    steps: Steps = {}
    for written in reversed(history):
        for (memory, place), old in written.items():
            assert memory.cells is not None
            new = memory.cells[place]
            growth = _difference(old, new, memory)
            if growth is None:
                return None
            steps[memory, place] = (new, growth)
    return steps


def _difference(old: Any, new: Any, memory: Memory) -> Any:
    """By how much a payload grew: DATA for what is not followed, None for what does not grow."""
    if new is DATA or new is None:
        return DATA
    if isinstance(new, Address):
        if isinstance(old, Address) and old.memory is new.memory:
            return combine("-", new.offset, old.offset, LONG)
        return None
    if not isinstance(memory.leaf, Scalar):
        return None
    if memory.leaf.floating:
        return 0 if old is not DATA and old == new else DATA
    if memory.leaf.rank == 0:
        return 0 if old is new or (not lane_axis(new) and old is not DATA and old == new) else None
    if old is DATA or old is None:
        return None
    return combine("-", new, old, _wide(memory.leaf))


def _wide(kind: Scalar) -> Scalar:
    """The type that differences of ``kind`` are counted in."""
    return kind if kind.rank >= 3 else LONG


def grown(start: Any, growth: Any, index: Any, memory: Memory) -> Any:
    """A payload after ``index`` steps."""
    if growth is DATA:
        return DATA
    if isinstance(start, Address):
        return Address(start.memory, _grown_number(start.offset, growth, index, LONG))
    if not isinstance(memory.leaf, Scalar) or memory.leaf.floating:
        return start
    return _grown_number(start, growth, index, memory.leaf)


def _grown_number(start: Any, growth: Any, index: Any, kind: Scalar) -> Any:
    if not lane_axis(growth) and growth == 0:
        return start
    wide = _wide(kind)
    # Unsigned arithmetic of the same width: it wraps as the machine does, and numpy never widens.
    steps = index.astype(wide.dtype)
    moved = combine("*", steps, growth, wide)
    result = combine("+", moved, _in(start, wide), wide)
    return result.astype(kind.dtype, copy=False)


def _in(payload: Any, kind: Scalar) -> Any:
    return payload.astype(kind.dtype, copy=False) if lane_axis(payload) else payload


def agrees(end: Any, foreseen: Any, alive: Any, count: int, rank: int) -> bool:
    """Whether the end of each step is the foreseen start of the next, where lanes are in it."""
    if isinstance(end, Address) and isinstance(foreseen, Address):
        if end.memory is not foreseen.memory:
            return False
        end, foreseen = end.offset, foreseen.offset
    if end is DATA or foreseen is DATA or isinstance(end, Address) or end is None:
        return False
    if lane_axis(end) and end.ndim == rank and end.shape[0] == count:
        end = end[:-1]
    equal = end == foreseen
    if not lane_axis(equal):
        return bool(equal)
    if lane_axis(alive):
        later = alive[1:] if alive.ndim == rank and alive.shape[0] == count else alive
        equal = equal | ~later
    return bool(equal.all())


def last(end: Any, alive: Any, start: Any, count: int, rank: int) -> Any:
    """A payload after the last step that each lane took part in."""
    if isinstance(end, Address):
        begun = start.offset if isinstance(start, Address) else start
        return Address(end.memory, last(end.offset, alive, begun, count, rank))
    if not lane_axis(end) or end.ndim < rank or end.shape[0] != count:
        return end
    if not lane_axis(alive) or alive.ndim < rank or alive.shape[0] != count:
        return end[-1]
    shape = np.broadcast_shapes(end.shape, alive.shape)
    taken = np.broadcast_to(alive, shape).sum(axis=0)
    whole = np.broadcast_to(end, shape)
    chosen = np.take_along_axis(whole, np.maximum(taken - 1, 0)[None], axis=0)[0]
    return np.where(taken > 0, chosen, start if start is not DATA else chosen)


def holds_loop(node: Any) -> bool:
    """Whether there is a loop inside a statement."""
    return any(
        isinstance(child, c_ast.For | c_ast.While | c_ast.DoWhile) or holds_loop(child)
        for _, child in node.children()
    )


def names_in(node: Any) -> set[str] | None:
    """The names that an expression reads; None where it may read others through them."""
    found = {node.name} if isinstance(node, c_ast.ID) else set()
    if isinstance(node, c_ast.FuncCall | c_ast.ArrayRef | c_ast.StructRef) or (
        isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&")
    ):
        return None
    for _, child in node.children():
        inner = names_in(child)
        if inner is None:
            return None
        found |= inner
    return found
