"""Step curves against the model that they are made of, and the steps that they name."""

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Device, Problem
from gemmviz.core.occupancy import estimate
from gemmviz.core.paths import data_dir
from gemmviz.core.steps import REFUSED, step_curves

CATALOG = load_catalog(data_dir("kernels"))
PROBLEM = Problem(512, 512, 512)
ROWS = ("7.5", "9.0", "gfx942", "gfx1030", "DG2", "12.0")


def curves_of(kernel: str, on: str | None, registers: int | None = 36, **options):
    variant = CATALOG.find(kernel)
    chosen = options.pop("parameters", {})
    parameters = tuple(
        (each.name, chosen.get(each.name, each.default)) for each in variant.parameters
    )
    row = None if on is None else named_limits(on)
    curves = step_curves(variant, parameters, PROBLEM, row, registers=registers, **options)
    return {curve.name: curve for curve in curves}


@pytest.mark.parametrize("on", ROWS)
def test_every_step_of_memory_is_what_the_estimate_says(on):
    row = named_limits(on)
    curve = curves_of("tiled", on)["Local memory of a group"]
    assert curve.present == 2048
    assert curve.steps[0].low == 0
    assert curve.steps[-1].high == row.per_group_bytes
    for before, after in zip(curve.steps, curve.steps[1:], strict=False):
        assert after.low == before.high + 1
        assert after.groups < before.groups
    for step in curve.steps:
        for bytes_taken in (step.low, (step.low + step.high) // 2, step.high):
            found = estimate(row, 256, bytes_taken, 36)
            assert found.groups_per_unit == step.groups
            assert found.occupancy == step.occupancy
            assert step.limiters[0] in found.limiters


@pytest.mark.parametrize("on", ROWS)
@pytest.mark.parametrize("name", ["Work-items of a group", "Registers of a work-item"])
def test_every_step_of_size_and_registers_is_what_the_estimate_says(on, name):
    row = named_limits(on)
    curve = curves_of("tiled", on).get(name)
    if curve is None:
        assert row.partition_registers == 0
        return
    for step in curve.steps:
        for value in {step.low, (step.low + step.high) // 2, step.high}:
            size, registers = (value, 36) if "items" in name.split()[0] else (256, value)
            found = estimate(row, size, 2048, registers)
            assert found.groups_per_unit == step.groups
            assert set(found.limiters) == set(step.limiters)


def test_the_known_tiles_of_cc_9():
    """36 registers: 24 groups of 8 x 8 by registers, 6 of 16 x 16, 1 of 32 x 32."""
    curve = curves_of("tiled", "9.0")["TS"]
    held = {step.low: (step.groups, step.occupancy) for step in curve.steps}
    assert held == {4: (32, 0.5), 8: (24, 0.75), 16: (6, 0.75), 32: (1, 0.5)}
    assert curve.present == 16
    assert curve.next_step == "No other value gives more than 75 % (6 groups)."
    far = curves_of("tiled", "9.0", parameters={"TS": 32})["TS"]
    assert far.next_step == "Next step: TS = 16 gives 75 % (6 groups)."


def test_the_next_steps_are_named():
    curves = curves_of("tiled", "9.0")
    registers = curves["Registers of a work-item"]
    assert registers.next_step == (
        "Next step: 8 groups with at most 32 registers a work-item; up to 40 cost nothing."
    )
    assert registers.here is not None
    assert registers.here.limiters == ("registers",)
    assert curves["Local memory of a group"].next_step == (
        "Up to 37 KiB of local memory a group cost nothing, and less gains nothing."
    )


def test_unknown_registers_have_a_curve_without_a_present_point():
    curve = curves_of("tiled", "9.0", registers=None)["Registers of a work-item"]
    assert curve.present is None
    assert curve.here is None
    assert "not known" in curve.next_step


def test_a_value_that_the_kernel_refuses_holds_nothing():
    """32 x 32 work-items are above the 512 of Xe-LP."""
    curve = curves_of("tiled", "gen12")["TS"]
    assert curve.steps[-1].limiters == (REFUSED,)
    assert curve.steps[-1].groups == 0


def test_a_budget_alone_counts_groups():
    device = Device("Mali", "OpenCL 3.0", "Mali", "GPU", local_mem_bytes=32768,
                    max_work_group_size=512)  # fmt: skip
    curves = curves_of("tiled", None, device=device)
    assert set(curves) == {"TS", "Local memory of a group"}
    memory = curves["Local memory of a group"]
    assert memory.here is not None
    assert (memory.here.groups, memory.here.occupancy) == (16, None)
    assert memory.steps[-1].high == 32768


def test_a_library_has_no_curves():
    assert curves_of("cublas", "9.0") == {}


@pytest.mark.parametrize("kind", ["CPU", "simulator"])
def test_a_cpu_has_no_curves(kind):
    device = Device("PoCL", "OpenCL 3.0", "CPU", kind, local_mem_bytes=2**20)
    assert curves_of("tiled", None, device=device) == {}
