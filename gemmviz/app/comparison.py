"""The driver's own figures of a built kernel against those of its metadata."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gemmviz.app.runs import Run
from gemmviz.app.setup import Setup
from gemmviz.core.expr import ExprError
from gemmviz.core.launch import geometry, kernel_view
from gemmviz.core.model import Device
from gemmviz.core.units import memory


@dataclass(frozen=True, slots=True)
class DriverFigure:
    """One figure: by the formula ("–" where there is none) and by the driver, and what it means."""

    name: str
    formula: str
    driver: str
    differs: bool = False
    remark: str = ""


def built_as(runs: Iterable[Run], setup: Setup, device: Device | None) -> Run | None:
    """The first of ``runs`` that was built of exactly what ``setup`` would build on ``device``.

    Its sizes may differ as long as they change neither the group nor its local memory.
    """
    return next((run for run in runs if run.facts is not None and _same_build(run, setup, device)),
                None)  # fmt: skip


def _same_build(run: Run, setup: Setup, device: Device | None) -> bool:
    job = run.job
    chosen = (setup.variant, setup.parameters, setup.element, setup.build_options)
    built = (job.variant, job.parameters, job.problem.element, job.build_options)
    if setup.variant is None or device is None or device.key != run.device.key or built != chosen:
        return False
    views = (kernel_view(job.variant, problem) for problem in (job.problem, setup.problem()))
    if len({view.transpose for view in views}) > 1:  # macros of the source
        return False
    try:
        now = geometry(setup.variant, setup.parameters, setup.problem())
        then = geometry(job.variant, job.parameters, job.problem)
    except (ExprError, ValueError):
        return False
    return (now.local, now.local_bytes) == (then.local, then.local_bytes)


def driver_figures(run: Run) -> tuple[DriverFigure, ...]:
    """The figures of a run that was built; empty before."""
    facts = run.facts
    if facts is None:
        return ()
    shape = geometry(run.job.variant, run.job.parameters, run.job.problem)
    group = facts.max_group_size
    local = facts.local_bytes
    differs = local is not None and local != shape.local_bytes
    return (
        DriverFigure(
            "Local memory",
            f"{shape.local_bytes} B" if differs else memory(shape.local_bytes),
            f"{local} B" if differs else _bytes(local),
            differs,
            "Drivers may pad local memory, add their own words, or leave __local arguments out.",
        ),
        DriverFigure(
            "Group",
            " × ".join(map(str, shape.local)),
            _group(facts.compiled_group),
            any(facts.compiled_group or ()) and not _same(shape.local, facts.compiled_group or ()),
            "The source was compiled for another group (reqd_work_group_size).",
        ),
        DriverFigure(
            "Largest group",
            str(shape.group_size),
            "–" if group is None else str(group),
            group is not None and group < shape.group_size,
            "The driver's largest group for this kernel is below the one that runs: it is a hint, "
            "and NVIDIA's always says 256.",
        ),
        DriverFigure(
            "Preferred multiple",
            "–",
            "–" if facts.preferred_multiple is None else str(facts.preferred_multiple),
            remark="A hint of the driver for the size of a group.",
        ),
        DriverFigure(
            "Private memory",
            "–",
            _bytes(facts.private_bytes),
            remark="Private bytes of a work-item; 0 does not mean that no register was spilled.",
        ),
    )


def _group(compiled: tuple[int, ...] | None) -> str:
    """A compiled group size; "–" where the source leaves it open."""
    return " × ".join(map(str, _trimmed(compiled))) if compiled and any(compiled) else "–"


def _same(launched: tuple[int, ...], compiled: tuple[int, ...]) -> bool:
    return _trimmed(launched) == _trimmed(compiled)


def _trimmed(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Without the dimensions of size 1 behind the first, which drivers add."""
    used = next((place for place in range(len(sizes), 1, -1) if sizes[place - 1] != 1), 1)
    return sizes[:used]


def _bytes(count: int | None) -> str:
    return "–" if count is None else memory(count)
