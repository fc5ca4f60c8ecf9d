"""Measurements as the bars of a comparison, with names that tell them apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gemmviz.core.labels import device_label
from gemmviz.core.model import Device, DeviceKey
from gemmviz.core.stats import FEWEST_FOR_95, Summary
from gemmviz.views.charts.bars import Bar


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a bar is made of.

    Attributes:
        device: Where it ran.
        label: What was run: a kernel's title and parameters.
        problem: Its sizes and element type.
        flop: Operations of one launch.
        summary: Of the seconds of a launch.
        objection: Why the figure does not count, or "".
        speed_up: Over a baseline, or None.
        library_share: Of the speed of the device's library, or None.
    """

    device: Device
    label: str
    problem: str
    flop: int
    summary: Summary
    objection: str = ""
    speed_up: float | None = None
    library_share: float | None = None


def comparison_bars(measurements: Sequence[Measurement]) -> tuple[Bar, ...]:
    """One bar each; what all of them share is left out of their names.

    Those that would have one name get numbers, in their order.
    """
    problems = {each.problem for each in measurements}
    names = [
        each.label if len(problems) == 1 else f"{each.label}, {each.problem}"
        for each in measurements
    ]
    total = Counter((each.device.key, name) for each, name in zip(measurements, names, strict=True))
    seen: Counter[tuple[DeviceKey, str]] = Counter()
    bars = []
    for each, name in zip(measurements, names, strict=True):
        same = each.device.key, name
        seen[same] += 1
        bars.append(_bar(each, f"{name} #{seen[same]}" if total[same] > 1 else name))
    return tuple(bars)


def _bar(each: Measurement, name: str) -> Bar:
    summary = each.summary
    return Bar(
        device=device_label(each.device),
        kernel=name,
        flops_per_second=each.flop / summary.median,
        low=each.flop / summary.high,
        high=each.flop / summary.low if summary.low > 0 else math.nan,
        interval="95 %" if summary.count >= FEWEST_FOR_95 else "range",
        speed_up=each.speed_up,
        color_key=each.label,
        struck=bool(each.objection),
        note=each.objection,
        library_share=each.library_share,
    )
