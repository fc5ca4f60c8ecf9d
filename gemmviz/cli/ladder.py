"""``gemmviz ladder``: measures the ladder of kernels rung by rung."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from gemmviz.cli.measuring import Progress, add_problem, drain, make_problem
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, say
from gemmviz.core.catalog import load_catalog
from gemmviz.core.codec import to_json
from gemmviz.core.experiments import ClimbLadder, Outcome
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.ladder import CLIMB, SIGNS, Ladder, Rung, sentences
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Device, Failure
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import PRESETS
from gemmviz.core.units import memory, percent, throughput
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_CLIMB = 1
_NONE = "–"
_HEADER = ("rung", "kernel", "speed", "step", "of library", "of peak", "registers", "local",
           "occupancy", "parameters")  # fmt: skip
_FIGURES = range(2, 9)
_PICTURE = (1400, 820)


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "ladder",
        help="measure the ladder of kernels, each idea against the last",
        description="Each rung in turns with the one below it and with the device's library. "
        "Exit code: 0 all answers are right, 1 one is wrong, 2 it could not run.",
        allow_abbrev=False,
    )
    parser.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    add_problem(parser)
    parser.add_argument("--policy", choices=tuple(name.lower() for name in PRESETS),
                        help="how sure to be (default: up to 3 s a rung)")  # fmt: skip
    add_png(parser, "draw the rungs as a waterfall")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Climbs the ladder and prints what came of each rung."""
    engine = Engine()
    try:
        check_picture("--png", arguments.png)
        device = find_device(engine.list_devices(), arguments.device)
        variants = load_catalog(data_dir("kernels")).variants
        policy = PRESETS[arguments.policy.capitalize()] if arguments.policy else CLIMB
        experiment = ClimbLadder(_CLIMB, device, variants, make_problem(arguments), policy)
        outcome = drain(engine, engine.perform(experiment), _CLIMB, Progress())
        assert isinstance(outcome, Outcome)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the first rung."))
    finally:
        engine.close()
    ladder = outcome.answer
    if outcome.failure is not None or not isinstance(ladder, Ladder):
        return _unable(
            arguments, outcome.failure or Failure("stopped", "Stopped before the first rung.")
        )
    if arguments.json:
        print(json.dumps(_report(ladder), indent=2))
    else:
        _print(ladder, device)
    if outcome.stopped:
        say("Stopped before every rung was measured.")
    if not save_picture(arguments, lambda: _chart(ladder, device), _PICTURE) or outcome.stopped:
        return 2
    if all(rung.flops_per_second is None for rung in ladder.rungs):
        say("No rung could run.")
        return 2
    return 1 if any(rung.wrong for rung in ladder.rungs) else 0


def _report(ladder: Ladder) -> dict[str, Any]:
    """The ladder as JSON; keys are only ever added."""
    report: dict[str, Any] = to_json(ladder)
    fastest = ladder.fastest
    for rung, entry in zip(ladder.rungs, report["rungs"], strict=True):
        entry["parameters"] = dict(rung.parameters)
        entry["step"] = rung.step
        entry["library_share"] = ladder.library_share(rung)
    report["fastest"] = fastest.variant if fastest is not None else None
    report["sentences"] = list(sentences(ladder))
    return report


def _print(ladder: Ladder, device: Device) -> None:
    problem = ladder.problem
    print(f"{problem_label(problem)}, seed {problem.seed}, on {device_label(device)}")
    lines = [_HEADER, *(_cells(ladder, rung) for rung in ladder.rungs)]
    whole = [line for line in lines if len(line) == len(_HEADER)]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    widths[1] = max(len(line[1]) for line in lines)
    for line in lines:
        cells = [
            cell.rjust(width) if column in _FIGURES else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=False))
        ]
        print("  ".join(cells).rstrip())
    for sentence in sentences(ladder):
        print(sentence)


def _cells(ladder: Ladder, rung: Rung) -> tuple[str, ...]:
    """A line of the table; number, name and reason of a rung that did not run."""
    if rung.flops_per_second is None:
        return f"{rung.number}", rung.variant, f"not run: {rung.why_not}"
    step, share = rung.step, ladder.library_share(rung)
    gain = f"{SIGNS[step]} {rung.gain.ratio:.3g}x" if step and rung.gain else ""
    return (
        f"{rung.number}",
        rung.variant,
        throughput(rung.flops_per_second) + " wrong" * rung.wrong,
        gain or _NONE,
        percent(share) if share is not None else _NONE,
        percent(rung.ceiling_share) if rung.ceiling_share is not None else _NONE,
        f"{rung.registers}" if rung.registers is not None else _NONE,
        memory(rung.local_bytes) if rung.local_bytes is not None else _NONE,
        percent(rung.occupancy) if rung.occupancy is not None else _NONE,
        describe_parameters(rung.parameters),
    )


def _chart(ladder: Ladder, device: Device) -> Chart:
    """The chart that ``--png`` asks for."""
    from gemmviz.views.charts.heading import Line  # noqa: PLC0415 (Qt only where it is needed)
    from gemmviz.views.charts.ladder import LadderChart  # noqa: PLC0415

    chart = LadderChart()
    problem = ladder.problem
    chart.set_ladder(ladder)
    chart.set_heading(
        f"The ladder at {problem_label(problem)} on {device_label(device)}",
        tuple(Line(text, "text" if not place else "muted")
              for place, text in enumerate(sentences(ladder))),
    )  # fmt: skip
    return chart


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why there is no ladder; with ``--json`` as an object."""
    if arguments.json:
        print(json.dumps({"rungs": [], "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
