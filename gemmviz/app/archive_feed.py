"""Follows what is measured and makes of it what is to be written into the results file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from PySide6.QtCore import QObject, Slot

from gemmviz.app.archive_writer import Ending, Entry, Found, Progress
from gemmviz.app.laboratory import Laboratory
from gemmviz.app.run_queue import RunQueue
from gemmviz.app.runs import Run
from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import Outcome, RaceDevices, RunSweep, describe_experiment
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.messages import CellMeasured, DevicesMeasured, Message
from gemmviz.core.model import Result, Samples
from gemmviz.core.sweep_file import identity

_ALIVE_TURNS = 3  # a run without news is told to be alive each third time


@dataclass(eq=False)
class _Followed:
    """A run that goes on, and how much of it has been taken already."""

    run: Run
    saved: int = 0
    restarts: int = 0
    told: object = None


class Feed(QObject):
    """Gathers entries until they are taken, also while there is no file to write them into."""

    def __init__(
        self, queue: RunQueue, laboratory: Laboratory, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._queue, self._laboratory = queue, laboratory
        self._followed: dict[int, _Followed] = {}
        self._ended: list[Entry] = []
        self._sweeps: dict[int, str] = {}
        self._turns = 0
        queue.job_queued.connect(self._on_job_queued)
        queue.job_ended.connect(self._on_job_ended)
        queue.comparison_ended.connect(self._on_comparison_ended)
        laboratory.experiment_started.connect(self._on_experiment_started)
        laboratory.experiment_advanced.connect(self._on_experiment_advanced)
        laboratory.experiment_ended.connect(self._on_experiment_ended)

    def take(self) -> list[Entry]:
        """All that has come since the last time."""
        self._turns += 1
        entries, self._ended = self._ended, []
        found = (self._progress(followed) for followed in self._followed.values())
        return [*entries, *(entry for entry in found if entry is not None)]

    def parting(self) -> list[Entry]:
        """What takes the runs under way out of a file that is left."""
        return [Ending(job_id, None) for job_id in self._followed]

    def rewind(self) -> None:
        """Tell of the runs under way anew, from their first sample on."""
        for followed in self._followed.values():
            followed.saved, followed.told = 0, None

    def end(self) -> list[Entry]:
        """The ends of the runs under way, as if they were stopped now."""
        ended = [_ended_now(each.run) for each in self._followed.values() if len(each.run.buffer)]
        self._followed.clear()
        return [*ended]

    @Slot(int)
    def _on_job_queued(self, job_id: int) -> None:
        run = self._queue.active.get(job_id)
        if run is not None:
            self._followed[job_id] = _Followed(run)

    @Slot(int)
    def _on_job_ended(self, job_id: int) -> None:
        followed = self._followed.pop(job_id, None)
        if followed is None:
            return
        run, result = followed.run, None
        if run.result is not None and (run.summary is not None or not run.result.stopped):
            result = replace(run.result, samples=_samples_from(run, 0))
        self._ended.extend([Ending(job_id, result)])

    @Slot(int)
    def _on_experiment_started(self, job_id: int) -> None:
        """A race may go on for hours, so its samples are saved as those of runs are."""
        race = self._laboratory.busy.get(job_id)
        if isinstance(race, RaceDevices):
            for job, device in zip(race.jobs, race.devices, strict=True):
                self._followed[job.id] = _Followed(Run(job, device))

    @Slot(int, object)
    def _on_experiment_advanced(self, job_id: int, events: tuple[Message, ...]) -> None:
        for event in events:
            racing = self._followed.get(event.job_id)
            if racing is not None:
                racing.run.take(event)
            if isinstance(event, CellMeasured):
                self._ended.extend([Ending(None, event.result, self._sweep_of(job_id))])
            elif isinstance(event, DevicesMeasured):
                self._ended.extend([Ending(None, result) for result in event.results])

    @Slot(object)
    def _on_experiment_ended(self, outcome: Outcome) -> None:
        self._sweeps.pop(outcome.job_id, None)
        answer = outcome.answer
        if isinstance(outcome.experiment, RaceDevices):
            self._end_race(outcome.experiment, answer)
        if isinstance(answer, Comparison):
            self._on_comparison_ended(answer)
        elif answer is not None:
            kind = type(answer).__name__ if not isinstance(answer, tuple | list) else "Claims"
            self._ended.extend([Found(kind, describe_experiment(outcome.experiment), answer)])

    def _end_race(self, race: RaceDevices, answer: object) -> None:
        results = answer.results if isinstance(answer, Comparison) else ()
        by_id = {result.job.id: Ending(result.job.id, result) for result in results}
        for job in race.jobs:
            followed = self._followed.pop(job.id, None)
            if job.id in by_id:
                self._ended.append(by_id[job.id])
            elif followed is not None and len(followed.run.buffer):
                self._ended.append(_ended_now(followed.run))

    @Slot(object)
    def _on_comparison_ended(self, comparison: Comparison) -> None:
        """The results are saved by themselves; this is how they compare."""
        names = [_name_of(result) for result in comparison.results]
        if comparison.versus:
            self._ended.extend([Found("Comparison", " against ".join(names), comparison.versus)])

    def _sweep_of(self, job_id: int) -> str:
        """What the sweep under way is found again by; "" where none has that id."""
        experiment = self._laboratory.busy.get(job_id)
        if job_id not in self._sweeps and isinstance(experiment, RunSweep):
            self._sweeps[job_id] = identity(experiment.sweep)
        return self._sweeps.get(job_id, "")

    def _progress(self, followed: _Followed) -> Progress | None:
        run = followed.run
        if not len(run.buffer) or run.result is not None:
            return None
        restarted = run.restarts != followed.restarts
        if restarted:
            followed.restarts, followed.saved = run.restarts, 0
        told = (run.check, run.facts, run.context, run.timer, run.trust, run.error_map)
        result = None
        if told != followed.told:
            followed.told, result = told, _result_so_far(run)
        samples = _samples_from(run, followed.saved)
        followed.saved += len(samples)
        if not (len(samples) or result is not None or self._turns % _ALIVE_TURNS == 0):
            return None
        return Progress(run.job.id, result, samples, restarted)


def _name_of(result: Result) -> str:
    """What ran where: "tiled TS=16 on pthread-cpu · PoCL 3.0"."""
    job = result.job
    words = f"{job.variant.id} {describe_parameters(job.parameters)}".strip()
    return f"{words} on {device_label(result.device)}"


def _samples_from(run: Run, start: int) -> Samples:
    """The samples of a run from one on: views of arrays, whose values nobody changes."""
    buffer = run.buffer
    views = buffer.launches[start:], buffer.seconds[start:], buffer.at[start:]
    launches, seconds, at = (cast("Sequence[int]", view) for view in views)
    return Samples(launches, seconds, at)


def _ended_now(run: Run) -> Ending:
    """The end of a run that nobody waits for any more."""
    result = replace(_result_so_far(run), samples=_samples_from(run, 0), stopped=True)
    return Ending(run.job.id, result)


def _result_so_far(run: Run) -> Result:
    """What is known of a run that goes on, without its samples."""
    return Result(
        run.job, run.device, check=run.check, facts=run.facts, finished_at=time.time(),
        timer=run.timer, trust=run.trust, context=run.context, error_map=run.error_map,
    )  # fmt: skip
