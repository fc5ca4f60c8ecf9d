"""The base of charts whose marks are configurations of a sweep: layout, zoom, hover and clicks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.sweep import SweepCell
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Legend
from gemmviz.views.charts.point_layer import Mark, PointLayer
from gemmviz.views.theme import DARK, Theme

_LOW_PIXELS = 260  # below this height the plot needs every pixel
_PIXELS_A_ROW = 110  # of the chart's height for each row of the legend


class PointChart(Chart):
    """A plot between two axes.

    ``cell_clicked`` carries the SweepCell of a clicked mark, ``cell_opened`` that of a double
    click. A subclass makes the axes, sets what ``_layer`` shows, and says in ``_fit`` what all of
    it is.
    """

    cell_clicked = Signal(object)
    cell_opened = Signal(object)

    def __init__(
        self,
        axes: tuple[UnitAxis, UnitAxis],
        plot: Plot,
        parent: QWidget | None = None,
        theme: Theme = DARK,
    ) -> None:
        super().__init__(parent, theme)
        self._left, self._bottom = axes
        self._plot = plot
        self._zoomed = False
        self._heading, self._legend = Heading(), Legend()
        self._layer = PointLayer(plot)
        self._arrange((self._heading, self._legend), self._left, self._plot, self._bottom)
        self._plot.reset_wanted.connect(self.home)
        self._plot.sigRangeChangedManually.connect(self._on_zoomed)
        self._plot.sigRangeChanged.connect(self._on_range_changed)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.scene().sigMouseClicked.connect(self._on_mouse_clicked)

    @property
    def layer(self) -> PointLayer:
        """What is painted."""
        return self._layer

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the plot; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no mark."""
        return not self._layer.marks

    def choose(self, cell: SweepCell | None) -> None:
        """Frame the mark of a cell, or none."""
        self._layer.choose(cell)

    @Slot()
    def home(self) -> None:
        """Show everything."""
        self._zoomed = False
        self._fit()
        self.viewport().update()

    def restyle(self) -> None:
        """Colour axes, legend and marks."""
        for part in (self._left, self._bottom, self._plot, self._legend, self._layer,
                     self._heading):  # fmt: skip
            part.restyle(self.theme)

    def hide_hover(self) -> None:
        """Point at nothing."""
        self._layer.point_at(None)

    def _fit(self) -> None:
        """Show everything; a subclass says what that is."""
        raise NotImplementedError

    def _show_parts(self) -> None:
        """Axes and plot where there is something in them; all of it, unless a person zoomed."""
        for item in (self._left, self._plot, self._bottom):
            item.setVisible(not self.is_empty())
        if not self._zoomed:
            self._fit()
        self.viewport().update()

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

    def _pixel(self, position: QPointF) -> QPointF | None:
        """A place of the scene in pixels of the plot; None outside of it."""
        inside = self._plot.is_under(position)
        return self._plot.mapFromScene(position) if inside else None

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        self._layer.point_at(self._pixel(position))

    @Slot(object)
    def _on_mouse_clicked(self, event: object) -> None:
        if event.button() != Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            return
        place = self._pixel(event.scenePos())  # type: ignore[attr-defined]
        found = self._layer.nearest(place) if place is not None else None
        if isinstance(found, Mark):
            self.choose(found.cell)
            opened = event.double()  # type: ignore[attr-defined]
            (self.cell_opened if opened else self.cell_clicked).emit(found.cell)
