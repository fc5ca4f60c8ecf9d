"""The live chart of one device of a race: in the device's own colour, on the scale of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.views.charts.live import LiveChart
from gemmviz.views.theme import DARK, Theme

_WIDE_RATIO = 8.0  # between two devices, above which one of them would lie on the axis


@dataclass(frozen=True, slots=True)
class Extent:
    """Shortest and longest time of a run's launches but outliers, and its last second."""

    low: float
    high: float
    end: float


class DeviceLiveChart(LiveChart):
    """Time and throughput of a run, both in the colour that its device has everywhere.

    ``scale_chosen`` follows a person's zoom, ``scale_left`` the way back from it.
    """

    scale_chosen = Signal()
    scale_left = Signal()

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        self._color = ""
        self._other: Extent | None = None
        super().__init__(parent, theme)

    @property
    def extent(self) -> Extent | None:
        """What this run takes of the axes; None without a sample."""
        return None if self.is_empty() else Extent(*self._trace.bounds(), super()._end())

    @property
    def following(self) -> bool:
        """Whether the view follows the samples, since nobody has zoomed."""
        return self._following

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """What the axes show, as they are drawn: elapsed seconds, times and throughputs."""
        across, times = self._time.viewRange()
        return tuple((low, high) for low, high in (across, times, self._rate.viewRange()[1]))

    def set_color(self, color: str) -> None:
        """Draw the samples in a device's colour, "#rrggbb"."""
        if color != self._color:
            self._color = color
            self.restyle()
            self.viewport().update()

    def restyle(self) -> None:
        """Colour axes and marks, and the samples unless they are struck through."""
        super().restyle()
        if self._color and not self._struck:
            for layer in self._samples:
                layer.restyle(self._color, self.theme)

    def hold(self, other: Extent | None) -> None:
        """Let the axes hold another run too; None ends that."""
        self._other = other
        if self._following and not self.is_empty():
            self._follow()

    def take_ranges(self, ranges: tuple[tuple[float, float], ...]) -> None:
        """Show the same as another chart that is logarithmic where this one is."""
        across, *upwards = ranges
        self._time.setXRange(*across, padding=0)
        for plot, ends in zip((self._time, self._rate), upwards, strict=True):
            plot.setYRange(*ends, padding=0)

    def take_scale(self, ranges: tuple[tuple[float, float], ...]) -> None:
        """Keep what a person has chosen in another chart."""
        self._following = False
        self.take_ranges(ranges)
        if not self.is_empty():
            self._redraw()
            self._note_outliers()

    def home(self) -> None:
        """Show every sample of both runs but outliers, and follow new ones again."""
        zoomed = not self._following
        super().home()
        if zoomed:
            self.scale_left.emit()

    def _bounds(self) -> tuple[float, float]:
        low, high = super()._bounds()
        other = self._other
        return (low, high) if other is None else (min(low, other.low), max(high, other.high))

    def _end(self) -> float:
        return max(super()._end(), self._other.end if self._other is not None else 0.0)

    @Slot(object)
    def _on_range_changed_manually(self, axes: object) -> None:
        super()._on_range_changed_manually(axes)
        self.scale_chosen.emit()


def share_scale(first: DeviceLiveChart, other: DeviceLiveChart) -> None:
    """Give two charts of one race the same axes, logarithmic where one is far faster."""
    one, two = first.extent, other.extent
    if one is not None and two is not None:
        middles = [math.sqrt(each.low * each.high) for each in (one, two)]
        wide = max(middles) > _WIDE_RATIO * min(middles)
        for chart in (first, other):
            chart.set_log(wide)
    first.hold(two)
    other.hold(one)
    # Each moves its axes as seldom as it can, so one has to lead.
    leader, led = (other, first) if first.is_empty() else (first, other)
    if leader.following and led.following and not leader.is_empty():
        led.take_ranges(leader.ranges)
