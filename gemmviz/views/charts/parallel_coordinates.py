"""Parallel coordinates of a sweep: an axis for each thing that varies, a line for each try."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.sweep import SweepCell
from gemmviz.core.sweep_lines import SweepLines
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.color_scale import ColorScale
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.charts.parallel_layer import ParallelLayer
from gemmviz.views.charts.sweep_words import BEST_WORDS, RECOMMENDED_SIGN, RECOMMENDED_WORDS
from gemmviz.views.theme import DARK, Theme

_LEGEND_PIXELS = 230  # of the chart's height below which the lines need every pixel
_AXIS_PIXELS = 12  # beside an axis: a drag there picks lines


class BrushPlot(Plot):
    """A plot that is not zoomed: a drag emits where it began and where it is, in its pixels."""

    dragged = Signal(QPointF, QPointF)

    def __init__(self) -> None:
        super().__init__()
        self.setMouseEnabled(x=False, y=False)

    def mouseDragEvent(self, ev: object, axis: int | None = None) -> None:
        """Hand on where the left button went down and where the mouse is now."""
        if ev.button() == Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            ev.accept()  # type: ignore[attr-defined]
            self.dragged.emit(ev.buttonDownPos(), ev.pos())  # type: ignore[attr-defined]


class ParallelCoordinatesChart(Chart):
    """Lines in the colours of a figure, the best set bold, the recommended one starred.

    A drag along an axis picks the lines that go through there, and the right button or ``home``
    shows all again. ``cell_clicked`` carries the SweepCell of a clicked line, ``cell_opened`` that
    of a double click.
    """

    export_title = "Parallel coordinates"
    cell_clicked = Signal(object)
    cell_opened = Signal(object)

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Sweep three things or more to see which values go together"
        self._lines: SweepLines | None = None
        self._heading, self._legend = Heading(), Legend()
        self._plot = BrushPlot()
        self._layer = ParallelLayer(self._plot)
        grid = self.centralLayout
        for row, item in enumerate((self._heading, self._legend, self._plot)):
            grid.addItem(item, row, 0)
        grid.setVerticalSpacing(0)
        grid.setRowStretchFactor(2, 1)
        self._plot.dragged.connect(self._on_dragged)
        self._plot.reset_wanted.connect(self.home)
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self.set_theme(theme)
        self.set_lines(None)

    @property
    def lines(self) -> SweepLines | None:
        """What is drawn."""
        return self._lines

    @property
    def layer(self) -> ParallelLayer:
        """What is painted."""
        return self._layer

    def set_lines(self, lines: SweepLines | None) -> None:
        """Draw these lines, all or those so far; None is the empty chart."""
        self._lines = lines
        self._plot.setVisible(not self.is_empty())
        span = lines.span if lines is not None else None
        scale = ColorScale(lines.metric, *span) if lines is not None and span is not None else None
        self._layer.show_lines(None if self.is_empty() else lines, scale)
        self._show_legend()
        self.viewport().update()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the axes; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no line."""
        return self._lines is None or not self._lines.lines

    def restyle(self) -> None:
        """Colour names, lines and legend."""
        for part in (self._heading, self._legend, self._layer, self._plot):
            part.restyle(self.theme)
        self._show_legend()

    def hide_hover(self) -> None:
        """Say nothing more of any line."""
        self._layer.point_at(None)

    def choose(self, cell: SweepCell | None) -> None:
        """Draw the line of a cell over all others, or none."""
        self._layer.choose(cell)

    @Slot()
    def home(self) -> None:
        """Show every line as bright as the others."""
        self._layer.clear_brushes()
        self._show_legend()

    def _show_legend(self) -> None:
        """The signs that are in the picture, in words."""
        shown = self._lines
        if shown is None or self.is_empty() or self.height() < _LEGEND_PIXELS:
            self._legend.set_entries(())
            return
        entries = []
        if self._layer.brushes:
            count = len(self._layer.picked)
            entries.append(Entry(f"{count:,} of {len(shown.lines):,} picked; right click: all"))
        else:
            entries.append(Entry(f"{len(shown.lines):,} lines; drag along an axis to pick some"))
        if any(line.best for line in shown.lines):
            entries.append(Entry(f"bold: {BEST_WORDS}"))
        if any(line.recommended for line in shown.lines):
            entries.append(Entry(f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS}"))
        if any(line.value is None for line in shown.lines):
            entries.append(Entry("failed or wrong", Look(self.theme.muted)))
        if shown.untried:
            entries.append(Entry(f"{shown.untried:,} not measured"))
        self._legend.set_entries(tuple(entries))

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        self._show_legend()

    @Slot(QPointF, QPointF)
    def _on_dragged(self, start: QPointF, now: QPointF) -> None:
        layout = self._layer.layout
        axis = layout.axis_at(start.x(), _AXIS_PIXELS) if layout is not None else None
        if layout is None or axis is None:
            return
        low, high = sorted((layout.share(start.y()), layout.share(now.y())))
        self._layer.brush(axis, low, high)
        self._layer.point_at(None)
        self._show_legend()

    def _pixel(self, position: QPointF) -> QPointF | None:
        """A place of the scene in pixels of the plot; None outside of it."""
        inside = self._plot.is_under(position)
        return self._plot.mapFromScene(position) if inside else None

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        place = self._pixel(position)
        self._layer.point_at(self._layer.line_at(place), place)

    @Slot(object)
    def _on_mouse_clicked(self, event: object) -> None:
        if event.button() != Qt.MouseButton.LeftButton:  # type: ignore[attr-defined]
            return
        line = self._layer.line_at(self._pixel(event.scenePos()))  # type: ignore[attr-defined]
        if line is not None:
            self.choose(line.cell)
            opened = event.double()  # type: ignore[attr-defined]
            (self.cell_opened if opened else self.cell_clicked).emit(line.cell)
