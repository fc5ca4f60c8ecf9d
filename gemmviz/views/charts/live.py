"""The live chart: time per launch and throughput over the seconds of a run."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core import units
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.layers import Hover, MarkLayer, SampleLayer, Series
from gemmviz.views.charts.trace import Thinned, Trace
from gemmviz.views.theme import DARK, Theme

_MARGIN = 0.12  # of the shown span, above and below
_AHEAD = 1.2  # the time axis runs this far ahead, so that it need not move with every update
_SLACK = 1.8  # how much wider than needed an axis may stay before it closes in
_REACH_PIXELS = 4
_NEAR = 0.03  # of a plot's height: a curve so close to the median passes under its label anyway
_FOLDED_AT_ONCE = 2**16  # takes some 4 ms
_LIMITS = {False: (0.0, 1e300), True: (-15.0, 20.0)}  # how far one can zoom, plain and in log10


class LiveChart(Chart):
    """Two plots over elapsed seconds, time per launch above and throughput below.

    The view follows the samples until a person zooms; ``home`` takes it back.
    """

    export_title = "Live timing"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Press Run to time the kernel"
        self._trace = Trace()
        self._flop = 1.0
        self._log = False
        self._struck = False
        self._following = True
        self._exact = False
        self._heading = Heading()
        self._time, self._rate = Plot(), Plot()
        self._rate.setXLink(self._time)
        self._axes = (
            UnitAxis("left", self._time, "Kernel time", "s"),
            UnitAxis("left", self._rate, "Throughput", "FLOP/s"),
            UnitAxis("bottom", self._rate, "Elapsed", "s"),
            UnitAxis("bottom", self._time, "", ""),
        )
        self._axes[3].setStyle(showValues=False)
        self._axes[3].setHeight(10)
        self._samples = SampleLayer(self._time), SampleLayer(self._rate)
        self._marks = MarkLayer(self._time), MarkLayer(self._rate)
        self._lay_out()
        for plot in (self._time, self._rate):
            plot.setLimits(xMin=0.0, yMin=_LIMITS[False][0])
            plot.sigRangeChangedManually.connect(self._on_range_changed_manually)
            plot.reset_wanted.connect(self.home)
        self._time.sigRangeChanged.connect(self._on_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()

    def _lay_out(self) -> None:
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(0)
        grid.addItem(self._heading, 0, 0, 1, 2)
        grid.addItem(self._axes[0], 1, 0)
        grid.addItem(self._time, 1, 1)
        grid.addItem(self._axes[3], 2, 1)
        grid.addItem(self._axes[1], 3, 0)
        grid.addItem(self._rate, 3, 1)
        grid.addItem(self._axes[2], 4, 1)
        for row, share in ((1, 3), (3, 2)):
            grid.setRowStretchFactor(row, share)
            grid.setRowPreferredHeight(row, 100 * share)
        grid.setColumnStretchFactor(1, 1)

    # What is shown

    @property
    def behind(self) -> bool:
        """Whether samples are missing that another call of ``set_samples`` would show."""
        return self._trace.behind

    def set_samples(
        self,
        at: npt.ArrayLike,
        seconds: npt.ArrayLike,
        flop_per_launch: float,
        *,
        at_once: bool = True,
    ) -> None:
        """Show the samples of a run: those of the last call and what came since, or another run's.

        Args:
            at: When each sample ended, in seconds since the run began, rising.
            seconds: Seconds per launch, as many.
            flop_per_launch: Floating-point operations of one launch.
            at_once: Without it, one call takes a part only of very many samples that are new, so
                that it is short; ``behind`` says that another is wanted.
        """
        self._flop = float(flop_per_launch)
        self._trace.set(at, seconds, None if at_once else _FOLDED_AT_ONCE)
        self._refresh()

    def clear_samples(self) -> None:
        """Show the empty chart and follow the next run."""
        self._following = True
        self.set_samples((), (), self._flop)

    def set_struck(
        self, struck: bool, reason: str = "Wrong result: the figures do not count"
    ) -> None:
        """Strike the figures through and say why, as for a wrong or unchecked result."""
        self._struck = struck
        for mark, warning in zip(self._marks, (reason if struck else "", ""), strict=True):
            mark.set_struck(struck, warning)
        self.restyle()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the plots; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def set_log(self, log: bool) -> None:
        """Draw both value axes logarithmic, or linear."""
        if log == self._log:
            return
        self._log = log
        # A logarithmic axis raises ten to the power of its ends, so it must never see plain values:
        # it learns of the change first on the way back, last on the way there.
        if not log:
            self._set_log_axes()
        for plot in (self._time, self._rate):
            plot.setLimits(**dict(zip(("yMin", "yMax"), _LIMITS[log], strict=True)))
        self.home()
        if log:
            self._set_log_axes()

    def _set_log_axes(self) -> None:
        for axis in self._axes[:2]:
            axis.setLogMode(self._log)
            axis.updateAutoSIPrefix()

    def home(self) -> None:
        """Show every sample but outliers, and follow new ones again."""
        self._following = True
        self._exact = True
        self._refresh()
        self._exact = False

    def is_empty(self) -> bool:
        """Whether no sample has arrived."""
        return len(self._trace) == 0

    # How it is drawn

    def restyle(self) -> None:
        """Colour axes, samples and marks."""
        theme = self.theme
        for axis in self._axes:
            axis.restyle(theme)
        for plot in (self._time, self._rate):
            plot.restyle(theme)
        colors = (theme.muted,) * 2 if self._struck else (theme.accent, theme.rate)
        for layer, color in zip(self._samples, colors, strict=True):
            layer.restyle(color, theme)
        for mark in self._marks:
            mark.restyle(theme)
        self._heading.restyle(theme)

    def _refresh(self) -> None:
        """Bring everything that depends on the samples up to date."""
        filled = not self.is_empty()
        for item in (self._time, self._rate, *self._axes):
            item.setVisible(filled)
        if not filled:
            self.hide_hover()
            self.viewport().update()
            return
        if self._following:
            self._follow()
        ends = self._redraw()
        median = self._trace.median
        texts = units.duration(median), units.throughput(self._flop / median)
        values = self._scaled(np.array([median])), self._scaled(self._flop / np.array([median]))
        plots = self._time, self._rate
        for mark, value, text, plot, end in zip(
            self._marks, values, texts, plots, ends, strict=True
        ):
            level, (bottom, top) = float(value[0]), plot.viewRange()[1]
            # The label has the side on which the curve does not end.
            below = end - level > _NEAR * (top - bottom)
            mark.set_median(level, f"median {text}", below=below)
        self._note_outliers()

    def _scaled(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.log10(values) if self._log else values

    def _bounds(self) -> tuple[float, float]:
        """The times that the value axes hold: all samples but outliers."""
        return self._trace.bounds()

    def _end(self) -> float:
        """The second that the time axis reaches: when the last sample ended."""
        return float(self._trace.at[-1])

    def _follow(self) -> None:
        """Let the axes hold the samples, moving them as seldom as possible."""
        end = self._end()
        shown = self._time.viewRange()[0]
        if self._exact or not 0 < end <= shown[1] <= _AHEAD * _SLACK * end or shown[0] != 0:
            self._time.setXRange(0, (1.02 if self._exact else _AHEAD) * max(end, 1e-9), padding=0)
        low, high = self._bounds()
        least_shown = _LIMITS[self._log][0]
        for plot, ends in (
            (self._time, (low, high)),
            (self._rate, (self._flop / high, self._flop / low)),
        ):
            bottom, top = self._scaled(np.array(ends)).tolist()
            least = 0.02 if self._log else 0.04 * abs(top)
            margin = _MARGIN * max(top - bottom, least)
            now = plot.viewRange()[1]
            fits = now[0] <= bottom and top <= now[1]
            if self._exact or not fits or now[1] - now[0] > _SLACK * (top - bottom + 2 * margin):
                plot.setYRange(max(least_shown, bottom - margin), top + margin, padding=0)

    def _redraw(self) -> tuple[float, float]:
        """Draw the samples; where the curves of both plots end (NaN without one)."""
        if self._following:
            thinned = self._trace.whole()
        else:
            thinned = self._trace.between(*self._time.viewRange()[0])
        series = self._series(thinned, rate=False), self._series(thinned, rate=True)
        for layer, drawn in zip(self._samples, series, strict=True):
            layer.set_series(drawn)
        first, second = (
            float(drawn.line_y[-1]) if len(drawn.line_y) else math.nan for drawn in series
        )
        return first, second

    def _series(self, thinned: Thinned, *, rate: bool) -> Series:
        y, middle, low, high = (
            self._scaled(self._flop / values if rate else values)
            for values in (thinned.y, thinned.middle_y, thinned.low, thinned.high)
        )
        return Series(thinned.x, y, thinned.middle_x, middle, low, high)

    def _note_outliers(self) -> None:
        top = self._time.viewRange()[1][1]
        limit = 10**top if self._log else top
        above = int(np.count_nonzero(self._trace.seconds > limit))
        note = f"{above} slower above" if above and self._following else ""
        if not self._following:
            note = "zoomed, H shows all"
        self._marks[0].set_note(note)

    # The mouse

    @Slot(object)
    def _on_range_changed_manually(self, axes: object) -> None:
        self._following = False
        if not self.is_empty():
            self._redraw()
            self._note_outliers()

    @Slot(object, object)
    def _on_range_changed(self, plot: object, ranges: object) -> None:
        self.hide_hover()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        for plot in (self._time, self._rate):
            if plot.is_under(position):
                self._show_hover(plot, plot.mapSceneToView(position))
                return
        self.hide_hover()

    def _show_hover(self, plot: Plot, point: QPointF) -> None:
        (left, right), _ = plot.viewRange()
        value = 10 ** point.y() if self._log else point.y()
        seconds = value if plot is self._time else self._flop / value if value > 0 else math.inf
        reach = _REACH_PIXELS * (right - left) / max(1.0, plot.width())
        index = self._trace.nearest(point.x(), seconds, reach)
        if index is None:
            return
        at, spent = float(self._trace.at[index]), float(self._trace.seconds[index])
        rate = self._flop / spent
        text = f"{units.duration(spent)}   {units.throughput(rate)}   at {units.duration(at)}"
        for mark, own, value in zip(
            self._marks, (self._time, self._rate), (spent, rate), strict=True
        ):
            y = math.log10(value) if self._log else value
            mark.set_hover(Hover(at, y, text if own is plot else ""))

    def hide_hover(self) -> None:
        """Take the cross hair away."""
        for mark in self._marks:
            mark.set_hover(None)
