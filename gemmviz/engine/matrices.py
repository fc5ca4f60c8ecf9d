"""A, B and C for the device, each between two guards that tell what a kernel did beside them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.core.feasibility import FRONT_GUARD_BYTES, GUARD_ELEMENTS
from gemmviz.core.launch import matrix_shapes, storage_order
from gemmviz.core.libraries import memory_of
from gemmviz.core.model import ELEMENTS, Outside, Problem, Variant
from gemmviz.core.reference import Answer, draw_inputs
from gemmviz.engine.runner import Buffer, Memory

Array = npt.NDArray[Any]
Key = tuple[str, str, str, Problem]

# A kernel that reads these computes NaN. The payload is no driver's own NaN, so that writing NaN
# into a guard shows too.
_GUARD_BITS = {"half": 0x7E5A, "float": 0x7FC5A5A5, "double": 0x7FF85A5A5A5A5A5A}
# Signalling: whatever is computed from it turns quiet, and so differs from a cell never written.
_POISON_BITS = {"half": 0x7D3C, "float": 0x7FA3C3C3, "double": 0x7FF43C3C3C3C3C3C}


def matrices_key(variant: Variant, problem: Problem) -> Key:
    """Kernels with equal keys may share their matrices."""
    return memory_of(variant), storage_order(variant, problem), variant.operation, problem


class Matrices:
    """Buffers of A, B and C as the problem and the variant want them stored, between guards.

    Each is part of a larger buffer: a page in front, the data, GUARD_ELEMENTS behind. The guards of
    A and B hold NaN, so that reading past an end poisons the answer; C and its guards hold a NaN of
    other bits, so that a cell never written is told from one into which NaN was, and a kernel that
    reads C at a beta of 0 is found out. With another beta C itself holds numbers.

    Attributes:
        key: See :func:`matrices_key`.
        inputs: The drawn A and B, and C where beta is not 0.
        buffers: "A", "B" and "C" as kernel arguments.
    """

    def __init__(self, memory: Memory, variant: Variant, problem: Problem) -> None:
        """Draws the inputs and fills the buffers.

        Raises:
            DriverError: The device has no room for them.
        """
        self._memory = memory
        self._dtype = np.dtype(ELEMENTS[problem.element].dtype)
        self._bits = np.dtype(f"u{self._dtype.itemsize}")
        # A transposed matrix stored by rows is the matrix itself stored by columns.
        by_rows = storage_order(variant, problem) == "row"
        self._orders: dict[str, Literal["C", "F"]] = {
            name: "C" if by_rows == (letter == "n") else "F"
            for name, letter in zip("ABC", (*problem.transpose, "n"), strict=True)
        }
        self._shapes = matrix_shapes(variant, problem)
        self._guard, self._poison = (
            self._bits.type(bits[problem.element]) for bits in (_GUARD_BITS, _POISON_BITS)
        )
        self._front = FRONT_GUARD_BYTES // self._dtype.itemsize
        self.key = matrices_key(variant, problem)
        self.inputs = draw_inputs(variant, problem)
        self._whole: dict[str, Buffer] = {}
        self.buffers: dict[str, Buffer] = {}
        for name in "ABC":
            self._whole[name] = memory.buffer(self._content(name))
            self.buffers[name] = memory.part(
                self._whole[name], FRONT_GUARD_BYTES, self._size(name) * self._dtype.itemsize
            )

    def copies(self, count: int) -> list[dict[str, Buffer]]:
        """``count`` more sets of buffers with the same inputs, without guards.

        Raises:
            DriverError: The device has no room for them.
        """
        names = "ABC" if count else ""
        data = {name: self._content(name)[self._data(name)] for name in names}
        return [
            {name: self._memory.buffer(content) for name, content in data.items()}
            for _ in range(count)
        ]

    def poison(self) -> None:
        """Fills C and its guards as before the first launch: with NaN, or with what beta is for.

        Raises:
            DriverError: The device refused it.
        """
        self._memory.write(self._whole["C"], self._content("C"))

    def renew(self) -> None:
        """Fills all three as before the first launch, whatever a kernel wrote into A and B.

        Raises:
            DriverError: The device refused it.
        """
        for name, whole in self._whole.items():
            self._memory.write(whole, self._content(name))

    def answer(self) -> Answer:
        """What the launches since the last filling left behind.

        Raises:
            DriverError: A launch failed.
        """
        c = np.empty(self._front + self._size("C") + GUARD_ELEMENTS, self._bits)
        self._memory.read(self._whole["C"], c)
        outside = [*self._changed("A"), *self._changed("B")]
        data = self._data("C")
        outside += _outside("C", self._poison, c[: data.start], c[data.stop :])
        cells = c[data].reshape(self._shapes["C"], order=self._orders["C"])
        before = self._poison if self.inputs.c is None else self.inputs.c.view(self._bits)
        return Answer(cells.view(self._dtype), cells == before, tuple(outside))

    def _changed(self, name: Literal["A", "B"]) -> list[Outside]:
        """Reads the guards of an input back."""
        item = self._dtype.itemsize
        front = np.empty(self._front, self._bits)
        part = self._memory.part(self._whole[name], 0, front.nbytes)
        self._memory.read(part, front)
        # A part must begin on a page, so the last of the data comes with the guard behind it.
        end = FRONT_GUARD_BYTES + self._size(name) * item
        start = end - end % FRONT_GUARD_BYTES
        tail = np.empty((end - start) // item + GUARD_ELEMENTS, self._bits)
        part = self._memory.part(self._whole[name], start, tail.nbytes)
        self._memory.read(part, tail)
        return _outside(name, self._guard, front, tail[-GUARD_ELEMENTS:])

    def _content(self, name: str) -> Array:
        """A whole buffer as it is before a launch."""
        filler = self._poison if name == "C" else self._guard
        data = self._data(name)
        content = np.full(data.stop + GUARD_ELEMENTS, filler, self._bits).view(self._dtype)
        matrix = {"A": self.inputs.a, "B": self.inputs.b, "C": self.inputs.c}[name]
        if matrix is not None:
            content[data].reshape(matrix.shape, order=self._orders[name])[...] = matrix
        return content

    def _data(self, name: str) -> slice:
        return slice(self._front, self._front + self._size(name))

    def _size(self, name: str) -> int:
        rows, cols = self._shapes[name]
        return rows * cols


def _outside(
    name: Literal["A", "B", "C"], filler: np.unsignedinteger[Any], front: Array, back: Array
) -> list[Outside]:
    """What was overwritten on either side of a buffer."""
    sides: tuple[tuple[Literal["in front of", "behind"], Array], ...] = (
        ("in front of", front),
        ("behind", back),
    )
    counts = [(side, int(np.count_nonzero(guard != filler))) for side, guard in sides]
    return [Outside(name, side, count) for side, count in counts if count]
