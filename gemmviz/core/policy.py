"""How long and how a kernel is measured: the policy, its presets and why a run ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Cache = Literal["warm", "rotating", "flush"]
StopReason = Literal["", "steady", "settled", "limit", "launches", "decided", "stopped"]

STOP_WORDS: dict[str, str] = {
    "steady": "the interval of the median became narrow enough",
    "settled": "the noise has settled: more samples in time would not reach the target",
    "limit": "the time limit was reached",
    "launches": "the wanted number of launches was reached",
    "decided": "the comparison was decided",
    "stopped": "stopped by hand",
}
CACHE_WORDS: dict[str, str] = {
    "warm": "warm: every launch uses the same matrices",
    "rotating": "rotating: launches take turns with copies of the matrices that exceed the cache",
    "flush": "flushed: a buffer larger than the cache is written before each sample",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """When a measurement is enough, and how its samples are taken.

    A run ends when it has ``min_samples`` samples and ``min_seconds`` of accumulated device time
    and its median is known to ``target``, or when that is out of reach; at ``limit_seconds`` of
    measuring in any case.

    Attributes:
        warm_ups: Untimed launches before the first sample.
        min_samples: The fewest samples.
        min_seconds: The least accumulated device time.
        target: Half-width of the median's 95 % interval, relative to the median.
        limit_seconds: The longest that measuring goes on; infinite until stopped.
        launches: Timed launches at which a run ends whatever else; None without such a number.
        cache: What the caches hold when a sample begins.
        per_launch: Each launch is a sample of its own, however short; else short ones are batched.
        quiet: Nothing is sent, and so nothing drawn, while launches are timed.
    """

    warm_ups: int = 1
    min_samples: int = 10
    min_seconds: float = 0.5
    target: float = 0.01
    limit_seconds: float = 15.0
    launches: int | None = None
    cache: Cache = "warm"
    per_launch: bool = False
    quiet: bool = False


QUICK = Policy(1, 5, 0.1, 0.03, 3.0)
STANDARD = Policy(1, 10, 0.5, 0.01, 15.0)
CAREFUL = Policy(3, 30, 2.0, 0.003, 60.0)
UNTIL_STOPPED = Policy(1, 10, 0.0, 0.0, math.inf)
PRESETS: dict[str, Policy] = {"Quick": QUICK, "Standard": STANDARD, "Careful": CAREFUL}


def fixed(launches: int) -> Policy:
    """A policy that ends after so many timed launches and for no other reason."""
    return replace(UNTIL_STOPPED, launches=launches)


def name_of(policy: Policy) -> str:
    """The preset that a policy is, whatever its cache, batching and quiet; else "Custom"."""
    plain = replace(policy, cache="warm", per_launch=False, quiet=False)
    for name, preset in (*PRESETS.items(), ("Until stopped", UNTIL_STOPPED)):
        if plain == preset:
            return name
    return "Custom" if policy.launches is None else f"{policy.launches} launches"
