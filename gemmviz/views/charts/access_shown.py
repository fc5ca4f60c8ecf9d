"""What is painted of each matrix at one step: its window, and the cells in it."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.core.access.report import Touches
from gemmviz.views.charts.access_cells import (
    AccessScene,
    Cells,
    cells_of,
    execution_at,
    window_start,
)


@dataclass(frozen=True, slots=True)
class View:
    """Where one looks: the chosen access, a warp or the whole group, and the step of so many."""

    chosen: int | None = None
    warp: int | None = 0
    step: int = 0
    steps: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One matrix as it is painted.

    ``touches`` and ``cells`` are None where the kernel does not touch it.
    """

    name: str
    first: tuple[int, int]
    size: tuple[int, int]
    touches: Touches | None
    execution: int
    cells: Cells | None


def shown_at(scene: AccessScene, name: str, view: View) -> Shown:
    """What is painted of a matrix."""
    touches = scene.on_matrix(name, view.chosen)
    axes, shape = scene.axes[name], scene.shapes[name]
    size = min(scene.window[axes[0]], shape[0]), min(scene.window[axes[1]], shape[1])
    if touches is None:
        return Shown(name, (0, 0), size, None, 0, None)
    execution = execution_at(touches, view.step, view.steps)
    cells = cells_of(scene, name, touches, execution, view.warp)
    first = [0, 0]
    if len(cells.rows):
        for axis, places in enumerate((cells.rows, cells.cols)):
            low, high = int(places.min()), int(places.max())
            first[axis] = window_start(low, high, size[axis], shape[axis])
    return Shown(name, (first[0], first[1]), size, touches, execution, cells)
