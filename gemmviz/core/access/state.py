"""Where the evaluation stands: who is active, in which turns, and what was recorded so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gemmviz.core.access.kinds import Kind, Space
from gemmviz.core.access.lanes import Lanes
from gemmviz.core.access.memory import Event, Memory, Site
from gemmviz.core.access.values import TooWideError, Value, lane_axis

_WIDEST = 2**23
ELEMENTS_PER_WORK = 1024
"""Elements of arrays that take about as long as an expression."""

Written = dict[tuple[Memory, int], Any]
"""What cells held before they were written: by object and index."""


def both(a: Any, b: Any) -> Any:
    """Two masks at once: False where nobody is left, True where everybody is."""
    if a is False or b is False:
        return False
    if a is True or b is True:
        return _plain(b if a is True else a)
    return _plain(a & b)


def either(a: Any, b: Any) -> Any:
    """Who is in one of two masks."""
    if a is True or b is True:
        return True
    if a is False:
        return b
    if b is False:
        return a
    return _plain(a | b)


def same(a: Any, b: Any) -> bool:
    """Whether two masks are equal."""
    return a is b or (without(a, b) is False and without(b, a) is False)


def without(a: Any, b: Any) -> Any:
    """Who is in the first mask and not in the second."""
    if b is True or a is False:
        return False
    if b is False:
        return a
    return _plain(~b if a is True else a & ~b)


def _plain(mask: Any) -> Any:
    if not lane_axis(mask):
        return bool(mask)
    if mask.all():
        return True
    return mask if mask.any() else False


@dataclass(slots=True)
class Frame:
    """A loop, a switch or a call that lanes may leave early.

    Attributes:
        kind: What it is.
        broken: Lanes that left by ``break``.
        continued: Lanes that wait for the next turn.
        result: What lanes returned so far.
    """

    kind: Literal["loop", "switch", "call"]
    broken: Any = False
    continued: Any = False
    result: Value | None = None


@dataclass(slots=True)
class Mark:
    """A point that a failed attempt goes back to."""

    events: int
    flops: Any
    unknowns: dict[tuple[int, str], None]
    active: Any
    frames: list[tuple[Frame, Any, Any, Value | None]]


class State:
    """Masks, loop axes and records; expressions and statements are built on it."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.active: Any = True
        self.axes: list[int] = []
        self.turns: list[Any] = []
        self.events: list[Event] = []
        self.sites: list[Site] = []
        self.unknowns: dict[tuple[int, str], None] = {}
        self.flops = np.zeros(len(lanes.groups), dtype=np.int64)
        self.trackers: list[Written] = []
        self.frames: list[Frame] = []
        self.work = 0
        self.exhausted = False
        self._serial = 0
        self._site_numbers: dict[tuple[int, Memory, str, int], int] = {}
        self._weighed: tuple[Any, tuple[int, ...], Any] = (None, (), None)

    def note(self, node: Any, reason: str) -> None:
        """Records something that cannot be followed."""
        self.unknowns[(line_of(node), reason)] = None

    def noted(self, node: Any) -> bool:
        """Whether something on the line of a node is recorded as not followed."""
        line = line_of(node)
        return any(noted == line for noted, _ in self.unknowns)

    def new_memory(self, name: str, space: Space, kind: Kind, *, row_length: int = 1) -> Memory:
        """An object younger than all others."""
        self._serial += 1
        return Memory(name, space, kind, self._serial, row_length=row_length)

    @property
    def serial(self) -> int:
        """The age of the youngest object."""
        return self._serial

    def write(self, memory: Memory, index: int, data: Any) -> None:
        """Sets a cell and remembers what it held."""
        assert memory.cells is not None
        if self.trackers:
            self.trackers[-1].setdefault((memory, index), memory.cells[index])
        memory.cells[index] = data

    def record(
        self, node: Any, memory: Memory, kind: Literal["load", "store"], offset: Any, size: int
    ) -> None:
        """Records an access of the active lanes."""
        if self.active is False:
            return
        key = id(node), memory, kind, size
        number = self._site_numbers.get(key)
        if number is None:
            number = self._site_numbers[key] = len(self.sites)
            self.sites.append(Site(node, memory, kind, size, line_of(node)))
        event = Event(number, offset, self.active, tuple(self.axes), tuple(self.turns))
        size = math.prod(event.leading()) * self.lanes.count
        if self.axes and size > _WIDEST:
            raise TooWideError
        self.work += size // ELEMENTS_PER_WORK
        self.events.append(event)

    def count_flops(self, each: int) -> None:
        """Adds ``each`` operations for every active lane and turn."""
        if self.active is False:
            return
        self.flops += each * self._weight()

    def _weight(self) -> Any:
        """Active lanes of each group, over all turns."""
        axes = tuple(self.axes)
        mask, seen, weight = self._weighed
        if mask is self.active and seen == axes:
            return weight
        turns = math.prod(axes)
        if self.active is True:
            weight = self.lanes.items * turns
        else:
            shape = (*self.active.shape[:-1], self.lanes.count)
            lanes = np.broadcast_to(self.active, shape).reshape(-1, self.lanes.count)
            groups = lanes.sum(axis=0).reshape(len(self.lanes.groups), -1).sum(axis=1)
            weight = groups * (turns // lanes.shape[0])
        self._weighed = self.active, axes, weight
        return weight

    def mark(self) -> Mark:
        """Where things stand now."""
        frames = [(frame, frame.broken, frame.continued, frame.result) for frame in self.frames]
        return Mark(len(self.events), self.flops.copy(), dict(self.unknowns), self.active, frames)

    def back_to(self, mark: Mark) -> None:
        """Forgets what was recorded since, and who left."""
        del self.events[mark.events :]
        self.flops, self.unknowns, self.active = mark.flops, mark.unknowns, mark.active
        for frame, broken, continued, result in mark.frames:
            frame.broken, frame.continued, frame.result = broken, continued, result


def line_of(node: Any) -> int:
    """The line of the kernel's own file, or 0 where the parser gives none."""
    coordinate = getattr(node, "coord", None)
    return int(coordinate.line or 0) if coordinate is not None else 0
