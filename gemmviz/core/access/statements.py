"""Executes statements for all work-items at once, each under the mask of those that reach it."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from gemmviz.core.access.kinds import VOID, Array, Pointer
from gemmviz.core.access.loops import Loops
from gemmviz.core.access.state import Frame, both, either, same, without
from gemmviz.core.access.values import (
    DATA,
    Value,
    binary,
    convert,
    lane_axis,
    select,
    truth,
    unknown,
)


class Statements(Loops):
    """The execution of statements and of whole functions."""

    def execute(self, node: Any) -> None:
        """Executes a statement, for the lanes that are active."""
        if node is None or self.active is False:
            return
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
        elif isinstance(node, c_ast.Decl | c_ast.Typedef):
            self.declare(node)
        else:
            self.evaluate(node)

    def run_function(self, function: Any, arguments: list[Value]) -> Value:
        """Executes a function of the source and returns what its lanes returned."""
        before, scopes, frames = self.active, self.scopes, self.frames
        frame = Frame("call")
        scope: dict[str, Any] = {}
        parameters = function.decl.type.args.params if function.decl.type.args else []
        named = [p for p in parameters if getattr(p, "name", None)]
        for parameter, value in zip(named, arguments, strict=False):
            kind, _ = self.kind_of(parameter.type)
            if isinstance(kind, Array):
                kind = Pointer("private", kind.element)
            memory = self.new_memory(parameter.name, "private", kind)
            if memory.cells is not None:
                memory.store(0, kind, convert(value, kind).data, True, _fresh)
            scope[parameter.name] = memory
        self.scopes, self.frames = [scope], [frame]
        self.execute(function.body)
        self.scopes, self.frames, self.active = scopes, frames, before
        kind, _ = self.kind_of(function.decl.type.type)
        if frame.result is None:
            return unknown(kind)
        return frame.result if kind == VOID else convert(frame.result, kind)

    def _do_compound(self, node: Any) -> None:
        self.scopes.append({})
        for item in node.block_items or ():
            if self.active is False:
                break
            self.execute(item)
        self.scopes.pop()

    def _do_decllist(self, node: Any) -> None:
        for item in node.decls:
            self.declare(item)

    def _do_emptystatement(self, node: Any) -> None:
        """Nothing."""

    def _do_pragma(self, node: Any) -> None:
        """Nothing: how a loop is unrolled changes no address."""

    def _do_label(self, node: Any) -> None:
        self.execute(node.stmt)

    def _do_goto(self, node: Any) -> None:
        self.note(node, "goto is not followed: what comes behind it is seen as if it were not "
                  "there.")  # fmt: skip

    def _do_if(self, node: Any) -> None:
        test = truth(self.evaluate(node.cond))
        if test is DATA:
            self._either_way(node)
            return
        before = self.active
        self.active = both(before, test if lane_axis(test) else bool(test))
        taken = self.active
        self.execute(node.iftrue)
        after = self.active
        self.active = without(before, taken)
        self.execute(node.iffalse)
        self.active = either(after, self.active)

    def _either_way(self, node: Any) -> None:
        """A condition on data: both branches are taken, and what they leave is not relied on."""
        before, recorded = self.active, len(self.events)
        self.trackers.append({})
        mark = self.mark()
        left = False
        for branch in (node.iftrue, node.iffalse):
            self.active = before
            self.execute(branch)
            left = left or not same(self.active, before)
        self.active = before
        for frame, broken, continued, _ in mark.frames:
            frame.broken, frame.continued = broken, continued
        written = self.trackers.pop()
        for (memory, place), old in written.items():
            if self.trackers:
                self.trackers[-1].setdefault((memory, place), old)
            assert memory.cells is not None
            memory.cells[place] = DATA
        if len(self.events) > recorded:
            self.note(node, "Whether the accesses in here are made depends on data: they are "
                      "counted as if they were.")  # fmt: skip
        elif left:
            self.note(node, "Whether work-items leave here depends on data: they are seen as if "
                      "they stayed.")  # fmt: skip

    def _do_for(self, node: Any) -> None:
        self.scopes.append({})
        self.execute(node.init)
        self.run_loop(node, node.cond, node.stmt, node.next, test_first=True)
        self.scopes.pop()

    def _do_while(self, node: Any) -> None:
        self.run_loop(node, node.cond, node.stmt, None, test_first=True)

    def _do_dowhile(self, node: Any) -> None:
        # The same as the body once and then a while loop.
        self.run_loop(node, node.cond, node.stmt, None, test_first=False)

    def _do_switch(self, node: Any) -> None:
        value = self.evaluate(node.cond)
        if value.data is DATA:
            self.note(node, "Which case is taken depends on data: none was followed.")
            return
        items = node.stmt.block_items if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
        tests = [truth(binary("==", value, self.evaluate(item.expr)))
                 if isinstance(item, c_ast.Case) else None for item in items or ()]  # fmt: skip
        unmatched = self.active
        for test in tests:
            if test is not None:
                unmatched = without(unmatched, test if lane_axis(test) else bool(test))
        frame = Frame("switch")
        before, self.active = self.active, False
        self.frames.append(frame)
        self.scopes.append({})
        for item, test in zip(items or (), tests, strict=True):
            if isinstance(item, c_ast.Case) and test is not None:
                entered = both(before, test if lane_axis(test) else bool(test))
            elif isinstance(item, c_ast.Default):
                entered = unmatched
            else:
                self.execute(item)
                continue
            self.active = either(self.active, entered)
            for statement in item.stmts or ():
                self.execute(statement)
        self.scopes.pop()
        self.frames.pop()
        self.active = either(either(self.active, frame.broken), without(unmatched, _has(items)))

    def _do_break(self, _node: Any) -> None:
        frame = next((f for f in reversed(self.frames) if f.kind != "call"), None)
        if frame is not None:
            frame.broken = either(frame.broken, self.active)
        self.active = False

    def _do_continue(self, _node: Any) -> None:
        frame = next((f for f in reversed(self.frames) if f.kind == "loop"), None)
        if frame is not None:
            frame.continued = either(frame.continued, self.active)
        self.active = False

    def _do_return(self, node: Any) -> None:
        frame = self.frames[0]
        value = self.evaluate(node.expr) if node.expr is not None else None
        if value is not None:
            old = frame.result
            if old is None:
                frame.result = value
            else:
                data = select(self.active, convert(value, old.kind).data, old.data, old.kind)
                frame.result = Value(old.kind, data)
        self.active = False


def _has(items: Any) -> bool:
    """Whether a switch has a default, so that no lane passes it by."""
    return any(isinstance(item, c_ast.Default) for item in items or ())


def _fresh(memory: Any, index: int, data: Any) -> None:
    memory.cells[index] = data
