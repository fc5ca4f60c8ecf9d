"""The open results file: everything measured goes into it, and comes back from it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gemmviz.app.archive_feed import Feed
from gemmviz.app.archive_writer import ArchiveWriter, Deletion, Entry, Remark
from gemmviz.app.book import ResultBook
from gemmviz.app.estimator import foreseen
from gemmviz.app.laboratory import Laboratory
from gemmviz.app.narration import Line
from gemmviz.app.recent_files import RecentFiles
from gemmviz.app.run_queue import RunQueue
from gemmviz.app.runs import Run
from gemmviz.app.samples import tally
from gemmviz.core.model import Result, Samples
from gemmviz.core.paths import results_file
from gemmviz.core.store import ResultStore, StoreError

_TICK_MILLISECONDS = 900  # what a sudden end may lose, with the time that writing takes below 1 s
_WATCH_MILLISECONDS = 1000
_MOST_USUAL = 9
_MOST_SHOWN_SAMPLES = 20_000_000  # at once: half a gigabyte


class Archive(QObject):
    """The results file that is open, if any: ``store`` reads it on the GUI thread.

    ``opened`` follows another file, ``changed`` whatever was written into it by this window or by
    another program, and ``trouble_changed`` a change of ``trouble``: why results are not saved, as
    a sentence, or "".
    """

    opened = Signal()
    changed = Signal()
    trouble_changed = Signal()
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
        self.trouble = ""
        self._writer: ArchiveWriter | None = None
        self._numbers: dict[int, int] = {}  # of results that came from the file
        self._undo: list[tuple[int, ...]] = []
        self._tick = QTimer(self, interval=_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._watch = QTimer(self, interval=_WATCH_MILLISECONDS)
        self._watch.timeout.connect(self._on_watch)
        self._seen = 0
        self._feed = Feed(queue, laboratory, self)

    # --- files

    @property
    def path(self) -> Path | None:
        """The open file."""
        return self.store.path if self.store is not None else None

    @property
    def writable(self) -> bool:
        """Whether results are being saved."""
        return self.store is not None and not self.store.read_only

    def open(self, path: Path) -> str:
        """Open a results file, or make it; returns why it cannot be, or "".

        A file that may only be read is open afterwards, and ``trouble`` says why nothing is saved.
        """
        try:
            store = ResultStore.open(path)
        except StoreError as error:
            self._log(str(error), bad=True)
            return str(error)
        self._adopt(store)
        self.recent.add(path)
        return ""

    def open_first(self, paths: Sequence[Path]) -> None:
        """Open the first of some files that can be; the person's own where none can."""
        if not any(not self.open(path) for path in paths):
            self.open_usual()

    def open_usual(self) -> None:
        """Open the person's own file; where it cannot be written, one beside it."""
        first: ResultStore | None = None
        sentence = ""
        for number in range(1, _MOST_USUAL + 1):
            path = results_file(number)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                store = ResultStore.open(path)
            except OSError as error:
                sentence = f"{path}: {error.strerror or error}."
                break
            except StoreError as error:
                sentence = sentence or str(error)
                continue
            if not store.read_only:
                if number > 1:
                    self._log(f"{sentence} Results go into {path}.", bad=True)
                if first is not None:
                    first.close()
                self._adopt(store)
                return
            sentence = sentence or store.problem
            if first is None:
                first = store
            else:
                store.close()
        if first is not None:
            self._adopt(first)
        else:
            self._set_trouble(f"Results are not saved: {sentence}")

    def save_copy(self, path: Path) -> None:
        """Write all that is in the file into another one, and go on there."""
        if self._writer is not None:
            self._put(self._feed.take())
            self._writer.copy(path)

    def close(self) -> None:
        """Write what has come, runs under way as if stopped now, and close the file."""
        self._shut([*self._feed.take(), *self._feed.end()])

    def _shut(self, last: Sequence[Entry]) -> None:
        self._tick.stop()
        self._watch.stop()
        self._put(last)
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.finish()
            if writer.is_behind:
                self._log(f"What was measured last is not saved: {writer.refusal}", bad=True)
            writer.deleteLater()
        self.store = None
        self._feed.is_open = False

    def _adopt(self, store: ResultStore) -> None:
        """Go on with another file; runs under way are saved there from their first sample on."""
        self._shut([*self._feed.take(), *self._feed.give_up()])
        self.store = store
        self._numbers.clear()
        self._undo.clear()
        self._feed.is_open = not store.read_only
        self._writer = ArchiveWriter(store, self)
        self._writer.written.connect(self._on_written)
        self._writer.refused.connect(self._on_refused)
        self._writer.left_out.connect(self._on_left_out)
        self._writer.copied.connect(self._on_copied)
        self._writer.start()
        self._seen = self._count_changes()
        self._tick.start()
        self._watch.start()
        self._on_refused()
        self.opened.emit()
        self.changed.emit()

    # --- what is in the file

    def number_of(self, run: Run) -> int | None:
        """The id in the file of a run of this session; None where it is not there."""
        known = self._numbers.get(run.job.id)
        if known is None and self._writer is not None:
            known = self._writer.numbers.get(run.job.id)
        return known

    def show(self, results: Sequence[Result], numbers: Sequence[int] = ()) -> tuple[Run, ...]:
        """Add finished results to the session, as if they had been measured, and show the first.

        Args:
            results: With their samples.
            numbers: Their ids in the open file, where they are from there.

        Returns:
            The runs.
        """
        runs = []
        for place, result in enumerate(results):
            run = _run_of(result, self._laboratory.next_id())
            if place < len(numbers):
                self._numbers[run.job.id] = numbers[place]
            self._book.add(run)
            runs.append(run)
        if runs:
            self._queue.show(runs[0])
        return tuple(runs)

    def show_saved(self, numbers: Sequence[int]) -> str:
        """Show saved results; those that the session has are not added again.

        Returns:
            Why one could not be read, or "".
        """
        if self.store is None:
            return "No results file is open."
        shown = {number: run for run in self._book.runs
                 if (number := self.number_of(run)) is not None}  # fmt: skip
        wanted = [number for number in numbers if number not in shown]
        results: list[Result] = []
        room = _MOST_SHOWN_SAMPLES
        try:
            for number in wanted:
                results.append(self.store.result(number))
                room -= len(results[-1].samples)
                if room < 0 and len(results) > 1:
                    return "They have too many samples to be shown at once: choose fewer."
        except StoreError as error:
            return str(error)
        added = dict(zip(wanted, self.show(results, wanted), strict=True))
        if numbers:
            self._queue.show({**shown, **added}[numbers[0]])
        return ""

    def peek(self, number: int) -> Run:
        """A saved result as a run that is in no list.

        Raises:
            StoreError: It cannot be read.
        """
        if self.store is None:
            raise StoreError("No results file is open.")
        return _run_of(self.store.result(number), self._laboratory.next_id())

    def annotate(
        self, ids: Sequence[int], note: str | None = None, tags: Sequence[str] | None = None
    ) -> None:
        """Write a note or tags beside saved results."""
        words = None if tags is None else tuple(tags)
        self._put([Remark(tuple(ids), note, words)])

    def delete(self, ids: Sequence[int]) -> None:
        """Take saved results out of the file; see :meth:`undo`."""
        if self.writable:
            self._undo.append(tuple(ids))
            self._put([Deletion(tuple(ids))])

    @property
    def undoable(self) -> int:
        """How many results :meth:`undo` would bring back."""
        return len(self._undo[-1]) if self._undo else 0

    def undo(self) -> None:
        """Bring back what was deleted last."""
        if self._undo:
            self._put([Deletion(self._undo.pop(), undone=True)])

    # --- writing

    @Slot()
    def _on_tick(self) -> None:
        if self._writer is not None:
            self._put(self._feed.take())

    def _put(self, entries: Sequence[Entry]) -> None:
        if entries and self._writer is not None and self.writable:
            self._writer.put(entries)

    # --- what comes back

    @Slot()
    def _on_written(self) -> None:
        self._seen = self._count_changes()
        self.changed.emit()

    @Slot()
    def _on_refused(self) -> None:
        """Asks the file that is open now: the news may be of one that was closed since."""
        if self.store is None or self._writer is None:
            return
        sentence = self.store.problem or self._writer.refusal
        self._set_trouble(f"Results are not saved: {sentence}" if sentence else "")

    @Slot(str)
    def _on_left_out(self, sentence: str) -> None:
        self._log(sentence, bad=True)

    @Slot(str, str)
    def _on_copied(self, path: str, problem: str) -> None:
        if problem:
            self._log(f"The copy was not saved: {problem}", bad=True)
        elif self._writer is not None:  # else all is closed already
            self.open(Path(path))

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

    def _set_trouble(self, sentence: str) -> None:
        if sentence == self.trouble:
            return
        before, self.trouble = self.trouble, sentence
        if sentence:
            self._log(sentence, bad=True)
        elif before:
            self._log("Results are saved again.")
        self.trouble_changed.emit()

    def _log(self, text: str, *, bad: bool = False) -> None:
        self.line_logged.emit(Line(time.time(), "results", text, bad))


def _run_of(result: Result, job_id: int) -> Run:
    """A finished result as a run of this session, under an id of its own."""
    job = replace(result.job, id=job_id)
    run = Run(job, result.device, foreseen(job, result.device))
    run.take(tally(job_id, result.samples))
    run.take(replace(result, job=job, samples=Samples()))
    return run
