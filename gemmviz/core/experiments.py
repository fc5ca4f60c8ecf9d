"""What can be asked of a device besides a run, and how an answer ends; all frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.claims import ClaimResult
from gemmviz.core.labels import device_label
from gemmviz.core.ladder import CLIMB, Ladder
from gemmviz.core.model import Device, Failure, Job, Parameters, Problem, Variant
from gemmviz.core.policy import STANDARD, Policy
from gemmviz.core.races import RaceReport
from gemmviz.core.residency import Residency
from gemmviz.core.suite import BenchReport, SuiteRow
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


Experiment = (
    MeasureCeilings | MeasureResidency | Throttle | CheckRaces | TryClaims | ClimbLadder | RunSuite
)
Finding = (
    CeilingTable
    | Residency
    | ThrottleCurve
    | RaceReport
    | Sequence[ClaimResult]
    | Ladder
    | BenchReport
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
        case RunSuite():
            return "the benchmark"
