"""Takes a sweep's samples inside the child: many configurations, each made ready once, in turns."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from gemmviz.core.launch import scratch_bytes
from gemmviz.core.messages import (
    Began,
    Built,
    Calibrated,
    Failed,
    Finished,
    Message,
    SampleBatch,
    TakeTurns,
    TimerChosen,
)
from gemmviz.core.model import DeviceKey, Failure, Job, Problem, Samples
from gemmviz.core.policy import STANDARD, StopReason
from gemmviz.core.stopping import StopRule
from gemmviz.core.trust import TimerTrust
from gemmviz.engine.answer_book import AnswerBook
from gemmviz.engine.bench import Bench, Cancelled, Emit
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.matrices import Matrices, matrices_key
from gemmviz.engine.measure import Sampler, timer_of
from gemmviz.engine.opencl import Launches, Session

_SEND_SECONDS = 0.5
_MOST_KEPT = 256
_MOST_KEPT_SCRATCH_BYTES = 2**28
# By what factor of the fastest first launch one more sample is enough, and none is needed.
_FAR_BEHIND, _HOPELESS = 2.0, 4.0
_INTERRUPTION_SECONDS = 0.05  # what other programs may add to a single launch
_LONG_SECONDS, _TRIALS = 0.005, 2
_PAUSE_SECONDS = 0.01  # a device that idled no longer is awake
# After these the child's state is gone: what else it holds must be made anew in another.
_LOST = ("driver", "not_found")

T = TypeVar("T")
_Opened = tuple[Bench, list[Message]]  # never launched, and what is to be told of it


@dataclass(slots=True, eq=False)
class _Entry:
    """A configuration that is ready, and what was timed of it since its policy last changed.

    ``first`` is the launch that was checked, ``about`` what was told of it until then, and
    ``told`` whether its clock was.
    """

    job: Job
    bench: Bench
    sampler: Sampler
    first: Launches
    about: Sequence[Message]
    scratch: int
    told: bool = False
    origin: float = 0.0
    own_seconds: float = 0.0
    discarded: int = 0
    pending: list[Samples] = field(default_factory=list)
    work_seconds: list[float] = field(default_factory=list)

    def take(self) -> Samples:
        """Takes a sample.

        Raises:
            DriverError: The launch failed, or twice no time could be read.
        """
        begun = time.perf_counter()
        self.origin = self.origin or begun
        for _ in range(2):
            worked = time.process_time()
            taken = self.sampler.take(single=False)
            self.discarded += taken.discarded
            if taken.launches:
                break
        else:
            raise DriverError(
                Failure("timer", "The device's timer is of no use: END was never past START.")
            )
        now = time.perf_counter()
        self.own_seconds += now - begun
        samples = Samples(taken.launches, taken.seconds, (now - self.origin,))
        self.pending.append(samples)
        self.work_seconds.append(time.process_time() - worked)
        return samples

    @property
    def first_counts(self) -> bool:
        """Whether the launch that was checked is long enough to be a sample though it is the first.

        By the device's clock: the host's may have seen it compiled.
        """
        events = self.sampler.trust.source == "events"
        return events and self.first.span_seconds >= _LONG_SECONDS

    def take_first(self) -> None:
        """Makes the launch that was checked the first sample."""
        self.pending.append(Samples((1,), (self.first.span_seconds,), (0.0,)))
        self.work_seconds.append(0.0)  # nobody looked

    def sent(self) -> SampleBatch:
        """What was taken since it was last asked."""
        parts, self.pending = self.pending, []
        work, self.work_seconds = self.work_seconds, []
        samples = Samples(
            tuple(value for part in parts for value in part.launches),
            tuple(value for part in parts for value in part.seconds),
            tuple(value for part in parts for value in part.at),
        )
        return SampleBatch(self.job.id, samples, tuple(work))


class TurnTaker:
    """Answers :class:`TakeTurns`; keeps what is ready of one problem on one device."""

    def __init__(self, session_of: Callable[[DeviceKey], Session], emit: Emit) -> None:
        self._session_of, self._emit = session_of, emit
        self._trust: dict[DeviceKey, TimerTrust] = {}
        self._subject: tuple[DeviceKey, Problem] | None = None
        self._entries: dict[Job, _Entry] = {}
        self._opened: dict[Job, _Opened] = {}
        self._matrices: dict[object, Matrices] = {}
        self._used: list[Matrices] = []  # by some launch
        self._book, self._launched = AnswerBook(), 0.0

    def answer(self, request: TakeTurns, cancelled: Cancelled) -> None:
        """Makes the rounds of a request; one without jobs gives back what was kept ready.

        Raises:
            DriverError: The driver has lost its state, so that nothing else can be tried here.
        """
        entries: list[_Entry] = []
        if not request.jobs:
            self._forget()
        if request.rounds == 0:
            self._open_ahead(request, cancelled)
            return
        for job in request.jobs:
            if cancelled():
                break
            entry = self._guarded(job, partial(self._ready, job, request, cancelled))
            if entry is not None:
                entries.append(entry)
        if entries and not cancelled():
            entries = self._with_clock(entries)
            for entry in entries:
                entry.bench.phase("measure")
            if request.rounds is None:
                self._by_policies(entries, cancelled)
            else:
                self._rounds(entries, request, cancelled)
            self._launched = time.perf_counter()
        stopped = cancelled()
        self._emit(Finished(request.job_id, stopped, reason="stopped" if stopped else "launches"))

    def _rounds(self, entries: list[_Entry], request: TakeTurns, cancelled: Cancelled) -> None:
        """Each in turn, one round forwards and the next backwards, so that a drift cancels."""
        sent = time.perf_counter()
        left = {id(entry): request.rounds or 0 for entry in entries}
        if request.screening:
            best = min((entry.first.span_seconds for entry in entries), default=0.0)
            for entry in entries:
                if entry.first_counts:
                    entry.take_first()
                    left[id(entry)] = _still_wanted(left[id(entry)], entry.first.span_seconds, best)
        for number in range(max(left.values(), default=0)):
            if cancelled():
                break
            going = [entry for entry in entries if left[id(entry)] > number]
            for entry in going if number % 2 == 0 else reversed(going):
                if self._guarded(entry.job, entry.take) is None:
                    entries.remove(entry)
            sent = self._sent_if_due(going, sent)
        for entry in entries:
            self._end(entry, "stopped" if cancelled() else "launches")

    def _by_policies(self, entries: Sequence[_Entry], cancelled: Cancelled) -> None:
        """Each in turn until its own policy is content."""
        racing = [(entry, StopRule(entry.job.policy)) for entry in entries]
        sent = time.perf_counter()
        while racing and not cancelled():
            for pair in list(racing):
                entry, rule = pair
                samples = self._guarded(entry.job, entry.take)
                if samples is None:
                    racing.remove(pair)
                    continue
                rule.add(samples)
                reason = rule.reason(entry.own_seconds)
                if reason:
                    racing.remove(pair)
                    self._end(entry, reason)
            sent = self._sent_if_due([entry for entry, _ in racing], sent)
        for entry, _ in racing:
            self._end(entry, "stopped")

    def _sent_if_due(self, entries: Sequence[_Entry], sent: float) -> float:
        """Sends now and then, which proves that the child lives; when it last did."""
        now = time.perf_counter()
        if now - sent < _SEND_SECONDS:
            return sent
        for entry in entries:
            self._emit(entry.sent())
        return now

    def _end(self, entry: _Entry, reason: StopReason) -> None:
        self._emit(entry.sent())
        self._emit(
            Finished(
                entry.job.id, reason == "stopped", entry.discarded, reason,
                entry.sampler.final_trust(), entry.sampler.quantiles,
            )
        )  # fmt: skip

    def _guarded(self, job: Job, act: Callable[[], T]) -> T | None:
        """What ``act`` gives, or None where it fails, which is told.

        Raises:
            DriverError: The driver has lost its state.
        """
        try:
            return act()
        except DriverError as error:
            self._emit(Failed(job.id, error.failure))
            self._entries.pop(_key(job), None)
            if error.failure.kind in _LOST:
                self._forget()
                raise
            return None

    def _ready(self, job: Job, request: TakeTurns, cancelled: Cancelled) -> _Entry | None:
        """The job, built and found right; None where it is wrong, which is told."""
        self._turn_to(job)
        entry = self._entries.get(_key(job))
        if entry is not None and not request.anew:
            self._entries[_key(job)] = self._entries.pop(_key(job))  # the last to be closed
            return entry
        if entry is None:
            entry = self._made_ready(job, cancelled)
        else:
            for message in entry.about:
                self._emit(message)
            entry = self._checked(entry.about, entry.bench, entry.sampler, job, cancelled)
        if entry is None:
            self._entries.pop(_key(job), None)
            stopped = cancelled()
            self._emit(Finished(job.id, stopped, reason="stopped" if stopped else "launches"))
            return None
        self._entries[_key(job)] = entry
        self._limit_kept()
        return entry

    def _turn_to(self, job: Job) -> None:
        """Forgets what is of another problem or device."""
        if self._subject != (job.device, job.problem):
            self._forget()
            self._subject = job.device, job.problem

    def _open_ahead(self, request: TakeTurns, cancelled: Cancelled) -> None:
        """Builds what can be, and keeps it; what fails will do so again when it is to launch."""
        for job in request.jobs:
            self._turn_to(job)
            if cancelled() or _key(job) in self._opened or _key(job) in self._entries:
                continue
            if not sum(scratch_bytes(job.variant, job.parameters, job.problem)):
                with contextlib.suppress(DriverError):
                    self._opened[_key(job)] = self._open(job, ahead=True)
        self._emit(Finished(request.job_id, cancelled(), reason="launches"))

    def _open(self, job: Job, *, ahead: bool = False) -> _Opened:
        """The job, built; ``ahead`` of its time nothing is told of it.

        Raises:
            DriverError: It cannot be.
        """
        about: list[Message] = []

        def tell(message: Message) -> None:
            if isinstance(message, Began | Built):
                about.append(message)
            if message not in about or not ahead:
                self._emit(message)

        shared = matrices_key(job.variant, job.problem)
        bench = Bench(job, self._session_of(job.device), tell, self._matrices.get(shared))
        self._matrices[shared] = bench.matrices
        return bench, about

    def _made_ready(self, job: Job, cancelled: Cancelled) -> _Entry | None:
        opened = self._opened.pop(_key(job), None)
        for message in opened[1] if opened is not None else ():
            self._emit(message)
        bench, about = opened or self._open(job)
        timer = timer_of(bench.session)
        about.append(Calibrated(job.id, timer))
        self._emit(about[-1])
        fresh = bench.matrices not in self._used
        self._used.append(bench.matrices)
        entry = self._checked(about, bench, Sampler(bench, timer), job, cancelled, fresh=fresh)
        if entry is not None:
            bench.prepare_caches()
        return entry

    def _checked(
        self,
        about: Sequence[Message],
        bench: Bench,
        sampler: Sampler,
        job: Job,
        cancelled: Cancelled,
        *,
        fresh: bool = False,
    ) -> _Entry | None:
        """An entry whose answer is right, or None."""
        first = self._book.first_right(bench, self._emit, cancelled, fresh=fresh)
        self._launched = time.perf_counter()
        if first is None:
            bench.close()
            return None
        scratch = sum(scratch_bytes(job.variant, job.parameters, job.problem))
        return _Entry(job, bench, sampler, first, about, scratch)

    def _with_clock(self, entries: list[_Entry]) -> list[_Entry]:
        """Chooses the clock of a device once, by its fastest configuration, which wakes it too.

        Where one must be timed by the host's clock all are: a ratio of two clocks means nothing.
        """
        device = entries[0].job.device
        fastest = min(entries, key=lambda entry: entry.first.wall_seconds)
        known = self._trust.get(device)
        found = self._guarded(fastest.job, lambda: self._awake(fastest, known))
        if found is None:
            entries.remove(fastest)
            return self._with_clock(entries) if entries else []
        known = found
        if not fastest.bench.host_clock:
            self._trust[device] = known
        by_host = [entry for entry in entries if entry.bench.host_clock]
        for entry in by_host[:1]:
            known = self._guarded(entry.job, entry.sampler.try_clocks) or known
        for entry in entries:
            if not entry.told or (by_host and entry.sampler.trust.source != "host"):
                entry.told, entry.sampler.trust = True, known
                self._emit(TimerChosen(entry.job.id, known))
        return entries

    def _awake(self, entry: _Entry, known: TimerTrust | None) -> TimerTrust:
        """Launches so that the device is awake, and says which clock counts; few long ones tell."""
        if known is not None and not entry.bench.host_clock:
            if time.perf_counter() - self._launched > _PAUSE_SECONDS:
                entry.bench.wake()
            return known
        if entry.first.wall_seconds < _LONG_SECONDS or entry.bench.host_clock:
            return entry.sampler.try_clocks()
        entry.sampler.witness(entry.first)
        entry.sampler.judge_again()
        if entry.sampler.trust.badge == "events trusted":
            return entry.sampler.trust
        for _ in range(_TRIALS):
            entry.sampler.take(single=False)
        entry.sampler.judge_again()
        return entry.sampler.trust

    def _limit_kept(self) -> None:
        """Closes what was used first where too much is kept; the newest always stays."""
        while len(self._entries) > 1 and (
            len(self._entries) > _MOST_KEPT
            or sum(each.scratch for each in self._entries.values()) > _MOST_KEPT_SCRATCH_BYTES
        ):
            self._entries.pop(next(iter(self._entries))).bench.close()

    def _forget(self) -> None:
        for bench, _ in self._opened.values():
            bench.close()
        for entry in self._entries.values():
            entry.bench.close()
        self._entries, self._opened, self._book = {}, {}, AnswerBook()
        self._matrices, self._used = {}, []


def _still_wanted(samples: int, seconds: float, best_seconds: float) -> int:
    """How many more samples one needs whose first launch was a sample, by the best one's first."""
    far = seconds - best_seconds >= _INTERRUPTION_SECONDS and seconds > _FAR_BEHIND * best_seconds
    return samples - 1 if not far else 1 if seconds <= _HOPELESS * best_seconds else 0


def _key(job: Job) -> Job:
    """What a ready job is found by: all but how long it is measured."""
    return replace(job, policy=replace(STANDARD, cache=job.policy.cache))
