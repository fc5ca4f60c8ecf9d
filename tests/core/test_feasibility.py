"""What cannot run is refused before anything is built, with the numbers."""

from dataclasses import replace

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.feasibility import local_limit, parameter_refusal, refusal
from gemmviz.core.launch import merge_parameters
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Argument, Device, Problem, Property, Variant
from gemmviz.core.paths import data_dir

CATALOG = load_catalog(data_dir("kernels"))
TILED = CATALOG.find("tiled")
DEVICE = Device(
    "Platform", "OpenCL 3.0", "Device", "GPU", vendor="NVIDIA Corporation",
    local_mem_bytes=48 * 1024, global_mem_bytes=2**30, max_alloc_bytes=2**28,
    max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64), elements=("float", "double"),
    compute_capability="9.0",
)  # fmt: skip
SMALL = Problem(64, 64, 64)
LONG_INDICES = ("cpu_best", "gpu_tensor", "gpu_tf32")


def _refused(device: Device = DEVICE, problem: Problem = SMALL, kernel: str = "tiled",
             **parameters: int) -> str | None:  # fmt: skip
    variant = CATALOG.find(kernel)
    return refusal(variant, merge_parameters(variant, parameters), problem, device)


def test_what_fits_is_not_refused() -> None:
    assert _refused() is None
    assert _refused(TS=32) is None


@pytest.mark.parametrize(
    ("device", "problem", "words"),
    [
        (replace(DEVICE, unavailable="it has no linker"), SMALL, "it has no linker"),
        (replace(DEVICE, max_work_group_size=128), SMALL, "16 x 16 = 256 work-items is above"),
        (replace(DEVICE, max_work_item_sizes=(8, 8, 1)), SMALL, "16 work-items in dimension 0"),
        (replace(DEVICE, local_mem_bytes=1024), SMALL, "needs 2 KiB of local memory; a launch"),
        (DEVICE, Problem(64, 64, 64, "half"), "does not compute in half"),
        (DEVICE, Problem(9000, 9000, 9000), "largest single buffer on this device is 256 MiB"),
        (DEVICE, Problem(65536, 64, 64), None),
        (replace(DEVICE, global_mem_bytes=2**20), Problem(500, 500, 500), "this device has 1 MiB"),
    ],
)
def test_reasons_carry_their_numbers(device: Device, problem: Problem, words: str | None) -> None:
    reason = _refused(device, problem)
    assert (reason is None) if words is None else (reason is not None and words in reason)


def test_shape_rules() -> None:
    assert "square" in str(_refused(kernel="tradeoffs_tiled", problem=Problem(64, 64, 32)))
    assert "multiple of 16" in str(_refused(kernel="barriers_naive", problem=Problem(64, 60, 64)))
    assert _refused(kernel="barriers_naive", problem=Problem(64, 32, 5)) is None


def test_a_shape_does_not_grey_a_parameter() -> None:
    naive = CATALOG.find("barriers_naive")
    chosen = merge_parameters(naive, {})
    assert parameter_refusal(naive, chosen, Problem(60, 60, 60), DEVICE) is None
    tiny = replace(DEVICE, max_work_group_size=64)
    assert parameter_refusal(naive, chosen, Problem(60, 60, 60), tiny) is not None


def test_a_launch_on_nvidia_gets_more_than_the_driver_says() -> None:
    limits = named_limits("CC 9.0")
    chosen = merge_parameters(TILED, {})
    assert local_limit(TILED, chosen, SMALL, DEVICE, None) == 48 * 1024
    assert local_limit(TILED, chosen, SMALL, DEVICE, limits) == limits.per_group_bytes > 200 * 1024
    dynamic = replace(TILED, arguments=(*TILED.arguments, Argument("local", "64")))
    assert local_limit(dynamic, chosen, SMALL, DEVICE, limits) == 48 * 1024
    amd = named_limits("gfx1030")
    assert local_limit(TILED, chosen, SMALL, DEVICE, amd) == 48 * 1024


