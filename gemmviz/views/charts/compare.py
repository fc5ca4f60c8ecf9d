"""The comparison: one bar a device and kernel, with its interval."""

from __future__ import annotations

import math
from typing import Literal

from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.views.charts.axis import CategoryAxis, UnitAxis
from gemmviz.views.charts.bars import Bar, BarLayer, BarUnit, place_bars
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.colors import ColorBook, Look
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.theme import DARK, Theme

_PIXELS_A_ROW = 75  # of the chart's height for each row of the legend

Grouping = Literal["device", "kernel"]


class CompareChart(Chart):
    """Throughput as bars, grouped by device or by kernel; the other one gives colour and number."""

    export_title = "Comparison"

    def __init__(
        self,
        parent: QWidget | None = None,
        theme: Theme = DARK,
        *,
        devices: ColorBook | None = None,
        kernels: ColorBook | None = None,
    ) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Compare devices or kernels to see them side by side"
        self._devices, self._kernels = devices or ColorBook(), kernels or ColorBook()
        self._bars: tuple[Bar, ...] = ()
        self._grouping: Grouping = "device"
        self._unit: BarUnit = "FLOP/s"
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._left = UnitAxis("left", self._plot, "Throughput", "FLOP/s")
        self._names = CategoryAxis(self._plot)
        self._layer = BarLayer(self._plot)
        self._arrange((self._heading, self._legend), self._left, self._plot, self._names)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self._plot.sigResized.connect(self._on_plot_resized)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()

    def set_bars(self, bars: tuple[Bar, ...]) -> None:
        """Show these bars, in the order in which their devices and kernels first occur."""
        self._bars = bars
        self._refresh()

    def set_grouping(self, grouping: Grouping) -> None:
        """Gather the bars of a device, or those of a kernel."""
        self._grouping = grouping
        self._refresh()

    def set_unit(self, unit: BarUnit) -> None:
        """Make the bars as high as their throughput, or as their share of the library's."""
        self._unit = unit
        self._left.set_quantity("Throughput" if unit == "FLOP/s" else "Of the library", unit)
        self._refresh()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the bars; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no bar."""
        return not self._bars

    def restyle(self) -> None:
        """Colour axes, legend and bars."""
        for part in (
            self._left,
            self._names,
            self._plot,
            self._legend,
            self._layer,
            self._heading,
        ):
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Say nothing more of any bar."""
        self._layer.point_at(None)

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the bars most of a low chart, whatever the legend would take."""
        self._legend.set_most_rows(self.height() // _PIXELS_A_ROW)

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._plot.is_under(position)
        self._layer.point_at(self._plot.mapSceneToView(position).x() if inside else None)

    def _refresh(self) -> None:
        for item in (self._left, self._plot, self._names):
            item.setVisible(bool(self._bars))
        by_device = self._grouping == "device"
        several = len({bar.kernel if by_device else bar.device for bar in self._bars}) > 1
        groups: dict[str, list[tuple[Bar, Look, str]]] = {}
        entries: dict[str, Entry] = {}
        for bar in self._bars:
            group, series = (bar.device, bar.kernel) if by_device else (bar.kernel, bar.device)
            look = (
                self._kernels.look(bar.color_key or bar.kernel)
                if by_device
                else self._devices.look(bar.device)
            )
            number = str(len(entries) + 1) if several else ""
            entry = entries.setdefault(series, Entry(series, look, number=number))
            groups.setdefault(group, []).append((bar, look, entry.number))
        reasons = dict.fromkeys(bar.note or "wrong result" for bar in self._bars if bar.struck)
        if reasons:
            entries["\0struck"] = Entry(f"hatched: {' or '.join(reasons)}", hatched=True)
        self._legend.set_entries(tuple(entries.values()))
        self._names.set_names(tuple(groups))
        self._layer.set_bars(place_bars(list(groups.values()), self._unit))
        self._plot.setXRange(-0.5, max(len(groups), 1) - 0.5, padding=0)
        self._fit_height()
        self.viewport().update()

    @Slot(object)
    def _on_plot_resized(self, plot: object) -> None:
        self._fit_height()

    def _fit_height(self) -> None:
        """Leave as much room above the tallest bar and below all as their labels need."""
        height = max(1.0, self._plot.height())
        above = min(0.6, self._layer.headroom() / height)
        below = min(0.2, self._layer.footroom() / height)
        span = self._tallest() / (1 - above - below)
        self._plot.setYRange(-below * span, (1 - below) * span, padding=0)

    def _tallest(self) -> float:
        tops = [
            top
            for placed in self._layer.bars
            for top in (placed.value, placed.scaled(placed.bar.high))
        ]
        return max((top for top in tops if math.isfinite(top)), default=1.0) or 1.0
