"""The sentence on how wrong cells lie, for answers made wrong in known ways."""

from collections.abc import Callable

import numpy as np
import pytest

from gemmviz.core.model import Outside
from gemmviz.core.pattern import Region, Tally

M, N, TILE = 96, 70, (16, 16)
BEHIND_C, BEFORE_A = Outside("C", "behind", 3), Outside("A", "in front of", 1)
Wrong = tuple[slice | list[int] | int, slice | list[int] | int]


def describe(
    wrong: np.ndarray,
    value: float = 1.5,
    *,
    tile: tuple[int, int] = TILE,
    unwritten: np.ndarray | None = None,
    regions: tuple[Region, ...] | None = None,
    c: np.ndarray | None = None,
    outside: tuple[Outside, ...] = (),
) -> str:
    """The sentence for C where ``wrong`` cells hold ``value``, or ``c`` as it is."""
    m, n = wrong.shape
    if c is None:
        c = np.arange(m * n, dtype=float).reshape(m, n) + 2
        c[wrong] = value if value != 1.5 else -c[wrong]
    if unwritten is None:
        unwritten = np.zeros_like(wrong)
    regions = regions or ((np.arange(m), np.arange(n)),)
    tally = Tally(m, n, tile, regions)
    for rows, cols in regions:
        for start in range(0, len(rows), 20):
            part = np.ix_(rows[start : start + 20], cols)
            tally.add_block(rows[start : start + 20], cols, wrong[part], unwritten, c[part])
    return tally.describe(c, outside)


def mask(*places: tuple[object, object], shape: tuple[int, int] = (M, N)) -> np.ndarray:
    wrong = np.zeros(shape, bool)
    for place in places:
        wrong[place] = True
    return wrong


ALL = slice(None)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (mask((ALL, ALL)), "Every cell is wrong."),
        (mask((slice(16, 32), ALL)), "Rows 16 to 31 are wrong."),
        (mask((ALL, 7)), "Column 7 is wrong."),
        (mask((5, 6)), "One cell is wrong: row 5, column 6."),
        (
            mask((slice(16, 32), slice(32, 48))),
            "One tile is wrong: rows 16 to 31, columns 32 to 47.",
        ),
        (
            mask((slice(16, 48), slice(32, 48))),
            "A block of 2 × 1 tiles is wrong: rows 16 to 47, columns 32 to 47.",
        ),
        (mask((slice(3, 9), slice(4, 7))), "A block is wrong: rows 3 to 8, columns 4 to 6."),
        (
            mask((slice(80, 96), slice(64, 70))),
            "Only the tile at the bottom right corner is wrong.",
        ),
    ],
)
def test_bands_tiles_and_blocks(wrong: np.ndarray, sentence: str) -> None:
    if sentence.startswith("Only the tile"):
        wrong = wrong[:90]
    assert describe(wrong) == sentence


@pytest.mark.parametrize(
    ("rows", "cols", "where"),
    [
        (slice(80, None), ALL, "bottom edge"),
        (ALL, slice(64, None), "right edge"),
    ],
)
def test_edge_tiles(rows: slice, cols: slice, where: str) -> None:
    shape = (90, 70)
    assert describe(mask((rows, cols), shape=shape)) == (
        f"Only edge tiles are wrong, at the {where} of C."
    )
    both = mask((slice(80, None), ALL), (ALL, slice(64, None)), shape=shape)
    assert describe(both) == "Only edge tiles are wrong, at the bottom and right edges of C."
    within = mask((slice(80, None), ALL), (3, 3), shape=shape)
    assert "edge" not in describe(within)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (lambda row, _col: row < 4, "rows 0 to 3 of each are"),
        (lambda _row, col: col == 15, "column 15 of each is"),
        (lambda row, _col: row % 2 == 1, "every 2nd row from 1 of each is"),
        (lambda row, col: row == col, "the diagonal of each is"),
        (lambda row, col: row != col, "everything but the diagonal of each is"),
        (lambda row, col: row < col, "everything above the diagonal of each is"),
        (lambda row, col: (row > 0) | (col > 0), "everything but row 0, column 0 of each is"),
        (lambda row, col: (row < 8) & (col < 2), "rows 0 to 7, columns 0 to 1 of each are"),
        (lambda row, col: (row * 7 + col * 5) % 11 == 0, "the same 24 places of each are"),
    ],
)
@pytest.mark.parametrize(("value", "word"), [(1.5, "wrong"), (np.nan, "NaN"), (0.0, "zero")])
def test_all_tiles_alike(
    place: Callable[[np.ndarray, np.ndarray], np.ndarray], name: str, value: float, word: str
) -> None:
    row, col = np.indices((96, 64))
    wrong = place(row % 16, col % 16)
    assert describe(wrong, value) == f"All tiles are alike: {name} {word}."
    # Still so where C ends within tiles, and where a few of the wrong cells are right by accident.
    ragged = np.pad(wrong, ((0, 4), (0, 9)))
    ragged[np.nonzero(ragged)[0][0], np.nonzero(ragged)[1][0]] = False
    assert name in describe(ragged, value)


