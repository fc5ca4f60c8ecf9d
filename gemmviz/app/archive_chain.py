"""The writers of the files that results go into, one file after the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot

from gemmviz.app.archive_writer import ArchiveWriter, Entry
from gemmviz.core.store import ResultStore


class ArchiveChain(QObject):
    """Writes into one file until another takes its place, which waits for nobody.

    A writer comes to its end before the next one starts: what it could not write goes on to that.
    ``written``, ``refused`` and ``left_out`` are those of any of the writers; ``left`` follows
    each file into which nothing is written any more.
    """

    written = Signal()
    refused = Signal()
    left_out = Signal(str)
    left = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._writers: list[ArchiveWriter] = []  # the last one is new; those before it still end
        self._copies: set[ArchiveWriter] = set()  # that write into a copy of the file before

    @property
    def current(self) -> ArchiveWriter | None:
        """The writer that takes what comes now; None where there is no file."""
        return self._writers[-1] if self._writers else None

    def writes(self, store: ResultStore) -> bool:
        """Whether what comes now goes into this file."""
        return bool(self._writers) and self._writers[-1].store is store

    def uses(self, store: ResultStore) -> bool:
        """Whether a writer has this file, be it at its end."""
        return any(writer.store is store for writer in self._writers)

    def put(self, entries: Sequence[Entry]) -> None:
        """Hand over what is to be written; nothing happens without a file."""
        if entries and self._writers:
            self._writers[-1].put(entries)

    def go_on(self, store: ResultStore, last: Sequence[Entry], *, copied: bool) -> None:
        """Write into another file from now on.

        Args:
            store: The file.
            last: Goes into the file before and into no other.
            copied: Whether it is a copy of the file before, which has what was written until then.
        """
        writer = ArchiveWriter(store, self)
        writer.written.connect(self.written)
        writer.refused.connect(self.refused)
        writer.left_out.connect(self.left_out)
        writer.finished.connect(self._advance)
        if copied:
            self._copies.add(writer)
        if self._writers:
            self._writers[-1].end(last)
        else:
            writer.start()
        self._writers.append(writer)

    def close(self) -> str:
        """Write what waits, and leave the file; blocks until then.

        Returns:
            Why something could not be written, or "".
        """
        refusal = ""
        if self._writers:
            self._writers[-1].end()
        while self._writers:
            self._writers[0].wait()
            self._advance()
            if len(self._writers) == 1 and self._writers[0].isFinished():
                refusal = self._writers[0].refusal
                self._leave(self._writers.pop())
        return refusal

    @Slot()
    def _advance(self) -> None:
        """Start the next writer once the one before has ended."""
        while len(self._writers) > 1 and self._writers[0].isFinished():
            old, new = self._writers.pop(0), self._writers[0]
            new.inherit(old.heritage(copied=new in self._copies))
            self._leave(old)
            new.start()

    def _leave(self, writer: ArchiveWriter) -> None:
        self._copies.discard(writer)
        self.left.emit(writer.store)
        writer.deleteLater()
