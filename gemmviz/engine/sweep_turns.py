"""Asks a child for rounds of a sweep, and finds out which job took the child with it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gemmviz.core.messages import (
    Failed,
    Finished,
    Message,
    Phase,
    SampleBatch,
    TakeTurns,
)
from gemmviz.core.model import Device, Failure, Job, Result, Samples
from gemmviz.engine.record import Record

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine


@dataclass(slots=True)
class Heard:
    """All that was said of a job since its measurement began, and the samples of this request."""

    record: Record
    batches: list[SampleBatch] = field(default_factory=list)
    failed: bool = False
    ended: bool = False

    @property
    def samples(self) -> Samples:
        """The samples that the last request brought."""
        parts = [batch.samples for batch in self.batches]
        return Samples(
            tuple(value for part in parts for value in part.launches),
            tuple(value for part in parts for value in part.seconds),
            tuple(value for part in parts for value in part.at),
        )

    @property
    def work_seconds(self) -> tuple[float, ...]:
        """How long the child worked at each of these samples, where it told."""
        return tuple(value for batch in self.batches for value in batch.work_seconds)

    @property
    def result(self) -> Result:
        """The Result of all requests."""
        return self.record.result()

    def take(self, message: Message) -> None:
        """Adds a message of the job."""
        self.record.take(message)
        if isinstance(message, SampleBatch):
            self.batches.append(message)
        elif isinstance(message, Failed | Finished):
            self.ended = True
            self.failed = isinstance(message, Failed)


class TurnsFailed(Exception):  # noqa: N818 (a state, as where no child can be started)
    """No child can do anything for this device; holds the Failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


class Asker:
    """Asks for rounds of one experiment on one device."""

    def __init__(self, engine: Engine, experiment_id: int, device: Device) -> None:
        self._engine, self._id, self._device = engine, experiment_id, device

    def ask(
        self,
        jobs: Sequence[Job],
        rounds: int | None,
        earlier: Mapping[int, Heard] | None = None,
        idle: Callable[[], Generator[Message, None, None]] | None = None,
        *,
        screening: bool = False,
    ) -> Generator[Message, None, dict[int, Heard]]:
        """Measures jobs in turns; one that takes its child with it is found, and left out.

        Args:
            jobs: Each with an id of its own.
            rounds: How many; None for each by its policy.
            earlier: What was heard of the same jobs before, in one measurement: empty where it
                begins. None where they are not told of apart.
            idle: What is told in between.
            screening: Whether it is the first time; see :class:`TakeTurns`.

        Returns:
            What was heard, by the ids of the jobs. Of a stopped experiment some have not ended.

        Raises:
            TurnsFailed: Not even the first job could be begun, twice.
        """
        heard = {
            job.id: Heard(earlier[job.id].record)
            if earlier and job.id in earlier
            else Heard(Record(job, self._device))
            for job in jobs
        }
        groups, in_vain = [tuple(jobs)], 0
        while groups:
            group = groups.pop(0)
            anew = earlier is not None and not earlier
            request = TakeTurns(self._id, group, rounds, screening, anew)
            failure, phase = yield from self._request(request, heard, idle)
            if failure is None or self._engine.was_stopped(self._id):
                continue
            left = tuple(job for job in group if not heard[job.id].ended)
            if phase is None:
                in_vain += 1
                if in_vain > 1:
                    raise TurnsFailed(failure)
                groups.insert(0, group)
                continue
            if not left:
                continue  # whoever it was has said so itself
            for job in left:
                heard[job.id].batches.clear()
            culprit = next((job for job in left if job.id == phase.job_id), None)
            if culprit is not None and (phase.name != "measure" or len(left) == 1):
                heard[culprit.id].take(Failed(culprit.id, failure))
                others = tuple(job for job in left if job is not culprit)
                groups[:0] = [others] if others else []
            else:  # while they took turns: one by one it shows which it is
                groups[:0] = [(job,) for job in left]
        return heard

    def _request(
        self,
        request: TakeTurns,
        heard: Mapping[int, Heard],
        idle: Callable[[], Generator[Message, None, None]] | None,
    ) -> Generator[Message, None, tuple[Failure | None, Phase | None]]:
        """One request: why its child ended before it was done, and what it did then."""
        failure: Failure | None = None
        phase: Phase | None = None
        for message in self._engine.ask(request, self._id, [self._device.key]):
            if isinstance(message, Phase):
                phase = message
            if message.job_id in heard:
                heard[message.job_id].take(message)
            elif isinstance(message, Failed):
                failure = message.failure
            if idle is not None:
                yield from idle()
        return failure, phase
