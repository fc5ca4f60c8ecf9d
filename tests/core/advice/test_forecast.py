"""The model of a device against what was measured on one: ratios, and what it must rank."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.access.machine import machine_for
from gemmviz.core.advice.forecast import Forecast, Place, forecast, rates_of
from gemmviz.core.advice.look import look
from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.launch import flop
from gemmviz.core.model import Device, Problem
from tests.core.advice.recorded import H200, POCL, access, report, situation

# TFLOP/s of an H200, float, driver 580.
_H200 = [
    ("naive_strided", 1024, 0.94),
    ("naive_coalesced", 1024, 5.1),
    ("tiled", 1024, 6.2),
    ("work_1d", 1024, 11.4),
    ("register_2d", 1024, 29.6),
    ("naive_strided", 4096, 0.97),
    ("naive_coalesced", 4096, 5.3),
    ("tiled", 4096, 6.5),
    ("register_2d", 4096, 39.4),
]


def foreseen(kernel: str, size: int, device: Device, **macros: int) -> Forecast:
    """What the model says with the real lens."""
    about = situation(kernel, size, device, **macros)
    place = Place(device, about.limits, rates_of(device, None, "float"))
    proxy = Problem(size, size, 64)
    seen = look(about.variant, about.parameters, proxy, machine_for(device, about.limits))
    assert seen is not None
    return forecast(about.variant, about.parameters, about.problem, place, seen)


@pytest.mark.parametrize(("kernel", "size", "tflops"), _H200)
def test_it_is_within_a_factor_of_two_of_an_h200(kernel: str, size: int, tflops: float) -> None:
    found = foreseen(kernel, size, H200)
    rate = flop(found.variant, Problem(size, size, size)) / found.seconds / 1e12
    assert tflops / 2 < rate < 2 * tflops


def test_it_ranks_the_ladder_as_an_h200_does() -> None:
    order = sorted((k for k, size, _ in _H200 if size == 1024),
                   key=lambda kernel: -foreseen(kernel, 1024, H200).seconds)  # fmt: skip
    assert order == [kernel for kernel, size, _ in _H200 if size == 1024]


def test_it_ranks_blockings_as_pocl_does() -> None:
    # 0.26, 0.6, 1.9, 1.3 and 4.5 GFLOP/s were seen, on a busy machine.
    slow = [foreseen("naive_strided", 512, POCL), foreseen("tiled", 512, POCL)]
    blocked = [foreseen("work_1d", 512, POCL), foreseen("register_2d", 512, POCL)]
    best = foreseen("register_2d", 512, POCL, BM=128, BN=128, TM=8, TN=8)
    assert slow[0].seconds > slow[1].seconds > max(b.seconds for b in blocked)
    assert min(b.seconds for b in blocked) > best.seconds


def test_few_groups_leave_units_idle_and_edges_waste() -> None:
    small = foreseen("register_2d", 512, H200)
    assert small.shape.groups == 64
    assert small.busy == pytest.approx(64 / 132)
    about = situation("tiled", (100, 100, 64), H200, TS=32)
    place = Place(H200, about.limits, rates_of(H200, None, "float"))
    ragged = forecast(about.variant, about.parameters, about.problem, place)
    assert ragged.padded == pytest.approx(128 * 128 / (100 * 100))


def test_more_cells_than_registers_hold_are_no_gain() -> None:
    about = situation("register_2d", 4096, H200)
    place = Place(H200, about.limits, rates_of(H200, None, "float"))
    wide = replace(about.variant, group=("16", "16"), tile_rows="256", tile_cols="256")
    held = forecast(about.variant, about.parameters, about.problem, place)
    spilled = forecast(wide, about.parameters, about.problem, place)
    assert spilled.cells == 256
    assert spilled.seconds > held.seconds


def test_measured_ceilings_replace_assumed_ones() -> None:
    assumed = rates_of(H200, None, "float")
    table = CeilingTable(H200.key, "580", (
        Ceiling("fma", "float", 65.3e12, "FLOP/s", 1.0),
        Ceiling("fma", "double", 33.4e12, "FLOP/s", 1.0),
        Ceiling("global copy", "float", 4.3e12, "B/s", 1.0),
        Ceiling("local read", "float", 33.4e12, "B/s", 1.0),
    ))  # fmt: skip
    measured = rates_of(H200, table, "double")
    assert (assumed.measured, measured.measured) == (False, True)
    assert measured.arithmetic == 33.4e12
    assert measured.memory == 4.3e12
    assert measured.loads == 33.4e12
    assert rates_of(H200, CeilingTable(H200.key, "580", ()), "float") == assumed


@pytest.mark.parametrize("device", [H200, POCL], ids=["GPU", "CPU"])
@pytest.mark.parametrize("kernel", ["naive_coalesced", "register_2d"])
def test_a_short_k_stands_for_the_whole(kernel: str, device: Device) -> None:
    about = situation(kernel, (256, 256, 512), device)
    place = Place(device, about.limits, rates_of(device, None, "float"))
    machine = machine_for(device, about.limits)
    whole, short = (
        forecast(about.variant, about.parameters, about.problem, place,
                 look(about.variant, about.parameters, replace(about.problem, k=k), machine))
        for k in (512, 64)
    )  # fmt: skip
    assert short.seen
    assert short.load_bytes == pytest.approx(whole.load_bytes, rel=0.002)
    assert short.fetched_bytes == pytest.approx(whole.fetched_bytes, rel=0.002)


def test_what_is_added_to_c_in_each_step_grows_with_k() -> None:
    about = situation("naive_coalesced", (256, 256, 512), H200)
    place = Place(H200, about.limits, rates_of(H200, None, "float"))
    short = replace(about.problem, k=64)

    def loads(executions: int, k: int) -> float:
        cells = access("C", kind="store", executions=executions, sectors=4, ideal=4, distinct=1024)
        problem = short if k == 64 else about.problem
        seen = report(about.variant, about.parameters, problem, cells)
        return forecast(about.variant, about.parameters, about.problem, place, seen).load_bytes

    assert loads(8, 64) == loads(8, 512)
    assert loads(8 * 64, 64) == loads(8 * 512, 512)


def test_of_an_item_with_a_core_for_itself_the_loads_tell_what_it_keeps_in_registers() -> None:
    usual, small, large = (foreseen("cpu_best", 256, POCL, MR=rows) for rows in (6, 4, 12))
    assert usual.cells == pytest.approx(6 * 16, rel=0.05)  # 6 rows of two vectors
    assert small.cells == pytest.approx(4 * 16, rel=0.05)
    assert usual.seconds < small.seconds
    assert usual.seconds < large.seconds  # 24 sums are more than 16 registers
    place = Place(POCL, None, rates_of(POCL, None, "float"))
    blind = forecast(usual.variant, usual.parameters, Problem(256, 256, 256), place)
    assert blind.cells == 96
