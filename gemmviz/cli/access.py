"""``gemmviz access``: what a kernel's source reads and writes, warp by warp."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from gemmviz.cli.measuring import add_form, parse_shape, with_form
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, find_parameters, find_variant, say
from gemmviz.core.access.cautions import cautions
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse, pads, trace
from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.marks import not_followed_words, used_share
from gemmviz.core.access.report import Access, AccessReport, Machine, Pad
from gemmviz.core.codec import to_json
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.limits import named_limits
from gemmviz.core.model import ELEMENTS, Failure, Parameters, Problem, Variant
from gemmviz.core.units import memory, percent, scaled
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_SIZE = 512
_ALIKE = 0.01  # of the FLOP that a launch needs: as much more or less is not told apart


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "access",
        help="show what each access of a kernel costs a warp",
        description="Sectors of global memory and passes of local banks, from the source alone: no "
        "device is needed, and the shape need not fit one. A compiler may merge accesses.",
    )
    parser.add_argument("kernel", metavar="KERNEL", help="an id, or the path of a .toml")
    parser.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel, as TS=16")  # fmt: skip
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--size", dest="shape", type=_cube, metavar="N",
                       help=f"M = N = K (default {_SIZE})")  # fmt: skip
    shape.add_argument("--shape", type=parse_shape, metavar="M,N,K")
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="float")
    add_form(parser)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--on", metavar="GPU", help='"CC 9.0", gfx1030, DG2, ...: no device needed')
    where.add_argument("--device", metavar="TEXT", help="a device of this machine")
    parser.add_argument("--warp", type=_count, metavar="W", help="work-items of a warp")
    parser.add_argument("--banks", type=_count, metavar="B", help="banks of local memory")
    parser.add_argument("--pads", action="store_true", help="try pads for the local arrays' rows")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_png(parser, "draw what the first warp touches, and how the banks serve it")
    parser.set_defaults(answer=answer)


def _cube(text: str) -> tuple[int, int, int]:
    return parse_shape(f"{text},{text},{text}")


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 1024")
    return value


def answer(arguments: argparse.Namespace) -> int:
    """Prints the report; 2 when the kernel, the GPU, the source or the picture cannot be used.

    A kernel that is followed in part only ends with 0, and what was not followed is said first.
    """
    m, n, k = arguments.shape or (_SIZE,) * 3
    problem = with_form(Problem(m, n, k, arguments.element), arguments)
    try:
        check_picture("--png", arguments.png)
        variant = find_variant(arguments.kernel)
        parameters = find_parameters(variant, arguments.parameters)
        machine, place = _machine(arguments)
        report = analyse(variant, parameters, problem, machine)
        tried = pads(variant, parameters, problem, machine) if arguments.pads else ()
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except (LensError, ValueError) as error:
        return _unable(arguments, Failure("refused", f"{error}"))
    if arguments.json:
        head = {"kernel": variant.id, "parameters": dict(parameters), "m": m, "n": n, "k": k,
                "element": problem.element}  # fmt: skip
        extra = {"pads": to_json(tried)} if arguments.pads else {}
        warned = {"cautions": list(cautions(variant, parameters, problem))}
        print(json.dumps({**head, **warned, **to_json(report), **extra}, indent=2))
    else:
        what = " ".join((variant.id, describe_parameters(parameters))).strip()
        print(f"{what} at {problem_label(problem)}{place}")
        print(f"{machine.warp} lanes a warp, {machine.banks} banks ({machine.source})")
        for caution in cautions(variant, parameters, problem):
            print(caution)
        _print_unknowns(report)
        _print_accesses(report)
        _print_totals(report)
        if arguments.pads:
            _print_pads(report, tried)
    about = variant, parameters, problem
    return 0 if save_picture(arguments, lambda: _chart(*about, report)) else 2


def _chart(
    variant: Variant, parameters: Parameters, problem: Problem, report: AccessReport
) -> Chart:
    """The chart that ``--png`` asks for."""
    from gemmviz.views.charts.access_words import access_chart  # noqa: PLC0415 (Qt when needed)

    touches = trace(variant, parameters, problem, report.machine)
    return access_chart(variant, parameters, problem, report, touches)


def _machine(arguments: argparse.Namespace) -> tuple[Machine, str]:
    """Warp and banks, and on what, as words."""
    if arguments.on is not None:
        limits = named_limits(arguments.on)
        return machine_for(None, limits, arguments.warp, arguments.banks), f" on {limits.name}"
    if arguments.device is None:
        return machine_for(None, None, arguments.warp, arguments.banks), ""
    engine = Engine()
    try:
        device = find_device(engine.list_devices(), arguments.device)
    finally:
        engine.close()
    machine = machine_for(device, None, arguments.warp, arguments.banks)
    return machine, f" on {device_label(device)}"


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    if arguments.json:
        print(json.dumps({"failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2


def _print_unknowns(report: AccessReport) -> None:
    if report.unknowns:
        print("\nNOT FOLLOWED, and left out of all figures below:")
        for unknown in report.unknowns:
            print(f"  line {unknown.line}: {unknown.reason}")


def _print_accesses(report: AccessReport) -> None:
    print(f"\n{'line':>6}  {'access':<38}{'a warp takes':<25}pattern")
    for access in report.accesses:
        text = access.text if len(access.text) < 30 else f"{access.text[:27]}..."
        print(f"{access.line:>6}  {access.kind + ' ' + text:<38}{_cost(access):<25}"
              f"{access.pattern}")  # fmt: skip


def _cost(access: Access) -> str:
    """What the worst warp pays, and what it must where that is less: "16 sectors, ideal 2"."""
    if access.space == "global":
        count, word, least = access.sectors or 0, "sector", access.ideal_sectors or 0
    else:
        count, word, least = access.passes or 0, "pass", access.ideal_passes or 1
    many = "" if count == 1 else "es" if word == "pass" else "s"
    return f"{count} {word}{many}" + (f", ideal {least}" if least < count else "")


def _print_totals(report: AccessReport) -> None:
    print("\nThe worst warp's figures, ideal is what the same elements side by side would take.")
    at_least = "at least " if report.unknowns else ""
    count = report.groups
    words = f"{count} group{'s' * (count != 1)} of {report.group_size}; "
    words += " ".join(scaled(report.flop, "FLOP"))
    if abs(report.executed_flop - report.flop) > _ALIKE * report.flop:
        executed = " ".join(scaled(report.executed_flop, "FLOP"))
        words += f", {at_least}{executed} in the source"
    print(words)
    moved, used = memory(report.sector_bytes), used_share(report)
    share = f" ({percent(used)} used)" if used is not None else ""
    print(f"global {at_least}{memory(report.global_traffic_bytes)} asked, {at_least}{moved} moved "
          f"in whole sectors{share}; the matrices are {memory(report.minimum_bytes)}")  # fmt: skip
    if report.local_traffic_bytes:
        print(f"local {at_least}{memory(report.local_traffic_bytes)} asked")
    if report.unknowns:
        print(f"intensity and reuse are not known: {not_followed_words(report)}")
    elif report.intensity is not None and report.reuse is not None:
        print(f"intensity {report.intensity:.3g} FLOP/B; a naive kernel asks {report.reuse:.3g} "
              "times as much of global memory")  # fmt: skip


def _print_pads(report: AccessReport, tried: tuple[Pad, ...]) -> None:
    if not tried:
        print("\nNo local array has rows that a pad could lengthen.")
        return
    least = min(pad.total_passes for pad in tried)
    best = next(pad for pad in tried if pad.total_passes == least)
    print("\n pad  passes of a group  local memory  worst passes by access")
    for pad in tried:
        each = ", ".join(
            f"{report.accesses[number].array} {report.accesses[number].kind} {passes}"
            for number, passes in pad.passes
        )
        mark = "  <- best" if pad is best else ""
        print(f"{pad.pad:>4}{pad.total_passes:>19}{memory(pad.local_bytes):>14}  {each}{mark}")
