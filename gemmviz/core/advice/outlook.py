"""What else could be run here, and how much faster it should be than what runs now."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, lru_cache

from gemmviz.core.access.report import AccessReport, Machine, Pad
from gemmviz.core.advice.forecast import Forecast, Place, Rates, forecast, has_core, rates_of
from gemmviz.core.advice.look import look_at_pads
from gemmviz.core.advice.situation import Measurement, Situation
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import (
    Geometry,
    default_parameters,
    expected_verdict,
    flop,
    geometry,
    least_bytes,
)
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Parameters, Problem, Variant

Look = Callable[[Variant, Parameters, Problem, Machine], AccessReport | None]
"""Asks the access lens; None where it cannot say anything."""

_NOT_ADVISED = ("published", "user")
_MAX_SETTINGS = 4096
_LOOKED_AT = 2  # settings of a kernel that the lens is asked about
_NEIGHBOURS_LOOKED_AT = 4  # of those, settings one macro away from what is at hand
_FOREIGN_LOOKED_AT = 8  # settings of other kernels
_HOPELESS = 2.5  # so many times slower than the best by the tile alone, and the lens is not asked
_PROXY_K = 64  # a few steps along K stand for all of them
# An item with a core for itself walks its part of C step by step: the lens would follow each.
_PROXY_EDGE = 256

_ASSUMED_MARGIN = 1.5  # by which an assumed peak may be too low

# How far the model's ratios may be off, as a factor: between settings of one kernel that was
# measured, with measured ceilings, and with assumed ones.
_DOUBT_SAME_KERNEL, _DOUBT_MEASURED, _DOUBT_ASSUMED = 1.2, 1.5, 2.0


class Outlook:
    """Forecasts for a situation and for what could be tried instead, made as they are asked for."""

    def __init__(self, situation: Situation, look: Look) -> None:
        self._situation, self._look = situation, look
        self._forecasts: dict[tuple[Variant, Parameters], Forecast | None] = {}

    @cached_property
    def rates(self) -> Rates:
        """What the device can do."""
        s = self._situation
        return rates_of(s.device, s.ceilings, s.problem.element)

    @cached_property
    def place(self) -> Place:
        """The device with all that is known of it."""
        return Place(self._situation.device, self._situation.limits, self.rates)

    @cached_property
    def work(self) -> int:
        """FLOP of the problem."""
        return flop(self._situation.variant, self._situation.problem)

    @cached_property
    def here(self) -> Forecast | None:
        """What the model says of the configuration at hand; None where it has no launch."""
        return self.of(self._situation.variant, self._situation.parameters)

    @cached_property
    def floor_seconds(self) -> float:
        """The least time by the ceilings, with a margin where these are assumed."""
        moved = least_bytes(self._situation.variant, self._situation.problem)
        least = max(self.work / self.rates.arithmetic, moved / self.rates.memory)
        return least if self.rates.measured else least / _ASSUMED_MARGIN

    def of(self, variant: Variant, parameters: Parameters) -> Forecast | None:
        """What the model says of a configuration, with the help of the lens.

        None where it has no launch, or is a library's own.
        """
        key = variant, parameters
        if key not in self._forecasts:
            self._forecasts[key] = self._forecast(variant, parameters)
        return self._forecasts[key]

    def _forecast(self, variant: Variant, parameters: Parameters) -> Forecast | None:
        if variant.library:
            return None
        try:
            report = self.report(variant, parameters)
            return forecast(variant, parameters, self._situation.problem, self.place, report)
        except ExprError:
            return None

    def report(self, variant: Variant, parameters: Parameters) -> AccessReport | None:
        """What the lens says of a configuration, at a small K for others than the one at hand.

        None where it cannot follow all of it: totals would be too low.
        """
        s = self._situation
        if variant == s.variant and parameters == s.parameters and s.access is not None:
            found: AccessReport | None = s.access
        else:
            found = self._look(variant, parameters, self._proxy(variant, parameters), s.machine)
        return None if found is None or found.unknowns else found

    def look_here(self) -> AccessReport | None:
        """What the lens says of the configuration at hand at the problem at hand.

        Where that would take it minutes it is asked about a smaller one, whose ratios do not hold.
        """
        s = self._situation
        if not self._has_core(s.variant, s.parameters):
            return self._look(s.variant, s.parameters, replace(s.problem, seed=0), s.machine)
        problem = self._proxy(s.variant, s.parameters)
        found = self._look(s.variant, s.parameters, problem, s.machine)
        return None if found is None else replace(found, intensity=None, reuse=None)

    def _has_core(self, variant: Variant, parameters: Parameters) -> bool:
        try:
            shape = geometry(variant, parameters, self._situation.problem)
        except ExprError:
            return False
        return has_core(self._situation.device, shape)

    def _proxy(self, variant: Variant, parameters: Parameters) -> Problem:
        """A smaller problem that stands for the one at hand; the same where it must be square."""
        problem = replace(self._situation.problem, seed=0)
        if variant.shapes == "square":
            return problem
        problem = replace(problem, k=min(problem.k, _PROXY_K))
        if self._has_core(variant, parameters):
            m, n = min(problem.m, _PROXY_EDGE), min(problem.n, _PROXY_EDGE)
            problem = replace(problem, m=m, n=n)
        return problem

    @cached_property
    def pads(self) -> tuple[Pad, ...]:
        """What longer rows of the local arrays of the kernel at hand give, at a small K."""
        s = self._situation
        problem = self._proxy(s.variant, s.parameters)
        return look_at_pads(s.variant, s.parameters, problem, s.machine)

    def settings(self, variant: Variant) -> tuple[Parameters, ...]:
        """Every choice of macros that can run here and should be right, defaults nearest first."""
        s = self._situation
        return _settings(variant, s.device, s.limits, replace(s.problem, seed=0))

    @cached_property
    def others(self) -> tuple[Forecast, ...]:
        """The likely settings of every candidate, the fastest first, the one at hand left out."""
        rough = [
            (self._rough(variant, parameters), place, variant, parameters)
            for variant in self.kernels
            for place, parameters in enumerate(self._likely(variant))
        ]
        # Every kernel's best before any second best: the lens decides among kernels.
        rough.sort(key=lambda item: (item[1], item[0]))
        most = min((item[0] for item in rough), default=0.0) * _HOPELESS
        s, asked, found = self._situation, 0, []
        for seconds, _, variant, parameters in rough:
            foreign = variant != s.variant and s.measurement(variant, parameters) is None
            if foreign and (seconds > most or asked == _FOREIGN_LOOKED_AT):
                continue
            asked += foreign
            found.append(self.of(variant, parameters))
        kept = [f for f in found if f is not None and not self._is_here(f)]
        return tuple(sorted(kept, key=self.seconds))

    @cached_property
    def own(self) -> tuple[Forecast, ...]:
        """Those of the others that are settings of the kernel at hand."""
        return tuple(f for f in self.others if f.variant == self._situation.variant)

    @cached_property
    def alike(self) -> tuple[Forecast, ...]:
        """Of every other candidate the setting whose launch is most like the one at hand."""
        here = self.here
        if here is None:
            return ()
        s, found = self._situation, []
        for variant in self.kernels:
            if variant == s.variant:
                continue
            shapes = {p: geometry(variant, p, s.problem) for p in self.settings(variant)}

            def unlike(item: tuple[Parameters, Geometry]) -> tuple[int, ...]:
                shape = item[1]
                return (abs(shape.group_size - here.shape.group_size),
                        abs(math.prod(shape.tile) - math.prod(here.shape.tile)),
                        abs(shape.local_bytes - here.shape.local_bytes))  # fmt: skip

            nearest = min(shapes.items(), key=unlike)[0]
            found.append(self.of(variant, nearest))
        return tuple(f for f in found if f is not None)

    @cached_property
    def kernels(self) -> tuple[Variant, ...]:
        """The candidates that do the same work as well.

        Those written down to be read are left out, a person's other own, and libraries.
        """
        s = self._situation
        return tuple(
            variant
            for variant in (*(c for c in s.candidates if c != s.variant), s.variant)
            if variant.operation == s.variant.operation
            and not variant.library
            and (variant.precision in ("element", s.variant.precision))
            and (variant == s.variant or variant.family not in _NOT_ADVISED)
            and (variant.family != "cpu" or s.device.type == "CPU")
            and self.settings(variant)
        )

    def _likely(self, variant: Variant) -> tuple[Parameters, ...]:
        """The settings worth a look: the best by the tile alone, the defaults, and measured ones.

        Macros that the tile does not show stay at their defaults, or as they are at hand.
        """
        s = self._situation
        settings = self.settings(variant)
        # Settings whose tiles are alike differ in what only the lens sees: one stands for all.
        alike: dict[float, Parameters] = {}
        for parameters in settings:
            alike.setdefault(self._rough(variant, parameters), parameters)
        ranked = [alike[seconds] for seconds in sorted(alike)]
        tried = [m.parameters for m in s.measured if m.variant == variant]
        default = default_parameters(variant)
        if settings and has_core(s.device, geometry(variant, settings[0], s.problem)):
            # Its tile shows how many items share the work and no more: the author knows the rest.
            def rank(parameters: Parameters) -> tuple[int, int]:
                halves = round(2 * math.log2(self._rough(variant, parameters)))
                return halves, _distance(default, parameters)

            ranked = sorted(settings, key=rank)
        wanted = [*ranked[:_LOOKED_AT], default, *tried]
        if variant == s.variant:
            near = neighbours(s.parameters, settings)
            near.sort(key=lambda p: self._rough(variant, p))
            wanted += near[:_NEIGHBOURS_LOOKED_AT]
        return tuple(dict.fromkeys(p for p in wanted if p in set(settings)))

    def _rough(self, variant: Variant, parameters: Parameters) -> float:
        s = self._situation
        return _rough_seconds(variant, parameters, replace(s.problem, seed=0), self.place)

    def _is_here(self, found: Forecast) -> bool:
        return found.configuration == (self._situation.variant, self._situation.parameters)

    # --- times and gains

    def seconds(self, found: Forecast) -> float:
        """The time of a configuration: as measured, else by the model as far as it was right here.

        The model is corrected by a measurement of the same kernel, the one with the fewest macros
        changed, else by that of the kernel whose items make most nearly as many cells. How well a
        CPU's compiler makes vectors of work-items says nothing of vectors that are written out.
        """
        s = self._situation
        known = s.measurement(found.variant, found.parameters)
        if known is not None and known.seconds and not known.wrong:
            return known.seconds
        return found.seconds * self._correction(found)

    def _correction(self, found: Forecast) -> float:
        near = self._nearest(found)
        if near is None:
            return 1.0
        model = self.of(near.variant, near.parameters)
        return near.seconds / model.seconds if model is not None and near.seconds else 1.0

    def _nearest(self, found: Forecast) -> Measurement | None:
        """The timed measurement that says most about a configuration."""
        timed = [m for m in self._situation.measured if m.counts]
        same = [m for m in timed if m.variant == found.variant]
        if same:
            return min(same, key=lambda m: _distance(m.parameters, found.parameters))

        device = self._situation.device
        near: list[tuple[float, int, Measurement]] = []
        for measurement in timed:
            model = self.of(measurement.variant, measurement.parameters)
            if model and has_core(device, model.shape) == has_core(device, found.shape):
                near.append((abs(math.log(model.cells / found.cells)), len(near), measurement))
        return min(near)[2] if near else None

    def gain(self, found: Forecast) -> tuple[float, float]:
        """How much faster than what is at hand: the least and the most to expect.

        Two measurements give their intervals; the model its doubt, and the roof caps both.
        """
        s = self._situation
        known, here = s.measurement(found.variant, found.parameters), s.here
        if known and known.seconds and here and here.seconds and not (known.wrong or here.wrong):
            low = (here.seconds_low or here.seconds) / (known.seconds_high or known.seconds)
            high = (here.seconds_high or here.seconds) / (known.seconds_low or known.seconds)
            return low, high
        return self._foreseen_gain(found, self.seconds(found))

    def gain_with(self, report: AccessReport) -> tuple[float, float]:
        """The gain of other accesses in the configuration at hand, as :meth:`gain` gives it.

        Args:
            report: What the lens said of it, with the costs that the accesses have then.
        """
        s = self._situation
        if self.here is None:
            return 1.0, 1.0
        then = forecast(s.variant, s.parameters, s.problem, self.place, report)
        return self._foreseen_gain(then, then.seconds * self._correction(then))

    def _foreseen_gain(self, found: Forecast, then: float) -> tuple[float, float]:
        if self.here is None:
            return 1.0, 1.0
        now = self.seconds(self.here)
        ratio = now / then
        near = self._nearest(found)
        if near is not None and near.variant == found.variant:
            doubt = _DOUBT_SAME_KERNEL
        else:
            doubt = _DOUBT_MEASURED if self.rates.measured else _DOUBT_ASSUMED
        doubt = min(doubt, max(ratio, 1 / ratio) ** 0.5 * 1.1)  # a small step errs by little
        low, high = ratio / doubt, ratio * doubt
        here = self._situation.here
        if near is None and here is not None and here.seconds:
            # Nothing like it was measured; some of why this one is slow, as a busy machine, may
            # slow it as well.
            low /= max(1.0, here.seconds / self.here.seconds) ** 0.5
        high = min(high, max(1.0, now / self.floor_seconds))
        return min(low, high), high

    def expected(self, found: Forecast) -> float:
        """The middle of the gain's range."""
        return math.prod(self.gain(found)) ** 0.5

    def best(self, wanted: Callable[[Forecast], bool]) -> Forecast | None:
        """The fastest of the others that is as ``wanted``, or None."""
        return next((found for found in self.others if wanted(found)), None)


