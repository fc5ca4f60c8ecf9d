"""How the wrong cells of an answer lie, as one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.core.model import Outside

Matrix = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
Region = tuple[Places, Places]

# A place is called wrong though a few of its cells are right by accident.
_DENSE = 0.9


class Tally:
    """Counts wrong cells by row, column, tile and place in the tile while blocks are compared.

    Attributes:
        wrong: Cells found wrong.
        unwritten: Those of them that hold what C was filled with.
    """

    def __init__(
        self, rows: int, cols: int, tile: tuple[int, int], regions: Sequence[Region]
    ) -> None:
        """Begins to count.

        Args:
            rows: Rows of C.
            cols: Columns of C.
            tile: Rows and columns of C of one work-group; (1, 1) says nothing of tiles.
            regions: The cells that are compared: all, or rows and then columns.
        """
        self._rows, self._cols = rows, cols
        unknown = tile == (1, 1)
        self._tile = (rows, cols) if unknown else (min(tile[0], rows), min(tile[1], cols))
        self._regions = regions
        self._row_wrong = np.zeros(rows, np.int64)
        self._col_wrong = np.zeros(cols, np.int64)
        self._tile_wrong = np.zeros((-(-rows // self._tile[0]), -(-cols // self._tile[1])), int)
        self._place_wrong = np.zeros((1, 1) if unknown else self._tile, np.int64)
        self._failed = np.zeros(0, np.intp)
        self._whole_tiles = rows // self._tile[0], cols // self._tile[1]
        self.wrong = self.unwritten = self._nan = self._zero = 0

    @property
    def rows_failed(self) -> int:
        """Rows found wrong without looking at their cells."""
        return len(self._failed)

    def add_block(
        self, rows: Places, cols: Places, wrong: Mask, unwritten: Mask, value: Matrix
    ) -> None:
        """Counts the wrong cells of a block.

        Args:
            rows: Which rows of C these are.
            cols: Which columns of C these are.
            wrong: Of shape (rows, cols).
            unwritten: All of C.
            value: Of shape (rows, cols).
        """
        count = int(np.count_nonzero(wrong))
        if not count:
            return
        self.wrong += count
        self._row_wrong[rows] += wrong.sum(axis=1)
        self._col_wrong[cols] += wrong.sum(axis=0)
        at, along = np.nonzero(wrong)
        row, col = rows[at], cols[along]
        left = unwritten[row, col]
        self.unwritten += int(np.count_nonzero(left))
        self._nan += int(np.count_nonzero(np.isnan(value[wrong]) & ~left))
        self._zero += int(np.count_nonzero(value[wrong] == 0))
        tall, wide = self._tile
        np.add.at(self._tile_wrong, (row // tall, col // wide), 1)
        if self._has_tiles:
            whole = (row < self._whole_tiles[0] * tall) & (col < self._whole_tiles[1] * wide)
            np.add.at(self._place_wrong, (row[whole] % tall, col[whole] % wide), 1)

    def add_rows(self, failed: Mask) -> None:
        """Takes note of rows that were found wrong as a whole."""
        self._failed = np.flatnonzero(failed)

    def describe(self, c: Matrix, outside: Sequence[Outside] = ()) -> str:
        """At most two facts in one sentence, or "" where nothing is wrong.

        Args:
            c: The answer, m x n; tiles that hold equal values are told of.
            outside: What was overwritten around the buffers.
        """
        if not self.wrong:
            first = self._failed_rows()
        else:
            first = self._everything() or self._by_tiles() or self._place()
        where = _sides(outside)
        if not first:
            return f"The kernel writes {where}." if where else ""
        second = self._values(c) or (where and f"the kernel also writes {where}") or self._mixed()
        return f"{first}; {second}." if second else f"{first}."

    @property
    def _has_tiles(self) -> bool:
        return self._tile_wrong.size > 1

    @property
    def _sampled(self) -> bool:
        return len(self._regions) > 1

    @property
    def _word(self) -> str:
        """What all wrong cells are."""
        if self.unwritten == self.wrong:
            return "never written"
        if self._nan == self.wrong:
            return "NaN"
        return "zero" if self._zero == self.wrong else "wrong"

    def _failed_rows(self) -> str:
        if not len(self._failed):
            return ""
        named = _span(self._failed, self._rows, "row")
        if named is None:
            return f"Freivalds' test finds {len(self._failed):,} wrong rows without a pattern"
        name = named or "all rows"
        return f"Freivalds' test finds that {name} {_be(name)} wrong"

    def _everything(self) -> str:
        compared = sum(len(rows) * len(cols) for rows, cols in self._regions)
        if self.wrong < compared:
            return ""
        if self.unwritten == compared and not self._sampled:
            return "No cell was written"
        return f"Every {'compared ' if self._sampled else ''}cell is {self._word}"

    def _by_tiles(self) -> str:
        return (self._alike() or self._at_edges()) if self._has_tiles else ""

    def _alike(self) -> str:
        """The same places are wrong in all whole tiles, and others are right."""
        tall, wide = self._tile
        whole = self._tile_wrong[: self._whole_tiles[0], : self._whole_tiles[1]]
        height, width = self._whole_tiles[0] * tall, self._whole_tiles[1] * wide
        compared = np.zeros_like(self._place_wrong)
        seen = np.zeros(self._whole_tiles, bool)
        for all_rows, all_cols in self._regions:
            rows, cols = all_rows[all_rows < height], all_cols[all_cols < width]
            compared += np.outer(
                np.bincount(rows % tall, minlength=tall), np.bincount(cols % wide, minlength=wide)
            )
            seen[np.ix_(np.unique(rows // tall), np.unique(cols // wide))] = True
        wrong = self._place_wrong > 0
        right = (compared > 1) & ~wrong
        if not right.any() or (seen & (whole == 0)).any() or not wrong.any():
            return ""
        if self._place_wrong.sum() < _DENSE * compared[wrong].sum():
            return ""
        name = _places(wrong)
        return f"All tiles are alike: {name} of each {_be(name)} {self._word}"

    def _at_edges(self) -> str:
        """Only tiles that C does not fill are wrong."""
        down, across = self._whole_tiles
        bad = self._tile_wrong > 0
        if bad[:down, :across].any():
            return ""
        parts = (("bottom", bad[down:, :across]), ("right", bad[:down, across:]))
        edges = [name for name, part in parts if part.any()]
        if not edges:
            return f"Only the tile at the bottom right corner is {self._word}"
        where = f"{' and '.join(edges)} edge{'s' if len(edges) > 1 else ''}"
        return f"Only edge tiles are {self._word}, at the {where} of C"

    def _place(self) -> str:
        """A band, a tile, a block; else in how many tiles, or no pattern."""
        rows, cols = np.flatnonzero(self._row_wrong), np.flatnonzero(self._col_wrong)
        compared = sum(
            np.isin(some_rows, rows).sum() * np.isin(some_cols, cols).sum()
            for some_rows, some_cols in self._regions
        )
        across = _span(cols, self._cols, "column")
        down = _span(rows, self._rows, "row")
        if self._sampled and across is not None and not np.isin(self._regions[1][1], cols).any():
            down = ""  # no sampled column shows which rows
        elif self._sampled and down is not None and not np.isin(self._regions[0][0], rows).any():
            across = ""
        if self.wrong < _DENSE * compared or down is None or across is None:
            return self._some_tiles()
        if not down and not across:
            return f"Nearly every cell is {self._word}"
        if not down or not across:
            name = down or across
            return f"{name[0].upper()}{name[1:]} {_be(name)} {self._word}"
        return f"{self._block(rows, cols)} is {self._word}: {down}, {across}"

    def _block(self, rows: Places, cols: Places) -> str:
        """What a rectangle of cells is."""
        if len(rows) == len(cols) == 1:
            return "One cell"
        counts = []
        for places, edge, total in ((rows, self._tile[0], self._rows),
                                    (cols, self._tile[1], self._cols)):  # fmt: skip
            first, after = int(places[0]), int(places[-1]) + 1
            if after - first != len(places) or first % edge or (after % edge and after != total):
                return "A block"
            counts.append(-(-len(places) // edge))
        if not self._has_tiles:
            return "A block"
        if counts == [1, 1]:
            return "One tile"
        return f"A block of {counts[0]} × {counts[1]} tiles"

    def _some_tiles(self) -> str:
        bad, tiles = int(np.count_nonzero(self._tile_wrong)), self._tile_wrong.size
        cells = {"wrong": "wrong cells", "never written": "cells never written"}.get(
            self._word, f"cells that are {self._word}"
        )
        if self._has_tiles and not self._sampled and bad <= tiles // 2 and self.wrong > 2 * bad:
            return f"The {cells} lie in {bad:,} of {tiles:,} tiles"
        return f"The {cells} are scattered without a pattern"

    def _values(self, c: Matrix) -> str:
        """Whether tiles hold what no product does."""
        tall, wide = self._tile
        several = self._whole_tiles[0] * self._whole_tiles[1] > 1
        if self._word != "wrong" or not several or self._tile_wrong.min() == 0:
            return ""
        if tall * wide > 1 and all((strip == strip[:1, :, :1]).all() for strip in self._strips(c)):
            return "each tile holds one value throughout"
        first = c[:tall, np.newaxis, :wide]
        if all((strip == first).all() for strip in self._strips(c)):
            return "all tiles hold the same values"
        return ""

    def _strips(self, c: Matrix) -> Iterator[Matrix]:
        """The whole tiles of each row of tiles, of shape (tile rows, tiles, tile columns)."""
        (tall, wide), (down, across) = self._tile, self._whole_tiles
        for start in range(0, down * tall, tall):
            yield c[start : start + tall, : across * wide].reshape(tall, across, wide)

    def _mixed(self) -> str:
        if 0 < self._nan < self.wrong:
            return f"{self._nan:,} of them {'is' if self._nan == 1 else 'are'} NaN"
        if 0 < self.unwritten < self.wrong:
            verb = "was" if self.unwritten == 1 else "were"
            return f"{self.unwritten:,} of them {verb} never written"
        return ""


def _places(wrong: Mask) -> str:
    """Names some places of a tile."""
    product = _product(wrong)
    if product:
        return product
    if wrong.shape[0] == wrong.shape[1]:
        row, col = np.indices(wrong.shape)
        shapes = {
            "the diagonal": row == col,
            "everything but the diagonal": row != col,
            "everything above the diagonal": col > row,
            "everything below the diagonal": col < row,
            "everything on and above the diagonal": col >= row,
            "everything on and below the diagonal": col <= row,
        }
        for name, mask in shapes.items():
            if (wrong == mask).all():
                return name
    rest = _product(np.logical_not(wrong))
    return f"everything but {rest}" if rest else f"the same {np.count_nonzero(wrong):,} places"


def _product(mask: Mask) -> str:
    """Names a mask that is some rows times some columns, or "" where it is not."""
    rows: Mask = mask.sum(axis=1) > 0
    cols: Mask = mask.sum(axis=0) > 0
    if not (mask == np.outer(rows, cols)).all():
        return ""
    down = _span(np.flatnonzero(rows), len(rows), "row")
    across = _span(np.flatnonzero(cols), len(cols), "column")
    if down is None or across is None:
        return ""
    return ", ".join(name for name in (down, across) if name)


def _span(places: Places, total: int, noun: str) -> str | None:
    """Names rows or columns in order: "" for all of them, None where they have no short name."""
    count, first, last = len(places), int(places[0]), int(places[-1])
    if count == total:
        return ""
    if count == 1:
        return f"{noun} {first}"
    if last - first + 1 == count:
        return f"{noun}s {first} to {last}"
    step = int(places[1]) - first
    if count > 2 and (np.diff(places) == step).all() and first < step and last + step >= total:
        return f"every {_ordinal(step)} {noun} from {first}"
    return None


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else endings.get(number % 10, 'th')}"


def _be(name: str) -> str:
    """The verb after a name of places."""
    several = any(noun in name for noun in ("rows", "columns", "places"))
    return "are" if several and not name.startswith("every") else "is"


def _sides(outside: Sequence[Outside]) -> str:
    """Where it wrote: "behind A and in front of C"."""
    return " and ".join(f"{place.side} {place.buffer}" for place in outside)
