"""The matrices on a device kept in host memory: guards, poison, storage order."""

from typing import Any

import numpy as np
import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.feasibility import FRONT_GUARD_BYTES, GUARD_ELEMENTS
from gemmviz.core.model import ELEMENTS, TRANSPOSES, Outside, Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.reference import check
from gemmviz.engine.matrices import Matrices, matrices_key

CATALOG = load_catalog(data_dir("kernels"))
ROW, COLUMN = CATALOG.find("tiled"), CATALOG.find("mygemm_1")
VARIANTS = {"row": ROW, "column": COLUMN}


class HostSession:
    """Buffers as bytes; a part is a view. Counts the bytes read back."""

    def __init__(self) -> None:
        self.read_bytes = 0

    def buffer(self, content: np.ndarray) -> np.ndarray:
        return np.frombuffer(bytearray(content.tobytes()), np.uint8)

    def part(self, buffer: np.ndarray, offset_bytes: int, size_bytes: int) -> np.ndarray:
        assert offset_bytes % 4096 == 0
        assert 0 < size_bytes <= len(buffer) - offset_bytes
        return buffer[offset_bytes : offset_bytes + size_bytes]

    def write(self, buffer: np.ndarray, content: np.ndarray) -> None:
        buffer[:] = np.frombuffer(content.tobytes(), np.uint8)

    def read(self, buffer: np.ndarray, into: np.ndarray) -> None:
        assert buffer.nbytes == into.nbytes
        self.read_bytes += buffer.nbytes
        into.view(np.uint8)[:] = buffer


def made(order: str = "row", element: str = "float", shape: tuple[int, int, int] = (30, 20, 50)
         ) -> tuple[Matrices, Any]:  # fmt: skip
    session: Any = HostSession()
    return Matrices(session, VARIANTS[order], Problem(*shape, element, seed=6)), session


def view(matrices: Matrices, name: str, element: str = "float") -> np.ndarray:
    return matrices.buffers[name].view(ELEMENTS[element].dtype)


def around(matrices: Matrices, name: str) -> np.ndarray:
    """The whole buffer of which the kernel sees a part."""
    return matrices.buffers[name].base.view("u4")


def test_the_orders_are_those_of_the_variants() -> None:
    assert [variant.order for variant in VARIANTS.values()] == list(VARIANTS)


@pytest.mark.parametrize("element", list(ELEMENTS))
@pytest.mark.parametrize("order", list(VARIANTS))
def test_a_kernel_finds_its_inputs_and_leaves_its_answer(order: str, element: str) -> None:
    matrices, _ = made(order, element)
    layout = "C" if order == "row" else "F"
    a = view(matrices, "A", element).reshape(30, 50, order=layout)
    b = view(matrices, "B", element).reshape(50, 20, order=layout)
    assert np.array_equal(a, matrices.inputs.a)
    assert np.array_equal(b, matrices.inputs.b)
    before = matrices.answer()
    assert before.unwritten.all()
    assert before.c.dtype == ELEMENTS[element].dtype
    assert np.isnan(before.c).all()
    view(matrices, "C", element)[:] = (a.astype(float) @ b).ravel(order=layout)
    answer = matrices.answer()
    assert not answer.unwritten.any()
    assert answer.outside == ()
    problem = Problem(30, 20, 50, element, seed=6)
    found = check(VARIANTS[order], problem, matrices.inputs, answer)
    assert found is not None
    assert found.verdict == "verified"


@pytest.mark.parametrize("transpose", TRANSPOSES)
@pytest.mark.parametrize("order", ["row", "column"])
def test_inputs_are_stored_as_the_problem_says(transpose: str, order: str) -> None:
    session: Any = HostSession()
    general = CATALOG.find("cpu_best")
    problem = Problem(30, 20, 50, seed=6, transpose=transpose, order=order)  # type: ignore[arg-type]
    matrices = Matrices(session, general, problem)
    for name, letter, logical in zip(
        "AB", transpose, (matrices.inputs.a, matrices.inputs.b), strict=True
    ):
        stored = logical.T if letter == "t" else logical
        lines = stored if order == "row" else stored.T
        assert view(matrices, name).tolist() == [x for line in lines.tolist() for x in line]
    assert matrices_key(general, problem) == matrices_key(CATALOG.find("clblast"), problem)
    assert matrices_key(general, problem) != matrices_key(general, Problem(30, 20, 50, seed=6))


