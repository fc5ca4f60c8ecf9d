"""The thread that writes results into their file, and what it is handed."""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from gemmviz.core.codec import to_json
from gemmviz.core.model import Result, Samples
from gemmviz.core.store import ResultStore, StoreError

_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Progress:
    """What has come of a run that goes on since the last time.

    Attributes:
        key: The id of its job.
        result: All that is known of it but its samples; None where nothing new is.
        samples: The new ones.
        restarted: Whether those before do not count.
    """

    key: int
    result: Result | None
    samples: Samples
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """What came of a run in the end; None where it came to nothing.

    ``key`` is the id of its job; None for a result of an experiment, of which nothing was told
    before. ``sweep`` is the identity of the sweep that it belongs to, or "".
    """

    key: int | None
    result: Result | None
    sweep: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A note or tags for saved results; None leaves what is there."""

    ids: tuple[int, ...]
    note: str | None = None
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Deletion:
    """Saved results that are deleted or, with ``undone``, brought back."""

    ids: tuple[int, ...]
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What an experiment has found: the type of its answer, what was asked, and the answer."""

    kind: str
    title: str
    answer: object


Entry = Progress | Ending | Remark | Deletion | Found


class ArchiveWriter(QThread):
    """Writes what it is handed, all that waits in one go; never at the cost of a measurement.

    What could not be written waits and is tried again; ``refusal`` says why, or is "". What no file
    can hold is left out. ``numbers`` are the ids in the file, by the ids of jobs.
    """

    written = Signal()
    refused = Signal()
    left_out = Signal(str)
    copied = Signal(str, str)

    def __init__(self, store: ResultStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("archive")
        self.numbers: dict[int, int] = {}
        self._store = store
        self._queue: queue.SimpleQueue[tuple[Entry, ...] | Path | None] = queue.SimpleQueue()
        self._waiting: list[Entry] = []
        self.refusal = ""

    @property
    def is_behind(self) -> bool:
        """Whether something waits that could not be written."""
        return bool(self._waiting)

    def put(self, entries: Sequence[Entry]) -> None:
        """Hand over what is to be written; any thread."""
        self._queue.put(tuple(entries))

    def copy(self, path: Path) -> None:
        """Write all into another file, which replaces one that is there; ``copied`` follows."""
        self._queue.put(path)

    def finish(self) -> None:
        """Write what waits, and end; blocks until then."""
        self._queue.put(None)
        self.wait()

    def run(self) -> None:
        """See QThread: the thread's life."""
        try:
            while self._turn():
                pass
        finally:
            self._store.close()

    def _turn(self) -> bool:
        """Writes what waits now; False once there will be no more."""
        going, copies = True, []
        for item in self._taken():
            if item is None:
                going = False
            elif isinstance(item, Path):
                copies.append(item)
            else:
                self._waiting += item
        self._write()
        for path in copies:
            self.copied.emit(str(path), self._copy(path))
        return going

    def _taken(self) -> list[tuple[Entry, ...] | Path | None]:
        """Everything that waits; blocks for the first, and for what failed only so long."""
        items: list[tuple[Entry, ...] | Path | None] = []
        with suppress(queue.Empty):
            items.append(self._queue.get(timeout=_RETRY_SECONDS if self._waiting else None))
            while True:
                items.append(self._queue.get_nowait())
        return items

    def _write(self) -> None:
        if not self._waiting:
            return
        numbers = dict(self.numbers)
        try:
            with self._store.batch():
                for entry in self._waiting:
                    self._enter(entry, numbers)
        except StoreError as error:
            if str(error) != self.refusal:
                self.refusal = str(error)
                self.refused.emit()
            return
        self.numbers = numbers
        self._waiting.clear()
        if self.refusal:
            self.refusal = ""
            self.refused.emit()
        self.written.emit()

    def _enter(self, entry: Entry, numbers: dict[int, int]) -> None:
        """Writes an entry; one that cannot be put into words must not hold up the others."""
        try:
            self._write_entry(entry, numbers)
        except (ValueError, TypeError, OverflowError) as error:
            self.left_out.emit(f"A result was left out of the file: {error}.")

    def _write_entry(self, entry: Entry, numbers: dict[int, int]) -> None:
        match entry:
            case Progress():
                self._progress(entry, numbers)
            case Ending():
                self._end(entry, numbers)
            case Remark(ids=ids, note=note, tags=tags):
                self._store.annotate(ids, note, tags)
            case Found(kind=kind, title=title, answer=answer):
                self._store.put_finding(kind, title, json.dumps(to_json(answer)))
            case Deletion(ids=ids, undone=undone):
                (self._store.restore if undone else self._store.delete)(ids)

    def _progress(self, entry: Progress, numbers: dict[int, int]) -> None:
        number = numbers.get(entry.key)
        if number is None:
            if entry.result is None:
                return
            number = numbers[entry.key] = self._store.begin(entry.result)
        elif entry.result is not None:
            self._store.describe(number, entry.result)
        if entry.restarted:
            self._store.restart(number)
        self._store.extend(number, entry.samples)

    def _end(self, entry: Ending, numbers: dict[int, int]) -> None:
        key, result = entry.key, entry.result
        number = numbers.get(key) if key is not None else None
        if result is None:
            if number is not None:
                self._store.drop(number)
        elif number is not None:
            self._store.finish(number, result)
        else:
            sweep = self._store.put_sweep(entry.sweep) if entry.sweep else None
            number = self._store.add(result, sweep)
            if key is not None:
                numbers[key] = number

    def _copy(self, path: Path) -> str:
        """Writes a copy; returns why it could not be, or ""."""
        part = path.with_name(f".{path.name}.part")
        try:
            if path.exists() and path.samefile(self._store.path):
                return f"{path} is the open file itself."
            # Both lie beside a file that is open; replaced, it would take what is written later
            # with it. What a killed window left behind is read when the file is opened.
            if any(path.with_name(f"{path.name}{end}").exists() for end in ("-wal", "-shm")):
                return f"{path} is in use, or was not closed: open it first."
            part.unlink(missing_ok=True)
            self._store.save_copy(part)
            with part.open("rb+") as whole:
                os.fsync(whole.fileno())
            part.replace(path)
        except StoreError as error:
            return str(error)
        except OSError as error:
            return f"{path}: {error.strerror or error}."
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)  # on a full disk half a copy takes the last room
        return ""
