"""How a run was measured, in words: its policy, its clock and how precise its median is."""

from __future__ import annotations

import math

from gemmviz.core.policy import Policy, name_of
from gemmviz.core.stats import FEWEST_FOR_95, Summary
from gemmviz.core.trust import DeviceTimer, TimerTrust
from gemmviz.core.units import duration

CACHE_NAMES = {"warm": "Warm", "rotating": "Rotating", "flush": "Flushed"}


def short_name(policy: Policy) -> str:
    """A policy's name, with what its cache is where that is not the usual."""
    name = name_of(policy)
    return name if policy.cache == "warm" else f"{name}, {CACHE_NAMES[policy.cache].lower()}"


def describe_policy(policy: Policy) -> str:
    """When a measurement ends, in one sentence with every number."""
    ends = []
    if policy.launches is not None:
        ends.append(f"{policy.launches:,} launch{'es' * (policy.launches != 1)}")
    elif policy.target > 0:
        least = [f"at least {policy.min_samples:,} samples"]
        if policy.min_seconds > 0:
            least.append(f"{policy.min_seconds:g} s of device time")
        known = f"until the median is known to ±{100 * policy.target:.3g} %"
        ends += [" and ".join(least), known]
    if not math.isinf(policy.limit_seconds):
        ends.append(f"at most {policy.limit_seconds:g} s")
    elif not ends:
        ends.append("until stopped")
    warm_ups = f"{policy.warm_ups} warm-up{'s' * (policy.warm_ups != 1)}"
    text = f"{', '.join(ends)}; {warm_ups}"
    return text[:1].upper() + text[1:]


def half_width(summary: Summary) -> float:
    """Half the interval of the median over the median."""
    return (summary.high - summary.low) / 2 / summary.median if summary.median > 0 else 0.0


def interval_words(summary: Summary) -> str:
    """The interval of the median with what it is worth."""
    kind = "95 % interval" if summary.count >= FEWEST_FOR_95 else "range"
    return f"{duration(summary.low)} to {duration(summary.high)} ({kind})"


def timer_words(trust: TimerTrust) -> str:
    """The clock that timed a run."""
    clock = "the device's events" if trust.source == "events" else "the host's clock"
    ratio = "" if trust.ratio is None else f", ratio to the host's clock {trust.ratio:.4g}"
    return f"{clock} ({trust.badge}{ratio})"


def timer_text(timer: DeviceTimer) -> str:
    """What launching and timing costs, with the driver's own word on its timer beside."""
    step = "none seen" if timer.step_seconds is None else duration(timer.step_seconds)
    said = timer.reported_step_seconds
    said_text = "says nothing" if said is None else f"says {duration(said)}"
    return (
        f"timer step {step} (driver {said_text}), a launch costs {duration(timer.launch_seconds)}, "
        f"a round trip {duration(timer.round_trip_seconds)}"
    )
