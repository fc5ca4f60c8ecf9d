"""One job on its device: built, bound, checked, and launched as its cache policy wants it."""

from __future__ import annotations

import itertools
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import gemmviz
from gemmviz.core.context import Context, relevant
from gemmviz.core.error_image import make_error_map
from gemmviz.core.expr import evaluate
from gemmviz.core.launch import assemble, formula_names, geometry, matrix_bytes, matrix_shapes
from gemmviz.core.messages import Began, Built, Checked, ErrorsMapped, Message, Phase
from gemmviz.core.model import ELEMENTS, Argument, Failure, Job
from gemmviz.core.reference import cells_differing, check
from gemmviz.engine.compiler import name_lines, shortened
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.matrices import Matrices
from gemmviz.engine.opencl import Kernel, Launches, LocalMemory, Session

Emit = Callable[[Message], None]
Cancelled = Callable[[], bool]

_C_DTYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
             "float": np.float32, "double": np.float64}  # fmt: skip
# Twice a cache still leaves parts of it on some replacement policies.
_CACHES = 4
_GPU = 4  # CL_DEVICE_TYPE_GPU
_UNKNOWN_CACHE_BYTES = 64 * 2**20
_LEAST_CLEARED_BYTES = 16 * 2**20
# A GPU's driver may tell the size of another cache than its last; triton clears as much.
_LEAST_CLEARED_ON_GPU_BYTES = 256 * 2**20
_MOST_COPIES = 1024


class Bench:
    """A job whose kernel can be launched.

    ``foreseen_seconds`` is how long one launch takes, once one was made; ``matrices`` may be shared
    by benches of the same problem.
    """

    def __init__(self, job: Job, session: Session, emit: Emit, matrices: Matrices | None) -> None:
        self.job, self.session = job, session
        self._emit = emit
        self.foreseen_seconds: float | None = None
        self._shape = geometry(job.variant, job.parameters, job.problem)
        emit(Phase(job.id, "build", limited=False))
        options = build_options(job)
        kernel, seconds = self._build(options)
        emit(Began(job.id, circumstances(job, options)))
        emit(Phase(job.id, "prepare", limited=False))
        self.matrices = matrices or Matrices(session, job.variant, job.problem)
        self._bind(kernel, self.matrices.buffers)
        self._kernel = kernel
        self._turns: Iterator[Kernel] = itertools.cycle([kernel])
        self._swept: tuple[Any, int] | None = None
        emit(Built(job.id, kernel.facts(), shortened(kernel.log), seconds))

    def _build(self, options: list[str]) -> tuple[Kernel, float]:
        job = self.job
        source = assemble(job.variant, job.parameters, job.problem.element)
        try:
            return self.session.build(source, options, job.variant.entry)
        except DriverError as error:
            detail = shortened(name_lines(error.failure.detail, job.variant, source))
            raise DriverError(replace(error.failure, detail=detail)) from error

    def prepare_caches(self) -> None:
        """Makes what the cache policy needs: copies of the matrices, or a buffer to write over."""
        cache = self.job.policy.cache
        if cache == "warm":
            return
        gpu = int(self.session.fact("TYPE") or 0) & _GPU
        wanted = max(
            _LEAST_CLEARED_ON_GPU_BYTES if gpu else _LEAST_CLEARED_BYTES,
            _CACHES * int(self.session.fact("GLOBAL_MEM_CACHE_SIZE") or _UNKNOWN_CACHE_BYTES),
        )
        memory = int(self.session.fact("GLOBAL_MEM_SIZE") or wanted)
        if cache == "flush":
            most = int(self.session.fact("MAX_MEM_ALLOC_SIZE") or wanted)
            size = min(wanted, most, memory // 4) // 4 * 4
            self._swept = self.session.room(size), size
            return
        one = sum(matrix_bytes(self.job.variant, self.job.problem))
        count = min(_MOST_COPIES, -(-wanted // one), memory // (2 * one))
        kernels = [self._kernel]
        for buffers in self.matrices.copies(max(0, count - 1)):
            kernels.append(self._kernel.another())
            self._bind(kernels[-1], buffers)
        self._turns = itertools.cycle(kernels)

    def launch(self, count: int) -> Launches:
        """Launches ``count`` times back to back and waits.

        Raises:
            DriverError: A launch was refused or failed.
        """
        if self._swept is not None:
            self.session.fill(*self._swept)
        turns = list(itertools.islice(self._turns, count))
        done = self.session.time_launches(turns, self._shape.total, self._shape.local)
        self.foreseen_seconds = done.wall_seconds / count
        return done

    def wake(self) -> None:
        """One launch that nothing is learnt from: clocks fall in a pause."""
        foreseen = self.foreseen_seconds
        self.launch(1)
        self.foreseen_seconds = foreseen

    def phase(self, name: str, *, limited: bool = True) -> None:
        """Tells the host what begins."""
        self._emit(Phase(self.job.id, name, limited, self.foreseen_seconds))

    def check(self, cancelled: Cancelled) -> None:
        """Compares one launch with the reference, and a second launch with the first bit by bit.

        Says in messages what it finds; a wrong answer also as a map. Nothing if cancelled.

        Raises:
            DriverError: A launch was refused or failed.
        """
        job, matrices = self.job, self.matrices
        matrices.renew()  # they may be shared, and a wrong kernel may have written into A or B
        self.phase("check")
        self.launch(1)
        self.phase("compare", limited=False)
        answer = matrices.answer()
        found = check(
            job.variant, job.problem, matrices.inputs, answer, tile=self._shape.tile,
            cancelled=cancelled,
        )  # fmt: skip
        if found is None:
            return
        matrices.poison()
        self.phase("repeat")
        self.launch(1)
        self.phase("compare", limited=False)
        differing = cells_differing(answer.c, matrices.answer().c)
        self._emit(Checked(job.id, replace(found, cells_differing=differing)))
        if found.verdict == "wrong":
            made = make_error_map(
                job.variant, job.problem, matrices.inputs, answer, tile=self._shape.tile,
                cancelled=cancelled,
            )  # fmt: skip
            if made is not None:
                self._emit(ErrorsMapped(job.id, made))

    def _bind(self, kernel: Kernel, buffers: Mapping[str, Any]) -> None:
        """Sets the arguments in the kernel's own order."""
        job = self.job
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
                    arguments.append(self.session.buffer(np.array([value])))
        kernel.bind(arguments)


def build_options(job: Job) -> list[str]:
    """The options that a job is built with: its own, and a language version where it has none."""
    options = job.build_options.split()
    if not any(option.startswith("-cl-std") for option in options):
        options.insert(0, "-cl-std=CL1.2")
    return options


def circumstances(job: Job, options: list[str]) -> Context:
    """What is true of this process and machine now."""
    pocl = "portable computing language" in job.device.platform.lower()
    return Context(
        app_version=gemmviz.__version__,
        system=platform.platform(),
        python=platform.python_version(),
        build_options=" ".join(options),
        environment=relevant(dict(os.environ)),
        affinity=os.environ.get("POCL_AFFINITY") == "1" if pocl else None,
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        cores=os.cpu_count(),
    )


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
