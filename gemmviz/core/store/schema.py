"""The tables of a results file, by version, and whether a file has just these.

``user_version`` holds the version. To change the tables: add the statements that turn the last
version into the next to ``STEPS``.
"""

from __future__ import annotations

import re
import sqlite3

APPLICATION_ID = 0x676D6D76
"""What marks a file as one of ours: "gmmv"."""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        # A text is kept once however many results share it: sources, devices, logs.
        """CREATE TABLE texts (
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL)""",
        """CREATE TABLE sweeps (
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL)""",
        # What lists are made of, filtered and sorted by; narrow, so that a scan is quick.
        """CREATE TABLE results (
  id INTEGER PRIMARY KEY AUTOINCREMENT, running INTEGER NOT NULL, moment REAL NOT NULL,
  sweep INTEGER, kernel TEXT NOT NULL, title TEXT NOT NULL, parameters TEXT NOT NULL,
  device TEXT NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL, k INTEGER NOT NULL,
  size REAL NOT NULL, element TEXT NOT NULL, form TEXT NOT NULL, verdict TEXT NOT NULL,
  median REAL, low REAL, high REAL, flops REAL, samples INTEGER NOT NULL,
  launches INTEGER NOT NULL, version TEXT NOT NULL, note TEXT NOT NULL, tags TEXT NOT NULL,
  deleted REAL, search TEXT NOT NULL, remarks TEXT NOT NULL)""",
        # Each index holds all that its filter or order asks for, so that the table is not read.
        "CREATE INDEX results_device ON results (device, deleted)",
        "CREATE INDEX results_kernel ON results (kernel, title, deleted)",
        "CREATE INDEX results_title ON results (title, deleted)",
        "CREATE INDEX results_shape ON results (m, n, k, deleted)",
        "CREATE INDEX results_size ON results (size, deleted)",
        "CREATE INDEX results_flops ON results (flops, deleted)",
        "CREATE INDEX results_verdict ON results (verdict, deleted)",
        "CREATE INDEX results_tags ON results (tags, deleted) WHERE tags <> ''",
        "CREATE INDEX results_sweep ON results (sweep, deleted) WHERE sweep IS NOT NULL",
        "CREATE INDEX results_running ON results (id) WHERE running",
        # The rest of a result as JSON, its long texts by their ids.
        """CREATE TABLE bodies (
  result INTEGER PRIMARY KEY, source INTEGER NOT NULL, variant INTEGER NOT NULL,
  device INTEGER NOT NULL, context INTEGER, log INTEGER, data BLOB NOT NULL)""",
        """CREATE TABLE parts (
  result INTEGER NOT NULL, place INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL)""",
        "CREATE UNIQUE INDEX parts_result ON parts (result, place)",
    ),
    (
        # What experiments have found, as JSON.
        """CREATE TABLE findings (
  id INTEGER PRIMARY KEY AUTOINCREMENT, moment REAL NOT NULL, kind TEXT NOT NULL,
  title TEXT NOT NULL, data BLOB NOT NULL)""",
    ),
)
VERSION = len(STEPS)
"""The version that this app writes."""


class ForeignTablesError(ValueError):
    """A file's tables are not ours; the message is the end of a sentence."""


def version_of(connection: sqlite3.Connection) -> int:
    """The version of a file's tables, 0 where there are none.

    Raises:
        ForeignTablesError: It is the file of another program.
    """
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not objects and not mark and not version:
        return 0
    if mark != APPLICATION_ID or version < 1:
        raise ForeignTablesError("is the database of another program")
    return int(version)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the tables to this version within the transaction that is open."""
    for number, statements in enumerate(STEPS[version_of(connection) :], version_of(connection)):
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def remark_on(connection: sqlite3.Connection, version: int) -> str:
    """What stands against writing into a file of that version, as the end of a sentence, or "".

    Our tables must be just those that we make: then a statement of ours runs nothing else. Anything
    besides them, a trigger or a view above all, makes a file one that is only read.

    Raises:
        ForeignTablesError: Tables are missing or others than ours.
    """
    found = {
        (str(kind), str(name)): sql
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master")
        if not _made_by_sqlite(kind, str(name))
    }
    if version > VERSION:
        _check_columns(connection, found)
        return (
            f"was written by a newer gemmviz (file version {version}, this one knows {VERSION}): "
            "it is only read"
        )
    for key, sql in objects_of(version).items():
        if found.pop(key, None) != sql:
            raise ForeignTablesError(f"has another {key[0]} {key[1]} than gemmviz makes")
    if found:
        kind, name = min(found)
        return (
            f"holds a {_word(kind)} that is not gemmviz's own ({_word(name)}): it is only read, "
            "and nothing in it is executed"
        )
    return ""


def _word(name: object) -> str:
    """A name of the file's without what could be taken for mark-up."""
    return re.sub(r"[^\w ]", "?", str(name)[:40])


def objects_of(version: int) -> dict[tuple[str, str], str]:
    """The tables and indices of a version as SQLite lists them: type and name to statement."""
    memory = sqlite3.connect(":memory:")
    try:
        for statements in STEPS[:version]:
            for statement in statements:
                memory.execute(statement)
        rows = memory.execute("SELECT type, name, sql FROM sqlite_master")
        return {(kind, name): sql for kind, name, sql in rows if not _made_by_sqlite(kind, name)}
    finally:
        memory.close()


def _made_by_sqlite(kind: str, name: str) -> bool:
    """Whether an object comes by itself; a trigger never does, whatever it is called."""
    if kind == "index":
        return name.startswith("sqlite_autoindex_")
    return kind == "table" and name in ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")


def _check_columns(connection: sqlite3.Connection, found: dict[tuple[str, str], str]) -> None:
    """Makes sure that a newer file has at least what this version reads."""
    for kind, name in objects_of(VERSION):
        if kind != "table":
            continue
        # Another kind of table would have code of SQLite's extensions read it.
        if not str(found.get((kind, name), "")).startswith("CREATE TABLE "):
            raise ForeignTablesError(
                "was written by a newer gemmviz, which keeps results otherwise"
            )
        columns = {row[1] for row in connection.execute(f"PRAGMA table_xinfo({name})")}
        memory = sqlite3.connect(":memory:")
        try:
            memory.execute(objects_of(VERSION)[kind, name])
            ours = {row[1] for row in memory.execute(f"PRAGMA table_xinfo({name})")}
        finally:
            memory.close()
        if not ours <= columns:
            raise ForeignTablesError(
                "was written by a newer gemmviz, which keeps results otherwise"
            )
