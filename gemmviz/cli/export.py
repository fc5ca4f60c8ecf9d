"""``gemmviz export``: draws a chart of saved results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemmviz.cli.picture import add_png, check_picture, drawn
from gemmviz.cli.selection import SelectionError, say
from gemmviz.core.codec import to_json
from gemmviz.core.exhibits import EXHIBITS, exhibit_of
from gemmviz.core.model import Failure, Result
from gemmviz.core.result_document import DocumentError
from gemmviz.core.result_source import results_of


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "export",
        help="draw a chart of saved results",
        description="Draws a chart of a results file, of results exported as JSON, or of a PNG "
        "that gemmviz saved. A PNG carries the results that it shows and can be opened again. "
        "Exit code: 0 it was drawn, 2 it could not be.",
        epilog="Charts: " + "; ".join(f"{each.name}: {each.text}" for each in EXHIBITS) + ".",
        allow_abbrev=False,
    )
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the file")
    parser.add_argument("--chart", choices=[each.name for each in EXHIBITS], default="compare",
                        help="which (default: %(default)s)")  # fmt: skip
    add_ids(parser)
    add_png(parser, "the picture")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="the same as a vector drawing")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def add_ids(parser: argparse.ArgumentParser) -> None:
    """Adds the option that picks results."""
    parser.add_argument("--id", dest="ids", nargs="+", type=int, action="extend", default=[],
                        metavar="N", help="only these results")  # fmt: skip


def answer(arguments: argparse.Namespace) -> int:
    """Draws the chart and says where it is."""
    exhibit = exhibit_of(arguments.chart)
    if arguments.png is None and arguments.svg is None:
        return _unable(arguments, Failure("refused", "Say with --png or --svg where to draw."))
    try:
        check_picture("--png", arguments.png)
        check_picture("--svg", arguments.svg, ".svg")
        numbered = list(results_of(arguments.results, arguments.ids, last=exhibit.most))
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except DocumentError as error:
        return _unable(arguments, Failure("refused", str(error)))
    if not numbered:
        empty = f"There is no result in {arguments.results}."
        return _unable(arguments, Failure("not_found", empty))
    if not _draw(arguments, [result for _, result in numbered]):
        return 2
    if arguments.json:
        files = {kind: path and str(path) for kind, path in (("png", arguments.png),
                                                             ("svg", arguments.svg))}  # fmt: skip
        ids = [number for number, _ in numbered]
        print(json.dumps({"chart": exhibit.name, "ids": ids, **files, "failure": None}, indent=2))
    return 0


def _draw(arguments: argparse.Namespace, results: Sequence[Result]) -> bool:
    """Writes the files that were asked for; says on stderr what came of each."""
    done = True
    for path in filter(None, (arguments.png, arguments.svg)):

        def draw(path: Path = path) -> None:
            from gemmviz.views.charts.gallery import draw_exhibit  # noqa: PLC0415 (loads Qt)

            draw_exhibit(arguments.chart, results, path, scale=arguments.scale,
                         theme=arguments.theme)  # fmt: skip

        done = drawn(path, draw) and done
    return done


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing was drawn; with ``--json`` in the same keys."""
    if arguments.json:
        keys = dict.fromkeys(("chart", "ids", "png", "svg"))
        print(json.dumps({**keys, "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
