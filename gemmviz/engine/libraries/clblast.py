"""CLBlast on the job's OpenCL device, through its C interface."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gemmviz.core.context import LibraryFacts
from gemmviz.core.model import Failure, Job, KernelFacts
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.libraries.loading import load, version_in_name
from gemmviz.engine.opencl import Launches, Session
from gemmviz.engine.status import failure_of

# clblast_c.h
_ROW_MAJOR, _NOT_TRANSPOSED = 101, 111
_ROUTINES: dict[str, tuple[str, Any, float]] = {
    "half": ("CLBlastHgemm", ctypes.c_uint16, 0x3C00),  # 1.0 as the bits of a half
    "float": ("CLBlastSgemm", ctypes.c_float, 1.0),
    "double": ("CLBlastDgemm", ctypes.c_double, 1.0),
}
_FIRST_OWN_CODE = -1024  # its own codes lie at and below this, OpenCL's above

Bound = tuple[Mapping[str, Any], Callable[[], int]]
"""A call with the buffers whose addresses it holds, so that they live as long as it does."""


class ClBlast:
    """See :class:`gemmviz.engine.runner.Runner`."""

    host_clock = (
        "CLBlast's event covers only a part of a call: the host's clock times calls up to clFinish."
    )
    options: tuple[str, ...] = ()
    log = ""

    def __init__(self, job: Job, session: Session) -> None:
        begun = time.perf_counter()
        self.memory = self._session = session
        self._problem = job.problem
        library, file = load("clblast")
        name, real, one = _ROUTINES[job.problem.element]
        self._one, self._zero = real(one), real(0)
        self._gemm = getattr(library, name)
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        matrix = [pointer, size, size]
        self._gemm.argtypes = [
            *(ctypes.c_int,) * 3, size, size, size, real, *matrix, *matrix, real, *matrix,
            pointer, pointer,
        ]  # fmt: skip
        self._gemm.restype = ctypes.c_int
        self._queue = ctypes.c_void_p(session.queue_pointer)
        self.library = LibraryFacts("CLBlast", version_in_name(file), file=file)
        self.seconds = time.perf_counter() - begun
        self._compiled = False

    def bind(self, buffers: Mapping[str, Any]) -> Bound:
        """One product of these matrices.

        The first compiles CLBlast's kernels for the device, which takes seconds.

        Raises:
            DriverError: The call failed.
        """
        m, n, k = self._problem.m, self._problem.n, self._problem.k
        a, b, c = (buffers[name].int_ptr for name in "ABC")
        queue = ctypes.byref(self._queue)

        def call() -> int:
            status: int = self._gemm(
                _ROW_MAJOR, _NOT_TRANSPOSED, _NOT_TRANSPOSED, m, n, k,
                self._one, a, 0, k, b, 0, n, self._zero, c, 0, n, queue, None,
            )  # fmt: skip
            return status

        if not self._compiled:
            begun = time.perf_counter()
            self.launch([(buffers, call)])
            self._compiled = True
            self.seconds += time.perf_counter() - begun
        return buffers, call

    def facts(self) -> KernelFacts:
        """Nothing: which kernels it has built it does not tell."""
        return KernelFacts()

    def close(self) -> None:
        """Nothing to give back."""

    def launch(self, turns: Sequence[Bound]) -> Launches:
        """Calls it once for each and waits for all."""
        begun = time.perf_counter()
        for _, call in turns:
            status = call()
            if status:
                raise DriverError(_failure(status))
        self._session.finish()
        return Launches(((0, 0),) * len(turns), time.perf_counter() - begun)


def _failure(status: int) -> Failure:
    if status > _FIRST_OWN_CODE:
        return failure_of(status, f"CLBlast's status {status}", "CLBlast passed on OpenCL's error.")
    return Failure(
        "driver", f"CLBlast failed with its status {status}.", "See StatusCode in clblast.h."
    )
