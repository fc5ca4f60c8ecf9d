"""The OpenCL kernel of a job: built, its arguments bound in its own order, launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gemmviz.core.context import LibraryFacts
from gemmviz.core.expr import evaluate
from gemmviz.core.launch import assemble_job, formula_names, geometry, matrix_shapes
from gemmviz.core.model import ELEMENTS, Argument, Failure, Job, KernelFacts
from gemmviz.engine.compiler import name_lines, shortened
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.opencl import Kernel, Launches, LocalMemory, Session

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
            built = session.build(source, self.options, job.variant.entry)
        except DriverError as error:
            detail = shortened(name_lines(error.failure.detail, job.variant, source))
            raise DriverError(replace(error.failure, detail=detail)) from error
        self._kernel, self.seconds = built
        self._bound = False
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

    def _arguments(self, buffers: Mapping[str, Any]) -> list[Any]:
        """The arguments in the kernel's own order."""
        job = self._job
        names = formula_names(job.parameters, job.problem)
        row = job.variant.order == "row"
        shapes = matrix_shapes(job.variant, job.problem)
        leading = {f"ld{name.lower()}": shape[1 if row else 0] for name, shape in shapes.items()}
        sizes = {**leading, "M": names["M"], "N": names["N"], "K": names["K"]}
        arguments: list[Any] = []
        for argument in job.variant.arguments:
            match argument.kind:
                case "matrix":
                    arguments.append(buffers[argument.text])
                case "size":
                    arguments.append(_scalar(argument, sizes[argument.text], job))
                case "scalar":
                    one = Argument("scalar", argument.text, "real")
                    arguments.append(_scalar(one, 1.0 if argument.text == "alpha" else 0.0, job))
                case "local":
                    arguments.append(LocalMemory(evaluate(argument.text, names)))
                case "constant":
                    arguments.append(_scalar(argument, float(argument.text), job))
                case "value":
                    arguments.append(_scalar(argument, evaluate(argument.text, names), job))
                case _:
                    value = _scalar(argument, evaluate(argument.text, names), job)
                    arguments.append(self._session.buffer(np.array([value])))
        return arguments


def build_options(job: Job) -> tuple[str, ...]:
    """The options that a job is built with: its own, and a language version where it has none."""
    options = job.build_options.split()
    if not any(option.startswith("-cl-std") for option in options):
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
