"""Results in T4, the results format that the auto-tuning community agreed on.

Source: the Open Autotuning Results Schema 1.0.0 (TuningSchema, branch T4), as Kernel Tuner 1.x
writes and reads it: one entry a configuration, times in milliseconds, and a word for why one is
not valid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gemmviz.core.model import Result
from gemmviz.core.result_figures import figures, seconds_per_launch

VERSION = "1.0.0"
INVALIDITIES = ("timeout", "compile", "runtime", "correctness", "constraints", "correct")
"""The words that the schema has for what came of a configuration."""

_INVALIDITY = {
    "hang": "timeout",
    "build": "compile",
    "wrong": "correctness",
    "refused": "constraints",
    "not_found": "constraints",
}
"""By the kind of a Failure; every other one is "runtime"."""
_WHAT = ("kernel", "device", "platform", "m", "n", "k", "element", "transpose", "order", "alpha",
         "beta")  # fmt: skip
"""What was run besides parameters: part of a configuration where results differ in it."""
_MEASURED = (
    ("time", "median_seconds", 1e3, "ms"),
    ("time_low", "low_seconds", 1e3, "ms"),
    ("time_high", "high_seconds", 1e3, "ms"),
    ("GFLOP/s", "flops_per_second", 1e-9, "GFLOP/s"),
    ("max_error", "max_error", 1.0, ""),
)
"""Names of measurements, the figures that they are, and what to multiply those by."""


def to_t4(results: Iterable[Result]) -> dict[str, Any]:
    """The results as a T4 document, ready for ``json``.

    ``configuration`` holds the kernel's parameters, and of kernel, device and problem what not all
    results share; what they share is among the ``measurements``. ``correctness`` is the share of
    compared cells that are right, and 0 where nothing was compared. ``runtimes`` are milliseconds
    of one launch, one for each sample; ``compilation_time`` is how long the build took, where
    that is known: little where the driver had it in its cache.

    Args:
        results: In the order of the entries; each is held only while it is read.
    """
    rows: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    for result in results:
        row = figures(result)
        rows.append(row)
        entries.append(
            {
                "timestamp": row["finished_at"] or "",
                "configuration": dict(row["parameters"]),
                "objectives": ["time"],
                "times": _times(result),
                "invalidity": _invalidity(result),
                "correctness": _correctness(result),
                "measurements": _measurements(row),
            }
        )
    for name in _WHAT:
        differs = len({row[name] for row in rows}) > 1
        for row, entry in zip(rows, entries, strict=True):
            if differs:
                entry["configuration"][name] = row[name]
            else:
                entry["measurements"].append({"name": name, "value": row[name], "unit": ""})
    return {"schema_version": VERSION, "results": entries}


def _times(result: Result) -> dict[str, Any]:
    """Milliseconds of the build, where they are known, and of each sample's launch."""
    times: dict[str, Any] = {}
    if result.build_seconds is not None:
        times["compilation_time"] = 1e3 * result.build_seconds
    return {**times, "runtimes": (1e3 * seconds_per_launch(result)).tolist()}


def _measurements(row: dict[str, Any]) -> list[dict[str, Any]]:
    known = [
        {"name": name, "value": row[figure] * factor, "unit": unit}
        for name, figure, factor, unit in _MEASURED
        if row[figure] is not None and math.isfinite(row[figure])
    ]
    return [*known, {"name": "verdict", "value": row["verdict"] or "unknown", "unit": ""}]


def _invalidity(result: Result) -> str:
    if result.verdict == "wrong":
        return "correctness"
    if result.failure is None:
        return "correct" if len(result.samples) else "runtime"
    return _INVALIDITY.get(result.failure.kind, "runtime")


def _correctness(result: Result) -> float:
    check = result.check
    if check is None or not check.cells_checked:
        return 0.0
    if check.verdict == "verified":
        return 1.0
    # Freivalds' test and guards may find wrong what no compared cell shows.
    share = 1 - check.cells_wrong / check.cells_checked
    return min(max(share, 0.0), 1 - 1 / check.cells_checked)
