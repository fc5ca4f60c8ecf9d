"""The store of results: writes them as they come, and reads them back."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from gemmviz.core.model import Result, Samples
from gemmviz.core.store.blobs import pack_samples, pack_text
from gemmviz.core.store.files import Database, StoreError, told
from gemmviz.core.store.forms import TEXTS, Form, form_of, hash_of, search_text
from gemmviz.core.store.reading import SavedResults
from gemmviz.core.store.rows import SILENT_SECONDS

_Read = TypeVar("_Read")

_DELETED_SECONDS = 7 * 24 * 3600.0  # after so long a deleted result is gone


class ResultStore(SavedResults):
    """A results file; any thread may ask, and other programs may have it open too."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._texts: dict[bytes, int] = {}

    @classmethod
    def open(cls, path: Path, read_only: bool = False) -> ResultStore:
        """The store of a file, which is made where it does not exist.

        A damaged file, one of a newer version and one with tables besides ours are opened for
        reading only; see ``problem``.

        Raises:
            StoreError: It cannot be opened; the message says why in one sentence.
        """
        store = cls(Database(path, read_only=read_only))
        if not store.read_only:
            store._tidy()
        return store

    def hurry(self) -> None:
        """Let the questions of this thread fail at once where another program has the file.

        Raises:
            StoreError: The file cannot be opened any more.
        """
        self._database.hurry()

    def close(self) -> None:
        """Write what is left and close the file; nothing may be asked any more."""
        self._database.close()

    # --- writing

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What is written inside goes to the file together, at the end, or not at all.

        Raises:
            StoreError: It could not be written.
        """
        with self._writing():
            yield

    def add(self, result: Result, sweep: int | None = None) -> int:
        """Save a finished result; returns its id in this file.

        Args:
            result: With its samples.
            sweep: The id of the sweep that it belongs to.

        Raises:
            StoreError: It could not be written.
        """
        form = form_of(result)
        with self._writing() as connection:
            number = self._insert(connection, form, sweep)
            self._append(connection, number, 0, result.samples)
        return number

    def begin(self, result: Result, sweep: int | None = None) -> int:
        """Save a run that goes on, so far without its samples; returns its id."""
        with self._writing() as connection:
            begun = replace(result, samples=Samples(), finished_at=time.time())
            return self._insert(connection, form_of(begun, running=True), sweep)

    def describe(self, number: int, result: Result) -> None:
        """Save what has become known of a run that goes on; its samples stay as they are."""
        form = form_of(result, running=True)
        with self._writing() as connection:
            self._put_body(connection, number, form)

    def extend(self, number: int, samples: Samples) -> None:
        """Add samples to a run that goes on; without any it is only known to be alive.

        Args:
            number: Its id.
            samples: Those since the last call.
        """
        with self._writing() as connection:
            query = "SELECT coalesce(max(place) + 1, 0) FROM parts WHERE result = ?"
            (place,) = connection.execute(query, (number,)).fetchone()
            self._append(connection, number, place, samples)
            query = (
                "UPDATE results SET moment = ?, samples = samples + ?, launches = launches + ? "
                "WHERE id = ? AND running"
            )
            launches = int(np.sum(samples.launches))
            connection.execute(query, (time.time(), len(samples), launches, number))

    def settle(self) -> int:
        """End the runs that nothing was heard of for long: who measured them is gone.

        Returns:
            How many there were.
        """
        query = "SELECT id FROM results WHERE running AND moment < ?"
        with told(self.path):
            before = time.time() - SILENT_SECONDS
            found = self._database.connection.execute(query, (before,)).fetchall()
        for (number,) in found:
            try:
                self._conclude(number, self.result(number))
            except StoreError as error:
                if error.kind != "damaged":
                    raise
                self.drop(number)
        return len(found)

    def restart(self, number: int) -> None:
        """Drop the samples of a run that goes on: they do not count."""
        with self._writing() as connection:
            connection.execute("DELETE FROM parts WHERE result = ?", (number,))
            query = "UPDATE results SET samples = 0, launches = 0 WHERE id = ?"
            connection.execute(query, (number,))

    def finish(self, number: int, result: Result) -> None:
        """Save what came of a run that went on; its samples replace those so far."""
        with self._writing() as connection:
            self._conclude(number, result)
            connection.execute("DELETE FROM parts WHERE result = ?", (number,))
            self._append(connection, number, 0, result.samples)

    def drop(self, number: int) -> None:
        """Forget a run that came to nothing."""
        with self._writing() as connection:
            _erase(connection, [number])

    def put_sweep(self, text: str) -> int:
        """The id of a sweep, given its identity as text; the same text has the same id."""
        key = hash_of(text)
        with self._writing() as connection:
            query = "INSERT OR IGNORE INTO sweeps (hash, data) VALUES (?, ?)"
            connection.execute(query, (key, pack_text(text)))
            query = "SELECT id FROM sweeps WHERE hash = ?"
            return int(connection.execute(query, (key,)).fetchone()[0])

    def put_finding(self, kind: str, title: str, text: str, moment: float | None = None) -> int:
        """Save what an experiment has found, as JSON; returns its id among the findings.

        ``moment`` is when, in seconds since the Unix epoch; None for now.
        """
        with self._writing() as connection:
            query = "INSERT INTO findings (moment, kind, title, data) VALUES (?, ?, ?, ?)"
            values = (time.time() if moment is None else moment, kind, title, pack_text(text))
            return connection.execute(query, values).lastrowid or 0

    def annotate(
        self, ids: Iterable[int], note: str | None = None, tags: Sequence[str] | None = None
    ) -> None:
        """Write a note or tags beside results; None leaves what is there. A tag is one word."""
        with self._writing() as connection:
            for number in ids:
                query = "SELECT note, tags FROM results WHERE id = ?"
                found = connection.execute(query, (number,)).fetchone()
                if found is None:
                    continue
                new_note = found[0] if note is None else note
                new_tags = found[1] if tags is None else _tag_text(tags)
                query = "UPDATE results SET note = ?, tags = ?, remarks = ? WHERE id = ?"
                remarks = search_text((new_note, new_tags))
                connection.execute(query, (new_note, new_tags, remarks, number))

    def delete(self, ids: Iterable[int]) -> None:
        """Take results out of every list; they are gone a week later, see :meth:`restore`."""
        self._mark_deleted(ids, time.time())

    def restore(self, ids: Iterable[int]) -> None:
        """Bring deleted results back."""
        self._mark_deleted(ids, None)

    def save_copy(self, path: Path, at: Callable[[Callable[[], None]], None] | None = None) -> None:
        """Write all that is in the file into a new one; others may go on writing meanwhile.

        Of a file that is only read, because it is damaged or holds more than our tables, each
        result that can be read is written anew.

        Args:
            path: The new file.
            at: Is called with a function, which chooses the moment that is copied by being called.

        Raises:
            StoreError: It could not be written, or there is such a file.
        """
        if path.exists():
            raise StoreError(f"{path} is there already.")
        if self.read_only:
            self._rescue_into(path)
            return
        source = self._database.connection

        def choose() -> None:
            source.execute("BEGIN")  # what is read first is what this connection sees until its end
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()

        with told(path):
            try:
                choose() if at is None else at(choose)
                with closing(sqlite3.connect(path, isolation_level=None)) as copy:
                    source.backup(copy)
            finally:
                if source.in_transaction:
                    source.execute("ROLLBACK")

    # --- the rest

    def _rescue_into(self, path: Path) -> None:
        """Writes what can be read into a new file."""
        copy = ResultStore.open(path)
        try:
            sweeps = dict(_readable(self.sweeps))
            findings = _readable(self.findings)
            with copy.batch():
                for each in reversed(findings):
                    copy.put_finding(each.kind, each.title, each.text, each.moment)
                for number, result in self.results():
                    row = self.row(number)
                    text = sweeps.get(row.sweep) if row is not None and row.sweep else None
                    new = copy.add(result, copy.put_sweep(text) if text is not None else None)
                    if row is not None:
                        copy.annotate([new], row.note, row.tags)
        finally:
            copy.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._database.writing() as connection:
                yield connection
        except BaseException as error:
            self._texts.clear()  # some may not have been written
            if isinstance(error, StoreError) and error.kind == "damaged":
                self._database.condemn()
            raise

    def _conclude(self, number: int, result: Result) -> None:
        """Writes the end of a run that went on, but for its samples."""
        form = form_of(result)
        with self._writing() as connection:
            names = ", ".join(f"{name} = ?" for name in form.columns)
            values = (*form.columns.values(), number)
            connection.execute(f"UPDATE results SET {names} WHERE id = ?", values)  # noqa: S608
            self._put_body(connection, number, form)

    def _insert(self, connection: sqlite3.Connection, form: Form, sweep: int | None) -> int:
        columns = {**form.columns, "sweep": sweep, "note": "", "tags": "", "remarks": ""}
        marks = ", ".join("?" * len(columns))
        query = f"INSERT INTO results ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        number = connection.execute(query, tuple(columns.values())).lastrowid
        assert number is not None
        self._put_body(connection, number, form)
        return number

    def _put_body(self, connection: sqlite3.Connection, number: int, form: Form) -> None:
        keys = [
            self._put_text(connection, form.texts[name]) if name in form.texts else None
            for name in TEXTS
        ]
        marks = ", ".join("?" * (len(TEXTS) + 2))
        query = f"INSERT OR REPLACE INTO bodies (result, {', '.join(TEXTS)}, data) VALUES ({marks})"  # noqa: S608
        connection.execute(query, (number, *keys, pack_text(form.body)))

    def _put_text(self, connection: sqlite3.Connection, text: str) -> int:
        key = hash_of(text)
        if key not in self._texts:
            query = "SELECT id FROM texts WHERE hash = ?"
            found = connection.execute(query, (key,)).fetchone()
            if found is None:
                query = "INSERT INTO texts (hash, data) VALUES (?, ?)"
                self._texts[key] = connection.execute(query, (key, pack_text(text))).lastrowid or 0
            else:
                self._texts[key] = int(found[0])
        return self._texts[key]

    def _append(
        self, connection: sqlite3.Connection, number: int, place: int, samples: Samples
    ) -> None:
        query = "INSERT INTO parts (result, place, count, data) VALUES (?, ?, ?, ?)"
        for offset, (count, data) in enumerate(pack_samples(samples)):
            connection.execute(query, (number, place + offset, count, data))

    def _mark_deleted(self, ids: Iterable[int], moment: float | None) -> None:
        with self._writing() as connection:
            query = "UPDATE results SET deleted = ? WHERE id = ?"
            connection.executemany(query, [(moment, number) for number in ids])

    def _tidy(self) -> None:
        """Forgets what was deleted long ago and settles what was cut off, where that can be."""
        try:
            self._forget_deleted()
            self.settle()
        except StoreError as error:
            if error.kind == "damaged":
                self._database.condemn()

    def _forget_deleted(self) -> None:
        before = time.time() - _DELETED_SECONDS
        query = "SELECT id FROM results WHERE deleted < ? LIMIT 1000"
        with told(self.path):
            found = self._database.connection.execute(query, (before,)).fetchall()
        if found:
            with self._writing() as connection:
                _erase(connection, [number for (number,) in found])


def _erase(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    for query in (
        "DELETE FROM results WHERE id = ?", "DELETE FROM bodies WHERE result = ?",
        "DELETE FROM parts WHERE result = ?",
    ):  # fmt: skip
        connection.executemany(query, [(number,) for number in ids])


def _readable(read: Callable[[], tuple[_Read, ...]]) -> tuple[_Read, ...]:
    """What is read of a file, nothing where that is damaged."""
    try:
        return read()
    except StoreError:
        return ()


def _tag_text(tags: Sequence[str]) -> str:
    """Tags as one text with spaces around each, so that a whole one is found; sorted, each once."""
    words = sorted({word.casefold() for tag in tags for word in tag.split()})
    return f" {' '.join(words)} " if words else ""
