"""Times one kernel as fast as it can be: builds it, finds how long to loop, keeps the best."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemmviz.core.messages import Phase
from gemmviz.core.trust import Evidence
from gemmviz.engine.bench import Cancelled, Emit
from gemmviz.engine.opencl import Kernel, Session

# Long against what a launch costs, short against the slices that other programs get of a core.
_LAUNCH_SECONDS, _GPU_LAUNCH_SECONDS = 0.0008, 0.003
# What is shorter than this tells nothing of the clock: launching takes most of it.
_TELLING_SECONDS = 0.0005
# On a busy CPU many launches share a core and agree with one another: only time tells.
_SERIES_SECONDS, _GPU_SERIES_SECONDS = 0.1, 0.02
_STEADY, _LEAST_LAUNCHES = 0.01, 5
_MOST_ROUNDS = 1 << 24
_TICK = 1e-9  # of a clock that has not moved


class Stopped(Exception):  # noqa: N818 (a person asked for it: no error)
    """The host asked for an end."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A kernel whose last argument is a number of rounds, with the others and its NDRange."""

    kernel: Kernel
    arguments: Sequence[Any]
    total: int
    group: int


class Probe:
    """Builds and times the kernels of one request; says before each step what comes."""

    def __init__(
        self, job_id: int, session: Session, emit: Emit, cancelled: Cancelled, *, gpu: bool
    ) -> None:
        self.session = session
        self._job_id, self._emit, self._cancelled = job_id, emit, cancelled
        self._launch_seconds = _GPU_LAUNCH_SECONDS if gpu else _LAUNCH_SECONDS
        self._series_seconds = _GPU_SERIES_SECONDS if gpu else _SERIES_SECONDS
        self._evidence = Evidence()
        self._by_host = False
        self._kernels: dict[str, Kernel] = {}

    def check(self) -> None:
        """Looks whether to go on.

        Raises:
            Stopped: The host asked for an end.
        """
        if self._cancelled():
            raise Stopped

    def build(self, source: str, entry: str) -> Kernel:
        """The kernel of a source, built when first asked for.

        Raises:
            DriverError: The driver does not build it.
            Stopped: The host asked for an end.
        """
        if source not in self._kernels:
            self.check()
            self._emit(Phase(self._job_id, "build", limited=False))
            self._kernels[source], _ = self.session.build(source, ["-cl-std=CL1.2"], entry)
        return self._kernels[source]

    def fill(self, size_bytes: int) -> Any:
        """A buffer of zeros, every page of which was touched.

        Raises:
            DriverError: The device has no room for it.
            Stopped: The host asked for an end.
        """
        self.check()
        self._emit(Phase(self._job_id, "prepare", limited=False))
        buffer = self.session.room(size_bytes)
        self.session.fill(buffer, size_bytes)
        return buffer

    def rounds(self, loop: Loop) -> int:
        """How many rounds make a launch long enough.

        Raises:
            DriverError: A launch was refused or failed.
            Stopped: The host asked for an end.
        """
        self._announce()
        rounds = 1
        self._launch(loop, rounds)  # PoCL compiles at the first
        while True:
            seconds = min(self._launch(loop, rounds) for _ in range(2))
            if seconds >= self._launch_seconds or rounds >= _MOST_ROUNDS:
                return rounds
            wanted = rounds * 1.2 * self._launch_seconds / seconds
            rounds = min(_MOST_ROUNDS, max(rounds + 1, min(rounds * 32, int(wanted))))

    def best(self, loop: Loop, rounds: int) -> tuple[float, bool]:
        """The least of several launches in seconds, and whether others came as near as 1 % to it.

        Raises:
            DriverError: A launch was refused or failed.
            Stopped: The host asked for an end.
        """
        self._announce()
        until = time.perf_counter() + self._series_seconds
        found: list[float] = []
        while len(found) < _LEAST_LAUNCHES or time.perf_counter() < until:
            found.append(self._launch(loop, rounds))
        found.sort()
        return found[0], found[_LEAST_LAUNCHES - 1] <= (1 + _STEADY) * found[0]

    def _announce(self) -> None:
        self.check()
        self._emit(Phase(self._job_id, "probe", limited=True))

    def _launch(self, loop: Loop, rounds: int) -> float:
        """The seconds of one launch, by the device's clock as long as that can be believed."""
        self.check()
        loop.kernel.bind([*loop.arguments, np.uint32(rounds)])
        done = self.session.time_launches([loop.kernel], (loop.total,), (loop.group,))
        if done.wall_seconds >= _TELLING_SECONDS:
            self._evidence.add(done.seconds, done.span_seconds, done.wall_seconds)
            self._by_host = self._by_host or self._evidence.judge().source == "host"
        return max(_TICK, done.wall_seconds if self._by_host else done.seconds[0])
