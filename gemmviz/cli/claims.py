"""``gemmviz claims``: tries the documents' statements on a device."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemmviz import __version__
from gemmviz.cli.measuring import Progress, drain
from gemmviz.cli.picture import add_png, check_picture, save_picture
from gemmviz.cli.selection import SelectionError, find_device, say
from gemmviz.core.catalog import load_catalog
from gemmviz.core.claim_list import CLAIMS
from gemmviz.core.claim_report import claim_page
from gemmviz.core.claims import MARKS, ClaimResult, count_outcomes
from gemmviz.core.codec import to_json
from gemmviz.core.experiments import Outcome, TryClaims
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device, Failure
from gemmviz.core.paths import data_dir
from gemmviz.engine.plan import Engine

if TYPE_CHECKING:
    from gemmviz.views.charts.chart import Chart

_TRIAL = 1


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "claims",
        help="try the documents' statements on a device",
        description="Tries each statement by runs, comparisons, the kernels' sources and the "
        "simulator Oclgrind. Exit code: 0 it was done, whatever came of it, 2 it could not be.",
        allow_abbrev=False,
    )
    parser.add_argument("--device", metavar="TEXT", help="part of a platform's or device's name")
    parser.add_argument("--id", dest="ids", nargs="+", action="extend", default=[], metavar="ID",
                        help=f"only these: {', '.join(claim.id for claim in CLAIMS)}")  # fmt: skip
    parser.add_argument("--report", type=Path, metavar="FILE", help="write an HTML page")
    add_png(parser, "draw the outcomes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def answer(arguments: argparse.Namespace) -> int:
    """Tries the statements and prints what came of each."""
    engine = Engine()
    try:
        check_picture("--png", arguments.png)
        check_picture("--report", arguments.report, ".html", ".htm")
        device = find_device(engine.list_devices(), arguments.device)
        variants = load_catalog(data_dir("kernels")).variants
        experiment = TryClaims(_TRIAL, device, variants, tuple(arguments.ids))
        outcome = drain(engine, engine.perform(experiment), _TRIAL, Progress())
        assert isinstance(outcome, Outcome)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except KeyboardInterrupt:
        return _unable(arguments, Failure("stopped", "Stopped before the first trial."))
    finally:
        engine.close()
    if outcome.failure is not None:
        return _unable(arguments, outcome.failure)
    answers = outcome.answer if isinstance(outcome.answer, tuple) else ()
    results = tuple(result for result in answers if isinstance(result, ClaimResult))
    if arguments.json:
        print(json.dumps(to_json(results), indent=2))
    else:
        _print(results, device)
    if outcome.stopped:
        say("Stopped before every statement was tried.")
    return 0 if _written(arguments, results, device) and not outcome.stopped else 2


def _written(
    arguments: argparse.Namespace, results: tuple[ClaimResult, ...], device: Device
) -> bool:
    """Writes the page and the picture that were asked for; says on stderr why not."""
    if arguments.report is not None:
        try:
            page = claim_page(results, device, __version__, datetime.now().astimezone())
            arguments.report.write_text(page, encoding="utf-8")
        except OSError as error:
            say(f"{arguments.report} cannot be written: {error.strerror}.")
            return False
        say(f"Saved {arguments.report}")

    def make_chart() -> Chart:
        from gemmviz.views.charts.claims import ClaimsChart  # noqa: PLC0415

        chart = ClaimsChart()
        chart.set_results(results, device_label(device))
        return chart

    return save_picture(arguments, make_chart)


def _print(results: tuple[ClaimResult, ...], device: Device) -> None:
    print(f"On {device_label(device)}: {count_outcomes(results)}")
    for document in dict.fromkeys(result.document for result in results):
        print(f"\n{document}")
        for result in results:
            if result.document == document:
                print(f"{MARKS[result.outcome]} {result.outcome}: {result.statement}  "
                      f"[{result.id}]")  # fmt: skip
                for text in filter(None, (result.measured, result.reason)):
                    print(f"    {text}")


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing was tried; with ``--json`` as an object, since there is no list."""
    if arguments.json:
        print(json.dumps({"failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
