"""Files of older and newer versions: what is read of them, and what is written into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemmviz.core.store import ResultStore, StoreError
from gemmviz.core.store import schema as schema_module
from tests.core.store.saved import filled, same, saved
from tests.core.store.test_damage import change, read_all

_COUNT = 12


@pytest.fixture
def copy(tmp_path) -> Path:
    path = tmp_path / "copy.gemmviz"
    filled(path, _COUNT)
    return path


def older(path: Path) -> None:
    """Makes a file one of the first version, which kept no findings."""
    change(path, "DROP TABLE findings", "PRAGMA user_version = 1")


def test_an_older_file_opens_and_is_brought_up_to_date(copy):
    older(copy)
    store = ResultStore.open(copy)
    assert store.problem == ""
    assert same(store.result(7), saved(7))
    store.put_finding("Ladder", "the ladder", "{}")
    number = store.add(saved())
    store.close()
    again = ResultStore.open(copy, read_only=True)
    assert len(again.rows()) == number == _COUNT + 1
    assert len(again.findings()) == 1
    again.close()


def test_an_older_file_is_only_read_without_being_changed(copy):
    older(copy)
    before = copy.read_bytes()
    store = ResultStore.open(copy, read_only=True)
    assert store.findings() == ()
    assert len(store.rows()) == _COUNT
    store.close()
    assert copy.read_bytes() == before


def test_a_newer_file_is_read_but_not_written(copy):
    change(copy, "ALTER TABLE results ADD COLUMN colour TEXT", "CREATE TABLE fresh (a)",
           f"PRAGMA user_version = {schema_module.VERSION + 1}")  # fmt: skip
    whole, said = read_all(copy)
    assert whole == _COUNT
    assert "newer gemmviz" in said


def test_a_newer_file_without_our_tables_says_why(copy):
    change(copy, "ALTER TABLE results DROP COLUMN remarks", "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer gemmviz"):
        ResultStore.open(copy)


def test_a_newer_file_with_tables_that_are_read_by_an_extension_is_refused(copy):
    change(copy, "DROP TABLE texts", "CREATE VIRTUAL TABLE texts USING fts4(id, hash, data)",
           "PRAGMA user_version = 99")  # fmt: skip
    with pytest.raises(StoreError, match="newer gemmviz"):
        ResultStore.open(copy)
