"""Measurement policies as a person chooses and reads them."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.policy import PRESETS, UNTIL_STOPPED, Policy, fixed

CHOICES: dict[str, Policy] = {**PRESETS, "Until stopped": UNTIL_STOPPED}
"""The policies that have a name, in the order of a menu."""
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


def with_launches(policy: Policy, launches: int | None) -> Policy:
    """The same with exactly so many launches, its time limit kept; None for no such number."""
    if launches is None:
        return replace(policy, launches=None)
    kept = fixed(launches)
    return replace(
        policy, launches=launches, min_samples=kept.min_samples, min_seconds=kept.min_seconds,
        target=kept.target,
    )  # fmt: skip
