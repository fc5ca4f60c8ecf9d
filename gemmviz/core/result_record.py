"""Everything that is recorded with a result, as named facts: to read, to copy, to report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gemmviz.core.context import Context
from gemmviz.core.labels import device_label, formula
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.measurement_words import (
    describe_policy,
    half_width,
    interval_words,
    short_name,
    timer_text,
    timer_words,
)
from gemmviz.core.model import Check, Result
from gemmviz.core.policy import CACHE_WORDS, STOP_WORDS
from gemmviz.core.result_figures import Statistics, statistics_of
from gemmviz.core.spread import Spread, describe_spread
from gemmviz.core.units import duration, percent, throughput
from gemmviz.core.verdict import Outcome, describe, outcome_of

Entry = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """Some facts under a title, each with its name; none of them is empty."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands: in a few words, its verdict, and the occupancy foreseen, if known."""

    status: str
    outcome: Outcome
    occupancy: float | None = None


def standing_of(result: Result) -> Standing:
    """How a finished run stands."""
    outcome = outcome_of(result)
    if outcome.broken:
        status = "ended early" if outcome.sampled else "could not run"
    else:
        status = "stopped" if result.stopped else "finished"
    return Standing(status, outcome)


def record_of(
    result: Result, statistics: Statistics | None = None, standing: Standing | None = None
) -> tuple[Section, ...]:
    """All that is known of a run; sections of which nothing is known are left out.

    Args:
        result: Of a run that goes on as far as it is known.
        statistics: Of its samples; computed where None.
        standing: Told by the result itself where None.
    """
    statistics = statistics or statistics_of(result)
    standing = standing or standing_of(result)
    sections = (
        ("Run", _identity(result, standing)),
        ("Measurement", _measurement(result)),
        ("Statistics", _statistics(result, statistics)),
        ("Check", _check(result, standing)),
        ("Circumstances", _circumstances(result, standing)),
    )
    found = (
        Section(title, tuple((name, text) for name, text in entries if text))
        for title, entries in sections
    )
    return tuple(section for section in found if section.entries)


def to_text(sections: Sequence[Section]) -> str:
    """The sections as lines: a title, then names and values with a tab between."""
    blocks = ("\n".join([s.title, *("\t".join(entry) for entry in s.entries)]) for s in sections)
    return "\n\n".join(blocks)


def _identity(result: Result, standing: Standing) -> Iterator[Entry]:
    job, problem = result.job, result.job.problem
    end = ".toml" if job.variant.library else ".cl"
    yield "Kernel", f"{job.variant.title} ({job.variant.id}{end})"
    yield "Parameters", describe_parameters(job.parameters)
    yield "M × N × K", f"{problem.m} × {problem.n} × {problem.k}"
    yield "Element", problem.element
    yield "Form", "" if problem.is_plain else formula(problem)
    yield "Seed", str(problem.seed)
    yield "Device", device_label(result.device)
    yield "Platform", f"{result.device.platform}, {result.device.platform_version}"
    yield "Driver", result.device.driver_version
    if result.finished_at:
        moment = datetime.fromtimestamp(result.finished_at, UTC).astimezone()
        yield "Finished", f"{moment:%Y-%m-%d %H:%M:%S %Z}"
    yield "Outcome", standing.status
    if result.failure is not None:
        yield "Failure", result.failure.sentence


def _measurement(result: Result) -> Iterator[Entry]:
    policy = result.job.policy
    yield "Policy", f"{short_name(policy)}: {describe_policy(policy)}"
    yield "Cache", CACHE_WORDS[policy.cache]
    yield "Samples", "each launch" if policy.per_launch else "short launches in batches"
    yield "Quiet", "yes, nothing was drawn while launches were timed" if policy.quiet else "no"
    reason = "stopped" if result.stopped else result.stop_reason
    yield "Ended because", STOP_WORDS.get(reason, "")
    if result.trust is not None:
        yield "Timed by", timer_words(result.trust)
        yield "Timer trust", result.trust.sentence
        counts = f"{result.trust.launches:,} judged"
        if result.trust.reversed or result.trust.zero:
            counts += f", {result.trust.reversed:,} with END < START, {result.trust.zero:,} equal"
        yield "Timestamps", counts
    if result.timer is not None:
        text = timer_text(result.timer)
        yield "Timer and launches", text[:1].upper() + text[1:]
    if result.discarded:
        yield "Discarded launches", f"{result.discarded:,}"


