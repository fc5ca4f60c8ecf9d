"""The live chart of one device of a race, in the device's own colour."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gemmviz.views.charts.live import LiveChart
from gemmviz.views.theme import DARK, Theme


class DeviceLiveChart(LiveChart):
    """Time and throughput of a run, both in the colour that its device has everywhere."""

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        self._color = ""
        super().__init__(parent, theme)

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
