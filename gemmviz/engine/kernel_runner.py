"""The OpenCL kernel of a job: built, its arguments bound in its own order, launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gemmviz.core.context import LibraryFacts
from gemmviz.core.launch import (
    argument_numbers,
    assemble_job,
    geometry,
    kernel_view,
    matrix_at,
    stored_shapes,
    tensor_box,
)
from gemmviz.core.model import ELEMENTS, Argument, Failure, Job, KernelFacts
from gemmviz.engine.compiler import VERBOSE, name_lines, shortened
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.libraries.cuda import Cuda
from gemmviz.engine.opencl import Kernel, Launches, LocalMemory, Session
from gemmviz.engine.tensor_map import TiledMatrix, encode

_C_DTYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
             "float": np.float32, "double": np.float64}  # fmt: skip


class KernelRunner:
    """See :class:`gemmviz.engine.runner.Runner`."""

    library: LibraryFacts | None = None
    host_clock = ""

    def __init__(self, job: Job, session: Session) -> None:
        """Builds the kernel.

        Raises:
            DriverError: The compiler refuses it.
        """
        self._job = job
        self.memory = self._session = session
        self._shape = geometry(job.variant, job.parameters, job.problem)
        self.options = build_options(job)
        source = assemble_job(job)
        try:
            built = session.build(source, self.options, job.variant.entry, job.variant.build)
        except DriverError as error:
            detail = shortened(name_lines(error.failure.detail, job.variant, source))
            raise DriverError(replace(error.failure, detail=detail)) from error
        self._kernel, self.seconds = built
        self._bound = False
        self._cuda: Cuda | None = None
        self._scratch: dict[int, Any] = {}
        self.log = shortened(self._kernel.log)

    def bind(self, buffers: Mapping[str, Any]) -> Kernel:
        """Sets the arguments of a kernel that is used for these matrices alone.

        Raises:
            DriverError: The kernel has other arguments.
        """
        kernel = self._kernel.another() if self._bound else self._kernel
        kernel.bind(self._arguments(buffers))
        self._bound = True
        return kernel

    def facts(self) -> KernelFacts:
        """The driver's own figures, read after bind."""
        return self._kernel.facts()

    def launch(self, turns: Sequence[Kernel]) -> Launches:
        """See Runner."""
        return self._session.time_launches(turns, self._shape.total, self._shape.local)

    def close(self) -> None:
        """Leaves CUDA's driver; kernel and buffers go with the last that knows them."""
        if self._cuda is not None:
            self._cuda.close()
            self._cuda = None

    def _arguments(self, buffers: Mapping[str, Any]) -> list[Any]:
        """The arguments in the kernel's own order."""
        job = self._job
        numbers = argument_numbers(job.variant, job.parameters, job.problem)
        arguments: list[Any] = []
        for place, (argument, number) in enumerate(
            zip(job.variant.arguments, numbers, strict=True)
        ):
            match argument.kind:
                case "matrix":
                    arguments.append(buffers[matrix_at(job.variant, job.problem, argument.text)])
                case "tensor_map":
                    arguments.append(self._tensor_map(argument, buffers))
                case "scalar":
                    one = Argument("scalar", argument.text, "real")
                    arguments.append(_scalar(one, number, job))
                case "local":
                    arguments.append(LocalMemory(int(number)))
                case "scratch":
                    arguments.append(self._scratch_at(place, int(number)))
                case "buffer":
                    value = np.array([_scalar(argument, number, job)])
                    arguments.append(self._session.buffer(value))
                case _:
                    arguments.append(_scalar(argument, number, job))
        return arguments

    def _tensor_map(self, argument: Argument, buffers: Mapping[str, Any]) -> Any:
        """A buffer with the map of a matrix as stored."""
        job = self._job
        rows, cols = stored_shapes(job.variant, job.problem)[argument.text]
        if self._cuda is None:
            self._cuda = Cuda(self._session.pci_address)
        matrix = TiledMatrix(
            self._session.address(buffers[matrix_at(job.variant, job.problem, argument.text)]),
            (cols, rows) if job.variant.order == "row" else (rows, cols),
            job.problem.element,
            tensor_box(argument, job.parameters, kernel_view(job.variant, job.problem)),
            argument.swizzle,
            tf32=job.variant.precision == "tf32",
        )
        raw = encode(self._cuda, matrix)
        return self._session.buffer(np.frombuffer(raw, np.uint8))

    def _scratch_at(self, place: int, size_bytes: int) -> Any:
        """The scratch buffer of the argument at ``place``, zeros at first.

        Launches of one queue follow one another, so all bindings share it: fresh memory would cost
        a launch its first touch of each page.
        """
        if place not in self._scratch:
            # Written, not filled: Oclgrind takes what it has filled for never written.
            self._scratch[place] = self._session.buffer(np.zeros(size_bytes, np.uint8))
        return self._scratch[place]


def build_options(job: Job) -> tuple[str, ...]:
    """The options that a job is built with: its own, and a language version where it has none."""
    options = job.build_options.split()
    # NVIDIA's compiler reports nothing with any language version; its own default is the same.
    stated = any(option.startswith("-cl-std") for option in options)
    if not stated and VERBOSE not in options:
        options.insert(0, "-cl-std=CL1.2")
    return tuple(options)


def _scalar(argument: Argument, value: float, job: Job) -> Any:
    dtype = np.dtype(
        ELEMENTS[job.problem.element].dtype if argument.type == "real" else _C_DTYPES[argument.type]
    )
    try:
        return dtype.type(value)
    except (OverflowError, ValueError) as error:
        raise DriverError(
            Failure("refused", f"The value {value} of an argument does not fit {argument.type}.")
        ) from error
