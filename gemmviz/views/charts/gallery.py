"""The charts that can be drawn of saved results, by the names that a command knows them by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gemmviz.core.labels import device_label, form_label
from gemmviz.core.launch import describe_parameters, flop
from gemmviz.core.library_share import Timing, fastest_libraries, library_share
from gemmviz.core.metrics import METRICS, THROUGHPUT
from gemmviz.core.model import Result
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.size_curves import size_curves
from gemmviz.core.spread import describe_spread, outlier_mask, spread_of
from gemmviz.core.stats import summarize
from gemmviz.core.sweep_dimensions import KERNEL, RACE, SHAPE, dimensions, shape_text
from gemmviz.core.sweep_grid import sweep_grid
from gemmviz.core.sweep_of_results import sweep_of
from gemmviz.core.sweep_scatter import sweep_scatter
from gemmviz.core.verdict import outcome_of
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.comparison_bars import Measurement, comparison_bars
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.picture import (
    PICTURE_SIZE,
    offscreen_application,
    run_heading,
    show_error_map,
    show_result,
)
from gemmviz.views.charts.scatter import ScatterChart
from gemmviz.views.charts.size_curve import SizeCurveChart
from gemmviz.views.export import save_png, save_svg
from gemmviz.views.theme import THEMES, Theme

Draw = Callable[[Sequence[Result]], Chart]
"""Makes a chart of results, of which there is at least one."""


def draw_exhibit(
    name: str,
    results: Sequence[Result],
    path: Path | str,
    *,
    scale: int = 1,
    theme: Theme | str = "light",
) -> None:
    """Write a chart of saved results, 1200 x 800 pixels at scale 1, with or without a display.

    Args:
        name: One of GALLERY.
        results: At least one; a PNG carries them.
        path: A file that ends in .svg for a drawing, else a PNG.
        scale: 1 to 4, of a PNG.
        theme: A theme, "light" or "dark".

    Raises:
        OSError: The file cannot be written; the message is a sentence.
    """
    chart = exhibit(name, results)
    colors = THEMES[theme] if isinstance(theme, str) else theme
    if Path(path).suffix.lower() == ".svg":
        save_svg(chart, path, theme=colors)
    else:
        save_png(chart, path, scale=scale, theme=colors, results=results)
    chart.deleteLater()


def exhibit(name: str, results: Sequence[Result]) -> Chart:
    """A chart of saved results in the size of a picture; see :func:`draw_exhibit`."""
    offscreen_application()
    chart = GALLERY[name](results)
    chart.resize(*PICTURE_SIZE)
    return chart


def _live(results: Sequence[Result]) -> Chart:
    chart = LiveChart()
    show_result(chart, results[-1])
    return chart


def _distribution(results: Sequence[Result]) -> Chart:
    chart = DistributionChart()
    show_distribution(chart, results[-1])
    return chart


def _error_map(results: Sequence[Result]) -> Chart:
    chart = ErrorMapChart()
    show_error_map(chart, results[-1])
    return chart


def show_distribution(chart: DistributionChart, result: Result) -> None:
    """Put the samples of a finished run on a chart of their distribution, under a heading."""
    seconds = seconds_per_launch(result)
    spread, outcome = spread_of(seconds), outcome_of(result)
    launches = int(sum(result.samples.launches))
    title, lines = run_heading(result.job, result.device, outcome, summarize(seconds), launches)
    remarks = describe_spread(spread) if spread is not None else ()
    chart.set_heading(title, (*lines, *(Line(remark, "warn") for remark in remarks)))
    chart.export_title = f"Distribution of {result.job.variant.id} on {device_label(result.device)}"
    if result.failure is not None:
        chart.empty_text = result.failure.sentence
    if outcome.objection:
        chart.set_struck(True, f"{outcome.objection.capitalize()}: the figures do not count")
    chart.set_samples(seconds, outlier_mask(seconds), drifts=spread is not None and spread.drifts)


def _compare(results: Sequence[Result]) -> Chart:
    measured = [
        (result, summary)
        for result in results
        if (summary := summarize(seconds_per_launch(result))) is not None
    ]
    fastest = fastest_libraries(
        Timing(result.job, summary.median, result.verdict) for result, summary in measured
    )
    chart = CompareChart()
    chart.empty_text = "None of these results has a sample"
    chart.set_bars(
        comparison_bars(
            [
                Measurement(
                    result.device,
                    _label(result),
                    _problem(result),
                    flop(result.job.variant, result.job.problem),
                    summary,
                    outcome_of(result).objection,
                    library_share=library_share(
                        Timing(result.job, summary.median, result.verdict), fastest
                    ),
                )
                for result, summary in measured
            ]
        )
    )
    chart.set_heading("Comparison", (Line(_what(results)),))
    return chart


def _heat_map(results: Sequence[Result]) -> Chart:
    chart = HeatMapChart()
    sweep, report = sweep_of(results)
    known = dimensions(sweep)
    # Kernels have few parameters in common: shapes are what they can be laid out over.
    several = any(each.name == KERNEL for each in known)
    varying = sorted(
        known, key=lambda each: (several and each.name not in (KERNEL, SHAPE), -len(each.values))
    )
    names = [each.name for each in known if each in varying[:2]]
    if several:
        names.sort(key=lambda name: name == KERNEL)
    grid = None
    if names:
        grid = sweep_grid(sweep, report, (names[0], names[1] if len(names) > 1 else ""))
    rest = [each for each in known if each.name not in names]
    fixed = [f"{each.texts[0]} alone" for each in rest if each.name in RACE]
    best = [each.name for each in rest if each.name not in RACE]
    lines = [_what(results), *fixed, f"the best of each {', '.join(best)}" if best else ""]
    chart.empty_text = "A heat map needs results that differ in something"
    chart.set_grid(grid)
    chart.set_heading("Heat map", (Line("   ·   ".join(filter(None, lines))),))
    return chart


def _sizes(results: Sequence[Result]) -> Chart:
    chart = SizeCurveChart()
    chart.empty_text = "A curve over sizes needs verified results of two sizes or more"
    chart.set_curves(size_curves(*sweep_of(results)))
    chart.set_heading("Throughput over size", (Line(_what(results)),))
    return chart


def _scatter(results: Sequence[Result]) -> Chart:
    chart = ScatterChart()
    chart.empty_text = "There is no verified result to draw"
    sweep, report = sweep_of(results)
    size = next(metric for metric in METRICS if metric.name == "Size")
    group = next(metric for metric in METRICS if metric.name == "Group size")
    sizes = len({size.compute(cell) for cell in report.cells}) > 1
    names = [each.name for each in dimensions(sweep)]
    by = KERNEL if KERNEL in names else names[0] if names else ""
    chart.set_scatter(sweep_scatter(sweep, report, (size if sizes else group, THROUGHPUT), by))
    chart.set_heading("Throughput of each configuration", (Line(_what(results)),))
    return chart


def _label(result: Result) -> str:
    return f"{result.job.variant.title} {describe_parameters(result.job.parameters)}".strip()


def _problem(result: Result) -> str:
    problem = result.job.problem
    return ", ".join(
        filter(None, (f"{shape_text(problem)} {problem.element}", form_label(problem)))
    )


def _what(results: Sequence[Result]) -> str:
    """What all results share, and how many there are."""
    parts = []
    for words in (
        {result.job.variant.title for result in results},
        {_problem(result) for result in results},
        {device_label(result.device) for result in results},
    ):
        parts += [*words] if len(words) == 1 else []
    count = len(results)
    return "   ·   ".join([*parts, f"{count} result{'s' * (count != 1)}"])


GALLERY: dict[str, Draw] = {
    "live": _live,
    "distribution": _distribution,
    "error-map": _error_map,
    "compare": _compare,
    "sizes": _sizes,
    "heat-map": _heat_map,
    "scatter": _scatter,
}
"""Every chart of gemmviz.core.exhibits, by its name; a new one is a row there and one here."""
