"""The results of any file that holds some: a results file, an exported document, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from gemmviz.core.model import Result
from gemmviz.core.png_text import SIGNATURE
from gemmviz.core.result_document import DocumentError, read_results
from gemmviz.core.store import Filter, ResultStore, StoreError

Kind = Literal["store", "picture", "document", "kernel"]

_DATABASE = b"SQLite format 3\0"


def kind_of(path: Path) -> Kind:
    """What a file is, by how it begins; a kernel's description by its name.

    Raises:
        DocumentError: It cannot be read.
    """
    if path.suffix.lower() == ".toml":
        return "kernel"
    try:
        with path.open("rb") as file:
            start = file.read(len(_DATABASE))
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror}.") from error
    if start == _DATABASE:
        return "store"
    return "picture" if start.startswith(SIGNATURE) else "document"


def results_of(
    path: Path, ids: Sequence[int] = (), *, last: int | None = None
) -> Iterator[tuple[int, Result]]:
    """The results of a file with their numbers, one after the other.

    Args:
        path: See :func:`kind_of`.
        ids: Only these, in this order; all where empty.
        last: Only so many of them, the last ones; all where None.

    Raises:
        DocumentError: It holds none, cannot be read, or has none of a number that is asked for.
    """
    if kind_of(path) == "store":
        yield from _from_store(path, ids, last)
        return
    found = read_results(path).results
    by_number = dict(found)
    for number in ids:
        if number not in by_number:
            raise DocumentError(f"{path.name} has no result {number}.")
    chosen = [(number, by_number[number]) for number in ids] if ids else found
    yield from chosen[-last:] if last is not None else chosen


def _from_store(path: Path, ids: Sequence[int], last: int | None) -> Iterator[tuple[int, Result]]:
    try:
        with closing(ResultStore.open(path, read_only=True)) as store:
            if not ids and last is None:
                yield from store.results()
                return
            if not ids:
                newest = store.rows(Filter(order="newest"))[:last]
                ids = [row.id for row in reversed(newest)]
            for number in ids[-last:] if last is not None else ids:
                yield number, store.result(number)
    except StoreError as error:
        raise DocumentError(str(error)) from error
