"""How far a sweep has come: what is left of one that was measured before, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gemmviz.core.launch import flop
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_count import about
from gemmviz.core.sweep_plan import LAUNCHES, expected, foreseen_finals, usual_pace
from gemmviz.core.units import elapsed
from gemmviz.core.winners import Race, race_of

_FEWEST = 3  # configurations before anything is foretold


def is_done(cells: Iterable[SweepCell], tries: int) -> bool:
    """Whether nothing is left of a sweep: all that was to be tried is, and every race decided.

    Args:
        cells: What is known of it; configurations that are not among them were never tried.
        tries: How many configurations are tried in all.
    """
    races = _by_race(cells)
    known = sum(cell.tried for members in races.values() for cell in members)
    return known >= tries > 0 and all(map(_is_decided, races.values()))


class SweepProgress:
    """Follows the reports of a sweep that goes on, and foretells how long it still takes.

    A configuration costs its launches and, however fast these are, as much besides as one cost so
    far: the building of it above all. Launches of a shape that was not measured yet take as long
    for each FLOP as others on that device. The finals of a race take as long as those before them.
    """

    def __init__(
        self, sweep: Sweep, known: Iterable[SweepCell] = (), spent_seconds: float = 0.0
    ) -> None:
        """Begins to follow.

        Args:
            sweep: What is measured.
            known: Cells that are not measured again.
            spent_seconds: What the sweep took before it was paused.
        """
        self._sweep, self._spent = sweep, spent_seconds
        self._variants = {variant.id: variant for variant in sweep.variants}
        self._known = {cell.configuration for cell in known if cell.tried}
        self._now = 0.0
        self._races: dict[Race, list[SweepCell]] = {}
        self._screened: dict[Race, float] = {}  # when the last of a race had been tried
        self._finals: dict[Race, float] = {}  # how many seconds came after that
        self._ended = 0.0  # when the last race that is decided was

    @property
    def elapsed_seconds(self) -> float:
        """How long the sweep has gone on, without the pauses."""
        return self._spent + self._now

    def take(self, report: SweepReport) -> None:
        """Takes a report, which must be later than the one before."""
        first = not self._races
        self._now, self._races = report.seconds, _by_race(report.cells)
        for race, members in self._races.items():
            if race in self._finals or any(cell.state == "planned" for cell in members):
                continue
            begun = max(self._screened.setdefault(race, self._now), self._ended)
            if not _is_decided(members):
                continue
            if first:  # it was decided another day, and tells nothing of how long that takes
                begun = math.nan
            else:
                self._ended = self._now
            self._finals[race] = self._now - begun

    @property
    def left_seconds(self) -> float | None:
        """How long it still takes; None before enough is known, and when it should be over."""
        cells = [cell for members in self._races.values() for cell in members]
        fresh = [c for c in cells if c.tried and c.configuration not in self._known]
        rest = {race: self._untried(members) for race, members in self._races.items()}
        untried = sum(rest.values())
        if len(fresh) < _FEWEST and untried:
            return None
        finals = [seconds for seconds in self._finals.values() if not math.isnan(seconds)]
        racing = self._racing_seconds()
        launched = LAUNCHES * math.fsum(cell.seconds or 0.0 for cell in fresh)
        screening = max(0.0, self._now - math.fsum(finals) - racing)
        besides = max(0.0, screening - launched) / max(1, len(fresh))
        share = min(1.0, screening / launched) if launched > 0 else 1.0
        usual = math.fsum(finals) / len(finals) if finals else foreseen_finals(self._sweep.policy)
        still_open = [race for race in self._races if race not in self._finals]
        one_each = (count * self._launch_seconds(race) for race, count in rest.items() if count)
        left = untried * besides + share * LAUNCHES * math.fsum(one_each)
        left += max(0.0, usual * len(still_open) - racing)
        return left if left > 0 else None

    @property
    def words(self) -> str:
        """Both times in a few words, once there is a report: "12.0 s so far, about 40 s left"."""
        if not self._races:
            return ""
        left = self.left_seconds
        rest = f", {about(left)} left" if left is not None else ""
        return f"{elapsed(self.elapsed_seconds)} so far{rest}"

    def _racing_seconds(self) -> float:
        """How long the finals that go on have gone on."""
        begun = [when for race, when in self._screened.items() if race not in self._finals]
        return self._now - max(min(begun), self._ended) if begun else 0.0

    def _untried(self, members: Sequence[SweepCell]) -> int:
        """How many of a race are still to be tried."""
        planned = sum(cell.state == "planned" for cell in members)
        most = expected(self._sweep, (cell.configuration for cell in members))
        return min(planned, max(0, most - sum(cell.tried for cell in members)))

    def _launch_seconds(self, race: Race) -> float:
        """How long a launch of those of a race takes that are still to be tried, on average."""
        place = race[0]
        known = [
            cell
            for (where, _), members in self._races.items()
            if where == place
            for cell in members
            if cell.seconds
        ]
        if known:
            work = math.fsum(self._flop(cell.configuration) for cell in known)
            pace = math.fsum(cell.seconds or 0.0 for cell in known) / work
        else:
            pace = usual_pace(self._sweep.devices[place])
        planned = [cell for cell in self._races[race] if cell.state == "planned"]
        works = [self._flop(cell.configuration) for cell in planned]
        return pace * math.fsum(works) / len(works)

    def _flop(self, name: Configuration) -> int:
        return flop(self._variants[name.variant], name.problem)


def _by_race(cells: Iterable[SweepCell]) -> dict[Race, list[SweepCell]]:
    races: dict[Race, list[SweepCell]] = {}
    for cell in cells:
        races.setdefault(race_of(cell.configuration), []).append(cell)
    return races


def _is_decided(members: Iterable[SweepCell]) -> bool:
    """Whether a race has its best, or nobody who could be."""
    members = tuple(members)
    return any(cell.best for cell in members) or not any(
        cell.state in ("planned", "measured") for cell in members
    )
