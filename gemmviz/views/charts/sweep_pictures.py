"""Pictures of a sweep: its heat maps, one for each race."""

from __future__ import annotations

from collections.abc import Sequence

from gemmviz.core.kept_sweep import KeptSweep, configurations
from gemmviz.core.model import Result
from gemmviz.core.sweep_file import identity
from gemmviz.core.sweep_map import SweepMap, part_of, sweep_maps
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.charts.picture import PICTURE_SIZE, Drawing, offscreen_application

_MOST_WINNERS = 2


def heat_maps(kept: KeptSweep, *, swept: bool = True) -> tuple[Drawing, ...]:
    """The heat maps of a sweep, at least one, in the size of a picture.

    Args:
        kept: What they show; each carries the results of its own races.
        swept: Whether it was a sweep, and not results that are only seen as one: of these it is
            said how many there are.
    """
    offscreen_application()
    sweep, results = kept.sweep, kept.results
    names = configurations(sweep, results)
    drawings = []
    for shown in sweep_maps(sweep, kept.report):
        own = [each for each, name in zip(results, names, strict=True) if shown.shows(name)]
        text = identity(part_of(sweep, shown)) if swept else ""
        remark = "" if swept else count_words(own)
        drawings.append(Drawing(_chart(shown, remark), own, shown.name, text))
    return tuple(drawings)


def count_words(results: Sequence[Result]) -> str:
    """How many results there are: "31 results"."""
    return f"{len(results):,} result{'s' * (len(results) != 1)}"


def _chart(shown: SweepMap, remark: str) -> HeatMapChart:
    chart = HeatMapChart()
    chart.empty_text = "A heat map needs results that differ in something"
    chart.export_title = f"Heat map of {shown.title}"
    chart.set_grid(shown.grid)
    words = "   ·   ".join(filter(None, (remark, shown.free)))
    lines = [Line(words)] if words else []
    lines += [Line(each.words, "text") for each in shown.winners[:_MOST_WINNERS] if each.words]
    more = len(shown.winners) - _MOST_WINNERS
    if more > 0:
        lines.append(Line(f"and {more} more, each with its star", "text"))
    chart.set_heading(shown.title, tuple(lines))
    chart.resize(*PICTURE_SIZE)
    return chart
