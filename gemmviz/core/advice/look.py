"""The adviser's way to the access lens: answers are kept, and what it cannot follow is None."""

from __future__ import annotations

from functools import lru_cache

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse
from gemmviz.core.access.report import AccessReport, Machine
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
