"""Why a count is not the estimate, and the kernels that count."""

from dataclasses import replace

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.counting import counting_problem, counting_variant
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import default_parameters, geometry
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Device, Problem
from gemmviz.core.occupancy import estimate, estimate_on
from gemmviz.core.paths import data_dir
from gemmviz.core.probe import COUNTERS, Probe, probe_source
from gemmviz.core.residency import Residency, describe_residency, explain_difference

CC90 = named_limits("9.0")
COUNT = Residency(6, 5, 132, 256, 2048, driver_bytes=2052, registers=36, each_unit=True)


def explained(counted: Residency, registers: int | None = 36, local_bytes: int = 2048) -> str:
    def foresee(size: int, of_registers: int | None):
        return estimate(CC90, counted.group_size, size, of_registers)

    return explain_difference(counted, foresee(local_bytes, registers), foresee, registers)


def test_equal_needs_no_words():
    assert explained(COUNT) == ""


def test_bytes_that_the_driver_adds_are_named():
    """37888 B still let 6 groups in on CC 9.0, 4 B more do not."""
    counted = replace(COUNT, groups_per_unit=5, local_bytes=37888, driver_bytes=37892)
    words = explained(counted, local_bytes=37888)
    assert "37892 B" in words
    assert "37888 B" in words
    assert "5 as well" in words


def test_a_probe_with_other_registers_is_named():
    words = explained(replace(COUNT, groups_per_unit=8, registers=20))
    assert "20 registers" in words
    assert "36" in words


def test_what_the_model_does_not_know_is_said():
    assert "another program" in explained(replace(COUNT, groups_per_unit=3))
    assert "more than the tables allow" in explained(replace(COUNT, groups_per_unit=9))
    unknown = replace(COUNT, groups_per_unit=3, registers=None, instrumented=True)
    assert "does not tell how many registers" in explained(unknown, registers=None)


def test_a_cpu_and_a_budget_are_no_estimates():
    cpu = Device("PoCL", "OpenCL 3.0", "CPU", "CPU", local_mem_bytes=2**20)
    found = estimate_on(cpu, None, 256, 2048)
    words = explain_difference(replace(COUNT, groups_per_unit=1), found, lambda *_: found, None)
    assert words.startswith("The estimate does not apply to a CPU: one group at a time")
    mali = Device("Mali", "OpenCL 3.0", "GPU", "GPU", local_mem_bytes=32768)
    budget = estimate_on(mali, None, 256, 2048)
    words = explain_difference(COUNT, budget, lambda *_: budget, None)
    assert "would allow 16" in words


def test_a_count_in_words():
    assert describe_residency(COUNT) == (
        "A probe of the same size had 6 groups of 256 work-items and 2 KiB under way at once on "
        "one compute unit, counted 5 times."
    )
    shared = describe_residency(replace(COUNT, each_unit=False, most_at_once=729))
    assert "average" not in shared  # of 132 units 729 groups make 5.5
    assert "each compute unit (the whole device's, shared out and rounded up), counted" in shared


@pytest.mark.parametrize("cpu", [True, False])
def test_a_probe_always_ends(cpu):
    source = probe_source(Probe((16, 16), 2048, 3), cpu=cpu, nvidia=not cpu)
    assert "reqd_work_group_size(16, 16, 1)" in source
    assert "gemmviz_dummy[2048]" in source
    assert source.count("const uint live") == 3
    assert "while" not in source  # each wait is a loop with an end
    assert ("%%smid" in source) is not cpu


# One for CPUs has as many groups as it has cores, whatever the problem.
VARIANTS = [
    each
    for each in load_catalog(data_dir("kernels")).variants
    if not each.library and "cpu" not in each.needs
]
COUNTING = [each for each in VARIANTS if counting_variant(each, nvidia=True) is not None]


@pytest.mark.parametrize("variant", COUNTING, ids=lambda variant: variant.id)
def test_a_counting_problem_has_groups_enough_and_is_allowed(variant):
    parameters = default_parameters(variant)
    device = Device("P", "OpenCL 3.0", "D", "GPU", vendor="NVIDIA", max_work_group_size=1024,
                    max_work_item_sizes=(1024,) * 3, elements=("half", "float", "double"),
                    compute_capability="9.0")  # fmt: skip
    element = "float" if "float" in variant.elements else variant.elements[0]
    for groups in (1, 100, 3168):
        problem = counting_problem(variant, parameters, element, groups)
        assert geometry(variant, parameters, problem).groups >= groups
        assert refusal(variant, parameters, problem, device) is None
        assert problem.k >= 2048
        assert counting_problem(variant, parameters, element, groups, cpu=True).k >= 256


def test_a_counting_variant_has_one_argument_more():
    variant = next(each for each in VARIANTS if each.id == "tiled")
    counting = counting_variant(variant, nvidia=False)
    assert counting is not None
    assert counting.arguments[:-1] == variant.arguments
    assert counting.arguments[-1].text == COUNTERS
    assert geometry(counting, default_parameters(variant), Problem(64, 64, 64)).groups == 16
