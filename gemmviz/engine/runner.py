"""What a bench launches: a kernel or a library's call, behind one protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from gemmviz.core.context import LibraryFacts
from gemmviz.core.model import KernelFacts
from gemmviz.engine.opencl import Launches

Buffer = Any
Turn = Any


class Memory(Protocol):
    """Where matrices lie: an OpenCL device, CUDA's, or this process."""

    def buffer(self, content: npt.NDArray[Any]) -> Buffer:
        """A buffer holding ``content``; raises DriverError where there is no room."""

    def room(self, size_bytes: int) -> Buffer:
        """A buffer with nothing in it; raises DriverError where there is no room."""

    def fill(self, buffer: Buffer, size_bytes: int) -> None:
        """Writes zeros over a buffer and waits."""

    def part(self, buffer: Buffer, offset_bytes: int, size_bytes: int) -> Buffer:
        """A part of ``buffer`` as a buffer of its own, sharing its memory."""

    def write(self, buffer: Buffer, content: npt.NDArray[Any]) -> None:
        """Copies ``content`` into a buffer and waits."""

    def read(self, buffer: Buffer, into: npt.NDArray[Any]) -> None:
        """Copies out of a buffer and waits; raises DriverError if a launch before it failed."""


class Runner(Protocol):
    """A job's kernel, built, or the library that stands in its place, loaded."""

    @property
    def memory(self) -> Memory:
        """Where its matrices lie."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options that it was built with."""

    @property
    def seconds(self) -> float:
        """How long building or loading it took."""

    @property
    def log(self) -> str:
        """What its compiler said."""

    @property
    def library(self) -> LibraryFacts | None:
        """The library that runs; None for a kernel."""

    @property
    def host_clock(self) -> str:
        """Why the host's clock alone can time it, as a sentence; "" where events can."""

    def bind(self, buffers: Mapping[str, Buffer]) -> Turn:
        """One launch on these matrices, by the names that the arguments give them.

        Raises:
            DriverError: They do not fit the arguments.
        """

    def facts(self) -> KernelFacts:
        """The driver's figures of the kernel, once bound; all None for a library."""

    def launch(self, turns: Sequence[Turn]) -> Launches:
        """Launches what was bound, back to back, and waits for all.

        Where events cannot time it, each stamp is (0, 0).

        Raises:
            DriverError: A launch was refused or failed.
        """

    def close(self) -> None:
        """Gives back what it holds besides buffers; never fails, and nothing is launched after."""
