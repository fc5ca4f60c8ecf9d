"""``gemmviz ceilings``: what devices can do at most, as measured on them."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from gemmviz.cli.measuring import Progress, drain
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, say
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.choice import measurable
from gemmviz.core.codec import to_json
from gemmviz.core.experiments import MeasureCeilings, Outcome
from gemmviz.core.labels import device_label
from gemmviz.core.messages import CeilingRead, Listing, Message, Progressed
from gemmviz.core.model import Device, Failure
from gemmviz.core.roofline import DeviceRoofs, ridge, roofs
from gemmviz.core.units import moment, scaled
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

Measured = tuple[Device, CeilingTable]


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "ceilings",
        help="measure the bandwidths and peak rates of a device",
        description="Measures what a device can do at most, or says what was measured before under "
        "the same driver. Exit code: 0 measured, 2 a device could not be measured.",
        allow_abbrev=False,
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    where.add_argument("--all", action="store_true", help="every device but simulators")
    parser.add_argument("--again", action="store_true", help="measure even what is known")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_png(parser, "draw the roofline")
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Measures and prints the ceilings."""
    engine = Engine()
    found: list[Measured] = []
    failures: list[Failure] = []
    try:
        check_picture("--png", arguments.png)
        devices = _devices(engine.list_devices(), arguments)
        for job_id, device in enumerate(devices):
            say(device_label(device))
            experiment = MeasureCeilings(job_id, device, arguments.again)
            outcome = drain(engine, engine.perform(experiment), job_id, _Progress())
            assert isinstance(outcome, Outcome)
            failure = outcome.failure
            if outcome.stopped:
                failure = Failure("stopped", "Stopped before every ceiling was measured.")
            if failure is not None:
                failures.append(failure)
            if isinstance(outcome.answer, CeilingTable):
                found.append((device, outcome.answer))
            if outcome.stopped:
                break
    except SelectionError as error:
        failures.append(error.failure)
    except KeyboardInterrupt:
        failures.append(Failure("stopped", "Stopped before the measurement began."))
    finally:
        engine.close()
    return _tell(arguments, found, failures)


def _devices(listing: Listing, arguments: argparse.Namespace) -> list[Device]:
    """The devices to measure.

    Raises:
        SelectionError: There is none, or none that ``--device`` names.
    """
    if not arguments.all:
        return [find_device(listing, arguments.device)]
    devices = [device for platform in listing.platforms for device in platform.devices]
    return list(measurable(devices)) or [find_device(listing, None)]


def _tell(arguments: argparse.Namespace, found: list[Measured], failures: list[Failure]) -> int:
    """Prints what was found, draws it, and says what went wrong."""
    for failure in failures:
        say("\n".join(filter(None, (failure.sentence, failure.detail))))
    if arguments.json:
        rows = [row for device, table in found for row in _rows(device, table)]
        empty = {"failure": to_json(failures[0])} if failures else []
        print(json.dumps(rows or empty, indent=2))
    else:
        for device, table in found:
            _print(device, table)
    drawn = not found or save_picture(arguments, lambda: _chart(found))
    return 2 if failures or not drawn else 0


def _rows(device: Device, table: CeilingTable) -> list[dict[str, Any]]:
    """One object a ceiling; keys are only ever added."""
    return [
        {"device": device.name, "platform": device.platform, **to_json(ceiling)}
        for ceiling in table.ceilings
    ]


def _print(device: Device, table: CeilingTable) -> None:
    print(f"{device_label(device)}, measured {moment(table.measured_at)}")
    for ceiling in table.ceilings:
        value, unit = scaled(ceiling.value, ceiling.unit)
        name = f"{ceiling.name} {ceiling.element}"
        print(f"  {name:<24}{value:>6} {unit:<9}{ceiling.detail}")
    for element in device.elements:
        if (place := ridge(table, element)) is not None:
            print(f"  {element}: arithmetic limits from {place:.3g} FLOP/B on, "
                  "global memory below")  # fmt: skip


def _chart(found: list[Measured]) -> Chart:
    from gemmviz.views.charts.roofline import RooflineChart  # noqa: PLC0415 (only where asked for)

    chart = RooflineChart()
    chart.set_heading("Measured ceilings")
    chart.set_roofs(
        tuple(DeviceRoofs(device_label(device), roofs(table)) for device, table in found)
    )
    return chart


class _Progress(Progress):
    """The ceilings as they come, without the phases of each."""

    def show(self, message: Message) -> None:
        """Shows one message."""
        match message:
            case CeilingRead(ceiling=ceiling):
                value = " ".join(scaled(ceiling.value, ceiling.unit))
                self._line(f"{ceiling.name} {ceiling.element}: {value}")
            case Progressed(share=1.0, text=text):
                self._line(text)
            case _:
                pass
