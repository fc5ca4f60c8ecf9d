"""``gemmviz export``: draws a chart of saved results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gemmviz.cli.picture import add_png, check_picture, draw_files, say_drawn
from gemmviz.cli.selection import SelectionError, say
from gemmviz.core.codec import to_json
from gemmviz.core.exhibits import EXHIBITS, HEAT_MAP, Exhibit, exhibit_of
from gemmviz.core.kept_sweep import KeptSweep, read_kept_sweep
from gemmviz.core.model import Failure, Result
from gemmviz.core.result_document import DocumentError
from gemmviz.core.result_source import results_of


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "export",
        help="draw a chart of saved results",
        description="Draws a chart of a results file, of results exported as JSON, or of a "
        "picture that gemmviz saved: it carries the results that it shows and can be opened again. "
        "A heat map is that of the newest sweep in the file, as the sweep itself draws it, unless "
        "--id picks results; with several devices or problems there is one for each, and their "
        "names are said: map-intel-512.png. Exit code: 0 it was drawn, 2 it could not be.",
        epilog="Charts: " + "; ".join(f"{each.name}: {each.text}" for each in EXHIBITS) + ".",
        allow_abbrev=False,
    )
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the file")
    parser.add_argument("--chart", choices=[each.name for each in EXHIBITS], default="compare",
                        help="which (default: %(default)s)")  # fmt: skip
    add_ids(parser)
    parser.add_argument("--sweep", type=int, metavar="N",
                        help="only the results of the N-th sweep in the file")  # fmt: skip
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
        kept = _kept(arguments)
        numbered = _numbered(arguments, exhibit) if kept is None else _pairs(kept)
    except SelectionError as error:
        return _unable(arguments, error.failure)
    except DocumentError as error:
        return _unable(arguments, Failure("refused", str(error)))
    if not numbered:
        empty = f"There is no result in {arguments.results}."
        return _unable(arguments, Failure("not_found", empty))
    if exhibit.most == 1:
        numbered = numbered[-1:]
    files, problem = _draw(arguments, [result for _, result in numbered], kept)
    if problem:
        return _unable(arguments, Failure("refused", problem))
    if arguments.json:
        first = {file.suffix.lower(): str(file) for file in reversed(files)}
        told = {
            "chart": exhibit.name,
            "ids": [number for number, _ in numbered],
            "png": first.get(".png"),
            "svg": first.get(".svg"),
            "files": [str(file) for file in files],
            "failure": None,
        }
        print(json.dumps(told, indent=2))
    return 0


def _kept(arguments: argparse.Namespace) -> KeptSweep | None:
    """The sweep to draw; None where results are drawn as such.

    Raises:
        SelectionError: It is asked for together with single results.
        DocumentError: The file cannot be read, or has no such sweep.
    """
    if arguments.sweep is not None and arguments.ids:
        raise SelectionError("--sweep and --id exclude each other.", "refused")
    if arguments.ids or (arguments.sweep is None and arguments.chart != HEAT_MAP):
        return None
    return read_kept_sweep(arguments.results, arguments.sweep, say)


def _pairs(kept: KeptSweep) -> list[tuple[int, Result]]:
    return list(zip(kept.numbers, kept.results, strict=True))


def _numbered(arguments: argparse.Namespace, exhibit: Exhibit) -> list[tuple[int, Result]]:
    """The results that the options pick, as many as the chart shows; says what is left out.

    Raises:
        DocumentError: They cannot be read.
    """
    most = exhibit.most
    # One more than are shown tells whether there are more.
    last = most + 1 if most is not None and most > 1 else most
    found = list(results_of(arguments.results, arguments.ids, last=last, complain=say))
    if most is not None and len(found) > most:
        say(f"Only the last {most:,} results are looked at.")
        return found[-most:]
    return found


def _draw(
    arguments: argparse.Namespace, results: Sequence[Result], kept: KeptSweep | None
) -> tuple[list[Path], str]:
    """Writes the files that were asked for; which they are, and what went wrong."""
    written: list[Path] = []
    for path in filter(None, (arguments.png, arguments.svg)):

        def draw(path: Path = path) -> Sequence[Path]:
            from gemmviz.views.charts.gallery import draw_exhibit  # noqa: PLC0415 (loads Qt)

            return draw_exhibit(arguments.chart, results, path, scale=arguments.scale,
                                theme=arguments.theme, kept=kept)  # fmt: skip

        files, problem = draw_files(draw)
        say_drawn(files, "")
        written += files
        if problem:
            return written, problem
    return written, ""


def _unable(arguments: argparse.Namespace, failure: Failure) -> int:
    """Says why nothing was drawn; with ``--json`` in the same keys."""
    if arguments.json:
        keys = dict.fromkeys(("chart", "ids", "png", "svg", "files"))
        print(json.dumps({**keys, "failure": to_json(failure)}, indent=2))
    else:
        say(failure.sentence)
    return 2
