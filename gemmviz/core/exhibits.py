"""The charts that can be drawn of saved results: their names, known without loading Qt."""

from __future__ import annotations

from dataclasses import dataclass


class EmptyChartError(ValueError):
    """A chart that would be empty; the message says why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A chart of saved results.

    Attributes:
        name: As a command names it.
        most: So many results it shows, the last ones; None for all.
        text: What it shows, in a few words.
    """

    name: str
    most: int | None
    text: str


HEAT_MAP = "heat-map"
"""The name of the chart of sweeps."""

EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit("live", 1, "every sample over time"),
    Exhibit("distribution", 1, "how the times are spread"),
    Exhibit("error-map", 1, "where the answer is wrong"),
    Exhibit("compare", 1000, "throughput as bars with intervals, of many the fastest"),
    Exhibit("sizes", None, "throughput over size, a line for each kernel"),
    Exhibit(HEAT_MAP, None, "throughput over the two things that matter most, as a sweep found it"),
    Exhibit("scatter", None, "throughput of each configuration"),
    Exhibit("parallel", None, "each configuration as a line over all that varies"),
)
"""Every one that gemmviz.views.charts.gallery draws."""


def exhibit_of(name: str) -> Exhibit:
    """The chart of a name.

    Raises:
        KeyError: There is none.
    """
    return {exhibit.name: exhibit for exhibit in EXHIBITS}[name]
