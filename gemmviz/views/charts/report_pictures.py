"""The charts of an HTML report, each drawn light and dark, as data URIs."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImageWriter

from gemmviz import __version__
from gemmviz.core.exhibits import HEAT_MAP, exhibit_of
from gemmviz.core.html_report import Picture, Report, fastest_of_each, report_page
from gemmviz.core.model import Result
from gemmviz.core.result_figures import table
from gemmviz.core.verdict import outcome_of
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.gallery import drawings
from gemmviz.views.charts.heading import Heading
from gemmviz.views.export import render_chart, render_svg
from gemmviz.views.theme import DARK, LIGHT, Theme

MOST_DETAILED = 12
"""So many results are told one by one; a page of more would be too long to read."""

_MOST_MAPS = 4
_SIZE = (960, 560)
_DETAIL_SIZE = (930, 520)
_MOST_SVG_BYTES = 200_000  # a drawing with more marks is smaller as pixels
_OVERVIEW = {
    "compare": "Throughput with the interval of the median, as many as are readable",
    "sizes": "Throughput over size: the best of each kernel",
    HEAT_MAP: "Throughput over what matters most",
}


def report_of(numbered: Sequence[tuple[int, Result]], source: str) -> str:
    """The page about results, with every chart that tells something.

    Args:
        numbered: Numbers and results, oldest first; at least one.
        source: What they come from, as a person calls it.
    """
    report = Report(
        source,
        numbered,
        overview_pictures([result for _, result in numbered]),
        detail_pictures(numbered),
    )
    return report_page(report, __version__, datetime.now().astimezone())


def overview_pictures(results: Sequence[Result]) -> tuple[Picture, ...]:
    """What the results look like together; charts with nothing to draw are left out."""
    if len(results) < 2:
        return ()
    pictures = []
    one_kernel = len({result.job.variant.id for result in results}) == 1
    for name, caption in _OVERVIEW.items():
        if name == HEAT_MAP and not one_kernel:
            continue  # over kernels and sizes it would say what the lines say
        most = exhibit_of(name).most
        chosen = results if most is None else results[-most:]
        charts = _charts(name, chosen, _SIZE, lines=True)
        pictures += [_picture(chart, caption) for chart in charts]
    return tuple(pictures)


def detail_pictures(results: Sequence[tuple[int, Result]]) -> Mapping[int, Sequence[Picture]]:
    """The charts of the results that are worth telling one by one, by their numbers.

    These are all where they are few, else what went wrong and what was fastest.
    """
    chosen = _worth_telling(results)
    return {number: _details(result) for number, result in results if number in chosen}


def _worth_telling(results: Sequence[tuple[int, Result]]) -> frozenset[int]:
    if len(results) <= MOST_DETAILED:
        return frozenset(number for number, _ in results)
    objected = [number for number, result in results if outcome_of(result).tone == "bad"]
    fastest = sorted(fastest_of_each(results, table(results)))
    half = MOST_DETAILED // 2
    chosen = objected[-half:]
    chosen += fastest[len(chosen) - MOST_DETAILED :]
    return frozenset(chosen)


def _details(result: Result) -> tuple[Picture, ...]:
    names = {"distribution": "The times of its launches, by length and in run order"}
    if result.error_map is not None:
        names["error-map"] = "Where its answer is wrong"
    pictures = []
    for name, caption in names.items():
        charts = _charts(name, [result], _DETAIL_SIZE)
        pictures += [_picture(chart, caption) for chart in charts]
    return tuple(pictures)


def _charts(
    name: str, results: Sequence[Result], size: tuple[int, int], *, lines: bool = False
) -> Iterator[Chart]:
    """Charts with something in them, without the headings that the page has itself.

    Each is gone when the next one is asked for.

    Args:
        name: Of the exhibit.
        results: What they show.
        size: In pixels.
        lines: Whether what stands below the title is kept; of a map the title too.
    """
    for drawing in drawings(name, results)[:_MOST_MAPS]:
        chart = drawing.chart
        chart.resize(*size)
        chart.settle()
        for item in chart.scene().items():
            if isinstance(item, Heading):
                title, below = item.text
                item.set_text(title if name == HEAT_MAP else "", below if lines else ())
        if not chart.is_empty():
            yield chart
        chart.deleteLater()


def _picture(chart: Chart, caption: str) -> Picture:
    light, dark = (_uri(chart, theme) for theme in (LIGHT, DARK))
    return Picture(caption, light, dark, chart.width(), chart.height())


def _uri(chart: Chart, theme: Theme) -> str:
    drawing = render_svg(chart, theme=theme)
    if len(drawing) <= _MOST_SVG_BYTES:
        return f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode('ascii')}"
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"png").write(render_chart(chart, scale=2, theme=theme))
    return f"data:image/png;base64,{base64.b64encode(buffer.data().data()).decode('ascii')}"
