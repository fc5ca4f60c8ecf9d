"""Opens the database of a results file with care: it may be damaged, foreign, or a trap."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from gemmviz.core.store.schema import VERSION, ForeignTablesError, migrate, remark_on, version_of

_MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 10.0
_HURRY_MILLISECONDS = 50  # how long a thread waits for other programs that must not be held up
_LONGEST = 64 * 2**20  # bytes of a single value
_CHECKED_BYTES = 8 * 2**20  # a whole file up to this is read through when it is opened
_CACHE_KIB = 64 * 1024  # holds the rows of 200,000 results, which each search reads
_DAMAGED = "is damaged: it is read as far as it can be, and nothing is written into it"


# Files that this process has open, by device and inode. Closing any other handle on one of them, or
# a connection without locks, would release the locks of all connections to it: another program
# could then take itself for the last one and remove the log that we write into. See
# https://www.sqlite.org/howtocorrupt.html, section 2.2.
_open_here: Counter[tuple[int, int]] = Counter()
_opening = threading.RLock()


class StoreError(Exception):
    """Why a results file cannot be used; the message is one sentence for a person.

    ``kind`` is "damaged", "full", "read_only", "busy", "gone" or "".
    """

    def __init__(self, sentence: str, kind: str = "") -> None:
        super().__init__(sentence)
        self.kind = kind


_WORDS = {
    "SQLITE_FULL": ("full", "the disk is full"),
    "SQLITE_READONLY": ("read_only", "it may not be written"),
    "SQLITE_PERM": ("read_only", "it may not be written"),
    "SQLITE_CANTOPEN": ("read_only", "it cannot be opened"),
    "SQLITE_IOERR": ("full", "reading or writing it failed"),
    "SQLITE_BUSY": ("busy", "another program is writing into it"),
    "SQLITE_LOCKED": ("busy", "another program is writing into it"),
    "SQLITE_CORRUPT": ("damaged", "it is damaged"),
    "SQLITE_NOTADB": ("damaged", "it is no results file of gemmviz"),
    "SQLITE_TOOBIG": ("damaged", "it holds a value of impossible size"),
}


TROUBLE = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the latter where its message quotes bytes of a damaged file."""


def is_damage(error: Exception) -> bool:
    """Whether it says that the file is damaged."""
    if isinstance(error, UnicodeDecodeError):
        return True
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_TOOBIG"))


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns what SQLite or the system complains of into a StoreError."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreError(f"{path}: it is damaged.", "damaged") from error
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        known = next((words for key, words in _WORDS.items() if name.startswith(key)), None)
        if known is None and isinstance(error, sqlite3.DataError):
            known = _WORDS["SQLITE_TOOBIG"]
        if known is None and str(error).startswith("no such table"):
            known = _WORDS["SQLITE_CORRUPT"]
        kind, text = known or ("", str(error))
        raise StoreError(f"{path}: {text}.", kind) from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}.", "read_only") from error


def is_store(path: Path) -> bool:
    """Whether a file begins as a results file does; its locks are not touched.

    Raises:
        OSError: It cannot be read.
    """
    with _opening:
        return bool(_open_here[_identity_of(path) or (0, 0)]) or _head(path).startswith(_MAGIC)


def connect(path: Path, mode: str, *, cut: bool = False) -> sqlite3.Connection:
    """A connection that trusts nothing in the file; see SQLite's "Defense Against The Dark Arts".

    Args:
        path: The file.
        mode: "ro", "immutable", "rw" or "rwc".
        cut: Whether it is shorter than it says it is, and is to be read all the same.
    """
    what = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?{what}", uri=True, timeout=_BUSY_SECONDS,
        isolation_level=None, check_same_thread=False,
    )  # fmt: skip
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    connection.text_factory = _text
    pragmas = [
        "trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "recursive_triggers = OFF",
        f"cache_size = -{_CACHE_KIB}", "temp_store = MEMORY",
    ]  # fmt: skip
    if cut and mode in ("ro", "immutable"):
        pragmas.insert(0, "writable_schema = ON")  # nothing else makes SQLite lenient
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except TROUBLE:
        connection.close()
        raise
    return connection


