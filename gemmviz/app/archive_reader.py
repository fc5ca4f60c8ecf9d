"""The thread that opens, copies and reads files while the window goes on, and what it is asked."""

from __future__ import annotations

import os
import queue
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThread, QTimer, Signal, Slot

from gemmviz.app.samples import Tally, tally
from gemmviz.core.changes import Changes, changes_between
from gemmviz.core.kept_sweep import KeptSweep, sweep_of_document
from gemmviz.core.model import Result, Samples
from gemmviz.core.paths import results_file
from gemmviz.core.result_document import DocumentError, read_results
from gemmviz.core.store import ResultStore, StoreError

Purpose = Literal["show", "details", "changes"]
Ready = tuple[Result, Tally]
"""A finished result without its samples, and these summed up."""

_PATIENCE_MILLISECONDS = 200  # what is done sooner is not worth a word
_MOST_USUAL = 9
_MOST_SHOWN_SAMPLES = 20_000_000  # at once: half a gigabyte

_READ = {"show": "Reading", "details": "Reading", "changes": "Comparing"}


class Request(Protocol):
    """What the thread can be asked."""

    @property
    def words(self) -> str:
        """What is being done, as it stands in the status bar."""
        ...

    def answer(self) -> object:
        """Does it; on the thread."""
        ...


class ArchiveReader(QThread):
    """Answers one request after the other; ``answered`` brings each with its answer.

    The answer is None where something went wrong that nobody foresaw. ``pending`` are those whose
    answers have not been taken, the oldest first. ``busy`` says what is being done once that takes
    a while, else it is ""; ``busy_changed`` follows its changes.
    """

    answered = Signal(object, object)
    busy_changed = Signal()
    _done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("files")
        self.pending: list[Request] = []
        self._late = False
        self._void: tuple[Request, ...] = ()  # of which nobody wants the answer any more
        self._queue: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MILLISECONDS)
        self._patience.timeout.connect(self._on_late)
        self._done.connect(self._on_done)

    @property
    def busy(self) -> str:
        """What takes so long, in a few words; "" where nothing does."""
        return self.pending[0].words if self._late and self.pending else ""

    def ask(self, request: Request) -> None:
        """Queue a request; the thread starts with the first."""
        self.pending.append(request)
        self._queue.put(request)
        if not self.isRunning():
            self.start()
        if not self._late and not self._patience.isActive():
            self._patience.start()

    def finish(self) -> None:
        """End, once copies are whole and files are closed; of the rest no answer comes."""
        self._void = tuple(self.pending)
        if self.isRunning():
            self._queue.put(None)
            self.wait()
        # Files that were opened in vain are closed now: no event may be handled after this.
        QCoreApplication.sendPostedEvents(self, QEvent.Type.MetaCall)

    def run(self) -> None:
        """See QThread: the thread's life."""
        while (request := self._queue.get()) is not None:
            answer: object = None
            try:
                if request not in self._void or isinstance(request, CloseFile | CopyFile):
                    answer = request.answer()
            except Exception as error:  # noqa: BLE001 (what is asked after it is answered too)
                sys.excepthook(type(error), error, error.__traceback__)
            self._done.emit(request, answer)

    @Slot(object, object)
    def _on_done(self, request: Request, answer: object) -> None:
        self.pending.remove(request)
        if not self.pending:
            self._patience.stop()
        if self._late:
            self._late = bool(self.pending)
            self.busy_changed.emit()
        if request not in self._void:
            self.answered.emit(request, answer)
        elif isinstance(answer, Opened | Copied):
            answer.close()

    @Slot()
    def _on_late(self) -> None:
        self._late = True
        self.busy_changed.emit()


# --- opening and closing


@dataclass(frozen=True, slots=True)
class Opened:
    """What came of opening: ``store`` is shown, and ``place`` is saved into where that is not.

    ``problem`` says why there is no store; ``remarks`` are sentences on files that were passed
    over.
    """

    store: ResultStore | None = None
    place: ResultStore | None = None
    problem: str = ""
    remarks: tuple[str, ...] = ()

    def close(self) -> None:
        """Close what nobody wants any more."""
        for store in filter(None, (self.store, self.place)):
            store.close()


@dataclass(frozen=True, slots=True, eq=False)
class OpenFile:
    """Open the first of some files that can be.

    Attributes:
        paths: The files; one that does not exist is made.
        usual: Whether else the person's own is opened, or one beside it.
        place: Whether that one is opened too where the file may only be read: what is measured
            must go somewhere.
        shown: Whether it is looked at too, and not only saved into.
        avoid: Those of the person's own files that cannot be used.
    """

    paths: tuple[Path, ...] = ()
    usual: bool = False
    place: bool = False
    shown: bool = True
    avoid: frozenset[Path] = frozenset()

    @property
    def words(self) -> str:
        """See Request."""
        return f"Opening {self.paths[0].name} ..." if self.paths else "Opening the results ..."

    def answer(self) -> Opened:
        """See Request."""
        remarks: list[str] = []
        for path in self.paths:
            try:
                store = ResultStore.open(path)
            except StoreError as error:
                remarks.append(str(error))
                continue
            place = open_usual(self.avoid, remarks) if store.read_only and self.place else None
            return Opened(store, place, remarks=tuple(remarks))
        if not self.usual:
            return Opened(problem=remarks.pop(), remarks=tuple(remarks))
        made = open_usual(self.avoid, remarks)
        problem = remarks[-1] if made is None and remarks else ""
        return Opened(made, problem=problem, remarks=tuple(remarks))


