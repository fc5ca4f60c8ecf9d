"""The open results file: everything measured goes into it, and comes back from it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gemmviz.app.archive_chain import ArchiveChain
from gemmviz.app.archive_edits import ArchiveEdits
from gemmviz.app.archive_feed import Feed
from gemmviz.app.archive_reader import (
    ArchiveReader,
    CloseFile,
    Copied,
    CopyFile,
    Opened,
    OpenFile,
    Purpose,
    Read,
    ReadResults,
    Ready,
    ready,
)
from gemmviz.app.archive_writer import ArchiveWriter, Entry
from gemmviz.app.book import ResultBook
from gemmviz.app.estimator import foreseen
from gemmviz.app.laboratory import Laboratory
from gemmviz.app.narration import Line
from gemmviz.app.recent_files import RecentFiles
from gemmviz.app.run_queue import RunQueue
from gemmviz.app.runs import Run
from gemmviz.core.model import Result
from gemmviz.core.store import ResultStore, StoreError

_TICK_MILLISECONDS = 900  # what a sudden end may lose, with the time that writing takes below 1 s
_WATCH_MILLISECONDS = 1000
_HOPELESS = ("damaged", "gone", "read_only")
"""Kinds of refusal after which it is of no use to try the same file again."""


class Archive(QObject):
    """The results file that is open, if any: ``store`` reads it on the GUI thread.

    What is measured goes into it or, where it may only be read, into the one before or the
    person's own: ``saving`` says which. Files are opened, copied and read by ``reader``, on a
    thread of its own; ``file_ended`` follows each opening with the path and why it failed, or "".
    ``opened`` follows another file, ``changed`` whatever was written into it by this window or by
    another program, and ``trouble_changed`` a change of ``trouble``: why results are not saved, as
    a sentence, or "". ``told`` is why something could not be read. ``edits`` changes what is saved.
    """

    opened = Signal()
    file_ended = Signal(str, str)
    changed = Signal()
    trouble_changed = Signal()
    run_read = Signal(object)
    changes_read = Signal(object, object)
    told = Signal(str)
    line_logged = Signal(object)

    def __init__(
        self,
        queue: RunQueue,
        laboratory: Laboratory,
        book: ResultBook,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self._laboratory, self._book = queue, laboratory, book
        self.store: ResultStore | None = None
        self.recent = RecentFiles()
        self.reader = ArchiveReader(self)
        self.reader.answered.connect(self._on_answered)
        self.trouble = ""
        self._nowhere = ""  # why there is no file to save into
        self._chain = ArchiveChain(self)
        self._chain.written.connect(self._on_written)
        self._chain.refused.connect(self._on_refused)
        self._chain.left_out.connect(self._on_left_out)
        self._chain.left.connect(self._on_left)
        self._hopeless: ArchiveWriter | None = None  # for which another file was asked for
        self._useless: set[Path] = set()
        self._numbers: dict[int, int] = {}  # of results that came from the file
        self.edits = ArchiveEdits(self._edit)
        self._tick = QTimer(self, interval=_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._watch = QTimer(self, interval=_WATCH_MILLISECONDS)
        self._watch.timeout.connect(self._on_watch)
        self._seen = 0
        self._feed = Feed(queue, laboratory, self)
        queue.job_advanced.connect(self._on_job_advanced)

    # --- files

    @property
    def path(self) -> Path | None:
        """The open file."""
        return self.store.path if self.store is not None else None

    @property
    def saving(self) -> Path | None:
        """The file that results go into; None where there is none."""
        writer = self._chain.current
        return writer.store.path if writer is not None else None

    @property
    def writable(self) -> bool:
        """Whether the open file is the one that results go into."""
        store = self.store
        return store is not None and self._chain.writes(store) and not store.read_only

    @property
    def remark(self) -> str:
        """Why the open file is only read, and where results go instead; else ""."""
        problem, saving = self.store.problem if self.store is not None else "", self.saving
        if not problem or saving is None or saving == self.path:
            return problem
        return f"{problem} What is measured goes into {saving}."

    def open(self, path: Path) -> None:
        """Open a results file, or make it; ``file_ended`` follows.

        What is measured goes there from then on, runs under way included, unless it may only be
        read.
        """
        self.reader.ask(OpenFile((path,), place=True))

    def open_first(self, paths: Sequence[Path] = ()) -> None:
        """Open the first of some files that can be; the person's own where none can."""
        self.reader.ask(OpenFile(tuple(paths), usual=True, place=True))

    def save_copy(self, path: Path) -> None:
        """Write all that is in the file into another one, and go on there.

        One at a time: a writer remembers what was written since one copy alone.
        """
        if any(isinstance(each, CopyFile) for each in self.reader.pending):
            self._complain("The copy was not saved: another one is being made.")
        elif self.store is not None:
            writer = self._chain.current if self._chain.writes(self.store) else None
            self._on_tick()
            self.reader.ask(CopyFile(self.store, path, writer.choose if writer else None))

    def close(self) -> None:
        """Write what has come, runs under way as if stopped now, and close the file."""
        self._tick.stop()
        self._watch.stop()
        self._chain.put([*self._feed.take(), *self._feed.end()])
        store, self.store = self.store, None
        refusal = self._chain.close()
        if refusal:
            self._log(f"What was measured last is not saved: {refusal}", bad=True)
        if store is not None:
            self._retire(store)
        self.reader.finish()

    def _save_into(self, store: ResultStore, *, copied: bool = False) -> None:
        """Go on with another file; runs under way are saved there from their first sample on."""
        self._on_tick()
        self._chain.go_on(store, self._feed.parting(), copied=copied)
        if not copied:
            self._feed.rewind()
        self._useless.discard(store.path)
        self._tick.start()

    @Slot(object)
    def _on_left(self, store: ResultStore) -> None:
        if store is not self.store:
            self._retire(store)

    def _retire(self, store: ResultStore) -> None:
        """Close a file that nobody uses any more; by the one thread that may be reading it."""
        if not self._chain.uses(store):
            self.reader.ask(CloseFile(store))

    def _look_at(self, store: ResultStore, *, copied: bool = False) -> None:
        """Show what is in a file from now on; in a copy results have the ids that they had."""
        old, self.store = self.store, store
        self.edits.forget()
        if not copied:
            self._numbers.clear()
        with suppress(StoreError):
            store.hurry()
        self._seen = self._count_changes()
        self._watch.start()
        if old is not None:
            self._retire(old)
        self.recent.add(store.path)
        self._update_trouble()
        self.opened.emit()
        self.changed.emit()

    # --- what comes back from the reader

    @Slot(object, object)
    def _on_answered(self, request: object, answer: object) -> None:
        if isinstance(request, OpenFile) and isinstance(answer, Opened):
            self._on_file_opened(request, answer)
        elif isinstance(request, CopyFile) and isinstance(answer, Copied):
            self._on_copied(request, answer)
        elif isinstance(request, ReadResults) and isinstance(answer, Read):
            self._on_read(request, answer)

    def _on_file_opened(self, request: OpenFile, found: Opened) -> None:
        for sentence in found.remarks:
            self._log(sentence, bad=True)
        store, place = found.store, found.place
        if store is not None and not store.read_only:
            place = store
        elif place is not None and self._chain.current is not None:
            self._retire(place)  # there is one by now
            place = None
        if place is not None:
            self._save_into(place)
            if place is not store or found.remarks or request.avoid:
                self._log(f"Results go into {place.path}.")
        elif self._chain.current is None:
            self._nowhere = found.problem or (store.problem if store is not None else "")
        if store is not None and request.shown:
            self._look_at(store)
        self._update_trouble()
        path = request.paths[0] if request.paths else (store.path if store is not None else "")
        self.file_ended.emit(str(path), found.problem)

    def _on_copied(self, request: CopyFile, copy: Copied) -> None:
        writer = self._chain.current if self._chain.writes(request.store) else None
        if copy.store is None:
            if writer is not None:
                writer.forget_copy()
            self._complain(f"The copy was not saved: {copy.problem}")
            return
        self._save_into(copy.store, copied=writer is not None)
        self._look_at(copy.store, copied=writer is not None)

    def _on_read(self, request: ReadResults, read: Read) -> None:
        if request.store is not self.store:
            return
        if read.problem:
            self._complain(read.problem)
        elif request.purpose == "changes":
            self.changes_read.emit(request.numbers, read.changes)
        elif request.purpose == "details":
            self.run_read.emit(_run_of(read.results[0], self._laboratory.next_id()))
        else:
            there = self._there
            found = dict(zip(request.numbers, read.results, strict=True))
            new = [number for number in found if number not in there]
            there |= dict(zip(new, self.show_ready([found[each] for each in new]), strict=True))
            self._numbers |= {run.job.id: number for number, run in there.items()}
            if request.first in there:
                self._queue.show(there[request.first])

    # --- what is in the file

    def number_of(self, run: Run) -> int | None:
        """The id in the file of a run of this session; None where it is not there."""
        known = self._numbers.get(run.job.id)
        writer = self._chain.current
        if known is None and writer is not None and writer.store is self.store:
            known = writer.numbers.get(run.job.id)
        return known

    @property
    def _there(self) -> dict[int, Run]:
        """The runs of this session that are in the file, by their ids there."""
        pairs = ((self.number_of(run), run) for run in self._book.runs)
        return {number: run for number, run in pairs if number is not None}

    def show(self, results: Sequence[Result]) -> tuple[Run, ...]:
        """Add finished results to the session, as if they had been measured, and show the first."""
        return self.show_ready(ready(results))

    def show_ready(self, results: Sequence[Ready]) -> tuple[Run, ...]:
        """The same of results whose samples are summed up already."""
        runs = tuple(_run_of(each, self._laboratory.next_id()) for each in results)
        for run in runs:
            self._book.add(run)
        if runs:
            self._queue.show(runs[0])
        return runs

    def show_saved(self, numbers: Sequence[int]) -> str:
        """Read saved results and show them; those that the session has are not added again.

        Returns:
            Why they cannot be read, or ""; what turns out only then is ``told``.
        """
        there = self._there
        wanted = [number for number in numbers if number not in there]
        if numbers and not wanted:
            self._queue.show(there[numbers[0]])
            return ""
        return self.read(wanted, "show", numbers[0])

    def read(self, numbers: Sequence[int], purpose: Purpose, first: int | None = None) -> str:
        """Read saved results; ``run_read`` or ``changes_read`` follows, or ``told``.

        Args:
            numbers: Their ids in the file.
            purpose: "details" of one, "changes" of two, or to "show" them all.
            first: The one that is put in front.

        Returns:
            Why they cannot be read, or "".
        """
        if self.store is None:
            return "No results file is open."
        self.reader.ask(ReadResults(self.store, tuple(numbers), purpose, first))
        return ""

    # --- writing

    def _edit(self, entries: Sequence[Entry]) -> bool:
        if self.writable:
            self._chain.put(entries)
        return self.writable

    @Slot()
    def _on_tick(self) -> None:
        if self._chain.current is not None:
            self._chain.put(self._feed.take())

    @Slot(int)
    def _on_job_advanced(self, _: int) -> None:
        """What a quiet run has sent is written at once: nothing is timed just then, but soon."""
        if self._queue.quiet and self._chain.current is not None:
            self._on_tick()
            self._tick.start()

    @Slot()
    def _on_written(self) -> None:
        self._seen = self._count_changes()
        self.changed.emit()

    @Slot()
    def _on_refused(self) -> None:
        """Asks the file that is saved into now: the news may be of one that was left since."""
        writer = self._chain.current
        if writer is not None and writer.kind in _HOPELESS and writer is not self._hopeless:
            self._hopeless = writer
            self._useless.add(writer.store.path)
            # What is gone is shown no longer, while of a damaged file much may still be read.
            shown = writer.kind == "gone" and writer.store is self.store
            self.reader.ask(OpenFile(usual=True, shown=shown, avoid=frozenset(self._useless)))
        self._update_trouble()

    @Slot(str)
    def _on_left_out(self, sentence: str) -> None:
        self._log(sentence, bad=True)

    @Slot()
    def _on_watch(self) -> None:
        """Other programs may have written into the file."""
        count = self._count_changes()
        if count != self._seen:
            self._seen = count
            self.changed.emit()

    def _count_changes(self) -> int:
        try:
            return self.store.changes() if self.store is not None else 0
        except StoreError:
            return self._seen

    def _update_trouble(self) -> None:
        writer = self._chain.current
        sentence = writer.refusal if writer is not None else self._nowhere
        sentence = f"Results are not saved: {sentence}" if sentence else ""
        if sentence == self.trouble:
            return
        before, self.trouble = self.trouble, sentence
        if sentence:
            self._log(sentence, bad=True)
        elif before:
            self._log("Results are saved again.")
        self.trouble_changed.emit()

    def _complain(self, sentence: str) -> None:
        self._log(sentence, bad=True)
        self.told.emit(sentence)

    def _log(self, text: str, *, bad: bool = False) -> None:
        self.line_logged.emit(Line(time.time(), "results", text, bad))


def _run_of(found: Ready, job_id: int) -> Run:
    """A finished result as a run of this session, under an id of its own."""
    result, samples = found
    job = replace(result.job, id=job_id)
    run = Run(job, result.device, foreseen(job, result.device))
    run.take(replace(samples, job_id=job_id))
    run.take(replace(result, job=job))
    return run
