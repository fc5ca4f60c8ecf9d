"""``gemmviz advise``: what to try next with a kernel, with the evidence and the gain to expect."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from gemmviz.cli.measuring import Progress, add_measuring, drain, make_job
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.access.machine import machine_for
from gemmviz.core.advice.advise import advise
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.situation import (
    Measurement,
    Situation,
    configuration_label,
    imagined_device,
    measurement_of,
)
from gemmviz.core.catalog import load_catalog
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.codec import to_json
from gemmviz.core.estimate import Estimate
from gemmviz.core.experiments import MeasureCeilings, Outcome, Throttle
from gemmviz.core.expr import ExprError
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.libraries import no_source
from gemmviz.core.limits import limits_for, named_limits
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, Failure, Job, Registers, Result
from gemmviz.core.paths import data_dir
from gemmviz.core.throttle import ThrottleCurve
from gemmviz.core.trust import DeviceTimer
from gemmviz.engine.ceiling_table import kept_ceilings
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

Answer = TypeVar("Answer", CeilingTable, ThrottleCurve)

_PICTURE_WIDTH, _HEAD_PIXELS, _ROW_PIXELS = 1100, 110, 112
_JOB, _CEILINGS, _THROTTLE = 1, 2, 3


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "advise",
        help="say what to try next with a kernel",
        description="At most five findings, the most valuable first, from the kernel's accesses, "
        "its occupancy and a quick run. Exit code: 0 unless nothing could be said.",
        allow_abbrev=False,
    )
    parser.add_argument("kernel", metavar="KERNEL", help="an id, or the path of a .toml")
    parser.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel, as TS=16")  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    where.add_argument("--on", metavar="GPU", help='"CC 9.0", gfx1030, ...: nothing is run')
    parser.add_argument("--measure", action="store_true",
                        help="measure ceilings and the throttling curve as well")  # fmt: skip
    add_measuring(parser)
    add_png(parser, "draw the findings")
    parser.set_defaults(answer=answer, policy="quick")


# A median to a few per cent is enough to advise by, and a slow kernel is not worth waiting for.
_LIMIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Learned:
    """What running and measuring on a device has told."""

    measured: tuple[Measurement, ...] = ()
    timer: DeviceTimer | None = None
    ceilings: CeilingTable | None = None
    throttle: ThrottleCurve | None = None
    registers: Registers | None = None


def answer(arguments: argparse.Namespace) -> int:
    """Prints the findings; 2 when the kernel or the device is unknown, or it is a library."""
    engine = Engine()
    try:
        check_picture("--png", arguments.png)
        situation = _situation(engine, arguments)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before anything was known."))
    finally:
        engine.close()
    findings = advise(situation)
    if arguments.json:
        print(json.dumps({"findings": [_object(found) for found in findings]}, indent=2))
    else:
        _print(situation, findings)

    def make_chart() -> Chart:
        from gemmviz.views.charts.advice import AdviceChart  # noqa: PLC0415

        chart = AdviceChart()
        chart.show_findings(_heading(situation), findings)
        return chart

    size = _PICTURE_WIDTH, _HEAD_PIXELS + _ROW_PIXELS * max(1, len(findings))
    return 0 if save_picture(arguments, make_chart, size) else 2


def _situation(engine: Engine, arguments: argparse.Namespace) -> Situation:
    """Gathers what can be known.

    Raises:
        SelectionError: The kernel, a parameter, the device or the GPU is unknown, or the kernel is
            a library's.
    """
    variant = find_variant(arguments.kernel)
    if variant.library:
        raise SelectionError(no_source(variant), "refused")
    parameters = find_parameters(variant, arguments.parameters)
    learned = _Learned()
    if arguments.on is not None:
        try:
            limits: Limits | None = named_limits(arguments.on)
        except ValueError as error:
            raise SelectionError(str(error), "refused") from error
        assert limits is not None
        device = imagined_device(limits)
        job = make_job(arguments, _JOB, variant, parameters, device)
    else:
        device = find_device(engine.list_devices(), arguments.device)
        limits = limits_for(device)
        job = make_job(arguments, _JOB, variant, parameters, device)
        if arguments.policy == "quick" and arguments.launches is None:
            job = replace(job, policy=replace(job.policy, limit_seconds=_LIMIT_SECONDS))
        learned = _learn(engine, job, device, measure=arguments.measure)
    machine = machine_for(device, limits)
    registers = learned.registers.registers if learned.registers is not None else None
    return Situation(
        device, limits, variant, parameters, job.problem,
        candidates=load_catalog(data_dir("kernels")).variants,
        machine=machine,
        estimate=_estimate(job, device, limits, registers),
        measured=learned.measured, timer=learned.timer, ceilings=learned.ceilings,
        throttle=learned.throttle, registers=learned.registers,
    )  # fmt: skip


def _learn(engine: Engine, job: Job, device: Device, *, measure: bool) -> _Learned:
    """Runs the job and asks for what else is known; a run that is refused tells nothing."""
    result = drain(engine, engine.run(job, device), job.id, Progress())
    assert isinstance(result, Result)
    if result.failure is not None:
        say(result.failure.sentence)
    ceilings, throttle = kept_ceilings(device), None
    if measure:
        ceilings = ceilings or _perform(engine, MeasureCeilings(_CEILINGS, device), CeilingTable)
        if device.type == "GPU":
            experiment = Throttle(_THROTTLE, job, device)
            throttle = _perform(engine, experiment, ThrottleCurve)
    return _Learned(
        (measurement_of(result),), result.timer, ceilings, throttle, engine.registers(job, device)
    )


def _perform(
    engine: Engine, experiment: MeasureCeilings | Throttle, kind: type[Answer]
) -> Answer | None:
    """The whole answer of an experiment, or None; why there is none is said on stderr."""
    outcome = drain(engine, engine.perform(experiment), experiment.job_id, Progress())
    assert isinstance(outcome, Outcome)
    if outcome.failure is not None:
        say(outcome.failure.sentence)
    whole = outcome.failure is None and not outcome.stopped
    return outcome.answer if whole and isinstance(outcome.answer, kind) else None


def _estimate(
    job: Job, device: Device, limits: Limits | None, registers: int | None
) -> Estimate | None:
    try:
        return estimate_for(
            job.variant, job.parameters, job.problem, device, limits, registers=registers
        )
    except (ExprError, ValueError):
        return None


def _object(found: Finding) -> dict[str, Any]:
    """A finding as JSON; keys are only ever added."""
    made = to_json(replace(found, variant=None))  # its source is no part of a report
    del made["variant"]
    return {**made, "parameters": dict(found.parameters), "kernel": found.kernel or None}


def _heading(situation: Situation) -> str:
    device = situation.device
    where = device_label(device) if device.platform else device.name
    what = configuration_label(situation.variant, situation.parameters)
    return f"{what} at {problem_label(situation.problem)} on {where}"


def _print(situation: Situation, findings: tuple[Finding, ...]) -> None:
    print(_heading(situation))
    if not findings:
        print("Nothing to improve is known.")
    for number, found in enumerate(findings, start=1):
        print(f"\n{number}. {found.title}: {found.gain_text}")
        print(f"   {found.evidence} ({found.source})")
        print(f"   {found.action}")


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    if arguments.json:
        print(json.dumps({"findings": [], "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
