"""Results files that an app writes into, and what is in them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop

from gemmviz.app.state import AppState
from gemmviz.core.store import ResultStore

_PATIENCE_SECONDS = 30.0


def settled(state: AppState) -> None:
    """Waits until all that was asked of files is done."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while state.archive.reader.pending:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        assert time.monotonic() < deadline


def open_in(state: AppState, path: Path) -> str:
    """Opens a results file; returns why it could not be, or ""."""
    problems: list[str] = []
    state.archive.file_ended.connect(lambda _, problem: problems.append(problem))
    state.archive.open(path)
    settled(state)
    return problems[0]


def saving(state: AppState, path: Path) -> AppState:
    """The state with its results going into ``path``, many times a second."""
    assert open_in(state, path) == ""
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