def neighbours(parameters: Parameters, settings: Iterable[Parameters]) -> list[Parameters]:
    """The settings that differ from ``parameters`` in one macro."""
    return [other for other in settings if _distance(parameters, other) == 1]


def _distance(first: Parameters, second: Parameters) -> int:
    """How many macros differ."""
    return sum(one != other for one, other in zip(first, second, strict=False))


@lru_cache(maxsize=256)
def _settings(
    variant: Variant, device: Device, limits: Limits | None, problem: Problem
) -> tuple[Parameters, ...]:
    default = dict(default_parameters(variant))
    names = [parameter.name for parameter in variant.parameters]
    product = itertools.product(*(parameter.values for parameter in variant.parameters))
    found = []
    for values in itertools.islice(product, _MAX_SETTINGS):
        parameters = tuple(zip(names, values, strict=True))
        try:
            right = expected_verdict(variant, parameters, problem) == "verified"
        except ExprError:
            continue
        if right and refusal(variant, parameters, problem, device, limits) is None:
            found.append(parameters)
    found.sort(key=lambda chosen: sum(default[name] != value for name, value in chosen))
    return tuple(found)


@lru_cache(maxsize=8192)
def _rough_seconds(
    variant: Variant, parameters: Parameters, problem: Problem, place: Place
) -> float:
    try:
        return forecast(variant, parameters, problem, place).seconds
    except ExprError:
        return math.inf
