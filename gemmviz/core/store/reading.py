"""Reads a results file: what is in it in short, and each result whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gemmviz.core.model import Result, Samples
from gemmviz.core.store.blobs import BlobError, unpack_samples, unpack_text
from gemmviz.core.store.files import TROUBLE, Database, StoreError, is_damage, told
from gemmviz.core.store.forms import TEXTS, FormError, result_of
from gemmviz.core.store.rows import (
    COLUMNS,
    Choices,
    Filter,
    Finding,
    Row,
    RowList,
    real,
    row_of,
    word,
)
from gemmviz.core.store.salvage import readable_ids, wanted_ids

MOST_SAMPLES = 10_000_000
"""The most samples of one result that are read; a run of hours may have more in the file."""

_KEPT_TEXTS = 64
_LONGEST_NAME = 1000


class SavedResults:
    """The reading half of a store; any thread may ask.

    ``unreadable`` counts results that :meth:`results` had to leave out.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read_texts: dict[int, str] = {}
        self.unreadable = 0

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._database.read_only

    @property
    def problem(self) -> str:
        """Why nothing can be written although that was asked for, as a sentence, or ""."""
        return self._database.problem

    @property
    def damaged(self) -> bool:
        """Whether what is read may be less than what was written."""
        return "damaged" in self.problem or "cut short" in self.problem

    def rows(self, wanted: Filter = Filter()) -> RowList:  # noqa: B008 (it is frozen)
        """The results that a filter lets through, in its order; rows are read as they are used.

        Raises:
            StoreError: They cannot be read.
        """
        return RowList(self._ids(wanted), self._read_rows)

    def row(self, number: int) -> Row | None:
        """A result in short; None where there is none of this id."""
        return self._read_rows([number]).get(number)

    def result(self, number: int, samples: bool = True) -> Result:
        """A result by its id, with or without its samples.

        Raises:
            StoreError: There is none, or it cannot be read.
        """
        with self._reading(number):
            query = (
                f"SELECT {', '.join(f'bodies.{name}' for name in TEXTS)}, bodies.data, "  # noqa: S608
                "running, moment FROM bodies JOIN results ON results.id = bodies.result "
                "WHERE bodies.result = ?"
            )
            found = self._database.connection.execute(query, (number,)).fetchone()
            if found is None:
                raise StoreError(f"{self.path} has no result {number}.")
            *keys, body, running, moment = found
            texts = {
                name: self._text(key)
                for name, key in zip(TEXTS, keys, strict=True)
                if key is not None
            }
            result = result_of(texts, unpack_text(body), self._samples(number, samples))
        return result if not running else _cut_off(result, moment)

    def results(
        self, sweep: int | None = None, samples: bool = True
    ) -> Iterator[tuple[int, Result]]:
        """Every result with its id, oldest first; of one sweep where that is given.

        Those that cannot be read are left out and counted in ``unreadable``.
        """
        for number in self._ids(Filter(sweep=sweep, order="oldest")):
            try:
                yield number, self.result(number, samples)
            except StoreError:
                self.unreadable += 1

    def sweeps(self) -> tuple[tuple[int, str], ...]:
        """The sweeps of the file: the id of each and its identity as text."""
        with self._reading():
            rows = self._database.connection.execute("SELECT id, data FROM sweeps ORDER BY id")
            return tuple((int(number), unpack_text(data)) for number, data in rows)

    def findings(self) -> tuple[Finding, ...]:
        """What experiments have found, the newest first."""
        with self._reading():
            connection = self._database.connection
            query = "SELECT count(*) FROM sqlite_master WHERE name = 'findings'"
            if not connection.execute(query).fetchone()[0]:
                return ()  # the file is of a version that kept none, and only read
            query = "SELECT id, moment, kind, title, data FROM findings ORDER BY id DESC"
            return tuple(
                Finding(
                    int(number), real(moment) or 0.0, word(kind), word(title), unpack_text(data)
                )
                for number, moment, kind, title, data in connection.execute(query)
            )

    def choices(self) -> Choices:
        """What the results of the file can be filtered by."""

        def ask(query: str) -> list[tuple[Any, ...]]:
            return self._database.connection.execute(query).fetchall()

        try:
            with self._reading():
                devices = ask("SELECT DISTINCT device FROM results ORDER BY device")
                kernels = ask("SELECT kernel, max(title) FROM results GROUP BY kernel")
                shapes = ask("SELECT DISTINCT m, n, k FROM results ORDER BY m, n, k")
                tags = ask("SELECT DISTINCT tags FROM results WHERE tags <> ''")
        except StoreError as error:
            if error.kind == "damaged":
                return Choices()
            raise
        return Choices(
            tuple(device for (device,) in devices if _is_name(device)),
            tuple(sorted(pair for pair in kernels if all(map(_is_name, pair)))),
            tuple((m, n, k) for m, n, k in shapes if {type(m), type(n), type(k)} == {int}),
            tuple(sorted({tag for (text,) in tags for tag in word(text).split() if _is_name(tag)})),
        )

    def changes(self) -> int:
        """A number that changes when any other thread or program has written to the file."""
        with told(self.path):
            (number,) = self._database.connection.execute("PRAGMA data_version").fetchone()
        return int(number)

    @contextmanager
    def _reading(self, number: int | None = None) -> Iterator[None]:
        what = "A result" if number is None else f"Result {number}"
        try:
            with told(self.path):
                yield
        except (BlobError, FormError) as error:
            raise StoreError(
                f"{what} of {self.path} cannot be read: {error}.", "damaged"
            ) from error

    def _ids(self, wanted: Filter) -> Sequence[int]:
        with told(self.path):
            try:
                return wanted_ids(self._database.connection, wanted)
            except TROUBLE as error:
                if not is_damage(error):
                    raise
                self._database.condemn()
                return readable_ids(self._database.connection, wanted)

    def _read_rows(self, ids: Sequence[int]) -> dict[int, Row]:
        query = f"SELECT {', '.join(COLUMNS)} FROM results WHERE id = ?"  # noqa: S608
        found: dict[int, Row] = {}
        with told(self.path):
            for number in ids:
                try:
                    values = self._database.connection.execute(query, (number,)).fetchone()
                except TROUBLE as error:
                    if not is_damage(error):
                        raise
                    self._database.condemn()
                    continue
                if values is not None:
                    found[number] = row_of(values)
        return found

    def _text(self, key: int) -> str:
        text = self._read_texts.get(key)
        if text is None:
            query = "SELECT data FROM texts WHERE id = ?"
            found = self._database.connection.execute(query, (key,)).fetchone()
            text = unpack_text(found[0] if found is not None else None)
            if len(self._read_texts) >= _KEPT_TEXTS:
                self._read_texts.clear()
            self._read_texts[key] = text
        return text

    def _samples(self, number: int, wanted: bool) -> Samples:
        if not wanted:
            return Samples()
        query = "SELECT data FROM parts WHERE result = ? ORDER BY place LIMIT ?"
        blocks = self._database.connection.execute(query, (number, MOST_SAMPLES))
        return unpack_samples((block for (block,) in blocks), MOST_SAMPLES)


def _is_name(value: object) -> bool:
    """Whether it is a text that can stand in a list."""
    return isinstance(value, str) and len(value) <= _LONGEST_NAME


def _cut_off(result: Result, moment: float) -> Result:
    """A run that nobody has ended: as if it had been stopped when it was last heard of."""
    return replace(result, stopped=True, finished_at=moment)
