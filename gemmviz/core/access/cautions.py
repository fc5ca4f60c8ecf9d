"""What must be said before the figures of a launch that would not be right, or not be made."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import expected_verdict
from gemmviz.core.model import ELEMENTS, Device, Parameters, Problem, Variant

_ROOMY = Device("", "", "A roomy device", "GPU", elements=tuple(ELEMENTS))
"""It has room for anything, so that only the kernel itself speaks against a launch."""


def cautions(variant: Variant, parameters: Parameters, problem: Problem) -> tuple[str, ...]:
    """Why a launch is none to copy, a sentence each; empty where nothing speaks against it.

    The first is why every device would refuse the launch, whatever its limits; the other the
    variant's own finding where it says that its answer is wrong here.
    """
    found = []
    refused = refusal(replace(variant, needs=()), parameters, problem, _ROOMY)
    if refused is not None:
        found.append(f"Would be refused: {refused}")
    try:
        if expected_verdict(variant, parameters, problem) == "wrong":
            finding = " ".join(variant.finding.split())
            found.append(f"The answer is wrong at this shape. {finding}".strip())
    except ExprError:
        pass  # a formula without a value: the refusal has said so
    return tuple(found)
