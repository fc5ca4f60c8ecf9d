"""The results of any file that holds some: a results file, an exported document, a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from gemmviz.core.model import Result
from gemmviz.core.png_text import SIGNATURE
from gemmviz.core.result_document import DocumentError, read_results
from gemmviz.core.store import Filter, ResultStore, StoreError, is_store
from gemmviz.core.svg_text import looks_like_xml

Kind = Literal["store", "picture", "document", "kernel"]


def kind_of(path: Path) -> Kind:
    """What a file is, by how it begins; a kernel's description by its name.

    Raises:
        DocumentError: It cannot be read.
    """
    if path.suffix.lower() == ".toml":
        return "kernel"
    try:
        if is_store(path):
            return "store"
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror}.") from error
    is_picture = start.startswith(SIGNATURE) or looks_like_xml(start)
    return "picture" if is_picture else "document"


def results_of(
    path: Path,
    ids: Sequence[int] = (),
    *,
    last: int | None = None,
    complain: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[int, Result]]:
    """The results of a file with their numbers, one after the other.

    Args:
        path: See :func:`kind_of`.
        ids: Only these, in this order; all where empty.
        last: Only so many of them, the last ones; all where None.
        complain: Is told in a sentence what a damaged file does not give.

    Raises:
        DocumentError: It holds none, cannot be read, or has none of a number that is asked for.
    """
    if kind_of(path) == "store":
        yield from _from_store(path, ids, last, complain)
        return
    found = read_results(path).results
    by_number = dict(found)
    for number in ids:
        if number not in by_number:
            raise DocumentError(f"{path.name} has no result {number}.")
    chosen = [(number, by_number[number]) for number in ids] if ids else found
    yield from chosen[-last:] if last is not None else chosen


def _from_store(
    path: Path, ids: Sequence[int], last: int | None, complain: Callable[[str], None]
) -> Iterator[tuple[int, Result]]:
    try:
        with closing(ResultStore.open(path, read_only=True)) as store:
            if store.damaged:
                complain(store.problem)
            if not ids and last is None:
                yield from store.results()
                if store.unreadable:
                    count = store.unreadable
                    results = f"{count:,} result{'s' * (count != 1)}"
                    complain(f"{path}: {results} cannot be read and are left out.")
                return
            if not ids:
                newest = store.rows(Filter(order="newest"))[:last]
                ids = [row.id for row in reversed(newest)]
            for number in ids[-last:] if last is not None else ids:
                yield number, store.result(number)
    except StoreError as error:
        raise DocumentError(str(error)) from error