def test_never_written_and_nan() -> None:
    everything = mask((ALL, ALL))
    assert describe(everything, np.nan, unwritten=everything) == "No cell was written."
    assert describe(everything, np.nan) == "Every cell is NaN."
    half = mask((slice(48, None), ALL))
    assert describe(half, np.nan, unwritten=half) == "Rows 48 to 95 are never written."
    c = np.full((M, N), np.nan)
    c[:48] = np.arange(48 * N).reshape(48, N)
    assert describe(everything, c=c) == "Every cell is wrong; 3,360 of them are NaN."
    assert describe(everything, c=c, unwritten=half) == (
        "Every cell is wrong; 3,360 of them were never written."
    )


def test_no_pattern() -> None:
    wrong = np.random.default_rng(3).random((M, N)) < 0.2
    assert describe(wrong) == "The wrong cells are scattered without a pattern."
    assert describe(wrong, tile=(1, 1)) == "The wrong cells are scattered without a pattern."
    nearly = np.random.default_rng(3).random((M, N)) < 0.97
    assert describe(nearly, tile=(1, 1)) == "Nearly every cell is wrong."
    tiles = mask((slice(0, 16), slice(0, 16)), (slice(48, 64), slice(32, 48)))
    assert describe(tiles) == "The wrong cells lie in 2 of 30 tiles."


def test_outside_alone_and_besides() -> None:
    none = np.zeros((M, N), bool)
    assert describe(none) == ""
    assert describe(none, outside=(BEFORE_A, BEHIND_C)) == (
        "The kernel writes in front of A and behind C."
    )
    assert describe(mask((ALL, ALL)), outside=(BEHIND_C,)) == (
        "Every cell is wrong; the kernel also writes behind C."
    )


def test_tiles_that_hold_equal_values() -> None:
    row, col = np.indices((M, N))
    wrong = mask((ALL, ALL))
    constant = (row // 16 * 10 + col // 16).astype(float)
    equal = (row % 16 * 100 + col % 16).astype(float)
    for order in ("C", "F"):
        assert describe(wrong, c=np.array(constant, order=order)) == (
            "Every cell is wrong; each tile holds one value throughout."
        )
        assert describe(wrong, c=np.array(equal, order=order)) == (
            "Every cell is wrong; all tiles hold the same values."
        )
    # A tile as large as C is compared with no other.
    assert describe(wrong, c=equal, tile=(M, N)) == "Every cell is wrong."
    assert describe(wrong, c=equal, tile=(200, 300)) == "Every cell is wrong."


SAMPLES = (
    (np.arange(0, M, 3), np.arange(N)),
    (np.delete(np.arange(M), np.arange(0, M, 3)), np.arange(0, N, 5)),
)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (mask((ALL, ALL)), "Every compared cell is wrong."),
        (mask((slice(16, 32), ALL)), "Rows 16 to 31 are wrong."),
        (mask((ALL, slice(8, 12))), "Columns 8 to 11 are wrong."),
        (mask((ALL, slice(1, 4))), "Columns 1 to 3 are wrong."),  # no sampled column among them
        (mask((slice(1, 3), ALL)), "Rows 1 to 2 are wrong."),  # no sampled row among them
        (
            mask((slice(16, 32), slice(32, 48))),
            "One tile is wrong: rows 16 to 31, columns 32 to 47.",
        ),
    ],
)
def test_patterns_of_sampled_cells(wrong: np.ndarray, sentence: str) -> None:
    assert describe(wrong, regions=SAMPLES) == sentence


def test_places_of_tiles_among_sampled_cells() -> None:
    row = np.indices((M, N))[0]
    assert describe(row % 16 < 4, regions=SAMPLES) == (
        "All tiles are alike: rows 0 to 3 of each are wrong."
    )


def test_rows_that_fail_as_a_whole() -> None:
    tally = Tally(M, N, TILE, SAMPLES)
    assert tally.rows_failed == 0
    for rows, sentence in (
        ([4], "Freivalds' test finds that row 4 is wrong."),
        ([4, 5, 6], "Freivalds' test finds that rows 4 to 6 are wrong."),
        ([4, 5, 7], "Freivalds' test finds 3 wrong rows without a pattern."),
        (list(range(M)), "Freivalds' test finds that all rows are wrong."),
    ):
        failed = np.zeros(M, bool)
        failed[rows] = True
        tally.add_rows(failed)
        assert tally.rows_failed == len(rows)
        assert tally.describe(np.zeros((M, N))) == sentence