def _statistics(result: Result, statistics: Statistics) -> Iterator[Entry]:
    summary, spread = statistics.summary, statistics.spread
    if summary is None:
        return
    yield "Launches", f"{statistics.launches:,} in {statistics.samples:,} samples"
    yield "Device time", duration(statistics.seconds)
    if summary.median > 0:
        rate = throughput(flop(result.job.variant, result.job.problem) / summary.median)
        yield "Median", f"{duration(summary.median)}, {rate}"
    yield "Interval", f"{interval_words(summary)}, ±{100 * half_width(summary):.2g} %"
    yield "Quartiles", f"{duration(summary.q1)} to {duration(summary.q3)}"
    yield "Minimum", duration(summary.minimum)
    if spread is not None:
        yield from _spread(spread, summary.count)
        for place, remark in enumerate(describe_spread(spread)):
            yield "" if place else "Remarks", remark
    if result.quantiles:
        low, q1, middle, q3, high = map(duration, result.quantiles)
        yield "Single launches", f"{low} to {high}, middle half {q1} to {q3}, median {middle}"


def _spread(spread: Spread, count: int) -> Iterator[Entry]:
    yield "Interquartile range", duration(spread.iqr_seconds)
    yield "Outliers", f"{spread.outliers:,} of {count:,}"
    if spread.drift is not None:
        word = "more than chance" if spread.drifts else "no more than chance"
        yield "Drift", f"{100 * spread.drift:+.2g} % from the first to the last third, {word}"
    yield "Two modes", " and ".join(map(duration, spread.modes))


def _check(result: Result, standing: Standing) -> Iterator[Entry]:
    yield "Verdict", standing.outcome.word
    check = result.check
    if check is None:
        return
    yield "Details", describe(check)
    yield "Compared", _compared(check)
    yield "Pattern", check.pattern
    yield "Repeated", _repeated(check)
    for place in check.outside:
        yield "Written outside", f"{place.elements:,} elements {place.side} {place.buffer}"


def _compared(check: Check) -> str:
    text = f"{check.cells_checked:,} cells of {check.rows} × {check.cols}"
    if check.vectors:
        text += (
            f": {check.rows_checked} random rows and {check.cols_checked} columns exactly, all of "
            f"C by Freivalds' test with {check.vectors} random vectors"
        )
    return text


def _repeated(check: Check) -> str:
    if check.cells_differing is None:
        return ""
    if not check.cells_differing:
        return "a second launch gave the same bits"
    return f"a second launch differs in {check.cells_differing:,} cells"


def _circumstances(result: Result, standing: Standing) -> Iterator[Entry]:
    context = result.context
    if context is not None:
        yield from _context(context)
    elif result.job.build_options:
        yield "Build options", result.job.build_options
    if standing.occupancy is not None:
        yield "Occupancy foreseen", percent(standing.occupancy)
    yield "Build log", result.build_log.strip()


def _context(context: Context) -> Iterator[Entry]:
    if context.library is not None:
        yield "Library", context.library.text
        yield "Loaded from", context.library.file
    yield "gemmviz", context.app_version
    yield "System", context.system
    yield "Python", context.python
    yield "Build options", context.build_options
    yield "Environment", "  ".join(f"{name}={value}" for name, value in context.environment)
    if context.affinity is not None:
        yield "Workers pinned to cores", "yes" if context.affinity else "no"
    if context.load is not None:
        cores = f" on {context.cores} logical processors" if context.cores is not None else ""
        yield "Load at the start", f"{context.load:.2f}{cores}"
