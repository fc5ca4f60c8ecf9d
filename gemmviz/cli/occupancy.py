"""``gemmviz occupancy``: how many work-groups one compute unit holds, and what limits them."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.codec import to_json
from gemmviz.core.expr import ExprError
from gemmviz.core.feasibility import local_limit
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters, geometry
from gemmviz.core.limits import limits_for, named_limits
from gemmviz.core.model import ELEMENTS, Failure, Job, Problem
from gemmviz.core.occupancy import Estimate, estimate, estimate_on
from gemmviz.core.units import memory, percent
from gemmviz.engine.plan import Engine


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser("occupancy", help="estimate the occupancy of a kernel")
    parser.add_argument("kernel", metavar="KERNEL", help="an id, or the path of a .toml")
    parser.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel, as TS=16")  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--on", metavar="GPU", help='"CC 9.0", gfx1030, DG2, ...: no device needed')
    where.add_argument("--device", metavar="TEXT", help="a device of this machine")
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="float")
    parser.add_argument("--registers", type=_registers, metavar="R", help="a work-item's registers")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def _registers(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 1024")
    return value


def answer(arguments: argparse.Namespace) -> int:
    """Prints the estimate; 2 when the kernel or the GPU is unknown."""
    try:
        result, heading = _estimate(arguments)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except (ValueError, ExprError) as error:
        return _unable(arguments, Failure("refused", f"{error}"))
    if arguments.json:
        report = to_json(result)
        report["limit_details"] = report["limits"]
        report["limits"] = {limit.name: limit.groups for limit in result.limits}
        print(json.dumps(report, indent=2))
    else:
        print(heading)
        _print(result)
    return 0


def _estimate(arguments: argparse.Namespace) -> tuple[Estimate, str]:
    """The estimate, and what it is of: kernel, parameters and device."""
    variant = find_variant(arguments.kernel)
    parameters = find_parameters(variant, arguments.parameters)
    problem = Problem(1024, 1024, 1024, arguments.element)
    shape = geometry(variant, parameters, problem)
    what = " ".join((variant.id, describe_parameters(parameters))).strip()
    if arguments.on is not None:
        limits = named_limits(arguments.on)
        found = estimate(limits, shape.group_size, shape.local_bytes, arguments.registers)
        return found, f"{what} on {limits.name}"
    engine = Engine()
    try:
        device = find_device(engine.list_devices(), arguments.device)
        registers = arguments.registers
        if registers is None:
            report = engine.registers(Job(1, device.key, variant, parameters, problem), device)
            registers = report and report.registers
    finally:
        engine.close()
    row = limits_for(device)
    most = local_limit(variant, parameters, problem, device, row)
    found = estimate_on(
        device, row, shape.group_size, shape.local_bytes, registers, local_limit=most
    )
    return found, f"{what} on {device_label(device)}"


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
