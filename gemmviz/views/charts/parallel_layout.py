"""Where the axes and lines of parallel coordinates are in pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF

from gemmviz.core.sweep_lines import SweepLines
from gemmviz.views.charts.color_scale import ColorScale

Floats = npt.NDArray[np.floating]

_BAND = 0.72  # of a value's share of its axis: lines spread over it by their figures
_WIDEST_BAND = 110.0
_BELOW = -0.07  # where in a band the lines are that have no figure
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Margins:
    """What is left free around the axes, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Places in pixels.

    Attributes:
        area: From the first axis to the last and from their tops to their feet.
        axes: Where each axis stands across, that of the figure last.
        centers: For each axis but the last the middle of each of its values, from the top down.
        lines: For each line, the worst first, its place down each axis.
    """

    area: QRectF
    axes: Floats
    centers: tuple[Floats, ...]
    lines: Floats

    @property
    def gap(self) -> float:
        """How far apart the axes are."""
        return float(self.axes[1] - self.axes[0])

    def axis_at(self, x: float, reach: float) -> int | None:
        """The axis within ``reach`` pixels of a place; None without one."""
        nearest = int(np.argmin(np.abs(self.axes - x)))
        return nearest if abs(self.axes[nearest] - x) <= reach else None

    def share(self, y: float) -> float:
        """How far up an axis a place is: 0 at its foot, 1 at its top."""
        return min(1.0, max(0.0, (self.area.bottom() - y) / max(self.area.height(), _NEAR)))

    def picked(self, brushes: dict[int, tuple[float, float]]) -> npt.NDArray[np.bool_]:
        """Which lines go through what is picked on each axis, given as shares from the foot."""
        inside = np.ones(len(self.lines), dtype=bool)
        for axis, (low, high) in brushes.items():
            up = (self.area.bottom() - self.lines[:, axis]) / max(self.area.height(), _NEAR)
            inside &= (up >= low - _NEAR) & (up <= high + _NEAR)
        return inside

    def nearest(self, x: float, y: float, among: npt.NDArray[np.bool_], reach: float) -> int | None:
        """The line nearest to a place, the best of several; None where none is within reach."""
        if not len(self.lines) or not self.axes[0] - reach <= x <= self.axes[-1] + reach:
            return None
        left = min(max(int(np.searchsorted(self.axes, x)) - 1, 0), len(self.axes) - 2)
        share = min(1.0, max(0.0, (x - self.axes[left]) / self.gap))
        rise = self.lines[:, left + 1] - self.lines[:, left]
        upright = np.abs(self.lines[:, left] + share * rise - y)
        away = np.where(among, upright / np.hypot(1.0, rise / self.gap), np.inf)
        near = float(away.min())
        return int(np.flatnonzero(away <= near + 0.5)[-1]) if near <= reach else None


def arrange(shown: SweepLines, scale: ColorScale | None, size: QRectF, around: Margins) -> Layout:
    """The places for a chart of a size.

    Lines through one value of an axis are spread over a band by their figures, the better the
    higher: else many would lie on one another, and which values the best ones have would not show.
    """
    area = size.adjusted(around.left, around.top, -around.right, -around.bottom)
    axes = np.linspace(area.left(), area.right(), len(shown.axes) + 1)
    values = [
        scale.share(line.value) if scale is not None and line.value is not None else np.nan
        for line in shown.lines
    ]
    shares = np.array(values, dtype=float)
    better = 1 - shares if shown.metric.better == "lower" else shares
    spread = np.where(np.isnan(better), _BELOW, better) - 0.5
    places = np.array([line.places for line in shown.lines], dtype=int)
    places = places.reshape(-1, len(shown.axes))
    centers: list[Floats] = []
    columns: list[Floats] = []
    for number, axis in enumerate(shown.axes):
        slot = area.height() / len(axis.texts)
        middles = area.bottom() - (np.arange(len(axis.texts)) + 0.5) * slot
        centers.append(middles)
        columns.append(middles[places[:, number]] - spread * min(_BAND * slot, _WIDEST_BAND))
    foot = area.bottom() + 0.5 * around.bottom
    columns.append(np.where(np.isnan(shares), foot, area.bottom() - shares * area.height()))
    return Layout(area, axes, tuple(centers), np.column_stack(columns))
