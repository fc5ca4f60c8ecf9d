"""Each rule speaks where it should and is silent where it should be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.access.report import AccessReport
from gemmviz.core.advice.rules.access import scattered
from gemmviz.core.advice.situation import Situation
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.launch import geometry, merge_parameters
from gemmviz.core.model import Check, Device, Registers
from gemmviz.core.throttle import ThrottleCurve, ThrottlePoint
from gemmviz.core.trust import DeviceTimer
from tests.core.advice.recorded import (
    H200,
    POCL,
    WRONG,
    access,
    blind,
    judged,
    measurement,
    report,
    seconds,
    situation,
)

RIGHT = Check("verified", 512, 512, 512)
TURING = replace(H200, name="Tesla T4", compute_capability="7.5", compute_units=40)


def with_estimate(about: Situation, registers: int | None) -> Situation:
    """The same with the occupancy that it has with so many registers."""
    estimate = estimate_for(
        about.variant, about.parameters, about.problem, about.device, about.limits,
        registers=registers,
    )  # fmt: skip
    told = Registers(registers) if registers is not None else None
    return replace(about, estimate=estimate, registers=told)


def curve(*points: tuple[int, float]) -> ThrottleCurve:
    """A throttling curve of (groups, TFLOP/s), each known to 1 %."""
    made = [
        ThrottlePoint(place * 8192, groups, rate * 1e12, 0.99e12 * rate, 1.01e12 * rate)
        for place, (groups, rate) in enumerate(points)
    ]
    return ThrottleCurve(tuple(made), "")


# --- correctness


def test_a_wrong_result_leads_to_the_mended_kernel_of_the_same_idea() -> None:
    found = judged("correctness.wrong", situation("tiling_tiled", 512, H200, check=WRONG))
    assert found is not None
    assert found.urgent
    assert (found.kernel, dict(found.parameters)) == ("tiling_tiled_fixed", {"TS": 16, "PAD": 0})
    assert "99.8 %" in found.evidence


def test_a_kernel_known_to_be_wrong_is_told_before_it_runs() -> None:
    found = judged("correctness.wrong", situation("barriers_tiled", 512, POCL))
    assert found is not None
    assert found.kernel == "barriers_tiled_fixed"


def test_macros_that_make_it_right_are_preferred() -> None:
    found = judged("correctness.wrong", situation("mygemm_2", (64, 64, 24), H200, TS=16))
    assert found is not None
    assert (found.kernel, dict(found.parameters)["TS"]) == ("mygemm_2", 8)


@pytest.mark.parametrize("check", [RIGHT, None])
def test_a_right_result_is_no_finding(check: Check | None) -> None:
    assert judged("correctness.wrong", situation("tiled", 512, H200, check=check)) is None


def test_what_was_checked_outweighs_the_description() -> None:
    about = situation("barriers_tiled", 512, POCL, check=RIGHT)
    assert judged("correctness.wrong", about) is None


# --- accesses


def test_strided_loads_lead_to_the_exchanged_axes_on_a_gpu() -> None:
    about = situation("naive_strided", 4096, H200, seconds=seconds("naive_strided", 4096, 0.97))
    found = judged("access.coalescing", about)
    assert found is not None
    assert (found.kernel, dict(found.parameters)) == ("naive_coalesced", {"TS": 16})
    assert found.gain_low < 5.3 / 0.97 < found.gain_high
    assert "16 sectors" in found.evidence


def test_strided_loads_are_no_finding_on_a_cpu() -> None:
    assert judged("access.coalescing", situation("naive_strided", 512, POCL)) is None


def test_loads_side_by_side_are_no_finding() -> None:
    assert judged("access.coalescing", situation("naive_coalesced", 4096, H200)) is None
    assert judged("access.coalescing", situation("tiled", 4096, H200)) is None


def test_few_sectors_are_cheap_however_little_of_them_is_used() -> None:
    about = situation("naive_coalesced", 4096, H200)

    def seen(sectors: float) -> AccessReport:
        loads = access("A", sectors=sectors, ideal=1)
        return report(about.variant, about.parameters, about.problem, loads)

    assert scattered(seen(2)) == ()
    assert scattered(seen(4)) == ()
    assert len(scattered(seen(16))) == 1


def test_nothing_is_said_of_accesses_that_nobody_knows() -> None:
    assert judged("access.coalescing", situation("naive_strided", 512, H200), blind) is None


# --- intensity


@pytest.mark.parametrize(
    ("kernel", "device", "size", "now", "then"),
    [
        ("tiled", H200, 4096, 6.5, 39.4),
        ("tiled", H200, 1024, 6.2, 29.6),
        ("naive_coalesced", H200, 1024, 5.1, 29.6),
        ("tiled", POCL, 512, 0.0052, 0.0395),
    ],
)
def test_few_cells_an_item_lead_to_blocking_for_registers(
    kernel: str, device: Device, size: int, now: float, then: float
) -> None:
    found = judged(
        "intensity.blocking", situation(kernel, size, device, seconds=seconds(kernel, size, now))
    )
    assert found is not None
    assert found.kernel == "register_2d"
    assert found.gain_low < then / now < found.gain_high


def test_a_small_tile_leads_to_a_larger_one_of_the_same_kernel() -> None:
    found = judged("intensity.tile", situation("register_2d", 4096, H200, TM=2, TN=2))
    assert found is not None
    assert found.kernel == "register_2d"
    chosen = dict(found.parameters)
    assert chosen["TM"] * chosen["TN"] > 4


def test_nothing_moves_less_than_the_best() -> None:
    about = situation("register_2d", 4096, H200, BM=128, BN=128, TM=8, TN=8)
    assert judged("intensity.blocking", about, blind) is None
    assert judged("intensity.tile", about, blind) is None


# --- shape


def test_tiles_that_stick_out_lead_to_smaller_ones() -> None:
    about = situation("register_2d", (260, 260, 2048), POCL, BM=128, BN=128, TM=8, TN=8)
    found = judged("shape.tail", about, blind)
    assert found is not None
    assert "384 x 384" in found.evidence
    chosen = dict(found.parameters)
    assert chosen["BM"] < 128 or chosen["BN"] < 128


def test_tiles_that_fit_are_no_finding() -> None:
    about = situation("register_2d", 1024, POCL, BM=128, BN=128, TM=8, TN=8)
    assert judged("shape.tail", about, blind) is None


def test_few_groups_lead_to_smaller_tiles() -> None:
    found = judged("shape.units", situation("register_2d", 512, H200, BM=128, BN=128), blind)
    assert found is not None
    assert found.evidence.startswith("16 work-groups on 132 compute units")
    assert judged("shape.units", situation("register_2d", 4096, H200), blind) is None


# --- residency and registers


def test_low_occupancy_without_a_curve_is_to_be_measured_and_promises_little() -> None:
    about = with_estimate(situation("register_2d", 4096, H200), 80)
    found = judged("residency.limit", about)
    assert found is not None
    assert found.kernel == ""
    assert found.gain_high <= 1.2
    assert "38 %" in found.evidence


def test_a_flat_curve_says_that_low_occupancy_does_not_matter() -> None:
    about = with_estimate(situation("register_2d", 4096, H200), 128)
    flat = curve((6, 39.4), (4, 39.3), (2, 39.1))
    assert judged("residency.limit", replace(about, throttle=flat)) is None


def test_a_falling_curve_leads_to_less_local_memory() -> None:
    about = with_estimate(situation("register_2d", 4096, TURING, BK=32), 64)
    falling = curve((3, 6.0), (2, 4.4), (1, 2.3))
    found = judged("residency.limit", replace(about, throttle=falling))
    assert found is not None
    assert found.kernel == "register_2d"
    lighter = geometry(about.variant, found.parameters, about.problem).local_bytes
    assert lighter < geometry(about.variant, about.parameters, about.problem).local_bytes
    assert found.gain_high > 1.05


def test_full_occupancy_is_no_finding() -> None:
    about = with_estimate(situation("tiled", 4096, H200), 32)
    assert judged("residency.limit", about) is None


def test_spills_are_told_and_the_option_that_makes_them() -> None:
    about = situation("register_2d", 4096, H200, TM=8, TN=8)
    spilling = replace(about, registers=Registers(128, None, 420))
    found = judged("residency.spills", spilling)
    assert found is not None
    assert "420 B" in found.evidence
    held = replace(measurement("register_2d", 0.03, TM=8, TN=8),
                   build_options="-cl-nv-maxrregcount=128")  # fmt: skip
    found = judged("residency.spills", replace(spilling, measured=(held,)))
    assert found is not None
    assert "-cl-nv-maxrregcount" in found.action
    assert judged("residency.spills", replace(about, registers=Registers(128, None, 0))) is None


# --- launch


def test_a_kernel_shorter_than_its_launch_is_told() -> None:
    timer = DeviceTimer(32e-9, 1e-6, 9.7e-6, 20e-6, 5.8e-6)
    short = replace(situation("tiled", 64, H200, seconds=7.5e-6), timer=timer)
    found = judged("launch.overhead", short)
    assert found is not None
    assert "7.50 µs" in found.evidence
    assert found.kernel == ""
    long = replace(situation("tiled", 1024, H200, seconds=350e-6), timer=timer)
    assert judged("launch.overhead", long) is None
    assert judged("launch.overhead", replace(short, timer=None)) is None


# --- CPUs


def test_a_pad_is_told_to_be_useless_on_a_cpu_alone() -> None:
    found = judged("cpu.pad", situation("tiled_padded", 512, POCL, PAD=2))
    assert found is not None
    assert dict(found.parameters)["PAD"] == 0
    assert found.gain_high < 1.3
    assert judged("cpu.pad", situation("tiled_padded", 512, POCL, PAD=0)) is None
    assert judged("cpu.pad", situation("tiled_padded", 512, H200, PAD=2)) is None


def test_local_memory_without_blocking_is_cache_to_cache_on_a_cpu() -> None:
    found = judged("cpu.local", situation("tiled", 512, POCL), blind)
    assert found is not None
    assert found.kernel == "register_2d"
    assert "GLOBAL" in found.source
    assert judged("cpu.local", situation("register_2d", 512, POCL), blind) is None
    assert judged("cpu.local", situation("naive_coalesced", 512, POCL), blind) is None
    assert judged("cpu.local", situation("tiled", 512, H200), blind) is None


# --- the documents' rules of thumb


def test_the_budget_allows_a_larger_tile() -> None:
    found = judged("documents.budget", situation("tiled", 4096, H200, TS=8))
    assert found is not None
    assert dict(found.parameters)["TS"] in (16, 32)
    assert "512 B of 48 KiB" in found.evidence
    assert judged("documents.budget", situation("tiled", 4096, POCL, TS=8)) is None


def test_below_a_half_the_tile_is_not_reduced_where_items_do_much() -> None:
    about = with_estimate(situation("register_2d", 4096, H200), 80)
    assert about.estimate is not None
    assert (about.estimate.occupancy or 1.0) < 0.5
    assert judged("documents.half", about) is None


def test_below_a_half_the_tile_is_reduced_where_items_do_one_cell() -> None:
    # As if 1024 items an SM could not fill the slots with the registers that they take.
    about = with_estimate(situation("tiled", 4096, TURING, TS=16), 72)
    assert about.estimate is not None
    low = replace(about.estimate, occupancy=0.25, group_size=1024, limiters=("registers",))
    low_one = replace(about, estimate=low, parameters=(("TS", 32),))
    found = judged("documents.half", low_one)
    assert found is not None
    assert dict(found.parameters)["TS"] < 32
    assert "25 %" in found.evidence
    flat = curve((2, 6.5), (1, 6.5))
    assert judged("documents.half", replace(low_one, throttle=flat)) is None


def test_a_pad_is_found_by_what_it_does_and_not_by_its_name() -> None:
    about = situation("tiled_padded", 512, POCL, PAD=2)
    renamed = replace(
        about.variant,
        local_bytes=about.variant.local_bytes.replace("PAD", "GAP"),
        parameters=tuple(
            replace(p, name="GAP") if p.name == "PAD" else p for p in about.variant.parameters
        ),
    )
    other = replace(about, variant=renamed, candidates=(renamed,),
                    parameters=merge_parameters(renamed, {"GAP": 2}))  # fmt: skip
    found = judged("cpu.pad", other, blind)
    assert found is not None
    assert dict(found.parameters)["GAP"] == 0
