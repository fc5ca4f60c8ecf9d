"""The BLAS that numpy calls, on as many threads as the device has compute units."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import LibController, ThreadpoolController

from gemmviz.core.context import LibraryFacts
from gemmviz.core.launch import (
    kernel_view,
    leading_dimensions,
    matrix_at,
    scalars,
    stored_shapes,
)
from gemmviz.core.model import ELEMENTS, Failure, Job, KernelFacts
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.opencl import Launches, Session

_NAMES = {"openblas": "OpenBLAS", "mkl": "Intel MKL", "blis": "BLIS", "flexiblas": "FlexiBLAS"}
_PAGE = 4096
# cblas.h
_ROW_MAJOR = 101
_TRANSPOSES = {"n": 111, "t": 112}
_LETTERS: dict[str, tuple[str, Any]] = {
    "float": ("s", ctypes.c_float), "double": ("d", ctypes.c_double),
}  # fmt: skip
# What builds put around a routine's name, and the integers that go with it.
_DECORATIONS: tuple[tuple[str, str, Any], ...] = (
    ("scipy_", "64_", ctypes.c_int64), ("", "64_", ctypes.c_int64), ("", "_64", ctypes.c_int64),
    ("scipy_", "", ctypes.c_int32), ("", "", ctypes.c_int32),
)  # fmt: skip

Bytes = npt.NDArray[np.uint8]
Matrix = npt.NDArray[Any]


class HostMemory:
    """Buffers of this process, each beginning on a page as a device's do."""

    def buffer(self, content: npt.NDArray[Any]) -> Bytes:
        """A buffer holding ``content``."""
        buffer = self.room(content.nbytes)
        self.write(buffer, content)
        return buffer

    def room(self, size_bytes: int) -> Bytes:
        """A buffer with nothing in it."""
        whole = np.empty(size_bytes + _PAGE, np.uint8)
        start = -whole.ctypes.data % _PAGE
        return whole[start : start + size_bytes]

    def fill(self, buffer: Bytes, size_bytes: int) -> None:
        """Writes zeros over a buffer."""
        buffer[:size_bytes] = 0

    def part(self, buffer: Bytes, offset_bytes: int, size_bytes: int) -> Bytes:
        """A part of ``buffer``, sharing its memory."""
        return buffer[offset_bytes : offset_bytes + size_bytes]

    def write(self, buffer: Bytes, content: npt.NDArray[Any]) -> None:
        """Copies ``content`` into a buffer."""
        buffer[: content.nbytes] = content.view(np.uint8)

    def read(self, buffer: Bytes, into: npt.NDArray[Any]) -> None:
        """Copies out of a buffer."""
        into.view(np.uint8)[:] = buffer[: into.nbytes]


