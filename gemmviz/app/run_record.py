"""Everything that is recorded with a run, in words, section by section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gemmviz.app.measured import interval_words, timer_words
from gemmviz.app.outcomes import outcome
from gemmviz.app.policies import describe_policy, short_name
from gemmviz.app.progress import half_width
from gemmviz.app.readings import timer_text
from gemmviz.app.runs import Run
from gemmviz.core.context import Context
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Check
from gemmviz.core.policy import CACHE_WORDS, STOP_WORDS
from gemmviz.core.spread import Spread, describe_spread, spread_of
from gemmviz.core.units import duration, percent, throughput
from gemmviz.core.verdict import describe

Entry = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """Some facts under a title, each with its name; none of them is empty."""

    title: str
    entries: tuple[Entry, ...]


def record_of(run: Run) -> tuple[Section, ...]:
    """All that is known of a run; sections of which nothing is known are left out."""
    sections = (
        ("Run", _identity(run)),
        ("Measurement", _measurement(run)),
        ("Statistics", _statistics(run)),
        ("Check", _check(run)),
        ("Circumstances", _circumstances(run)),
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


def _identity(run: Run) -> Iterator[Entry]:
    job, problem = run.job, run.job.problem
    end = ".toml" if job.variant.library else ".cl"
    yield "Kernel", f"{job.variant.title} ({job.variant.id}{end})"
    yield "Parameters", describe_parameters(job.parameters)
    yield "M × N × K", f"{problem.m} × {problem.n} × {problem.k}"
    yield "Element", problem.element
    yield "Seed", str(problem.seed)
    yield "Device", device_label(run.device)
    yield "Platform", f"{run.device.platform}, {run.device.platform_version}"
    yield "Driver", run.device.driver_version
    if run.result is not None and run.result.finished_at:
        moment = datetime.fromtimestamp(run.result.finished_at, UTC).astimezone()
        yield "Finished", f"{moment:%Y-%m-%d %H:%M:%S %Z}"
    yield "Outcome", run.status
    if run.failure is not None:
        yield "Failure", run.failure.sentence


def _measurement(run: Run) -> Iterator[Entry]:
    policy = run.job.policy
    yield "Policy", f"{short_name(policy)}: {describe_policy(policy)}"
    yield "Cache", CACHE_WORDS[policy.cache]
    yield "Samples", "each launch" if policy.per_launch else "short launches in batches"
    yield "Quiet", "yes, nothing was drawn while launches were timed" if policy.quiet else "no"
    yield "Ended because", STOP_WORDS.get(run.stop_reason, "")
    if run.trust is not None:
        yield "Timed by", timer_words(run.trust)
        yield "Timer trust", run.trust.sentence
        counts = f"{run.trust.launches:,} judged"
        if run.trust.reversed or run.trust.zero:
            counts += f", {run.trust.reversed:,} with END < START, {run.trust.zero:,} equal"
        yield "Timestamps", counts
    if run.timer is not None:
        text = timer_text(run.timer)
        yield "Timer and launches", text[:1].upper() + text[1:]
    if run.result is not None and run.result.discarded:
        yield "Discarded launches", f"{run.result.discarded:,}"


def _statistics(run: Run) -> Iterator[Entry]:
    summary = run.summary
    if summary is None or run.flops_per_second is None:
        return
    yield "Launches", f"{run.buffer.launch_count:,} in {len(run.buffer):,} samples"
    yield "Device time", duration(run.buffer.total_seconds)
    yield "Median", f"{duration(summary.median)}, {throughput(run.flops_per_second)}"
    yield "Interval", f"{interval_words(run)}, ±{100 * half_width(summary):.2g} %"
    yield "Quartiles", f"{duration(summary.q1)} to {duration(summary.q3)}"
    yield "Minimum", duration(summary.minimum)
    spread = run.spread or spread_of(run.buffer.seconds_per_launch)
    if spread is not None:
        yield from _spread(spread, summary.count)
        for place, remark in enumerate(describe_spread(spread)):
            yield "" if place else "Remarks", remark
    if run.quantiles:
        low, q1, middle, q3, high = map(duration, run.quantiles)
        yield "Single launches", f"{low} to {high}, middle half {q1} to {q3}, median {middle}"


def _spread(spread: Spread, count: int) -> Iterator[Entry]:
    yield "Interquartile range", duration(spread.iqr_seconds)
    yield "Outliers", f"{spread.outliers:,} of {count:,}"
    if spread.drift is not None:
        word = "more than chance" if spread.drifts else "no more than chance"
        yield "Drift", f"{100 * spread.drift:+.2g} % from the first to the last third, {word}"
    yield "Two modes", " and ".join(map(duration, spread.modes))


def _check(run: Run) -> Iterator[Entry]:
    yield "Verdict", outcome(run).word
    check = run.check
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


def _circumstances(run: Run) -> Iterator[Entry]:
    context = run.context
    if context is not None:
        yield from _context(context)
    elif run.job.build_options:
        yield "Build options", run.job.build_options
    if run.estimate is not None and run.estimate.occupancy is not None:
        yield "Occupancy foreseen", percent(run.estimate.occupancy)
    yield "Build log", run.result.build_log.strip() if run.result is not None else ""


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
