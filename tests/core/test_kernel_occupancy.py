"""The occupancy of a kernel by its own launch, and by what a driver gives it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.expr import ExprError
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.launch import merge_parameters
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Argument, Device, Problem
from gemmviz.core.occupancy import estimate
from gemmviz.core.paths import data_dir

TILED = load_catalog(data_dir("kernels")).find("tiled")
CHOSEN = merge_parameters(TILED, {"TS": 16})
PROBLEM = Problem(512, 512, 512)
H200 = Device("NVIDIA CUDA", "OpenCL 3.0", "H200", "GPU", local_mem_bytes=48 * 1024)
LIMITS = named_limits("9.0")


def test_it_is_the_estimate_of_its_launch() -> None:
    found = estimate_for(TILED, CHOSEN, PROBLEM, H200, LIMITS, registers=36)
    assert found == estimate(LIMITS, 256, 2048, 36)
    assert estimate_for(TILED, CHOSEN, PROBLEM, H200, LIMITS).registers is None


def test_other_local_memory_can_be_asked_for() -> None:
    found = estimate_for(TILED, CHOSEN, PROBLEM, H200, LIMITS, local_bytes=100 * 1024)
    assert (found.local_bytes, found.groups_per_unit) == (100 * 1024, 2)


def test_a_launch_gets_no_more_than_the_driver_gives() -> None:
    argument = Argument("local", "2048")
    dynamic = replace(TILED, arguments=(*TILED.arguments, argument))
    found = estimate_for(dynamic, CHOSEN, PROBLEM, H200, LIMITS)
    assert (found.per_group_bytes, found.per_group_source) == (48 * 1024, "queried")
    static = estimate_for(TILED, CHOSEN, PROBLEM, H200, LIMITS)
    assert static.per_group_source == "vendor table"


def test_without_a_launch_there_is_no_estimate() -> None:
    with pytest.raises(ExprError):
        estimate_for(replace(TILED, group=("TS - 16", "1")), CHOSEN, PROBLEM, H200, LIMITS)
