"""Opens the library that a job names."""

from __future__ import annotations

from collections.abc import Callable

from gemmviz.core.model import Job
from gemmviz.engine.libraries.blas import Blas
from gemmviz.engine.libraries.clblast import ClBlast
from gemmviz.engine.libraries.cublas import CuBlas
from gemmviz.engine.opencl import Session
from gemmviz.engine.runner import Runner

_OPENERS: dict[str, Callable[[Job, Session], Runner]] = {
    "blas": Blas,
    "clblast": ClBlast,
    "cublas": CuBlas,
}
"""By the keys of :data:`gemmviz.core.libraries.LIBRARIES`."""


def open_library(job: Job, session: Session) -> Runner:
    """The library of ``job``, loaded and ready to be bound to matrices.

    Raises:
        DriverError: It is not installed or does not load; the sentence says how to get it.
    """
    return _OPENERS[job.variant.library](job, session)
