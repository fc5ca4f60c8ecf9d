"""A race of two devices: the setup's job on both, followed sample by sample."""

from __future__ import annotations

import secrets
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.duels import Duel, Match, match_of
from gemmviz.app.runs import Run
from gemmviz.app.state import AppState
from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Outcome, RaceDevices, share_hardware
from gemmviz.core.feasibility import refusal
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.libraries import absence
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import Message
from gemmviz.core.model import Device, DeviceKey, Job
from gemmviz.core.policy import STOP_WORDS

_TURNS = "In turns, launch by launch: they share hardware"
_AT_ONCE = "At the same time: they are separate hardware"


class Race(QObject):
    """Starts a race, follows and stops it; ``changed`` follows every change but new samples.

    ``advanced`` says that samples have come. Both runs go into the book of results at their end.

    Attributes:
        runs: The first and the second device's; empty before the first race.
        match: How it ended in words; None before.
        note: What goes wrong, or "".
        in_turns: Whether the runs take turns, because their devices share hardware.
    """

    changed = Signal()
    advanced = Signal()

    def __init__(self, state: AppState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._asked: RaceDevices | None = None
        self._chosen: tuple[DeviceKey | None, DeviceKey | None] = (None, None)
        self.runs: tuple[Run, ...] = ()
        self.match: Match | None = None
        self.note = ""
        self.in_turns = False
        laboratory = state.laboratory
        laboratory.experiment_started.connect(self._on_experiment_started)
        laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        laboratory.experiment_ended.connect(self._on_experiment_ended)
        for signal in (state.devices_listed, state.devices_ticked, state.setup_changed):
            signal.connect(self.changed)

    @property
    def running(self) -> bool:
        """Whether a race waits or goes on."""
        return self._asked is not None

    @property
    def quiet(self) -> bool:
        """Whether drawing must not disturb it: then only the moment after a batch is free."""
        return self.running and any(run.job.policy.quiet for run in self.runs)

    @property
    def candidates(self) -> tuple[Device, ...]:
        """The devices that may race: no simulators, whose time says nothing."""
        return tuple(
            device
            for device in self._state.devices
            if device.unavailable is None and device.type != "simulator"
        )

    @property
    def devices(self) -> tuple[Device, ...]:
        """The two that race next: those that were chosen, else ticked ones, else the first two."""
        there = {device.key: device for device in self.candidates}
        usual = sorted(there, key=lambda key: key not in self._state.ticked)
        found: list[DeviceKey] = []
        for chosen in self._chosen:
            wanted = chosen if chosen in there and chosen not in found else None
            free = (key for key in usual if key not in (*found, *self._chosen))
            key = wanted or next(free, None)
            if key is not None:
                found.append(key)
        return tuple(there[key] for key in found)

    @property
    def refusal(self) -> str:
        """Why no race can be started now, or ""."""
        if self.running:
            return "A race is under way."
        if len(self.devices) < 2:
            return "A race takes two devices that are no simulators."
        setup = self._state.setup
        if setup.variant is None:
            return "Choose a kernel: none could be loaded."
        if missing := absence(setup.variant):
            return missing
        for device in self.devices:
            reason = refusal(
                setup.variant, setup.parameters, setup.problem(), device, limits_for(device)
            )
            if reason is not None:
                return f"{device_label(device)}: {reason}"
        return ""

    @property
    def how(self) -> str:
        """How the two share the time, in a few words; "" without two devices."""
        if self.running:
            return _TURNS if self.in_turns else _AT_ONCE
        if len(self.devices) < 2:
            return ""
        return _TURNS if share_hardware(*self.devices) else _AT_ONCE

    def choose(self, place: int, device: DeviceKey) -> None:
        """Let a device race at place 0 or 1; the other one moves where it was the same."""
        present = [each.key for each in self.devices]
        chosen: list[DeviceKey | None] = [*present, None, None][:2]
        if device == chosen[1 - place]:
            chosen[1 - place] = chosen[place]
        chosen[place] = device
        self._chosen = chosen[0], chosen[1]
        if not self.running:
            self.runs, self.match, self.note = (), None, ""  # they are of other devices
        self.changed.emit()

    def start(self) -> None:
        """Race both devices on what is set up."""
        if self.refusal:
            return
        first, other = self.devices
        self._chosen = first.key, other.key  # ticks do not put others beside what these two did
        setup, laboratory = self._state.setup, self._state.laboratory
        assert setup.variant is not None
        problem = setup.problem(setup.seed if setup.seed is not None else secrets.randbelow(2**31))
        quiet = any(setup.policy_on(device).quiet for device in (first, other))
        jobs = [
            Job(
                laboratory.next_id(), device.key, setup.variant, setup.parameters, problem,
                replace(setup.policy, quiet=quiet), build_options=setup.build_options,
                launch_limit_seconds=setup.launch_limit_seconds,
            )
            for device in (first, other)
        ]  # fmt: skip
        self.runs = tuple(
            Run(job, device) for job, device in zip(jobs, (first, other), strict=True)
        )
        self.match, self.note = None, ""
        self.in_turns = share_hardware(first, other)
        self._asked = RaceDevices(laboratory.next_id(), (jobs[0], jobs[1]), (first, other))
        laboratory.start(self._asked)
        self.changed.emit()

    @Slot()
    def stop(self) -> None:
        """End the race; what was timed stays."""
        if self._asked is not None:
            self._state.laboratory.stop(self._asked.job_id)

    @Slot(int)
    def _on_experiment_started(self, job_id: int) -> None:
        if self._asked is not None and job_id == self._asked.job_id:
            for run in self.runs:
                run.begin()
            self.changed.emit()

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, messages: tuple[Message, ...]) -> None:
        if self._asked is None or job_id != self._asked.job_id:
            return
        runs = {run.job.id: run for run in self.runs}
        for message in messages:
            run = runs.get(message.job_id)
            if run is not None:
                run.take(message)
        self.advanced.emit()

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        if self._asked is None or outcome.job_id != self._asked.job_id:
            return
        self._asked = None
        self.note = outcome.failure.sentence if outcome.failure is not None else ""
        comparison = outcome.answer
        if isinstance(comparison, Comparison):
            self._end(comparison)
        elif not self.note:
            self.note = STOP_WORDS["stopped"]
        self.advanced.emit()
        self.changed.emit()

    def _end(self, comparison: Comparison) -> None:
        runs = {run.job.id: run for run in self.runs}
        for result in comparison.results:
            run = runs.get(result.job.id)
            if run is not None:
                run.take(result)
                if run.summary is not None:
                    self._state.book.add(run)
        if comparison.failure is not None:
            self.note = comparison.failure.sentence
        self.match = _by_device(match_of(comparison), comparison)


def _by_device(match: Match, comparison: Comparison) -> Match:
    """The words of a race, in which only the devices need names: both run the same kernel."""
    names = [device_label(result.device) for result in comparison.results]
    duels = zip(match.duels, names[1:], strict=False)
    job = comparison.results[0].job
    kernel = f"{job.variant.title} {describe_parameters(job.parameters)}".strip()
    return replace(
        match, first=names[0] if names else match.first, problem=f"{kernel}  ·  {match.problem}",
        duels=tuple(replace(duel, name=name, verdict=_ended(duel)) for duel, name in duels),
    )  # fmt: skip


def _ended(duel: Duel) -> str:
    """How the race ended, and what to do about one without an end."""
    if duel.counts and duel.versus is not None and duel.versus.word == "undecided":
        return f"{duel.verdict}: measure longer"
    return duel.verdict
