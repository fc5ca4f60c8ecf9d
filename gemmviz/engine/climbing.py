"""Climbs the ladder: each rung in turns with the one below it and with the device's library."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gemmviz.core.choice import quiet_by_default
from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import ClimbLadder
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.ladder import Ladder, LibrarySpeed, Rung, library_on, rungs_of
from gemmviz.core.launch import flop, geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import LadderClimbed, Message, Progressed
from gemmviz.core.model import Failure, Job, Parameters, Result, Variant
from gemmviz.core.paired import compare_pairs, margin_of
from gemmviz.core.stats import Floats, summarize
from gemmviz.core.suite import others_load
from gemmviz.core.tuned import tuned_parameters
from gemmviz.engine.ceiling_table import kept_ceilings
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_FIRST_ID = 10**9


def climb_ladder(experiment: ClimbLadder, engine: Engine) -> Generator[Message, None, Ladder]:
    """Measures rung after rung; the ladder so far is told after each.

    A rung is compared with the last one below it that ran and was right, and both with the library
    in the same rounds. So a slow rung takes its time from no other, and each step and each share of
    the library is a ratio of times that were taken in turns.

    Returns:
        The ladder; of one that was stopped the rungs that were measured before.

    Raises:
        ExperimentFailed: The device is a simulator, or there is no ladder.
    """
    rungs = rungs_of(experiment.variants)
    if experiment.device.type == "simulator":
        sentence = "A simulator's speed says nothing of a device: choose a real one."
        raise ExperimentFailed(Failure("refused", sentence))
    if not rungs:
        raise ExperimentFailed(Failure("not_found", "There is no kernel of the family ladder."))
    climb = _Climb(experiment, engine)
    for place, variant in enumerate(rungs):
        yield Progressed(
            experiment.job_id, place / len(rungs), f"{place + 1} of {len(rungs)}: {variant.title}"
        )
        climb.measure(variant)
        if engine.was_stopped(experiment.job_id):
            return climb.ladder()
        yield LadderClimbed(experiment.job_id, climb.ladder(whole=place == len(rungs) - 1))
    yield Progressed(experiment.job_id, 1.0, "Every rung was measured")
    return climb.ladder(whole=True)


@dataclass(slots=True)
class _Duel:
    """The results of jobs that were measured in turns, by the ids of their variants."""

    results: dict[str, Result]
    failure: Failure | None = None
    rounds: int = 0
    stopped: bool = False
    times: dict[str, Floats] = field(default_factory=dict)


class _Climb:
    """What has come of the rungs so far."""

    def __init__(self, experiment: ClimbLadder, engine: Engine) -> None:
        self._asked, self._engine = experiment, engine
        self._device, self._limits = experiment.device, limits_for(experiment.device)
        self._policy = replace(experiment.policy, quiet=quiet_by_default(experiment.device))
        self._library, self._note = library_on(
            experiment.device, self._limits, experiment.variants, experiment.problem
        )
        table = kept_ceilings(experiment.device)
        self._peak = table.peak(experiment.problem.element) if table is not None else None
        self._below: Variant | None = None
        self._rungs: list[Rung] = []
        self._library_speeds: list[float] = []
        self._busy: str | None = None  # as the first run found it, before it was this ladder's

    def ladder(self, *, whole: bool = False) -> Ladder:
        """The ladder so far."""
        library = None
        if self._library is not None and self._library_speeds:
            speed = max(self._library_speeds)
            library = LibrarySpeed(self._library.id, self._library.title, speed)
        return Ladder(
            self._device.key, self._asked.problem, tuple(self._rungs), library, self._note,
            self._peak, self._busy or "", whole,
        )  # fmt: skip

    def measure(self, variant: Variant) -> None:
        """Adds a rung; one that a stop cut short before any figure is left out."""
        rung = self._described(variant)
        if rung.why_not:
            self._rungs.append(rung)
            return
        duel = self._duel(variant)
        stopped = self._engine.was_stopped(self._asked.job_id)
        result = duel.results.get(variant.id)
        if result is None or not duel.rounds:
            if not stopped:
                failure = duel.failure or Failure("timer", "No launch of it had a usable time.")
                self._rungs.append(replace(rung, why_not=failure.sentence))
            return
        rung = self._with_speed(rung, variant, duel)
        if result.verdict == "wrong":
            why = result.failure.sentence if result.failure is not None else "Its answer is wrong."
            rung = replace(rung, wrong=True, why_not=why)
        else:
            self._below = variant
        self._rungs.append(rung)

    def _described(self, variant: Variant) -> Rung:
        """A rung without its speed: what it takes of a unit, or why it cannot run."""
        problem, parameters = self._asked.problem, self._parameters(variant)
        rung = Rung(variant.id, variant.title, variant.rung, parameters)
        reason = refusal(variant, parameters, problem, self._device, self._limits)
        if reason is not None:
            return replace(rung, why_not=reason)
        try:
            shape = geometry(variant, parameters, problem)
            found = self._engine.registers(self._job(variant, 0), self._device, self._asked.job_id)
            registers = found.registers if found is not None else None
            estimate = estimate_for(
                variant, parameters, problem, self._device, self._limits, registers=registers
            )
        except (ExprError, ValueError) as error:
            return replace(rung, why_not=f"{str(error).rstrip('.')}.")
        return replace(
            rung,
            registers=registers,
            spill_bytes=found.spill_bytes if found is not None else None,
            local_bytes=shape.local_bytes,
            group_size=shape.group_size,
            occupancy=estimate.occupancy,
        )

    def _parameters(self, variant: Variant) -> Parameters:
        return tuned_parameters(variant, self._asked.problem, self._device)

    def _job(self, variant: Variant, number: int) -> Job:
        return Job(
            _FIRST_ID + number, self._device.key, variant, self._parameters(variant),
            self._asked.problem, self._policy,
        )  # fmt: skip

    def _duel(self, variant: Variant) -> _Duel:
        """The rung in turns with what it is compared with; what fails beside it is left out."""
        below = [self._below] if self._below is not None else []
        if self._library is not None:
            duel = self._together([*below, self._library, variant])
            if duel.failure is None or duel.stopped:
                return duel
            alone = self._together([*below, variant])
            if alone.failure is None:
                self._note = f"{self._library.title} failed: {duel.failure.sentence}"
                self._library = None
                return alone
        elif below:
            duel = self._together([*below, variant])
            if duel.failure is None or duel.stopped:
                return duel
        return self._together([variant])

    def _together(self, variants: Sequence[Variant]) -> _Duel:
        """Variants measured in turns, or a single one by itself."""
        jobs = [self._job(variant, number) for number, variant in enumerate(variants)]
        if len(jobs) == 1:
            job = replace(jobs[0], id=self._asked.job_id)
            *_, result = self._engine.run(job, self._device)
            assert isinstance(result, Result)
            failure = result.failure
            if failure is not None and failure.kind == "wrong":
                failure = None
            stopped = result.stopped
            results: tuple[Result, ...] = (result,)
        else:
            devices = [self._device] * len(jobs)
            *_, last = self._engine.compare(jobs, devices, self._asked.job_id)
            assert isinstance(last, Comparison)
            results, failure, stopped = last.results, last.failure, last.stopped
        rounds = min(len(result.samples) for result in results)
        context = results[0].context
        if self._busy is None and context is not None:
            self._busy = others_load(context.load, context.cores, 0)
        duel = _Duel({each.job.variant.id: each for each in results}, failure, rounds, stopped)
        if failure is None:
            duel.times = {name: _times(each, rounds) for name, each in duel.results.items()}
        else:
            duel.rounds = 0
        return duel

    def _with_speed(self, rung: Rung, variant: Variant, duel: _Duel) -> Rung:
        """A rung with its speed, its step and its shares."""
        times, margin = duel.times, margin_of(self._policy)
        work = flop(variant, self._asked.problem)
        summary = summarize(times[variant.id])
        if summary is None:
            return replace(rung, why_not="No launch of it had a usable time.")
        rate = work / summary.median
        rung = replace(
            rung,
            flops_per_second=rate,
            low=work / summary.high,
            high=work / summary.low,
            ceiling_share=rate / self._peak if self._peak else None,
        )
        below, library = self._below, self._library
        if below is not None and below.id in times:
            gain = compare_pairs(times[below.id], times[variant.id], margin)
            rung = replace(rung, gain=gain, against=below.id)
        if library is not None and library.id in times:
            share = compare_pairs(times[library.id], times[variant.id], margin)
            rung = replace(rung, library=share)
            its = summarize(times[library.id])
            if its is not None:
                self._library_speeds.append(work / its.median)
        return rung


def _times(result: Result, rounds: int) -> Floats:
    """Seconds of one launch, round by round."""
    seconds = np.asarray(result.samples.seconds[:rounds], float)
    times: Floats = seconds / np.asarray(result.samples.launches[:rounds], float)
    return times
