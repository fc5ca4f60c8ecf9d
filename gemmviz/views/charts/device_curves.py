"""Devices over sizes: a line each in the unit of choice, and below them which is the fastest."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.device_comparison import DeviceComparison
from gemmviz.core.device_units import UNITS, Unit, lack_of, quantity_of
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.device_layer import BEST_PIXELS, Best, Curve, CurveLayer, Point
from gemmviz.views.charts.device_words import describe_figure, headline, names_of
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.theme import DARK, Theme

_PIXELS_A_ROW = 75  # of the chart's height for each row of the legend
_DECADE = 10.0  # more between the lowest and the highest value makes the axis logarithmic
_SIDE = 0.35  # of an octave beside the first and the last size
_MARGIN = 0.06


class DeviceCurvesChart(Chart):
    """Lines over sizes on a log2 axis, with intervals; the strip at the foot names the fastest."""

    export_title = "Devices by size"

    def __init__(
        self,
        parent: QWidget | None = None,
        theme: Theme = DARK,
        *,
        devices: ColorBook | None = None,
    ) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Compare devices at several sizes to see their curves"
        self._colors = devices or ColorBook()
        self._comparison: DeviceComparison | None = None
        self._unit: Unit = "throughput"
        self._log = False
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._left = UnitAxis("left", self._plot, "Throughput", "FLOP/s")
        self._bottom = UnitAxis("bottom", self._plot, "M = N = K", "")
        self._bottom.enableAutoSIPrefix(False)
        self._layer = CurveLayer(self._plot)
        self._arrange((self._heading, self._legend), self._left, self._plot, self._bottom)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self._plot.sigResized.connect(self._on_plot_resized)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()

    @property
    def curves(self) -> tuple[Curve, ...]:
        """What is painted, a curve a device that has a value."""
        return self._layer.curves

    @property
    def best(self) -> tuple[Best, ...]:
        """What the strip at the foot shows."""
        return self._layer.best

    def set_comparison(self, comparison: DeviceComparison | None) -> None:
        """Show the devices at every size that was measured."""
        self._comparison = comparison
        self._refresh()

    def set_unit(self, unit: Unit) -> None:
        """Draw the values in another unit."""
        self._unit = unit
        self._refresh()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the curves; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether no device was measured."""
        return self._comparison is None or not self._comparison.measured_sizes

    def restyle(self) -> None:
        """Colour axes, legend and curves."""
        for part in (
            self._left, self._bottom, self._plot, self._legend, self._layer, self._heading,
        ):  # fmt: skip
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Point at nothing."""
        self._layer.point_at(None)

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the curves most of a low chart."""
        self._legend.set_most_rows(self.height() // _PIXELS_A_ROW)

    @Slot(object)
    def _on_plot_resized(self, plot: object) -> None:
        self._fit_height()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._plot.is_under(position)
        self._layer.point_at(self._plot.mapFromScene(position) if inside else None)

    def _refresh(self) -> None:
        comparison = self._comparison
        for item in (self._left, self._plot, self._bottom):
            item.setVisible(not self.is_empty())
        if comparison is None or self.is_empty():
            self._layer.set_curves((), ())
            self._legend.set_entries(())
            self.viewport().update()
            return
        made = [(device, self._curve(comparison, device)) for device in comparison.devices]
        curves = tuple(curve for _, curve in made if curve.points)
        self._scale(curves)
        self._layer.set_curves(curves, self._best(comparison))
        self._legend.set_entries(tuple(self._entry(comparison, *each) for each in made))
        sizes = comparison.measured_sizes
        self._bottom.setTicks([[(math.log2(size), f"{size}") for size in sizes]])
        first, last = math.log2(sizes[0]), math.log2(sizes[-1])
        self._plot.setXRange(first - _SIDE, last + _SIDE, padding=0)
        self.export_title = f"Devices {headline(comparison)}"
        self._fit_height()
        self.viewport().update()

    def _scale(self, curves: tuple[Curve, ...]) -> None:
        """A logarithmic value axis where values are far apart; percent stay linear."""
        values = [point.value for curve in curves for point in curve.points if point.value > 0]
        far = bool(values) and max(values) > _DECADE * min(values)
        self._log = far and self._unit in ("time", "throughput")
        self._layer.set_log(self._log)
        words = UNITS[self._unit]
        if not self._log:  # a logarithmic axis must not see plain values: see LiveChart.set_log
            self._left.setLogMode(False)
        self._left.set_quantity(words.axis, words.symbol, prefixed=words.prefixed)

    def _curve(self, comparison: DeviceComparison, device: Device) -> Curve:
        scale = 100.0 if UNITS[self._unit].symbol == "%" else 1.0
        points = []
        for size in comparison.measured_sizes:
            figure = comparison.figure(device.key, size)
            quantity = quantity_of(figure, device, self._unit) if figure is not None else None
            if figure is not None and quantity is not None:
                points.append(
                    Point(
                        size, scale * quantity.value, scale * quantity.low, scale * quantity.high,
                        describe_figure(comparison, figure, device),
                    )
                )  # fmt: skip
        label = device_label(device)
        number = names_of(comparison)[label]
        return Curve(label, self._colors.look(label), number, tuple(points))

    def _entry(self, comparison: DeviceComparison, device: Device, curve: Curve) -> Entry:
        """A device in the legend; one without a curve says why."""
        text = curve.name
        if not curve.points:
            known = [comparison.figure(device.key, size) for size in comparison.measured_sizes]
            reasons = [lack_of(figure, device, self._unit) for figure in known if figure]
            if reasons:  # in short: the bars have room for all of it
                text = f"{device.name}: {reasons[0].partition(':')[0]}"
        return Entry(text, curve.look, hatched=not curve.points, number=curve.number)

    def _best(self, comparison: DeviceComparison) -> tuple[Best, ...]:
        """The fastest devices of each size."""
        numbers = names_of(comparison)
        labels = {device.key: device_label(device) for device in comparison.devices}
        found = []
        for size in comparison.measured_sizes:
            names = [labels[key] for key in comparison.best(size)]
            if names and len(comparison.counting(size)) > 1:
                looks = tuple(self._colors.look(name) for name in names)
                found.append(Best(size, looks, " ".join(numbers[name] for name in names)))
        return tuple(found)

    def _fit_height(self) -> None:
        """Hold every interval, with room for the strip at the foot."""
        points = [point for curve in self._layer.curves for point in curve.points]
        ends = [end for point in points for end in (point.low, point.high, point.value)]
        usable = [end for end in ends if math.isfinite(end) and end > 0]
        low, high = (min(usable), max(usable)) if usable else (1.0, 1.0)
        if self._log:
            low, high = math.log10(low), math.log10(high)
        else:
            low = 0.0
        span = max(high - low, 0.1 if self._log else 0.05 * high)
        strip = BEST_PIXELS if self._layer.best else 0.0
        below = min(0.4, strip / max(1.0, self._plot.height()))
        margin = _MARGIN * span
        foot = low - (margin if self._log else 0.0)
        top = high + margin
        self._plot.setYRange(foot - below * (top - foot) / (1 - below), top, padding=0)
        if self._log:
            self._left.setLogMode(True)
            self._left.updateAutoSIPrefix()
