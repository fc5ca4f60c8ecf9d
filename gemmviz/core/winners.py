"""What won a sweep, as its cells tell it: the best set, the one to take, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gemmviz.core.finals import ODDS_OF_SLOWER, Standing, judge
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Device, Problem, Result, Variant
from gemmviz.core.paired import margin_of
from gemmviz.core.placing import Placing, Unplaced
from gemmviz.core.policy import Policy
from gemmviz.core.race import SCREENING, Screening
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, Winner
from gemmviz.core.sweep_cells import measured_cell, planned_cell

Race = tuple[int, Problem]
"""What is raced for: an index of the sweep's devices, and a problem."""

BEST_WORDS = "cannot be told apart from the best"
"""What is said of one that is in the best set but is not recommended."""
_BEFORE = "Dropped before the finals."


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
    return replace(
        cell, state="dropped", best=False, ratio=ratio, odds=ODDS_OF_SLOWER,
        why_not=_slower_words(ratio),
    )  # fmt: skip


def placings_of(
    cells: Iterable[SweepCell], winner: Winner, decided_at: float
) -> dict[Configuration, Placing]:
    """What is kept with the results of those that were in a race's finals.

    Args:
        cells: All cells.
        winner: Of the race.
        decided_at: Seconds since the Unix epoch.
    """
    race = winner.device, winner.problem
    members = [cell for cell in cells if race_of(cell.configuration) == race]
    before = tuple(
        Unplaced(cell.configuration.variant, cell.configuration.parameters, cell.odds, cell.why_not)
        for cell in members
        if cell.ratio is None and cell.state in ("measured", "dropped") and not cell.passed_over
    )
    return {
        cell.configuration: Placing(
            decided_at, winner.words, cell.best, cell.ratio, cell.odds,
            before if cell.configuration == winner.recommended else (),
        )
        for cell in members
        if cell.ratio
    }  # fmt: skip


def placing_words(placing: Placing) -> tuple[str, ...]:
    """What the finals of a sweep said: of all, and of this one where it is not the one to take."""
    if placing.ratio == 1 and placing.best:
        return (placing.words,)
    own = f"It {BEST_WORDS}." if placing.best else _slower_words(placing.ratio)
    return placing.words, own


def _slower_words(ratio: float | None) -> str:
    slower = f", {1 / ratio:.4g} times as long" if ratio else ""
    return f"Slower than the best in the finals{slower}."


def winners_of(
    cells: Iterable[SweepCell],
    policy: Policy,
    devices: Sequence[Device],
    variants: Iterable[Variant] = (),
) -> tuple[Winner, ...]:
    """The winner of each race that is decided, in the order of the cells.

    Args:
        cells: All cells, in the plan's order.
        policy: The sweep's, which says what counts as the same.
        devices: The sweep's.
        variants: The sweep's, by whose titles the words name them; else by their ids.
    """
    titles = {variant.id: variant.title for variant in variants}
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
        words = _words(
            winner, titles, others=len(odds), passed=passed, margin=margin_of(policy),
            where=device_label(devices[place]),
        )  # fmt: skip
        found.append(replace(winner, words=words))
    return tuple(found)


def _words(
    winner: Winner,
    titles: Mapping[str, str],
    *,
    others: int,
    passed: int,
    margin: float,
    where: str,
) -> str:
    problem = winner.problem
    at = f"{problem.m} x {problem.n} x {problem.k} {problem.element} on {where}"
    taken = winner.recommended
    title = titles.get(taken.variant, taken.variant)
    name = f"{title} {describe_parameters(taken.parameters)}".strip()
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
        f"Take {name} at {at}: {len(winner.best_set)} {BEST_WORDS} "
        f"within {100 * margin:.3g} %.{rest}"
    )


def cells_of(sweep: Sweep, results: Iterable[Result]) -> tuple[SweepCell, ...]:
    """The cells of a sweep that was measured before, from its saved results in their order.

    Results of other kernels, other sources of them, other devices and problems are left out. A
    race whose finals were saved is decided as it was, word for word; where only the samples of
    finals are there, as in files of old, by these. In another race nobody is dropped yet.
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
        final = _is_final(sweep, result, again=name in screened, before=finals.get(name))
        (finals if final else screened)[name] = result
    finals = _latest(finals)
    cells: dict[Configuration, SweepCell] = {}
    for final, found in ((False, screened), (True, finals)):
        for name, result in found.items():
            device = sweep.devices[name.device]
            planned = planned_cell(name, variants[name.variant], device)
            cells[name] = measured_cell(planned, result, final=final)
    for race in {race_of(name) for name in finals}:
        own = {
            name: result
            for name, result in finals.items()
            if race_of(name) == race and cells[name].state == "measured"
        }
        if any(map(_is_taken, own.values())):
            _place(sweep, cells, race, own)
            continue
        times = {name: seconds_per_launch(result) for name, result in own.items()}
        longest = max(map(len, times.values()), default=0)
        left = [name for name, values in times.items() if len(values) < longest]
        standing = judge(times, margin_of(sweep.policy), left)
        if standing is not None:
            _decide(cells, race, standing, screened, margin_of(sweep.policy))
    return tuple(cells.values())


def _is_final(sweep: Sweep, result: Result, *, again: bool, before: Result | None) -> bool:
    """Whether a result is of a sweep's finals; in files of old their policy tells, or the order."""
    if result.placing is not None:
        return True
    if sweep.strategy == "exhaustive":
        return again and (before is None or before.placing is None)
    return result.job.policy.launches != SCREENING.launches


def _latest(finals: Mapping[Configuration, Result]) -> dict[Configuration, Result]:
    """Those of the last finals of each race, where it was decided more than once."""
    last: dict[Race, float] = {}
    for name, result in finals.items():
        if result.placing is not None:
            race = race_of(name)
            last[race] = max(last.get(race, 0.0), result.placing.decided_at)
    return {
        name: result
        for name, result in finals.items()
        if race_of(name) not in last
        or (result.placing is not None and result.placing.decided_at == last[race_of(name)])
        or result.failure is not None
    }


def _is_taken(result: Result) -> bool:
    """Whether the finals recommended this one."""
    placing = result.placing
    return placing is not None and placing.best and placing.ratio == 1


def _place(
    sweep: Sweep,
    cells: dict[Configuration, SweepCell],
    race: Race,
    finals: Mapping[Configuration, Result],
) -> None:
    """Puts into the cells of a race what its finals said when they were held."""
    place, problem = race
    out = {
        Configuration(each.variant, each.parameters, problem, place): each
        for result in finals.values()
        if result.placing is not None
        for each in result.placing.unplaced
    }
    every = sweep.strategy == "exhaustive"  # where nobody is dropped
    for name in [name for name in cells if race_of(name) == race]:
        cell, result = cells[name], finals.get(name)
        placing = result.placing if result is not None else None
        if placing is not None:
            stays = placing.best or every
            cells[name] = replace(
                cell, state="measured" if stays else "dropped", best=placing.best,
                ratio=placing.ratio, odds=placing.odds,
                why_not="" if stays else _slower_words(placing.ratio),
            )  # fmt: skip
        elif cell.state == "measured":
            before = out.get(name)
            why = before.why if before is not None else _BEFORE
            cells[name] = replace(
                cell, state="measured" if every else "dropped", final=every,
                odds=before.odds if before is not None else None, why_not="" if every else why,
            )  # fmt: skip


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
            cells[name] = replace(cell, state="dropped", odds=odds.get(name), why_not=_BEFORE)
