"""Devices at one size: a bar each in the unit of choice, and below it why they differ."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from gemmviz.core.device_comparison import DeviceComparison, DeviceFigure
from gemmviz.core.device_units import UNITS, Unit, lack_of, quantity_of, text_of
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device
from gemmviz.views.charts.axis import CategoryAxis, UnitAxis
from gemmviz.views.charts.bars import Bar, BarLayer, PlacedBar, place_bars
from gemmviz.views.charts.chart import LABEL_PIXELS, Chart, Plot, draw_chip
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.device_table import DeviceTable
from gemmviz.views.charts.device_words import describe_figure, headline, names_of, verdict_of
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import DARK, Theme, text_font

_TABLE_SHARE = 0.5  # of the chart's height that the table may take
_TABLE_PIXELS = 300  # of the chart's height below which names and table take little
_LOW_TABLE_SHARE = 0.24


@dataclass(frozen=True, slots=True)
class PlacedDevice(PlacedBar):
    """A device's bar, with its words.

    Attributes:
        label: Its value as it is written above it.
        verdict: How it compares with the fastest one.
        why: Why there is no bar.
        details: All that is known of it.
    """

    label: str = ""
    verdict: str = ""
    why: str = ""
    details: str = ""

    @property
    def value(self) -> float:
        """How high it is, in the chart's unit."""
        return self.bar.flops_per_second

    def scaled(self, flops_per_second: float) -> float:
        """An end of its interval, which is in the chart's unit already."""
        return flops_per_second

    @property
    def text(self) -> str:
        """Its value in a few letters."""
        return self.label

    @property
    def missing(self) -> str:
        """Why there is no bar."""
        return self.why

    @property
    def speed_up(self) -> str:
        """How it compares with the fastest one."""
        return self.verdict


class DeviceBarLayer(BarLayer):
    """Bars with all the room of their device for labels; a missing one says why in its place."""

    def _room(self, placed: PlacedBar) -> float:
        left, right = self.plot.viewRange()[0]
        return float(self.plot.width() / (right - left)) - 4

    def _paint_missing(self, painter: QPainter, placed: PlacedBar) -> None:
        foot = self.to_pixel(placed.center, 0.0)
        width = self._room(placed) - 12
        font = text_font(LABEL_PIXELS)
        painter.setFont(font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        lines = wrapped(placed.missing, painter.fontMetrics(), width, 4)
        height = len(lines) * painter.fontMetrics().lineSpacing()
        area = QRectF(foot.x() - width / 2, foot.y() - height - 10, width, height)
        painter.setPen(QColor(self._theme.muted))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), "\n".join(lines))

    def _paint_details(self, painter: QPainter, placed: PlacedBar) -> None:
        if not isinstance(placed, PlacedDevice):
            return
        value = 0.0 if math.isnan(placed.value) else placed.value
        anchor = QPointF(self.to_pixel(placed.center, 0).x() + 14, self.to_pixel(0, value).y() + 30)
        draw_chip(
            painter, anchor, placed.details, font=text_font(LABEL_PIXELS), ink=self._theme.text,
            theme=self._theme, limits=self.boundingRect().adjusted(6, 6, -6, -6),
        )  # fmt: skip


