from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.codec import from_json, to_json
from gemmviz.core.model import Device, Problem
from gemmviz.core.paths import data_dir
from gemmviz.core.roofline import (
    Names,
    Roof,
    above_ceiling,
    bandwidth_share,
    bytes_per_second,
    dot,
    ridge,
    roofs,
    standing,
)

CATALOG = load_catalog(data_dir("kernels"))
TILED, ADD = CATALOG.find("tiled"), CATALOG.find("mygemm_add")
DEVICE = Device(
    "Platform", "OpenCL 1.2", "A device", "GPU", global_cache_bytes=4 * 2**20,
    elements=("float", "double"),
)  # fmt: skip
NAMES = Names("A device", "Tiled")


def ceiling(name: str, value: float, element: str = "float", unit: str = "B/s") -> Ceiling:
    return Ceiling(name, element, value, unit, 0.1)  # type: ignore[arg-type]


TABLE = CeilingTable(
    DEVICE.key,
    "1.0",
    (
        ceiling("global copy", 4.3e12),
        ceiling("global read", 4.0e12),
        ceiling("cache read", 7e12),
        ceiling("near cache read", 30e12),
        ceiling("local stride 1", 28.8e12),
        ceiling("fma", 65e12, unit="FLOP/s"),
        ceiling("fma", 32.5e12, "double", "FLOP/s"),
    ),
    5.0,
)
EMPTY = CeilingTable(DEVICE.key, "1.0", ())


def test_accessors_name_what_was_measured() -> None:
    assert TABLE.bandwidth("global") == 4.3e12
    assert TABLE.bandwidth("cache") == 7e12
    assert TABLE.fastest_bandwidth == 30e12
    assert TABLE.peak("double") == 32.5e12
    assert TABLE.peak("half") is None
    assert TABLE.find("local stride 1", "float") == TABLE.ceilings[4]
    assert TABLE.find("local stride 2") is None
    assert EMPTY.bandwidth("global") is None
    assert EMPTY.fastest_bandwidth is None
    assert from_json(CeilingTable, to_json(TABLE)) == TABLE


def test_roofs_go_from_far_to_near_and_then_up_to_the_peaks() -> None:
    names = ["global memory", "cache", "near cache", "FMA float", "FMA double"]
    assert [roof.name for roof in roofs(TABLE)] == names
    assert [roof.name for roof in roofs(TABLE, ["double"])] == [*names[:3], "FMA double"]
    assert roofs(EMPTY) == ()
    slope, peak = roofs(TABLE)[0], roofs(TABLE)[3]
    assert slope.at(2.0) == 8.6e12
    assert peak.at(2.0) == peak.at(2000.0) == 65e12
    assert slope.label == "global memory 4.30 TB/s"
    assert peak == Roof("FMA float", 65e12, flat=True)
    assert peak.label == "FMA float 65.0 TFLOP/s"


def test_roofs_meet_at_the_ridge() -> None:
    assert ridge(TABLE, "float") == pytest.approx(65 / 4.3)
    assert ridge(TABLE, "float", "near cache") == pytest.approx(65 / 30)
    assert ridge(TABLE, "half") is None
    assert ridge(EMPTY, "float") is None


@pytest.mark.parametrize(
    ("intensity", "memory", "attainable", "roof"),
    [
        (1.0, "global memory", 4.3e12, "global memory"),
        (10.0, "cache", 65e12, "FMA float"),
        (1.0, "near cache", 30e12, "near cache"),
        (100.0, "global memory", 65e12, "FMA float"),
    ],
)
def test_the_lower_roof_counts(intensity, memory, attainable, roof) -> None:
    found = standing(TABLE, "float", intensity, 1e12, memory)
    assert found.attainable == pytest.approx(attainable)
    assert found.roof == roof
    assert found.share == pytest.approx(1e12 / attainable)


def test_without_ceilings_there_is_no_roof() -> None:
    for table in (None, EMPTY):
        found = standing(table, "float", 2.0, 1e12, "cache")
        assert (found.attainable, found.roof, found.share) == (None, "", None)
    only_memory = replace(TABLE, ceilings=TABLE.ceilings[:1])
    assert standing(only_memory, "float", 100.0, 1e12, "global memory").attainable == 4.3e14


