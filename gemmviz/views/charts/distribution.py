"""The distribution of a run: how its durations are spread, and in which order they came."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core import stats, units
from gemmviz.views.charts.axis import CountAxis, UnitAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.histogram import Histogram, histogram
from gemmviz.views.charts.histogram_layer import HEAD_PIXELS, LEAST_COUNT, Band, HistogramLayer
from gemmviz.views.charts.histogram_words import bars_of, bin_words, range_words
from gemmviz.views.charts.layers import Hover, MarkLayer, SampleLayer, Series
from gemmviz.views.charts.order_layer import Marks, OrderLayer
from gemmviz.views.charts.range_plot import RangePlot
from gemmviz.views.charts.trace import Floats, Thinned, Trace
from gemmviz.views.theme import DARK, Theme

_MARGIN = 0.03
_MOST_MARKS = 500
_MOST_CHOSEN = 1500
_REACH_PIXELS = 4
_LOW_PIXELS = 340  # below this height the plots need every pixel
_NONE: Floats = np.empty(0)


class DistributionChart(Chart):
    """A histogram of seconds per launch above the same samples in run order.

    A drag in the histogram selects a range, which is counted and marked among the samples below.
    The right button, as ``home``, ends selection and zoom.
    """

    export_title = "Distribution"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Press Run to see how the times of a kernel are spread"
        self._trace = Trace()
        self._outliers: npt.NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._drifts = False
        self._histogram: Histogram | None = None
        self._selection: tuple[float, float] | None = None
        self._log = self._struck = self._zoomed = False
        self._heading = Heading()
        self._shape, self._order = RangePlot(), Plot()
        self._axes = (
            CountAxis("left", self._shape, "Samples"),
            UnitAxis("bottom", self._shape, "Kernel time", "s"),
            UnitAxis("left", self._order, "Kernel time", "s"),
            CountAxis("bottom", self._order, "Sample number"),
        )
        self._bars = HistogramLayer(self._shape)
        self._samples, self._chosen = SampleLayer(self._order), SampleLayer(self._order)
        self._order_layer, self._marks = OrderLayer(self._order), MarkLayer(self._order)
        self._lay_out()
        for plot in (self._shape, self._order):
            plot.reset_wanted.connect(self.home)
            plot.sigRangeChanged.connect(self._on_range_changed)
        self._shape.setMouseEnabled(x=True, y=False)
        self._shape.range_dragged.connect(self._on_range_dragged)
        self._shape.sigResized.connect(self._on_shape_resized)
        self._order.sigRangeChangedManually.connect(self._on_zoomed)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()

    def _lay_out(self) -> None:
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(0)
        grid.addItem(self._heading, 0, 0, 1, 2)
        for row, (left, plot, bottom) in (
            (1, (self._axes[0], self._shape, self._axes[1])),
            (3, (self._axes[2], self._order, self._axes[3])),
        ):
            grid.addItem(left, row, 0)
            grid.addItem(plot, row, 1)
            grid.addItem(bottom, row + 1, 1)
            grid.setRowStretchFactor(row, 5 if row == 1 else 4)
            grid.setRowPreferredHeight(row, 500 if row == 1 else 400)
        grid.setColumnStretchFactor(1, 1)

    # What is shown

    def set_samples(
        self,
        seconds: npt.ArrayLike,
        outliers: npt.ArrayLike = (),
        *,
        drifts: bool = False,
        every: int = 1,
    ) -> None:
        """Show the samples of a run.

        Args:
            seconds: Seconds per launch in run order; what is not finite and positive is left out.
            outliers: Which of them are outliers, as many, or none.
            drifts: Whether to draw the medians of the first and the last third.
            every: Which part of the run these are: each, every second one, and so on.
        """
        values = np.asarray(seconds, dtype=np.float64)
        marked = np.zeros(len(values), dtype=bool)
        marked[: np.size(outliers)] = outliers
        self._trace.set(1 + every * np.arange(len(values), dtype=np.float64), values)
        # The trace has left out what it cannot draw, and knows the numbers of the others.
        kept = ((self._trace.at - 1) / every).astype(np.intp)
        self._outliers, self._drifts = marked[kept], drifts
        self._refresh()

    def clear_samples(self) -> None:
        """Show the empty chart, and nothing selected."""
        self._selection, self._zoomed = None, False
        self.set_samples(())

    def set_struck(
        self, struck: bool, reason: str = "Wrong result: the figures do not count"
    ) -> None:
        """Strike the figures through and say why, as for a wrong or unchecked result."""
        self._struck = struck
        self._bars.set_struck(struck, reason if struck else "")
        self._marks.set_struck(struck, "")
        self.restyle()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the plots; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def set_log(self, log: bool) -> None:
        """Draw times and counts on logarithmic axes, or linear ones."""
        if log == self._log:
            return
        self._log = log
        # See LiveChart: a logarithmic axis must never see plain values.
        if not log:
            self._set_log_axes()
        self._zoomed = False
        self._refresh()
        if log:
            self._set_log_axes()

    def _set_log_axes(self) -> None:
        for axis in self._axes[:3]:
            axis.setLogMode(self._log)
            axis.updateAutoSIPrefix()

    @property
    def selection(self) -> tuple[float, float] | None:
        """Shortest and longest time of the selected range in seconds, or None."""
        return self._selection

    def select(self, low: float, high: float) -> None:
        """Mark and count the samples from ``low`` to ``high`` seconds."""
        self._selection = low, high
        self._show_selection()

    @Slot()
    def home(self) -> None:
        """End selection and zoom."""
        self._selection, self._zoomed = None, False
        self._refresh()

    def is_empty(self) -> bool:
        """Whether no sample has arrived."""
        return len(self._trace) == 0

    # How it is drawn

    def restyle(self) -> None:
        """Colour axes, bars, samples and marks."""
        theme = self.theme
        for axis in self._axes:
            axis.restyle(theme)
        color = theme.muted if self._struck else theme.accent
        self._bars.restyle(color, theme)
        self._samples.restyle(color, theme)
        self._chosen.restyle(theme.mark, theme)
        for part in (self._shape, self._order, self._order_layer, self._marks, self._heading):
            part.restyle(theme)

    def _refresh(self) -> None:
        """Bring everything that depends on the samples up to date."""
        filled = not self.is_empty()
        for item in (self._shape, self._order, *self._axes):
            item.setVisible(filled)
        self.hide_hover()
        if not filled:
            self._histogram = None
            self._bars.set_bars(None)
            self.viewport().update()
            return
        self._histogram = histogram(self._trace.seconds, log=self._log)
        bars = bars_of(self._histogram, self._trace.seconds, log=self._log)
        self._bars.set_bars(bars)
        self._marks.set_median(bars.median)
        edges = self._scaled(self._histogram.edges)
        margin = _MARGIN * float(edges[-1] - edges[0])
        ends = float(edges[0]) - margin, float(edges[-1]) + margin
        if not self._zoomed:
            self._shape.setXRange(*ends, padding=0)
            first, last = float(self._trace.at[0]), float(self._trace.at[-1])
            room = max(0.5, _MARGIN / 2 * (last - first))
            self._order.setRange(xRange=(first - room, last + room), yRange=ends, padding=0)
        self._fit_height()
        self._redraw_order()
        self._show_selection()

    def _scaled(self, values: Floats) -> Floats:
        return np.log10(values) if self._log else values

    def _scaled_one(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def _plain(self, value: float) -> float:
        """Back from plot coordinates to seconds."""
        return 10 ** min(value, 300.0) if self._log else value

    def _redraw_order(self) -> None:
        trace = self._trace
        left, right = self._order.viewRange()[0]
        thinned = trace.between(left, right) if self._zoomed else trace.whole()
        self._samples.set_series(self._series(thinned))
        self._marks.set_note("zoomed, H shows all" if self._zoomed else "")
        x, y = trace.at[self._outliers], trace.seconds[self._outliers]
        if len(x) > _MOST_MARKS:
            x, y = stats.bin_min_max(x, y, _MOST_MARKS // 2)
        chosen = None
        if self._selection is not None:
            chosen = self._scaled_one(self._selection[0]), self._scaled_one(self._selection[1])
        self._order_layer.set_marks(Marks(x, self._scaled(y), self._levels(), chosen))

    def _levels(self) -> tuple[tuple[float, float, float, str], ...]:
        at, seconds = self._trace.at, self._trace.seconds
        third = len(seconds) // 3
        if not self._drifts or not third:
            return ()
        levels = []
        for part in (slice(0, third), slice(-third, None)):
            middle = stats.median(seconds[part])
            ends = float(at[part][0]), float(at[part][-1])
            levels.append((*ends, self._scaled_one(middle), units.duration(middle)))
        return tuple(levels)

    def _series(self, thinned: Thinned) -> Series:
        y, middle, low, high = (
            self._scaled(values)
            for values in (thinned.y, thinned.middle_y, thinned.low, thinned.high)
        )
        return Series(thinned.x, y, thinned.middle_x, middle, low, high)

    def _show_selection(self) -> None:
        """Count and mark what lies in the selected range."""
        self._redraw_order()
        if self._selection is None or self.is_empty():
            self._bars.set_band(None)
            self._chosen.set_series(None)
            return
        low, high = self._selection
        seconds = self._trace.seconds
        inside = (seconds >= low) & (seconds <= high)
        words = range_words(seconds, inside, low, high)
        self._bars.set_band(Band(self._scaled_one(low), self._scaled_one(high), words))
        x, y = stats.bin_min_max(self._trace.at[inside], seconds[inside], _MOST_CHOSEN // 2)
        self._chosen.set_series(Series(x, self._scaled(y), _NONE, _NONE, _NONE, _NONE))

    def _fit_height(self) -> None:
        """Leave room above the tallest bar for the words there."""
        if self._histogram is None:
            return
        tallest = float(self._histogram.counts.max(initial=1))
        ground = math.log10(LEAST_COUNT) if self._log else 0.0
        top = math.log10(max(1.5, tallest)) if self._log else tallest
        above = min(0.5, HEAD_PIXELS / max(1.0, self._shape.height()))
        self._shape.setYRange(ground, ground + (top - ground) / (1 - above), padding=0)

    # The mouse

    @Slot(object)
    def _on_shape_resized(self, plot: object) -> None:
        self._fit_height()

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the words below the axes out where plots are low; the left axis says the unit."""
        for axis in (self._axes[1], self._axes[3]):
            axis.set_low(self.height() < _LOW_PIXELS)

    @Slot(float, float)
    def _on_range_dragged(self, start: float, end: float) -> None:
        if self.is_empty():
            return
        low, high = sorted((self._plain(start), self._plain(end)))
        least = float(self._trace.seconds.min())
        self.hide_hover()
        # Nothing is shorter than the shortest, and zero has no logarithm.
        self.select(max(low, 0.5 * least), max(high, 0.5 * least))

    @Slot(object)
    def _on_zoomed(self, axes: object) -> None:
        self._zoomed = True
        if not self.is_empty():
            self._redraw_order()

    @Slot(object, object)
    def _on_range_changed(self, plot: object, ranges: object) -> None:
        self.hide_hover()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        self.hide_hover()
        if self.is_empty():
            return
        if self._shape.sceneBoundingRect().contains(position):
            self._hover_bin(self._shape.mapSceneToView(position).x())
        elif self._order.sceneBoundingRect().contains(position):
            self._hover_sample(self._order.mapSceneToView(position))

    def _hover_bin(self, x: float) -> None:
        shape = self._histogram
        if shape is None:
            return
        value = self._plain(x)
        index = int(np.searchsorted(shape.edges, value, side="right")) - 1
        if not 0 <= index < len(shape.counts):
            return
        self._bars.set_hover((index, bin_words(shape, index, len(self._trace))))

    def _hover_sample(self, point: QPointF) -> None:
        (left, right), _ = self._order.viewRange()
        reach = _REACH_PIXELS * (right - left) / max(1.0, self._order.width())
        index = self._trace.nearest(point.x(), self._plain(point.y()), reach)
        if index is None:
            return
        at, seconds = float(self._trace.at[index]), float(self._trace.seconds[index])
        words = f"sample {at:,.0f}   {units.duration(seconds)}"
        if self._outliers[index]:
            words += "   outlier"
        self._marks.set_hover(Hover(at, self._scaled_one(seconds), words))

    def hide_hover(self) -> None:
        """Say nothing more of any bin or sample."""
        self._bars.set_hover(None)
        self._marks.set_hover(None)
