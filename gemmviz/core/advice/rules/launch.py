"""A kernel that is over before the next can be launched."""

from __future__ import annotations

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import Rule
from gemmviz.core.advice.situation import Situation
from gemmviz.core.units import duration

_SHORT = 2.0  # times the cost of a launch below which it matters


def _judge(situation: Situation, _outlook: Outlook) -> Finding | None:
    here, timer = situation.here, situation.timer
    if here is None or not here.seconds or timer is None:
        return None
    cost = max(timer.launch_seconds, timer.empty_seconds or 0.0)
    if cost <= 0 or here.seconds >= _SHORT * cost:
        return None
    # Launched back to back, one product takes the longer of the two; many in one launch take
    # the kernel alone, and an empty kernel's own time is not paid again.
    least = max(here.seconds - (timer.empty_seconds or 0.0), 0.1 * here.seconds)
    return Finding(
        "launch.overhead",
        "Launching takes as long as computing",
        f"One launch takes {duration(here.seconds)}; launching alone costs {duration(cost)} "
        "of it or beside it.",
        "empty kernel measured here",
        "Put several products into one launch, or measure a larger problem: this one times the "
        "queue.",
        gain_low=1.0,
        gain_high=max(here.seconds, cost) / least,
    )


RULES = (Rule("launch.overhead", "Is the kernel longer than its launch?", _judge),)
