"""Sweeps that nobody measured, for tests of what is made of one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from gemmviz.core.catalog import load_catalog
from gemmviz.core.model import Device, Problem, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import QUICK
from gemmviz.core.sweep import Axis, Configuration, Sweep, SweepCell, SweepReport, Winner
from gemmviz.core.sweep_cells import planned_cell
from gemmviz.core.sweep_plan import plan

HERE = Device(
    platform="Portable Computing Language", platform_version="OpenCL 2.0 pocl 3.0-rc2",
    name="pthread-cpu", type="CPU", compute_units=2, local_mem_bytes=2**14,
    global_mem_bytes=2**33, max_work_group_size=512, max_work_item_sizes=(4096, 4096, 4096),
    elements=("float", "double"), hardware="host processor",
)  # fmt: skip
EDGE = 256
BLOCKS: tuple[Axis, ...] = (
    ("BM", (32, 64, 128)), ("BN", (32, 64, 128)), ("BK", (8, 16, 32)), ("TM", (4, 8)),
    ("TN", (4,)), ("PAD", (0, 4)),
)  # fmt: skip


@cache
def kernel(name: str) -> Variant:
    """A kernel of the catalogue by its id."""
    return next(each for each in load_catalog(data_dir("kernels")).variants if each.id == name)


def make_sweep(
    names: tuple[str, ...] = ("register_2d",),
    sizes: tuple[int, ...] = (EDGE,),
    devices: tuple[Device, ...] = (HERE,),
    axes: tuple[Axis, ...] = BLOCKS,
) -> Sweep:
    """A sweep over kernels, all parameters of ``register_2d`` that ``axes`` name and M = N = K."""
    problems = tuple(Problem(size, size, size) for size in sizes)
    chosen = (("register_2d", axes),) if "register_2d" in names else ()
    return Sweep(tuple(map(kernel, names)), chosen, problems, devices, QUICK)


def seconds_of(configuration: Configuration) -> float:
    """A time that has one best: middling tiles, and no kernel best at all sizes."""
    values, edge = dict(configuration.parameters), configuration.problem.m
    penalty = abs(values.get("BM", values.get("TS", 64)) - 64) / 64
    penalty += abs(values.get("BN", 64) - 64) / 96 + abs(values.get("BK", 16) - 16) / 64
    penalty += 0.1 * (values.get("TM", 8) != 8) + 0.03 * bool(values.get("PAD", 0))
    rate = 2e10 / (1 + penalty)
    if configuration.variant == "register_2d":
        rate *= 2 * edge / (edge + 200)  # slow to start with
    return 2.0 * edge**3 / rate


def measured(cell: SweepCell, seconds: float) -> SweepCell:
    """A cell with so many seconds, known to one percent."""
    return replace(
        cell, state="measured", seconds=seconds, low=0.99 * seconds, high=1.01 * seconds,
        samples=20, registers=40,
    )  # fmt: skip


def make_report(sweep: Sweep | None = None, done: float = 1.0) -> SweepReport:
    """What came of a sweep so far: its first cells measured, some dropped, failed and wrong."""
    sweep = sweep or make_sweep()
    variants = {variant.id: variant for variant in sweep.variants}
    planned = plan(sweep)
    cells = []
    for number, each in enumerate(planned.configurations):
        cell = planned_cell(each, variants[each.variant], sweep.devices[each.device])
        if number >= done * len(planned.configurations):
            cells.append(cell)
        elif number % 23 == 11:
            why = "The driver ended with CL_OUT_OF_RESOURCES (-5)."
            cells.append(replace(cell, state="failed", why_not=why))
        elif number % 23 == 17:
            why = "Wrong: 12 of 65,536 cells are beyond their bound."
            cells.append(replace(cell, state="wrong", seconds=seconds_of(each), why_not=why))
        else:
            cells.append(measured(cell, seconds_of(each) * (1 + 0.002 * (number % 7))))
    winners = []
    for place, problem in ((d, p) for d in range(len(sweep.devices)) for p in sweep.problems):
        ours = [
            cell
            for cell in cells
            if cell.state == "measured"
            and (cell.configuration.device, cell.configuration.problem) == (place, problem)
        ]
        ours.sort(key=lambda cell: cell.seconds or 0.0)
        if not ours:
            continue
        fastest = ours[0].seconds or 0.0
        best = [cell for cell in ours if (cell.low or 0.0) <= 1.01 * fastest]
        limit = best[-1].seconds or 0.0
        for cell in ours:
            if (cell.seconds or 0.0) > 1.5 * limit:
                why = "Its interval is above that of the best."
                cells[cells.index(cell)] = replace(cell, state="dropped", samples=3, why_not=why)
        first = best[0].configuration
        names = ", ".join(f"{name} {value}" for name, value in first.parameters)
        for cell in best:
            cells[cells.index(cell)] = replace(cell, best=True, final=True)
        words = (
            f"At {problem.m} {len(best)} configurations cannot be told apart from the best; take "
            f"{names}."
        )
        winners.append(
            Winner(problem, place, tuple(c.configuration for c in best), first, 0.97, words)
        )
    return SweepReport(tuple(cells), tuple(winners), len(planned.refused), 12.5)