def test_a_result_has_two_intensities() -> None:
    problem = Problem(1024, 1024, 1024)
    seconds = 2 * 1024**3 / 6.5e12
    placed = dot(NAMES, (TILED, problem, seconds), DEVICE, TABLE, 2 * 1024**3 // 4)
    assert placed.device == "A device"
    assert placed.least.intensity == pytest.approx(2 * 1024**3 / (3 * 1024**2 * 4))
    assert placed.least.flops_per_second == pytest.approx(6.5e12)
    assert placed.least.roof == "FMA float"
    assert placed.source is not None
    assert placed.source.intensity == 4.0
    assert placed.source.flops_per_second == placed.least.flops_per_second
    assert dot(NAMES, (TILED, problem, seconds), DEVICE, TABLE).source is None


def test_matrices_that_fit_the_cache_are_held_to_it() -> None:
    # A sum is limited by memory: 4096 of each side are 192 MiB, 512 are 3 MiB.
    large = dot(NAMES, (ADD, Problem(4096, 4096, 1), 1e-4), DEVICE, TABLE)
    small = dot(NAMES, (ADD, Problem(512, 512, 1), 1e-6), DEVICE, TABLE)
    assert large.least.roof == "global memory"
    assert small.least.roof == "cache"
    unknown = replace(DEVICE, global_cache_bytes=None)
    placed = dot(NAMES, (ADD, Problem(512, 512, 1), 1e-6), unknown, TABLE)
    assert placed.least.roof == "global memory"


def test_bandwidth_is_traffic_over_time() -> None:
    assert bytes_per_second(10**9, 1e-3) == pytest.approx(1e12)
    assert bandwidth_share(10**9, 1e-3, TABLE) == pytest.approx(1 / 4.3)
    assert bandwidth_share(10**9, 1e-3, EMPTY) is None


def test_what_beats_a_ceiling_is_told() -> None:
    problem = Problem(1024, 1024, 1024)
    work = 2 * 1024**3
    assert above_ceiling(TILED, problem, work / 64e12, TABLE) == ""
    assert above_ceiling(TILED, problem, work / 67e12, TABLE) == ""  # within the noise of both
    sentence = above_ceiling(TILED, problem, work / 130e12, TABLE)
    assert sentence.startswith("130 TFLOP/s is 2 times what a loop of nothing but multiply-adds")
    assert "65.0 TFLOP/s" in sentence
    assert above_ceiling(TILED, replace(problem, element="double"), work / 64e12, TABLE)
    assert above_ceiling(TILED, problem, work / 130e12, None) == ""
    assert above_ceiling(TILED, problem, 0.0, TABLE) == ""
    assert above_ceiling(TILED, problem, work / 130e12, EMPTY) == ""


def test_tensor_cores_are_no_lie_but_memory_is_memory() -> None:
    problem = Problem(1024, 1024, 1024)
    for kernel in (replace(TILED, precision="tf32x3"), replace(TILED, family="tensor")):
        assert above_ceiling(kernel, problem, 2 * 1024**3 / 130e12, TABLE) == ""
    # 192 MiB moved in 1 us: 201 TB/s.
    sentence = above_ceiling(ADD, Problem(4096, 4096, 1), 1e-6, TABLE)
    assert "201 TB/s is 6.71 times the fastest memory measured here (30.0 TB/s)" in sentence
    assert above_ceiling(ADD, Problem(4096, 4096, 1), 1e-4, TABLE) == ""


@pytest.mark.parametrize("element", ["half", "float", "double"])
def test_a_library_chooses_its_arithmetic_itself(element) -> None:
    table = replace(TABLE, ceilings=(*TABLE.ceilings, ceiling("fma", 130e12, "half", "FLOP/s")))
    for library in (variant for variant in CATALOG.variants if variant.library):
        problem = Problem(4096, 4096, 4096, element)
        assert above_ceiling(library, problem, 2 * 4096**3 / 750e12, table) == ""


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        (
            'asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0}" : "+f"(c));',
            False,
        ),
        ('asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}" : "=f"(c));', False),
        ("acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, acc, 0, 0, 0);", False),
        ("acc = intel_sub_group_f16_f16_matrix_mad_k16(a, b, acc);", False),
        ("sgemm.sum = fma(a, b, sgemm.sum);", True),
        ("/* no mma.sync here */ c += a * b; // nor wgmma.mma_async", True),
    ],
)
def test_a_persons_own_kernel_may_use_matrix_units(line, plain) -> None:
    own = replace(TILED, family="user", source=f"__kernel void f() {{ {line} }}")
    seconds = 2 * 1024**3 / 130e12
    assert bool(above_ceiling(own, Problem(1024, 1024, 1024), seconds, TABLE)) is plain
