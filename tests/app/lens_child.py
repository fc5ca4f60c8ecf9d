"""An access lens for tests: what a kernel is called decides what becomes of its analysis."""

from __future__ import annotations

import os
import time

from gemmviz.app.access_child import serve
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import AccessReport, Machine, Pad, Touches
from gemmviz.core.model import Parameters, Problem, Variant

BUSY_SECONDS = 1.0


def analyse(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> AccessReport:
    """A report whose ``groups`` is M, once it is done."""
    print("a parser that prints does no harm")
    if "broken" in variant.id:
        raise LensError("Line 3 cannot be parsed.", 3)
    if "faulty" in variant.id:
        raise KeyError("nobody thought of this")
    if "fatal" in variant.id:
        os._exit(7)
    if "endless" in variant.id:
        time.sleep(3600)
    if "busy" in variant.id:
        end = time.perf_counter() + BUSY_SECONDS
        while time.perf_counter() < end:
            pass
    return AccessReport((), (), machine, 256, problem.m, 1, 1, 1, 1, 1, None, None)


def trace(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> tuple[Touches, ...]:
    """Nothing is touched."""
    return ()


def pads(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> tuple[Pad, ...]:
    """One pad, or none of a broken kernel."""
    if "broken" in variant.id:
        raise LensError("Line 3 cannot be parsed.", 3)
    return (Pad(0, (), 1, os.getpid()),)


if __name__ == "__main__":
    serve(lambda: {"report": analyse, "picture": trace, "pads": pads})
