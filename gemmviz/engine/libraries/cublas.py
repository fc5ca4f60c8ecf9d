"""cuBLAS on the NVIDIA device that the job names, on matrices of its own with the same contents."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gemmviz.core.context import LibraryFacts
from gemmviz.core.launch import kernel_view, leading_dimensions, matrix_at, scalars
from gemmviz.core.model import Failure, Job, KernelFacts
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.libraries.cuda import Allocation, Cuda
from gemmviz.engine.libraries.loading import load
from gemmviz.engine.opencl import Launches, Session

# library_types.h and cublas_api.h: the type of the data, of the sum, and of alpha and beta.
_TYPES: dict[tuple[str, str], tuple[int, int, Any]] = {
    ("half", "element"): (2, 68, ctypes.c_float),
    ("float", "element"): (0, 68, ctypes.c_float),
    ("float", "tf32"): (0, 77, ctypes.c_float),
    ("double", "element"): (1, 70, ctypes.c_double),
}
_TRANSPOSES = {"n": 0, "t": 1}
_DEFAULT_ALGORITHM = -1
# What NVIDIA advises for Hopper; the library's own pool would be grown at the first call.
_WORKSPACE_BYTES = 32 * 2**20

Bound = tuple[Mapping[str, Allocation], Callable[[], None]]
"""A call with the buffers whose addresses it holds, so that they live as long as it does."""


class CuBlas:
    """See :class:`gemmviz.engine.runner.Runner`.

    A batch of calls is replayed as one graph between two of CUDA's events, so each call is given
    its equal share; unlike OpenCL's events these also count the gaps between launches.
    """

    host_clock = ""
    options: tuple[str, ...] = ()
    log = ""

    def __init__(self, job: Job, session: Session) -> None:
        begun = time.perf_counter()
        self._job = job
        self._types = _TYPES[job.problem.element, job.variant.precision]
        self._library, file = load("cublas")
        self.memory = self._cuda = Cuda(session.pci_address)
        self._handle = ctypes.c_void_p()
        self._workspace: Allocation | None = None
        try:
            self.library = self._open(file)
        except DriverError:
            self.close()
            raise
        self.seconds = time.perf_counter() - begun

    def _open(self, file: str) -> LibraryFacts:
        """Makes the handle; what the library says of itself."""
        self._ask("cublasCreate_v2", ctypes.byref(self._handle))
        self._ask("cublasSetStream_v2", self._handle, self._cuda.stream)
        self._workspace = self._cuda.room(_WORKSPACE_BYTES)
        self._ask(
            "cublasSetWorkspace_v2", self._handle, ctypes.c_void_p(self._workspace.address),
            ctypes.c_size_t(_WORKSPACE_BYTES),
        )  # fmt: skip
        version = ctypes.c_int()
        self._ask("cublasGetVersion_v2", self._handle, ctypes.byref(version))
        major, rest = divmod(version.value, 10000)
        return LibraryFacts("cuBLAS", f"{major}.{rest // 100}.{rest % 100}", file=file)

    def close(self) -> None:
        """See Runner; a child runs many jobs, and a handle holds memory of the device."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            self._library.cublasDestroy_v2(handle)
        self._workspace = None
        self._cuda.close()

    def _ask(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise DriverError(
                Failure(
                    "driver", f"cuBLAS failed with its status {status}.",
                    f"{name} gave {status}; see cublasStatus_t in cublas_api.h.",
                )
            )  # fmt: skip

    def bind(self, buffers: Mapping[str, Allocation]) -> Bound:
        """One product of these matrices.

        cuBLAS knows column-major alone, in which row-major matrices are transposed: it multiplies
        op(B)^T op(A)^T and writes C^T, which is C again.
        """
        variant, problem = self._job.variant, self._job.problem
        view, leading = kernel_view(variant, problem), leading_dimensions(variant, problem)
        data, total, real = self._types
        alpha, beta = map(real, scalars(problem))
        a, b, c = (
            ctypes.c_void_p(buffers[matrix_at(variant, problem, name)].address) for name in "ABC"
        )
        of_a, of_b = (_TRANSPOSES[letter] for letter in view.transpose)

        def call() -> None:
            self._ask(
                "cublasGemmEx", self._handle, of_b, of_a, view.n, view.m, view.k,
                ctypes.byref(alpha), b, data, leading["B"], a, data, leading["A"],
                ctypes.byref(beta), c, data, leading["C"], total, _DEFAULT_ALGORITHM,
            )  # fmt: skip

        begun = time.perf_counter()
        call()  # loads the kernel, which must not happen while a graph is recorded
        self._cuda.wait()
        self.seconds += time.perf_counter() - begun
        return buffers, call

    def facts(self) -> KernelFacts:
        """Nothing: OpenCL's driver knows nothing of it."""
        return KernelFacts()

    def launch(self, turns: Sequence[Bound]) -> Launches:
        """Calls it once for each and waits for all."""
        span, wall = self._cuda.replay([call for _, call in turns])
        ends = [round(span * place / len(turns)) for place in range(len(turns) + 1)]
        return Launches(tuple(pairwise(ends)), wall, apart=False)
