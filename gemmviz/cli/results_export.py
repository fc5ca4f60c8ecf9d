"""``gemmviz results export`` and ``report``: saved results for other programs and for people."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gemmviz.cli.export import add_ids
from gemmviz.cli.picture import check_picture, drawn
from gemmviz.cli.selection import SelectionError, say
from gemmviz.core.codec import to_json
from gemmviz.core.html_report import MOST_ROWS
from gemmviz.core.model import Failure, Result
from gemmviz.core.result_document import DocumentError, document_parts
from gemmviz.core.result_figures import table, to_csv
from gemmviz.core.result_source import results_of
from gemmviz.core.t4 import to_t4

_FORMATS = ("csv", "json", "t4")


def add_results_parsers(subparsers: Any) -> None:
    """Adds the words of both commands."""
    parser = subparsers.add_parser(
        "export",
        help="write results as CSV, JSON or T4",
        description="csv: one row a result; json: everything, with every sample, as described by "
        "resources/result.schema.json; t4: the results format of the auto-tuning community. "
        "Exit code: 0 it was written, 2 it could not be, or the file is damaged and a part is "
        "missing.",
        allow_abbrev=False,
    )
    _add_source(parser)
    parser.add_argument("--format", choices=_FORMATS, default="csv", help="default: %(default)s")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    parser.set_defaults(answer=answer_export)
    parser = subparsers.add_parser(
        "report",
        help="write an HTML page about results",
        description="One page that needs nothing else: charts, tables, devices, sources, how it "
        "was measured. Exit code: 0 it was written, 2 it could not be, or the file is damaged and "
        "a part is missing.",
        allow_abbrev=False,
    )
    _add_source(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", default=Path("report.html"),
                        help="default: %(default)s")  # fmt: skip
    parser.set_defaults(answer=answer_report)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE",
                        help="a results file, exported JSON, or a PNG or SVG with results"
                        )  # fmt: skip
    add_ids(parser)
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def answer_export(arguments: argparse.Namespace) -> int:
    """Writes results in a format."""
    if arguments.json and arguments.output is None:
        return _unable(arguments, "With --json name an --output: both would be printed.")
    lacks: list[str] = []
    counted = _Counted(arguments.file, arguments.ids, lacks)
    try:
        _check_output(arguments.output)
        if arguments.output is None:
            for part in _parts(arguments.format, counted):
                sys.stdout.write(part)
        else:
            _write(arguments.output, _parts(arguments.format, counted))
    except (DocumentError, SelectionError) as error:
        return _unable(arguments, str(error))
    except OSError as error:
        if arguments.output is None:
            raise  # standard output: whoever reads it has gone
        return _unable(arguments, f"{arguments.output} cannot be written: {error.strerror}.")
    _say_written(arguments, counted.count, lacks)
    return 2 if lacks else 0


def answer_report(arguments: argparse.Namespace) -> int:
    """Writes the page."""
    lacks: list[str] = []
    try:
        check_picture("--output", arguments.output, ".html", ".htm")
        numbered = list(
            results_of(arguments.file, arguments.ids, last=MOST_ROWS + 1, complain=lacks.append)
        )
    except (DocumentError, SelectionError) as error:
        return _unable(arguments, str(error))
    if not numbered:
        return _unable(arguments, f"There is no result in {arguments.file}.")

    source = arguments.file.name
    if len(numbered) > MOST_ROWS:
        numbered = numbered[-MOST_ROWS:]
        source = f"{source}, the last ones"

    def draw() -> None:
        from gemmviz.views.charts.report_pictures import report_of  # noqa: PLC0415 (loads Qt)

        page = report_of(numbered, source)
        try:
            _write(arguments.output, [page])
        except OSError as error:
            sentence = f"{arguments.output} cannot be written: {error.strerror}."
            raise OSError(sentence) from error

    if not drawn(arguments.output, draw):
        return _unable(arguments, f"{arguments.output} was not written.") if arguments.json else 2
    _print_written(arguments, len(numbered), lacks)
    return 2 if lacks else 0


class _Counted:
    """The results of a file, which can be gone through once, and how many there were.

    What a damaged file does not give is added to ``lacks``, a sentence each.
    """

    def __init__(self, path: Path, ids: Sequence[int], lacks: list[str]) -> None:
        self._path, self._ids, self._lacks = path, ids, lacks
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, Result]]:
        for pair in results_of(self._path, self._ids, complain=self._lacks.append):
            self.count += 1
            yield pair


def _parts(form: str, results: Iterable[tuple[int, Result]]) -> Iterator[str]:
    if form == "json":
        yield from document_parts(results)
    elif form == "t4":
        yield json.dumps(to_t4(result for _, result in results), indent=1, allow_nan=False) + "\n"
    else:
        yield to_csv(table(results))


def _check_output(path: Path | None) -> None:
    """Refuses a file that could not be written before anything is read for it.

    Raises:
        SelectionError: Its folder does not exist.
    """
    if path is not None and not path.parent.is_dir():
        raise SelectionError(f"--output {path}: there is no folder {path.parent}.", "refused")


def _write(path: Path, parts: Iterable[str]) -> None:
    """Writes a file and puts it in place only once it is whole."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            for part in parts:
                file.write(part)
            file.close()
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(file.name).unlink()
            raise


def _say_written(arguments: argparse.Namespace, count: int, lacks: Sequence[str]) -> None:
    if arguments.output is not None:
        say(f"Saved {arguments.output}")
    _print_written(arguments, count, lacks)


def _print_written(arguments: argparse.Namespace, count: int, lacks: Sequence[str]) -> None:
    for sentence in lacks:
        say(sentence)
    if arguments.json:
        answer = {"output": str(arguments.output), "results": count, "lacks": list(lacks)}
        print(json.dumps({**answer, "failure": None}))


def _unable(arguments: argparse.Namespace, sentence: str) -> int:
    """Says why nothing was written; with ``--json`` in the same keys."""
    if arguments.json:
        failure = to_json(Failure("refused", sentence))
        print(json.dumps({"output": None, "results": 0, "failure": failure}))
    else:
        say(sentence)
    return 2
