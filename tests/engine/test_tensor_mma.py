"""The kernel that multiplies by mma.sync, with its PTX emulated: no card of NVIDIA's is needed."""

from dataclasses import replace

import pytest

from gemmviz.core.model import Device, Result, Variant
from gemmviz.engine.plan import Engine
from tests.engine.emulated_warp import emulated
from tests.engine.runs import CATALOG, finish, make_job

KERNEL = CATALOG.find("gpu_tensor_mma")
SMALL = {"BM": 64, "BN": 64, "BK": 64, "WM": 32, "WN": 32, "STAGES": 2}
# More pairs of tiles than stages, and edges everywhere: rows of whole chunks, even ones, odd ones.
SHAPES = [(130, 136, 168), (67, 70, 134), (65, 67, 133), (1, 1, 1)]


def result_of(
    engine: Engine, device: Device, variant: Variant, shape: tuple[int, int, int],
    parameters: dict[str, int],
) -> Result:  # fmt: skip
    job = make_job(
        device, emulated(variant), shape, "half", parameters,
        build_options="-cl-opt-disable", launch_limit_seconds=120.0,
    )  # fmt: skip
    return finish(engine, job, device)


@pytest.mark.parametrize(
    ("parameters", "shapes"), [({}, SHAPES[:1]), (SMALL, SHAPES)], ids=["default", "small"]
)
def test_it_is_right_at_ragged_shapes(
    engine: Engine, pocl: Device, parameters: dict[str, int], shapes: list[tuple[int, int, int]]
) -> None:
    for shape in shapes:
        result = result_of(engine, pocl, KERNEL, shape, parameters)
        assert result.verdict == "verified", f"{shape}: {result.failure}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("b[k % 2][j / 2] + j % 2 * 2", "b[k % 2][j / 2] + j % 2"),  # another block's values
        ('"n"(STAGES - 2)', '"n"(STAGES - 1)'),  # a pair that is not there yet
        ("CHUNK_A(row, c)", "CHUNK_A(row, c) (c) //"),  # banks in conflict
    ],
)
def test_the_emulation_finds_a_fault(engine: Engine, pocl: Device, old: str, new: str) -> None:
    assert KERNEL.source.count(old) == 1
    faulty = replace(KERNEL, source=KERNEL.source.replace(old, new))
    assert result_of(engine, pocl, faulty, (64, 64, 136), SMALL).verdict == "wrong"
