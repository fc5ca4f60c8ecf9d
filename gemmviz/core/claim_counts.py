"""Figures that several statements share: what the lens counts, and where answers are right."""

from __future__ import annotations

from collections.abc import Sequence

from gemmviz.core.access.report import Access, AccessReport
from gemmviz.core.claim import Judgement, Untestable
from gemmviz.core.model import Result

_SECTOR_BYTES = 32


def multiply_adds_of_cell(report: AccessReport, cells: int) -> float:
    """Multiply-adds that the source executes for each of ``cells`` cells of C."""
    return report.executed_flop / 2 / cells


def global_accesses(report: AccessReport, kind: str) -> list[Access]:
    """The "load"s or "store"s of global memory."""
    return [each for each in report.accesses if each.space == "global" and each.kind == kind]


def elements_of_group(accesses: Sequence[Access]) -> int:
    """Elements that one work-group asks for, every lane counted."""
    return sum(each.bytes_per_group // each.element_bytes for each in accesses)


def loads_of_cell(report: AccessReport) -> float:
    """Global loads for one cell, in a kernel whose work-items make one cell each."""
    return elements_of_group(global_accesses(report, "load")) / report.group_size


def stores_of_cell(report: AccessReport) -> float:
    """Global stores for one cell, in a kernel whose work-items make one cell each."""
    return elements_of_group(global_accesses(report, "store")) / report.group_size


def access_to(report: AccessReport, matrix: str) -> Access:
    """The one global access to A, B or C.

    Raises:
        Untestable: The lens found none, or several.
    """
    found = [each for each in report.accesses if each.space == "global" and each.matrix == matrix]
    if len(found) != 1:
        raise Untestable(f"The access lens found {len(found)} accesses to {matrix}, not one.")
    return found[0]


def shared_by_neighbours(access: Access, warp: int) -> bool:
    """Whether a warp touches no more sectors than it would side by side, or on one element."""
    return (access.sectors or 0) <= max(1, warp * access.element_bytes // _SECTOR_BYTES)


def local_passes(report: AccessReport) -> float:
    """Turns that the banks need in one work-group, all local accesses together."""
    return sum(
        (each.passes_mean or 0.0) * each.executions
        for each in report.accesses
        if each.space == "local"
    )


def right_at(results: Sequence[Result], cause: str) -> Judgement:
    """Judges "it computes the product" by checked results at several shapes.

    Args:
        results: Each verified or wrong.
        cause: Why it is wrong, where it is.
    """
    parts = []
    for result in results:
        problem, check = result.job.problem, result.check
        shape = f"{problem.m} x {problem.n} x {problem.k}"
        if result.verdict == "verified":
            parts.append(f"right at {shape}")
        else:
            wrong = check.cells_wrong if check is not None else 0
            of = check.cells_checked if check is not None else 0
            parts.append(f"wrong at {shape} ({wrong} of {of} cells)")
    text = ", ".join(parts)
    holds = all(result.verdict == "verified" for result in results)
    reason = "Every cell is within the error bound of its sum." if holds else cause
    return Judgement(holds, f"{text[0].upper()}{text[1:]}.", reason)
