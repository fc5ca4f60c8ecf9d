"""Keeps what a command measured in a results file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gemmviz.cli.selection import SelectionError, say
from gemmviz.core.model import Result
from gemmviz.core.store import ResultStore, StoreError


def add_results(parser: argparse.ArgumentParser) -> None:
    """Adds ``--results``."""
    parser.add_argument("--results", type=Path, metavar="FILE",
                        help="add what is measured to this results file")  # fmt: skip


def open_results(path: Path | None) -> ResultStore | None:
    """The file that ``--results`` names, made where there is none; None without the option.

    Raises:
        SelectionError: Nothing can be written into it.
    """
    if path is None:
        return None
    try:
        store = ResultStore.open(path)
    except StoreError as error:
        raise SelectionError(str(error), "refused") from error
    if store.read_only:
        store.close()
        raise SelectionError(store.problem, "refused")
    return store


def save_results(store: ResultStore | None, results: Sequence[Result]) -> bool:
    """Saves results and closes the file; says on stderr what went wrong, if anything.

    Returns:
        Whether nothing did.
    """
    if store is None:
        return True
    try:
        with store.batch():
            numbers = [store.add(result) for result in results]
    except StoreError as error:
        say(f"The results were not saved: {error}")
        return False
    finally:
        store.close()
    words = ", ".join(map(str, numbers))
    say(f"Saved as result{'s' * (len(numbers) != 1)} {words} in {store.path}")
    return True
