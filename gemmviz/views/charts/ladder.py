"""The ladder as a waterfall: each rung rises from the last one, or falls below it."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, Slot
from PySide6.QtWidgets import QWidget

from gemmviz.core.ladder import Ladder
from gemmviz.views.charts.axis import CategoryAxis, UnitAxis
from gemmviz.views.charts.chart import Chart, Plot
from gemmviz.views.charts.colors import Look
from gemmviz.views.charts.heading import Heading, Line
from gemmviz.views.charts.ladder_layer import LadderLayer
from gemmviz.views.charts.ladder_table import LadderTable
from gemmviz.views.charts.ladder_words import Level
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.theme import DARK, Theme

_FURTHEST = 2.5  # times the fastest rung: a line above that would flatten all bars
_TABLE_PIXELS = 340  # of the chart's height below which bars have all the room
_LEGEND_PIXELS = 260
_NAME_PIXELS = 66  # of the chart's width for each rung that is named


class LadderChart(Chart):
    """Bars from rung to rung with gains and losses, the library and the peak as lines across."""

    export_title = "Ladder"

    def __init__(self, parent: QWidget | None = None, theme: Theme = DARK) -> None:
        super().__init__(parent, theme)
        self.empty_text = "Climb the ladder to see what each idea gains"
        self._ladder: Ladder | None = None
        self._heading, self._legend = Heading(), Legend()
        self._plot = Plot()
        self._plot.setMouseEnabled(x=False, y=False)
        self._left = UnitAxis("left", self._plot, "Throughput", "FLOP/s")
        self._names = CategoryAxis(self._plot)
        self._layer = LadderLayer(self._plot)
        self._table = LadderTable(self._plot)
        self._arrange(
            (self._heading, self._legend), self._left, self._plot, self._names, below=(self._table,)
        )
        self.sigDeviceRangeChanged.connect(self._on_device_range_changed)
        self._plot.sigResized.connect(self._on_plot_resized)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.set_theme(theme)
        self.set_ladder(None)

    @property
    def ladder(self) -> Ladder | None:
        """What is drawn."""
        return self._ladder

    def set_ladder(self, ladder: Ladder | None) -> None:
        """Draw a ladder, whole or in the making; None is the empty chart."""
        self._ladder = ladder if ladder is not None and ladder.rungs else None
        rungs = self._ladder.rungs if self._ladder is not None else ()
        for item in (self._left, self._plot, self._names):
            item.setVisible(bool(rungs))
        self._layer.set_ladder(self._ladder, self._near_levels())
        self._table.set_ladder(self._ladder)
        self._plot.setXRange(-0.5, max(len(rungs), 1) - 0.5, padding=0)
        self._show_names()
        self._show_legend()
        self._fit_height()
        self.viewport().update()

    def set_heading(self, title: str, lines: tuple[Line, ...] = ()) -> None:
        """Put a title and lines of text above the bars; an empty title takes them away."""
        self._heading.set_text(title, lines)

    def is_empty(self) -> bool:
        """Whether there is no rung."""
        return self._ladder is None

    def restyle(self) -> None:
        """Colour axes, legend, bars and table."""
        for part in (
            self._left, self._names, self._plot, self._legend, self._layer, self._heading,
            self._table,
        ):  # fmt: skip
            part.restyle(self.theme)
        self._show_legend()

    def hide_hover(self) -> None:
        """Say nothing more of any rung."""
        self._layer.point_at(None)

    @Slot(object, object)
    def _on_device_range_changed(self, view: object, area: object) -> None:
        """Leave the bars most of a low chart."""
        self._table.set_shown(self.height() >= _TABLE_PIXELS)
        self._show_names()
        self._show_legend()

    @Slot(object)
    def _on_plot_resized(self, plot: object) -> None:
        self._fit_height()

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        inside = self._plot.is_under(position)
        self._layer.point_at(self._plot.mapSceneToView(position).x() if inside else None)

    def _show_names(self) -> None:
        """The rungs' numbers, with their titles where these would not be cut to pieces."""
        rungs = self._ladder.rungs if self._ladder is not None else ()
        wide = self.width() >= _NAME_PIXELS * len(rungs)
        names = (f"{rung.number} {rung.title}" if wide else f"{rung.number}" for rung in rungs)
        self._names.set_names(tuple(names))

    def _levels(self) -> tuple[Level, ...]:
        ladder = self._ladder
        if ladder is None:
            return ()
        levels = []
        if ladder.library is not None:
            levels.append(Level(ladder.library.title, ladder.library.flops_per_second))
        if ladder.peak is not None:
            levels.append(Level("measured peak", ladder.peak))
        return tuple(levels)

    def _near_levels(self) -> tuple[Level, ...]:
        """The lines that leave the bars most of the height."""
        most = _FURTHEST * self._tallest()
        return tuple(level for level in self._levels() if level.flops_per_second <= most)

    def _show_legend(self) -> None:
        """What the parts of a bar mean, and which lines lie above the picture."""
        if self._ladder is None or self.height() < _LEGEND_PIXELS:
            self._legend.set_entries(())
            return
        entries = [Entry("gained over the rung below", Look(self.theme.accent))]
        if any(rung.step == "loss" for rung in self._ladder.rungs):
            entries.append(Entry("lost", Look(self.theme.bad), hatched=True))
        if any(rung.wrong for rung in self._ladder.rungs):
            entries.append(Entry("wrong answer", Look(self.theme.muted), hatched=True))
        near = self._near_levels()
        levels = [
            level for level in self._levels() if level not in near or self._layer.posture != "flat"
        ]
        entries += [Entry(level.text if level in near else f"↑ {level.text}") for level in levels]
        self._legend.set_entries(tuple(entries))

    def _fit_height(self) -> None:
        """Leave as much room above the tallest bar as the labels need."""
        height = max(1.0, self._plot.height())
        above = min(0.6, self._layer.headroom() / height)
        levels = [level.flops_per_second * 1.04 for level in self._near_levels()]
        top = max([self._tallest() / (1 - above), *levels])
        self._plot.setYRange(0.0, top, padding=0)

    def _tallest(self) -> float:
        """The highest speed of a rung, its interval included, FLOP/s."""
        rungs = self._ladder.rungs if self._ladder is not None else ()
        tops = [top for rung in rungs for top in (rung.flops_per_second, rung.high) if top]
        return max((top for top in tops if math.isfinite(top)), default=1.0)
