"""The cells of a sweep while it runs: what is known of each, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace

import numpy as np

from gemmviz.core.choice import quiet_by_default
from gemmviz.core.experiments import RunSweep
from gemmviz.core.expr import ExprError
from gemmviz.core.finals import Standing
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import CellMeasured, Message, Progressed, SweepAdvanced
from gemmviz.core.model import Device, Failure, Job, Result
from gemmviz.core.policy import Policy
from gemmviz.core.race import SCREENING, Dropped
from gemmviz.core.stats import Floats
from gemmviz.core.sweep import Configuration, SweepReport
from gemmviz.core.sweep_cells import measured_cell, planned_cell
from gemmviz.core.sweep_plan import SweepPlan, expected
from gemmviz.core.winners import Race, crowned, placings_of, race_of, winners_of
from gemmviz.engine.compiler import VERBOSE
from gemmviz.engine.kept_builds import KeptBuild, kept_build

_FIRST_ID = 10**9
_ADVANCE_SECONDS = 0.5


class Board:
    """Every configuration's cell, job and build."""

    def __init__(self, experiment: RunSweep, planned: SweepPlan) -> None:
        self._asked, self._sweep = experiment, experiment.sweep
        self._refused = len(planned.refused)
        self._begun, self._told = time.monotonic(), 0.0
        self._variants = {variant.id: variant for variant in self._sweep.variants}
        self._numbers = {name: _FIRST_ID + n for n, name in enumerate(planned.configurations)}
        self._builds: dict[Configuration, KeptBuild] = {}
        done = {cell.configuration: cell for cell in experiment.done}
        self.cells = {
            name: done.get(name)
            or planned_cell(name, self._variants[name.variant], self.device(name))
            for name in planned.configurations
        }
        self.races: dict[Race, list[Configuration]] = {}
        for name in planned.configurations:
            self.races.setdefault(race_of(name), []).append(name)
        self._expected = expected(self._sweep, planned.configurations)

    def device(self, name: Configuration) -> Device:
        """Where a configuration is measured."""
        return self._sweep.devices[name.device]

    def number(self, name: Configuration) -> int:
        """The id of a configuration's jobs."""
        return self._numbers[name]

    def in_order(self, names: Iterable[Configuration]) -> tuple[Configuration, ...]:
        """The same in the plan's order."""
        return tuple(sorted(names, key=self._numbers.__getitem__))

    def job(self, name: Configuration, policy: Policy) -> Job:
        """The job that measures a configuration."""
        device, variant = self.device(name), self._variants[name.variant]
        options = ""
        if device.compute_capability is not None and not (variant.library or variant.build):
            options = VERBOSE  # so that no second build is needed for its report
        policy = replace(policy, quiet=quiet_by_default(device), cache=self._sweep.policy.cache)
        return Job(
            self.number(name), device.key, variant, name.parameters, name.problem, policy,
            build_options=options,
        )  # fmt: skip

    def is_built(self, name: Configuration) -> bool:
        """Whether a driver has it in its cache, as far as is known, or needs not build it."""
        if self._variants[name.variant].library or name in self._builds:
            return True
        kept = kept_build(self.job(name, SCREENING), self.device(name))
        if kept is not None:
            self.note_build(name, kept)
        return kept is not None

    def note_build(self, name: Configuration, build: KeptBuild) -> None:
        """Notes what the compiler said."""
        self._builds[name] = build
        cell, registers = self.cells[name], build.registers.registers
        if registers is not None and cell.state == "planned":
            variant = self._variants[name.variant]
            self.cells[name] = planned_cell(name, variant, self.device(name), registers)

    def refusal(self, name: Configuration) -> str:
        """Why a built configuration cannot launch by its registers, as a sentence, or ""."""
        build = self._builds.get(name)
        if build is None or build.registers.registers is None:
            return ""
        device, variant = self.device(name), self._variants[name.variant]
        try:
            return estimate_for(
                variant, name.parameters, name.problem, device, limits_for(device),
                registers=build.registers.registers,
            ).refusal  # fmt: skip
        except (ExprError, ValueError):
            return ""

    def unable(self, name: Configuration, failure: Failure) -> CellMeasured:
        """Notes that a configuration cannot be measured; what is told of it."""
        job = self.job(name, SCREENING)
        result = Result(job, self.device(name), failure=failure, finished_at=time.time())
        return self.settle(name, result, final=False)

    def settle(self, name: Configuration, result: Result, *, final: bool) -> CellMeasured:
        """Notes what came of a run; what is told of it."""
        before = self.cells[name]
        planned = replace(before, state="planned", why_not="", best=False, ratio=None, odds=None)
        cell = self.cells[name] = measured_cell(planned, result, final=final)
        build = self._builds.get(name)
        if build is not None and not result.build_log:
            result = replace(result, build_log=build.log)
        return CellMeasured(self._asked.job_id, cell, result)

    def drop(self, dropped: Iterable[Dropped]) -> None:
        """Notes who is out of a race before its finals."""
        for each in dropped:
            cell = self.cells[each.configuration]
            if not cell.final:
                self.cells[each.configuration] = replace(cell, state="dropped", why_not=each.why)

    def note_odds(self, odds: Mapping[Configuration, float]) -> None:
        """Notes how likely those that were dropped are the faster ones."""
        for name, value in odds.items():
            self.cells[name] = replace(self.cells[name], odds=value)

    def crown(self, name: Configuration, result: Result, standing: Standing | None) -> CellMeasured:
        """Notes the figures and the place of a finalist; what is told of it."""
        told = self.settle(name, result, final=True)
        if standing is None or told.cell.state != "measured":
            return told
        cell = crowned(told.cell, standing)
        if self._sweep.strategy == "exhaustive":
            cell = replace(cell, state="measured", why_not="")
        self.cells[name] = cell
        return replace(told, cell=cell)

    def crown_all(
        self, results: Mapping[Configuration, Result], standing: Standing | None
    ) -> tuple[CellMeasured, ...]:
        """Notes the places of all finalists of a race; what is told of them, with what won."""
        told = [self.crown(name, result, standing) for name, result in results.items()]
        won = [each for each in self.report().winners if each.recommended in results]
        placings = placings_of(self.cells.values(), won[0], time.time()) if won else {}
        return tuple(
            replace(
                each, result=replace(each.result, placing=placings.get(each.cell.configuration))
            )
            for each in told
        )  # fmt: skip

    def remembered(self, names: Iterable[Configuration]) -> dict[Configuration, Floats]:
        """What is known of the times of those that were measured another day."""
        return {
            name: np.array([cell.low, cell.seconds, cell.high])
            for name in names
            if (cell := self.cells[name]).state == "measured" and cell.seconds is not None
        }

    def report(self) -> SweepReport:
        """All so far."""
        cells = tuple(self.cells.values())
        sweep = self._sweep
        winners = winners_of(cells, sweep.policy, sweep.devices, sweep.variants)
        return SweepReport(cells, winners, self._refused, time.monotonic() - self._begun)

    def advanced(self, text: str, *, at_once: bool = False) -> Generator[Message, None, None]:
        """How far the sweep has come, unless that was told just before."""
        now = time.monotonic()
        if now - self._told < _ADVANCE_SECONDS and not at_once:
            return
        self._told = now
        known = sum(cell.tried for cell in self.cells.values())
        share = known / self._expected
        yield Progressed(self._asked.job_id, share, f"{known} of {self._expected}: {text}")
        yield SweepAdvanced(self._asked.job_id, self.report())
