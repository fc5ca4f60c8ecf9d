"""What a person changes of saved results: notes, tags, and deletion with undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemmviz.app.archive_writer import Deletion, Entry, Remark


class ArchiveEdits:
    """Changes of the results in the open file; nothing happens where that may only be read.

    Args:
        put: Hands entries to the file, if it may be written.
    """

    def __init__(self, put: Callable[[Sequence[Entry]], bool]) -> None:
        self._put = put
        self._undo: list[tuple[int, ...]] = []

    def annotate(
        self, ids: Sequence[int], note: str | None = None, tags: Sequence[str] | None = None
    ) -> None:
        """Write a note or tags beside saved results; None leaves what is there."""
        self._put([Remark(tuple(ids), note, None if tags is None else tuple(tags))])

    def delete(self, ids: Sequence[int]) -> None:
        """Take saved results out of the file; see :meth:`undo`."""
        if self._put([Deletion(tuple(ids))]):
            self._undo.append(tuple(ids))

    @property
    def undoable(self) -> int:
        """How many results :meth:`undo` would bring back."""
        return len(self._undo[-1]) if self._undo else 0

    def undo(self) -> None:
        """Bring back what was deleted last."""
        if self._undo and self._put([Deletion(self._undo[-1], undone=True)]):
            self._undo.pop()

    def forget(self) -> None:
        """Undo nothing any more: another file is open."""
        self._undo.clear()
