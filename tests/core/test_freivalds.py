"""Freivalds' test: it passes what rounding leaves and finds one wrong cell."""

from collections.abc import Callable

import numpy as np
import pytest

from gemmviz.core.freivalds import failing_rows

FLOAT = 2.0**-24
M, K, N = 900, 200, 700


def failed(a: np.ndarray, b: np.ndarray, c: np.ndarray, *, seed: int = 0,
           cancelled: Callable[[], bool] = lambda: False) -> np.ndarray | None:  # fmt: skip
    return failing_rows(
        a, b, c,
        relative=(8 * a.shape[1] ** 0.5 + 1) * FLOAT,
        tiny=1e-45,
        seed=np.random.SeedSequence(seed),
        cancelled=cancelled,
    )  # fmt: skip


@pytest.fixture(scope="module")
def product() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(4)
    a = generator.uniform(-1, 1, (M, K)).astype(np.float32)
    b = generator.uniform(-1, 1, (K, N)).astype(np.float32)
    return a, b, a @ b


Product = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.parametrize("seed", range(5))
def test_a_right_product_passes(product: Product, seed: int) -> None:
    rows = failed(*product, seed=seed)
    assert rows is not None
    assert rows.shape == (M,)
    assert not rows.any()


@pytest.mark.parametrize("value", [0.0, 9.0, np.nan, np.inf, -np.inf, 3e38])
def test_one_wrong_cell_is_found_in_its_row(product: Product, value: float) -> None:
    a, b, c = product
    wrong = c.copy()
    wrong[777, 33] = value
    rows = failed(a, b, wrong)
    assert rows is not None
    assert list(np.flatnonzero(rows)) == [777]


def test_swapped_rows_and_columns_are_found(product: Product) -> None:
    a, b, c = product
    rows = failed(a, b, c[::-1])
    assert rows is not None
    assert rows.sum() == M
    rows = failed(a, b, np.roll(c, 1, axis=1))
    assert rows is not None
    assert rows.sum() == M


def test_errors_that_cancel_in_some_vectors_are_found_by_another(product: Product) -> None:
    a, b, c = product
    wrong = c.copy()
    # A vector whose signs are equal in both places sees nothing: half of all do.
    wrong[:, 0] += 5
    wrong[:, 1] -= 5
    generator = np.random.SeedSequence(1)
    one = failing_rows(a, b, wrong, relative=1e-5, tiny=0, seed=generator, cancelled=lambda: False,
                       vectors=1)  # fmt: skip
    many = failing_rows(a, b, wrong, relative=1e-5, tiny=0, seed=generator,
                        cancelled=lambda: False, vectors=12)  # fmt: skip
    assert one is not None
    assert many is not None
    assert one.all() or not one.any()
    assert many.all()


def test_the_tolerance_is_that_of_a_whole_row(product: Product) -> None:
    a, b, c = product
    relative = (8 * K**0.5 + 1) * FLOAT
    row = 5
    allowed = relative * np.sqrt(np.square(a[row]) @ np.square(b).sum(axis=1))
    for times, found in ((0.5, False), (2.2, True)):
        wrong = c.astype(np.float64)
        wrong[row, 9] += times * allowed
        rows = failed(a, b, wrong)
        assert rows is not None
        assert rows.any() == found


@pytest.mark.parametrize("blocks", [0, 1])
def test_it_ends_between_blocks_when_asked(product: Product, blocks: int) -> None:
    asked = iter([False] * blocks + [True])
    assert failed(*product, cancelled=lambda: next(asked)) is None


def test_wide_and_tall_shapes_go_through_several_blocks() -> None:
    generator = np.random.default_rng(4)
    a = generator.uniform(-1, 1, (3000, 3)).astype(np.float16)
    b = generator.uniform(-1, 1, (3, 2000)).astype(np.float16)
    c = a.astype(float) @ b
    asked = []
    rows = failed(a, b, c, cancelled=lambda: bool(asked.append(1)))
    assert rows is not None
    assert not rows.any()
    assert len(asked) == 1 + 3
    c[2999, 1999] += 1
    rows = failed(a, b, c)
    assert rows is not None
    assert list(np.flatnonzero(rows)) == [2999]
