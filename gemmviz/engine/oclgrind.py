"""Runs a kernel once under the Oclgrind simulator and reads what it complains about."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gemmviz.core.experiments import CheckRaces
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import refusal
from gemmviz.core.labels import platform_label
from gemmviz.core.launch import geometry
from gemmviz.core.libraries import no_source
from gemmviz.core.messages import Failed, Finished, LaunchOnce, Listing, Message, Progressed
from gemmviz.core.model import Device, Failure, Job
from gemmviz.core.races import RaceReport, parse_log
from gemmviz.engine.failed import ExperimentFailed

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_LIMIT_SECONDS = 300.0
# Any real device's: what fits none of them is a fault to report elsewhere.
_LOCAL_BYTES = 256 * 1024
_GROUP_SIZE = 4096
_MOST_ERRORS = 1000
_ENVIRONMENT = {
    "OCLGRIND_DATA_RACES": "1",
    "OCLGRIND_UNINITIALIZED": "1",
    "OCLGRIND_CHECK_API": "1",
    "OCLGRIND_MAX_ERRORS": str(_MOST_ERRORS),
    "OCLGRIND_LOCAL_MEM_SIZE": str(_LOCAL_BYTES),
    "OCLGRIND_MAX_WGSIZE": str(_GROUP_SIZE),
    "OCLGRIND_NUM_THREADS": "1",  # with more, what it reports first is left to chance
    "LC_ALL": "C",
}
# An optimised build merges barriers and loses lines.
_BUILD_OPTIONS = "-cl-opt-disable"

ABSENT = Failure(
    "not_found",
    'The simulator Oclgrind is not installed: pip install "gemmviz[oclgrind]" brings it.',
)


def find_simulator(listing: Listing) -> Device | None:
    """Oclgrind's device, or None where it is not installed."""
    for platform in listing.platforms:
        for device in platform.devices:
            if device.type == "simulator" and "oclgrind" in device.platform.lower():
                return device
    return None


def check_races(experiment: CheckRaces, engine: Engine) -> Generator[Message, None, RaceReport]:
    """Looks for races, divergent barriers and stray accesses of a kernel at one shape.

    Raises:
        ExperimentFailed: There is no simulator, or it cannot run the kernel; what it found before
            is the answer then.
    """
    yield Progressed(experiment.job_id, None, "Looking for the simulator")
    device = find_simulator(engine.list_devices())
    if device is None:
        raise ExperimentFailed(ABSENT)
    return (yield from simulate(experiment, engine, device))


def simulate(
    experiment: CheckRaces, engine: Engine, device: Device
) -> Generator[Message, None, RaceReport]:
    """The same on a simulator that is known.

    Raises:
        ExperimentFailed: See :func:`check_races`.
    """
    variant, problem = experiment.variant, experiment.problem
    refused = _refusal(experiment, device)
    if refused is not None:
        raise ExperimentFailed(Failure("refused", refused))
    text = f"Simulating {variant.id} at {problem.m} x {problem.n} x {problem.k}"
    yield Progressed(experiment.job_id, None, text)
    job = Job(
        experiment.job_id, device.key, variant, experiment.parameters, problem,
        check=False, build_options=_BUILD_OPTIONS, launch_limit_seconds=_LIMIT_SECONDS,
    )  # fmt: skip
    begun = time.monotonic()
    failure: Failure | None = None
    with tempfile.TemporaryDirectory(prefix="gemmviz-") as folder:
        log = Path(folder) / "oclgrind.log"
        environment = {**_ENVIRONMENT, "OCLGRIND_LOG": str(log)}
        for message in engine.ask(LaunchOnce(job), job.id, [device.key], environment):
            if isinstance(message, Failed):
                failure = message.failure
            elif isinstance(message, Finished) and message.stopped:
                failure = Failure("stopped", "The check was stopped.")
        written = log.read_text(errors="replace") if log.exists() else ""
    findings = parse_log(written, f"{variant.id}.cl")
    report = RaceReport(
        variant.id,
        (problem.m, problem.n, problem.k),
        platform_label(device.platform, device.platform_version),
        findings,
        time.monotonic() - begun,
        _remark(experiment, sum(finding.count for finding in findings)),
    )
    if failure is not None:
        raise ExperimentFailed(failure, report)
    return report


def _refusal(experiment: CheckRaces, device: Device) -> str | None:
    """Why the simulator cannot run it, or None; it is told to allow what any real device does."""
    roomy = replace(
        device, local_mem_bytes=_LOCAL_BYTES, max_work_group_size=_GROUP_SIZE,
        max_work_item_sizes=(_GROUP_SIZE,) * 3,
    )  # fmt: skip
    if experiment.variant.library:
        return no_source(experiment.variant)
    if experiment.problem.element == "half":
        return "Oclgrind does not compute in half."
    return refusal(experiment.variant, experiment.parameters, experiment.problem, roomy)


def _remark(experiment: CheckRaces, reports: int) -> str:
    """What limits the check at this shape."""
    problem = experiment.problem
    remark = (
        f"Checked at {problem.m} x {problem.n} x {problem.k} alone: what is not found there may "
        "show at another shape."
    )
    if reports >= _MOST_ERRORS:
        remark += f" The simulator is silent after {_MOST_ERRORS} reports, so more may be wrong."
    try:
        rows, cols = geometry(experiment.variant, experiment.parameters, problem).tile
    except ExprError:
        return remark
    if problem.m <= rows or problem.n <= cols:
        remark += f" With one tile of {rows} x {cols} faults between groups cannot show."
    elif problem.m % rows == 0 and problem.n % cols == 0:
        remark += f" Tiles of {rows} x {cols} fit it exactly, so faults at edges cannot show."
    return remark
