"""What crosses the pipe between the host and its child: requests down, messages up, all frozen."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.core.ceilings import Ceiling
from gemmviz.core.claims import ClaimResult
from gemmviz.core.context import Context
from gemmviz.core.device_comparison import DeviceComparison
from gemmviz.core.error_map import ErrorMap
from gemmviz.core.ladder import Ladder
from gemmviz.core.model import (
    Check,
    Device,
    Failure,
    Job,
    KernelFacts,
    Platform,
    Registers,
    Result,
    Samples,
)
from gemmviz.core.policy import StopReason
from gemmviz.core.residency import Residency
from gemmviz.core.suite import BenchRow
from gemmviz.core.sweep import SweepCell, SweepReport
from gemmviz.core.trust import DeviceTimer, TimerTrust


@dataclass(frozen=True, slots=True)
class ListDevices:
    """Request: list platforms and devices; answered by a Listing."""

    job_id: int


@dataclass(frozen=True, slots=True)
class RunJob:
    """Request: build, check and time one kernel; the answer ends in Finished or Failed."""

    job: Job


@dataclass(frozen=True, slots=True)
class CompareJobs:
    """Request: measure several kernels in turns; their messages bear their own ids.

    The answer ends in a Finished or Failed of ``job_id``.
    """

    job_id: int
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True)
class BuildAhead:
    """Request: build a kernel so that another child finds it in the driver's cache; times nothing.

    With ``launch`` one group of it is launched, for drivers that compile only then. The answer ends
    in Finished or Failed.
    """

    job: Job
    launch: bool = False


@dataclass(frozen=True, slots=True)
class TakeTurns:
    """Request: make so many rounds in which each job is launched in turn, or each by its policy.

    A job that this child has not had yet is built and checked first. Its messages bear its own id
    and end in Finished or Failed; one that fails takes no other with it. In a ``screening`` a long
    launch that was checked is the first of its samples, and who is far behind gets one more or
    none. With ``anew`` each is checked and told of once more, as a measurement of its own. With no
    rounds at all they are built, and nothing is launched or told of them. The answer ends in a
    Finished or Failed of ``job_id``.
    """

    job_id: int
    jobs: tuple[Job, ...]
    rounds: int | None = None
    screening: bool = False
    anew: bool = False


@dataclass(frozen=True, slots=True)
class ReadRegisters:
    """Request: build for the compiler's resource report; answered by RegistersRead or Failed."""

    job: Job


@dataclass(frozen=True, slots=True)
class ReadCeilings:
    """Request: measure what a device can do at most; the answer ends in Finished or Failed."""

    job_id: int
    device: Device


@dataclass(frozen=True, slots=True)
class CountGroups:
    """Request: count the resident groups of a job's size; the answer ends in Finished or Failed.

    With ``instrumented`` the job's own kernel counts them, else a probe, which keeps
    ``live_values`` 32-bit values in the registers of each work-item.
    """

    job: Job
    device: Device
    instrumented: bool = False
    live_values: int = 0


@dataclass(frozen=True, slots=True)
class LaunchOnce:
    """Request: launch a kernel once on matrices without guards; ends in Finished or Failed.

    So a simulator sees every access beside a matrix.
    """

    job: Job


@dataclass(frozen=True, slots=True)
class Cancel:
    """Request: end the job at the next launch."""

    job_id: int


@dataclass(frozen=True, slots=True)
class DriversFound:
    """What the loader will load when it is first asked: drivers' files, and folders looked in."""

    job_id: int
    files: tuple[str, ...]
    folders: tuple[str, ...]


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

    ``name`` is "build", "prepare", "check", "compare", "repeat", "warm up", "calibrate",
    "measure", "probe", "count" or "simulate". ``foreseen_seconds`` is how long one launch is
    expected to take, once that is known.
    """

    job_id: int
    name: str
    limited: bool
    foreseen_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Began:
    """A job begins, in these circumstances."""

    job_id: int
    context: Context


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
class ErrorsMapped:
    """Where the wrong answer of a job is wrong."""

    job_id: int
    error_map: ErrorMap


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What launching and timing cost on the job's device."""

    job_id: int
    timer: DeviceTimer


@dataclass(frozen=True, slots=True)
class TimerChosen:
    """The clock that times the job from now on; samples sent before do not count."""

    job_id: int
    trust: TimerTrust


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """Samples taken since the last batch, in run order.

    Of a sweep's samples ``work_seconds`` tells of each how long the threads of the child ran while
    it was taken, all of them together; on a device of the host that is what it really worked.
    """

    job_id: int
    samples: Samples
    work_seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class RegistersRead:
    """What the compiler said of the kernel's resources."""

    job_id: int
    registers: Registers


@dataclass(frozen=True, slots=True)
class Progressed:
    """An experiment has come so far: a share from 0 to 1, or None, and what it does now."""

    job_id: int
    share: float | None
    text: str


@dataclass(frozen=True, slots=True)
class CeilingRead:
    """One ceiling of a device was measured."""

    job_id: int
    ceiling: Ceiling


@dataclass(frozen=True, slots=True)
class GroupsCounted:
    """The resident groups of a job's size were counted."""

    job_id: int
    residency: Residency


@dataclass(frozen=True, slots=True)
class ClaimTried:
    """One statement of the documents was tried."""

    job_id: int
    result: ClaimResult


@dataclass(frozen=True, slots=True)
class LadderClimbed:
    """One more rung of the ladder was measured: all of it so far."""

    job_id: int
    ladder: Ladder


@dataclass(frozen=True, slots=True)
class RowMeasured:
    """One row of a benchmark suite is done, with the results that it is made of."""

    job_id: int
    row: BenchRow
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True)
class DevicesMeasured:
    """Devices were measured at one more size: all so far, and the results that are new."""

    job_id: int
    comparison: DeviceComparison
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True)
class SweepAdvanced:
    """A sweep has come so far; told at most about twice a second."""

    job_id: int
    report: SweepReport


@dataclass(frozen=True, slots=True)
class CellMeasured:
    """A configuration of a sweep was measured, with its samples; twice if it came to the finals."""

    job_id: int
    cell: SweepCell
    result: Result


@dataclass(frozen=True, slots=True)
class Finished:
    """The job is over; ``discarded`` launches had END <= START and are no measurement.

    ``trust`` is the judgement over the whole run; ``quantiles`` as in a Result.
    """

    job_id: int
    stopped: bool = False
    discarded: int = 0
    reason: StopReason = ""
    trust: TimerTrust | None = None
    quantiles: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """The job is over and did not work."""

    job_id: int
    failure: Failure


Work = (
    ListDevices
    | RunJob
    | CompareJobs
    | BuildAhead
    | TakeTurns
    | ReadRegisters
    | ReadCeilings
    | CountGroups
    | LaunchOnce
)
Request = Work | Cancel
Message = (
    DriversFound
    | Listing
    | Began
    | Phase
    | Built
    | Checked
    | ErrorsMapped
    | Calibrated
    | TimerChosen
    | SampleBatch
    | RegistersRead
    | Progressed
    | CeilingRead
    | GroupsCounted
    | ClaimTried
    | LadderClimbed
    | RowMeasured
    | SweepAdvanced
    | CellMeasured
    | DevicesMeasured
    | Finished
    | Failed
)
