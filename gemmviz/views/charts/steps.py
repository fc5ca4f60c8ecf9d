"""The step curves of occupancy: a small plot for each thing that may vary."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.steps import StepCurve
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.charts.step_cells import LIMITER_NAMES, StepCells, limiter_color
from gemmviz.views.theme import DARK, Theme

_PIXELS_A_ROW = 150  # of the chart's height for each row of the legend


class StepsChart(Chart):
    """Small multiples: groups that a unit holds while one thing varies and the others stay.

    The present value is marked, each step has the colour of what limits it, and the next step is
    named below.
    """

    export_title = "Occupancy"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Choose a kernel and a device to see how its occupancy may change"
        self._heading, self._legend, self._cells = Heading(), Legend(), StepCells()
        grid = self.centralLayout
        grid.setVerticalSpacing(0)
        grid.addItem(self._heading, 0, 0)
        grid.addItem(self._legend, 1, 0)
        grid.addItem(self._cells, 2, 0)
        grid.setRowStretchFactor(2, 1)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)

    @property
    def curves(self) -> tuple[StepCurve, ...]:
        """What is shown."""
        return self._cells.curves

    def set_curves(self, curves: tuple[StepCurve, ...]) -> None:
        """Show these curves; none is the empty chart."""
        self._cells.set_curves(curves)
        self._show_legend()
        self.viewport().update()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the curves; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no curve."""
        return not self._cells.curves

    def restyle(self) -> None:
        """Colour heading, legend and cells."""
        for part in (self._heading, self._legend, self._cells):
            part.restyle(self.theme)
        self._show_legend()

    def hide_hover(self) -> None:
        """Point at no step."""
        self._cells.point_at(None)

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the curves most of a low chart, whatever the legend would take."""
        self._legend.set_most_rows(self.height() // _PIXELS_A_ROW)

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        self._cells.point_at(self._cells.mapFromScene(position))

    def _show_legend(self) -> None:
        met = {step.limiters[0] for curve in self._cells.curves for step in curve.steps}
        names = [name for name in LIMITER_NAMES if name in met]
        entries = []
        for index, name in enumerate(names):
            words = "by " + LIMITER_NAMES[name]
            look = Look(limiter_color(name, self.theme))
            entries.append(Entry(words if index else f"Limited {words}", look))
        self._legend.set_entries(tuple(entries))
