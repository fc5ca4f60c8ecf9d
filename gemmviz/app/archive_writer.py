"""The thread that writes results into their file, and what it is handed."""

from __future__ import annotations

import json
import queue
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event

from PySide6.QtCore import QObject, QThread, Signal

from gemmviz.core.codec import to_json
from gemmviz.core.model import Result, Samples
from gemmviz.core.store import ResultStore, StoreError

_RETRY_SECONDS = 5.0
_POLL_SECONDS = 0.1


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


@dataclass(frozen=True, slots=True)
class Moment:
    """When a copy of the file is made: ``choose`` is called, and ``chosen`` is set after it.

    Without ``choose`` the last moment counts for nothing any more.
    """

    choose: Callable[[], None] | None = None
    chosen: Event = field(default_factory=Event)


@dataclass(frozen=True, slots=True)
class Farewell:
    """There will be no more, and this is written last: it is of use in this file alone."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Heritage:
    """What the writer of another file takes over: entries, and the ids of runs there."""

    entries: tuple[Entry, ...] = ()
    numbers: Mapping[int, int] = field(default_factory=dict)


class ArchiveWriter(QThread):
    """Writes what it is handed, all that waits in one go; never at the cost of a measurement.

    What could not be written waits and is tried again; ``refusal`` says why, and ``kind`` is the
    StoreError's; both are "" while all is well. What no file can hold is left out. ``numbers`` are
    the ids in the file, by the ids of jobs.
    """

    written = Signal()
    refused = Signal()
    left_out = Signal(str)

    def __init__(self, store: ResultStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("archive")
        self.store = store
        self.numbers: dict[int, int] = {}
        self.refusal = self.kind = ""
        self._queue: queue.SimpleQueue[tuple[Entry, ...] | Moment | Farewell] = queue.SimpleQueue()
        self._waiting: list[Entry] = []
        self._copied: dict[int, int] | None = None  # the ids when the copy was made
        self._since: list[Entry] = []  # what was written after that

    def put(self, entries: Sequence[Entry]) -> None:
        """Hand over what is to be written; any thread."""
        self._queue.put(tuple(entries))

    def choose(self, act: Callable[[], None]) -> None:
        """Have ``act`` done on the writer's thread between two writes, and wait; another thread.

        What is written after it is remembered, as if it were missing in a copy made by ``act``.
        """
        moment = Moment(act)
        self._queue.put(moment)
        while not moment.chosen.wait(_POLL_SECONDS):
            if self.isFinished():  # nobody writes any more
                act()
                return

    def forget_copy(self) -> None:
        """Nothing needs to be remembered any more: there is no copy."""
        self._queue.put(Moment())

    def end(self, last: Sequence[Entry] = ()) -> None:
        """Write what waits, and ``last``, which no other writer inherits; then end."""
        self._queue.put(Farewell(tuple(last)))

    def inherit(self, heritage: Heritage) -> None:
        """Take over from a writer that has ended, before this one starts."""
        self.numbers = dict(heritage.numbers)
        self._waiting = [*heritage.entries]

    def heritage(self, *, copied: bool) -> Heritage:
        """What is missing in another file, once this writer has ended.

        Args:
            copied: Whether that is the copy; else it is one that has nothing of this file.
        """
        if copied and self._copied is not None:
            return Heritage((*self._since, *self._waiting), self._copied)
        return Heritage(tuple(each for each in self._waiting if _stands_alone(each)))

    def run(self) -> None:
        """See QThread: the thread's life."""
        self._write()  # what was inherited
        going = True
        while going:
            going = self._turn()

    def _turn(self) -> bool:
        """Writes what waits now; False once there will be no more."""
        for item in self._taken():
            if isinstance(item, Moment):
                self._write()
                self._copy_now(item)
            elif isinstance(item, Farewell):
                self._write()
                self._part(item.entries)
                return False
            else:
                self._waiting += item
        self._write()
        return True

    def _taken(self) -> list[tuple[Entry, ...] | Moment | Farewell]:
        """Everything that waits; blocks for the first, and for what failed only so long."""
        items: list[tuple[Entry, ...] | Moment | Farewell] = []
        with suppress(queue.Empty):
            items.append(self._queue.get(timeout=_RETRY_SECONDS if self._waiting else None))
            while True:
                items.append(self._queue.get_nowait())
        return items

    def _copy_now(self, moment: Moment) -> None:
        self._since.clear()
        self._copied = None
        try:
            if moment.choose is not None:
                moment.choose()
                self._copied = dict(self.numbers)
        except sqlite3.Error:
            pass  # the copy says so itself: what it did not read then, it cannot read later
        finally:
            moment.chosen.set()

    def _part(self, entries: tuple[Entry, ...]) -> None:
        """Writes the last entries; where that fails, these runs end as if they were cut off."""
        with suppress(StoreError), self.store.batch():
            for entry in entries:
                self._enter(entry, self.numbers)

    def _write(self) -> None:
        if not self._waiting:
            return
        numbers = dict(self.numbers)
        try:
            with self.store.batch():
                for entry in self._waiting:
                    self._enter(entry, numbers)
        except StoreError as error:
            if str(error) != self.refusal:
                self.refusal, self.kind = str(error), error.kind
                self.refused.emit()
            return
        self.numbers = numbers
        if self._copied is not None:
            self._since += self._waiting
        self._waiting.clear()
        if self.refusal:
            self.refusal = self.kind = ""
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
                self.store.annotate(ids, note, tags)
            case Found(kind=kind, title=title, answer=answer):
                self.store.put_finding(kind, title, json.dumps(to_json(answer)))
            case Deletion(ids=ids, undone=undone):
                (self.store.restore if undone else self.store.delete)(ids)

    def _progress(self, entry: Progress, numbers: dict[int, int]) -> None:
        number = numbers.get(entry.key)
        if number is None:
            if entry.result is None:
                return
            number = numbers[entry.key] = self.store.begin(entry.result)
        elif entry.result is not None:
            self.store.describe(number, entry.result)
        if entry.restarted:
            self.store.restart(number)
        self.store.extend(number, entry.samples)

    def _end(self, entry: Ending, numbers: dict[int, int]) -> None:
        key, result = entry.key, entry.result
        number = numbers.get(key) if key is not None else None
        if result is None:
            if number is not None:
                self.store.drop(number)
        elif number is not None:
            self.store.finish(number, result)
        else:
            sweep = self.store.put_sweep(entry.sweep) if entry.sweep else None
            number = self.store.add(result, sweep)
            if key is not None:
                numbers[key] = number


def _stands_alone(entry: Entry) -> bool:
    """Whether an entry means the same in another file: it brings all that it is about."""
    return isinstance(entry, Found) or (isinstance(entry, Ending) and entry.result is not None)
