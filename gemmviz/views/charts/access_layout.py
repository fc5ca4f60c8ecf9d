"""Where A, B and C stand: A left of C and B above it, as matrix products are drawn by hand."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

TICKS = 34.0  # left of a grid, for the numbers of its rows
HEAD = 15.0  # above a grid, for the numbers of its columns
CAPTION_WIDTH = 182.0
CAPTION_HEIGHT = 64.0  # of four lines ...
_LOW_CAPTION = 34.0  # ... or two, where the matrices need the room
_LOW = 250.0
LEGEND = 18.0
_GAP = 8.0
_LARGEST = 22.0  # pixels of a cell


@dataclass(frozen=True, slots=True)
class Place:
    """Where one matrix is painted: its grid, and the words that belong to it."""

    grid: QRectF
    caption: QRectF


@dataclass(frozen=True, slots=True)
class Layout:
    """All three places and the edge of one cell, in pixels."""

    places: dict[str, Place]
    cell: float
    legend: QRectF


def lay_out(
    width: float, height: float, window: dict[str, int], axes: dict[str, tuple[str, str]]
) -> Layout:
    """Fit the windows of A, B and C into an area, all cells equally large.

    Args:
        width: Of the area in pixels.
        height: Of the area in pixels.
        window: Cells along M, N and K.
        axes: Which of them the rows and columns of each matrix are.
    """
    sizes = {name: (window[rows], window[cols]) for name, (rows, cols) in axes.items()}
    height = max(80.0, height - LEGEND)
    if sizes["A"] == sizes["C"] and axes["A"] == axes["C"]:
        return _in_a_row(width, height, sizes["C"])
    return _crossed(width, height, sizes)


def _crossed(width: float, height: float, sizes: dict[str, tuple[int, int]]) -> Layout:
    (m, k), n = sizes["A"], sizes["C"][1]
    caption = _LOW_CAPTION if height < _LOW else CAPTION_HEIGHT
    across = width - 2 * TICKS - CAPTION_WIDTH
    down = height - 2 * HEAD - _GAP
    cell = min(across / (k + n), down / (k + m), _LARGEST)
    above = caption - HEAD  # A's words stand above A: they need their room
    if k * cell < above:
        cell = max(1.0, min(cell, (down - above) / m))
    top = max(k * cell, above)
    a_width = max(k * cell, CAPTION_WIDTH - TICKS)
    if TICKS + a_width + TICKS + n * cell + CAPTION_WIDTH > width:
        a_width = max(k * cell, width - 2 * TICKS - n * cell - CAPTION_WIDTH)
    left = TICKS + a_width + TICKS
    below = HEAD + top + _GAP + HEAD
    grids = {
        "A": QRectF(TICKS, below, k * cell, m * cell),
        "B": QRectF(left, HEAD + top - k * cell, n * cell, k * cell),
        "C": QRectF(left, below, n * cell, m * cell),
    }
    right = left + n * cell + 10
    captions = {
        "A": QRectF(4, HEAD + top - caption, TICKS + a_width - 4, caption),
        "B": QRectF(right, min(grids["B"].top(), below - caption - 2) - 3, width - right, caption),
        "C": QRectF(right, below - 3, width - right, caption),
    }
    places = {name: Place(grid, captions[name]) for name, grid in grids.items()}
    # Beside a C of a few rows its words reach further down than it does.
    foot = max(below + m * cell, captions["C"].bottom())
    return Layout(places, cell, QRectF(4, foot + 2, width - 8, LEGEND))


def _in_a_row(width: float, height: float, size: tuple[int, int]) -> Layout:
    rows, cols = size
    top = CAPTION_HEIGHT + HEAD
    cell = max(1.0, min((width / 3 - TICKS - _GAP) / cols, (height - top) / rows, _LARGEST))
    places = {}
    for index, name in enumerate("ABC"):
        left = index * max(cols * cell + TICKS + _GAP, CAPTION_WIDTH)
        grid = QRectF(left + TICKS, top, cols * cell, rows * cell)
        room = max(cols * cell, CAPTION_WIDTH - TICKS)
        places[name] = Place(grid, QRectF(left + TICKS, 0, room, CAPTION_HEIGHT))
    return Layout(places, cell, QRectF(4, top + rows * cell + 2, width - 8, LEGEND))
