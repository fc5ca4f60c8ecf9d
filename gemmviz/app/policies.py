"""Measurement policies as a person chooses and reads them."""

from __future__ import annotations

import math
from dataclasses import replace

from gemmviz.core.policy import PRESETS, UNTIL_STOPPED, Policy, fixed, name_of

CHOICES: dict[str, Policy] = {**PRESETS, "Until stopped": UNTIL_STOPPED}
"""The policies that have a name, in the order of a menu."""
CACHE_NAMES = {"warm": "Warm", "rotating": "Rotating", "flush": "Flushed"}
SHORT_STOP_WORDS = {
    "steady": "precise enough",
    "settled": "noise settled",
    "limit": "time limit",
    "launches": "all launches done",
    "decided": "decided",
    "stopped": "stopped",
}


def chosen_as(name: str, policy: Policy) -> Policy:
    """The policy of that name, with the cache and the samples that ``policy`` has."""
    return replace(CHOICES[name], cache=policy.cache, per_launch=policy.per_launch)


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


def with_launches(policy: Policy, launches: int | None) -> Policy:
    """The same with exactly so many launches, its time limit kept; None for no such number."""
    if launches is None:
        return replace(policy, launches=None)
    kept = fixed(launches)
    return replace(
        policy, launches=launches, min_samples=kept.min_samples, min_seconds=kept.min_seconds,
        target=kept.target,
    )  # fmt: skip
