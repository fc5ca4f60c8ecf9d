"""Measurements as the bars of a comparison, with names that tell them apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Device, DeviceKey, Parameters
from gemmviz.core.stats import FEWEST_FOR_95, Summary
from gemmviz.views.charts.bars import Bar

MOST_BARS = 15
"""So many names a legend has room for, whatever their length."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a bar is made of.

    Attributes:
        device: Where it ran.
        kernel: The title of what was run.
        parameters: And its parameters.
        problem: Its sizes and element type.
        flop: Operations of one launch.
        summary: Of the seconds of a launch.
        objection: Why the figure does not count, or "".
        speed_up: Over a baseline, or None.
        library_share: Of the speed of the device's library, or None.
    """

    device: Device
    kernel: str
    parameters: Parameters
    problem: str
    flop: int
    summary: Summary
    objection: str = ""
    speed_up: float | None = None
    library_share: float | None = None

    @property
    def label(self) -> str:
        """What was run: "Tiled TS=16"."""
        return f"{self.kernel} {describe_parameters(self.parameters)}".strip()

    @property
    def flops_per_second(self) -> float:
        """Throughput by the median."""
        return self.flop / self.summary.median


def comparison_bars(measurements: Sequence[Measurement]) -> tuple[Bar, ...]:
    """One bar each; what all of them share is left out of their names, see :func:`shared_label`.

    Those that would have one name get numbers, in their order.
    """
    labels, problems = _labels(measurements), {each.problem for each in measurements}
    names = [
        label if len(problems) == 1 else f"{label}, {each.problem}"
        for label, each in zip(labels, measurements, strict=True)
    ]
    total = Counter((each.device.key, name) for each, name in zip(measurements, names, strict=True))
    seen: Counter[tuple[DeviceKey, str]] = Counter()
    bars = []
    for each, name in zip(measurements, names, strict=True):
        same = each.device.key, name
        seen[same] += 1
        bars.append(_bar(each, f"{name} #{seen[same]}" if total[same] > 1 else name))
    return tuple(bars)


def shared_label(measurements: Sequence[Measurement]) -> str:
    """What all bars have in common and their names leave out: "Tiled, TS=16", or "".

    Several configurations of one kernel are named by the parameters in which they differ.
    """
    kernels, shared = _shared(measurements)
    return ", ".join(filter(None, (*kernels, describe_parameters(shared))))


def fastest_bars(
    measurements: Sequence[Measurement], most: int = MOST_BARS
) -> tuple[tuple[Measurement, ...], str]:
    """So many as can be read, the fastest first, and what they are; all where they are few.

    Of what was measured again the last counts. With several devices or problems these take turns,
    so that each has its fastest in it. Wrong ones come last.

    Args:
        measurements: Oldest first.
        most: So many at most.
    """
    if len(measurements) <= most:
        return tuple(measurements), ""
    count = len(measurements)
    last = {(each.device.key, each.label, each.problem): each for each in measurements}
    if len(last) == 1:  # the runs themselves are compared
        return tuple(measurements[-most:]), f"the last {most} of {count:,}"
    if len(last) <= most:
        chosen = tuple(sorted(last.values(), key=_slowness))
        return chosen, f"{len(chosen)} of {count:,}: the last run of each"
    groups: dict[tuple[DeviceKey, str], list[Measurement]] = {}
    for each in sorted(last.values(), key=_slowness):
        groups.setdefault((each.device.key, each.problem), []).append(each)
    places = [(place, each) for group in groups.values() for place, each in enumerate(group)]
    places.sort(key=lambda pair: (bool(pair[1].objection), pair[0], _slowness(pair[1])))
    chosen = tuple(sorted((each for _, each in places[:most]), key=_slowness))
    if len(groups) == 1:
        return chosen, f"the {len(chosen)} fastest of {count:,}"
    devices, problems = (len(set(each)) > 1 for each in zip(*groups, strict=True))
    which = " and ".join(["device"] * devices + ["problem"] * problems)
    return chosen, f"{len(chosen)} of {count:,}: the fastest of each {which}"


def _slowness(each: Measurement) -> tuple[bool, float]:
    return bool(each.objection), -each.flops_per_second


def _shared(measurements: Sequence[Measurement]) -> tuple[tuple[str, ...], Parameters]:
    """The kernel and the parameters that names leave out: nothing where all have one label."""
    if len({each.label for each in measurements}) < 2:
        return (), ()
    kernels = tuple({each.kernel for each in measurements})
    first, *others = (each.parameters for each in measurements)
    shared = tuple(pair for pair in first if all(pair in other for other in others))
    return (kernels if len(kernels) == 1 else ()), shared


def _labels(measurements: Sequence[Measurement]) -> list[str]:
    kernels, shared = _shared(measurements)
    labels = []
    for each in measurements:
        own = describe_parameters(tuple(pair for pair in each.parameters if pair not in shared))
        labels.append(own if kernels else f"{each.kernel} {own}".strip())
    return labels


def _bar(each: Measurement, name: str) -> Bar:
    summary = each.summary
    return Bar(
        device=device_label(each.device),
        kernel=name,
        flops_per_second=each.flops_per_second,
        low=each.flop / summary.high,
        high=each.flop / summary.low if summary.low > 0 else math.nan,
        interval="95 %" if summary.count >= FEWEST_FOR_95 else "range",
        speed_up=each.speed_up,
        color_key=each.label,
        struck=bool(each.objection),
        note=each.objection,
        library_share=each.library_share,
    )