class Database:
    """The file behind a store: a connection for each thread that asks.

    ``read_only`` says that nothing is written, ``problem`` why that is so where nobody asked for
    it.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path, self.read_only, self.problem = path, read_only, ""
        self._mode = "ro"
        self._own = threading.local()
        self._lock = threading.Lock()
        self._all: list[sqlite3.Connection] = []
        self._closed = False
        self._cut = False  # SQLite would refuse a file that is shorter than it should be
        with told(path), _opening:
            is_new = not (path.exists() and path.stat().st_size)
            if is_new:
                self._make()
            else:
                self._look()
            self._identity = _identity_of(path)
            _open_here[self._identity or (0, 0)] += 1
        if not self.read_only:
            try:
                self._prepare(is_new)
            except StoreError:
                self.close()
                raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of the thread that asks.

        Raises:
            StoreError: The file is closed.
        """
        own: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if own is not None and not self._closed:
            return own
        with self._lock:
            if self._closed:
                raise StoreError(f"{self.path} is closed.")
            with told(self.path):
                made = connect(self.path, self._mode, cut=self._cut)
                if self.read_only:
                    made.execute("PRAGMA query_only = ON")
                elif self._mode == "rw":
                    # A commit survives the end of the process, though not always a power failure.
                    made.execute("PRAGMA synchronous = NORMAL")
            self._own.connection = made
            self._all.append(made)
        return made

    def hurry(self) -> None:
        """Let the questions of this thread fail at once where another program has the file."""
        with told(self.path):
            self.connection.execute(f"PRAGMA busy_timeout = {_HURRY_MILLISECONDS}")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; within one that is open already, part of it.

        Raises:
            StoreError: The file is only read, or it could not be written: then nothing was.
        """
        if self.read_only:
            raise StoreError(f"{self.path} is opened for reading only.", "read_only")
        connection = self.connection
        if connection.in_transaction:
            yield connection
            return
        # SQLite would go on in a file without a name, whose results nobody could ever read.
        if _identity_of(self.path) != self._identity:
            sentence = f"{self.path} was deleted, moved or replaced while it was open."
            raise StoreError(sentence, "gone")
        with told(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def condemn(self) -> None:
        """Write nothing more: the file has turned out to be damaged."""
        if not self.read_only:
            self.read_only, self.problem = True, f"{self.path} {_DAMAGED}."

    def close(self) -> None:
        """Closes every connection; the last one folds the log of changes into the file."""
        with self._lock:
            was_open, self._closed = not self._closed, True
            if self._all and not self.read_only and _identity_of(self.path) != self._identity:
                # SQLite leaves the log of a file that was moved behind under the old name.
                with suppress(sqlite3.Error):
                    self._all[0].execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for connection in self._all:
                connection.close()
            self._all.clear()
        if was_open:
            with _opening:
                _open_here[self._identity or (0, 0)] -= 1

    def _make(self) -> None:
        if self.read_only:
            empty = self.path.exists()
            raise StoreError(f"{self.path}: {'it is empty' if empty else 'there is no such file'}.")
        with closing(connect(self.path, "rwc")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")

    def _look(self) -> None:
        """Reads the file without changing it, and finds whether it may be written."""
        if not self.path.is_file():
            raise StoreError(f"{self.path} is no file.")
        known = _open_here[_identity_of(self.path) or (0, 0)] > 0
        head = b"" if known else _head(self.path)
        if not known and not head.startswith(_MAGIC):
            raise StoreError(f"{self.path} is no results file of gemmviz.")
        log = self.path.with_name(f"{self.path.name}-wal")
        pending = known or (log.exists() and log.stat().st_size > 0)
        self._mode = "ro" if pending else "immutable"
        remark = "" if pending else _cut_short(head, self.path.stat().st_size)
        self._cut = bool(remark)
        try:
            with closing(connect(self.path, self._mode, cut=self._cut)) as connection:
                remark = remark or self._examine(connection)
        except ForeignTablesError as error:
            raise StoreError(f"{self.path} {error}.") from error
        if remark:
            self.read_only, self.problem = True, f"{self.path} {remark}."
        elif not self.read_only and not _writable(self.path):
            self.read_only = True
            self.problem = f"{self.path} may not be written: it is only read."
        if self.read_only and self._mode == "immutable" and not self.problem:
            self._mode = self._live_mode()

    def _examine(self, connection: sqlite3.Connection) -> str:
        version = version_of(connection)
        remark = remark_on(connection, version) if version else ""
        if remark or self.path.stat().st_size > _CHECKED_BYTES:
            return remark
        try:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except TROUBLE as error:
            found = str(error)
        if found == "ok":
            return ""
        return _DAMAGED

    def _live_mode(self) -> str:
        """How to read a file that others may write into while we do.

        One that could be written is opened as if it were, though nothing is: else the log of
        changes that SQLite makes for its readers would stay behind.
        """
        if _writable(self.path):
            return "rw"
        try:
            with closing(connect(self.path, "ro")) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:  # the log of changes cannot be made beside it
            return "immutable"
        return "ro"

    def _prepare(self, is_new: bool) -> None:
        """Makes or migrates the tables; a file in which that fails is only read.

        Raises:
            StoreError: It is new, or another program has it to itself.
        """
        self._mode = "rw"
        try:
            with told(self.path):
                self.connection.execute("PRAGMA journal_mode = WAL")
                current = version_of(self.connection) == VERSION
            if not current:
                with self.writing() as connection:
                    migrate(connection)
        except StoreError as error:
            if is_new or error.kind == "busy":
                raise
            self.read_only, self.problem = True, f"Nothing is written into {error}"
            self._drop_connections()
            self._mode = "ro"

    def _drop_connections(self) -> None:
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._own = threading.local()


def _head(path: Path) -> bytes:
    """The first bytes of a file that this process has not open."""
    with path.open("rb") as file:
        return file.read(100)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _identity_of(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one that takes its name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _cut_short(head: bytes, size: int) -> str:
    """Whether a file is shorter than its head says; only where no log of changes waits."""
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    if size >= page * int.from_bytes(head[28:32], "big"):
        return ""
    return "is cut short: it is read as far as it can be, and nothing is written into it"
