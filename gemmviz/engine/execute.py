"""Runs one job inside the child: build, bind, check one launch, time the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.core.expr import evaluate
from gemmviz.core.feasibility import GUARD_ELEMENTS
from gemmviz.core.launch import assemble, formula_names, geometry, matrix_shapes
from gemmviz.core.messages import (
    Built,
    Checked,
    Finished,
    Message,
    Phase,
    RegistersRead,
    SampleBatch,
)
from gemmviz.core.model import ELEMENTS, Argument, Failure, Job, Samples
from gemmviz.core.reference import check, draw_inputs
from gemmviz.engine.compiler import name_lines, parse_registers
from gemmviz.engine.opencl import DriverError, Kernel, LocalMemory, Session

Array = npt.NDArray[Any]
Emit = Callable[[Message], None]

_BATCH_SECONDS = 0.02
# Launches enqueued at once while each is short: the queue stays fed, a stop stays quick.
_BURST_SECONDS = 0.002
_MAX_BURST = 32
# So many launches without one usable time mean that none will come.
_USELESS_LAUNCHES = 100
_C_DTYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
             "float": np.float32, "double": np.float64}  # fmt: skip


class _Matrices:
    """Device buffers of A, B and C in the variant's storage order, each with a guard behind it.

    The guards of A and B and all of C hold NaN: reading past the end poisons the answer, and a cell
    never written stays NaN. The guard of C is compared bit by bit after the check launch.
    """

    def __init__(self, session: Session, job: Job) -> None:
        self._session, self._job = session, job
        self.inputs = draw_inputs(job.variant, job.problem)
        self._dtype = np.dtype(ELEMENTS[job.problem.element].dtype)
        self._shapes = matrix_shapes(job.variant, job.problem)
        rows, cols = self._shapes["C"]
        self._poison = np.full(rows * cols + GUARD_ELEMENTS, np.nan, self._dtype)
        self.buffers = {
            "A": session.buffer(self._stored(self.inputs.a)),
            "B": session.buffer(self._stored(self.inputs.b)),
            "C": session.buffer(self._poison),
        }

    def _stored(self, matrix: Array) -> Array:
        stored = np.full(matrix.size + GUARD_ELEMENTS, np.nan, self._dtype)
        stored[: matrix.size] = matrix.ravel("C" if self._job.variant.order == "row" else "F")
        return stored

    def answer(self) -> tuple[Array, int]:
        """C as a row-major m x n matrix, and how many guard elements behind it changed."""
        whole = np.empty_like(self._poison)
        self._session.read(self.buffers["C"], whole)
        rows, cols = self._shapes["C"]
        guard = slice(rows * cols, None)
        bits = np.dtype(f"u{self._dtype.itemsize}")
        changed = whole[guard].view(bits) != self._poison[guard].view(bits)
        order = "C" if self._job.variant.order == "row" else "F"
        return whole[: rows * cols].reshape((rows, cols), order=order), int(changed.sum())  # type: ignore[call-overload]


def run_job(job: Job, session: Session, emit: Emit, cancelled: Callable[[], bool]) -> None:
    """Runs ``job``, emitting its messages up to Finished.

    Args:
        job: What to run.
        session: The open device.
        emit: Sends a message to the host.
        cancelled: Whether the host asked for an end.

    Raises:
        DriverError: A step failed; the failure is inside.
    """
    emit(Phase(job.id, "build", limited=False))
    begun = time.perf_counter()
    kernel = _build(job, session)
    build_seconds = time.perf_counter() - begun
    emit(Phase(job.id, "prepare", limited=False))
    matrices = _Matrices(session, job)
    extra = _bind(job, session, kernel, matrices)
    emit(Built(job.id, kernel.facts(), kernel.log, build_seconds))
    timing = _Timing(job, session, kernel)
    if job.check and not cancelled():
        emit(Phase(job.id, "check", limited=True))
        timing.launch(1)
        emit(Phase(job.id, "compare", limited=False))
        c, overrun = matrices.answer()
        outcome = check(job.variant, job.problem, matrices.inputs, c, overrun=overrun)
        emit(Checked(job.id, outcome))
    if not cancelled():
        # The first launch on an idle device takes up to 2.5 times as long.
        emit(Phase(job.id, "warm up", limited=True))
        timing.launch(1)
    discarded = timing.measure(emit, cancelled) if not cancelled() else 0
    del extra  # the driver does not keep the buffers of an argument alive
    emit(Finished(job.id, stopped=cancelled(), discarded=discarded))


def read_registers(job: Job, session: Session, emit: Emit) -> None:
    """Builds for the compiler's resource report alone.

    NVIDIA's log stays empty with any ``-cl-std`` option, so there is none.
    """
    source = assemble(job.variant, job.parameters, job.problem.element)
    options = [*job.build_options.split(), "-cl-nv-verbose"]
    log = session.build(source, options, job.variant.entry).log
    emit(RegistersRead(job.id, parse_registers(log)))


def _build(job: Job, session: Session) -> Kernel:
    source = assemble(job.variant, job.parameters, job.problem.element)
    options = job.build_options.split()
    if not any(option.startswith("-cl-std") for option in options):
        options.insert(0, "-cl-std=CL1.2")
    try:
        return session.build(source, options, job.variant.entry)
    except DriverError as error:
        detail = name_lines(error.failure.detail, job.variant, source)
        raise DriverError(replace(error.failure, detail=detail)) from error


def _bind(job: Job, session: Session, kernel: Kernel, matrices: _Matrices) -> Sequence[Any]:
    """Sets the arguments in the kernel's own order; returns what must outlive the launches."""
    names = formula_names(job.parameters, job.problem)
    row = job.variant.order == "row"
    shapes = matrix_shapes(job.variant, job.problem)
    leading = {f"ld{name.lower()}": shape[1 if row else 0] for name, shape in shapes.items()}
    sizes = {**leading, "M": names["M"], "N": names["N"], "K": names["K"]}
    arguments: list[Any] = []
    for argument in job.variant.arguments:
        match argument.kind:
            case "matrix":
                arguments.append(matrices.buffers[argument.text])
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
                arguments.append(session.buffer(np.array([value])))
    kernel.bind(arguments)
    return arguments


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


