"""What the charts of devices write at bars, points and in the table below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gemmviz.core.device_comparison import DeviceComparison, DeviceFigure, one_sided
from gemmviz.core.device_units import UNITS, Unit, quantity_of, text_of
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Device
from gemmviz.core.paired import VERDICTS
from gemmviz.core.units import duration, memory, percent, scaled

_LOCAL_TYPES = {"LOCAL": "on the chip", "GLOBAL": "in cached main memory", "NONE": "none"}


def verdict_of(comparison: DeviceComparison, figure: DeviceFigure) -> str:
    """How a figure compares with the fastest of its size: "▼ slower 0.42×"; "" without another."""
    counting = comparison.counting(figure.size)
    if len(counting) < 2 or figure not in counting:
        return ""
    fastest = counting[0]
    if figure == fastest:
        alone = len(comparison.best(figure.size)) == 1
        return "★ fastest" if alone else "★ tied"
    duel = comparison.versus(fastest.device, figure.device, figure.size)
    if duel is None:
        return ""
    said = "? few rounds" if one_sided(duel.versus) else VERDICTS[duel.versus.word]
    return f"{said} {duel.versus.ratio:.2g}×"


def describe_figure(comparison: DeviceComparison, figure: DeviceFigure, device: Device) -> str:
    """All that is known of a figure, on a few lines."""
    lines = [f"{device_label(device)} at {figure.size}"]
    if figure.title:
        lines.append(f"{figure.title} {describe_parameters(figure.parameters)}".strip())
    if figure.seconds is not None:
        text = f"median {duration(figure.seconds)}"
        if figure.low and figure.high and figure.high > figure.low:
            text += f" ({duration(figure.low)} to {duration(figure.high)})"
        lines.append(f"{text}, {figure.samples} sample{'s' * (figure.samples != 1)}")
    lines += _values(figure, device)
    if local := _local(figure, device):
        lines.append(f"local memory {local}, {_local_type(device)}")
    if verdict := verdict_of(comparison, figure):
        lines.append(verdict)
    if figure.turns > 1:
        lines.append(f"{figure.turns} devices took turns, launch by launch")
    if figure.why_not:
        lines.append(figure.why_not)
    if device.type == "simulator" and figure.seconds is not None:
        lines.append("a simulator: its time says nothing of hardware")
    return "\n".join(lines)


def _values(figure: DeviceFigure, device: Device) -> Iterator[str]:
    """The figure in every unit but time that it has a value in."""
    behind = {
        "throughput": "",
        "ceiling": f" of the ceiling: {figure.roof}",
        "library": f" of {figure.library_title}",
        "clock": " FLOP a cycle and unit",
    }
    for unit in UNITS:
        quantity = quantity_of(figure, device, unit)
        if quantity is not None and unit in behind:
            yield f"{text_of(quantity.value, unit)}{behind[unit]}"


def _kernel(figure: DeviceFigure) -> str:
    return f"{figure.title} {describe_parameters(figure.parameters)}".strip()


def _local(figure: DeviceFigure, device: Device) -> str:
    most = memory(device.local_mem_bytes) if device.local_mem_bytes else ""
    if figure.local_bytes is None:
        return most
    taken = memory(figure.local_bytes) if figure.local_bytes else "none"
    return f"{taken} of {most}" if most else taken


def _local_type(device: Device) -> str:
    kind = device.local_mem_type or ""
    return _LOCAL_TYPES.get(kind, kind)


def _units(device: Device) -> str:
    if not device.compute_units:
        return ""
    units = f"{device.compute_units} unit{'s' * (device.compute_units != 1)}"
    if not device.clock_hz:
        return f"{units}, clock unknown"
    return f"{units} at {' '.join(scaled(device.clock_hz, 'Hz'))}"


def _groups(figure: DeviceFigure) -> str:
    if figure.groups is None:
        return ""
    return f"{figure.groups:,} × {figure.group_size} item{'s' * (figure.group_size != 1)}"


def _resident(figure: DeviceFigure, device: Device) -> str:
    if device.type == "CPU" and figure.groups is not None:
        return "one group a unit"
    if figure.occupancy is None:
        return f"{figure.resident} groups" if figure.resident is not None else ""
    groups = f"{figure.resident} group{'s' * (figure.resident != 1)}, "
    return f"{groups if figure.resident else ''}{percent(figure.occupancy)}"


def _binding(figure: DeviceFigure, device: Device) -> str:
    if device.type == "CPU" and figure.groups is not None:
        return "its cores"
    return figure.binding


def _answer(figure: DeviceFigure) -> str:
    if figure.wrong:
        return "✗ wrong"
    return "✓ right" if figure.seconds is not None else ""


ROWS: tuple[tuple[str, Callable[[DeviceFigure, Device], str]], ...] = (
    ("local mem.", _local),
    ("resident", _resident),
    ("kernel", lambda figure, _: _kernel(figure)),
    ("limited by", _binding),
    ("it lies", lambda _, device: _local_type(device)),
    ("groups", lambda figure, _: _groups(figure)),
    ("hardware", lambda _, device: _units(device)),
    ("answer", lambda figure, _: _answer(figure)),
)
"""The rows of the table, the most telling first: a low chart shows only these."""


def headline(comparison: DeviceComparison, size: int | None = None) -> str:
    """What is compared, for the heading of a picture."""
    kernel = comparison.kernel or "each device with its best kernel"
    shape = f"{size} × {size} × {size}" if size is not None else "by size"
    return ", ".join(filter(None, (kernel, shape, comparison.element, comparison.form)))


def names_of(comparison: DeviceComparison) -> dict[str, str]:
    """The number of each device by its label, as in legends; "" where there is but one."""
    several = len(comparison.devices) > 1
    return {
        device_label(device): str(place) if several else ""
        for place, device in enumerate(comparison.devices, start=1)
    }


def unit_note(unit: Unit) -> str:
    """What a unit means, and which way it is better."""
    words = UNITS[unit]
    better = "Lower is better." if words.lower_is_better else "Higher is better."
    return f"{words.meaning} {better}"
