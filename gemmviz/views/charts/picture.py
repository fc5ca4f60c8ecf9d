"""The picture of one finished run: both live plots under a heading that says what was run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QApplication

from gemmviz.core import units
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.model import Check, Result
from gemmviz.core.stats import FEWEST_FOR_95, Summary, summarize
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.export import save_png
from gemmviz.views.theme import THEMES, Theme

PICTURE_SIZE = (1200, 800)
"""Width and height in pixels at scale 1."""


@cache
def _offscreen_application() -> QApplication:
    """The one application of a process without a window; kept, because Qt dies without it."""
    return QApplication(["gemmviz", "-platform", "offscreen"])


def draw_result_png(
    result: Result, path: Path | str, *, scale: int = 1, theme: Theme | str = "light"
) -> None:
    """Write a picture of ``result``, 1200 x 800 pixels at scale 1, with or without a display.

    Args:
        result: A finished run. One without samples gives a picture of its failure.
        path: The PNG file to write.
        scale: 1 to 4.
        theme: A theme, "light" or "dark".

    Raises:
        OSError: The file cannot be written; the message is a sentence.
    """
    if QApplication.instance() is None:
        _offscreen_application()
    chart = LiveChart(theme=THEMES[theme] if isinstance(theme, str) else theme)
    chart.resize(*PICTURE_SIZE)
    show_result(chart, result)
    save_png(chart, path, scale=scale)
    chart.deleteLater()


def show_result(chart: LiveChart, result: Result) -> None:
    """Put the samples of a finished run on a live chart, under a heading."""
    variant, samples = result.job.variant, result.samples
    seconds = np.asarray(samples.seconds, dtype=float) / np.asarray(samples.launches, dtype=float)
    work = flop(variant, result.job.problem)
    if result.failure is not None:
        chart.empty_text = result.failure.sentence
    chart.export_title = f"{variant.id} on {device_label(result.device)}"
    chart.set_heading(
        f"{variant.title} on {device_label(result.device)}", _lines(result, seconds, work)
    )
    chart.set_samples(samples.at, seconds, work)
    if result.verdict == "wrong":
        chart.set_struck(True)
    elif result.verdict != "verified":
        chart.set_struck(True, "Not checked: the figures may be wrong")
    chart.home()


def _lines(result: Result, seconds: np.ndarray, work: int) -> tuple[Line, ...]:
    job, problem = result.job, result.job.problem
    launches = sum(result.samples.launches)
    what = (
        f"M×N×K = {problem.m} × {problem.n} × {problem.k} {problem.element}",
        describe_parameters(job.parameters),
        f"{launches} launch{'' if launches == 1 else 'es'}{', stopped' if result.stopped else ''}",
    )
    where = (result.device.platform, result.device.driver_version)
    lines = [
        Line("   ·   ".join(part for part in what if part)),
        Line("   ·   ".join(part for part in where if part)),
    ]
    summary = summarize(seconds)
    if summary is not None:
        lines.append(Line(_figures(summary, work), "text", result.verdict == "wrong"))
    lines.append(_verdict(result))
    return tuple(lines)


def _figures(summary: Summary, work: int) -> str:
    low, high = (100 * (end / summary.median - 1) for end in (summary.low, summary.high))
    rate = units.throughput(work / summary.median)
    what = "95 %" if summary.count >= FEWEST_FOR_95 else "range"
    return f"median {units.duration(summary.median)} ({what}: {low:+.2f} to {high:+.2f} %), {rate}"


def _verdict(result: Result) -> Line:
    if result.failure is not None and result.verdict != "wrong":
        return Line(f"✗ {result.failure.sentence}", "bad")
    if result.check is None:
        return Line("not checked", "warn")
    return Line(*_check_line(result.check))


def _check_line(check: Check) -> tuple[str, str]:
    if check.verdict == "wrong":
        wrong = f"{check.cells_wrong:,} of {check.cells_checked:,} cells"
        return f"✗ wrong result: {wrong} are off", "bad"
    if check.verdict == "verified":
        return f"✓ verified: {check.cells_checked:,} cells checked", "good"
    return "not checked", "warn"