def test_a_simulator_stands_for_any_kind_of_device() -> None:
    variant = replace(TILED, needs=("cpu",))
    chosen = merge_parameters(variant, {})
    assert "a CPU alone" in str(refusal(variant, chosen, SMALL, DEVICE))
    for kind in ("CPU", "simulator"):
        assert refusal(variant, chosen, SMALL, replace(DEVICE, type=kind)) is None


@pytest.mark.parametrize(
    ("need", "met"),
    [("nvidia", True), ("amd", False), ("cc >= 8.0", True), ("cc >= 9.1", False),
     ("cc < 10.0", True), ("cc == 9.0", True), ("magic", False)],
)  # fmt: skip
def test_needs(need: str, met: bool) -> None:
    variant = replace(TILED, needs=(need,))
    reason = refusal(variant, (("TS", 16),), SMALL, DEVICE)
    assert (reason is None) is met
    nowhere = replace(DEVICE, compute_capability=None, vendor="x")
    assert refusal(variant, (("TS", 16),), SMALL, nowhere) is not None


def test_rules_of_the_variant_may_ask_for_the_device() -> None:
    variant = replace(TILED, require=("local_limit >= 65536", "TS * TS <= max_group_size"))
    assert "requires local_limit >= 65536" in str(
        refusal(variant, (("TS", 16),), SMALL, DEVICE)
    )  # fmt: skip
    unknown = replace(DEVICE, local_mem_bytes=None, max_work_group_size=None)
    assert refusal(variant, (("TS", 16),), SMALL, unknown) is None


def test_scratch_counts_towards_memory() -> None:
    packed = replace(TILED, arguments=(*TILED.arguments, Argument("scratch", "M * TS * 65536")))
    chosen, mib64 = (("TS", 16),), 64 * 16 * 65536
    room = replace(DEVICE, max_alloc_bytes=mib64, global_mem_bytes=2 * mib64)
    assert refusal(packed, chosen, SMALL, room) is None
    small = replace(room, max_alloc_bytes=mib64 - 1)
    assert "Scratch takes 64 MiB" in str(refusal(packed, chosen, SMALL, small))
    assert refusal(TILED, chosen, SMALL, small) is None
    little = replace(room, global_mem_bytes=mib64)
    assert "A, B, C and scratch take" in str(refusal(packed, chosen, SMALL, little))
    assert refusal(TILED, chosen, SMALL, little) is None
    none = replace(packed, arguments=(*TILED.arguments, Argument("scratch", "M - 64")))
    assert "must be at least 1" in str(refusal(none, chosen, SMALL, room))


def test_a_formula_without_a_value_is_a_reason() -> None:
    broken = replace(TILED, local_bytes="TS // (K - 64)")
    assert "divides by zero" in str(parameter_refusal(broken, (("TS", 16),), SMALL, DEVICE))


@pytest.mark.parametrize(
    "variant", [v for v in CATALOG.variants if not v.library], ids=lambda variant: variant.id
)
def test_shapes_beyond_int_indices_are_refused(variant: Variant) -> None:
    room = replace(  # of any kind, and roomy
        DEVICE, type="simulator", global_mem_bytes=2**50, max_alloc_bytes=2**50,
        local_mem_bytes=2**20,
    )  # fmt: skip
    parameters = merge_parameters(variant, {})
    element = next(name for name in ("float", "double", "half") if name in variant.elements)
    assert refusal(variant, parameters, Problem(32768, 32768, 32768, element), room) is None
    beyond = refusal(variant, parameters, Problem(65536, 65536, 65536, element), room)
    if variant.id in LONG_INDICES:
        assert beyond is None
    else:
        assert "2147483647" in str(beyond)


def test_vectors_longer_than_the_devices_are_refused() -> None:
    cpu = replace(DEVICE, type="CPU")
    for width, refused in ((16, False), (8, True), (1, True)):
        device = replace(cpu, properties=(Property("NATIVE_VECTOR_WIDTH_FLOAT", width),))
        reason = _refused(device, kernel="cpu_best", VECTOR_BYTES=64)
        assert (reason is not None) == refused, width
        assert _refused(device, kernel="cpu_best", VECTOR_BYTES=32) is None
    assert _refused(cpu, kernel="cpu_best", VECTOR_BYTES=64) is None  # it does not say
