"""Takes samples: what launching costs, which clock counts, and how many launches make a sample."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from gemmviz.core.stats import RunningQuantiles
from gemmviz.core.trust import DeviceTimer, Evidence, TimerTrust
from gemmviz.engine.bench import Bench
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.opencl import Kernel, Launches, Session

_EMPTY = "__kernel void nothing(void) {}\n"
_ROUND_TRIPS = 60
_TRAINS, _TRAIN = 8, 50
_CALIBRATION_SECONDS = 0.15  # a simulator's empty launch takes milliseconds

# A batch is long against the timer when it is so many steps or overheads.
_STEPS = 100
_OVERHEADS = 10
_ROUND_TRIPS_OF_HOST_BATCH = 50
_MOST_IN_BATCH = 1000
# Launches enqueued at once when each is a sample: the queue stays fed, a stop stays quick.
_BURST_SECONDS, _MOST_IN_BURST = 0.002, 32
_TRIAL_BATCHES, _TRIAL_SECONDS = 8, 0.3


def calibrate(session: Session) -> DeviceTimer:
    """Measures what launching and timing cost on a device, with an empty kernel.

    Raises:
        DriverError: The device cannot even run that.
    """
    kernel = prepare_calibration(session)
    trips = _repeated(session, [kernel], _ROUND_TRIPS)
    trains = _repeated(session, [kernel] * _TRAIN, _TRAINS)
    durations = [value for launches in (*trips, *trains) for value in launches.durations]
    # Kernels lie further apart than one step, but how long they take differs by single ones.
    steps = np.diff(np.unique(durations))
    empty = [value for launches in trips for value in launches.durations if value > 0]
    reported = session.fact("PROFILING_TIMER_RESOLUTION")
    return DeviceTimer(
        step_seconds=float(steps.min()) * 1e-9 if len(steps) else None,
        reported_step_seconds=None if reported is None else reported * 1e-9,
        launch_seconds=float(np.median([train.wall_seconds for train in trains])) / _TRAIN,
        round_trip_seconds=float(np.median([trip.wall_seconds for trip in trips])),
        empty_seconds=float(np.median(empty)) * 1e-9 if empty else None,
    )


def prepare_calibration(session: Session) -> Kernel:
    """Builds the empty kernel and launches it once, for a driver may compile it only then.

    Raises:
        DriverError: The device cannot even run that.
    """
    if session.idle_kernel is None:
        kernel, _ = session.build(_EMPTY, [], "nothing")
        kernel.bind([])
        session.time_launches([kernel], (1,), (1,))
        session.idle_kernel = kernel
    return session.idle_kernel


def _repeated(session: Session, kernels: list[object], times: int) -> list[Launches]:
    done: list[Launches] = []
    begun = time.perf_counter()
    while len(done) < times and (not done or time.perf_counter() - begun < _CALIBRATION_SECONDS):
        done.append(session.time_launches(kernels, (1,), (1,)))  # type: ignore[arg-type]
    return done


@dataclass(frozen=True, slots=True)
class Taken:
    """Samples of one burst: launches and seconds of each, and launches that were no measurement."""

    launches: tuple[int, ...]
    seconds: tuple[float, ...]
    discarded: int


class Sampler:
    """Takes samples of a bench by the clock that is to be trusted.

    ``quantiles`` tells of single launches also where they are batched.
    """

    def __init__(self, bench: Bench, timer: DeviceTimer) -> None:
        self._bench, self._timer = bench, timer
        self._policy = bench.job.policy
        self._evidence = Evidence()
        self._singles = RunningQuantiles()
        self._each_seconds: float | None = None
        self.trust = TimerTrust("events", "suspicious", "Nothing was timed yet.")

    def try_clocks(self) -> TimerTrust:
        """Times some batches by both clocks and chooses one.

        Raises:
            DriverError: A launch failed.
        """
        begun = time.perf_counter()
        for _ in range(_TRIAL_BATCHES):
            wanted = _ROUND_TRIPS_OF_HOST_BATCH * self._timer.round_trip_seconds
            self.witness(self._bench.launch(self._count_for(wanted)))
            if time.perf_counter() - begun > _TRIAL_SECONDS:
                break
        why = self._bench.host_clock
        self.trust = TimerTrust("host", "host timing used", why) if why else self._evidence.judge()
        return self.trust

    def judge_again(self) -> bool:
        """Judges with all that was timed so far; whether another clock counts from now on.

        Once the host's clock was chosen there is no way back: half a run by each means nothing.
        """
        before = self.trust.source
        judged = self._evidence.judge()
        if before == "events":
            self.trust = judged
        return self.trust.source != before

    def use_host(self) -> None:
        """Times by the host's clock from now on, as another kernel of a comparison must be."""
        if self.trust.source == "events":
            sentence = "Another kernel of the comparison needs the host's clock, so it times all."
            self.trust = replace(
                self.trust, source="host", badge="host timing used", sentence=sentence
            )

    def final_trust(self) -> TimerTrust:
        """The judgement over all that was timed; the clock that was used is not changed by it."""
        judged = self._evidence.judge()
        if self.trust.source == "host" or not self._evidence.launches:
            return self.trust  # without a launch of its own what others told of the clock stays
        # Too late to change: the samples are by the device's clock.
        if judged.source == "host":
            return replace(judged, source="events", badge="suspicious")
        return judged

    def take(self, most: int | None = None, *, single: bool = True) -> Taken:
        """Takes one sample, or several where each launch is one.

        Args:
            most: The most launches to make; None for any number.
            single: Whether the policy may make each launch a sample of its own.

        Raises:
            DriverError: A launch failed.
        """
        events = self.trust.source == "events"
        each = self._policy.per_launch and events and single
        count = self._burst() if each else self._batch()
        done = self._bench.launch(count if most is None else min(count, most))
        if not events:
            return Taken((len(done.stamps),), (done.wall_seconds,), 0)
        self.witness(done)
        good = [value for value in done.seconds if value > 0]
        discarded = len(done.stamps) - len(good)
        if done.apart:
            self._singles.extend(good)
        if good:
            self._each_seconds = math.fsum(good) / len(good)
        if each and done.apart:
            return Taken((1,) * len(good), tuple(good), discarded)
        return Taken((len(good),), (math.fsum(good),), discarded) if good else Taken(
            (), (), discarded)  # fmt: skip

    @property
    def quantiles(self) -> tuple[float, ...]:
        """Minimum, quartiles and maximum of single launches in seconds; () by the host's clock."""
        return self._singles.quantiles if self.trust.source == "events" else ()

    def witness(self, done: Launches) -> None:
        """Takes launches as evidence of how the device's clock goes; they are no samples."""
        timer = self._timer
        overhead = timer.round_trip_seconds + len(done.stamps) * timer.launch_seconds
        self._evidence.add(done.seconds, done.span_seconds, done.wall_seconds, overhead)

    def _batch(self) -> int:
        """Launches in a sample: as many as make it long against the clock that is used."""
        if self._policy.cache == "flush":
            return 1  # the first launch would warm the cache for the others
        timer = self._timer
        if self.trust.source == "host":
            return self._count_for(_ROUND_TRIPS_OF_HOST_BATCH * timer.round_trip_seconds)
        steps = _STEPS * (timer.step_seconds or 0.0)
        # Of a short launch the host sees the overhead too, by which a batch would be too short.
        wanted = max(steps, _OVERHEADS * timer.launch_seconds)
        return self._count_for(wanted, self._each_seconds)

    def _burst(self) -> int:
        if self._policy.cache == "flush":
            return 1
        return min(_MOST_IN_BURST, self._count_for(_BURST_SECONDS))

    def _count_for(self, seconds: float, each_seconds: float | None = None) -> int:
        foreseen = each_seconds or self._bench.foreseen_seconds or math.inf
        return max(1, min(_MOST_IN_BATCH, math.ceil(seconds / max(foreseen, 1e-9))))


def timer_of(session: Session) -> DeviceTimer:
    """The calibration of a device, made once while it is open."""
    if session.timer is None:
        try:
            session.timer = calibrate(session)
        except DriverError:
            # What cannot run an empty kernel will say so again with the real one.
            session.timer = DeviceTimer(None, None, 1e-5, 1e-4)
    return session.timer
