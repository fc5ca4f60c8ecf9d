"""The error map: each pixel is the worst cell of its part of C, and survives its packing."""

from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core import error_image
from gemmviz.core.catalog import load_catalog
from gemmviz.core.codec import from_json, to_json
from gemmviz.core.error_image import make_error_map, pixel_step
from gemmviz.core.error_map import ErrorMap, unpack
from gemmviz.core.model import Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.reference import Answer, compared_regions, draw_inputs, error_bound

CATALOG = load_catalog(data_dir("kernels"))
TILED, ADD = CATALOG.find("tiled"), CATALOG.find("mygemm_add")


def _answer(c: np.ndarray) -> Answer:
    return Answer(c, np.zeros(c.shape, bool))


def _made(problem: Problem, c: np.ndarray, tile: tuple[int, int] = (16, 16)) -> ErrorMap:
    made = make_error_map(TILED, problem, draw_inputs(TILED, problem), _answer(c), tile=tile)
    assert made is not None
    return made


def test_each_pixel_of_a_small_answer_is_a_cell() -> None:
    problem = Problem(40, 50, 12, seed=1)
    inputs = draw_inputs(TILED, problem)
    a, b = inputs.a.astype(float), inputs.b.astype(float)
    c = inputs.a @ inputs.b
    c[7, 9] += 1
    c[30, 2] = np.nan
    c[31, 3] = -np.inf
    made = _made(problem, c)
    assert (made.step_rows, made.step_cols, made.tile) == (1, 1, (16, 16))
    pixels = unpack(made)
    with np.errstate(invalid="ignore"):
        wanted = np.abs(c - a @ b) / error_bound(TILED, problem, a, b)
    wanted[30, 2] = np.inf
    assert np.allclose(pixels.excess, wanted, rtol=1e-6)
    assert np.array_equal(pixels.place, np.arange(2000).reshape(40, 50))
    assert np.array_equal(pixels.value, c, equal_nan=True)
    assert np.allclose(pixels.expected, a @ b, rtol=1e-14)
    assert (pixels.excess > 1).sum() == 3
    assert made.pattern == "The wrong cells are scattered without a pattern; 1 of them is NaN."


@pytest.mark.parametrize(
    ("cells", "tile", "step"),
    [(512, 16, 1), (513, 16, 2), (2048, 16, 4), (2048, 6, 6), (1100, 7, 7), (9000, 16, 32),
     (5000, 1, 10), (100, 128, 1), (600, 48, 2), (1300, 48, 3), (2049, 48, 6)],
)  # fmt: skip
def test_edges_of_tiles_are_edges_of_pixels(cells: int, tile: int, step: int) -> None:
    assert pixel_step(cells, tile) == step
    assert step % tile == 0 or tile % step == 0
    assert -(-cells // step) <= error_image.MOST_PIXELS


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_pixel_is_the_worst_of_its_cells(monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    monkeypatch.setattr(error_image, "MOST_PIXELS", 64)
    problem = Problem(700, 1100, 2, seed=9)  # more than one block of the comparison each way
    inputs = draw_inputs(TILED, problem)
    a, b = inputs.a.astype(float), inputs.b.astype(float)
    c = np.array(inputs.a @ inputs.b, order=order)
    generator = np.random.default_rng(2)
    for _ in range(300):
        c[generator.integers(700), generator.integers(1100)] += generator.uniform(-1, 1)
    made = _made(problem, c, tile=(33, 16))
    assert (made.step_rows, made.step_cols) == (11, 32)
    pixels = unpack(made)
    excess = np.abs(c - a @ b) / error_bound(TILED, problem, a, b)
    assert pixels.excess.shape == (64, 35)
    for row in range(64):
        for col in range(35):
            part = excess[row * 11 : row * 11 + 11, col * 32 : col * 32 + 32]
            at = divmod(int(pixels.place[row, col]), 1100)
            assert excess[at] == part.max()
            assert at[0] // 11 == row
            assert at[1] // 32 == col
            assert pixels.excess[row, col] == np.float32(part.max())
            assert pixels.value[row, col] == c[at]


def test_of_very_large_problems_only_samples_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_image, "FULL_MAP_FLOP", 0)
    problem = Problem(90, 80, 7, seed=4)
    inputs = draw_inputs(TILED, problem)
    made = _made(problem, inputs.a @ inputs.b + 1)
    pixels = unpack(made)
    compared = np.zeros((90, 80), bool)
    for rows, cols in compared_regions(TILED, problem, 0):
        compared[np.ix_(rows, cols)] = True
    assert np.array_equal(np.isnan(pixels.excess), ~compared)
    assert (pixels.excess[compared] > 1).all()
    assert made.pattern == "Every compared cell is wrong."


def test_a_sum_is_drawn_too() -> None:
    problem = Problem(33, 20, 5)
    inputs = draw_inputs(ADD, problem)
    made = make_error_map(ADD, problem, inputs, _answer(inputs.a - inputs.b), tile=(8, 8))
    assert made is not None
    assert np.allclose(unpack(made).expected, inputs.a.astype(float) + inputs.b)


def test_it_ends_between_two_blocks_when_asked() -> None:
    problem = Problem(30, 600, 5)
    inputs = draw_inputs(TILED, problem)
    asked = iter([False, True])
    answer = _answer(inputs.a @ inputs.b)
    made = make_error_map(TILED, problem, inputs, answer, cancelled=lambda: next(asked))
    assert made is None


def test_a_map_crosses_the_wire() -> None:
    problem = Problem(20, 20, 5)
    made = _made(problem, np.zeros((20, 20), np.float32))
    assert from_json(ErrorMap, to_json(made)) == made


@pytest.mark.parametrize(
    "damage", [{"excess": "?"}, {"value": "AAAA"}, {"rows": 21}, {"step_cols": 0}, {"place": ""}]
)
def test_a_damaged_map_is_said_to_be_one(damage: dict[str, object]) -> None:
    made = _made(Problem(20, 20, 5), np.zeros((20, 20), np.float32))
    with pytest.raises(ValueError):
        unpack(replace(made, **damage))
