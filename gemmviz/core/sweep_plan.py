"""What a sweep would measure: its configurations, those ruled out, and the time it takes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import flop
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Parameters, Problem, Variant
from gemmviz.core.policy import Policy
from gemmviz.core.search import tries
from gemmviz.core.sweep import Axis, Configuration, Sweep

MOST_TRIED = 200_000
"""More combinations are not even looked at one by one."""

# What a configuration costs besides its launches, and how many of these there are; measured on
# PoCL with two cores and on one GPU. Only a first guess: a sweep under way knows better.
_BUILD_SECONDS = {"CPU": 0.8, "GPU": 0.3}
_OTHER_SECONDS = 0.03
LAUNCHES = 5
"""Launches of one that is screened, as far as is known before it is."""
_FINALISTS = 5
_MOST_CORES = 16
_FLOPS_OF_UNIT = {"CPU": 4e9, "GPU": 5e10}


class SweepError(ValueError):
    """A sweep that cannot be made; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A configuration that cannot run, and why, as a sentence."""

    configuration: Configuration
    reason: str


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What is measured, by device, problem, kernel and parameters in turn, and what is not."""

    configurations: tuple[Configuration, ...]
    refused: tuple[Refused, ...] = ()

    @property
    def tried(self) -> int:
        """All combinations, with those ruled out."""
        return len(self.configurations) + len(self.refused)

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Why combinations are ruled out and how many by each rule, the most frequent first."""
        found = Counter(each.reason.partition(" (here ")[0] for each in self.refused)
        return tuple((f"{text.rstrip('.')}.", count) for text, count in found.most_common())


def axes_of(sweep: Sweep, variant: Variant) -> tuple[Axis, ...]:
    """All parameters of a kernel with the values that are tried, in the kernel's order.

    Raises:
        SweepError: An axis names a parameter or a value that the kernel has not.
    """
    chosen = dict(dict(sweep.axes).get(variant.id, ()))
    known = {parameter.name: parameter.values for parameter in variant.parameters}
    for name, values in chosen.items():
        if name not in known:
            listed = ", ".join(known) or "none"
            raise SweepError(f"{variant.id} has no parameter {name}; it has: {listed}.")
        strange = [value for value in values if value not in known[name]]
        if strange or not values:
            listed = ", ".join(map(str, known[name]))
            what = f"{strange[0]} is not among" if strange else "there is none of"
            raise SweepError(f"{name} of {variant.id}: {what} its values: {listed}.")
    return tuple((name, tuple(chosen.get(name, values))) for name, values in known.items())


def combinations(sweep: Sweep) -> int:
    """How many combinations there are before any is ruled out.

    Raises:
        SweepError: See :func:`axes_of`.
    """
    each = sum(
        math.prod(len(values) for _, values in axes_of(sweep, variant))
        for variant in sweep.variants
    )
    return each * len(sweep.problems) * len(sweep.devices)


def plan(sweep: Sweep) -> SweepPlan:
    """Lists what a sweep would measure; nothing that cannot run is in it.

    Raises:
        SweepError: An axis is wrong, or there are more than :data:`MOST_TRIED` combinations.
    """
    count = combinations(sweep)
    if count > MOST_TRIED:
        raise SweepError(
            f"There are {count:,} combinations; take fewer values of some parameter, at most "
            f"{MOST_TRIED:,} together."
        )
    good: list[Configuration] = []
    refused: list[Refused] = []
    for place, problem, variant, parameters in _combined(sweep):
        device = sweep.devices[place]
        reason = refusal(variant, parameters, problem, device, limits_for(device))
        configuration = Configuration(variant.id, parameters, problem, place)
        if reason is None:
            good.append(configuration)
        else:
            refused.append(Refused(configuration, reason))
    return SweepPlan(tuple(good), tuple(refused))


def _combined(sweep: Sweep) -> Iterator[tuple[int, Problem, Variant, Parameters]]:
    axes = {variant.id: axes_of(sweep, variant) for variant in sweep.variants}
    for place, problem, variant in itertools.product(
        range(len(sweep.devices)), sweep.problems, sweep.variants
    ):
        names = [name for name, _ in axes[variant.id]]
        for values in itertools.product(*(values for _, values in axes[variant.id])):
            yield place, problem, variant, tuple(zip(names, values, strict=True))


def expected(sweep: Sweep, configurations: Iterable[Configuration]) -> int:
    """How many of some configurations are tried; fewer than all where a model chooses."""
    names = tuple(configurations)
    if sweep.strategy != "model":
        return len(names)
    spaces = Counter((name.device, name.problem, name.variant) for name in names)
    return sum(tries(count, sweep.budget) for count in spaces.values())


def foreseen_seconds(sweep: Sweep, planned: SweepPlan, cores: int) -> float:
    """A rough guess at how long a sweep takes, where nothing was built before.

    Args:
        sweep: What is asked for.
        planned: Its plan.
        cores: Processors that can build.
    """
    variants = {variant.id: variant for variant in sweep.variants}
    seconds, one = 0.0, _policy_seconds(sweep.policy)
    finals = foreseen_finals(sweep.policy) * len(sweep.devices) * len(sweep.problems)
    for configuration in planned.configurations:
        device = sweep.devices[configuration.device]
        launch = flop(variants[configuration.variant], configuration.problem) * usual_pace(device)
        building = _BUILD_SECONDS.get(device.type, 1.0) / max(1, min(cores, _MOST_CORES))
        measuring = one if sweep.strategy == "exhaustive" else 0.0
        seconds += building + _OTHER_SECONDS + LAUNCHES * launch + measuring
    names = planned.configurations
    return finals + seconds * expected(sweep, names) / max(1, len(names))


def foreseen_finals(policy: Policy) -> float:
    """A rough guess at the seconds that the finals of one race take."""
    return _policy_seconds(policy) * _FINALISTS


def _policy_seconds(policy: Policy) -> float:
    """What one kernel takes: a policy is done at its least where all is quiet."""
    return max(policy.min_seconds, 0.1) * 2


def usual_pace(device: Device) -> float:
    """Seconds that a middling kernel takes for one FLOP, before anything was measured."""
    return 1 / (_FLOPS_OF_UNIT.get(device.type, 5e8) * (device.compute_units or 1))
