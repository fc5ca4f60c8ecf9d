"""A statement of the documents as something to try: its trials, and how their evidence is judged.

A judgement is a pure function of what was measured; nothing is decided in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemmviz.core.access.report import AccessReport
from gemmviz.core.claims import ClaimResult
from gemmviz.core.comparison import Comparison
from gemmviz.core.estimate import Estimate
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Failure, Parameters, Result
from gemmviz.core.paired import Versus
from gemmviz.core.races import RaceReport

Shape = tuple[int, int, int]
"""M, N and K."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A kernel by its id, with the parameters that differ from its defaults."""

    kernel: str
    parameters: Parameters = ()

    @property
    def name(self) -> str:
        """For a sentence: "tiled TS=16"."""
        return " ".join([self.kernel, *(f"{name}={value}" for name, value in self.parameters)])


@dataclass(frozen=True, slots=True)
class Run:
    """One checked launch on the device; answered by a Result, wrong or failed too.

    With ``over_local`` the kernel is given more local memory than the device says it has, and is
    launched all the same.
    """

    choice: Choice
    shape: Shape
    over_local: bool = False


@dataclass(frozen=True, slots=True)
class Contest:
    """Kernels measured in turns on the device, square; answered by a Comparison."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Lens:
    """The accesses that a kernel's source makes; answered by an AccessReport."""

    choice: Choice
    shape: Shape


@dataclass(frozen=True, slots=True)
class Simulation:
    """One launch under Oclgrind; answered by a RaceReport."""

    choice: Choice
    shape: Shape


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What a compute unit of the device holds; answered by an Estimate, with registers if known."""

    choice: Choice


Trial = Run | Contest | Lens | Simulation | Occupancy
Answer = Result | Comparison | AccessReport | RaceReport | Estimate


class Untestable(Exception):  # noqa: N818 (an outcome of a trial, and no mistake)
    """Why a statement can be neither confirmed nor refuted here, and what was measured anyway."""

    def __init__(self, reason: str, measured: str = "") -> None:
        super().__init__(reason)
        self.reason, self.measured = reason, measured


@dataclass(frozen=True, slots=True)
class Evidence:
    """What came of the trials on a device: for each its answer, or why there is none."""

    device: Device
    limits: Limits | None
    answers: Mapping[Trial, Answer | Failure]

    def _answer(self, trial: Trial) -> Answer:
        answer = self.answers.get(trial)
        if answer is None:
            raise Untestable("It was stopped before this was tried.")
        if isinstance(answer, Failure):
            raise Untestable(answer.sentence)
        return answer

    def result(self, trial: Run) -> Result:
        """The run, whatever came of it.

        Raises:
            Untestable: It was never begun.
        """
        answer = self._answer(trial)
        assert isinstance(answer, Result)
        return answer

    def checked(self, trial: Run) -> Result:
        """A run whose answer was compared with the reference.

        Raises:
            Untestable: It did not get so far.
        """
        result = self.result(trial)
        if result.verdict not in ("verified", "wrong"):
            failure = result.failure
            sentence = failure.sentence if failure else "It was stopped before its check."
            raise Untestable(f"{trial.choice.name} did not run: {sentence}")
        return result

    def comparison(self, trial: Contest) -> Comparison:
        """A comparison in which every kernel was measured and none was wrong.

        Raises:
            Untestable: It is not.
        """
        answer = self._answer(trial)
        assert isinstance(answer, Comparison)
        if answer.failure is not None:
            raise Untestable(f"The kernels could not be measured: {answer.failure.sentence}")
        if answer.wrong:
            names = ", ".join(result.job.variant.id for result in answer.wrong)
            raise Untestable(f"Speed counts for nothing where the answer is wrong: {names}.")
        if len(answer.versus) < len(trial.choices) - 1:
            raise Untestable("It was stopped before the kernels were measured.")
        return answer

    def versus(self, trial: Contest, place: int) -> Versus:
        """How the kernel at ``place``, from 1 on, compares with the first.

        Raises:
            Untestable: They were not all measured.
        """
        return self.comparison(trial).versus[place - 1]

    def size(self, trial: Contest) -> int:
        """The size at which the kernels were measured.

        Raises:
            Untestable: They were not.
        """
        return self.comparison(trial).results[0].job.problem.m

    def accesses(self, trial: Lens) -> AccessReport:
        """The accesses of a kernel.

        Raises:
            Untestable: Its source could not be followed to the end.
        """
        answer = self._answer(trial)
        assert isinstance(answer, AccessReport)
        if answer.unknowns:
            unknown = answer.unknowns[0]
            raise Untestable(f"{trial.choice.name}, line {unknown.line}: {unknown.reason}")
        return answer

    def races(self, trial: Simulation) -> RaceReport:
        """What the simulator says of a kernel.

        Raises:
            Untestable: It said nothing.
        """
        answer = self._answer(trial)
        assert isinstance(answer, RaceReport)
        return answer

    def estimate(self, trial: Occupancy) -> Estimate:
        """The occupancy of a kernel, by limits of its vendor.

        Raises:
            Untestable: None are known for the device.
        """
        answer = self._answer(trial)
        assert isinstance(answer, Estimate)
        if answer.groups_per_unit is None or answer.occupancy is None:
            raise Untestable(
                f"How many groups a unit of this device holds is not known ({answer.confidence})."
            )
        return answer


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a statement holds, the figures as a sentence, and why that follows."""

    holds: bool
    measured: str
    reason: str


