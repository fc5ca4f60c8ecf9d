"""The comparison: one bar a device and kernel, with its interval."""

from __future__ import annotations

import math
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.views.charts.axis import CategoryAxis, UnitAxis
from gemmviz.views.charts.bars import Bar, BarLayer, place_bars
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.theme import DARK, Theme

Grouping = Literal["device", "kernel"]


class CompareChart(Chart):
    """Throughput as bars, grouped by device or by kernel; the other one gives the colour."""

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
        self._baseline: Bar | None = None
        self._grouping: Grouping = "device"
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._left = UnitAxis("left", self._plot, "Throughput", "FLOP/s")
        self._names = CategoryAxis(self._plot)
        self._layer = BarLayer(self._plot)
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(0)
        grid.addItem(self._heading, 0, 0, 1, 2)
        grid.addItem(self._legend, 1, 0, 1, 2)
        grid.addItem(self._left, 2, 0)
        grid.addItem(self._plot, 2, 1)
        grid.addItem(self._names, 3, 1)
        grid.setRowStretchFactor(2, 1)
        grid.setColumnStretchFactor(1, 1)
        self._plot.sigResized.connect(self._on_plot_resized)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()

    def set_bars(self, bars: tuple[Bar, ...], baseline: Bar | None = None) -> None:
        """Show these bars, in the order in which their devices and kernels first occur.

        Args:
            bars: What to compare.
            baseline: The bar that the others' speed-up is written against.
        """
        self._bars, self._baseline = bars, baseline
        self._refresh()

    def set_grouping(self, grouping: Grouping) -> None:
        """Gather the bars of a device, or those of a kernel."""
        self._grouping = grouping
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

    def leaveEvent(self, ev: QEvent) -> None:
        """The mouse has left: no details."""
        super().leaveEvent(ev)
        self.hide_hover()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._plot.isVisible() and self._plot.sceneBoundingRect().contains(position)
        self._layer.point_at(self._plot.mapSceneToView(position).x() if inside else None)

    def _refresh(self) -> None:
        for item in (self._left, self._plot, self._names):
            item.setVisible(bool(self._bars))
        by_device = self._grouping == "device"
        groups: dict[str, list[tuple[Bar, str, str]]] = {}
        entries: dict[str, Entry] = {}
        for bar in self._bars:
            group, series = (bar.device, bar.kernel) if by_device else (bar.kernel, bar.device)
            color = (
                self._kernels.color(bar.color_key or bar.kernel)
                if by_device
                else self._devices.color(bar.device)
            )
            groups.setdefault(group, []).append((bar, color, self._speedup(bar)))
            entries.setdefault(series, Entry(series, color))
        if any(bar.struck for bar in self._bars):
            entries["\0struck"] = Entry("hatched: wrong result", "", hatched=True)
        self._legend.set_entries(tuple(entries.values()))
        self._names.set_names(tuple(groups))
        self._layer.set_bars(place_bars(list(groups.values())))
        self._plot.setXRange(-0.5, max(len(groups), 1) - 0.5, padding=0)
        self._fit_height()
        self.viewport().update()

    @Slot(object)
    def _on_plot_resized(self, plot: object) -> None:
        self._fit_height()

    def _fit_height(self) -> None:
        """Leave as much room above the tallest bar as its labels need."""
        share = min(0.6, self._layer.headroom() / max(1.0, self._plot.height()))
        self._plot.setYRange(0, self._tallest() / (1 - share), padding=0)

    def _speedup(self, bar: Bar) -> str:
        base = self._baseline
        if base is None or bar.struck or not base.flops_per_second > 0:
            return ""
        ratio = bar.flops_per_second / base.flops_per_second
        if math.isnan(ratio) or bar == base:
            return "1×" if bar == base else ""
        return f"{ratio:.{2 if ratio < 1 else 1 if ratio < 10 else 0}f}×"

    def _tallest(self) -> float:
        tops = [top for bar in self._bars for top in (bar.flops_per_second, bar.high)]
        return max((top for top in tops if math.isfinite(top)), default=1.0) or 1.0
