"""The general form of the GPU kernel, and its shared tiles, on a CPU's runtime."""

from dataclasses import replace

import pytest

from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import geometry
from gemmviz.core.model import TRANSPOSES, Device, Job, Problem, Transpose
from gemmviz.engine.plan import Engine
from tests.engine.runs import finish, make_job

# Ragged, and with all rows whole float4; both with an edge in M, N and K.
SHAPES = [(67, 130, 35), (68, 132, 36)]


def job_of(device: Device, shape: tuple[int, int, int], **changes: object) -> Job:
    """A compiler on a busy machine may take longer than a launch is given by default."""
    job = make_job(device, "gpu_best", shape, launch_limit_seconds=120.0)
    return replace(job, problem=replace(job.problem, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("transpose", TRANSPOSES)
def test_each_form_is_right(engine: Engine, pocl: Device, transpose: Transpose) -> None:
    for shape in SHAPES:
        for alpha, beta in ((1.0, 0.0), (-1.5, 0.75)):
            job = job_of(pocl, shape, transpose=transpose, alpha=alpha, beta=beta)
            result = finish(engine, job, pocl)
            assert result.verdict == "verified", f"{shape} {alpha} {beta}: {result.failure}"


def test_runs_of_four_need_rows_that_are_multiples_of_four(engine: Engine, pocl: Device) -> None:
    """The rows of a transposed A are M long."""
    job = make_job(
        pocl, "gpu_best", (68, 132, 36), parameters={"LOADS": 4}, launch_limit_seconds=120.0
    )
    turned = replace(job, problem=replace(job.problem, transpose="tn", beta=-2.0))
    result = finish(engine, turned, pocl)
    assert result.verdict == "verified", result.failure
    ragged = replace(job.problem, m=67)
    assert refusal(job.variant, job.parameters, ragged, pocl) is None
    refused = refusal(job.variant, job.parameters, replace(ragged, transpose="tn"), pocl)
    assert "TRANSPOSE_A" in str(refused)


def test_matrices_may_lie_by_columns(engine: Engine, pocl: Device) -> None:
    result = finish(engine, job_of(pocl, SHAPES[0], order="column", transpose="tn"), pocl)
    assert result.verdict == "verified", result.failure


def test_shared_tiles_add_up_to_the_same(engine: Engine, pocl: Device) -> None:
    """One tile for 132 groups, all in a part of it; and tiles whose parts end inside others."""
    for shape in ((60, 120, 9000), (130, 300, 400)):
        job = make_job(
            pocl, "gpu_best", shape, parameters={"ROUND": 132}, launch_limit_seconds=120.0
        )
        assert geometry(job.variant, job.parameters, job.problem).groups == 132
        result = finish(engine, job, pocl)
        assert result.verdict == "verified", f"{shape}: {result.failure}"
        assert result.check is not None
        assert result.check.cells_differing == 0, "two launches add up in one order"


def test_a_round_that_is_full_shares_nothing() -> None:
    job = make_job(_NOWHERE, "gpu_best", (8, 8, 8), parameters={"ROUND": 132})
    for tiles, groups in ((1, 132), (132, 132), (133, 264)):
        problem = Problem(64 * tiles, 128, 64)
        assert geometry(job.variant, job.parameters, problem).groups == groups


_NOWHERE = Device("", "", "", "GPU")
