"""``gemmviz occupancy``: how many work-groups one compute unit holds, and what limits them."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gemmviz.cli.measuring import Progress, drain
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.choice import quiet_by_default
from gemmviz.core.codec import to_json
from gemmviz.core.experiments import Experiment, MeasureResidency, Throttle
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import local_limit
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters, geometry
from gemmviz.core.libraries import no_source
from gemmviz.core.limits import limits_for, named_limits
from gemmviz.core.model import ELEMENTS, Device, Failure, Job, Parameters, Problem, Variant
from gemmviz.core.occupancy import Estimate, estimate
from gemmviz.core.policy import QUICK
from gemmviz.core.residency import Residency, describe_residency
from gemmviz.core.steps import StepCurve, step_curves
from gemmviz.core.throttle import ThrottleCurve
from gemmviz.core.units import memory, percent, throughput
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_GPU_SIZE, _CPU_SIZE = 1024, 256
_MEASURING = {
    "--measure": "count resident groups on the device, with a probe of the same size",
    "--instrumented": "with --measure: let the kernel itself count, where it can",
    "--throttle": "measure the kernel with fewer and fewer groups resident",
}


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser("occupancy", help="estimate or measure a kernel's occupancy")
    parser.add_argument("kernel", metavar="KERNEL", help="an id, or the path of a .toml")
    parser.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel, as TS=16")  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--on", metavar="GPU", help='"CC 9.0", gfx1030, DG2, ...: no device needed')
    where.add_argument("--device", metavar="TEXT", help="a device of this machine")
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="float")
    parser.add_argument("--registers", type=_registers, metavar="R", help="a work-item's registers")
    for option, words in _MEASURING.items():
        parser.add_argument(option, action="store_true", help=words)
    sizes = f"M = N = K of --throttle (default {_GPU_SIZE}, {_CPU_SIZE} on a CPU)"
    parser.add_argument("--size", type=_size, metavar="N", help=sizes)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_png(parser, "draw occupancy as one thing varies; with --throttle, speed by groups resident")
    parser.set_defaults(answer=answer)


def _registers(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 1024")
    return value


def _size(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 2**17:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {2**17}")
    return value


@dataclass(frozen=True, slots=True)
class _Findings:
    """What was found: ``heading`` says of which kernel and device."""

    heading: str
    estimate: Estimate
    curves: tuple[StepCurve, ...]
    measured: Residency | None = None
    throttled: ThrottleCurve | None = None


class _Unable(Exception):  # noqa: N818 (it carries the failure of an experiment)
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


def answer(arguments: argparse.Namespace) -> int:
    """Prints the estimate and what is measured; 2 when the kernel or the GPU is unknown.

    2 as well where measuring failed or the picture cannot be written.
    """
    try:
        check_picture("--png", arguments.png)
        found = _find(arguments)
    except (SelectionError, _Unable) as error:
        return _unable(arguments, error.failure)
    except (ValueError, ExprError) as error:
        return _unable(arguments, Failure("refused", f"{error}"))
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before anything was measured."))
    if arguments.json:
        print(json.dumps(_report(found), indent=2))
    else:
        print(found.heading)
        _print(found.estimate)
        for curve in found.curves:
            if curve.next_step.startswith("Next"):
                print(f"{curve.name}: {curve.next_step}")
        if found.measured is not None:
            print(describe_residency(found.measured))
            print(found.measured.difference or "That is the estimate.")
        if found.throttled is not None:
            _print_throttled(found.throttled)
    return 0 if save_picture(arguments, lambda: _chart(found)) else 2


def _report(found: _Findings) -> dict[str, Any]:
    report: dict[str, Any] = to_json(found.estimate)
    report["limit_details"] = report["limits"]
    report["limits"] = {limit.name: limit.groups for limit in found.estimate.limits}
    report["curves"] = to_json(found.curves)
    if found.measured is not None:
        report["measured"] = to_json(found.measured)
    if found.throttled is not None:
        report["throttle"] = to_json(found.throttled)
    return report


def _find(arguments: argparse.Namespace) -> _Findings:
    """The estimate, the curves, and what is to be measured.

    Raises:
        SelectionError: The kernel or the device is not to be had.
        ValueError: The GPU of ``--on`` is unknown.
        ExprError: The kernel has no launch.
    """
    variant = find_variant(arguments.kernel)
    if variant.library:
        raise SelectionError(no_source(variant), "refused")
    parameters = find_parameters(variant, arguments.parameters)
    what = " ".join((variant.id, describe_parameters(parameters))).strip()
    if arguments.on is not None:
        if arguments.measure or arguments.throttle:
            sentence = "To measure takes a device, and --on names one that is not here."
            raise SelectionError(sentence, "refused")
        limits = named_limits(arguments.on)
        problem = Problem(_GPU_SIZE, _GPU_SIZE, _GPU_SIZE, arguments.element)
        shape = geometry(variant, parameters, problem)
        found = estimate(limits, shape.group_size, shape.local_bytes, arguments.registers)
        curves = step_curves(variant, parameters, problem, limits, registers=arguments.registers)
        return _Findings(f"{what} on {limits.name}", found, curves)
    if arguments.registers is not None and arguments.measure:
        sentence = "--measure counts the groups of the real kernel, so --registers has no place."
        raise SelectionError(sentence, "refused")
    engine = Engine()
    try:
        device = find_device(engine.list_devices(), arguments.device)
        return _on_device(arguments, engine, device, variant, parameters)
    finally:
        engine.close()


def _on_device(
    arguments: argparse.Namespace,
    engine: Engine,
    device: Device,
    variant: Variant,
    parameters: Parameters,
) -> _Findings:
    size = arguments.size or (_CPU_SIZE if device.type == "CPU" else _GPU_SIZE)
    problem = Problem(size, size, size, arguments.element)
    policy = QUICK if not quiet_by_default(device) else replace(QUICK, quiet=True)
    job = Job(1, device.key, variant, parameters, problem, policy)
    registers = arguments.registers
    if registers is None:
        report = engine.registers(job, device)
        registers = report and report.registers
    row = limits_for(device)
    found = estimate_for(variant, parameters, problem, device, row, registers=registers)
    most = local_limit(variant, parameters, problem, device, row)
    curves = step_curves(
        variant, parameters, problem, row, device=device, registers=registers, local_limit=most
    )
    what = " ".join((variant.id, describe_parameters(parameters))).strip()
    measured = throttled = None
    if arguments.measure:
        measured = _made(engine, MeasureResidency(job, device, arguments.instrumented))
    if arguments.throttle:
        throttled = _made(engine, Throttle(1, job, device))
    return _Findings(f"{what} on {device_label(device)}", found, curves, measured, throttled)


def _made(engine: Engine, experiment: Experiment) -> Any:
    """The answer of an experiment.

    Raises:
        _Unable: It failed or was stopped.
    """
    outcome = drain(engine, engine.perform(experiment), experiment.job_id, Progress())
    if outcome.failure is not None or outcome.answer is None:
        raise _Unable(outcome.failure or Failure("stopped", "It was stopped."))
    return outcome.answer


def _chart(found: _Findings) -> Chart:
    """The chart that ``--png`` asks for."""
    from gemmviz.views.charts.heading import Line  # noqa: PLC0415 (Qt only where it is needed)
    from gemmviz.views.charts.steps import StepsChart  # noqa: PLC0415
    from gemmviz.views.charts.throttle import ThrottleChart, Throttled  # noqa: PLC0415

    if found.throttled is not None:
        speeds = ThrottleChart()
        speeds.set_curves((Throttled(found.heading, found.throttled),))
        speeds.set_heading(found.heading, (Line(found.throttled.sentence, "text"),))
        return speeds
    chart = StepsChart()
    chart.empty_text = found.estimate.explanation
    chart.set_curves(found.curves)
    lines = [Line(found.estimate.explanation)] if found.curves else []
    if found.measured is not None:
        lines.append(Line(describe_residency(found.measured), "text"))
        lines.append(Line(found.measured.difference or "That is the estimate."))
    chart.set_heading(found.heading, tuple(lines))
    return chart


def _print_throttled(curve: ThrottleCurve) -> None:
    for point in curve.points:
        share = percent(point.flops / curve.points[0].flops)
        print(f"  {_groups(point.groups_per_unit):>10} resident {throughput(point.flops):>14}"
              f" {share:>6}, {memory(point.dummy_bytes)} of dummy local memory")  # fmt: skip
    print(curve.sentence)


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    if arguments.json:
        print(json.dumps({"failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2


def _groups(count: int) -> str:
    return f"{count} group{'s' * (count != 1)}"


def _print(result: Estimate) -> None:
    if result.occupancy is not None:
        print(f"occupancy {percent(result.occupancy)}, {result.confidence}")
    else:
        print(result.confidence)
    if result.groups_per_unit is not None:
        print(
            f"{_groups(result.groups_per_unit)} of {result.group_size} work-items resident on one "
            f"{result.pool_name or 'compute unit'}, {result.work_items} work-items"
        )
    for limit in result.limits:
        mark = "  <- limits" if limit.name in result.limiters else ""
        print(f"  {limit.name:<14}{_groups(limit.groups):>12}{mark}")
    if result.headroom_bytes is not None:
        print(f"{memory(result.local_bytes)} of local memory a group; up to "
              f"{memory(result.headroom_bytes)} would cost no group")  # fmt: skip
    if result.explanation:
        print(result.explanation)
