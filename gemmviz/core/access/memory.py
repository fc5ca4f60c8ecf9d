"""Objects in memory, and the record of who touched them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gemmviz.core.access.kinds import Kind, Pointer, Scalar, Space, Vector, leaf
from gemmviz.core.access.values import DATA, lane_axis, select

_MOST_CELLS = 4096
_MOST_SPREAD = 256


class Memory:
    """A variable, an array or a buffer.

    Attributes:
        name: In the source.
        space: The address space.
        kind: As declared; of a buffer, what its pointer points at.
        cells: Payloads of its scalars where they may decide an address, else None: what a buffer,
            a local array or a private array of floating-point numbers holds is never followed.
        serial: Counts up over all objects, so that a loop knows which are older than itself.
        matrix: "A", "B" or "C", or "".
        row_length: Scalars from one row to the next.
    """

    __slots__ = ("cells", "kind", "leaf", "matrix", "name", "row_length", "serial", "space")

    def __init__(
        self, name: str, space: Space, kind: Kind, serial: int, *, row_length: int = 1
    ) -> None:
        self.name, self.space, self.kind, self.serial = name, space, kind, serial
        self.leaf = leaf(kind)
        self.matrix = ""
        self.row_length = row_length
        self.cells: list[Any] | None = None
        count = kind.bytes // max(1, self.leaf.bytes)
        if space in ("private", "constant") and count <= _MOST_CELLS and self._decides(count):
            self.cells = [None] * count

    def _decides(self, count: int) -> bool:
        if isinstance(self.leaf, Scalar) and self.leaf.floating:
            return count == 1
        return isinstance(self.leaf, Scalar | Pointer)

    def load(self, offset: Any, kind: Kind) -> Any:
        """The payload of type ``kind`` at a byte offset; DATA where it is not known."""
        if self.cells is None or leaf(kind) != self.leaf:
            return DATA
        size = self.leaf.bytes
        if isinstance(kind, Vector):
            parts = tuple(self.load(offset + i * size, kind.scalar) for i in range(kind.count))
            return DATA if all(part is DATA for part in parts) else parts
        if not lane_axis(offset):
            index = offset // size
            found = self.cells[index] if 0 <= index < len(self.cells) else DATA
            return DATA if found is None else found
        index = offset // size
        low, high = int(index.min()), int(index.max())
        if low < 0 or high >= len(self.cells) or high - low > _MOST_SPREAD:
            return DATA
        result = self.cells[low]
        for place in range(low + 1, high + 1):
            here = index == place
            if here.any():
                result = select(here, self.cells[place], result, self.leaf)
        return DATA if result is None else result

    def store(self, offset: Any, kind: Kind, data: Any, mask: Any,
              write: Callable[[Memory, int, Any], None]) -> None:  # fmt: skip
        """Sets what lies at a byte offset in the work-items of ``mask``, through ``write``."""
        if self.cells is None:
            return
        size = self.leaf.bytes
        if leaf(kind) != self.leaf:
            for place in range(len(self.cells)):
                write(self, place, DATA)
            return
        parts = data if isinstance(kind, Vector) and isinstance(data, tuple) else (data,)
        count = kind.count if isinstance(kind, Vector) else 1
        parts = parts if len(parts) == count else parts * count
        for number, part in enumerate(parts):
            index = (offset + number * size) // size
            if not lane_axis(index):
                if 0 <= index < len(self.cells):
                    old = self.cells[index]
                    write(self, index, part if mask is True else select(mask, part, old, self.leaf))
                continue
            low, high = max(0, int(index.min())), min(len(self.cells) - 1, int(index.max()))
            for place in range(low, high + 1):
                here = (index == place) if mask is True else (index == place) & mask
                if here.any():
                    write(self, place, select(here, part, self.cells[place], self.leaf))


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """One access of the source to one object."""

    node: Any
    memory: Memory
    kind: Literal["load", "store"]
    bytes: int
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One execution of a site by all work-items, over all turns of the loops around it.

    Attributes:
        site: Index of the site.
        offset: Byte offsets: a payload.
        mask: Who takes part: True or an array.
        axes: Turns of each loop that has an axis, outermost first.
        turns: Which turn of each loop around it, outermost first: a number or an axis of them.
    """

    site: int
    offset: Any
    mask: Any
    axes: tuple[int, ...]
    turns: tuple[Any, ...]

    def leading(self) -> tuple[int, ...]:
        """The shape in front of the work-items of offset and mask together."""
        shapes = [np.shape(part)[:-1] for part in (self.offset, self.mask)]
        return tuple(np.broadcast_shapes(*shapes))
