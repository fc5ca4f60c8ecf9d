"""Speed over size: a line for each kernel, and where one overtakes another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from gemmviz.core import units
from gemmviz.core.size_curves import Crossing, SizeCurve, crossings
from gemmviz.core.sweep_dimensions import is_rough, shape_text
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Plot
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.legend import Entry
from gemmviz.views.charts.point_chart import PointChart
from gemmviz.views.charts.point_layer import Junction, Mark, Trail
from gemmviz.views.charts.sweep_words import HOLLOW_WORDS
from gemmviz.views.theme import DARK, Theme

_ROOM = 0.15  # octaves beside the first and the last size
_HEADROOM = 1.12
_MOST_LABELS = 6  # crossings that have their size beside them


class SizeAxis(UnitAxis):
    """A bottom axis of sizes at their logarithms to the base 2: powers of two are numbered."""

    def __init__(self, plot: Plot) -> None:
        super().__init__("bottom", plot, "Size", "")
        self.enableAutoSIPrefix(False)
        self._sizes: tuple[float, ...] = ()

    def set_sizes(self, sizes: tuple[float, ...], text: str) -> None:
        """Number these sizes where there are too few powers of two; ``text`` names the axis."""
        self._sizes = sizes
        self.set_quantity(text, "")
        self.picture = None
        self.update()

    def tickValues(
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        """Whole octaves, every second or third where they are many."""
        octaves = [float(each) for each in range(math.ceil(low), math.floor(high) + 1)]
        if len(octaves) < 2:
            inside = [math.log2(each) for each in self._sizes if low <= math.log2(each) <= high]
            return [(1.0, inside)]
        step = max(1, math.ceil(len(octaves) * 46 / max(size, 1)))
        return [(float(step), octaves[::step])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Sizes in full."""
        return [f"{round(2**value):,}" for value in values]


class SizeCurveChart(PointChart):
    """Throughput of the best configuration of each kernel over log2 of the size.

    A filled diamond is a crossing at which the intervals of both kernels lie apart on both sides, a
    hollow one may as well be elsewhere.
    """

    export_title = "Size curve"

    def __init__(
        self,
        parent: QWidget | None = None,
        theme: Theme = DARK,
        *,
        kernels: ColorBook | None = None,
    ) -> None:
        plot = Plot()
        self._kernels = kernels or ColorBook()
        self._sizes = SizeAxis(plot)
        left = UnitAxis("left", plot, "Throughput", "FLOP/s")
        super().__init__((left, self._sizes), plot, parent, theme)
        self.empty_text = "Sweep two sizes or more to see which kernel is best at which"
        self._curves: tuple[SizeCurve, ...] = ()
        self._crossings: tuple[Crossing, ...] = ()
        self.set_theme(theme)
        self.set_curves(())

    @property
    def curves(self) -> tuple[SizeCurve, ...]:
        """What is drawn."""
        return self._curves

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where the lines cross."""
        return self._crossings

    def set_curves(self, curves: tuple[SizeCurve, ...]) -> None:
        """Draw these lines; fewer than two sizes are an empty chart."""
        sizes = tuple(sorted({point.size for curve in curves for point in curve.points}))
        self._curves = curves if len(sizes) > 1 else ()
        self._crossings = crossings(self._curves)
        marks, trails, entries = [], [], []
        for place, curve in enumerate(self._curves):
            look = self._kernels.look(curve.name)
            number = str(place + 1) if len(self._curves) > 1 else ""
            entries.append(Entry(curve.name, look, number=number))
            trails.append(
                Trail(look.color, number, tuple(
                    (math.log2(point.size), point.speed) for point in curve.points
                ))
            )  # fmt: skip
            marks += [
                Mark(
                    math.log2(point.size), point.speed, look.color, place, point.cell,
                    f"{curve.name}, {shape_text(point.problem)}", point.ends,
                    rough=is_rough(point.cell),
                )
                for point in curve.points
            ]  # fmt: skip
        if any(mark.rough for mark in marks):
            entries.append(Entry(HOLLOW_WORDS))
        if self._crossings:
            entries.append(Entry("◆ one overtakes another"))
            if not all(each.sure for each in self._crossings):
                entries.append(Entry("◇ perhaps elsewhere: the intervals overlap"))
        cubes = all(
            point.problem.m == point.problem.n == point.problem.k
            for curve in self._curves
            for point in curve.points
        )
        self._sizes.set_sizes(sizes, "M = N = K" if cubes else "Cube root of M N K")
        self._legend.set_entries(tuple(entries))
        named = [each for each in self._crossings if each.leads][:_MOST_LABELS]
        junctions = tuple(_junction(each, named=each in named) for each in self._crossings)
        self._layer.show_all(tuple(marks), tuple(trails), junctions)
        self._show_parts()

    def _fit(self) -> None:
        marks = self._layer.marks
        if not marks:
            return
        across = [mark.x for mark in marks]
        self._plot.setXRange(min(across) - _ROOM, max(across) + _ROOM, padding=0)
        top = max(mark.ends[1] if mark.ends else mark.y for mark in marks)
        self._plot.setYRange(0.0, _HEADROOM * top, padding=0)


def _junction(crossing: Crossing, *, named: bool) -> Junction:
    low, high = (f"{size:.0f}" for size in crossing.between)
    lines = [
        f"about {crossing.size:.0f}, between {low} and {high}",
        f"below: {crossing.below}",
        f"above: {crossing.above}",
        f"{units.throughput(crossing.speed)} there",
    ]
    if not crossing.sure:
        lines.append("their intervals overlap, so it may be elsewhere")
    if not crossing.leads:
        lines.append("another kernel is faster there")
    return Junction(
        math.log2(crossing.size), crossing.speed, crossing.sure,
        f"≈ {crossing.size:.0f}" if named else "", "\n".join(lines),
    )  # fmt: skip