class _Timing:
    """Launches a bound kernel and measures it."""

    def __init__(self, job: Job, session: Session, kernel: Kernel) -> None:
        self._job, self._session, self._kernel = job, session, kernel
        self._shape = geometry(job.variant, job.parameters, job.problem)

    def launch(self, count: int) -> list[float]:
        """``count`` launches back to back; seconds of each by the device's clock."""
        return self._session.time_launches(
            self._kernel, self._shape.total, self._shape.local, count
        )

    def measure(self, emit: Emit, cancelled: Callable[[], bool]) -> int:
        """Times launches until their number is reached or the host says stop.

        Returns:
            How many launches had END <= START and were discarded.

        Raises:
            DriverError: A launch failed, or the device's timer gave nothing usable.
        """
        emit(Phase(self._job.id, "measure", limited=True))
        wanted = self._job.launches
        done = discarded = 0
        burst = 1
        seconds: list[float] = []
        at: list[float] = []
        origin = sent = time.perf_counter()
        while not cancelled() and (wanted is None or done < wanted):
            count = burst if wanted is None else min(burst, wanted - done)
            before = time.perf_counter()
            times = self.launch(count)
            now = time.perf_counter()
            done += count
            step = (now - before) / count
            for index, value in enumerate(times):
                if value > 0:
                    seconds.append(value)
                    at.append(before - origin + (index + 1) * step)
                else:
                    discarded += 1
            if discarded >= _USELESS_LAUNCHES and discarded == done:
                break
            burst = max(1, min(_MAX_BURST, int(_BURST_SECONDS / max(step, 1e-9))))
            if now - sent >= _BATCH_SECONDS:
                self._send(emit, seconds, at)
                seconds, at, sent = [], [], now
        self._send(emit, seconds, at)
        if done and discarded == done:
            raise DriverError(
                Failure("timer", "The device's timer is of no use: END was never past START.")
            )
        return discarded

    def _send(self, emit: Emit, seconds: list[float], at: list[float]) -> None:
        # An empty batch still tells the host that launches come to an end.
        samples = Samples((1,) * len(seconds), tuple(seconds), tuple(at))
        emit(SampleBatch(self._job.id, samples))
