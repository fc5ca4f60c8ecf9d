"""Occupancy as one thing varies: a tile parameter, the group's size, local memory, registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import parameter_refusal
from gemmviz.core.launch import geometry
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Parameter, Parameters, Problem, Variant
from gemmviz.core.occupancy import Limiter, largest_local, limiters
from gemmviz.core.units import memory, percent

Kind = Literal["parameter", "group size", "local memory", "registers"]

REFUSED = "the kernel's own rules"
"""Stands for a limiter where a value is refused by the kernel itself or by the driver's limits."""

# The one that a colour names, where several allow the same: what a person can change comes first.
_ORDER = ("registers", "local memory", "barriers", "groups", "slots", REFUSED)
# AMD's rows say how many a SIMD has; one wave never addresses more than this.
_MOST_AMD_REGISTERS = 512
_MOST_BUDGET_GROUPS = 16  # beyond it a budget says nothing: no unit is known to hold so many


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch over which nothing changes, both ends included.

    ``occupancy`` is the share of the unit's slots, or None where the slots are not known;
    ``limiters`` are all that allow no more groups, the first of which gives the colour.
    """

    low: int
    high: int
    groups: int
    occupancy: float | None
    limiters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepCurve:
    """How many groups a unit holds while one thing varies and all others stay.

    Attributes:
        name: What varies: the parameter's name, or words.
        kind: Which sort of thing that is.
        unit: "B" or "".
        steps: By rising value.
        present: The value now; None where it is unknown.
        next_step: What would give more, and what more of it would cost nothing, as a sentence.
    """

    name: str
    kind: Kind
    unit: str
    steps: tuple[Step, ...]
    present: int | None
    next_step: str

    @property
    def here(self) -> Step | None:
        """The step that holds the present value."""
        return None if self.present is None else self.at(self.present)

    def at(self, value: float) -> Step | None:
        """The step that holds ``value``; None between values and beyond the ends."""
        return next((step for step in self.steps if step.low <= value <= step.high), None)


def step_curves(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    limits: Limits | None,
    *,
    device: Device | None = None,
    registers: int | None = None,
    local_limit: int | None = None,
) -> tuple[StepCurve, ...]:
    """The curves of a kernel, those of its parameters first.

    With a row of the tables each counts the groups that it allows; registers stay what they are
    while something else varies, and are no limit where unknown. Without one the local-memory budget
    of the device alone is divided. There are none for a CPU, a simulator or a library, nor without
    either.

    Args:
        variant: The kernel.
        parameters: Its macros now.
        problem: Shape and element type.
        limits: The row, or None.
        device: Where it would run, if there is a device.
        registers: Registers of a work-item, or None if unknown.
        local_limit: Most bytes of local memory that a launch gets; None takes the row's, or the
            device's.

    Raises:
        ExprError: A formula of the kernel has no value.
    """
    if variant.library or (device is not None and device.type in {"CPU", "simulator"}):
        return ()
    if limits is None and (device is None or not device.local_mem_bytes):
        return ()
    if limits is None:
        assert device is not None
        unit = _Unit(None, local_limit or device.local_mem_bytes or 0)
    else:
        most = limits.per_group_bytes
        most = most if local_limit is None else min(local_limit, most)
        unit = _Unit(replace(limits, per_group_bytes=most), most)
    place = device if device is not None else _nominal(limits)
    shape = geometry(variant, parameters, problem)
    curves = [
        curve
        for parameter in variant.parameters
        if (curve := _of_parameter(
            _Case(variant, parameters, problem, place, limits), parameter, unit, registers
        ))
    ]  # fmt: skip
    size, local_bytes = shape.group_size, shape.local_bytes
    if unit.row is not None:
        curves.append(_of_group_size(unit.row, unit, size, local_bytes, registers))
    curves.append(_of_local_memory(unit, size, local_bytes, registers))
    if unit.row is not None and unit.row.partition_registers:
        curves.append(_of_registers(unit.row, unit, size, local_bytes, registers))
    return tuple(curves)


@dataclass(frozen=True, slots=True)
class _Case:
    """A kernel at its present parameters, and where it would run."""

    variant: Variant
    parameters: Parameters
    problem: Problem
    place: Device
    limits: Limits | None


@dataclass(frozen=True, slots=True)
class _Unit:
    """A compute unit: a row of the tables, or a budget of local memory alone."""

    row: Limits | None
    budget: int

    def step(
        self, ends: tuple[int, int], size: int, local_bytes: int, registers: int | None
    ) -> Step:
        """What it holds of groups of one kind, as a step from ``ends[0]`` to ``ends[1]``."""
        if self.row is None:
            groups = self.budget // local_bytes if local_bytes else _MOST_BUDGET_GROUPS
            return Step(*ends, min(groups, _MOST_BUDGET_GROUPS), None, ("local memory",))
        return self.of(ends, size, limiters(self.row, size, local_bytes, registers))

    def of(self, ends: tuple[int, int], size: int, allowed: Iterable[Limiter]) -> Step:
        """The step that limits of a row amount to."""
        assert self.row is not None
        allowed = list(allowed)
        groups = min(limiter.groups for limiter in allowed)
        names = [limiter.name for limiter in allowed if limiter.groups == groups]
        share = groups * -(-size // self.row.lane_width) / self.row.slots
        return Step(*ends, groups, share, tuple(sorted(names, key=_ORDER.index)))


def _nominal(limits: Limits | None) -> Device:
    """A device of a row, for rules that ask for one."""
    assert limits is not None
    capability = limits.code if limits.vendor == "NVIDIA" else None
    return Device(
        "", "", limits.name, "GPU", vendor=limits.vendor, local_mem_bytes=limits.per_group_bytes,
        max_work_group_size=limits.max_group_size, compute_capability=capability,
    )  # fmt: skip


def _of_parameter(
    case: _Case, parameter: Parameter, unit: _Unit, registers: int | None
) -> StepCurve | None:
    """The curve of one macro, a point a value; None where it has one value or changes nothing."""
    now = dict(case.parameters).get(parameter.name)
    steps = []
    for value in sorted(parameter.values):
        chosen = tuple(
            (name, value if name == parameter.name else old) for name, old in case.parameters
        )
        try:
            refused = parameter_refusal(case.variant, chosen, case.problem, case.place, case.limits)
            shape = geometry(case.variant, chosen, case.problem)
        except ExprError:
            continue
        if refused is not None:
            nothing = None if unit.row is None else 0.0
            steps.append(Step(value, value, 0, nothing, (REFUSED,)))
            continue
        steps.append(unit.step((value, value), shape.group_size, shape.local_bytes, registers))
    if len({(step.groups, step.occupancy) for step in steps}) < 2:
        return None
    text = _next_value(f"{parameter.name} = {{}}", steps, now)
    return StepCurve(parameter.name, "parameter", "", tuple(steps), now, text)


def _of_group_size(
    row: Limits, unit: _Unit, size: int, local_bytes: int, registers: int | None
) -> StepCurve:
    lanes = row.lane_width
    steps = [
        unit.step((high - lanes + 1, high), high, local_bytes, registers)
        for high in range(lanes, row.max_group_size + 1, lanes)
    ]
    text = _next_value("{} work-items", steps, size)
    return StepCurve("Work-items of a group", "group size", "", _merged(steps), size, text)


def _of_local_memory(unit: _Unit, size: int, local_bytes: int, registers: int | None) -> StepCurve:
    """Exactly where the number of groups changes, so that no size has to be tried."""
    if unit.row is None:
        others, most = [Limiter("slots", _MOST_BUDGET_GROUPS, 1, 1, "", 0)], _MOST_BUDGET_GROUPS
    else:
        allowed = limiters(unit.row, size, 0, registers)
        others = [limiter for limiter in allowed if limiter.name != "local memory"]
        most = min(limiter.groups for limiter in others)
    steps: list[Step] = []
    low = 0
    for groups in range(most, 0, -1):
        row = unit.row
        share = unit.budget // groups if row is None else row.pool_bytes // groups
        high = share if row is None else largest_local(row, share)
        if high < low:
            continue
        local = Limiter("local memory", groups, 1, 1, "B", 0)
        if row is None:
            steps.append(Step(low, high, groups, None, ("local memory",)))
        else:
            # At its upper end a step is the last that local memory allows.
            below = [limiter for limiter in others if limiter.groups == groups]
            steps.append(unit.of((low, high), size, below or [local]))
        low = high + 1
    text = _next_amount(steps, local_bytes, memory, "of local memory a group")
    return StepCurve(
        "Local memory of a group", "local memory", "B", tuple(steps), local_bytes, text
    )


def _of_registers(
    row: Limits, unit: _Unit, size: int, local_bytes: int, registers: int | None
) -> StepCurve:
    granule = max(1, row.register_granule // row.register_lanes)
    most = row.max_registers or min(row.partition_registers, _MOST_AMD_REGISTERS)
    steps = [
        unit.step((low, min(low + granule - 1, most)), size, local_bytes, low)
        for low in range(1, most + 1, granule)
    ]
    merged = _merged(steps)
    text = _next_amount(merged, registers, str, "registers a work-item")
    return StepCurve("Registers of a work-item", "registers", "", merged, registers, text)


def _merged(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Neighbours that hold the same become one."""
    found: list[Step] = []
    for step in steps:
        last = found[-1] if found else None
        if last is not None and (last.groups, last.limiters, last.occupancy) == (
            step.groups, step.limiters, step.occupancy,
        ):  # fmt: skip
            found[-1] = Step(last.low, step.high, step.groups, step.occupancy, step.limiters)
        else:
            found.append(step)
    return tuple(found)


