"""The occupancy model against the vendors' own figures, and what it says in words."""

import csv
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.core.limits import Limits, load_limits, named_limits
from gemmviz.core.model import Device
from gemmviz.core.occupancy import Estimate, estimate, estimate_on

DATA = Path(__file__).parent.parent / "data"
NAMES = {"warps": "slots", "blocks": "groups", "shared": "local memory"}


def golden(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def by_name(result: Estimate) -> dict[str, int]:
    return {limiter.name: limiter.groups for limiter in result.limits}


def gpu(**known) -> Device:
    return Device("Platform", "OpenCL 3.0", "Some GPU", "GPU", **known)


# NVIDIA's calculator was asked without the opt-in to more than 48 KiB a group.
NVIDIA = {
    row.code: replace(row, per_group_bytes=row.default_per_group_bytes)
    for row in load_limits()
    if row.vendor == "NVIDIA"
}


def nvidia_figures(case: dict[str, str]) -> dict[str, object]:
    result = estimate(
        NVIDIA[case["cc"]],
        int(case["block_size"]),
        int(case["static_shared_bytes"]),
        int(case["regs_per_thread"]),
        int(case["barriers"]),
    )
    limits = by_name(result)
    taken = {limiter.name: limiter.used for limiter in result.limits}
    return {
        "active_blocks_per_sm": str(result.groups_per_unit),
        "active_warps_per_sm": str(result.groups_per_unit * result.warps_per_group),
        "occupancy": f"{result.occupancy:.6f}",
        "limiters": set(result.limiters),
        "limit_warps": str(limits["slots"]),
        "limit_blocks": str(limits["groups"]),
        "limit_regs": str(limits.get("registers", "inf")),
        "limit_shared": str(limits["local memory"]),
        "alloc_regs_per_block": str(taken.get("registers", 0)),
        "alloc_shared_per_block": str(result.allocated_local_bytes),
    }


def test_every_figure_of_nvidias_calculator():
    cases = golden("nvidia_golden.csv")
    different = []
    for case in cases:
        found = nvidia_figures(case)
        wanted = {key: case[key] for key in found}
        wanted["limiters"] = {NAMES.get(name, name) for name in case["limiters"].split("|")}
        if found != wanted:
            odd = {key: (found[key], wanted[key]) for key in found if found[key] != wanted[key]}
            different.append((case["cc"], case["block_size"], odd))
    assert len(cases) == 2000
    assert not different, f"{len(different)} differ, first {different[:5]}"


def amd_cases() -> list[tuple[Limits, dict[str, str]]]:
    """LLVM's rows with their limits; no table documents gfx1250."""
    modes = {"": "", "+cumode": " cumode", "+wavefrontsize64": " wave64"}
    return [
        (named_limits(case["gfx"] + modes[case["features"]]), case)
        for case in golden("amd_golden.csv")
        if case["gfx"] != "gfx1250"
    ]


def waves_per_simd(limits: Limits, case: dict[str, str]) -> int:
    """LLVM's figure: waves by group size and local memory, rounded up per SIMD, then registers."""
    size, local = int(case["work_group_size"]), int(case["lds_bytes"])
    groups = estimate(limits, size, local)
    waves = -(-groups.groups_per_unit * groups.warps_per_group // limits.partitions)
    one_wave = estimate(limits, limits.lane_width, 0, int(case["vgprs"]))
    return min(waves, by_name(one_wave)["registers"] // limits.partitions)


def test_every_figure_of_llvm_for_amd():
    cases = amd_cases()
    different = [
        (limits.code, case, found)
        for limits, case in cases
        if (found := waves_per_simd(replace(limits, local_granule=1), case))
        != int(case["waves_per_simd_llvm22"])
    ]
    assert len(cases) == 3675
    assert not different, f"{len(different)} differ, first {different[:5]}"


# (codes, group sizes, local bytes, registers): LLVM does not round local memory, hardware does.
ROUNDED = [
    (("gfx700", "gfx803", "gfx900", "gfx906", "gfx908"), (64,), 2176, (24, 32)),
    (("gfx1030 wave64",), (64,), 2176, (24, 32)),
    (("gfx1100 wave64", "gfx1201 wave64"), (64,), 2176, (24, 32, 48)),
    (("gfx90a", "gfx942"), (64,), 2176, (24, 32, 48, 64)),
    (("gfx950",), (64, 256), 32768, (24, 32, 48, 64, 96)),
    (("gfx950",), (64,), 32768, (128, 256)),
]


def test_llvm_differs_only_where_local_memory_is_rounded():
    found = set()
    for limits, case in amd_cases():
        waves, llvm = waves_per_simd(limits, case), int(case["waves_per_simd_llvm22"])
        if waves == llvm:
            continue
        size, local = int(case["work_group_size"]), int(case["lds_bytes"])
        result = estimate(limits, size, local)
        assert waves < llvm
        assert result.limiters == ("local memory",)
        assert result.allocated_local_bytes > local
        assert result.groups_per_unit < limits.pool_bytes // local
        found.add((limits.code, size, local, int(case["vgprs"])))
    listed = {
        (code, size, local, registers)
        for codes, sizes, local, used in ROUNDED
        for code, size, registers in product(codes, sizes, used)
    }
    assert found == listed
    assert len(found) == 38


# Group edge, then groups on a unit and the percentage of slots by each row.
WORKED = {
    "CC 7.5": (36, [(16, 100), (4, 100), (1, 100), (0, 0)]),
    "CC 8.6": (36, [(16, 67), (6, 100), (1, 67), (0, 0)]),
    "CC 9.0": (36, [(24, 75), (6, 75), (1, 50), (0, 0)]),
    "gfx942": (40, [(32, 100), (8, 100), (2, 100), (0, 0)]),
    "gfx1030": (40, [(32, 100), (8, 100), (2, 100), (0, 0)]),
    "DG2": (None, [(32, 100), (8, 100), (2, 100), (0, 0)]),
    "TGL": (None, [(28, 100), (7, 100), (0, 0), (0, 0)]),
}


@pytest.mark.parametrize("name", WORKED)
def test_tiles_of_8_to_64(name: str):
    registers, wanted = WORKED[name]
    for tile, (groups, part) in zip((8, 16, 32, 64), wanted, strict=True):
        result = estimate(named_limits(name), tile * tile, 8 * tile * tile, registers)
        assert (result.groups_per_unit, round(100 * result.occupancy)) == (groups, part), tile
        assert result.confidence == "vendor-documented limits"
        assert bool(result.refusal) is (groups == 0)


def test_limiters_of_the_tiles():
    def limiters(name: str, tile: int) -> tuple[str, ...]:
        return estimate(named_limits(name), tile * tile, 8 * tile * tile, 36).limiters

    assert limiters("CC 8.6", 8) == ("groups",)
    assert [limiters("CC 9.0", tile) for tile in (8, 16, 32)] == [("registers",)] * 3


def test_tied_limiters_are_all_named():
    # 24 groups of 2 warps by slots, by groups and by barriers, and as many by 40 registers.
    result = estimate(named_limits("CC 12.0"), 64, 512, 40)
    assert result.limiters == ("slots", "groups", "registers", "barriers")


def test_a_device_without_a_row_has_a_budget_only():
    device = gpu(local_mem_bytes=65536, max_work_group_size=1024)
    by_tile = [estimate_on(device, None, t * t, 8 * t * t) for t in (8, 16, 32, 64)]
    assert [result.groups_by_local_memory for result in by_tile] == [128, 32, 8, 2]
    assert [result.groups_per_unit for result in by_tile] == [128, 32, 8, 0]
    assert "4096 work-items" in by_tile[3].refusal
    result = by_tile[2]
    assert result.confidence == "local-memory budget only"
    assert (result.occupancy, result.work_items, result.slots) == (None, None, None)
    assert (result.headroom_bytes, result.next_step_bytes) == (8192, 7281)
    assert [limiter.source for limiter in result.limits] == ["queried"]
    assert result.limits[0].text == "8 KiB × 8 of 64 KiB"
    assert "not documented" in result.explanation
    assert "65537 B" in estimate_on(device, None, 64, 65537).refusal


@pytest.mark.parametrize(("budget", "local"), [(None, 512), (65536, 0)])
def test_a_budget_says_nothing_without_a_size_or_a_use(budget: int | None, local: int):
    result = estimate_on(gpu(local_mem_bytes=budget), None, 64, local)
    assert (result.groups_per_unit, result.limits, result.refusal) == (None, (), "")
    assert "says nothing" in result.explanation


def test_a_cpu_has_its_cache_instead_of_an_occupancy():
    cpu = replace(gpu(local_mem_bytes=2**21, global_cache_bytes=2**20), type="CPU")
    result = estimate_on(cpu, named_limits("9.0"), 256, 2**19)
    assert result.confidence == "not applicable"
    assert (result.groups_per_unit, result.occupancy, result.limits) == (None, None, ())
    assert result.cache_bytes == 2**20
    assert "The tile takes 512 KiB of the 1 MiB of cache" in result.explanation
    assert estimate_on(replace(cpu, global_cache_bytes=0), None, 256, 2**19).cache_bytes is None
    simulator = estimate_on(replace(cpu, type="simulator"), None, 256, 2**19)
    assert (simulator.confidence, simulator.cache_bytes) == ("not applicable", None)


def test_an_estimate_on_a_device_is_that_of_its_row():
    row = named_limits("9.0")
    assert estimate_on(gpu(), row, 256, 2048, 36, barriers=2) == estimate(row, 256, 2048, 36, 2)


@pytest.mark.parametrize(
    ("name", "demand", "limiters", "words"),
    [
        ("9.0", (1025, 512, 36), ("slots",), ("1025 work-items", "1024")),
        ("8.6", (64, 101377, 36), ("local memory",), ("101377 B", "101376 B")),
        ("9.0", (1024, 512, 96), ("registers",), ("1024 work-items", "96 registers")),
        ("9.0", (4096, 512, 36), ("slots", "registers"), ("4096 work-items are above 1024.",)),
        ("6.1", (64, 512, 256), ("registers",), ("256 registers",)),
        ("TGL", (1024, 65537, None), ("slots", "local memory"), ("1024 work-items", "65537 B")),
        ("gfx600", (1024, 0, 96), ("registers",), ("96 registers",)),
    ],
)
def test_a_refusal_names_what_is_too_much(name, demand, limiters, words):
    result = estimate(named_limits(name), *demand)
    assert (result.groups_per_unit, result.occupancy, result.headroom_bytes) == (0, 0.0, None)
    assert result.limiters == limiters
    for word in (*words, named_limits(name).name):
        assert word in result.refusal
    assert result.explanation.startswith(result.refusal)


def test_barriers_bind_from_hopper_on():
    assert estimate(named_limits("9.0"), 64, 512, 32, 16).groups_per_unit == 4
    assert estimate(named_limits("8.0"), 64, 512, 32, 16).groups_per_unit == 32
    assert "barriers" in estimate(named_limits("9.0"), 64, 512, 32, 65).refusal


def test_unknown_registers_give_an_upper_bound():
    for name in ("9.0", "gfx942", "PVC"):
        result = estimate(named_limits(name), 256, 2048)
        assert result.confidence == "vendor limits, registers unknown: an upper bound"
        assert "registers" not in by_name(result)
        assert "fewer may fit" in result.explanation
    # A thread of most Intel GPUs has its 128 registers whatever the kernel needs.
    assert estimate(named_limits("DG2"), 256, 2048).confidence == "vendor-documented limits"


def test_large_register_files_halve_the_threads_of_ponte_vecchio():
    assert estimate(named_limits("PVC"), 256, 2048, 128).groups_per_unit == 4
    assert estimate(named_limits("PVC"), 256, 2048, 256).groups_per_unit == 2


def test_amd_counts_groups_of_several_waves_only():
    assert "groups" not in by_name(estimate(named_limits("gfx942"), 64, 512))
    assert by_name(estimate(named_limits("gfx942"), 65, 512))["groups"] == 16


def test_the_drivers_limit_per_group_wins_where_it_is_lower():
    row = named_limits("9.0")
    assert estimate(row, 256, 65536, 36).groups_per_unit == 3
    result = estimate(row, 256, 65536, 36, local_limit=49152)
    assert (result.groups_per_unit, result.per_group_bytes) == (0, 49152)
    assert result.per_group_source == "queried"
    assert estimate(row, 256, 65536, 36, local_limit=2**30).per_group_source == "vendor table"


def test_a_limiter_reads_as_a_bar():
    bars = {bar.name: bar for bar in estimate(named_limits("9.0"), 256, 2048, 36).limits}
    assert bars["local memory"].text == "3 KiB × 6 of 228 KiB"
    assert bars["slots"].text == "8 × 6 of 64 warps"
    assert bars["groups"].text == "6 of 32 groups"
    assert bars["registers"].text == "10240 × 6 of 65536 registers"
    assert bars["slots"].fraction == 0.75
    assert {bar.source for bar in bars.values()} == {"vendor table"}
    refused = {bar.name: bar for bar in estimate(named_limits("9.0"), 2048, 2048, 36).limits}
    assert refused["slots"].text == "64 for one group of 64 warps"
    assert refused["local memory"].fraction == 0


def test_an_explanation_has_the_figures():
    assert estimate(named_limits("9.0"), 256, 2048, 36).explanation == (
        "6 groups of 256 work-items on one SM: 48 of 64 warps (75 %), limited by registers. "
        "Local memory alone would allow 76. "
        "A group may use up to 37 KiB of local memory at no cost. "
        "Assumes the largest shared-memory carve-out, which OpenCL cannot query."
    )
    result = estimate(named_limits("gfx942"), 256, 16384, 40)
    assert "One more needs at most 12.5 KiB of local memory a group." in result.explanation
    assert result.next_step_bytes == 12800


@pytest.mark.parametrize("wrong", [(0, 0, None, 1), (64, -1, None, 1), (64, 0, -1, 1)])
def test_impossible_demands_are_errors(wrong: tuple):
    with pytest.raises(ValueError, match=r"work-item|negative"):
        estimate(named_limits("9.0"), *wrong)


demands = st.tuples(
    st.sampled_from(load_limits()),
    st.integers(1, 1024),
    st.integers(0, 70_000),
    st.one_of(st.none(), st.integers(1, 128)),
)


@given(demands)
def test_headroom_is_free_and_ends_where_it_says(demand):
    limits, group, local, registers = demand
    result = estimate(limits, group, local, registers)
    if not result.groups_per_unit:
        assert result.refusal
        return
    headroom = result.headroom_bytes
    assert headroom >= local
    assert estimate(limits, group, headroom, registers).groups_per_unit == result.groups_per_unit
    beyond = estimate(limits, group, headroom + 1, registers).groups_per_unit
    assert beyond < result.groups_per_unit or headroom == result.per_group_bytes


@given(demands)
def test_the_next_step_makes_room_for_one_more(demand):
    limits, group, local, registers = demand
    result = estimate(limits, group, local, registers)
    if result.next_step_bytes is not None:
        less = estimate(limits, group, result.next_step_bytes, registers)
        assert by_name(less).get("local memory", 10**9) > result.groups_per_unit


@given(demands, st.integers(0, 10_000))
def test_more_local_memory_never_makes_more_groups(demand, more):
    limits, group, local, registers = demand
    result = estimate(limits, group, local, registers)
    assert estimate(limits, group, local + more, registers).groups_per_unit <= (
        result.groups_per_unit
    )
    assert 0 <= result.occupancy <= 1
    assert all(0 <= limiter.fraction <= 1 for limiter in result.limits)
