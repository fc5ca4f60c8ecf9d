"""The maps of a sweep as pictures: one for each race, over what matters most, with its words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from gemmviz.core.labels import device_label, file_word, platform_label
from gemmviz.core.sweep import Configuration, Sweep, SweepReport, Winner
from gemmviz.core.sweep_dimensions import (
    DEVICE,
    ELEMENT,
    KERNEL,
    RACE,
    SHAPE,
    Dimension,
    Value,
    dimensions,
    shape_text,
    value_of,
)
from gemmviz.core.sweep_grid import SweepGrid, sweep_grid
from gemmviz.core.winners import race_of

_MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class SweepMap:
    """A map of what belongs together, with the words above it.

    Attributes:
        grid: The map; None where nothing varies.
        title: Kernels, shapes, element types and devices that it shows.
        free: What it is the best of, or "".
        winners: Those of its races, where these are decided.
        name: What tells it from the other maps of the sweep, as a part of a file's name; "" where
            it is the only one.
        held: What is fixed in it.
    """

    grid: SweepGrid | None
    title: str
    free: str
    winners: tuple[Winner, ...]
    name: str
    held: Mapping[str, Value]

    def shows(self, configuration: Configuration) -> bool:
        """Whether a configuration is part of the map."""
        return _is_at(configuration, self.held)


def sweep_maps(sweep: Sweep, report: SweepReport) -> tuple[SweepMap, ...]:
    """The maps of a sweep, at least one: a race has its own, unless an axis tells them apart.

    All have the same axes; see :func:`map_axes`.
    """
    known = {each.name: each for each in dimensions(sweep)}
    axes = map_axes(sweep, report)
    apart = [known[name] for name in (DEVICE, SHAPE, ELEMENT) if name in known and name not in axes]
    free = [name for name in known if name not in (*axes, *RACE)]
    words = [_file_words(sweep, each) for each in apart]
    maps = []
    for places in product(*(range(len(each.values)) for each in apart)):
        held = {each.name: each.values[n] for each, n in zip(apart, places, strict=True)}
        maps.append(
            SweepMap(
                sweep_grid(sweep, report, axes, fixed=held),
                sweep_title(sweep, held),
                f"best of {', '.join(free)}" if free else "",
                tuple(each for each in report.winners if _is_at(each.recommended, held)),
                "-".join(each[n] for each, n in zip(words, places, strict=True)),
                held,
            )
        )
    return tuple(maps)


def map_axes(sweep: Sweep, report: SweepReport) -> tuple[str, str]:
    """What a map of a sweep is laid out over: columns and rows, "" where less varies.

    Of one kernel it is the two parameters whose values make the most of a difference, as long as
    the rest is chosen well. Several kernels are the rows, since they have few parameters in common.
    """
    known = dimensions(sweep)
    names = [each.name for each in known]
    parameters = [each.name for each in known if each.name not in (KERNEL, *RACE)]
    rest = [name for name in RACE if name in names]
    if KERNEL in names:
        shared = [
            name
            for name in parameters
            if all(name in {each.name for each in kernel.parameters} for kernel in sweep.variants)
        ]
        across = [*rest, *_weightiest(report, shared, 1)][:1]
        return (across[0], KERNEL) if across else (KERNEL, "")
    chosen = [*_weightiest(report, parameters, 2), *rest, "", ""]
    return chosen[0], chosen[1]


def _weightiest(report: SweepReport, names: Sequence[str], count: int) -> list[str]:
    """Those of some parameters that matter most, in their own order."""
    ranked = sorted(names, key=lambda name: -_weight(report, name))[:count]
    return [name for name in names if name in ranked]


def _weight(report: SweepReport, name: str) -> float:
    """How much the best of each value of a parameter differ, summed over the races.

    It is the logarithm of the slowest best over the fastest.
    """
    best: dict[object, dict[Value, float]] = {}
    for cell in report.cells:
        value = value_of(cell.configuration, name)
        if not cell.seconds or value is None or cell.state not in ("measured", "dropped"):
            continue
        times = best.setdefault((race_of(cell.configuration), cell.configuration.variant), {})
        times[value] = min(cell.seconds, times.get(value, math.inf))
    return sum(math.log(max(times.values()) / min(times.values())) for times in best.values())


def sweep_title(sweep: Sweep, held: Mapping[str, Value] | None = None) -> str:
    """Kernels, shapes, element types and devices of a sweep, on a line.

    Args:
        sweep: The sweep.
        held: Of what is fixed only that is named.
    """
    held = held or {}
    devices = [device_label(device) for device in sweep.devices]
    kernels = some([variant.title for variant in sweep.variants], "kernels")
    shapes = some(_named(map(shape_text, sweep.problems), held.get(SHAPE)), "shapes")
    elements = ", ".join(_named((each.element for each in sweep.problems), held.get(ELEMENT)))
    place = held.get(DEVICE)
    where = some(devices, "devices") if place is None else devices[int(place)]
    return f"{kernels}, {shapes} {elements} on {where}"


def some(names: Sequence[str], what: str) -> str:
    """Two names in full, more as their number."""
    return " and ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} {what}"


def part_of(sweep: Sweep, shown: SweepMap) -> Sweep:
    """The sweep of what one map shows alone."""
    place = shown.held.get(DEVICE)
    problems = tuple(
        each
        for each in sweep.problems
        if shown.held.get(SHAPE, shape_text(each)) == shape_text(each)
        and shown.held.get(ELEMENT, each.element) == each.element
    )
    devices = sweep.devices if place is None else (sweep.devices[int(place)],)
    return replace(sweep, problems=problems, devices=devices)


def _is_at(configuration: Configuration, held: Mapping[str, Value]) -> bool:
    return all(value_of(configuration, name) == value for name, value in held.items())


def _named(values: Iterable[str], held: Value | None) -> list[str]:
    return [value for value in dict.fromkeys(values) if held in (None, value)]


def _file_words(sweep: Sweep, dimension: Dimension) -> tuple[str, ...]:
    """How a file's name tells the values of a dimension: "intel", "512", "512x64x512-tn"."""
    words = [file_word(text) for text in dimension.texts]
    if dimension.name == DEVICE:
        short = [file_word(platform_label(device.platform, "")) for device in sweep.devices]
        words = short if len(set(short)) == len(short) else words
    if dimension.name == SHAPE:
        words = [file_word(text.replace("³", "")) for text in dimension.texts]
    if len(set(words)) < len(words):
        words = [f"{word}-{place}" for place, word in enumerate(words, start=1)]
    return tuple(words)
