"""Results files that an app writes into, and what is in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gemmviz.app.state import AppState
from gemmviz.core.store import ResultStore


def saving(state: AppState, path: Path) -> AppState:
    """The state with its results going into ``path``, many times a second."""
    assert state.archive.open(path) == ""
    state.archive._tick.setInterval(20)
    return state


@contextlib.contextmanager
def opened(path: Path) -> Iterator[ResultStore]:
    store = ResultStore.open(path, read_only=True)
    try:
        yield store
    finally:
        store.close()


def count(path: Path) -> int:
    """How many results are in a file."""
    with opened(path) as store:
        return len(store.rows())


def ended(path: Path) -> int:
    """How many results are in a file whose runs have come to their end."""
    with opened(path) as store:
        return sum(not row.running for row in store.rows())
