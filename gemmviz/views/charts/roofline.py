"""The roofline: what devices allow at each intensity, and where results stand below that."""

from __future__ import annotations

import math
from collections.abc import Iterator

from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.roofline import DeviceRoofs, Dot
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.charts.roofline_layers import (
    PlacedDot,
    PlacedRoof,
    RooflineLayer,
    radius_of,
)
from gemmviz.views.theme import DARK, Theme

_PIXELS_A_ROW = 75  # of the chart's height for each row of the legend
_LOW_PIXELS = 340  # below this height the plot needs every pixel
_LIMITS = (-9.0, 21.0)  # how far one can zoom, in powers of ten
_ROOM = math.log10(2.5)  # beyond what is shown
_LEAST_DECADES = 1.5
_KEY = ("● each matrix moved once", "○ what the source asks for", "larger: takes longer")


class RooflineChart(Chart):
    """Roofs of several devices over intensity, both axes logarithmic, with results as dots.

    Each device has a colour; with several it has a number too, which stands in its labels. A result
    is a filled mark at the problem's minimum traffic, joined to a hollow one at the traffic that
    the source asks for. A drag zooms, the right button or ``home`` shows all.
    """

    export_title = "Roofline"

    def __init__(
        self,
        parent: QWidget | None = None,
        theme: Theme = DARK,
        *,
        devices: ColorBook | None = None,
    ) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Measure the ceilings of a device to see its roofs"
        self._devices = devices or ColorBook()
        self._roofs: tuple[DeviceRoofs, ...] = ()
        self._dots: tuple[Dot, ...] = ()
        self._zoomed = False
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setLimits(xMin=_LIMITS[0], xMax=_LIMITS[1], yMin=_LIMITS[0], yMax=_LIMITS[1])
        self._left = UnitAxis("left", self._plot, "Throughput", "FLOP/s")
        self._bottom = UnitAxis("bottom", self._plot, "Intensity", "FLOP/B")
        self._bottom.enableAutoSIPrefix(False)  # nobody counts kilo-FLOP a byte
        self._layer = RooflineLayer(self._plot)
        self._arrange((self._heading, self._legend), self._left, self._plot, self._bottom)
        self._plot.reset_wanted.connect(self.home)
        self._plot.sigRangeChangedManually.connect(self._on_zoomed)
        self._plot.sigRangeChanged.connect(self._on_range_changed)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()
        for axis in (self._left, self._bottom):
            axis.setLogMode(True)

    @property
    def layer(self) -> RooflineLayer:
        """What is painted."""
        return self._layer

    def set_roofs(self, roofs: tuple[DeviceRoofs, ...]) -> None:
        """Show the roofs of these devices."""
        self._roofs = roofs
        self._refresh()

    def set_dots(self, dots: tuple[Dot, ...]) -> None:
        """Show these results; one that took no time or did nothing has no place."""
        self._dots = tuple(dot for dot in dots if _drawable(dot))
        self._refresh()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the plot; an empty title takes it away."""
        self._heading.set_text(title, lines)

    @Slot()
    def home(self) -> None:
        """Show everything."""
        self._zoomed = False
        self._fit()
        self.viewport().update()

    def is_empty(self) -> bool:
        """Whether there is neither a roof nor a result."""
        return not (any(device.roofs for device in self._roofs) or self._dots)

    def restyle(self) -> None:
        """Colour axes, legend, roofs and marks."""
        for part in (
            self._left,
            self._bottom,
            self._plot,
            self._legend,
            self._layer,
            self._heading,
        ):
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Point at nothing."""
        self._layer.point_at(None)

    def _refresh(self) -> None:
        empty = self.is_empty()
        for item in (self._left, self._plot, self._bottom):
            item.setVisible(not empty)
        names = dict.fromkeys([*(d.device for d in self._roofs), *(d.device for d in self._dots)])
        several = len(names) > 1
        numbers = {name: str(place) if several else "" for place, name in enumerate(names, 1)}
        entries = [
            Entry(name, self._devices.look(name), number=number) for name, number in numbers.items()
        ]
        if self._dots:
            entries += [Entry(text) for text in _KEY]
        self._legend.set_entries(tuple(entries))
        longest = max((dot.seconds for dot in self._dots), default=0.0)
        dots = tuple(
            PlacedDot(
                dot, numbers[dot.device], self._devices.color(dot.device),
                radius_of(dot.seconds, longest),
            )
            for dot in sorted(self._dots, key=lambda dot: -dot.seconds)
        )  # fmt: skip
        roofs = tuple(
            roof
            for device in self._roofs
            for roof in _placed(device, numbers[device.device], self._devices.color(device.device))
        )
        self._layer.show_all(roofs, dots)
        if not self._zoomed:
            self._fit()
        self.viewport().update()

    def _fit(self) -> None:
        """All ridges and results, with room around them."""
        points = list(self._points())
        if not points:
            return
        for axis, values in enumerate(zip(*points, strict=True)):
            low, high = min(values) - _ROOM, max(values) + _ROOM
            short = max(0.0, _LEAST_DECADES - (high - low)) / 2
            ends = low - short, high + short
            if axis == 0:
                self._plot.setXRange(*ends, padding=0)
            else:
                self._plot.setYRange(*ends, padding=0)

    def _points(self) -> Iterator[tuple[float, float]]:
        """What must be seen, in powers of ten: results, and where slopes meet the peaks."""
        for dot in self._dots:
            for mark in filter(None, (dot.least, dot.source)):
                yield math.log10(mark.intensity), math.log10(mark.flops_per_second)
        for device in self._roofs:
            peaks = [roof.value for roof in device.roofs if roof.flat]
            speeds = [roof.value for roof in device.roofs if not roof.flat]
            for peak in peaks:
                for speed in speeds:
                    yield math.log10(peak / speed), math.log10(peak)
            if speeds:  # a decade of the slopes below the lowest peak
                peak = min(peaks, default=max(speeds))
                yield math.log10(peak / max(speeds)) - 0.7, math.log10(peak) - 1.0

    @Slot(object)
    def _on_zoomed(self, axes: object) -> None:
        self._zoomed = True

    @Slot(object, object)
    def _on_range_changed(self, plot: object, ranges: object) -> None:
        self.hide_hover()

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the plot most of a low chart."""
        self._legend.set_most_rows(self.height() // _PIXELS_A_ROW)
        self._bottom.set_low(self.height() < _LOW_PIXELS)

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._plot.is_under(position)
        self._layer.point_at(self._plot.mapFromScene(position) if inside else None)


def _drawable(dot: Dot) -> bool:
    marks = filter(None, (dot.least, dot.source))
    return all(mark.intensity > 0 and mark.flops_per_second > 0 for mark in marks)


def _placed(device: DeviceRoofs, number: str, color: str) -> Iterator[PlacedRoof]:
    """The roofs of a device: slopes up to its highest peak, peaks from its steepest slope on."""
    slopes = [roof for roof in device.roofs if not roof.flat]
    peaks = [roof for roof in device.roofs if roof.flat]
    highest = math.log10(max((peak.value for peak in peaks), default=10 ** _LIMITS[1]))
    fastest = math.log10(max((slope.value for slope in slopes), default=10 ** _LIMITS[1]))
    low, high = _LIMITS
    for roof in (*slopes, *peaks):
        value = math.log10(roof.value)
        if roof.flat:
            start, end = QPointF(value - fastest, value), QPointF(high, value)
        else:
            start, end = QPointF(low, low + value), QPointF(highest - value, highest)
        yield PlacedRoof(device.device, number, color, roof, start, end)
