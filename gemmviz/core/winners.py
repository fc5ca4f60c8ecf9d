"""What won a sweep, as its cells tell it: the best set, the one to take, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gemmviz.core.finals import ODDS_OF_SLOWER, Standing, judge
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Device, Problem, Result
from gemmviz.core.paired import margin_of
from gemmviz.core.policy import Policy
from gemmviz.core.race import SCREENING, Screening
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, Winner
from gemmviz.core.sweep_cells import measured_cell, planned_cell

Race = tuple[int, Problem]
"""What is raced for: an index of the sweep's devices, and a problem."""


def race_of(configuration: Configuration) -> Race:
    """The race that a configuration takes part in."""
    return configuration.device, configuration.problem


def describe_configuration(configuration: Configuration) -> str:
    """A configuration as a person writes it: "work_1d TS=32 WPT=8"."""
    return " ".join((configuration.variant, describe_parameters(configuration.parameters))).strip()


def crowned(cell: SweepCell, standing: Standing) -> SweepCell:
    """A finalist's cell with its place."""
    name = cell.configuration
    ratio = standing.ratios.get(name)
    if name in standing.best:
        return replace(cell, best=True, ratio=ratio, odds=None)
    slower = f", {1 / ratio:.4g} times as long" if ratio else ""
    why = f"Slower than the best in the finals{slower}."
    return replace(cell, state="dropped", best=False, ratio=ratio, odds=ODDS_OF_SLOWER, why_not=why)


def winners_of(
    cells: Iterable[SweepCell], policy: Policy, devices: Sequence[Device]
) -> tuple[Winner, ...]:
    """The winner of each race that is decided, in the order of the cells.

    Args:
        cells: All cells, in the plan's order.
        policy: The sweep's, which says what counts as the same.
        devices: The sweep's.
    """
    races: dict[Race, list[SweepCell]] = {}
    for cell in cells:
        races.setdefault(race_of(cell.configuration), []).append(cell)
    found = []
    for (place, problem), members in races.items():
        best = [cell for cell in members if cell.best and cell.ratio is not None]
        if not best:
            continue
        # The recommended one's ratio is its time over itself.
        taken = min(best, key=lambda cell: abs(math.log(cell.ratio or 1.0)))
        best.sort(key=lambda cell: -(cell.ratio or 0.0))
        odds = [cell.odds for cell in members if cell.odds is not None]
        sure = math.prod(1 - each for each in odds)
        passed = sum(cell.passed_over for cell in members)
        winner = Winner(
            problem, place, tuple(cell.configuration for cell in best), taken.configuration, sure
        )
        where = device_label(devices[place])
        words = _words(winner, len(odds), passed, margin_of(policy), where)
        found.append(replace(winner, words=words))
    return tuple(found)


def _words(winner: Winner, others: int, passed: int, margin: float, where: str) -> str:
    problem = winner.problem
    at = f"{problem.m} x {problem.n} x {problem.k} {problem.element} on {where}"
    name = describe_configuration(winner.recommended)
    rest = ""
    if others:
        sure = min(99.9, math.floor(1000 * winner.confidence) / 10)
        which = "the other is not" if others == 1 else f"none of the {others} others is"
        rest = f" It is {sure:.3g} % sure that {which} more than {100 * margin:.3g} % faster."
    if passed:
        rest += f" {passed:,} were not tried."
    if len(winner.best_set) == 1:
        return f"{name} is the fastest at {at}.{rest}"
    return (
        f"Take {name} at {at}: {len(winner.best_set)} cannot be told apart from the fastest "
        f"within {100 * margin:.3g} %.{rest}"
    )


def cells_of(sweep: Sweep, results: Iterable[Result]) -> tuple[SweepCell, ...]:
    """The cells of a sweep that was measured before, from its saved results in their order.

    Results of other kernels, other sources of them, other devices and problems are left out. A
    race whose finals were saved is decided as it was; in another one nobody is dropped yet.
    """
    variants = {variant.id: variant for variant in sweep.variants}
    places = {device.key: place for place, device in enumerate(sweep.devices)}
    screened: dict[Configuration, Result] = {}
    finals: dict[Configuration, Result] = {}
    for result in results:
        job = result.job
        place = places.get(job.device)
        stopped = result.stopped and result.failure is None
        if place is None or job.problem not in sweep.problems or stopped:
            continue
        if variants.get(job.variant.id) != job.variant:
            continue
        name = Configuration(job.variant.id, job.parameters, job.problem, place)
        seen = sweep.strategy != "exhaustive" or name in screened
        (finals if job.policy.launches != SCREENING.launches and seen else screened)[name] = result
    cells: dict[Configuration, SweepCell] = {}
    for final, found in ((False, screened), (True, finals)):
        for name, result in found.items():
            device = sweep.devices[name.device]
            planned = planned_cell(name, variants[name.variant], device)
            cells[name] = measured_cell(planned, result, final=final)
    for race in {race_of(name) for name in finals}:
        times = {
            name: seconds_per_launch(result)
            for name, result in finals.items()
            if race_of(name) == race and cells[name].state == "measured"
        }
        standing = judge(times, margin_of(sweep.policy))
        if standing is not None:
            _decide(cells, race, standing, screened, margin_of(sweep.policy))
    return tuple(cells.values())


def _decide(
    cells: dict[Configuration, SweepCell],
    race: Race,
    standing: Standing,
    screened: Mapping[Configuration, Result],
    margin: float,
) -> None:
    """Puts into the cells of a race what its finals said."""
    members = [name for name in cells if race_of(name) == race]
    screening = Screening(len(members), margin)
    screening.remember(
        {
            name: seconds_per_launch(screened[name])
            for name in members
            if name in screened and cells[name].state == "measured"
        }
    )
    out = [name for name in members if cells[name].state == "measured" and not cells[name].final]
    screening.take_out(out)
    odds = screening.odds_of_dropped()
    for name in members:
        cell = cells[name]
        if cell.state == "measured" and cell.final:
            cells[name] = crowned(cell, standing)
        elif cell.state == "measured":
            why = "Dropped before the finals."
            cells[name] = replace(cell, state="dropped", odds=odds.get(name), why_not=why)
