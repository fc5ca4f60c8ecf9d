"""Any two figures of a sweep against each other, a mark for each configuration."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gemmviz.core.metrics import THROUGHPUT, TIME, Metric
from gemmviz.core.sweep_dimensions import is_rough
from gemmviz.core.sweep_scatter import ScatterPoint, SweepScatter
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Plot
from gemmviz.views.charts.colors import COLORS, Look
from gemmviz.views.charts.legend import Entry
from gemmviz.views.charts.point_chart import PointChart
from gemmviz.views.charts.point_layer import SHAPES, Mark
from gemmviz.views.charts.sweep_words import HOLLOW_WORDS, RECOMMENDED_SIGN, RECOMMENDED_WORDS
from gemmviz.views.theme import DARK, Theme, series_color

_ROOM = 0.06  # of the range, on each side
_KIB = 1024.0
_NO_GROUP = "#8a8f99"  # of marks that have no value of what colours tell
_SIGNS = "●■▲◆▼✚"  # as the shapes of the marks


class ScatterChart(PointChart):
    """Marks over two figures; their colour and shape tell the value of a third thing."""

    export_title = "Scatter"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        plot = Plot()
        left = UnitAxis("left", plot, THROUGHPUT.name, THROUGHPUT.unit)
        bottom = UnitAxis("bottom", plot, TIME.name, TIME.unit)
        super().__init__((left, bottom), plot, parent, theme)
        self.empty_text = "Start a sweep to see every configuration as a mark"
        self._scatter: SweepScatter | None = None
        self.set_theme(theme)
        self.set_scatter(None)

    @property
    def scatter(self) -> SweepScatter | None:
        """What is drawn."""
        return self._scatter

    def set_scatter(self, scatter: SweepScatter | None) -> None:
        """Draw these points; None is the empty chart."""
        before = self._scatter
        self._scatter = scatter
        if before is None or scatter is None or (before.x, before.y) != (scatter.x, scatter.y):
            self._zoomed = False
        if scatter is None:
            self._layer.show_all(())
        else:
            _name(self._bottom, scatter.x)
            _name(self._left, scatter.y)
            self._layer.show_all(tuple(_mark(scatter, point) for point in scatter.points))
        self._show_legend()
        self._show_parts()

    def _show_legend(self) -> None:
        scatter = self._scatter
        if scatter is None:
            self._legend.set_entries(())
            return
        entries = []
        if scatter.by is not None:
            for place, text in enumerate(scatter.by.texts):
                words = f"{_SIGNS[place % SHAPES]} {text}"
                words = words if place else f"{_SIGNS[0]} {scatter.by.name} {text}"
                entries.append(Entry(words, _look(place)))
            if any(point.group < 0 for point in scatter.points):
                entries.append(Entry(f"{_SIGNS[0]} without {scatter.by.name}", Look(_NO_GROUP)))
        if any(point.best for point in scatter.points):
            entries.append(Entry("○ ringed: among the best"))
            entries.append(Entry(f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS}"))
        if any(is_rough(point.cell) for point in scatter.points):
            entries.append(Entry(HOLLOW_WORDS))
        self._legend.set_entries(tuple(entries))

    def _fit(self) -> None:
        marks = self._layer.marks
        if not marks:
            return
        for place, values in enumerate(zip(*((mark.x, mark.y) for mark in marks), strict=True)):
            low, high = min(values), max(values)
            room = _ROOM * (high - low) or 0.1 * abs(high) or 1.0
            ends = low - room, high + room
            if place == 0:
                self._plot.setXRange(*ends, padding=0)
            else:
                self._plot.setYRange(*ends, padding=0)


def _name(axis: UnitAxis, metric: Metric) -> None:
    """Name an axis by a metric; memory is in KiB, and nobody counts kilo-registers."""
    prefixed = metric.unit not in ("", "B")
    axis.set_quantity(metric.name, "KiB" if metric.unit == "B" else metric.unit, prefixed=prefixed)


def _look(group: int) -> Look:
    return Look(series_color(group), group // COLORS % 4)


def _mark(scatter: SweepScatter, point: ScatterPoint) -> Mark:
    scales = [_KIB if metric.unit == "B" else 1.0 for metric in (scatter.x, scatter.y)]
    by, group = scatter.by, max(point.group, 0)
    color = _NO_GROUP if by is not None and point.group < 0 else series_color(group)
    about = f", {by.name} {by.texts[point.group]}" if by is not None and point.group >= 0 else ""
    title = (
        f"{scatter.x.name} {scatter.x.text(point.x)}, {scatter.y.name} {scatter.y.text(point.y)}"
    )
    return Mark(
        point.x / scales[0], point.y / scales[1], color, group % SHAPES, point.cell,
        f"{title}{about}", None, point.best, point.recommended, is_rough(point.cell),
    )  # fmt: skip
