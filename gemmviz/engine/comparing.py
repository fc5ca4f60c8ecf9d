"""Compares devices size by size; those that share hardware take turns launch by launch."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.choice import measurable, quiet_by_default
from gemmviz.core.comparison import Comparison
from gemmviz.core.device_comparison import (
    SIMULATOR_SIZE,
    DeviceComparison,
    DeviceDuel,
    DeviceFigure,
)
from gemmviz.core.experiments import CompareDevices, MeasureCeilings
from gemmviz.core.expr import ExprError
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.labels import device_label, form_label
from gemmviz.core.ladder import library_on
from gemmviz.core.launch import flop, geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import DevicesMeasured, Message, Progressed
from gemmviz.core.model import Device, DeviceKey, Failure, Job, Problem, Result
from gemmviz.core.paired import compare_apart, compare_pairs, margin_of
from gemmviz.core.policy import Policy, fixed
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.roofline import Names, dot
from gemmviz.core.stats import Floats, summarize
from gemmviz.core.suite import others_load
from gemmviz.engine.ceiling_table import kept_ceilings, measure_ceilings
from gemmviz.engine.contenders import Contender, Contenders
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_FIRST_ID = 10**9
_LONGEST_SECONDS = 5.0
"""A launch that is foreseen to take longer is left out: ten of them would take a minute."""


def compare_devices(
    experiment: CompareDevices, engine: Engine
) -> Generator[Message, None, DeviceComparison]:
    """Measures every device at every size, the smallest first; each is told as soon as it is known.

    Devices that share hardware are measured in turns in one child, together with their libraries.
    Others follow one after the other, so that nothing disturbs what is timed.

    Returns:
        All figures; of a comparison that was stopped those that were found before.

    Raises:
        ExperimentFailed: There is no device or no size.
    """
    if not experiment.devices or not experiment.sizes:
        sentence = "A comparison of devices takes at least one device and one size."
        raise ExperimentFailed(Failure("refused", sentence))
    trial = _Trial(experiment, engine)
    if experiment.ceilings:
        yield from trial.measure_ceilings()
    squads = squads_of(experiment.devices)
    steps = [(size, squad) for size in sorted(set(experiment.sizes)) for squad in squads]
    for place, (size, squad) in enumerate(steps):
        names = " and ".join(map(device_label, squad))
        text = f"{size} × {size} × {size} on {names}{' in turns' if len(squad) > 1 else ''}"
        told = f"{place + 1} of {len(steps)}: {text}"
        if experiment.variant is None:
            told += ", after a try of their kernels"
        yield Progressed(experiment.job_id, place / len(steps), told)
        results = trial.measure(size, squad)
        if engine.was_stopped(experiment.job_id):
            return trial.comparison()
        whole = place == len(steps) - 1
        yield DevicesMeasured(experiment.job_id, trial.comparison(whole=whole), results)
    yield Progressed(experiment.job_id, 1.0, "Every device was measured")
    return trial.comparison(whole=True)


def squads_of(devices: Sequence[Device]) -> tuple[tuple[Device, ...], ...]:
    """The devices that take turns together; a simulator is by itself, and behind all others.

    A launch that a simulator takes a second for would leave real devices few rounds.
    """
    squads: dict[str, list[Device]] = {}
    for device in devices:
        alone = device.type == "simulator" or not device.hardware
        squads.setdefault(str(device.key) if alone else device.hardware, []).append(device)
    return tuple(
        sorted(map(tuple, squads.values()), key=lambda squad: squad[0].type == "simulator")
    )


@dataclass(slots=True)
class _Times:
    """The samples of a figure that counts, and the measurement that they come from."""

    device: DeviceKey
    seconds: Floats
    source: int


class _Trial:
    """What has come of the devices so far."""

    def __init__(self, experiment: CompareDevices, engine: Engine) -> None:
        self._asked, self._engine = experiment, engine
        self._contenders = Contenders(experiment, engine)
        self._tables: dict[DeviceKey, CeilingTable | None] = {
            device.key: kept_ceilings(device) for device in experiment.devices
        }
        self._figures: list[DeviceFigure] = []
        self._duels: list[DeviceDuel] = []
        self._times: list[_Times] = []
        self._size = 0
        self._sources = 0
        self._busy: str | None = None  # as the first run found it, before it was this trial's

    def comparison(self, *, whole: bool = False) -> DeviceComparison:
        """All figures so far."""
        asked = self._asked
        return DeviceComparison(
            asked.devices, tuple(sorted(set(asked.sizes))), asked.problem.element,
            asked.variant.title if asked.variant is not None else "", form_label(asked.problem),
            tuple(self._figures), tuple(self._duels), self._busy or "", whole,
        )  # fmt: skip

    def measure_ceilings(self) -> Generator[Message, None, None]:
        """Measures the ceilings that are not known; a device that refuses goes without."""
        for device in measurable(self._asked.devices):
            if self._tables[device.key] is None and not self._stopped:
                request = MeasureCeilings(self._asked.job_id, device)
                try:
                    self._tables[device.key] = yield from measure_ceilings(request, self._engine)
                except ExperimentFailed:
                    continue

    def measure(self, size: int, squad: Sequence[Device]) -> tuple[Result, ...]:
        """Adds a figure for each device of a squad; nothing where a stop came first."""
        if size != self._size:
            self._size, self._times = size, []
        problem = replace(self._asked.problem, m=size, n=size, k=size)
        figures = {device.key: self._prepared(size, problem, device) for device in squad}
        if self._stopped:
            return ()
        entrants = [found for _, found in figures.values() if found is not None]
        libraries = [
            found for each in entrants if (found := self._library(each, problem)) is not None
        ]
        results, reasons = self._together([*entrants, *libraries], problem)
        if self._stopped:
            return ()
        self._sources += 1
        turns = sum(entrant in results for entrant in entrants)
        for device in squad:
            figure, entrant = figures[device.key]
            if entrant is None:
                self._figures.append(figure)
                continue
            result = results.get(entrant)
            if result is None:
                self._figures.append(replace(figure, why_not=reasons.get(entrant, "")))
                continue
            figure = replace(figure, turns=turns)
            library = next((each for each in libraries if each.device == device), None)
            beside = results.get(library) if library is not None else None
            if result.verdict == "wrong":
                self._contenders.drop(entrant)
            self._figures.append(self._timed(figure, result, beside, problem, device))
        self._judge(size)
        return tuple(results.values())

    @property
    def _stopped(self) -> bool:
        return self._engine.was_stopped(self._asked.job_id)

    def _policy(self, devices: Sequence[Device]) -> Policy:
        quiet = any(quiet_by_default(device) for device in devices)
        simulated = any(device.type == "simulator" for device in devices)
        return replace(fixed(1) if simulated else self._asked.policy, quiet=quiet)

    def _prepared(
        self, size: int, problem: Problem, device: Device
    ) -> tuple[DeviceFigure, Contender | None]:
        """A figure without its speed, and what is to run; without the latter it says why not."""
        figure = DeviceFigure(device.key, size)
        if device.type == "simulator" and size > SIMULATOR_SIZE:
            why = f"simulators are asked only up to {SIMULATOR_SIZE}"
            return replace(figure, why_not=why), None
        entrant, reason = self._contenders.find(device, problem)
        if entrant is None:
            return replace(figure, why_not=reason), None
        figure = self._described(figure, entrant, problem)
        foreseen = self._foreseen(device, size)
        if foreseen > _LONGEST_SECONDS:
            why = f"left out: a launch would take about {foreseen:.0f} s"
            return replace(figure, why_not=why), None
        return figure, entrant

    def _foreseen(self, device: Device, size: int) -> float:
        """Seconds of a launch, from the last size that ran; 0 where nothing is known."""
        for figure in reversed(self._figures):
            if figure.device == device.key and figure.seconds is not None:
                return figure.seconds * (size / figure.size) ** 3
        return 0.0

    def _described(
        self, figure: DeviceFigure, entrant: Contender, problem: Problem
    ) -> DeviceFigure:
        """A figure with its kernel and what that takes of a unit."""
        variant, parameters, device = entrant.variant, entrant.parameters, entrant.device
        figure = replace(
            figure, variant=variant.id, title=variant.title, parameters=parameters,
            flop=flop(variant, problem),
        )  # fmt: skip
        limits = limits_for(device)
        try:
            shape = geometry(variant, parameters, problem)
            found = self._engine.registers(
                self._job(entrant, 0, problem), device, self._asked.job_id
            )
            estimate = estimate_for(
                variant, parameters, problem, device, limits,
                registers=found.registers if found is not None else None,
            )  # fmt: skip
        except (ExprError, ValueError):
            return figure
        return replace(
            figure,
            group_size=shape.group_size,
            groups=shape.groups,
            local_bytes=shape.local_bytes,
            resident=estimate.groups_per_unit,
            occupancy=estimate.occupancy,
            binding=" and ".join(estimate.limiters),
        )

    def _library(self, entrant: Contender, problem: Problem) -> Contender | None:
        """The library of an entrant's device, if it has one and is no simulator."""
        device = entrant.device
        if device.type == "simulator" or entrant.variant.library:
            return None
        found, _ = library_on(device, limits_for(device), self._asked.variants, problem)
        return self._contenders.tuned(device, found, problem) if found is not None else None

    def _job(self, entrant: Contender, number: int, problem: Problem) -> Job:
        return Job(
            _FIRST_ID + number, entrant.device.key, entrant.variant, entrant.parameters, problem,
            self._policy([entrant.device]),
        )  # fmt: skip

    def _together(
        self, entrants: Sequence[Contender], problem: Problem
    ) -> tuple[dict[Contender, Result], dict[Contender, str]]:
        """All in turns; where that fails once more without those that fail by themselves too.

        What works alone may still have failed beside others, as on a machine that was too busy.

        Returns:
            The results, and the reasons of those that have none.
        """
        if not entrants:
            return {}, {}
        results, failure = self._in_turns(entrants, problem)
        if failure is None or self._stopped:
            return results, {}
        reasons: dict[Contender, str] = {}
        if len(entrants) > 1:
            for entrant in entrants:
                _, alone = self._in_turns([entrant], problem, fixed(1))
                if alone is not None:
                    reasons[entrant] = alone.sentence
        rest = [entrant for entrant in entrants if entrant not in reasons]
        if rest and len(entrants) > 1 and not self._stopped:
            results, failure = self._in_turns(rest, problem)
            if failure is None:
                return results, reasons
        return {}, {**dict.fromkeys(rest, failure.sentence), **reasons}

    def _in_turns(
        self, entrants: Sequence[Contender], problem: Problem, policy: Policy | None = None
    ) -> tuple[dict[Contender, Result], Failure | None]:
        """One measurement of all; a wrong answer is no failure of it."""
        jobs = [self._job(entrant, number, problem) for number, entrant in enumerate(entrants)]
        shared = policy or self._policy([entrant.device for entrant in entrants])
        jobs = [replace(job, policy=shared) for job in jobs]
        if len(jobs) == 1:
            job = replace(jobs[0], id=self._asked.job_id)
            *_, result = self._engine.run(job, entrants[0].device)
            assert isinstance(result, Result)
            failure = result.failure
            if failure is not None and failure.kind == "wrong":
                failure = None
            results: tuple[Result, ...] = (result,)
        else:
            devices = [entrant.device for entrant in entrants]
            *_, last = self._engine.compare(jobs, devices, self._asked.job_id)
            assert isinstance(last, Comparison)
            results, failure = last.results, last.failure
        context = results[0].context
        if self._busy is None and context is not None:
            self._busy = others_load(context.load, context.cores, 0)
        return dict(zip(entrants, results, strict=True)), failure

    def _timed(
        self,
        figure: DeviceFigure,
        result: Result,
        library: Result | None,
        problem: Problem,
        device: Device,
    ) -> DeviceFigure:
        """A figure with its speed and its shares."""
        times = seconds_per_launch(result)
        summary = summarize(times)
        if summary is None or not summary.median:
            return replace(figure, why_not="No launch of it had a usable time.")
        figure = replace(
            figure, seconds=summary.median, low=summary.low, high=summary.high,
            samples=summary.count,
        )  # fmt: skip
        if result.verdict == "wrong":
            why = result.failure.sentence if result.failure is not None else "Its answer is wrong."
            return replace(figure, wrong=True, why_not=why)
        work = result.job.variant, problem, summary.median
        least = dot(Names("", ""), work, device, self._tables[device.key]).least
        figure = replace(figure, ceiling=least.attainable, roof=least.roof)
        if device.type != "simulator":
            self._times.append(_Times(device.key, times, self._sources))
        if library is not None and library.verdict != "wrong":
            beside = seconds_per_launch(library)
            rounds = min(len(times), len(beside))
            margin = margin_of(result.job.policy)
            versus = compare_pairs(beside[:rounds], times[:rounds], margin)
            return replace(figure, library=versus, library_title=library.job.variant.title)
        if device.type != "simulator":
            limits = limits_for(device)
            _, note = library_on(device, limits, self._asked.variants, problem)
            figure = replace(figure, library_title=note)
        return figure

    def _judge(self, size: int) -> None:
        """Every two devices of a size whose speeds count; those of the last squads included."""
        margin = margin_of(self._asked.policy)
        places = {device.key: place for place, device in enumerate(self._asked.devices)}
        known = sorted(self._times, key=lambda each: places[each.device])
        duels = [duel for duel in self._duels if duel.size != size]
        for first, other in combinations(known, 2):
            in_turns = first.source == other.source
            rounds = min(len(first.seconds), len(other.seconds))
            versus = (
                compare_pairs(first.seconds[:rounds], other.seconds[:rounds], margin)
                if in_turns
                else compare_apart(first.seconds, other.seconds, margin)
            )
            if versus is not None:
                duels.append(DeviceDuel(size, first.device, other.device, versus, in_turns))
        self._duels = duels
