"""The charts that can be drawn of saved results, by the names that a command knows them by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gemmviz.core.exhibits import HEAT_MAP
from gemmviz.core.kept_sweep import KeptSweep
from gemmviz.core.labels import device_label, form_label
from gemmviz.core.launch import flop
from gemmviz.core.library_share import Timing, fastest_libraries, library_share
from gemmviz.core.metrics import METRICS, THROUGHPUT
from gemmviz.core.model import Result
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.size_curves import size_curves
from gemmviz.core.spread import describe_spread, outlier_mask, spread_of
from gemmviz.core.stats import summarize
from gemmviz.core.sweep_dimensions import KERNEL, dimensions, shape_text
from gemmviz.core.sweep_file import identity
from gemmviz.core.sweep_lines import sweep_lines
from gemmviz.core.sweep_of_results import sweep_of
from gemmviz.core.sweep_scatter import sweep_scatter
from gemmviz.core.verdict import outcome_of
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.comparison_bars import (
    Measurement,
    comparison_bars,
    fastest_bars,
    shared_label,
)
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.parallel_coordinates import ParallelCoordinatesChart
from gemmviz.views.charts.picture import (
    PICTURE_SIZE,
    Drawing,
    offscreen_application,
    run_heading,
    save_drawings,
    show_error_map,
    show_result,
)
from gemmviz.views.charts.scatter import ScatterChart
from gemmviz.views.charts.size_curve import SizeCurveChart
from gemmviz.views.charts.sweep_pictures import count_words, heat_maps
from gemmviz.views.theme import Theme

Draw = Callable[[Sequence[Result]], Chart]
"""Makes a chart of results, of which there is at least one."""


def draw_exhibit(
    name: str,
    results: Sequence[Result],
    path: Path,
    *,
    scale: int = 1,
    theme: Theme | str = "light",
    kept: KeptSweep | None = None,
) -> tuple[Path, ...]:
    """Write a chart of saved results, 1200 x 800 pixels at scale 1, with or without a display.

    Args:
        name: See :func:`drawings`, as for results and kept.
        results: The same.
        path: A file that ends in .svg for a drawing, else a PNG; where there are several charts,
            each has a word of its own in the name.
        scale: 1 to 4, of a PNG.
        theme: A theme, "light" or "dark".
        kept: The same.

    Returns:
        The files.

    Raises:
        EmptyChartError: There is nothing in the chart.
        OSError: A file cannot be written; the message is a sentence.
    """
    return save_drawings(drawings(name, results, kept), path, scale=scale, theme=theme)


def drawings(
    name: str, results: Sequence[Result], kept: KeptSweep | None = None
) -> tuple[Drawing, ...]:
    """The charts of saved results by the name of an exhibit, in the size of a picture.

    It is one chart but for heat maps: of these each race has its own.

    Args:
        name: One of gemmviz.core.exhibits.
        results: At least one, oldest first; the pictures carry them.
        kept: The sweep that the results are of, if it was one.
    """
    offscreen_application()
    if name == HEAT_MAP:
        seen = kept or KeptSweep(*sweep_of(results), tuple(results))
        return heat_maps(seen, swept=kept is not None)
    if name in OF_SWEEPS:
        seen = KeptSweep(*sweep_of(results), tuple(results)) if kept is None else kept
        chart: Chart = OF_SWEEPS[name](seen)
    else:
        chart = GALLERY[name](results)
    chart.resize(*PICTURE_SIZE)
    return (Drawing(chart, results, sweep=identity(kept.sweep) if kept is not None else ""),)


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
    shown, which = fastest_bars(
        [
            Measurement(
                result.device,
                result.job.variant.title,
                result.job.parameters,
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
    chart.set_bars(comparison_bars(shown))
    shared = [shared_label(shown), *_shared(results)[1:]]
    words = "   ·   ".join(filter(None, (*shared, which or count_words(results))))
    chart.set_heading("Comparison", (Line(words),))
    return chart


def _sizes(kept: KeptSweep) -> Chart:
    chart = SizeCurveChart()
    chart.empty_text = "A curve over sizes needs verified results of two sizes or more"
    chart.set_curves(size_curves(kept.sweep, kept.report))
    chart.set_heading("Throughput over size", (Line(_what(kept.results)),))
    return chart


def _scatter(kept: KeptSweep) -> Chart:
    chart = ScatterChart()
    chart.empty_text = "There is no verified result to draw"
    sweep, report = kept.sweep, kept.report
    size = next(metric for metric in METRICS if metric.name == "Size")
    group = next(metric for metric in METRICS if metric.name == "Group size")
    sizes = len({size.compute(cell) for cell in report.cells}) > 1
    names = [each.name for each in dimensions(sweep)]
    by = KERNEL if KERNEL in names else names[0] if names else ""
    chart.set_scatter(sweep_scatter(sweep, report, (size if sizes else group, THROUGHPUT), by))
    chart.set_heading("Throughput of each configuration", (Line(_what(kept.results)),))
    return chart


def _parallel(kept: KeptSweep) -> Chart:
    chart = ParallelCoordinatesChart()
    chart.empty_text = "Parallel axes need results that differ in three things or more"
    chart.set_lines(sweep_lines(kept.sweep, kept.report))
    chart.set_heading("Parallel coordinates", (Line(_what(kept.results)),))
    return chart


def _problem(result: Result) -> str:
    problem = result.job.problem
    return ", ".join(
        filter(None, (f"{shape_text(problem)} {problem.element}", form_label(problem)))
    )


def _what(results: Sequence[Result]) -> str:
    """What all results share, and how many there are."""
    return "   ·   ".join(filter(None, (*_shared(results), count_words(results))))


def _shared(results: Sequence[Result]) -> tuple[str, str, str]:
    """The kernel, the problem and the device that all results have, or ""."""
    titles = {result.job.variant.title for result in results}
    problems, devices = set(map(_problem, results)), {device_label(each.device) for each in results}
    title, problem, device = ("".join(each if len(each) == 1 else ())
                              for each in (titles, problems, devices))  # fmt: skip
    return title, problem, device


GALLERY: dict[str, Draw] = {
    "live": _live,
    "distribution": _distribution,
    "error-map": _error_map,
    "compare": _compare,
}
"""Charts of results as such, by the names of gemmviz.core.exhibits; see OF_SWEEPS."""

OF_SWEEPS: dict[str, Callable[[KeptSweep], Chart]] = {
    "sizes": _sizes,
    "scatter": _scatter,
    "parallel": _parallel,
}
"""Charts of results seen as a sweep; heat maps besides, of which there may be several."""
