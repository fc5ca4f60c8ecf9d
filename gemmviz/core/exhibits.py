"""The charts that can be drawn of saved results: their names, known without loading Qt."""

from __future__ import annotations

from dataclasses import dataclass


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


EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit("live", 1, "every sample over time"),
    Exhibit("distribution", 1, "how the times are spread"),
    Exhibit("error-map", 1, "where the answer is wrong"),
    Exhibit("compare", 40, "throughput as bars with intervals"),
    Exhibit("sizes", None, "throughput over size, a line for each kernel"),
    Exhibit("heat-map", None, "throughput over the two things that vary most"),
    Exhibit("scatter", None, "throughput of each configuration"),
)
"""Every one that gemmviz.views.charts.gallery draws."""


def exhibit_of(name: str) -> Exhibit:
    """The chart of a name.

    Raises:
        KeyError: There is none.
    """
    return {exhibit.name: exhibit for exhibit in EXHIBITS}[name]
