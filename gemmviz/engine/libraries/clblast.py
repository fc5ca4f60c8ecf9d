"""CLBlast on the job's OpenCL device, through its C interface."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gemmviz.core.context import LibraryFacts
from gemmviz.core.launch import kernel_view, leading_dimensions, matrix_at, scalars
from gemmviz.core.model import Failure, Job, KernelFacts
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.libraries.clblast_parameters import (
    Parameters,
    always_xgemm,
    give,
    kernel_chosen,
    shipped,
)
from gemmviz.engine.libraries.loading import load, version_in_name
from gemmviz.engine.opencl import Launches, Session
from gemmviz.engine.status import failure_of

# clblast_c.h
_ROW_MAJOR = 101
_TRANSPOSES = {"n": 111, "t": 112}
_ROUTINES: dict[str, tuple[str, Any]] = {
    "half": ("CLBlastHgemm", ctypes.c_uint16),
    "float": ("CLBlastSgemm", ctypes.c_float),
    "double": ("CLBlastDgemm", ctypes.c_double),
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
        self._job = job
        self._library, file = load("clblast")
        name, real = _ROUTINES[job.problem.element]
        self._alpha, self._beta = (
            real(int(np.float16(value).view(np.uint16)) if real is ctypes.c_uint16 else value)
            for value in scalars(job.problem)
        )
        self._gemm = getattr(self._library, name)
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        matrix = [pointer, size, size]
        self._gemm.argtypes = [
            *(ctypes.c_int,) * 3, size, size, size, real, *matrix, *matrix, real, *matrix,
            pointer, pointer,
        ]  # fmt: skip
        self._gemm.restype = ctypes.c_int
        self._queue = ctypes.c_void_p(session.queue_pointer)
        version = version_in_name(file)
        self._parameters = self._wanted(version)
        view = kernel_view(job.variant, job.problem)
        chosen = kernel_chosen(self._parameters, view.m, view.n, view.k)
        self.library = LibraryFacts("CLBlast", version, chosen, file=file)
        self.seconds = time.perf_counter() - begun
        self._compiled = False

    def bind(self, buffers: Mapping[str, Any]) -> Bound:
        """One product of these matrices.

        The first compiles CLBlast's kernels for the device, which takes seconds.

        Raises:
            DriverError: The call failed.
        """
        variant, problem = self._job.variant, self._job.problem
        view, leading = kernel_view(variant, problem), leading_dimensions(variant, problem)
        a, b, c = (buffers[matrix_at(variant, problem, name)].int_ptr for name in "ABC")
        of_a, of_b = (_TRANSPOSES[letter] for letter in view.transpose)
        queue = ctypes.byref(self._queue)

        def call() -> int:
            status: int = self._gemm(
                _ROW_MAJOR, of_a, of_b, view.m, view.n, view.k, self._alpha, a, 0, leading["A"],
                b, 0, leading["B"], self._beta, c, 0, leading["C"], queue, None,
            )  # fmt: skip
            return status

        if not self._compiled:
            begun = time.perf_counter()
            self.launch([(buffers, call)])
            self._compiled = True
            self.seconds += time.perf_counter() - begun
        return buffers, call

    def _wanted(self, version: str) -> Parameters:
        """The parameters of its kernels: the job's, and elsewhere those that it ships.

        Raises:
            DriverError: It has not the parameters that the job has.
        """
        job = self._job
        own = shipped(self._library, self._session.device_pointer, job.problem.element)
        if not job.parameters:
            return own
        if not own:
            sentence = f"This CLBlast {version} does not tell its parameters, so none can be set."
            raise DriverError(Failure("refused", " ".join(sentence.split())))
        strange = [name for name, _ in job.parameters if name not in own["Xgemm"]]
        if strange:
            sentence = f"The kernel Xgemm of CLBlast {version} has no parameter {strange[0]}."
            raise DriverError(Failure("refused", " ".join(sentence.split())))
        return always_xgemm(own, dict(job.parameters))

    def facts(self) -> KernelFacts:
        """Nothing: which kernels it has built it does not tell."""
        return KernelFacts()

    def close(self) -> None:
        """Nothing to give back."""

    def launch(self, turns: Sequence[Bound]) -> Launches:
        """Calls it once for each and waits for all."""
        device, element = self._session.device_pointer, self._job.problem.element
        status = give(self._library, device, element, self._parameters)
        if status:
            raise DriverError(_failure(status))
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