class DevicesChart(Chart):
    """One bar a device with its interval and verdict, and a table of limits and occupancy."""

    export_title = "Devices"

    def __init__(
        self,
        parent: QWidget | None = None,
        theme: Theme = DARK,
        *,
        devices: ColorBook | None = None,
    ) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Compare devices to see them side by side"
        self._colors = devices or ColorBook()
        self._comparison: DeviceComparison | None = None
        self._size: int | None = None
        self._unit: Unit = "throughput"
        self._heading = Heading()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._left = UnitAxis("left", self._plot, "Throughput", "FLOP/s")
        self._names = CategoryAxis(self._plot)
        self._layer = DeviceBarLayer(self._plot)
        self._table = DeviceTable(self._plot)
        self._arrange((self._heading,), self._left, self._plot, self._names, below=(self._table,))
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self._plot.sigResized.connect(self._on_plot_resized)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self._refresh()

    @property
    def bars(self) -> tuple[PlacedDevice, ...]:
        """What is painted, a bar a device."""
        return tuple(bar for bar in self._layer.bars if isinstance(bar, PlacedDevice))

    @property
    def table(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and cells of the table's rows."""
        return self._table.rows

    def set_comparison(self, comparison: DeviceComparison | None, size: int | None = None) -> None:
        """Show the devices at a size, or at the largest that was measured."""
        self._comparison, self._size = comparison, size
        self._refresh()

    def set_unit(self, unit: Unit) -> None:
        """Make the bars as high as their value in another unit."""
        self._unit = unit
        self._refresh()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the bars; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether no device was measured."""
        return self.shown_size is None

    @property
    def shown_size(self) -> int | None:
        """The size whose bars are shown, else the last one with any; None without a measurement."""
        if self._comparison is None or not self._comparison.measured_sizes:
            return None
        sizes = self._comparison.measured_sizes
        counting = [size for size in sizes if self._comparison.counting(size)]
        return self._size if self._size in sizes else (counting or sizes)[-1]

    def restyle(self) -> None:
        """Colour axes, bars and table."""
        for part in (
            self._left, self._names, self._plot, self._layer, self._heading, self._table,
        ):  # fmt: skip
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Say nothing more of any bar."""
        self._layer.point_at(None)

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the bars half of the chart, and most of a low one."""
        high = self.height() >= _TABLE_PIXELS
        self._names.set_lines(CategoryAxis.MAX_LINES if high else 1)
        share = _TABLE_SHARE if high else _LOW_TABLE_SHARE
        self._table.set_room(share * self.height())

    @Slot(object)
    def _on_plot_resized(self, plot: object) -> None:
        self._table.fit_width()
        self._fit_height()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._plot.is_under(position)
        self._layer.point_at(self._plot.mapSceneToView(position).x() if inside else None)

    def _refresh(self) -> None:
        size, comparison = self.shown_size, self._comparison
        for item in (self._left, self._plot, self._names):
            item.setVisible(size is not None)
        words = UNITS[self._unit]
        self._left.set_quantity(words.axis, words.symbol, prefixed=words.prefixed)
        if size is None or comparison is None:
            self._layer.set_bars(())
            self._table.set_columns(())
            self.viewport().update()
            return
        columns = tuple((each, comparison.figure(each.key, size)) for each in comparison.devices)
        numbers = names_of(comparison)
        self._names.set_names(
            tuple(_name(device, numbers[device_label(device)]) for device, _ in columns)
        )
        self._layer.set_bars(self._placed(columns, comparison, size))
        self._table.set_columns(columns)
        self._plot.setXRange(-0.5, max(len(columns), 1) - 0.5, padding=0)
        self.export_title = f"Devices {headline(comparison, size)}"
        self._fit_height()
        self.viewport().update()

    def _placed(
        self,
        columns: tuple[tuple[Device, DeviceFigure | None], ...],
        comparison: DeviceComparison,
        size: int,
    ) -> tuple[PlacedDevice, ...]:
        """A bar for each device, in the unit of the chart."""
        found: list[PlacedDevice] = []
        for device, figure in columns:
            label = device_label(device)
            look = self._colors.look(label)
            quantity = quantity_of(figure, device, self._unit) if figure is not None else None
            scale = 1.0 if UNITS[self._unit].symbol != "%" else 100.0
            why = lack_of(figure, device, self._unit) if figure is not None else "not yet measured"
            value = quantity.value if quantity is not None else math.nan
            bar = Bar(
                label, "", scale * value,
                low=scale * quantity.low if quantity is not None else math.nan,
                high=scale * quantity.high if quantity is not None else math.nan,
                note=why,
            )  # fmt: skip
            (placed,) = place_bars([[(bar, look, "")]])
            found.append(
                PlacedDevice(
                    placed.bar,
                    placed.look,
                    "",
                    float(len(found)),
                    placed.width,
                    label=text_of(value, self._unit) if quantity is not None else "",
                    verdict=verdict_of(comparison, figure) if figure is not None else "",
                    why=why,
                    details=describe_figure(
                        comparison, figure or DeviceFigure(device.key, size), device
                    ),
                )
            )
        return tuple(found)

    def _fit_height(self) -> None:
        """Leave as much room above the tallest bar as the labels need."""
        height = max(1.0, self._plot.height())
        above = min(0.6, self._layer.headroom() / height)
        tops = [top for placed in self._layer.bars for top in (placed.value, placed.bar.high)]
        tallest = max((top for top in tops if math.isfinite(top)), default=1.0) or 1.0
        self._plot.setYRange(0.0, tallest / (1 - above), padding=0)


def _name(device: Device, number: str) -> str:
    """A device below its bar; a simulator says that it is one."""
    kind = " (simulator)" if device.type == "simulator" else ""
    return f"{number}  {device_label(device)}{kind}".strip()
