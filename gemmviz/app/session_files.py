"""The runs of this session as files for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from gemmviz.app.book import ResultBook
from gemmviz.core.model import Result
from gemmviz.core.result_document import document_parts
from gemmviz.core.t4 import to_t4

TABLE_KINDS = ("CSV (*.csv)", "JSON with every sample (*.json)", "T4 (*.t4.json)")
"""What a table can be written as, as a file dialog names it."""
_T4 = ".t4.json"


def session_results(book: ResultBook) -> list[tuple[int, Result]]:
    """Every finished run with its number in the table, from 1 on."""
    recorded = ((place, run.recorded) for place, run in enumerate(book.runs, start=1))
    return [(place, result) for place, result in recorded if result is not None]


def table_parts(book: ResultBook, path: Path) -> Iterator[str]:
    """The table piece by piece: as JSON or T4 where the name ends so, else as CSV."""
    if path.name.lower().endswith(_T4):
        document = to_t4(result for _, result in session_results(book))
        yield json.dumps(document, indent=1, allow_nan=False) + "\n"
    elif path.suffix.lower() == ".json":
        yield from document_parts(session_results(book))
    else:
        yield book.to_csv()
