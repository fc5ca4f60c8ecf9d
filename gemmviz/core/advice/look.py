"""The adviser's way to the access lens: answers are kept, and what it cannot follow is None."""

from __future__ import annotations

from functools import lru_cache

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse, pads
from gemmviz.core.access.report import AccessReport, Machine, Pad
from gemmviz.core.model import Parameters, Problem, Variant


@lru_cache(maxsize=512)
def look(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> AccessReport | None:
    """What the lens says of a configuration, or None where that is nothing."""
    try:
        return analyse(variant, parameters, problem, machine)
    except LensError:
        return None


@lru_cache(maxsize=64)
def look_at_pads(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> tuple[Pad, ...]:
    """What longer rows of a kernel's local arrays would give, or nothing where nobody can say."""
    try:
        return pads(variant, parameters, problem, machine)
    except LensError:
        return ()
