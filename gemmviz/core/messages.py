"""What crosses the pipe between the host and its child: requests down, messages up, all frozen."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.core.model import Check, Failure, Job, KernelFacts, Platform, Registers, Samples


@dataclass(frozen=True, slots=True)
class ListDevices:
    """Request: list platforms and devices; answered by a Listing."""

    job_id: int


@dataclass(frozen=True, slots=True)
class RunJob:
    """Request: build, check and time one kernel; the answer ends in Finished or Failed."""

    job: Job


@dataclass(frozen=True, slots=True)
class ReadRegisters:
    """Request: build for the compiler's resource report; answered by RegistersRead or Failed."""

    job: Job


@dataclass(frozen=True, slots=True)
class Cancel:
    """Request: end the job at the next launch."""

    job_id: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The platforms found, the folders in which the loader looked for drivers, and any remark."""

    job_id: int
    platforms: tuple[Platform, ...]
    vendor_folders: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Phase:
    """A job enters a phase; in a ``limited`` one silence beyond the launch limit means a hang.

    ``name`` is "build", "prepare", "check", "compare", "warm up" or "measure".
    """

    job_id: int
    name: str
    limited: bool


@dataclass(frozen=True, slots=True)
class Built:
    """The kernel is built and its arguments are set."""

    job_id: int
    facts: KernelFacts
    log: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Checked:
    """One launch was compared with the reference."""

    job_id: int
    check: Check


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """Samples taken since the last batch, in run order."""

    job_id: int
    samples: Samples


@dataclass(frozen=True, slots=True)
class RegistersRead:
    """What the compiler said of the kernel's resources."""

    job_id: int
    registers: Registers


@dataclass(frozen=True, slots=True)
class Finished:
    """The job is over; ``discarded`` launches had END <= START and are no measurement."""

    job_id: int
    stopped: bool = False
    discarded: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """The job is over and did not work."""

    job_id: int
    failure: Failure


Request = ListDevices | RunJob | ReadRegisters | Cancel
Message = Listing | Phase | Built | Checked | SampleBatch | RegistersRead | Finished | Failed