def gpus_alone(device: Device) -> str:
    """Objects to devices whose local memory is cache and whose units hold one group."""
    if device.type in ("CPU", "simulator"):
        return (
            f"On a {device.type} local memory is ordinary memory in cache, and a core works on "
            "one group at a time."
        )
    return ""


def cpus_alone(device: Device) -> str:
    """Objects to what is no CPU."""
    return "" if device.type == "CPU" else f"The statement is about CPUs; this is a {device.type}."


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a document.

    Attributes:
        id: A short name for the command line.
        document: The document's title.
        statement: What it says, in our own words.
        trials: What is to be tried.
        judge: Judges the evidence; may raise Untestable.
        scope: Why it makes no sense to try it on a device, or ""; None where it does on any.
    """

    id: str
    document: str
    statement: str
    trials: tuple[Trial, ...]
    judge: Callable[[Evidence], Judgement]
    scope: Callable[[Device], str] | None = None

    def objection(self, device: Device) -> str:
        """Why it makes no sense to try it on ``device``, or ""."""
        return "" if self.scope is None else self.scope(device)


def judged(claim: Claim, evidence: Evidence) -> ClaimResult:
    """What the evidence says of a statement."""
    objection = claim.objection(evidence.device)
    if objection:
        return untested(claim, objection)
    try:
        found = claim.judge(evidence)
    except Untestable as untestable:
        return untested(claim, untestable.reason, untestable.measured)
    return ClaimResult(
        claim.id, claim.document, claim.statement,
        "holds" if found.holds else "does not hold here", found.measured, found.reason,
    )  # fmt: skip


def untested(claim: Claim, reason: str, measured: str = "") -> ClaimResult:
    """The result of a statement that cannot be tested."""
    return ClaimResult(
        claim.id, claim.document, claim.statement, "cannot be tested here", measured, reason
    )


def at(shape: Shape) -> str:
    """A shape for a sentence."""
    return "at M x N x K = " + " x ".join(map(str, shape))


def times(versus: Versus) -> str:
    """How fast a kernel is against the first: "3.21 times (3.15 to 3.3)"."""
    return f"{versus.ratio:.3g} times ({versus.ratio_low:.3g} to {versus.ratio_high:.3g})"


def above(versus: Versus, least: float, measured: str) -> bool:
    """Whether a kernel is at least ``least`` times as fast as the first, by the whole interval.

    Raises:
        Untestable: The interval has ``least`` inside.
    """
    if versus.ratio_low >= least:
        return True
    if versus.ratio_high < least:
        return False
    raise Untestable(f"The noise of the times leaves open on which side of {least:g} the ratio is.",
                     measured)  # fmt: skip
