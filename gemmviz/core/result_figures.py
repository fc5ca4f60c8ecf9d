"""The figures of a result as one flat row: what tables, CSV and other programs take from it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from gemmviz.core.launch import describe_parameters, flop, storage_order
from gemmviz.core.library_share import Timing, fastest_libraries, library_share
from gemmviz.core.model import Result
from gemmviz.core.policy import name_of
from gemmviz.core.spread import Spread, spread_of
from gemmviz.core.stats import Floats, Summary, summarize

Row = dict[str, Any]

COLUMNS = (
    "finished_at", "device", "platform", "kernel", "parameters", "m", "n", "k", "element",
    "launches", "median_seconds", "low_seconds", "high_seconds", "q1_seconds", "q3_seconds",
    "minimum_seconds", "flops_per_second", "occupancy", "verdict", "max_error", "speed_up",
    "seed", "failure", "policy", "stop_reason", "timer", "cache", "quiet", "samples",
    "iqr_seconds", "outliers", "drift", "load", "app_version", "driver_version", "build_options",
    "bytes_per_second", "bandwidth_share", "library_share", "library", "transpose", "order",
    "alpha", "beta", "id",
)  # fmt: skip
"""The columns of a table of results, in SI base units; new ones come at the end."""
RELATIVE = ("id", "occupancy", "speed_up", "bytes_per_second", "bandwidth_share", "library_share")
"""Those that a result alone does not tell."""

_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
# What kernels are built with begins like a formula, but has no brackets, quotes or other programs.
_OPTION = re.compile(r"-cl-[\w=. -]*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Statistics:
    """The samples of a run, summed up: ``seconds`` is the time of all launches together."""

    summary: Summary | None
    spread: Spread | None
    launches: int
    samples: int
    seconds: float


def statistics_of(result: Result) -> Statistics:
    """The samples of a result, summed up."""
    times, samples = seconds_per_launch(result), result.samples
    return Statistics(
        summarize(times), spread_of(times), int(sum(samples.launches)), len(samples),
        float(sum(samples.seconds)),
    )  # fmt: skip


def seconds_per_launch(result: Result) -> Floats:
    """Seconds of one launch in each sample, shape (count,)."""
    samples = result.samples
    return np.asarray(samples.seconds, np.float64) / np.asarray(samples.launches, np.float64)


def figures(result: Result, statistics: Statistics | None = None) -> Row:
    """Everything of a result that fits one row, under the names of COLUMNS without RELATIVE.

    What is not known is None, never 0.

    Args:
        result: With its samples, unless ``statistics`` has them summed up.
        statistics: Of its samples; computed where None.
    """
    known = statistics or statistics_of(result)
    summary, spread = known.summary, known.spread
    job, problem, context, trust = result.job, result.job.problem, result.context, result.trust
    library = context.library if context is not None else None
    return {
        "finished_at": moment_text(result.finished_at),
        "device": result.device.name,
        "platform": result.device.platform,
        "driver_version": result.device.driver_version,
        "kernel": job.variant.id,
        "parameters": dict(job.parameters),
        "m": problem.m,
        "n": problem.n,
        "k": problem.k,
        "element": problem.element,
        "transpose": problem.transpose,
        "order": storage_order(job.variant, problem),
        "alpha": problem.alpha,
        "beta": problem.beta,
        "seed": problem.seed,
        "verdict": result.verdict,
        "max_error": result.check and result.check.max_error,
        "failure": result.failure and result.failure.sentence,
        "samples": known.samples,
        "launches": known.launches,
        "median_seconds": summary and summary.median,
        "low_seconds": summary and summary.low,
        "high_seconds": summary and summary.high,
        "q1_seconds": summary and summary.q1,
        "q3_seconds": summary and summary.q3,
        "minimum_seconds": summary and summary.minimum,
        "iqr_seconds": spread and spread.iqr_seconds,
        "outliers": spread and spread.outliers,
        "drift": spread and spread.drift,
        "flops_per_second": flops_per_second(result, summary.median if summary else None),
        "library": library.text if library is not None else "",
        "policy": name_of(job.policy),
        "stop_reason": "stopped" if result.stopped else result.stop_reason,
        "timer": trust.badge if trust is not None else "",
        "cache": job.policy.cache,
        "quiet": job.policy.quiet,
        "load": context and context.load,
        "app_version": context.app_version if context is not None else "",
        "build_options": context.build_options if context is not None else job.build_options,
    }


def flops_per_second(result: Result, median_seconds: float | None) -> float | None:
    """Throughput at the median time of one launch; None without one."""
    if not median_seconds:
        return None
    return flop(result.job.variant, result.job.problem) / median_seconds


def moment_text(seconds: float) -> str | None:
    """Seconds since the Unix epoch as ISO 8601 in UTC; None for 0, which no run has."""
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def table(results: Iterable[tuple[int, Result]]) -> list[Row]:
    """The rows of several results with their numbers, and each one's share of the library's speed.

    Args:
        results: Numbers and results, in the order of the rows.
    """
    rows: list[Row] = []
    timings: list[Timing | None] = []
    for number, result in results:
        row = figures(result)
        rows.append({"id": number, **row})
        median = row["median_seconds"]
        sound = median is not None and result.failure is None
        # Without its source, since a table may have a hundred thousand rows.
        job = replace(result.job, variant=replace(result.job.variant, source=""))
        timings.append(Timing(job, median, result.verdict) if sound else None)
    fastest = fastest_libraries(timing for timing in timings if timing is not None)
    for row, timing in zip(rows, timings, strict=True):
        row["library_share"] = library_share(timing, fastest) if timing is not None else None
    return rows


def to_csv(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...] = COLUMNS) -> str:
    """Rows as CSV at full precision, the header first; what is not known is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_field(row.get(name)) for name in columns])
    return text.getvalue()


def _field(value: Any) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return describe_parameters(tuple(value.items()))
    # A spreadsheet would take a text for a formula, as one in a file from elsewhere may be.
    if isinstance(value, str) and value[:1] in _FORMULA_SIGNS and not _OPTION.match(value):
        return f"'{value}"
    return value
