"""``gemmviz compare --devices``: devices side by side, size by size."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemmviz.cli.measuring import Progress, drain, make_problem
from gemmviz.cli.picture import check_picture, save_picture
from gemmviz.cli.saving import Saver
from gemmviz.cli.selection import SelectionError, find_parameters, find_variant, say
from gemmviz.core.catalog import load_catalog
from gemmviz.core.choice import NO_PLATFORM, matching_devices
from gemmviz.core.codec import to_json
from gemmviz.core.device_comparison import COMPARE, DeviceComparison, DeviceFigure, sentences
from gemmviz.core.device_units import UNITS, lack_of, quantity_of, text_of
from gemmviz.core.experiments import CompareDevices, Outcome
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.messages import DevicesMeasured, Listing, Message
from gemmviz.core.model import Device, Failure, Parameters, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import PRESETS, Policy, fixed
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_COMPARISON = 1
_USUAL = (64, 128, 256, 512, 1024)
_NONE = "–"
_PICTURE = (1200, 760)


def answer_devices(arguments: argparse.Namespace) -> int:
    """Compares the devices and prints what came of each."""
    engine = Engine()
    try:
        check_picture("--png", arguments.png)
        asked = _experiment(arguments, engine)
        saver = Saver(arguments.results)
        items = _told(saver.followed(engine.perform(asked)))
        outcome = drain(engine, items, _COMPARISON, Progress())
        assert isinstance(outcome, Outcome)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the first size."))
    finally:
        engine.close()
    saved = saver.finish()
    comparison = outcome.answer
    if outcome.failure is not None or not isinstance(comparison, DeviceComparison):
        failure = outcome.failure or Failure("stopped", "Stopped before the first size.")
        return _unable(arguments, failure)
    if arguments.json:
        print(json.dumps(_report(comparison), indent=2))
    else:
        _print(comparison)
    if outcome.stopped:
        say("Stopped before every size was measured.")
    drawn = save_picture(arguments, lambda: _chart(comparison), _PICTURE)
    measured = any(figure.seconds is not None for figure in comparison.figures)
    if not (drawn and saved and measured) or outcome.stopped:
        return 2
    return 1 if any(figure.wrong for figure in comparison.figures) else 0


def _told(items: Iterable[Message | Outcome]) -> Iterator[Message | Outcome]:
    """The same items; the figures that they bring are said on stderr, before all are printed."""
    said = 0
    for item in items:
        if isinstance(item, DevicesMeasured):
            comparison = item.comparison
            devices = {device.key: device for device in comparison.devices}
            for figure in comparison.figures[said:]:
                say("  " + "  ".join(_cells(figure, devices[figure.device])))
            said = len(comparison.figures)
        yield item


def _policy(arguments: argparse.Namespace) -> Policy:
    """The policy of each size: one of its own unless a person asks for another."""
    policy = COMPARE
    if arguments.launches is not None:
        policy = fixed(arguments.launches)
    elif arguments.policy != "standard":
        policy = PRESETS[arguments.policy.capitalize()]
    return replace(policy, cache=arguments.cache, per_launch=arguments.per_launch)


def _experiment(arguments: argparse.Namespace, engine: Engine) -> CompareDevices:
    """What the words ask for; drivers are asked only once the rest is sound.

    Raises:
        SelectionError: A kernel, a parameter or a device is not to be had, or an option means
            nothing here.
    """
    idle = (
        ("--shape", arguments.shape), ("--build-options", arguments.build_options),
        ("--launch-limit", arguments.launch_limit), ("--no-check", arguments.no_check),
        ("--force", arguments.force), ("--quiet", arguments.quiet != "auto"),
    )  # fmt: skip
    for option, given in idle:
        if given:
            raise SelectionError(f"{option} does not go with --devices.", "refused")
    if len(arguments.kernels) > 1:
        raise SelectionError("--devices takes one kernel, or none for each device's best.")
    variant: Variant | None = None
    parameters: Parameters = ()
    if arguments.kernels:
        word = arguments.kernels[0]
        name, _, chosen = (word, "", "") if Path(word).exists() else word.partition(":")
        variant = find_variant(name)
        parameters = find_parameters(variant, [part for part in chosen.split(",") if part])
    variants = load_catalog(data_dir("kernels")).variants
    devices = _devices(engine.list_devices(), arguments.devices)
    return CompareDevices(
        _COMPARISON, devices, variants, make_problem(arguments),
        arguments.sizes or _USUAL, variant, parameters, _policy(arguments), arguments.ceilings,
    )  # fmt: skip


def _devices(listing: Listing, text: str) -> tuple[Device, ...]:
    """Every device that can run, or those that parts of names between commas stand for."""
    found = [device for platform in listing.platforms for device in platform.devices]
    usable = [device for device in found if device.unavailable is None]
    if not usable:
        raise SelectionError(listing.problem or NO_PLATFORM)
    if text.strip().lower() == "all":
        return tuple(usable)
    chosen: list[Device] = []
    for word in filter(None, map(str.strip, text.split(","))):
        matches = matching_devices(usable, word)
        if not matches:
            names = "; ".join(map(device_label, usable))
            raise SelectionError(f"No platform or device matches {word!r}; there are: {names}.")
        chosen += [device for device in matches if device not in chosen]
    if not chosen:
        raise SelectionError("--devices takes all, or parts of names between commas.")
    return tuple(chosen)


def _report(comparison: DeviceComparison) -> dict[str, Any]:
    """The comparison as JSON; keys are only ever added."""
    devices = {device.key: device for device in comparison.devices}
    best = {size: comparison.best(size) for size in comparison.measured_sizes}
    return {
        "element": comparison.element,
        "kernel": comparison.kernel or None,
        "form": comparison.form or None,
        "sizes": list(comparison.sizes),
        "whole": comparison.whole,
        "busy": comparison.busy,
        "devices": [
            {**to_json(device.key), "label": device_label(device), "type": device.type,
             "local_mem_bytes": device.local_mem_bytes, "local_mem_type": device.local_mem_type,
             "compute_units": device.compute_units, "clock_hz": device.clock_hz}
            for device in comparison.devices
        ],
        "figures": [_figure(figure, devices[figure.device]) for figure in comparison.figures],
        "duels": [
            {"size": duel.size, "first": device_label(devices[duel.first]),
             "other": device_label(devices[duel.other]), "in_turns": duel.in_turns,
             **to_json(duel.versus)}
            for duel in comparison.duels
        ],
        "fastest": {
            str(size): [device_label(devices[key]) for key in keys] for size, keys in best.items()
        },
        "sentences": list(sentences(comparison)),
        "failure": None,
    }  # fmt: skip


def _figure(figure: DeviceFigure, device: Device) -> dict[str, Any]:
    """A figure with its values in every unit."""
    quantities = {unit: quantity_of(figure, device, unit) for unit in UNITS}
    return {
        **to_json(figure),
        "device": device_label(device),
        "parameters": dict(figure.parameters),
        "values": {unit: to_json(quantity) for unit, quantity in quantities.items()},
    }


def _print(comparison: DeviceComparison) -> None:
    kernel = comparison.kernel or "each device with its best kernel"
    print(", ".join(filter(None, (kernel, comparison.element, comparison.form))))
    lines = [("size", "device", *(words.choice for words in UNITS.values()), "kernel")]
    for size in comparison.measured_sizes:
        for device in comparison.devices:
            figure = comparison.figure(device.key, size)
            if figure is not None:
                lines.append(_cells(figure, device))
    whole = [line for line in lines if len(line) == len(lines[0])]
    widths = [max(map(len, cells)) for cells in zip(*whole, strict=True)]
    widths[1] = max(len(line[1]) for line in lines)
    for line in lines:
        cells = [
            cell.ljust(width) if column in (1, len(lines[0]) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=False))
        ]
        if len(line) < len(widths):
            cells[-1] = line[-1]
        print("  ".join(cells).rstrip())
    for sentence in sentences(comparison):
        print(sentence)


def _cells(figure: DeviceFigure, device: Device) -> tuple[str, ...]:
    """A line of the table; size, name and reason of a device that has no speed."""
    lack = lack_of(figure, device, "time")
    if lack:
        return f"{figure.size}", device_label(device), lack
    values = []
    for unit in UNITS:
        quantity = quantity_of(figure, device, unit)
        values.append(text_of(quantity.value, unit) if quantity is not None else _NONE)
    kernel = f"{figure.variant} {describe_parameters(figure.parameters)}".strip()
    return f"{figure.size}", device_label(device), *values, kernel


def _chart(comparison: DeviceComparison) -> Chart:
    """The chart that ``--png`` asks for: curves, or bars where there is one size."""
    from gemmviz.views.charts.device_curves import DeviceCurvesChart  # noqa: PLC0415 (Qt)
    from gemmviz.views.charts.device_words import headline  # noqa: PLC0415
    from gemmviz.views.charts.devices import DevicesChart  # noqa: PLC0415
    from gemmviz.views.charts.heading import Line  # noqa: PLC0415

    one = comparison.sizes[0] if len(comparison.sizes) == 1 else None
    chart = DeviceCurvesChart() if one is None else DevicesChart()
    chart.set_comparison(comparison)
    lines = tuple(Line(text, "muted") for text in sentences(comparison))
    chart.set_heading(headline(comparison, one), lines)
    return chart


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing could be compared; with ``--json`` as an object."""
    if arguments.json:
        print(json.dumps({"figures": [], "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
