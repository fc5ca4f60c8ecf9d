"""Makes sweeps: builds ahead, screens every configuration, and lets the fastest race in turns."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from gemmviz.core.experiments import RunSweep
from gemmviz.core.finals import Finals
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.messages import CellMeasured, Message, TakeTurns
from gemmviz.core.model import Device, Failure
from gemmviz.core.paired import margin_of
from gemmviz.core.race import SAMPLES, SCREENING, Dropped, Screening
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.search import ModelSearch, tries
from gemmviz.core.stats import Floats
from gemmviz.core.sweep import NOT_TRIED, Configuration, SweepReport
from gemmviz.core.sweep_plan import SweepError, plan
from gemmviz.core.winners import Race
from gemmviz.engine.builders import Builders, builds_ahead, count_builders
from gemmviz.engine.failed import ExperimentFailed
from gemmviz.engine.sweep_board import Board
from gemmviz.engine.sweep_turns import Asker, Heard, TurnsFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_HEAT = 12
_BUILDS_OF_BUILDER = 4  # between two heats on a CPU
_LEAST_GENERATION, _GENERATIONS = 6, 8  # of a search: how many at a time, and how often
_MOST_FINALISTS = 12
_SCREENINGS = (SAMPLES, 2 * SAMPLES, 4 * SAMPLES)  # samples of each while too many are left
_WAIT_SECONDS = 0.05


def run_sweep(experiment: RunSweep, engine: Engine) -> Generator[Message, None, SweepReport]:
    """Measures every configuration that can run; each is told as soon as it is known.

    Returns:
        All cells and the winners; of a sweep that was stopped as far as it came.

    Raises:
        ExperimentFailed: There is nothing that can run, or a device cannot be used at all.
    """
    try:
        planned = plan(experiment.sweep)
    except SweepError as error:
        raise ExperimentFailed(Failure("refused", str(error))) from error
    if not planned.configurations:
        why = f" {planned.reasons[0][0]}" if planned.reasons else ""
        sentence = f"No configuration of the sweep can run.{why}"
        raise ExperimentFailed(Failure("refused", sentence))
    board = Board(experiment, planned)
    yield from board.advanced("Preparing", at_once=True)
    for race in board.races:
        try:
            yield from _Racing(experiment, engine, board, race).run()
        except TurnsFailed as failed:
            raise ExperimentFailed(failed.failure, board.report()) from failed
        if engine.was_stopped(experiment.job_id):
            break
    yield from board.advanced("Done", at_once=True)
    return board.report()


class _Racing:
    """One race: all configurations of one problem on one device."""

    def __init__(self, experiment: RunSweep, engine: Engine, board: Board, race: Race) -> None:
        self._id, self._sweep = experiment.job_id, experiment.sweep
        self._engine, self._board = engine, board
        self._device: Device = self._sweep.devices[race[0]]
        self._names = board.races[race]
        self._where = f"{problem_label(race[1])} on {device_label(self._device)}"
        self._asker = Asker(engine, self._id, self._device)
        self._screening = Screening(len(self._names), margin_of(self._sweep.policy))
        self._cores = os.cpu_count() or 1
        self._open_ones: set[Configuration] = set()

    @property
    def _stopped(self) -> bool:
        return self._engine.was_stopped(self._id)

    def run(self) -> Generator[Message, None, None]:
        """Screens all that are new, narrows them down, and lets the last race.

        Raises:
            TurnsFailed: No child can use the device.
        """
        board, screening = self._board, self._screening
        fresh = [name for name in self._names if board.cells[name].state == "planned"]
        if any(board.cells[name].best for name in self._names):  # it was decided before
            if self._sweep.strategy == "model":
                self._pass_over(fresh)
                fresh = []
            if not fresh:
                return
        screening.remember(board.remembered(self._names))
        builders = Builders(self._engine, self._device, count_builders(self._device, self._cores))
        try:
            for chosen in self._chosen(fresh):
                yield from self._first_heats(chosen, builders)
                if self._stopped:
                    return
        finally:
            builders.close()
        board.drop(screening.drop())
        for samples in _SCREENINGS:
            if self._stopped or len(screening.inside) <= _MOST_FINALISTS:
                break
            inside = board.in_order(screening.inside)
            for start in range(0, len(inside), _HEAT):
                yield from self._heat(inside[start : start + _HEAT], samples, again=True)
        if self._stopped or screening.leader is None:
            return
        board.drop(screening.drop_beyond(_MOST_FINALISTS))
        yield from self._finals(board.in_order(screening.inside))
        if not self._stopped:
            yield from self._asker.ask((), 0)  # the child gives back what it kept ready

    def _chosen(self, fresh: Sequence[Configuration]) -> Iterator[tuple[Configuration, ...]]:
        """What to measure next: all that is new, or of large spaces what a model proposes.

        It goes on when all that was chosen is measured.
        """
        if self._sweep.strategy != "model":
            yield tuple(fresh)
            return
        builds = _BUILDS_OF_BUILDER * count_builders(self._device, self._cores)
        for kernel in dict.fromkeys(name.variant for name in self._names):
            space = [name for name in self._names if name.variant == kernel]
            most = tries(len(space), self._sweep.budget)
            if most == len(space):
                yield tuple(name for name in fresh if name.variant == kernel)
                continue
            generation = max(_LEAST_GENERATION, min(builds, most // _GENERATIONS))
            search = ModelSearch(space, generation, space[0].problem.seed)
            known = [name for name in space if self._board.cells[name].tried]
            left = most - len(known)
            for name in known:
                search.tell(name, self._seconds(name))
            while left > 0 and (names := search.ask()[:left]):
                yield names
                for name in names:
                    search.tell(name, self._seconds(name))
                left -= len(names)
        self._pass_over(fresh)

    def _seconds(self, name: Configuration) -> float | None:
        """A launch of what was measured; None where it failed or is wrong."""
        cell = self._board.cells[name]
        return cell.seconds if cell.state in ("measured", "dropped") else None

    def _pass_over(self, fresh: Sequence[Configuration]) -> None:
        """Drops what the search has not tried."""
        cells = self._board.cells
        self._board.drop(
            Dropped(name, NOT_TRIED) for name in fresh if cells[name].state == "planned"
        )

    def _first_heats(
        self, fresh: Sequence[Configuration], builders: Builders
    ) -> Generator[Message, None, None]:
        """Builds and measures some for the first time."""
        for ready in self._built(fresh, builders):
            if isinstance(ready, Message):
                yield ready
                continue
            for start in range(0, len(ready), _HEAT):
                yield from self._heat(ready[start : start + _HEAT], SAMPLES)
                if self._stopped:
                    return

    def _built(
        self, fresh: Sequence[Configuration], builders: Builders
    ) -> Iterator[tuple[Configuration, ...] | Message]:
        """Configurations, several at a time, as they are built; and what is told meanwhile.

        On a CPU nothing is built while the ones that were given are measured.
        """
        if not builds_ahead(self._device):
            yield tuple(fresh)
            return
        apart = self._device.type == "CPU"
        batch = _BUILDS_OF_BUILDER * count_builders(self._device, self._cores)
        step = max(_HEAT, batch) if apart else max(1, len(fresh))
        for start in range(0, len(fresh), step):
            names = {self._board.number(name): name for name in fresh[start : start + step]}
            ready = [name for name in names.values() if self._board.is_built(name)]
            missing = [name for name in names.values() if name not in ready]
            # The longest first, so that all builders are done at about the same time.
            missing.sort(key=_work_of_compiler, reverse=True)
            builders.order(self._board.job(name, SCREENING) for name in missing)
            while ready or builders.outstanding:
                if self._stopped:
                    return
                if ready and (not builders.outstanding or (not apart and len(ready) >= _HEAT)):
                    yield from self._launchable(self._board.in_order(ready))
                    ready = []
                    continue
                yield from self._board.advanced(f"building for {self._where}")
                for done in builders.take(_WAIT_SECONDS):
                    name = names[done.job.id]
                    if done.failure is None:
                        self._board.note_build(name, done.build)
                        ready.append(name)
                    else:
                        yield self._board.unable(name, done.failure)
                if apart and builders.outstanding:
                    self._open(ready)

    def _open(self, names: Sequence[Configuration]) -> None:
        """Lets the measuring child take built ones from the driver's cache, and launch none."""
        fresh = [name for name in names if name not in self._open_ones]
        self._open_ones.update(fresh)
        jobs = tuple(self._board.job(name, SCREENING) for name in fresh)
        if jobs:
            request = TakeTurns(self._id, jobs, 0)
            for _ in self._engine.ask(request, self._id, [self._device.key]):
                pass  # what fails will say so when it is measured

    def _launchable(
        self, names: Sequence[Configuration]
    ) -> Iterator[tuple[Configuration, ...] | Message]:
        """Those of some built ones that can launch, and what is told of the others."""
        reasons = {name: self._board.refusal(name) for name in names}
        for name, reason in reasons.items():
            if reason:
                yield self._board.unable(name, Failure("refused", reason))
        yield tuple(name for name, reason in reasons.items() if not reason)

    def _heat(
        self, names: Sequence[Configuration], samples: int, *, again: bool = False
    ) -> Generator[Message, None, None]:
        """Measures some in turns with the leader, and drops who is out."""
        board, screening = self._board, self._screening
        by_policy = self._sweep.strategy == "exhaustive" and not again
        leader = screening.leader
        beside = (leader,) if leader is not None and leader not in names else ()
        everyone = (*beside, *names)
        policy = self._sweep.policy if by_policy else SCREENING
        jobs = [board.job(name, policy) for name in everyone]
        text = f"measuring {self._where}"
        heard = yield from self._asker.ask(
            jobs,
            None if by_policy else samples,
            idle=lambda: board.advanced(text),
            screening=not (by_policy or again),
        )
        told: list[CellMeasured] = []
        times: dict[Configuration, Floats] = {}
        broken: list[Configuration] = []
        for name in everyone:
            its = heard[board.number(name)]
            result = its.result
            if not its.ended or result.stopped:
                continue
            if name in names and not again:
                told.append(board.settle(name, result, final=by_policy))
            elif result.failure is not None:
                broken.append(name)
                board.settle(name, result, final=False)
            if result.failure is None:
                times[name] = seconds_per_launch(result)
        screening.forget(broken)
        screening.add_heat(times)
        board.drop(screening.drop())
        for message in told:
            yield CellMeasured(self._id, board.cells[message.cell.configuration], message.result)
        yield from board.advanced(text)

    def _finals(self, finalists: Sequence[Configuration]) -> Generator[Message, None, None]:
        """Launches the finalists in turns until the policy is content."""
        board, policy = self._board, self._sweep.policy
        finals = Finals(tuple(finalists), policy)
        on_host = self._device.type == "CPU"
        heard: dict[int, Heard] = {}
        elapsed = 0.0
        text = f"finals at {self._where}"
        while not finals.over(elapsed):
            begun = time.monotonic()
            jobs = [board.job(name, policy) for name in finals.racing]
            last = yield from self._asker.ask(
                jobs, finals.rounds_to_come(), heard, lambda: board.advanced(text)
            )
            elapsed += time.monotonic() - begun
            heard |= last
            if self._stopped:
                return
            finals.leave(
                tuple(
                    name
                    for name in finals.racing
                    if heard[board.number(name)].result.failure is not None
                )
            )
            told = {name: last[board.number(name)] for name in finals.racing}
            # Only on a processor of the host does the child itself do the work.
            work = {name: its.work_seconds for name, its in told.items()} if on_host else None
            finals.add({name: its.samples for name, its in told.items()}, work)
            finals.drop()
        standing = finals.standing()
        board.note_odds(self._screening.odds_of_dropped())
        results = {name: heard[board.number(name)].result for name in finalists}
        yield from board.crown_all(results, standing)
        yield from board.advanced(text, at_once=True)


def _work_of_compiler(name: Configuration) -> int:
    """What grows with the time to build a configuration: larger tiles are unrolled further."""
    return math.prod(max(1, value) for _, value in name.parameters)
