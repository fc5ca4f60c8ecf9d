"""Which cells of A, B and C an access touches at a step: plain arrays, without any drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.core.access.report import Access, AccessReport, Touches
from gemmviz.core.access.warps import SECTOR_BYTES
from gemmviz.core.launch import kernel_view, matrix_shapes, operand_orders
from gemmviz.core.model import Problem, Variant

_SMALLEST = {"M": 24, "N": 24, "K": 16}  # cells of a window: so much is always shown
_LOOKED_AT = 64  # steps, evenly spread, that decide how large a window is
_AXES = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}
_AXES_OF_A_SUM = {"A": ("M", "N"), "B": ("M", "N"), "C": ("M", "N")}

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AccessScene:
    """A kernel's accesses and all that is needed to draw them.

    Attributes:
        report: What the lens says.
        touches: What each access touches in the first work-group.
        orders: Storage of each matrix, "row" or "column"; "column" also for a transposed input
            stored by rows.
        shapes: Rows and columns of A, B and C.
        axes: Which of M, N and K the rows and the columns of each matrix are.
        window: Cells that are shown along M, N and K.
        reach: For each access on a matrix the first row and column, and one past the last, that
            the work-group touches in all steps.
    """

    report: AccessReport
    touches: tuple[Touches, ...]
    orders: dict[str, str]
    shapes: dict[str, tuple[int, int]]
    axes: dict[str, tuple[str, str]]
    window: dict[str, int]
    reach: dict[int, tuple[int, int, int, int]]

    @property
    def warps(self) -> int:
        """Warps of a work-group."""
        return -(-self.report.group_size // self.report.machine.warp)

    def access(self, touches: Touches) -> Access:
        """The access that ``touches`` belong to."""
        return self.report.accesses[touches.access]

    def lanes(self, warp: int | None) -> slice:
        """The work-items of a warp, or of the whole group."""
        if warp is None:
            return slice(0, self.report.group_size)
        width = self.report.machine.warp
        return slice(warp * width, min((warp + 1) * width, self.report.group_size))

    def on_matrix(self, name: str, chosen: int | None = None) -> Touches | None:
        """The touches to show on a matrix: the chosen access's, else those of the worst one."""
        found = [part for part in self.touches if self.access(part).space == "global"]
        return self._pick([part for part in found if self.access(part).matrix == name], chosen)

    def on_banks(self, chosen: int | None = None) -> Touches | None:
        """The touches of local memory to show: the chosen access's, else those of the worst one."""
        found = [part for part in self.touches if self.access(part).space == "local"]
        return self._pick(found, chosen)

    def executions(self, touches: Touches) -> int:
        """How often a warp executes an access; ``touches`` may hold the first of them only."""
        return max(len(touches.elements), self.access(touches).executions // max(1, self.warps))

    def _pick(self, found: list[Touches], chosen: int | None) -> Touches | None:
        """The chosen access where it is among them, else the costliest, and of these the busiest.

        One that the group never makes is nowhere.
        """
        found = [part for part in found if len(part.elements)]
        for part in found:
            if part.access == chosen:
                return part
        return max(found, key=self._cost, default=None)

    def _cost(self, touches: Touches) -> tuple[int, int]:
        access = self.access(touches)
        return access.sectors or access.passes or 0, len(touches.elements)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What is touched of a matrix at one step.

    Attributes:
        rows: Row of each touched cell, once each.
        cols: Its column.
        ranks: Which sector it lies in, counted from the lowest address.
        boxes: The sectors: (rank, first row, first column, rows, columns) of (n, 5) boxes that lie
            in the matrix; a sector that goes over the end of a stored row has two.
        sectors: How many there are.
        by_warp: Sectors of each warp added up: more where warps share some.
    """

    rows: Ints
    cols: Ints
    ranks: Ints
    boxes: Ints
    sectors: int
    by_warp: int


def access_scene(
    variant: Variant, problem: Problem, report: AccessReport, touches: tuple[Touches, ...]
) -> AccessScene:
    """The scene of a variant at a problem, with A and B where the kernel has them."""
    problem = kernel_view(variant, problem)
    shapes, orders = matrix_shapes(variant, problem), operand_orders(variant, problem)
    axes = _AXES_OF_A_SUM if variant.operation == "add" else _AXES
    window = dict(_SMALLEST)
    reach = {}
    for part in touches:
        access = report.accesses[part.access]
        if access.space != "global" or access.matrix not in shapes:
            continue
        spans, reach[part.access] = _extent(part, orders[access.matrix])
        for axis, span in zip(axes[access.matrix], spans, strict=True):
            window[axis] = max(window[axis], 1 << (span - 1).bit_length())
    lengths = {"M": problem.m, "N": problem.n, "K": problem.k}
    window = {axis: min(size, lengths[axis]) for axis, size in window.items()}
    return AccessScene(report, touches, orders, shapes, axes, window, reach)


def step_count(parts: tuple[Touches | None, ...]) -> int:
    """Steps of what is shown: those of the access that is executed most often."""
    return max((len(part.elements) for part in parts if part is not None), default=0)


def execution_at(touches: Touches, step: int, steps: int) -> int:
    """Which execution of an access falls on ``step`` of ``steps``.

    An access that is executed less often than another belongs to an outer loop, so it stands still
    meanwhile: a tile is loaded once for each TS steps.
    """
    return min(len(touches.elements) - 1, step * len(touches.elements) // max(1, steps))


def element_size(scene: AccessScene, touches: Touches) -> int:
    """Bytes of one element of the array."""
    return max(1, scene.access(touches).element_bytes // touches.width)


def touched(touches: Touches, execution: int, lanes: slice) -> Ints:
    """Element indices of shape (lanes that take part, width)."""
    found = touches.elements[execution, lanes]
    taken: Ints = found[found >= 0][:, None] + np.arange(touches.width)
    return taken


def cells_of(
    scene: AccessScene, name: str, touches: Touches, execution: int, warp: int | None
) -> Cells:
    """What is touched of matrix ``name`` by a warp, or by the whole work-group."""
    size = element_size(scene, touches)
    per_sector = max(1, SECTOR_BYTES // size)
    elements = np.unique(touched(touches, execution, scene.lanes(warp)))
    numbers = np.unique(elements * size // SECTOR_BYTES)
    by_warp = len(numbers)
    if warp is None:
        by_warp = sum(
            len(np.unique(touched(touches, execution, scene.lanes(index)) * size // SECTOR_BYTES))
            for index in range(scene.warps)
        )
    order = scene.orders[name]
    rows, cols = _places(elements, touches.row_length, order)
    inside = _inside(rows, cols, scene.shapes[name])
    ranks = np.searchsorted(numbers, elements * size // SECTOR_BYTES)
    return Cells(
        rows[inside], cols[inside], ranks[inside],
        _boxes(numbers, per_sector, touches.row_length, order, scene.shapes[name]),
        len(numbers), by_warp,
    )  # fmt: skip


def window_start(low: int, high: int, size: int, length: int) -> int:
    """Where a window of ``size`` out of ``length`` cells begins that shows ``low`` to ``high``.

    It moves by whole windows while it can, so that the picture stands still as steps go by.
    """
    start = low // size * size
    if high >= start + size:
        start = low
    return max(0, min(start, length - size))


def _places(elements: Ints, row_length: int, order: str) -> tuple[Ints, Ints]:
    """Rows and columns of elements of a matrix."""
    outer, inner = np.divmod(elements, max(1, row_length))
    return (outer, inner) if order == "row" else (inner, outer)


def _inside(rows: Ints, cols: Ints, shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (rows < shape[0]) & (cols < shape[1])
    return found


def _boxes(
    numbers: Ints, per_sector: int, row_length: int, order: str, shape: tuple[int, int]
) -> Ints:
    """The sectors as boxes of a matrix, cut where a stored row ends."""
    row_length = max(1, row_length)
    ranks = np.arange(len(numbers))
    first = numbers * per_sector
    end = first + per_sector
    pieces = []
    while len(first):
        outer = first // row_length
        stop = np.minimum(end, (outer + 1) * row_length)
        pieces.append(np.stack([ranks, outer, first - outer * row_length, stop - first], axis=1))
        more = stop < end
        ranks, first, end = ranks[more], stop[more], end[more]
    if not pieces:
        return np.empty((0, 5), dtype=np.int64)
    rank, outer, inner, length = np.concatenate(pieces).T
    one = np.ones_like(length)
    if order == "row":
        boxes = np.stack([rank, outer, inner, one, length], axis=1)
    else:
        boxes = np.stack([rank, inner, outer, length, one], axis=1)
    inside: Ints = boxes[_inside(boxes[:, 1], boxes[:, 2], shape)]
    return inside


def _extent(touches: Touches, order: str) -> tuple[tuple[int, int], tuple[int, int, int, int]]:
    """Rows and columns that the group spans in one step at most, and where it ever gets to."""
    steps = len(touches.elements)
    chosen = np.unique(np.linspace(0, max(0, steps - 1), min(steps, _LOOKED_AT)).astype(int))
    spans, firsts, ends = [], [], []
    for step in chosen:
        elements = touched(touches, int(step), slice(None))
        if elements.size:
            places = _places(elements, touches.row_length, order)
            firsts.append([int(place.min()) for place in places])
            ends.append([int(place.max()) + 1 for place in places])
            spans.append([end - first for first, end in zip(firsts[-1], ends[-1], strict=True)])
    if not spans:
        return (1, 1), (0, 0, 0, 0)
    rows, cols = np.max(spans, axis=0).tolist()
    top, left = np.min(firsts, axis=0).tolist()
    bottom, right = np.max(ends, axis=0).tolist()
    return (rows, cols), (top, left, bottom, right)
