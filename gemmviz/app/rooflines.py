"""What the roofline shows of the ticked runs and of the devices whose ceilings are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gemmviz.app.book import ResultBook
from gemmviz.app.outcomes import outcome
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device, DeviceKey
from gemmviz.core.roofline import DeviceRoofs, Dot, Names, dot, roofs


def dots_of(book: ResultBook, ceilings: Mapping[DeviceKey, CeilingTable]) -> tuple[Dot, ...]:
    """The ticked runs as results on the roofline; a shape that all share is left out of names."""
    runs = book.ticked
    several = len({(run.shape, run.job.problem.element) for run in runs}) > 1
    made = []
    for run in runs:
        assert run.summary is not None  # only such runs can be ticked
        name = f"{run.label}, {run.shape}" if several else run.label
        made.append(
            dot(
                Names(device_label(run.device), name),
                (run.job.variant, run.job.problem, run.summary.median),
                run.device,
                ceilings.get(run.device.key),
                book.traffic_bytes(run),
                wrong=bool(outcome(run).objection),
            )
        )
    return tuple(made)


def roofs_of(
    devices: Iterable[Device], ceilings: Mapping[DeviceKey, CeilingTable], dots: Iterable[Dot]
) -> tuple[DeviceRoofs, ...]:
    """The roofs of devices whose ceilings are known; peaks only of element types that are shown.

    Args:
        devices: Those to show.
        ceilings: What is known, by device.
        dots: The results beside them.
    """
    elements = {each.element for each in dots} or {"float"}
    return tuple(
        DeviceRoofs(device_label(device), roofs(ceilings[device.key], tuple(elements)))
        for device in devices
        if device.key in ceilings
    )
