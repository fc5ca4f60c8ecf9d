"""What can be asked of a device besides a run, and how an answer ends; all frozen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.claims import ClaimResult
from gemmviz.core.model import Device, Failure, Job, Parameters, Problem, Variant
from gemmviz.core.races import RaceReport
from gemmviz.core.residency import Residency
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


Experiment = MeasureCeilings | MeasureResidency | Throttle | CheckRaces | TryClaims
Finding = CeilingTable | Residency | ThrottleCurve | RaceReport | Sequence[ClaimResult]


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
