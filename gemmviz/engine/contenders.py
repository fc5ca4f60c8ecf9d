"""Which kernel a device runs in a comparison: the one that all run, or the best of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gemmviz.core.choice import quiet_by_default
from gemmviz.core.experiments import CompareDevices
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import expected_verdict
from gemmviz.core.libraries import absence
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, DeviceKey, Job, Parameters, Problem, Result, Variant
from gemmviz.core.policy import fixed
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import summarize
from gemmviz.core.tuned import tuned_parameters

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_LAUNCHES = 3
_FURTHEST = 2.0
"""A kernel that takes so many times the best one's time, and not fewer than at the size before, is
not tried at larger sizes: large tiles are slow where there is little to do, but catch up."""
_HOPELESS = 10.0
"""One that takes so many times has nothing to catch up with."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A kernel as it would run on a device."""

    device: Device
    variant: Variant
    parameters: Parameters


class Contenders:
    """Finds what each device runs; of its best kernels it remembers which are out of the race."""

    def __init__(self, experiment: CompareDevices, engine: Engine) -> None:
        self._asked, self._engine = experiment, engine
        self._dropped: dict[DeviceKey, set[str]] = {}
        self._lags: dict[DeviceKey, dict[str, float]] = {}  # times over the best one's

    def find(self, device: Device, problem: Problem) -> tuple[Contender | None, str]:
        """What a device runs at a problem, or None and why not."""
        variant = self._asked.variant
        if variant is not None:
            only = Contender(device, variant, self._asked.parameters)
            reason = self._refusal(only, problem)
            return (None, reason) if reason else (only, "")
        return self._best(device, problem)

    @staticmethod
    def tuned(device: Device, variant: Variant, problem: Problem) -> Contender:
        """A kernel with the best parameters that are known for a device and a shape."""
        return Contender(device, variant, tuned_parameters(variant, problem, device))

    def _best(self, device: Device, problem: Problem) -> tuple[Contender | None, str]:
        """The fastest kernel by a few launches of each; its answer is checked when it counts."""
        able, reasons = [], []
        for variant in self._asked.variants:
            entrant = self.tuned(device, variant, problem)
            if not _eligible(entrant, problem):
                continue
            reason = self._refusal(entrant, problem)
            if reason:
                reasons.append(reason)
            else:
                able.append(entrant)
        if not able:
            return None, reasons[0] if reasons else "There is no kernel for this device."
        if device.type == "simulator":  # whose speeds say nothing: the simplest one will do
            return able[0], ""
        dropped = self._dropped.setdefault(device.key, set())
        tried = [each for each in able if each.variant.id not in dropped] or able
        if len(tried) == 1:
            return tried[0], ""
        seconds = {
            entrant: found
            for entrant in tried
            if (found := self._seconds(entrant, problem)) is not None
        }
        if not seconds:
            return tried[0], ""
        best = min(seconds, key=seconds.__getitem__)
        lags = self._lags.setdefault(device.key, {})
        for entrant in tried:
            name, lag = entrant.variant.id, seconds.get(entrant, math.inf) / seconds[best]
            falls_back = lag > _FURTHEST and lag >= lags.get(name, math.inf)
            if falls_back or lag > _HOPELESS:
                dropped.add(name)
            lags[name] = lag
        return best, ""

    def drop(self, entrant: Contender) -> None:
        """Try a kernel whose answer is wrong no more on its device."""
        self._dropped.setdefault(entrant.device.key, set()).add(entrant.variant.id)

    def _seconds(self, entrant: Contender, problem: Problem) -> float | None:
        """The median of a few launches; None where it cannot run, and after a stop."""
        if self._engine.was_stopped(self._asked.job_id):
            return None
        policy = replace(fixed(_LAUNCHES), quiet=quiet_by_default(entrant.device))
        job = Job(
            self._asked.job_id, entrant.device.key, entrant.variant, entrant.parameters, problem,
            policy, check=False,
        )  # fmt: skip
        *_, result = self._engine.run(job, entrant.device)
        assert isinstance(result, Result)
        summary = summarize(seconds_per_launch(result)) if result.failure is None else None
        return summary.median if summary is not None and summary.median > 0 else None

    @staticmethod
    def _refusal(entrant: Contender, problem: Problem) -> str:
        limits = limits_for(entrant.device)
        variant = entrant.variant
        return absence(variant) or (
            refusal(variant, entrant.parameters, problem, entrant.device, limits) or ""
        )


def _eligible(entrant: Contender, problem: Problem) -> bool:
    """Whether a kernel may stand for its device.

    It multiplies, in the element type's own precision, and is right by its own account. Those that
    others published are shown as they were published, and libraries stand beside the kernels.
    """
    variant = entrant.variant
    if variant.library or variant.family == "published" or variant.operation != "multiply":
        return False
    try:
        right = expected_verdict(variant, entrant.parameters, problem) == "verified"
    except ExprError:
        return False
    return right and variant.precision == "element"
