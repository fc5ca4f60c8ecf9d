"""Tries statements of the documents on a device: gathers what each needs, once, and judges it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.report import AccessReport
from gemmviz.core.catalog import load_catalog
from gemmviz.core.choice import quiet_by_default
from gemmviz.core.claim import (
    Answer,
    Choice,
    Claim,
    Contest,
    Evidence,
    Lens,
    Occupancy,
    Run,
    Simulation,
    Trial,
    judged,
)
from gemmviz.core.claim_list import find_claims
from gemmviz.core.claims import ClaimResult
from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import CheckRaces, TryClaims
from gemmviz.core.expr import ExprError
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.launch import merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import ClaimTried, Message, Progressed
from gemmviz.core.model import Device, Failure, Job, Parameters, Problem, Result, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import QUICK, Policy, fixed
from gemmviz.engine.failed import ExperimentFailed
from gemmviz.engine.lens import LensProcess, Question
from gemmviz.engine.oclgrind import ABSENT, find_simulator, simulate

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

# Of a contest, so many seconds: the slowest kernels take a tenth of one a launch on a CPU.
_CONTEST = Policy(1, 15, 0.1, 0.03, 5.0)
_SIZES = {"GPU": 2048, "accelerator": 1024}
_SIZE = 512
_SEED = 20260
_FIRST_ID = 10**9


def try_claims(
    experiment: TryClaims, engine: Engine
) -> Generator[Message, None, tuple[ClaimResult, ...]]:
    """Tries statements one by one; a result is told as soon as it is known.

    What several statements rest on is measured once. All sources are looked at first: that needs a
    processor which may be the one that is timed. A stop ends it between or within trials; the
    answer is what was judged before.

    Raises:
        ExperimentFailed: There is no such statement, or the device is a simulator.
    """
    if experiment.device.type == "simulator":
        sentence = "A simulator's speed says nothing of a device: choose a real one."
        raise ExperimentFailed(Failure("refused", sentence))
    try:
        claims = find_claims(experiment.ids)
    except ValueError as error:
        raise ExperimentFailed(Failure("not_found", str(error))) from error
    trials = _Trials(experiment, engine)
    yield from trials.look(
        [trial for claim in claims for trial in _needed(claim, experiment.device)]
    )
    if engine.was_stopped(experiment.job_id):
        return ()
    results: list[ClaimResult] = []
    for number, claim in enumerate(claims):
        share = number / len(claims)
        yield Progressed(experiment.job_id, share, claim.statement)
        for trial in _needed(claim, experiment.device):
            yield from trials.make(trial, share)
            if engine.was_stopped(experiment.job_id):
                return tuple(results)
        results.append(judged(claim, trials.evidence))
        yield ClaimTried(experiment.job_id, results[-1])
    yield Progressed(experiment.job_id, 1.0, "Every statement was tried")
    return tuple(results)


def _needed(claim: Claim, device: Device) -> tuple[Trial, ...]:
    return () if claim.objection(device) else claim.trials


class _Trials:
    """Makes trials on one device and keeps what came of each."""

    def __init__(self, experiment: TryClaims, engine: Engine) -> None:
        self._id, self._device, self._engine = experiment.job_id, experiment.device, engine
        faulty = load_catalog(data_dir("resources") / "claims").variants
        self._variants = {
            variant.id: variant for variant in (*faulty, *_published(experiment.variants))
        }
        self._limits = limits_for(experiment.device)
        self._answers: dict[Trial, Answer | Failure] = {}
        self._simulator: Device | None = None
        self._looked = False
        self._lens = LensProcess()

    @property
    def evidence(self) -> Evidence:
        """All that has come so far."""
        return Evidence(self._device, self._limits, dict(self._answers))

    def look(self, trials: Sequence[Trial]) -> Iterator[Message]:
        """Makes those trials that look at sources, unless it is stopped; none is left for later."""
        with contextlib.closing(self._lens):
            for trial in trials:
                if isinstance(trial, Lens) and not self._stopped():
                    yield from self.make(trial, 0.0)

    def _stopped(self) -> bool:
        return self._engine.was_stopped(self._id)

    def make(self, trial: Trial, share: float) -> Iterator[Message]:
        """Makes a trial unless it was made before; yields its progress."""
        if trial in self._answers:
            return
        try:
            self._answers[trial] = yield from self._make(trial, share)
        except ExperimentFailed as failed:
            self._answers[trial] = failed.failure
        except (LensError, ExprError, ValueError) as error:
            self._answers[trial] = Failure("refused", f"{str(error).rstrip('.')}.")

    def _make(self, trial: Trial, share: float) -> Generator[Message, None, Answer]:
        match trial:
            case Run():
                yield self._progress(share, f"Running {trial.choice.name}")
                return self._run(trial)
            case Contest():
                names = ", ".join(choice.name for choice in trial.choices)
                yield self._progress(share, f"Measuring in turns: {names}")
                return self._contest(trial)
            case Lens():
                yield self._progress(share, f"Looking at the source of {trial.choice.name}")
                return self._look(trial)
            case Simulation():
                return (yield from self._simulate(trial, share))
            case Occupancy():
                return self._occupancy(trial)

    def _progress(self, share: float, text: str) -> Progressed:
        return Progressed(self._id, share, text)

    def _chosen(self, choice: Choice) -> tuple[Variant, Parameters]:
        if choice.kernel not in self._variants:
            raise ExperimentFailed(Failure("not_found", f"There is no kernel {choice.kernel}."))
        variant = self._variants[choice.kernel]
        return variant, merge_parameters(variant, dict(choice.parameters))

    def _job(self, choice: Choice, problem: Problem, policy: Policy, number: int | None) -> Job:
        variant, parameters = self._chosen(choice)
        job_id = self._id if number is None else _FIRST_ID + number
        quiet = quiet_by_default(self._device)
        return Job(
            job_id, self._device.key, variant, parameters, problem, replace(policy, quiet=quiet)
        )

    def _run(self, trial: Run) -> Result:
        job = self._job(trial.choice, Problem(*trial.shape, seed=_SEED), fixed(1), None)
        if trial.over_local:
            if self._device.local_mem_bytes is None:
                raise ExperimentFailed(
                    Failure("refused", "The device does not say how much local memory it has.")
                )
            job = replace(job, force=True, dummy_local_bytes=self._device.local_mem_bytes)
        *_, last = self._engine.run(job, self._device)
        assert isinstance(last, Result)
        return last

    def _contest(self, trial: Contest) -> Comparison:
        size = _SIZES.get(self._device.type, _SIZE)
        problem = Problem(size, size, size, seed=_SEED)
        jobs = [
            self._job(choice, problem, _CONTEST, number)
            for number, choice in enumerate(trial.choices)
        ]
        devices = [self._device] * len(jobs)
        *_, last = self._engine.compare(jobs, devices, self._id)
        assert isinstance(last, Comparison)
        return last

    def _look(self, trial: Lens) -> AccessReport:
        machine = machine_for(self._device, self._limits)
        question = Question(*self._chosen(trial.choice), Problem(*trial.shape), machine)
        report = self._lens.report(question, self._stopped)
        if report is None:
            raise ExperimentFailed(Failure("stopped", "It was stopped."))
        return report

    def _simulate(self, trial: Simulation, share: float) -> Generator[Message, None, Answer]:
        if not self._looked:
            yield self._progress(share, "Looking for the simulator")
            self._simulator, self._looked = find_simulator(self._engine.list_devices()), True
        if self._simulator is None:
            raise ExperimentFailed(ABSENT)
        variant, parameters = self._chosen(trial.choice)
        yield self._progress(share, f"Simulating {trial.choice.name}")
        experiment = CheckRaces(self._id, variant, parameters, Problem(*trial.shape, seed=_SEED))
        # Its own messages would set the bar back: they know of no share.
        return _drained(simulate(experiment, self._engine, self._simulator))

    def _occupancy(self, trial: Occupancy) -> Answer:
        variant, parameters = self._chosen(trial.choice)
        problem = Problem(_SIZE, _SIZE, _SIZE)
        job = self._job(trial.choice, problem, QUICK, None)
        found = self._engine.registers(job, self._device, self._id)
        registers = found.registers if found is not None else None
        return estimate_for(
            variant, parameters, problem, self._device, self._limits, registers=registers
        )


def _published(variants: Sequence[Variant]) -> list[Variant]:
    """The kernels that statements may mean: a person's own may have the id of one of them."""
    return [each for each in variants if each.family != "user" and not each.library]


def _drained(plan: Generator[Message, None, Answer]) -> Answer:
    """The answer of a plan whose messages nobody wants."""
    while True:
        try:
            next(plan)
        except StopIteration as ended:
            answer: Answer = ended.value
            return answer