@pytest.mark.parametrize("order", ["row", "column"])
def test_with_beta_c_holds_numbers_between_its_guards(order: str) -> None:
    session: Any = HostSession()
    problem = Problem(30, 20, 50, seed=6, order=order, beta=2.0)  # type: ignore[arg-type]
    matrices = Matrices(session, CATALOG.find("cpu_best"), problem)
    before, layout = matrices.answer(), "C" if order == "row" else "F"
    assert matrices.inputs.c is not None
    assert np.array_equal(before.c, matrices.inputs.c)
    assert before.unwritten.all()
    c = view(matrices, "C").reshape((30, 20), order=layout)
    c[3, 4] = 7
    c[5, 6] = np.nan
    around(matrices, "C")[-1] = 0
    answer = matrices.answer()
    assert np.argwhere(~answer.unwritten).tolist() == [[3, 4], [5, 6]]
    assert answer.outside == (Outside("C", "behind", 1),)
    matrices.poison()
    assert matrices.answer().unwritten.all()
    assert matrices.answer().outside == ()
    (copy,) = matrices.copies(1)
    assert np.array_equal(copy["C"].view("f4").reshape((30, 20), order=layout), matrices.inputs.c)


@pytest.mark.parametrize("element", list(ELEMENTS))
def test_a_computed_nan_is_not_taken_for_a_cell_never_written(element: str) -> None:
    matrices, _ = made(element=element)
    c = view(matrices, "C", element)
    with np.errstate(invalid="ignore"):
        c[7] = c[7] * 0  # as by beta * C with beta 0
    c[8] = np.nan
    outside = matrices.buffers["A"].base.view(c.dtype)[-1]
    c[9] = outside * 1
    answer = matrices.answer()
    assert np.isnan(answer.c).all()
    assert not answer.unwritten.ravel()[7:10].any()
    assert answer.unwritten.sum() == 600 - 3


@pytest.mark.parametrize("name", "ABC")
@pytest.mark.parametrize("value", [0, 0x7FC00000, 0x7FFFFFFF, 0xFFC00000])
def test_writes_on_either_side_are_counted(name: str, value: int) -> None:
    matrices, _ = made()
    whole = around(matrices, name)
    whole[FRONT_GUARD_BYTES // 4 - 1] = value
    assert matrices.answer().outside == (Outside(name, "in front of", 1),)
    whole[:5] = value
    whole[-1] = whole[-GUARD_ELEMENTS] = value
    assert matrices.answer().outside == (
        Outside(name, "in front of", 6),
        Outside(name, "behind", 2),
    )
    matrices.renew()
    assert matrices.answer().outside == ()


@pytest.mark.parametrize("shape", [(1, 1, 1), (32, 32, 32), (33, 31, 1024), (1, 2047, 1)])
def test_guards_lie_close_by_at_any_size(shape: tuple[int, int, int]) -> None:
    matrices, _ = made(shape=shape)
    m, n, k = shape
    for name, size in (("A", m * k), ("B", k * n), ("C", m * n)):
        assert view(matrices, name).size == size
        whole = around(matrices, name)
        assert whole.size == 1024 + size + GUARD_ELEMENTS
        whole[1024 + size] = 1
    assert matrices.answer().outside == tuple(Outside(name, "behind", 1) for name in "ABC")


def test_of_the_inputs_only_the_guards_are_read_back() -> None:
    matrices, session = made(shape=(200, 200, 1000))
    matrices.answer()
    guards = 4 * GUARD_ELEMENTS + FRONT_GUARD_BYTES
    assert session.read_bytes <= 4 * 200 * 200 + 3 * guards + 2 * 4096


def test_poison_and_renew_restore_what_they_say() -> None:
    matrices, _ = made()
    fresh = {name: around(matrices, name).copy() for name in "ABC"}
    for name in "ABC":
        around(matrices, name)[:] = 7
    matrices.poison()
    assert np.array_equal(around(matrices, "C"), fresh["C"])
    assert (around(matrices, "A") == 7).all()
    matrices.renew()
    for name in "ABC":
        assert np.array_equal(around(matrices, name), fresh[name])


def test_copies_are_of_their_own() -> None:
    matrices, _ = made("column")
    first, second = matrices.copies(2)
    for name in "ABC":
        assert np.array_equal(first[name], matrices.buffers[name])
    first["A"][:] = 0
    assert np.array_equal(second["A"], matrices.buffers["A"])
    assert matrices.copies(0) == []


def test_only_kernels_of_equal_keys_share() -> None:
    problem = Problem(4, 5, 6)
    assert made(shape=(4, 5, 6))[0].key == matrices_key(ROW, Problem(4, 5, 6, seed=6))
    keys = {
        matrices_key(ROW, problem),
        matrices_key(CATALOG.find("naive_strided"), problem),
        matrices_key(COLUMN, problem),
        matrices_key(ROW, Problem(4, 5, 7)),
        matrices_key(ROW, Problem(4, 5, 6, seed=1)),
        matrices_key(ROW, Problem(4, 5, 6, "double")),
    }
    assert len(keys) == 5
