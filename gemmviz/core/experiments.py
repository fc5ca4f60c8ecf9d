"""What can be asked of a device besides a run, and how an answer ends; all frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.claims import ClaimResult
from gemmviz.core.comparison import Comparison
from gemmviz.core.device_comparison import COMPARE, DeviceComparison
from gemmviz.core.labels import device_label
from gemmviz.core.ladder import CLIMB, Ladder
from gemmviz.core.model import Device, Failure, Job, Parameters, Problem, Variant
from gemmviz.core.policy import STANDARD, Policy
from gemmviz.core.races import RaceReport
from gemmviz.core.residency import Residency
from gemmviz.core.suite import BenchReport, SuiteRow
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.throttle import ThrottleCurve


@dataclass(frozen=True, slots=True)
class MeasureCeilings:
    """What a device can do at most: bandwidths and peak rates. Answered by a CeilingTable.

    ``again`` measures even where a table is kept.
    """

    job_id: int
    device: Device
    again: bool = False


@dataclass(frozen=True, slots=True)
class MeasureResidency:
    """How many groups of a job's size and local memory a compute unit really holds.

    Answered by a Residency. With ``instrumented`` the job's own kernel counts its groups, else a
    probe of the same group size and local bytes.
    """

    job: Job
    device: Device
    instrumented: bool = False

    @property
    def job_id(self) -> int:
        """The id of the job."""
        return self.job.id


@dataclass(frozen=True, slots=True)
class Throttle:
    """A kernel made to run with fewer and fewer resident groups; answered by a ThrottleCurve."""

    job_id: int
    job: Job
    device: Device


@dataclass(frozen=True, slots=True)
class CheckRaces:
    """Races, barriers and stray accesses under a simulator; answered by a RaceReport."""

    job_id: int
    variant: Variant
    parameters: Parameters
    problem: Problem


@dataclass(frozen=True, slots=True)
class TryClaims:
    """Tries statements of the documents, by their ids; answered by a tuple of ClaimResult.

    ``device`` is where they are tried; an empty ``ids`` means all.
    """

    job_id: int
    device: Device
    variants: tuple[Variant, ...]
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClimbLadder:
    """Every rung of the ladder at one problem, in turns; answered by a Ladder.

    ``variants`` hold the ladder and the libraries; ``policy`` is that of each rung.
    """

    job_id: int
    device: Device
    variants: tuple[Variant, ...]
    problem: Problem
    policy: Policy = CLIMB


@dataclass(frozen=True, slots=True)
class RunSuite:
    """Rows of a benchmark, each on every one of ``devices`` of its type; answered by a BenchReport.

    ``variants`` hold the kernels and libraries that rows name; ``policy`` is that of each row, and
    ``seed`` draws all inputs.
    """

    job_id: int
    devices: tuple[Device, ...]
    variants: tuple[Variant, ...]
    rows: tuple[SuiteRow, ...]
    policy: Policy = STANDARD
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CompareDevices:
    """Devices side by side at several sizes; answered by a DeviceComparison.

    Attributes:
        job_id: Its id.
        devices: Which.
        variants: Kernels and libraries to choose from.
        problem: The element type, the seed and all else but the shape.
        sizes: M = N = K, rising.
        variant: The kernel that all run; None gives each device the best of ``variants``.
        parameters: Its macros.
        policy: That of each size.
        ceilings: Whether the ceilings of devices are measured first where none are known.
    """

    job_id: int
    devices: tuple[Device, ...]
    variants: tuple[Variant, ...]
    problem: Problem
    sizes: tuple[int, ...]
    variant: Variant | None = None
    parameters: Parameters = ()
    policy: Policy = COMPARE
    ceilings: bool = False


def share_hardware(first: Device, other: Device) -> bool:
    """Whether two devices must take turns: they are one, or share silicon."""
    return first.key == other.key or (bool(first.hardware) and first.hardware == other.hardware)


@dataclass(frozen=True, slots=True)
class RaceDevices:
    """Two jobs on two devices at once, or in turns where both share hardware.

    Answered by a Comparison, whose results are in the order of ``jobs``.
    """

    job_id: int
    jobs: tuple[Job, Job]
    devices: tuple[Device, Device]

    @property
    def in_turns(self) -> bool:
        """Whether they take turns launch by launch, because they share hardware."""
        first, other = self.devices
        return first.key == other.key or (bool(first.hardware) and first.hardware == other.hardware)


@dataclass(frozen=True, slots=True)
class RunSweep:
    """Every configuration of a sweep, checked and measured; answered by a SweepReport.

    Each is told by a CellMeasured as soon as it is known, the whole by a SweepAdvanced now and
    then. What is in ``done`` is not measured again, so a sweep that was stopped goes on where it
    was when it is asked for with the cells that it had.
    """

    job_id: int
    sweep: Sweep
    done: tuple[SweepCell, ...] = ()


Experiment = (
    MeasureCeilings
    | MeasureResidency
    | Throttle
    | CheckRaces
    | TryClaims
    | ClimbLadder
    | RunSuite
    | CompareDevices
    | RaceDevices
    | RunSweep
)
Finding = (
    CeilingTable
    | Residency
    | ThrottleCurve
    | RaceReport
    | Sequence[ClaimResult]
    | Ladder
    | BenchReport
    | DeviceComparison
    | Comparison
    | SweepReport
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last word on an experiment: its answer, or why there is none.

    ``answer`` may be partial where ``stopped`` is true or a ``failure`` is given.
    """

    experiment: Experiment
    answer: Finding | None
    failure: Failure | None = None
    stopped: bool = False

    @property
    def job_id(self) -> int:
        """The id of the experiment."""
        return self.experiment.job_id


def describe_experiment(experiment: Experiment) -> str:
    """What is done, as a person reads it: "the ceilings of pthread-cpu · PoCL 3.0"."""
    match experiment:
        case MeasureCeilings(device=device):
            return f"the ceilings of {device_label(device)}"
        case MeasureResidency(job=job, device=device):
            return f"the resident groups of {job.variant.title} on {device_label(device)}"
        case Throttle(job=job, device=device):
            return f"{job.variant.title} with fewer groups on {device_label(device)}"
        case CheckRaces(variant=variant):
            return f"the races of {variant.title}"
        case TryClaims(device=device):
            return f"the documents' claims on {device_label(device)}"
        case ClimbLadder(device=device):
            return f"the ladder on {device_label(device)}"
        case CompareDevices(devices=devices):
            return f"{len(devices)} devices side by side"
        case RaceDevices(devices=devices):
            return f"the race of {' and '.join(map(device_label, devices))}"
        case RunSuite():
            return "the benchmark"
        case RunSweep():
            return "the sweep"
