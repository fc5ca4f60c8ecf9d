"""The access lens: what a kernel's source reads and writes, warp by warp.

It parses the source that is built, evaluates a few work-groups of the launch in lock-step and
derives from their addresses what each access costs. All functions are pure: they may be called from
any thread, and everything they take and return can be pickled. A result is that of the source; a
compiler may merge or drop accesses.
"""

from __future__ import annotations

import math

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lanes import Group, all_groups, group_of, inner_groups, sample
from gemmviz.core.access.report import AccessReport, Machine, Pad, Touches
from gemmviz.core.access.running import launched, run
from gemmviz.core.access.summary import AccessTable, local_total, summarise
from gemmviz.core.launch import geometry
from gemmviz.core.model import Parameters, Problem, Variant

_MOST_PAD = 8
_MOST_STEPS = 2**16
_MOST_ITEMS = 2**16


def analyse(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> AccessReport:
    """Every access of a kernel and what they come to in one launch.

    A few work-groups from inside the launch and those at its ends are evaluated; each stands for
    the others of its kind. Where the inner ones are not alike, all are evaluated if that is not too
    much. The shape need not fit any device.

    Raises:
        LensError: Nothing can be said: the source does not parse, or its metadata does not fit.
    """
    table, chosen = _examine(variant, parameters, problem)
    return summarise(table, tuple(chosen.values()), variant, problem, machine)


def _examine(
    variant: Variant, parameters: Parameters, problem: Problem
) -> tuple[AccessTable, dict[Group, int]]:
    """The accesses of the groups that stand for the launch, and how many each stands for."""
    launch = launched(variant, parameters, problem)
    chosen = sample(launch.groups)
    table = AccessTable(run(variant, parameters, problem, tuple(chosen)))
    groups = list(chosen)
    inner = tuple(groups.index(group) for group in ((0, 0, 0), *inner_groups(launch.groups)))
    count = math.prod(launch.groups)
    few = launch.items * count <= _MOST_ITEMS
    if few and len(groups) < count and not table.alike(inner):
        chosen = all_groups(launch.groups)
        table = AccessTable(run(variant, parameters, problem, tuple(chosen)))
    return table, chosen


def trace(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    machine: Machine,  # noqa: ARG001 (elements are the same on every machine)
    group: tuple[int, ...] = (0, 0),
) -> tuple[Touches, ...]:
    """Which elements each access touches in one work-group, turn by turn.

    An access that this group never makes has no steps; of very long ones the first 65536 are kept.

    Args:
        variant: The kernel.
        parameters: Its macros.
        problem: The shape and element type.
        machine: As for :func:`analyse`.
        group: The group's place, dimension 0 first.

    Raises:
        LensError: As :func:`analyse`.
    """
    wanted = group_of(group)
    table, chosen = _examine(variant, parameters, problem)
    named = [entry.name for entry in table.entries]
    if wanted not in chosen:
        table = AccessTable(run(variant, parameters, problem, (*chosen, wanted)))
    entries = {entry.name: entry for entry in table.entries}
    place = (*chosen, wanted).index(wanted)
    return tuple(
        Touches(number, *table.elements(entries[name], place, _MOST_STEPS))
        for number, name in enumerate(named)
    )


def pads(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> tuple[Pad, ...]:
    """What row lengths of the local arrays give: pads of 0 to 8 elements.

    Parameters with PAD in their name are varied where the kernel has any, but for values that its
    source refuses; else the inner dimension of all local arrays with two or more. Empty where
    neither is there: what a one-dimensional array's rows are, only its index knows.

    Raises:
        LensError: As :func:`analyse`.
    """
    names = [name for name, _ in parameters if "PAD" in name]
    found = []
    refused = None
    for pad in range(_MOST_PAD + 1):
        chosen = tuple((name, pad if name in names else value) for name, value in parameters)
        try:
            done = run(variant, chosen, problem, ((0, 0, 0),), 0 if names else pad)
        except LensError as error:
            refused = error
            continue
        if not names and not done.state.padded_arrays:
            return ()
        table = AccessTable(done)
        passes, total = local_total(table, machine)
        whole = geometry(variant, chosen, problem).local_bytes if names else table.local_bytes()
        found.append(Pad(pad, passes, total, whole))
    if not found and refused is not None:
        raise refused
    return tuple(found) if found and found[0].passes else ()
