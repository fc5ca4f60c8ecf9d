"""Every kernel on real devices: verdicts as the metadata states, figures as the driver's."""

import pytest

from gemmviz.core.feasibility import needs_refusal, refusal
from gemmviz.core.launch import expected_verdict, geometry
from gemmviz.core.model import Device, Variant
from gemmviz.engine.plan import Engine
from tests.engine.runs import KERNELS, finish, make_job, run

SHAPES = [(1, 1, 1), (17, 33, 65), (48, 32, 80), (64, 64, 64), (100, 1, 7), (130, 70, 33)]
WRONG = ("tiling_tiled", "barriers_tiled")
# What a GPU of one vendor alone can run is refused here, and tried there by the benchmark.
HERE = [variant for variant in KERNELS if "nvidia" not in variant.needs]
ELSEWHERE = [variant for variant in KERNELS if "nvidia" in variant.needs]


@pytest.fixture(params=["pocl", "intel"])
def device(request: pytest.FixtureRequest) -> Device:
    found: Device = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("variant", HERE, ids=lambda variant: variant.id)
def test_verdict_is_as_stated(engine: Engine, device: Device, variant: Variant) -> None:
    ran = 0
    # PoCL keeps what it has built; Intel's compiler begins anew for each of these.
    for shape in SHAPES if "Portable" in device.platform else SHAPES[1::2]:
        for element in ("float", "double"):
            job = make_job(device, variant, shape, element)
            stated = expected_verdict(variant, job.parameters, job.problem)
            if variant.id in WRONG:
                assert stated == ("verified" if shape == (1, 1, 1) else "wrong")
            if refusal(variant, job.parameters, job.problem, device) is not None:
                assert variant.shapes != "any"
                continue
            result = finish(engine, job, device)
            ran += 1
            assert result.verdict == stated, f"{shape} {element}: {result.failure}"
            assert len(result.samples) == 1
            assert (result.failure is None) is (stated == "verified")
    assert ran >= 1


@pytest.mark.parametrize("variant", HERE, ids=lambda variant: variant.id)
def test_every_parameter_value_is_right_at_a_ragged_shape(
    engine: Engine, pocl: Device, variant: Variant
) -> None:
    shape = {"any": (35, 49, 37), "square": (64, 64, 64), "exact": (64, 96, 64)}[variant.shapes]
    for parameter in variant.parameters:
        for value in set(parameter.values) - {parameter.default}:
            job = make_job(
                pocl,
                variant,
                shape,
                parameters={parameter.name: value},
                launch_limit_seconds=60.0,  # the first one compiles
            )
            if refusal(variant, job.parameters, job.problem, pocl) is None:
                result = finish(engine, job, pocl)
                assert result.verdict == expected_verdict(variant, job.parameters, job.problem), (
                    f"{job.parameters}: {result.failure}"
                )


@pytest.mark.parametrize("variant", HERE, ids=lambda variant: variant.id)
def test_metadata_agrees_with_the_driver(engine: Engine, device: Device, variant: Variant) -> None:
    job = make_job(device, variant, (64, 64, 64))
    result = finish(engine, job, device)
    assert result.facts is not None
    shape = geometry(variant, job.parameters, job.problem)
    assert result.facts.local_bytes == shape.local_bytes
    local = (*shape.local, 1, 1)[:3]
    assert result.facts.compiled_group == local


@pytest.mark.parametrize("variant", ELSEWHERE, ids=lambda variant: variant.id)
def test_a_kernel_for_another_vendor_is_refused_with_the_reason(
    engine: Engine, device: Device, variant: Variant
) -> None:
    job = make_job(device, variant, element=variant.elements[0])
    result = finish(engine, job, device)
    assert result.failure is not None
    assert result.failure.kind == "refused"
    assert result.failure.sentence == needs_refusal(variant, device)
    assert "NVIDIA" in result.failure.sentence


def test_a_wrong_answer_is_a_failure_with_the_finding(engine: Engine, pocl: Device) -> None:
    result = run(engine, pocl, "tiling_tiled", (64, 64, 64))
    assert result.verdict == "wrong"
    assert result.check is not None
    assert result.check.cells_wrong > 0.9 * 64 * 64
    assert result.failure is not None
    assert result.failure.kind == "wrong"
    assert "diagonal" in result.failure.detail


def test_half_runs_where_the_device_has_it(engine: Engine, intel: Device) -> None:
    if "half" not in intel.elements:
        pytest.fail("Intel's runtime no longer offers half; test it on another device")
    assert run(engine, intel, "tiled", (33, 17, 65), "half").verdict == "verified"
