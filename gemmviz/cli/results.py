"""``gemmviz results``: what is in a results file, and what changed between two results."""

from __future__ import annotations

import argparse
import io
import json
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gemmviz.cli.report import report
from gemmviz.cli.results_export import add_results_parsers
from gemmviz.cli.run import print_result
from gemmviz.cli.selection import say
from gemmviz.core.changes import changes_between, to_text
from gemmviz.core.codec import to_json
from gemmviz.core.store import VERDICTS, Filter, ResultStore, Row, StoreError
from gemmviz.core.store.rows import ORDERS
from gemmviz.core.units import duration, moment, throughput
from gemmviz.core.winners import placing_words

_NONE = "-"
_UNABLE = 2


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser(
        "results",
        help="list, show and compare saved results",
        description="Reads a results file, which is never changed. Exit code: 0, or 2 where it "
        "cannot be read.",
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    _add_list(parts)
    _add_part(parts, "findings", "what experiments found", list_findings)
    show = _add_part(parts, "show", "everything about one result", show_result)
    show.add_argument("id", type=int, metavar="ID", help="its number in the list")
    diff = _add_part(parts, "diff", "what changed from one result to another", show_changes)
    diff.add_argument("id", type=int, metavar="ID", help="the first")
    diff.add_argument("other", type=int, metavar="ID", help="the second")
    add_results_parsers(parts)


def _add_list(parts: Any) -> None:
    parser = _add_part(parts, "list", "the results, the newest first", list_results)
    add_filters(parser)
    parser.add_argument("--order", choices=tuple(ORDERS), default="newest")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many")


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds the options that choose among the results of a file; see :func:`chosen`."""
    parser.add_argument("--device", metavar="TEXT", help="part of a device's or platform's name")
    parser.add_argument("--kernel", metavar="ID")
    parser.add_argument("--shape", metavar="M,N,K", help="or one number for all three")
    parser.add_argument("--element", choices=("half", "float", "double"))
    parser.add_argument("--verdict", choices=VERDICTS)
    parser.add_argument("--tag")
    parser.add_argument("--text", metavar="WORDS", help="words in the kernel, device, note or tags")
    parser.add_argument("--sweep", type=int, metavar="N", help="the number of a sweep")
    parser.add_argument("--deleted", action="store_true", help="those that were deleted instead")


def _add_part(parts: Any, name: str, about: str, answer: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parts.add_parser(name, help=about, allow_abbrev=False)
    parser.add_argument("file", type=Path, metavar="FILE", help="a results file (.gemmviz)")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(answer=lambda arguments: _answered(arguments, answer))
    return parser


def _answered(arguments: argparse.Namespace, answer: Any) -> int:
    """Opens the file for a part of the command, and says why it cannot be read, if so."""
    try:
        store = ResultStore.open(arguments.file, read_only=True)
    except StoreError as error:
        return _unable(arguments, str(error))
    try:
        if store.problem:
            say(store.problem)
        answer(arguments, store)
    except StoreError as error:
        return _unable(arguments, str(error))
    finally:
        store.close()
    return 0


def _unable(arguments: argparse.Namespace, sentence: str) -> int:
    if arguments.json:
        print(json.dumps({"failure": {"kind": "refused", "sentence": sentence, "detail": ""}}))
    else:
        say(sentence)
    return _UNABLE


def chosen(arguments: argparse.Namespace, store: ResultStore) -> Filter:
    """The filter that the options of ``add_filters`` stand for.

    Raises:
        StoreError: They cannot match anything; the message says why.
    """
    devices: tuple[str, ...] = ()
    if arguments.device:
        known = store.choices().devices
        part = arguments.device.casefold()
        devices = tuple(device for device in known if part in device.casefold())
        if not devices:
            listed = ", ".join(known) or "none"
            raise StoreError(f"No device matches {arguments.device!r}; the file has: {listed}.")
    return Filter(
        text=arguments.text or "", devices=devices, kernel=arguments.kernel or "",
        shape=_shape(arguments.shape), element=arguments.element or "",
        verdict=arguments.verdict or "", tag=arguments.tag or "", sweep=arguments.sweep,
        order=getattr(arguments, "order", "newest"), deleted=arguments.deleted,
    )  # fmt: skip


def _shape(text: str | None) -> tuple[int, int, int] | None:
    if not text:
        return None
    try:
        sizes = [int(part) for part in text.lower().replace("×", ",").replace("x", ",").split(",")]
    except ValueError:
        sizes = []
    if len(sizes) not in (1, 3):
        raise StoreError(f"--shape {text} is not three numbers like 512,512,512.")
    m, n, k = sizes * (3 if len(sizes) == 1 else 1)
    return m, n, k


def list_results(arguments: argparse.Namespace, store: ResultStore) -> None:
    """Prints a line or an object a result."""
    rows = store.rows(chosen(arguments, store))
    shown = rows[: max(0, arguments.limit)] if arguments.limit is not None else list(rows)
    if arguments.json:
        objects = [asdict(row) for row in shown]
        data = {"file": str(store.path), "problem": store.problem, "count": len(rows)}
        print(json.dumps({**data, "results": objects}, indent=2))
        return
    lines = [_cells(row) for row in shown]
    widths = [max((len(line[place]) for line in lines), default=0) for place in range(7)]
    for *cells, rest in lines:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        print(_shown("  ".join([*padded, rest]).rstrip()))
    count = f"{len(rows):,} result{'s' * (len(rows) != 1)}"
    print(count if len(shown) == len(rows) else f"{len(shown):,} of {count}")


def _cells(row: Row) -> list[str]:
    """What a line of the list says: id, moment, device, kernel, problem, time, speed, the rest."""
    rate = row.flops_per_second
    if not row.kernel:  # nothing of it can be read
        return [str(row.id), _NONE, _NONE, row.title or _NONE, _NONE, _NONE, _NONE, row.verdict]
    problem = ", ".join(filter(None, (f"{row.m}x{row.n}x{row.k} {row.element}", row.form)))
    verdict = "under way" if row.running else row.verdict
    return [
        str(row.id),
        moment(row.moment),
        row.device,
        f"{row.kernel} {row.parameters}".strip(),
        problem,
        duration(row.median_seconds) if row.median_seconds is not None else _NONE,
        throughput(rate) if rate is not None else _NONE,
        "  ".join(filter(None, (verdict, " ".join(f"#{tag}" for tag in row.tags), row.note))),
    ]


def list_findings(arguments: argparse.Namespace, store: ResultStore) -> None:
    """Prints what experiments have found: a line each, or with ``--json`` the answers."""
    findings = store.findings()
    if arguments.json:
        objects = [
            {"id": each.id, "moment": each.moment, "kind": each.kind, "title": each.title,
             "answer": _parsed(each.text)}
            for each in findings
        ]  # fmt: skip
        print(json.dumps({"file": str(store.path), "findings": objects}, indent=2))
        return
    if not findings:
        print("0 findings")
    for each in findings:
        print(_shown(f"{each.id}  {moment(each.moment)}  {each.kind}: {each.title}"))


def _shown(text: str) -> str:
    """A text of the file without what would steer a terminal."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "�" for letter in text)


def _parsed(text: str) -> Any:
    """A finding's answer; None where a file's JSON is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def show_result(arguments: argparse.Namespace, store: ResultStore) -> None:
    """Prints everything about a result."""
    result, row = store.result(arguments.id), store.row(arguments.id)
    note, tags = (row.note, row.tags) if row is not None else ("", ())
    if arguments.json:
        about = {"id": arguments.id, "note": note, "tags": tags, "sweep": row and row.sweep}
        print(
            json.dumps({**about, **report(result), "source": result.job.variant.source}, indent=2)
        )
        return
    with redirect_stdout(io.StringIO()) as said:
        print(f"Result {arguments.id}, {moment(result.finished_at)}")
        if note or tags:
            print(" ".join(filter(None, (note, *(f"#{tag}" for tag in tags)))))
        print_result(result)
        if result.placing is not None:
            print(*placing_words(result.placing), sep="\n")
    print(_shown(said.getvalue()), end="")


def show_changes(arguments: argparse.Namespace, store: ResultStore) -> None:
    """Prints what changed from one result to another."""
    changes = changes_between(store.result(arguments.id), store.result(arguments.other))
    if arguments.json:
        print(json.dumps(to_json(changes), indent=2))
        return
    print(_shown(to_text(changes)))
