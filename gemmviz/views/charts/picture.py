"""The pictures of one finished run, each under a heading that says what was run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from PySide6.QtWidgets import QApplication

from gemmviz.core import units
from gemmviz.core.error_map import ErrorMap
from gemmviz.core.exhibits import EmptyChartError
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.model import Device, Job, Result
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import FEWEST_FOR_95, Summary, summarize
from gemmviz.core.verdict import Outcome, outcome_of
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.export import save_png, save_svg
from gemmviz.views.theme import THEMES, Theme

_C = TypeVar("_C", bound=Chart)

PICTURE_SIZE = (1200, 800)
"""Width and height in pixels at scale 1."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart to be saved, with what a picture of it carries.

    Attributes:
        chart: The chart.
        results: What it shows.
        name: What tells it from others that are drawn at once, as a part of a file's name; "" where
            it is the only one.
        sweep: The identity of the sweep that it shows, or "".
    """

    chart: Chart
    results: Sequence[Result] = ()
    name: str = ""
    sweep: str = ""

    def path(self, asked: Path) -> Path:
        """The file that it goes to where ``asked`` is what a person has named."""
        return asked.with_stem(f"{asked.stem}-{self.name}") if self.name else asked

    def save(self, path: Path | str, *, scale: int = 1, theme: Theme | str = "light") -> None:
        """Write it into a file: a drawing where the name ends in .svg, else a PNG.

        Args:
            path: The file.
            scale: 1 to 4, of a PNG.
            theme: A theme, "light" or "dark".

        Raises:
            OSError: The file cannot be written; the message is a sentence.
        """
        colors = THEMES[theme] if isinstance(theme, str) else theme
        if Path(path).suffix.lower() == ".svg":
            save_svg(self.chart, path, theme=colors, results=self.results, sweep=self.sweep)
        else:
            save_png(self.chart, path, scale=scale, theme=colors, results=self.results,
                     sweep=self.sweep)  # fmt: skip


def save_drawings(
    drawings: Sequence[Drawing], path: Path, *, scale: int = 1, theme: Theme | str = "light"
) -> tuple[Path, ...]:
    """Write charts into the files that they go to; empty ones are left out.

    Args:
        drawings: The charts, which are done with then.
        path: What a person has named.
        scale: See :meth:`Drawing.save`.
        theme: The same.

    Returns:
        The files.

    Raises:
        EmptyChartError: All are empty.
        OSError: A file cannot be written; the message is a sentence.
    """
    whole = [each for each in drawings if not each.chart.is_empty()]
    try:
        if not whole:
            raise EmptyChartError(f"{drawings[0].chart.empty_text.rstrip('.')}.")
        for each in whole:
            each.save(each.path(path), scale=scale, theme=theme)
    finally:
        for each in drawings:
            each.chart.deleteLater()
    return tuple(each.path(path) for each in whole)


def offscreen_application() -> None:
    """Make the application that a process without a window needs to draw."""
    if QApplication.instance() is None:
        _application()


@cache
def _application() -> QApplication:
    """Kept, because Qt dies without it."""
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
    chart = _blank(LiveChart, theme)
    show_result(chart, result)
    save_png(chart, path, scale=scale, results=(result,))
    chart.deleteLater()


def draw_error_map_png(
    result: Result, path: Path | str, *, scale: int = 1, theme: Theme | str = "light"
) -> None:
    """Write a picture of where the answer of ``result`` is wrong, 1200 x 800 pixels at scale 1.

    Args:
        result: A finished run. One without an error map gives a picture that says why.
        path: The PNG file to write.
        scale: 1 to 4.
        theme: A theme, "light" or "dark".

    Raises:
        OSError: The file cannot be written; the message is a sentence.
    """
    chart = _blank(ErrorMapChart, theme)
    show_error_map(chart, result)
    save_png(chart, path, scale=scale, results=(result,))
    chart.deleteLater()


def _blank(kind: type[_C], theme: Theme | str) -> _C:
    """A chart of the size of a picture, in a process with or without a window."""
    offscreen_application()
    chart = kind(theme=THEMES[theme] if isinstance(theme, str) else theme)
    chart.resize(*PICTURE_SIZE)
    return chart


def show_result(chart: LiveChart, result: Result) -> None:
    """Put the samples of a finished run on a live chart, under a heading."""
    variant, samples = result.job.variant, result.samples
    seconds = seconds_per_launch(result)
    work = flop(variant, result.job.problem)
    outcome = outcome_of(result)
    if result.failure is not None:
        chart.empty_text = result.failure.sentence
    chart.export_title = f"{variant.id} on {device_label(result.device)}"
    title, lines = run_heading(
        result.job, result.device, outcome, summarize(seconds), sum(samples.launches)
    )
    chart.set_heading(title, lines)
    chart.set_samples(samples.at, seconds, work)
    if outcome.objection:
        chart.set_struck(True, f"{outcome.objection.capitalize()}: the figures do not count")
    elif outcome.tone != "good":
        chart.set_struck(True, "Not checked: the figures may be wrong")
    chart.home()


def show_error_map(chart: ErrorMapChart, result: Result) -> None:
    """Put the error map of a finished run on a chart, under its pattern and what was run."""
    outcome = outcome_of(result)
    chart.export_title = f"Error map of {result.job.variant.id} on {device_label(result.device)}"
    chart.empty_text = why_no_map(outcome)
    chart.set_map(result.error_map)
    title, lines = error_heading(result.job, result.device, outcome, result.error_map)
    chart.set_heading(title, lines)


def why_no_map(outcome: Outcome) -> str:
    """Why there is no error map of a run."""
    if outcome.wrong:
        return "This wrong result left no map of its errors"
    if outcome.failure is not None:
        return f"No answer to map: {outcome.failure.sentence}"
    if outcome.tone == "good":
        return "Every cell that was checked is within its bound: there is no error to map"
    return "The answer was not checked, so no error is known"


def error_heading(
    job: Job, device: Device, outcome: Outcome, error_map: ErrorMap | None
) -> tuple[str, tuple[Line, ...]]:
    """Title and lines above an error map: the pattern, what was run, and how much is wrong."""
    problem = job.problem
    what = (
        f"{job.variant.title} on {device_label(device)}",
        f"M×N×K = {problem_label(problem, '×')}",
        describe_parameters(job.parameters),
        f"seed {problem.seed}",
    )
    lines = [Line("   ·   ".join(part for part in what if part))]
    if outcome.sentence:
        lines.append(Line(outcome.sentence, outcome.tone or "muted"))
    pattern = error_map.pattern if error_map is not None else ""
    return pattern or "No error map", tuple(lines)


def run_heading(
    job: Job, device: Device, outcome: Outcome, summary: Summary | None, launches: int
) -> tuple[str, tuple[Line, ...]]:
    """Title and lines above the charts of a run, finished or under way: what, where, how fast.

    Args:
        job: What was run.
        device: Where.
        outcome: What has come of it so far.
        summary: Of the seconds per launch, or None without a sample.
        launches: How many launches were timed.
    """
    problem, work = job.problem, flop(job.variant, job.problem)
    what = (
        f"M×N×K = {problem_label(problem, '×')}",
        describe_parameters(job.parameters),
        f"{launches:,} launch{'' if launches == 1 else 'es'}{', stopped' * outcome.stopped}",
    )
    where = (device.platform, device.driver_version)
    lines = [
        Line("   ·   ".join(part for part in what if part)),
        Line("   ·   ".join(part for part in where if part)),
    ]
    if summary is not None:
        lines.append(Line(_figures(summary, work), "text", bool(outcome.objection)))
    if outcome.sentence:
        lines.append(Line(outcome.sentence, outcome.tone or "muted"))
    return f"{job.variant.title} on {device_label(device)}", tuple(lines)


def _figures(summary: Summary, work: int) -> str:
    low, high = (100 * (end / summary.median - 1) for end in (summary.low, summary.high))
    rate = units.throughput(work / summary.median)
    what = "95 %" if summary.count >= FEWEST_FOR_95 else "range"
    return f"median {units.duration(summary.median)} ({what}: {low:+.2f} to {high:+.2f} %), {rate}"
