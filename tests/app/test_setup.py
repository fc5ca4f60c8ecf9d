from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.app.setup import (
    Setup,
    family_title,
    form_reason,
    verdict_badge,
)
from gemmviz.app.targets import element_options, parameter_options, preset_options
from gemmviz.core.catalog import load_catalog
from gemmviz.core.paths import data_dir
from tests.app.fake_engine import H200, POCL


@pytest.fixture(scope="module")
def catalog():
    return load_catalog(data_dir("kernels"))


@pytest.fixture
def setup(catalog):
    return Setup().with_variant(catalog.find("tiled"))


def test_a_kernel_brings_its_defaults(setup):
    assert dict(setup.parameters)["TS"] == 16
    assert setup.with_parameter("TS", 32).parameters == (("TS", 32),)


def test_a_form_waits_for_a_kernel_that_knows_it(catalog, setup):
    asked = replace(setup, transpose="tn", order="column", alpha=0.5, beta=2.0)
    assert asked.problem().is_plain
    assert "Tiled in local memory computes C = A B alone" in form_reason(asked)
    general = asked.with_variant(catalog.find("cpu_best"))
    problem = general.problem(7)
    assert (problem.transpose, problem.order, problem.alpha, problem.beta) == (
        "tn", "column", 0.5, 2.0
    )  # fmt: skip
    assert problem.seed == 7
    assert form_reason(general) == ""
    assert form_reason(Setup()) == "Choose a kernel."


def test_locked_sizes_move_together(setup):
    assert setup.with_size("m", 100).problem() == replace(setup.problem(), m=100, n=100, k=100)
    free = setup.with_square(False).with_size("n", 7)
    assert (free.m, free.n, free.k) == (512, 7, 512)
    assert free.with_square(True).n == 512


def test_a_square_kernel_locks_the_sizes(catalog, setup):
    free = setup.with_square(False).with_size("k", 64)
    locked = free.with_variant(catalog.find("tradeoffs_tiled"))
    assert locked.square
    assert locked.m == locked.n == locked.k


def test_a_parameter_that_cannot_run_says_why_with_the_numbers(setup):
    small = replace(POCL, max_work_group_size=256)
    options = parameter_options(setup, setup.variant.parameters[0], [small])
    reasons = {option.value: option.reason for option in options}
    assert reasons[16] == ""
    assert "1024" in reasons[32]
    assert "256" in reasons[32]


def test_without_a_device_everything_is_possible(setup):
    options = parameter_options(setup, setup.variant.parameters[0], [])
    assert not any(option.reason for option in options)


def test_an_element_that_the_device_lacks_says_so(setup):
    reasons = {option.value: option.reason for option in element_options(setup, [H200])}
    assert reasons["float"] == reasons["double"] == ""
    assert "half" in reasons["half"]


def test_one_device_that_can_is_enough(setup):
    with_half = replace(POCL, elements=("half", "float"))
    reasons = {option.value: option.reason for option in element_options(setup, [H200, with_half])}
    assert reasons["half"] == ""
    small = replace(POCL, max_alloc_bytes=2**20, global_mem_bytes=2**22)
    shared = {option.value: option.reason for option in preset_options(setup, [small, H200])}
    assert shared[4096] == ""
    alone = {option.value: option.reason for option in preset_options(setup, [small, small])}
    assert "Nor on" in alone[4096]


def test_a_preset_that_does_not_fit_in_memory_is_refused_with_the_numbers(setup):
    tiny = replace(POCL, max_alloc_bytes=2**20, global_mem_bytes=2**22)
    reasons = {option.value: option.reason for option in preset_options(setup, [tiny])}
    assert reasons[256] == ""
    assert "MiB" in reasons[4096]


def test_static_local_memory_on_nvidia_goes_beyond_what_the_driver_says(catalog):
    setup = Setup().with_variant(catalog.find("tiled"))
    for value in parameter_options(setup, setup.variant.parameters[0], [H200]):
        assert value.reason == ""


@pytest.mark.parametrize(
    ("kernel", "text", "meaning"),
    [
        ("tiling_tiled", "wrong", "bad"),
        ("barriers_tiled", "wrong", "bad"),
        ("mygemm_2", "right where TS divides M, N, K", "doubt"),
        ("tradeoffs_tiled", "right", "good"),
    ],
)
def test_published_kernels_carry_a_verdict(catalog, kernel, text, meaning):
    badge = verdict_badge(catalog.find(kernel))
    assert badge is not None
    assert (badge.text, badge.meaning) == (text, meaning)


def test_the_ladder_carries_none(catalog):
    assert verdict_badge(catalog.find("tiled")) is None


def test_families_have_titles():
    assert family_title("published") == "As published"
    assert family_title("mine") == "Mine"