def open_usual(avoid: frozenset[Path], remarks: list[str]) -> ResultStore | None:
    """The person's own file or, where it cannot be written, one beside it; None where none can.

    Args:
        avoid: Files that are passed over.
        remarks: Why others were is added, a sentence each.
    """
    for number in range(1, _MOST_USUAL + 1):
        path = results_file(number)
        if path in avoid:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            store = ResultStore.open(path)
        except OSError as error:
            remarks.append(f"{path}: {error.strerror or error}.")
            return None
        except StoreError as error:
            remarks.append(str(error))
            continue
        if not store.read_only:
            return store
        remarks.append(store.problem)
        store.close()
    return None


@dataclass(frozen=True, slots=True, eq=False)
class CloseFile:
    """Close a file that nothing is asked of any more."""

    store: ResultStore

    @property
    def words(self) -> str:
        """See Request."""
        return f"Closing {self.store.path.name} ..."

    def answer(self) -> None:
        """See Request."""
        self.store.close()


@dataclass(frozen=True, slots=True)
class Copied:
    """What came of copying: the copy, open; or why there is none."""

    store: ResultStore | None
    problem: str = ""

    def close(self) -> None:
        """Close what nobody wants any more."""
        if self.store is not None:
            self.store.close()


@dataclass(frozen=True, slots=True, eq=False)
class CopyFile:
    """Write all of a file into another one, which replaces one that is there, and open that.

    ``at`` is what :meth:`ResultStore.save_copy` takes: None where nobody writes into the file.
    """

    store: ResultStore
    path: Path
    at: Callable[[Callable[[], None]], None] | None

    @property
    def words(self) -> str:
        """See Request."""
        return f"Saving a copy as {self.path.name} ..."

    def answer(self) -> Copied:
        """See Request."""
        path, part = self.path, self.path.with_name(f".{self.path.name}.part")
        try:
            if path.exists() and path.samefile(self.store.path):
                return Copied(None, f"{path} is the open file itself.")
            # Both lie beside a file that is open; replaced, it would take what is written later
            # with it. What a killed window left behind is read when the file is opened.
            if any(path.with_name(f"{path.name}{end}").exists() for end in ("-wal", "-shm")):
                return Copied(None, f"{path} is in use, or was not closed: open it first.")
            part.unlink(missing_ok=True)
            self.store.save_copy(part, self.at)
            with part.open("rb+") as whole:
                os.fsync(whole.fileno())
            part.replace(path)
            return Copied(ResultStore.open(path))
        except StoreError as error:
            return Copied(None, str(error))
        except OSError as error:
            return Copied(None, f"{path}: {error.strerror or error}.")
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)  # on a full disk half a copy takes the last room


# --- reading


@dataclass(frozen=True, slots=True)
class Read:
    """What was read: results for ``purpose`` "show" and "details", else what changed."""

    results: tuple[Ready, ...] = ()
    changes: Changes | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ReadResults:
    """Read saved results to show them, to tell all about one, or to say what changed in two."""

    store: ResultStore
    numbers: tuple[int, ...]
    purpose: Purpose
    first: int | None = None  # which is put in front when all are there

    @property
    def words(self) -> str:
        """See Request."""
        count = len(self.numbers)
        return f"{_READ[self.purpose]} {count} result{'s' * (count != 1)} ..."

    def answer(self) -> Read:
        """See Request."""
        results: list[Result] = []
        room = _MOST_SHOWN_SAMPLES
        try:
            for number in self.numbers:
                results.append(self.store.result(number))
                room -= len(results[-1].samples)
                if room < 0 and len(results) > 1:
                    sentence = "They have too many samples to be shown at once: choose fewer."
                    return Read(problem=sentence)
        except StoreError as error:
            return Read(problem=str(error))
        if self.purpose == "changes":
            return Read(changes=changes_between(results[0], results[1]))
        return Read(ready(results))


@dataclass(frozen=True, slots=True)
class DocumentRead:
    """The results of a document, and how many have only a part of their samples.

    Of a picture ``chart`` is the tab that has such a chart, else "", and ``kept`` the sweep that it
    shows, if any.
    """

    results: tuple[Ready, ...] = ()
    thinned: int = 0
    problem: str = ""
    chart: str = ""
    kept: KeptSweep | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReadDocument:
    """Read an exported document or a picture with results; at most ``most`` of them."""

    path: Path
    most: int

    @property
    def words(self) -> str:
        """See Request."""
        return f"Reading {self.path.name} ..."

    def answer(self) -> DocumentRead:
        """See Request."""
        try:
            document = read_results(self.path)
        except DocumentError as error:
            return DocumentRead(problem=str(error))
        results = [result for _, result in document.results]
        if not results:
            return DocumentRead(problem=f"There is no result in {self.path.name}.")
        if len(results) > self.most:
            return DocumentRead(
                problem=f"{self.path.name} holds {len(results):,} results, and at most "
                f"{self.most:,} can be shown at once."
            )
        kept = sweep_of_document(document)
        return DocumentRead(ready(results), document.thinned, chart=document.chart, kept=kept)


def ready(results: Sequence[Result]) -> tuple[Ready, ...]:
    """Results as they can be shown at once; a million samples take some 100 ms to sum up."""
    return tuple(
        (replace(result, samples=Samples()), tally(result.job.id, result.samples))
        for result in results
    )
