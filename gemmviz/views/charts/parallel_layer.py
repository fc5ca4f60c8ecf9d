"""Paints parallel coordinates: lines in the colours of their figures, and axes over them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import internals
from PySide6.QtCore import QLineF, QPointF
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPixmap, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gemmviz.core.sweep import SweepCell
from gemmviz.core.sweep_lines import SweepLine, SweepLines
from gemmviz.views.charts.chart import (
    LABEL_PIXELS,
    Layer,
    Plot,
    draw_chip,
    pixel_pen,
)
from gemmviz.views.charts.color_scale import ColorScale
from gemmviz.views.charts.parallel_axes import ParallelAxes
from gemmviz.views.charts.parallel_layout import Layout, arrange
from gemmviz.views.charts.sweep_words import (
    BEST_WORDS,
    RECOMMENDED_SIGN,
    RECOMMENDED_WORDS,
    describe_cell,
)
from gemmviz.views.theme import DARK, Theme, mixed, text_font

_STEPS = 24  # of colour: lines of one are painted at once
_REACH = 7.0
_MANY = 250  # from so many lines on they are thinner

Picked = npt.NDArray[np.bool_]


class ParallelLayer(Layer):
    """Lines over axes; those outside of what is picked on an axis are faint."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, depth=1)
        self._theme = DARK
        self._shown: SweepLines | None = None
        self._scale: ColorScale | None = None
        self._layout: Layout | None = None
        self._brushes: dict[int, tuple[float, float]] = {}
        self._pointed: SweepLine | None = None
        self._place: QPointF | None = None
        self._chosen: SweepCell | None = None
        self._segments = internals.PrimitiveArray(QLineF, 4)
        # All but the details: a thousand lines are not painted anew wherever the mouse goes.
        self._picture: QPixmap | None = None

    @property
    def pointed(self) -> SweepLine | None:
        """The line under the mouse, if any."""
        return self._pointed

    @property
    def brushes(self) -> dict[int, tuple[float, float]]:
        """What is picked on each axis, by its number, as shares of it from the foot."""
        return self._brushes

    @property
    def picked(self) -> tuple[SweepLine, ...]:
        """The lines that go through all that is picked."""
        layout = self.layout
        if self._shown is None or layout is None:
            return ()
        inside = layout.picked(self._brushes)
        return tuple(line for line, one in zip(self._shown.lines, inside, strict=True) if one)

    @property
    def layout(self) -> Layout | None:
        """Where everything is, for the present size; None without lines."""
        if self._shown is None:
            return None
        if self._layout is None:
            around = self._axes(self._shown).margins()
            self._layout = arrange(self._shown, self._scale, self.boundingRect(), around)
        return self._layout

    def show_lines(self, shown: SweepLines | None, scale: ColorScale | None) -> None:
        """Show others; what is picked stays where the axes do."""
        before = self._shown.axes if self._shown is not None else None
        if shown is None or before != shown.axes:
            self._brushes = {}
        self._shown, self._scale, self._layout, self._pointed = shown, scale, None, None
        self._repaint()

    def choose(self, cell: SweepCell | None) -> None:
        """Draw the line of a cell over all others, or none."""
        self._chosen = cell
        self._repaint()

    def brush(self, axis: int, low: float, high: float) -> None:
        """Pick the lines between two shares of an axis; nothing where they are equal."""
        self._brushes.pop(axis, None)
        if low < high:
            self._brushes[axis] = (low, high)
        self._repaint()

    def clear_brushes(self) -> None:
        """Pick all lines."""
        self._brushes = {}
        self._repaint()

    def line_at(self, place: QPointF | None) -> SweepLine | None:
        """The line at a place in pixels, if any; of several the best."""
        layout = self.layout
        if self._shown is None or layout is None or place is None:
            return None
        among = layout.picked(self._brushes)
        found = layout.nearest(place.x(), place.y(), among, _REACH)
        return self._shown.lines[found] if found is not None else None

    def point_at(self, line: SweepLine | None, place: QPointF | None = None) -> None:
        """Tell more of a line beside a place in pixels, or of none."""
        if line is not self._pointed:
            self._pointed, self._place = line, place
            self.update()

    def restyle(self, theme: Theme) -> None:
        """Put the theme's colours on."""
        self._theme = theme
        self._repaint()

    # --- painting

    def _axes(self, shown: SweepLines) -> ParallelAxes:
        return ParallelAxes(shown, self._scale, self._theme)

    def _on_plot_resized(self, plot: object) -> None:
        super()._on_plot_resized(plot)
        self._layout = self._picture = None

    def _repaint(self) -> None:
        self._picture = None
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint all lines, the best last, then axes, what is picked, and the details."""
        shown, layout = self._shown, self.layout
        if shown is None or layout is None:
            return
        screen = painter.device()
        if isinstance(screen, QWidget):
            painter.drawPixmap(
                QPointF(0, 0), self._taken(shown, layout, screen.devicePixelRatioF())
            )
        else:  # a picture or a drawing, at whatever scale
            self._paint_all(painter, shown, layout)
        if self._pointed is not None:
            self._paint_pointed(painter, shown, layout, self._pointed)

    def _taken(self, shown: SweepLines, layout: Layout, density: float) -> QPixmap:
        """All but the details as a picture, of so many pixels for each of the chart's."""
        picture = self._picture
        if picture is None or picture.devicePixelRatio() != density:
            area = self.boundingRect().size() * density
            picture = QPixmap(int(np.ceil(area.width())), int(np.ceil(area.height())))
            picture.setDevicePixelRatio(density)
            picture.fill(self._theme.panel)
            painter = QPainter(picture)
            self._paint_all(painter, shown, layout)
            painter.end()
            self._picture = picture
        return picture

    def _paint_all(self, painter: QPainter, shown: SweepLines, layout: Layout) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        inside = layout.picked(self._brushes)
        self._paint_lines(painter, shown, layout, inside)
        self._paint_best(painter, shown, layout, inside)
        self._axes(shown).paint(painter, layout, self._brushes, self.boundingRect())

    def _paint_lines(
        self, painter: QPainter, shown: SweepLines, layout: Layout, inside: Picked
    ) -> None:
        theme, scale, axes = self._theme, self._scale, self._axes(shown)
        shares = np.array(
            [
                scale.share(line.value) if scale is not None and line.value is not None else np.nan
                for line in shown.lines
            ],
            dtype=float,
        )
        lacking = np.isnan(shares)
        width = 1.0 if len(shown.lines) >= _MANY else 1.4
        self._draw(painter, layout, ~inside, mixed(theme.muted, theme.panel, 0.12), 1.0)
        self._draw(painter, layout, inside & lacking, mixed(theme.muted, theme.panel, 0.45), 1.0)
        steps = np.floor(np.nan_to_num(shares) * (_STEPS - 1) + 0.5).astype(int)
        order = range(_STEPS)
        for step in reversed(order) if shown.metric.better == "lower" else order:
            among = inside & ~lacking & (steps == step)
            self._draw(painter, layout, among, axes.color(step / (_STEPS - 1)), width)

    def _draw(
        self, painter: QPainter, layout: Layout, among: Picked, color: QColor, width: float
    ) -> None:
        """Draw the segments of some lines in one go."""
        lines = layout.lines[among]
        if not len(lines):
            return
        gaps = len(layout.axes) - 1
        self._segments.resize(len(lines) * gaps)
        memory = self._segments.ndarray().reshape(len(lines), gaps, 4)
        memory[:, :, 0], memory[:, :, 2] = layout.axes[:-1], layout.axes[1:]
        memory[:, :, 1], memory[:, :, 3] = lines[:, :-1], lines[:, 1:]
        painter.setPen(pixel_pen(color, width))
        painter.drawLines(*self._segments.drawargs())

    def _paint_best(
        self, painter: QPainter, shown: SweepLines, layout: Layout, inside: Picked
    ) -> None:
        """The best set bold with a rim, the one to take starred, and the chosen line."""
        theme, scale, axes = self._theme, self._scale, self._axes(shown)
        wanted = self._chosen.configuration if self._chosen is not None else None
        for number, line in enumerate(shown.lines):
            chosen = line.cell.configuration == wanted
            if not (chosen or (line.best and inside[number])):
                continue
            path = _polyline(layout, number)
            painter.setPen(pixel_pen(theme.accent if chosen else theme.text, 4.6))
            painter.drawPolyline(path)
            share = scale.share(line.value) if scale and line.value is not None else 0.0
            painter.setPen(pixel_pen(axes.color(share), 2.4))
            painter.drawPolyline(path)

    def _paint_pointed(
        self, painter: QPainter, shown: SweepLines, layout: Layout, line: SweepLine
    ) -> None:
        theme, number = self._theme, shown.lines.index(line)
        path = _polyline(layout, number)
        for color, width in ((theme.panel, 5.0), (theme.accent, 2.6)):
            painter.setPen(pixel_pen(color, width))
            painter.drawPolyline(path)
        painter.setBrush(QColor(theme.panel))
        painter.setPen(pixel_pen(theme.accent, 1.8))
        for spot in path.toList():
            painter.drawEllipse(spot, 3.2, 3.2)
        marks = [BEST_WORDS] * line.best
        marks += [f"{RECOMMENDED_SIGN} {RECOMMENDED_WORDS}"] * line.recommended
        others = [
            f"{axis.name} {axis.texts[place]}"
            for axis, place in zip(shown.axes, line.places, strict=True)
            if not axis.name.isupper()
        ]
        text = "\n".join([*others, describe_cell(line.cell, tuple(marks))])
        font = text_font(LABEL_PIXELS)
        metrics = QFontMetricsF(font)
        wide = max(map(metrics.horizontalAdvance, text.split("\n"))) + 12
        area = self.boundingRect().adjusted(4, 4, -4, -4)
        place = self._place or path.at(len(shown.axes) // 2)
        right = place.x() + 18 + wide < area.right()
        left = place.x() + 18 if right else place.x() - 18 - wide
        draw_chip(
            painter, QPointF(left, place.y()), text, font=font, ink=theme.text, theme=theme,
            limits=area,
        )  # fmt: skip


def _polyline(layout: Layout, number: int) -> QPolygonF:
    places = zip(layout.axes.tolist(), layout.lines[number].tolist(), strict=True)
    return QPolygonF([QPointF(x, y) for x, y in places])