def describe_step(step: Step) -> str:
    """What a unit holds on a step: "75 % (6 groups)"."""
    groups = f"{step.groups} group{'s' * (step.groups != 1)}"
    return groups if step.occupancy is None else f"{percent(step.occupancy)} ({groups})"


def _worth(step: Step) -> float:
    return step.groups if step.occupancy is None else step.occupancy


def _next_value(form: str, steps: Sequence[Step], now: int | None) -> str:
    """The nearest value that fills the unit better."""
    here = next((step for step in steps if now is not None and step.low <= now <= step.high), None)
    if here is None or now is None:
        return ""
    better = [step for step in steps if _worth(step) > _worth(here)]
    if not better:
        return f"No other value gives more than {describe_step(here)}."
    nearest = min(better, key=lambda step: abs(step.high - now))
    return f"Next step: {form.format(nearest.high)} gives {describe_step(nearest)}."


def _next_amount(
    steps: Sequence[Step], now: int | None, words: Callable[[int], str], what: str
) -> str:
    """The amount that lets one more group in, and the one up to which none is lost."""
    if now is None:
        return f"How many {what} are needed is not known here."
    place = next((i for i, step in enumerate(steps) if step.low <= now <= step.high), None)
    if place is None:
        return f"{words(now)} {what} are more than a group may have."
    here = steps[place]
    better = next((step for step in reversed(steps[:place]) if step.groups > here.groups), None)
    free = f"up to {words(here.high)} cost nothing."
    if better is None:
        return f"Up to {words(here.high)} {what} cost nothing, and less gains nothing."
    count = f"{better.groups} group{'s' * (better.groups != 1)}"
    return f"Next step: {count} with at most {words(better.high)} {what}; {free}"
