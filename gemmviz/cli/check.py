"""``gemmviz check``: races, barriers and stray accesses of a kernel, under a simulator."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gemmviz.cli.measuring import Progress, add_form, drain, parse_shape, with_form
from gemmviz.cli.selection import SelectionError, find_parameters, find_variant, say
from gemmviz.core.codec import to_json
from gemmviz.core.experiments import CheckRaces, Outcome
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import ELEMENTS, Failure, Problem
from gemmviz.core.races import RaceReport
from gemmviz.engine.plan import Engine

_CHECK = 1
_SHAPE = (41, 35, 45)


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "check",
        help="look for races, divergent barriers and stray accesses",
        description="Runs the kernel once under the simulator Oclgrind. Exit code: 0 nothing was "
        "found, 1 something was, 2 it could not be checked.",
        allow_abbrev=False,
    )
    parser.add_argument("kernel", metavar="KERNEL", help="an id, or the path of a .toml")
    parser.add_argument("-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel, as TS=16")  # fmt: skip
    parser.add_argument("--shape", type=parse_shape, metavar="M,N,K", default=_SHAPE,
                        help="small and no multiple of a tile, but two tiles or more "
                        f"(default {','.join(map(str, _SHAPE))})")  # fmt: skip
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="float")
    add_form(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Checks the kernel and prints what is found."""
    engine = Engine()
    try:
        variant = find_variant(arguments.kernel)
        parameters = find_parameters(variant, arguments.parameters)
        m, n, k = arguments.shape
        problem = with_form(Problem(m, n, k, arguments.element), arguments)
        experiment = CheckRaces(_CHECK, variant, parameters, problem)
        outcome = drain(engine, engine.perform(experiment), _CHECK, Progress())
        assert isinstance(outcome, Outcome)
    except SelectionError as error:
        return _unable(arguments, error.failure, None)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the check began."), None)
    finally:
        engine.close()
    report = outcome.answer if isinstance(outcome.answer, RaceReport) else None
    failure = outcome.failure
    if outcome.stopped:
        failure = Failure("stopped", "Stopped before the check was over.")
    if failure is not None or report is None:
        return _unable(arguments, failure or Failure("stopped", "There is no report."), report)
    if arguments.json:
        print(json.dumps({**to_json(report), "failure": None}, indent=2))
    else:
        what = " ".join((report.kernel, describe_parameters(parameters))).strip()
        print(f"{what} at {' x '.join(map(str, report.shape))} under {report.simulator}")
        _print(report)
    return 1 if report.findings else 0


def _print(report: RaceReport) -> None:
    for finding in report.findings:
        times = f"  ({finding.count} reports)" if finding.count > 1 else ""
        print(f"{finding.kind}: {finding.sentence}{times}")
    if not report.findings:
        print("Nothing was found.")
    print(report.remark)


def _unable(arguments: argparse.Namespace, failure: Failure, report: RaceReport | None) -> int:
    """Says why it was not checked, and what was found before; with ``--json`` in the same keys."""
    if arguments.json:
        keys = ("kernel", "shape", "simulator", "findings", "seconds", "remark")
        partial = dict.fromkeys(keys) | {"kernel": arguments.kernel, "findings": []}
        found = partial if report is None else to_json(report)
        print(json.dumps({**found, "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
        if failure.detail:
            say(failure.detail)
        if report is not None and report.findings:
            _print(report)
    return 2
