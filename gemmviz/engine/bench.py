"""One job on its device: built, bound, checked, and launched as its cache policy wants it."""

from __future__ import annotations

import itertools
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gemmviz
from gemmviz.core.context import Context, LibraryFacts, relevant
from gemmviz.core.error_image import make_error_map
from gemmviz.core.launch import geometry, matrix_bytes
from gemmviz.core.messages import Began, Built, Checked, ErrorsMapped, Message, Phase
from gemmviz.core.model import Job
from gemmviz.core.reference import cells_differing, check
from gemmviz.engine.kernel_runner import KernelRunner
from gemmviz.engine.libraries.opening import open_library
from gemmviz.engine.matrices import Matrices
from gemmviz.engine.opencl import Launches, Session
from gemmviz.engine.runner import Runner, Turn

Emit = Callable[[Message], None]
Cancelled = Callable[[], bool]

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
        runner = self._runner = _runner_of(job, session)
        try:
            emit(Began(job.id, circumstances(job, runner.options, runner.library)))
            emit(Phase(job.id, "prepare", limited=False))
            self.matrices = matrices or Matrices(runner.memory, job.variant, job.problem)
            self._first = runner.bind(self.matrices.buffers)
            self._turns: Iterator[Turn] = itertools.cycle([self._first])
            self._swept: tuple[Any, int] | None = None
            emit(Built(job.id, runner.facts(), runner.log, runner.seconds))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives back what the job holds; matrices go with the last that knows them."""
        self._runner.close()

    @property
    def host_clock(self) -> str:
        """Why the host's clock alone can time this, as a sentence; "" where events can."""
        return self._runner.host_clock

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
            self._swept = self._runner.memory.room(size), size
            return
        one = sum(matrix_bytes(self.job.variant, self.job.problem))
        count = min(_MOST_COPIES, -(-wanted // one), memory // (2 * one))
        copies = self.matrices.copies(max(0, count - 1))
        self._turns = itertools.cycle([self._first, *map(self._runner.bind, copies)])

    def drop_guards(self) -> None:
        """Launches on matrices of their exact sizes from now on.

        Raises:
            DriverError: The device has no room for them.
        """
        (buffers,) = self.matrices.copies(1)
        self._turns = itertools.cycle([self._runner.bind(buffers)])

    def launch(self, count: int) -> Launches:
        """Launches ``count`` times back to back and waits.

        Raises:
            DriverError: A launch was refused or failed.
        """
        if self._swept is not None:
            self._runner.memory.fill(*self._swept)
        turns = list(itertools.islice(self._turns, count))
        done = self._runner.launch(turns)
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


def _runner_of(job: Job, session: Session) -> Runner:
    """What multiplies: the one place where a library and a kernel are told apart."""
    return open_library(job, session) if job.variant.library else KernelRunner(job, session)


def circumstances(
    job: Job, options: tuple[str, ...], library: LibraryFacts | None = None
) -> Context:
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
        library=library,
    )
