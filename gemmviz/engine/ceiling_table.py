"""The ceilings of a device from the host's side: asked of its child once, kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.codec import CodecError, from_json, to_json
from gemmviz.core.experiments import MeasureCeilings
from gemmviz.core.messages import CeilingRead, Failed, Message, Progressed, ReadCeilings
from gemmviz.core.model import Device
from gemmviz.core.paths import cache_dir
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_METHOD = 1
"""Counts the ways in which ceilings were measured; tables of earlier ones are not comparable."""


def measure_ceilings(
    experiment: MeasureCeilings, engine: Engine
) -> Generator[Message, None, CeilingTable]:
    """The ceilings of a device, from disk unless they are to be measured again.

    Yields:
        What the child says of its progress.

    Returns:
        The table; of a measurement that was stopped what it had found, which is not kept.

    Raises:
        ExperimentFailed: The device refused; the answer is what it had found.
    """
    device, job_id = experiment.device, experiment.job_id
    if not experiment.again:
        kept = kept_ceilings(device)
        if kept is not None:
            yield Progressed(job_id, 1.0, f"{device.name} was measured before")
            return kept
    found: list[Ceiling] = []
    for message in engine.ask(ReadCeilings(job_id, device), job_id, [device.key]):
        match message:
            case CeilingRead(ceiling=ceiling):
                found.append(ceiling)
                yield message
            case Failed(failure=failure):
                table = _table(device, found)
                raise ExperimentFailed(failure, table if found else None)
            case _:
                yield message
    table = _table(device, found)
    if not engine.was_stopped(job_id):
        _keep(device, table)
    return table


def kept_ceilings(device: Device) -> CeilingTable | None:
    """The ceilings of a device as they were measured under its present driver, or None."""
    try:
        kept = from_json(CeilingTable, json.loads(_path(device).read_text()))
    except (OSError, ValueError, CodecError):
        return None
    return kept if kept.ceilings and kept.device == device.key else None


def _keep(device: Device, table: CeilingTable) -> None:
    """Writes a table; a folder that cannot be written costs another measurement and no more."""
    path = _path(device)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(to_json(table)))


def _path(device: Device) -> Path:
    """Where the table is: another driver or another number of units makes it another device."""
    what = [_METHOD, to_json(device.key), device.driver_version, device.compute_units]
    name = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    return cache_dir() / "ceilings" / f"{name}.json"


def _table(device: Device, found: list[Ceiling]) -> CeilingTable:
    return CeilingTable(device.key, device.driver_version, tuple(found), time.time())