class Blas:
    """See :class:`gemmviz.engine.runner.Runner`.

    The child computes its references on one thread, so the library's own number is raised for its
    launches alone.
    """

    host_clock = "A library on the host has no events: the host's clock times whole calls of it."
    options: tuple[str, ...] = ()
    log = ""

    def __init__(self, job: Job, session: Session) -> None:
        begun = time.perf_counter()
        self.memory = HostMemory()
        self._job = job
        self._dtype = np.dtype(ELEMENTS[job.problem.element].dtype)
        self._pool = _numpy_blas()
        self._threads = int(session.fact("MAX_COMPUTE_UNITS") or 1)
        self.library = self._describe()
        self.seconds = time.perf_counter() - begun

    def _describe(self) -> LibraryFacts:
        if self._pool is None:
            return LibraryFacts(_numpy_words())
        told = self._pool.info()
        before = self._pool.get_num_threads()
        # A library built for fewer threads takes fewer, and says so only afterwards.
        self._pool.set_num_threads(self._threads)
        threads = self._pool.get_num_threads()
        self._pool.set_num_threads(before)
        return LibraryFacts(
            name=_NAMES.get(told["internal_api"], told["internal_api"]),
            version=told["version"] or "",
            kernel=told.get("architecture") or "",
            threads=threads,
            file=told["filepath"],
        )

    def bind(self, buffers: Mapping[str, Bytes]) -> Callable[[], object]:
        """One product of these matrices.

        Raises:
            DriverError: There is alpha or beta, and the library has no routine that takes them.
        """
        variant, problem = self._job.variant, self._job.problem
        shapes = stored_shapes(variant, problem)
        a, b, c = (
            buffers[matrix_at(variant, problem, name)].view(self._dtype).reshape(shapes[name])
            for name in "ABC"
        )
        if scalars(problem) == (1.0, 0.0):
            of_a, of_b = kernel_view(variant, problem).transpose
            first, second = a.T if of_a == "t" else a, b.T if of_b == "t" else b
            return lambda: np.matmul(first, second, out=c)
        return self._whole_gemm(a, b, c)

    def _whole_gemm(self, a: Matrix, b: Matrix, c: Matrix) -> Callable[[], object]:
        """The library's own routine, as numpy hands over neither alpha nor beta."""
        variant, problem = self._job.variant, self._job.problem
        view, leading = kernel_view(variant, problem), leading_dimensions(variant, problem)
        letter, real = _LETTERS[problem.element]
        gemm, whole = self._routine(f"cblas_{letter}gemm")
        pointer = ctypes.c_void_p
        gemm.argtypes = [
            *(ctypes.c_int,) * 3, *(whole,) * 3, real, pointer, whole, pointer, whole, real,
            pointer, whole,
        ]  # fmt: skip
        gemm.restype = None
        of_a, of_b = (_TRANSPOSES[each] for each in view.transpose)
        alpha, beta = scalars(problem)
        arguments = (
            _ROW_MAJOR, of_a, of_b, view.m, view.n, view.k, alpha, a.ctypes.data, leading["A"],
            b.ctypes.data, leading["B"], beta, c.ctypes.data, leading["C"],
        )  # fmt: skip
        return lambda: gemm(*arguments)

    def _routine(self, name: str) -> tuple[Any, Any]:
        """A routine of the library that numpy calls, and the type of its integers."""
        library = ctypes.CDLL(self.library.file) if self.library.file else None
        for before, after, whole in _DECORATIONS:
            routine = getattr(library, f"{before}{name}{after}", None)
            if routine is not None:
                return routine, whole
        raise DriverError(
            Failure(
                "refused",
                f"{self.library.name} offers no {name} to call, and numpy passes on neither alpha "
                "nor beta.",
            )
        )

    def facts(self) -> KernelFacts:
        """Nothing: no OpenCL driver knows of it."""
        return KernelFacts()

    def close(self) -> None:
        """Nothing to give back."""

    def launch(self, turns: Sequence[Callable[[], object]]) -> Launches:
        """Calls it once for each, on all its threads."""
        before = self._pool.get_num_threads() if self._pool is not None else 0
        if self._pool is not None:
            self._pool.set_num_threads(self._threads)
        try:
            begun = time.perf_counter()
            for turn in turns:
                turn()
            wall = time.perf_counter() - begun
        finally:
            if self._pool is not None:
                self._pool.set_num_threads(before)
        return Launches(((0, 0),) * len(turns), wall)


def _numpy_blas() -> LibController | None:
    """The BLAS that numpy was built with; None where it is none that can be steered."""
    found: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    # Other packages bring copies of their own; numpy's wheel keeps its in a folder of its name.
    own = [pool for pool in found if "numpy" in pool.filepath]
    return next(iter([*own, *found]), None)


def _numpy_words() -> str:
    """What numpy says of a BLAS that threadpoolctl does not know, as Apple's."""
    told = np.show_config(mode="dicts")
    dependencies = told.get("Build Dependencies", {}) if isinstance(told, dict) else {}
    return str(dependencies.get("blas", {}).get("name") or "an unknown BLAS")
