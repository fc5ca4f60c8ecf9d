"""How a run was measured, in the few words that a card has room for."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.app.policies import SHORT_STOP_WORDS
from gemmviz.app.runs import Run
from gemmviz.app.setup import Badge
from gemmviz.core.measurement_words import describe_policy, half_width, short_name
from gemmviz.core.policy import CACHE_WORDS, STOP_WORDS
from gemmviz.core.stats import FEWEST_FOR_95
from gemmviz.core.trust import TimerTrust


@dataclass(frozen=True, slots=True)
class Measured:
    """A large figure with its unit, a line below it, and all of it at length."""

    figure: str
    unit: str
    note: str
    tip: str


def measured(run: Run) -> Measured:
    """How much was measured, how precisely, and why it ended."""
    launches, samples = run.buffer.launch_count, len(run.buffer)
    policy = run.job.policy
    wanted = policy.launches if run.result is None else None
    unit = "launches" if wanted is None else f"of {wanted:,}"
    status = SHORT_STOP_WORDS.get(run.stop_reason, run.status)
    if run.failure is not None and run.failure.kind != "wrong":
        status = run.status
    width = _width(run)
    lines = [
        f"{launches:,} launches in {samples:,} samples",
        f"Policy: {short_name(policy)}. {describe_policy(policy)}",
        f"Cache {CACHE_WORDS[policy.cache]}",
    ]
    if width:
        lines.insert(1, f"Half the width of the median's 95 % interval: {width}")
    if run.stop_reason:
        lines.append(f"Ended: {STOP_WORDS[run.stop_reason]}")
    if policy.quiet:
        lines.append("Quiet: nothing was drawn while launches were timed")
    return Measured(
        f"{launches:,}", f"{unit}, {width}" if width else unit, status, "\n".join(lines)
    )


def timer_badge(trust: TimerTrust | None, suspicion: str = "") -> Badge | None:
    """Whether the clock of a run is to be trusted, with its numbers; None before that is known.

    Args:
        trust: What its times say of themselves.
        suspicion: Why the run is faster than its device can be, as a sentence, or "".
    """
    if trust is None:
        return None
    numbers = f"{trust.launches:,} launches judged"
    if trust.reversed or trust.zero:
        numbers += f", {trust.reversed:,} ended before their start and {trust.zero:,} at it"
    if suspicion:
        return Badge("suspicious", "doubt", f"{suspicion}\n{trust.sentence}\n{numbers}.")
    meaning = "good" if trust.badge == "events trusted" else "doubt"
    return Badge(trust.badge, meaning, f"{trust.sentence}\n{numbers}.")


def _width(run: Run) -> str:
    """Half the interval over the median as "±0.81 %"; "" where there is no interval."""
    if run.summary is None or run.summary.count < FEWEST_FOR_95:
        return ""
    return f"±{100 * half_width(run.summary):.2g} %"
