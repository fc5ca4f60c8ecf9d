"""Builds a kernel inside a child so that another child finds it in the driver's cache."""

from __future__ import annotations

import contextlib

from gemmviz.core.launch import geometry, matrix_bytes
from gemmviz.core.messages import BuildAhead, Built, Finished, Phase
from gemmviz.core.model import KernelFacts
from gemmviz.engine.bench import Emit
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.kernel_runner import KernelRunner
from gemmviz.engine.measure import prepare_calibration
from gemmviz.engine.opencl import Session


def build_ahead(request: BuildAhead, session: Session, emit: Emit) -> None:
    """Builds a kernel, and launches one group of it where that is asked for.

    The matrices hold nothing in particular, but are as large as the problem's: so a group reads and
    writes where it may.

    Raises:
        DriverError: The compiler refuses it, or the launch fails.
    """
    job = request.job
    emit(Phase(job.id, "build", limited=False))
    if request.launch:
        with contextlib.suppress(DriverError):  # of a device that cannot, the kernel will tell
            prepare_calibration(session)  # which the measuring child wants too
    runner = KernelRunner(job, session)
    facts = KernelFacts()
    if request.launch:
        sizes = zip("ABC", matrix_bytes(job.variant, job.problem), strict=True)
        kernel = runner.bind({name: session.room(size) for name, size in sizes})
        facts = runner.facts()
        local = geometry(job.variant, job.parameters, job.problem).local
        emit(Phase(job.id, "warm up", limited=True))
        session.time_launches([kernel], local, local)
    emit(Built(job.id, facts, runner.log, runner.seconds))
    emit(Finished(job.id, reason="launches"))
