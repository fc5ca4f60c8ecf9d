"""Loops, thousands of turns at once where that can be proved right.

A turn is executed as it stands. If every older object that it changed grew by a constant, the turns
that follow are executed together, each object holding an axis of the values that it should have at
the start of each turn. What the objects hold at the end of a turn is then compared with what was
taken for granted at the start of the next: if all agree, then by induction these are the values of
the real loop. If not, the attempt is undone and the loop goes on turn by turn. A step of two turns
is tried as well, for buffers that change places.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gemmviz.core.access.calls import Calls
from gemmviz.core.access.growth import (
    Steps,
    agrees,
    grown,
    growth_of,
    holds_loop,
    last,
    names_in,
)
from gemmviz.core.access.memory import Memory
from gemmviz.core.access.state import ELEMENTS_PER_WORK, Frame, Written, both, either, same, without
from gemmviz.core.access.values import DATA, TooWideError, lane_axis, truth

_MOST_TOGETHER = 2**22  # turns, over all loops with an axis, times work-items
_LEAST_TOGETHER = 8
_MOST_OF_NESTS = 128  # turns of a loop with loops inside
_FIRST_LOOK = 32
_MOST_ATTEMPTS = 4
_WORK_OF_AN_ATTEMPT = 4000  # lost in one that came out too wide
_MOST_WORK = 400_000  # expressions; a few seconds


@dataclass(slots=True)
class Loop:
    """One execution of a loop.

    Attributes:
        node: Where it stands.
        test: The condition, or None for one that always holds.
        body: What it repeats.
        step: What follows the body, or None.
        serial: Objects younger than this are the loop's own.
        turn: Turns done.
        left: Lanes whose condition failed.
        attempts: Failed attempts to execute turns together.
        history: What the last turns changed, newest last.
    """

    node: Any
    test: Any
    body: Any
    step: Any
    serial: int
    turn: int = 0
    left: Any = False
    attempts: int = 0
    history: list[Written] = field(default_factory=list)


class Loops(Calls):
    """The execution of loops; other statements are added by what is built on it."""

    @abstractmethod
    def execute(self, node: Any) -> None:
        """Executes a statement."""

    def run_loop(self, node: Any, test: Any, body: Any, step: Any, *, test_first: bool) -> None:
        """Executes a loop until every lane has left it."""
        loop = Loop(node, test, body, step, self.serial)
        frame = Frame("loop")
        self.frames.append(frame)
        self.turns.append(0)
        self._turn_by_turn(loop, frame, test_first=test_first)
        self.turns.pop()
        self.frames.pop()
        self.active = either(loop.left, frame.broken)

    def _turn_by_turn(self, loop: Loop, frame: Frame, *, test_first: bool) -> None:
        while self.active is not False:
            self.turns[-1] = loop.turn
            self.trackers.append({})
            going = self._test(loop) if loop.turn or test_first else True
            if going is DATA:
                self.note(loop.node, "How often this loop runs depends on data: one turn of it "
                          "was followed.")  # fmt: skip
                going = True
                once = True
            else:
                once = False
            loop.left = either(loop.left, without(self.active, going))
            self.active = both(self.active, going)
            if self.active is not False:
                self._body(loop, frame)
            self._close_tracker(loop)
            loop.turn += 1
            if once:
                loop.left = either(loop.left, self.active)
                return
            if self.work > _MOST_WORK:
                if not self.exhausted:
                    self.note(loop.node, "This loop is too long to be followed to its end: of it "
                              "and of the loops after it only the first turns were.")  # fmt: skip
                self.exhausted = True
                loop.left = either(loop.left, self.active)
                return
            if self.active is not False and loop.attempts < _MOST_ATTEMPTS:
                self._leap(loop, frame)

    def _test(self, loop: Loop) -> Any:
        if loop.test is None:
            return True
        going = truth(self.evaluate(loop.test))
        return going if lane_axis(going) or going is DATA else bool(going)

    def _body(self, loop: Loop, frame: Frame) -> None:
        self.execute(loop.body)
        self.active = either(self.active, frame.continued)
        frame.continued = False
        if loop.step is not None and self.active is not False:
            self.evaluate(loop.step)

    def _close_tracker(self, loop: Loop) -> None:
        """Keeps what a turn changed, and tells the loop around it."""
        written = {cell: old for cell, old in self.trackers.pop().items()
                   if cell[0].serial <= loop.serial}  # fmt: skip
        loop.history = [*loop.history[-1:], written]
        if self.trackers:
            outer = self.trackers[-1]
            for cell, old in written.items():
                outer.setdefault(cell, old)

    # Many turns together

    def _leap(self, loop: Loop, frame: Frame) -> None:
        """Tries to execute the turns that follow together, one or two turns a step."""
        for size in (1, 2):
            steps = growth_of(loop.history[-size:]) if loop.turn >= size else None
            if steps is None:
                continue
            stand, mark = self._stand(), self.mark()
            try:
                count = self._foresee(loop, steps, size)
                if count is None:
                    continue
                if count < 2:
                    return  # nearly at its end
                done = self._together(loop, frame, steps, count, size)
            except TooWideError:
                self._return_to(stand)
                self._set(steps, None)
                self.back_to(mark)
                self.work += _WORK_OF_AN_ATTEMPT
                break
            if done:
                loop.turn += count * size
                loop.history = []
                self.work += count * size * self.lanes.count // ELEMENTS_PER_WORK
                return
        loop.attempts += loop.turn > 1

    def _set(self, steps: Steps, index: Any) -> None:
        """Gives each cell its value at the start of the steps ``index``, or of the next turn."""
        for (memory, place), (start, growth) in steps.items():
            assert memory.cells is not None
            memory.cells[place] = start if index is None else grown(start, growth, index, memory)

    def _index(self, count: int) -> Any:
        """The numbers of ``count`` steps along a new outermost axis of arrays."""
        return np.arange(count, dtype=np.int64).reshape((count,) + (1,) * (len(self.axes) + 1))

    def _foresee(self, loop: Loop, steps: Steps, size: int) -> int | None:
        """How many steps the condition holds for, by the growth of what it looks at.

        None where that cannot be told.
        """
        if loop.test is None:
            return None
        limit = _MOST_TOGETHER // (self.lanes.count * math.prod(self.axes))
        if holds_loop(loop.body):
            limit = min(limit, _MOST_OF_NESTS)
        limit = max(limit, _LEAST_TOGETHER)
        look = min(_FIRST_LOOK, limit)
        names = names_in(loop.test)
        memories = None if names is None else [self.find(name) for name in names]
        looked_at = {
            cell: growth
            for cell, growth in steps.items()
            if memories is None or cell[0] in memories
        }
        while True:
            mark = self.mark()
            self.trackers.append({})
            self.axes.append(look)
            self._set(looked_at, self._index(look))
            alive = self._alive(self._test(loop), look, every=size > 1)
            self._undo(self.trackers.pop())
            self._set(looked_at, None)
            self.axes.pop()
            self.back_to(mark)
            if alive is None:
                return None
            if alive < look or look == limit:
                # With two turns a step the second one must be inside as well.
                return alive - (size > 1)
            look = min(limit, look * 16)

    def _alive(self, going: Any, look: int, *, every: bool) -> int | None:
        """For how many steps any lane goes on (every lane, if asked); None if it cannot be told."""
        if not lane_axis(going) or going.ndim <= len(self.axes):
            return None
        inside = both(self.active, going)
        if inside is True:
            return look
        if inside is False:
            return 0
        inside = np.broadcast_to(inside, np.broadcast_shapes(inside.shape, going.shape))
        inside = np.logical_and.accumulate(inside, axis=0).reshape(look, -1)
        any_lane = inside.any(axis=1)
        if every and bool((any_lane & ~inside.all(axis=1)).any()):
            return None
        return int(any_lane.sum())

    def _together(self, loop: Loop, frame: Frame, steps: Steps, count: int, size: int) -> bool:
        """Executes ``count`` steps together; False, and nothing changed, if that is not right."""
        mark = self.mark()
        index = self._index(count)
        self.axes.append(count)
        self._set(steps, index)
        tracker: Written = {}
        self.trackers.append(tracker)
        alive: Any = True
        right = True
        for number in range(size):
            self.turns[-1] = loop.turn + index * size + number
            going = self._test(loop)
            if lane_axis(going) and going.ndim > len(self.axes):
                going = np.logical_and.accumulate(going, axis=0)
            entered = both(self.active, going)
            if entered is False or (number and not same(entered, self.active)):
                right = False
                break
            alive = self.active = entered
            self._body(loop, frame)
            if not same(self.active, entered):
                right = False
                break
        self.trackers.pop()
        ends = self._ends(loop, steps, tracker, alive, index) if right else None
        self.axes.pop()
        if ends is None:
            self._undo(tracker)
            self._set(steps, None)
            self.back_to(mark)
            return False
        for (memory, place), data in ends.items():
            assert memory.cells is not None
            memory.cells[place] = data
        self.active = mark.active
        return True

    def _stand(self) -> tuple[Any, ...]:
        """Everything that statements in progress have put on top of something."""
        lists = self.trackers, self.axes, self.turns, self.frames, self.scopes
        return self.frames, self.scopes, self.depth, tuple(len(each) for each in lists)

    def _return_to(self, stand: tuple[Any, ...]) -> None:
        """Abandons the statements in progress since, and undoes what they wrote."""
        self.frames, self.scopes, self.depth, lengths = stand
        for tracker in reversed(self.trackers[lengths[0] :]):
            self._undo(tracker)
        lists: tuple[list[Any], ...] = (self.trackers, self.axes, self.turns, self.frames,
                                        self.scopes)  # fmt: skip
        for each, length in zip(lists, lengths, strict=True):
            del each[length:]

    def _ends(self, loop: Loop, steps: Steps, tracker: Written, alive: Any,
              index: Any) -> dict[tuple[Memory, int], Any] | None:  # fmt: skip
        """What cells hold after the last step, or None if a step starts otherwise than foreseen."""
        if any(m.serial <= loop.serial and (m, p) not in steps for m, p in tracker):
            return None
        count = index.shape[0]
        ends = {}
        for (memory, place), (start, growth) in steps.items():
            assert memory.cells is not None
            end = memory.cells[place]
            if growth is not DATA:
                foreseen = grown(start, growth, index[:-1] + 1, memory)
                if not agrees(end, foreseen, alive, count, len(self.axes) + 1):
                    return None
            ends[memory, place] = last(end, alive, start, count, len(self.axes) + 1)
        return ends

    @staticmethod
    def _undo(tracker: Written) -> None:
        for (memory, place), old in tracker.items():
            assert memory.cells is not None
            memory.cells[place] = old
