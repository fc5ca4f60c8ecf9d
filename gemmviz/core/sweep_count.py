"""How much a sweep is, before it starts: what can run, what cannot and why, and about how long."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import (
    element_refusal,
    form_refusal,
    local_limit,
    needs_refusal,
    parameter_refusal,
)
from gemmviz.core.launch import geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Variant
from gemmviz.core.sweep import Configuration, Sweep
from gemmviz.core.sweep_plan import SweepError, expected, foreseen_seconds, plan

_MOST_REASONS = 12


@dataclass(frozen=True, slots=True)
class SweepCount:
    """What a sweep comes to.

    Attributes:
        configurations: Those that can run.
        causes: What rules the others out, in a word or two, and how many, the most frequent first.
        reasons: Sentences of why, with how many each holds for; the most frequent alone.
        seconds: A rough guess at how long it takes.
        problem: Why it cannot be made at all, or "".
        tries: How many of those that can run are tried; None for all.
    """

    configurations: int
    causes: tuple[tuple[str, int], ...] = ()
    reasons: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0
    problem: str = ""
    tries: int | None = None

    @property
    def refused(self) -> int:
        """How many cannot run."""
        return sum(count for _, count in self.causes)

    @property
    def words(self) -> str:
        """All of it in a line: "48 configurations, 12 cannot run (local memory 8, ...)"."""
        if self.problem:
            return self.problem
        total = self.configurations + self.refused
        text = f"{total:,} configuration{'s' * (total != 1)}"
        if self.refused:
            causes = ", ".join(f"{cause} {count:,}" for cause, count in self.causes)
            text += f", {self.refused:,} cannot run ({causes})"
        if self.tries is not None:
            text += f", about {self.tries:,} of {self.configurations:,} will be tried"
        return f"{text}, {about(self.seconds)}" if self.configurations else text


def about(seconds: float) -> str:
    """A rough time: "about 40 s", "about 12 min", "about 3 h"."""
    for factor, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * factor:
            return f"about {_round(seconds / factor)} {unit}"
    return f"about {_round(max(seconds, 1.0))} s"


def _round(value: float) -> str:
    """A number to its first digit and a half: 1, 7, 15, 40, 250."""
    if value < 10:
        return f"{value:.0f}"
    step = 5 * 10 ** (len(f"{value:.0f}") - 2)
    return f"{step * round(value / step):.0f}"


def count_sweep(sweep: Sweep, cores: int) -> SweepCount:
    """Counts what can run and what cannot.

    Args:
        sweep: What is to be tried.
        cores: Processors that can build kernels.
    """
    try:
        planned = plan(sweep)
    except SweepError as error:
        return SweepCount(0, problem=str(error))
    variants = {variant.id: variant for variant in sweep.variants}
    causes = Counter(
        cause_of(variants[each.configuration.variant], each.configuration,
                 sweep.devices[each.configuration.device])
        for each in planned.refused
    )  # fmt: skip
    count, tried = len(planned.configurations), expected(sweep, planned.configurations)
    return SweepCount(
        count, tuple(causes.most_common()), planned.reasons[:_MOST_REASONS],
        foreseen_seconds(sweep, planned, cores), tries=tried if tried < count else None,
    )  # fmt: skip


def cause_of(variant: Variant, configuration: Configuration, device: Device) -> str:
    """What rules a configuration out, in a word or two."""
    if device.unavailable:
        return "device"
    parameters, problem = configuration.parameters, configuration.problem
    if needs_refusal(variant, device) is not None:
        return "kind of device"
    if element_refusal(variant, problem.element, device) is not None:
        return "element type"
    if form_refusal(variant, problem) is not None:
        return "transposes, alpha or beta"
    limits = limits_for(device)
    try:
        shape = geometry(variant, parameters, problem)
        available = local_limit(variant, parameters, problem, device, limits)
    except ExprError:
        return "no launch"
    sizes = zip(shape.local, device.max_work_item_sizes, strict=False)
    most = device.max_work_group_size
    if (most is not None and shape.group_size > most) or any(size > end for size, end in sizes):
        return "group size"
    if available is not None and shape.local_bytes > available:
        return "local memory"
    if parameter_refusal(variant, parameters, problem, device, limits) is not None:
        return "kernel's rules"
    return "shape or memory"
