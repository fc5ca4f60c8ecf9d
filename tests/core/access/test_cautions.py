"""What is said before the figures of a launch that would be wrong or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.access.cautions import cautions
from gemmviz.core.launch import default_parameters
from gemmviz.core.model import Problem
from tests.core.access.own import CATALOG


def said(kernel: str, *shape: int, element: str = "float") -> tuple[str, ...]:
    variant = CATALOG.find(kernel)
    return cautions(variant, default_parameters(variant), Problem(*shape, element))


@pytest.mark.parametrize("kernel", ["tiled", "naive_strided", "mygemm_2", "gpu_best", "cpu_best"])
def test_a_right_kernel_needs_no_word(kernel: str) -> None:
    """Nor does one that wants a device of its own: the lens needs none."""
    assert said(kernel, 512, 512, 512) == ()


def test_a_published_fault_is_said_with_its_finding() -> None:
    (one,) = said("barriers_tiled", 64, 64, 64)
    assert one.startswith("The answer is wrong at this shape. Wrong unless M, N and K all fit")
    assert "\n" not in one
    assert said("barriers_tiled", 16, 16, 16) == ()


def test_a_shape_that_would_be_refused() -> None:
    refused, wrong = said("mygemm_2", 100, 96, 100)
    assert refused.startswith("Would be refused: ")
    assert "M a multiple of 16" in refused
    assert wrong.startswith("The answer is wrong")
    assert len(said("mygemm_2", 96, 96, 100)) == 1
    (square,) = said("tradeoffs_tiled", 100, 60, 70)
    assert "M = N = K" in square


def test_a_formula_without_a_value_is_a_refusal() -> None:
    variant = replace(CATALOG.find("tiled"), right_when="M / (K - 8) == 1", local_bytes="0 - M")
    found = cautions(variant, default_parameters(variant), Problem(8, 8, 8))
    assert len(found) == 1
    assert "no launch" in found[0]
