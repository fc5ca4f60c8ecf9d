"""The CPU kernel at the shapes where its paths meet, on each CPU runtime."""

import pytest

from gemmviz.core.feasibility import vector_bytes
from gemmviz.core.launch import geometry, merge_parameters, scratch_bytes
from gemmviz.core.model import Device, Problem
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, finish, make_job

VARIANT = CATALOG.find("cpu_best")
SHAPES = [
    (1, 1, 1), (1, 1, 300), (1, 77, 1), (77, 1, 1),  # a side of 1
    (1, 45, 29), (45, 1, 29), (5, 1, 19), (1, 5, 11),  # the row's and the column's own loops
    (6, 16, 3), (12, 32, 8), (7, 17, 9), (23, 250, 40),  # whole and ragged micro-tiles
    (60, 264, 512), (50, 300, 257), (3, 2100, 33), (200, 64, 1030),  # several blocks
]  # fmt: skip


@pytest.fixture(params=["pocl", "intel"])
def device(request: pytest.FixtureRequest) -> Device:
    found: Device = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("element", ["float", "double"])
def test_every_path_is_right(engine: Engine, device: Device, element: str) -> None:
    for shape in SHAPES:
        result = finish(engine, make_job(device, VARIANT, shape, element), device)
        assert result.verdict == "verified", f"{shape}: {result.failure}"


@pytest.mark.parametrize("element", ["float", "double"])
def test_the_longest_vectors_are_right(engine: Engine, device: Device, element: str) -> None:
    longest = {"VECTOR_BYTES": max(16, min(64, vector_bytes(device) or 32)), "MR": 8}
    for shape in ((8, 40, 300), (45, 250, 129), (60, 264, 40), (31, 1300, 20)):
        result = finish(engine, make_job(device, VARIANT, shape, element, longest), device)
        assert result.verdict == "verified", f"{shape}: {result.failure}"


@pytest.mark.parametrize("items", [1, 4, 64])
def test_items_share_c_in_bands_or_in_a_grid(engine: Engine, pocl: Device, items: int) -> None:
    for shape in ((300, 260, 40), (260, 300, 40), (13, 700, 20), (700, 13, 20)):
        job = make_job(pocl, VARIANT, shape, parameters={"ITEMS": items})
        launch = geometry(VARIANT, job.parameters, job.problem)
        assert launch.groups <= items
        sides = [count > 1 for count in launch.total]
        assert sum(sides) == (0 if items == 1 else 2 if min(shape[:2]) >= 256 and items > 16 else 1)
        result = finish(engine, job, pocl)
        assert result.verdict == "verified", f"{shape}: {result.failure}"


def test_scratch_grows_with_the_items() -> None:
    """Its elements: a block of B with a strip to spare, a panel of A, and room for odd tiles."""
    one = 257 * (1024 + 16) + 6 * (256 + 16) + 12 * 8
    for items in (1, 8):
        parameters = merge_parameters(VARIANT, {"ITEMS": items})
        assert scratch_bytes(VARIANT, parameters, Problem(64, 64, 64)) == (4 * items * one,)
