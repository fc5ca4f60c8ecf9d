"""Damaged, foreign, hostile, old and new files: what is read of them, and that they stay as are."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import zlib
from pathlib import Path

import pytest

from gemmviz.core.store import Filter, ResultStore, StoreError
from gemmviz.core.store.blobs import pack_text, unpack_text
from tests.core.store.saved import filled, same, saved

_COUNT = 150


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A closed file of ``_COUNT`` results."""
    path = tmp_path_factory.mktemp("sound") / "sound.gemmviz"
    filled(path, _COUNT)
    return path


@pytest.fixture
def copy(sound, tmp_path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "copy.gemmviz"))


def change(path: Path, *statements: str) -> None:
    """Runs statements on a file as a stranger could."""
    connection = sqlite3.connect(path)
    connection.executescript(";\n".join(statements))
    connection.close()


def read_all(path: Path) -> tuple[int, str]:
    """How many results can be read whole, and what is said of the file; it stays as it is."""
    before = path.read_bytes()
    store = ResultStore.open(path)
    try:
        rows = store.rows()
        list(rows)
        store.choices()
        list(store.rows(Filter(text="tiled", order="fastest")))
        whole = sum(1 for _ in store.results())
        said = store.problem
        if store.read_only:
            with pytest.raises(StoreError, match="for reading only"):
                store.add(saved())
    finally:
        store.close()
    if said:
        assert path.read_bytes() == before
    return whole, said


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.7, 0.99])
def test_a_cut_file_is_read_as_far_as_it_can_be(copy, share):
    size = copy.stat().st_size
    os.truncate(copy, int(size * share))
    try:
        whole, said = read_all(copy)
    except StoreError as error:
        assert share < 0.2
        assert str(error).startswith(str(copy))
        assert "\n" not in str(error)
        return
    assert "cut short" in said or "damaged" in said
    assert whole < _COUNT or share > 0.9
    assert whole >= 0.5 * share * _COUNT - 30


def test_most_of_a_file_survives_a_lost_page(copy):
    data = bytearray(copy.read_bytes())
    connection = sqlite3.connect(copy)
    query = "SELECT pageno FROM dbstat WHERE name = 'bodies' AND pagetype = 'leaf' LIMIT 1 OFFSET 3"
    try:
        (page,) = connection.execute(query).fetchone()
    except sqlite3.OperationalError:  # a library without this table: any page in the middle
        page = len(data) // 4096 // 2
    connection.close()
    data[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    copy.write_bytes(data)
    whole, said = read_all(copy)
    assert "is damaged" in said
    assert whole > 0.8 * _COUNT


@pytest.mark.parametrize("seed", range(6))
def test_random_bytes_never_do_worse_than_a_sentence(copy, seed):
    source = random.Random(seed)
    data = bytearray(copy.read_bytes())
    for _ in range(2 ** (seed % 6)):
        start = source.randrange(0 if seed % 3 else 100, len(data) - 64)
        data[start : start + 40] = source.randbytes(40)
    copy.write_bytes(data)
    try:
        whole, _ = read_all(copy)
    except StoreError as error:
        assert "\n" not in str(error)
    else:
        assert 0 <= whole <= _COUNT


def test_damage_that_is_found_late_ends_all_writing(copy, monkeypatch):
    monkeypatch.setattr("gemmviz.core.store.files._CHECKED_BYTES", 0)  # as if it were large
    data = bytearray(copy.read_bytes())
    for start in range(20 * 4096, len(data) - 4096, 3 * 4096):
        data[start : start + 4096] = bytes(4096)
    copy.write_bytes(data)
    store = ResultStore.open(copy)
    found = [row for row in store.rows() if row.title != "(unreadable)"]
    assert 0 < len(found) < _COUNT
    assert store.read_only
    assert "damaged" in store.problem
    store.close()


@pytest.mark.parametrize(
    "content", [b"x", b"not a database" * 100, b"SQLite format 3\0", b"SQLite format 3\0" * 400,
                b"\x89PNG\r\n\x1a\n" + b"\0" * 5000]
)  # fmt: skip
def test_what_is_no_results_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "other.gemmviz"
    path.write_bytes(content)
    with pytest.raises(StoreError) as told:
        ResultStore.open(path)
    assert str(path) in str(told.value)
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["other.gemmviz"]


def test_the_database_of_another_program_is_refused(tmp_path):
    path = tmp_path / "other.db"
    change(path, "CREATE TABLE people (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        ResultStore.open(path)
    assert path.read_bytes() == before


def test_folders_missing_files_and_missing_folders_are_said(tmp_path):
    for path, word in (
        (tmp_path, "is no file"), (tmp_path / "none" / "a.gemmviz", "cannot be opened"),
    ):  # fmt: skip
        with pytest.raises(StoreError, match=word):
            ResultStore.open(path)
    with pytest.raises(StoreError, match="no such file"):
        ResultStore.open(tmp_path / "a.gemmviz", read_only=True)


@pytest.mark.parametrize(
    "trap",
    [
        "CREATE TRIGGER trap AFTER INSERT ON results BEGIN DELETE FROM bodies; END",
        "CREATE TRIGGER trap AFTER UPDATE ON results BEGIN DELETE FROM bodies; END",
        "CREATE VIEW trap AS SELECT * FROM results",
        "CREATE TABLE trap (a)",
        "CREATE INDEX trap ON results (lower(title))",
    ],
)
def test_a_file_with_a_trap_is_only_read(copy, trap):
    change(copy, trap)
    whole, said = read_all(copy)
    assert "not gemmviz's own" in said
    assert whole == _COUNT


def test_a_name_in_a_file_is_no_mark_up(copy):
    change(copy, 'CREATE TABLE "<img src=//there/a>" (a)')
    _, said = read_all(copy)
    assert "?img src???there?a?" in said


def test_a_name_that_is_no_text_is_seen(copy):
    connection = sqlite3.connect(copy)
    connection.execute("CREATE TRIGGER trap AFTER INSERT ON results BEGIN SELECT 1; END")
    connection.execute("CREATE TABLE more (a)")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET name = x'ff00' WHERE name = 'trap'")
    connection.commit()
    connection.close()
    try:
        _, said = read_all(copy)
    except StoreError:
        return
    assert said


def test_a_trigger_under_a_name_of_sqlites_is_seen(copy):
    change(copy, "CREATE TRIGGER trap AFTER INSERT ON results BEGIN DELETE FROM bodies; END")
    connection = sqlite3.connect(copy)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET name = 'sqlite_autoindex_results_9' WHERE name = 'trap'"
    )
    connection.commit()
    connection.close()
    try:
        _, said = read_all(copy)
    except StoreError:
        return
    assert said


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE results", "CREATE VIEW results AS SELECT * FROM bodies"),
        ("ALTER TABLE results ADD COLUMN more TEXT",),
        ("DROP TABLE parts",),
        ("DROP INDEX results_shape",),
        ("ALTER TABLE results RENAME TO hidden", "CREATE VIEW results AS SELECT * FROM hidden"),
    ],
)
def test_tables_other_than_ours_are_refused(copy, statements):
    change(copy, *statements)
    with pytest.raises(StoreError, match="than gemmviz makes"):
        ResultStore.open(copy)


def test_what_can_be_read_is_rescued_into_a_new_file(copy, tmp_path):
    store = ResultStore.open(copy)
    number = store.add(saved(999), sweep=store.put_sweep("the sweep"))
    store.annotate([number], note="keep me", tags=["paper"])
    store.put_finding("Ladder", "the ladder", "{}", 5.0)
    store.put_finding("Ladder", "another", "{}", 6.0)
    store.close()
    change(copy, "CREATE TRIGGER trap AFTER INSERT ON results BEGIN DELETE FROM bodies; END")
    _set_body(copy, 5, b"nonsense")
    store = ResultStore.open(copy)
    store.save_copy(tmp_path / "rescued.gemmviz")
    store.close()
    rescued = ResultStore.open(tmp_path / "rescued.gemmviz")
    assert not rescued.read_only
    assert len(rescued.rows()) == _COUNT
    newest = rescued.rows()[0]
    assert (newest.m, newest.note, newest.tags) == (999, "keep me", ("paper",))
    assert [result.job.problem.m for _, result in rescued.results(newest.sweep)] == [999]
    assert [(each.title, each.moment) for each in rescued.findings()] == [
        ("another", 6.0), ("the ladder", 5.0),
    ]  # fmt: skip
    rescued.close()


def test_notes_are_only_ever_text(copy):
    store = ResultStore.open(copy)
    note = "'); DELETE FROM results; --<img src=x onerror=alert(1)>\0%_"
    store.annotate([1], note=note, tags=["a'b", "%"])
    assert store.row(1).note == note
    assert list(store.rows(Filter(text="DELETE FROM")).ids) == [1]
    assert list(store.rows(Filter(tag="a'b")).ids) == [1]
    assert len(store.rows()) == _COUNT
    store.close()


def _body(path: Path, number: int) -> dict:
    connection = sqlite3.connect(path)
    (data,) = connection.execute("SELECT data FROM bodies WHERE result = ?", (number,)).fetchone()
    connection.close()
    return json.loads(unpack_text(data))


def _set_body(path: Path, number: int, blob: object) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE bodies SET data = ? WHERE result = ?", (blob, number))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "blob",
    [
        None, 7, "text", b"", b"\0" * 1000,
        zlib.compress(b"\0" * 2**26),
        pack_text("[" * 200_000), pack_text('{"a":' * 100_000), pack_text("[]"), pack_text("{}"),
        pack_text("9" * 100_000), pack_text('{"job": ' + "9" * 100_000 + "}"),
        pack_text('{"job": {"id": 1e999}}'), pack_text('{"job": NaN}'),
    ],
)  # fmt: skip
def test_a_hostile_body_is_one_result_less(copy, blob):
    if blob is None:
        change(copy, "DELETE FROM bodies WHERE result = 5")
    else:
        _set_body(copy, 5, blob)
    store = ResultStore.open(copy, read_only=True)
    with pytest.raises(StoreError, match=r"[Rr]esult 5") as told:
        store.result(5)
    assert "\n" not in str(told.value)
    assert sum(1 for _ in store.results(samples=False)) == _COUNT - 1
    assert store.unreadable == 1
    store.close()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("job", "problem", "m"), 0),
        (("job", "problem", "m"), 10**30),
        (("job", "problem", "m"), "64"),
        (("job", "problem", "element"), "__import__('os')"),
        (("finished_at",), "inf"),
        (("finished_at",), 1e300),
        (("job", "policy", "launches"), -1),
        (("failure",), {"kind": "hang", "sentence": 3}),
        (("more",), "a field of another version"),
    ],
)
def test_values_that_no_run_can_have_are_refused(copy, place, value):
    data = _body(copy, 5)
    inner = data
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    _set_body(copy, 5, pack_text(json.dumps(data)))
    store = ResultStore.open(copy, read_only=True)
    with pytest.raises(StoreError, match="cannot be read"):
        store.result(5)
    store.close()


def test_columns_of_the_wrong_type_are_shown_as_nothing(copy):
    change(
        copy,
        "UPDATE results SET title = x'ff00fe', moment = 'now', m = 'large', median = 'slow', "
        "running = 'maybe', sweep = 'x', tags = 5, samples = 1e300, note = x'00' WHERE id = 150",
    )
    store = ResultStore.open(copy, read_only=True)
    row = store.rows()[0]
    assert (row.m, row.median_seconds, row.samples, row.sweep, row.moment) == (0, None, 0, None, 0)
    assert store.choices().shapes
    store.close()
    change(copy, "UPDATE results SET device = x'ff00fe' WHERE id = 150")
    store = ResultStore.open(copy, read_only=True)
    assert len(store.choices().devices) == 1
    store.close()
    long = "CAST(zeroblob(2000000) AS TEXT)"
    change(copy, f"UPDATE results SET title = {long}, tags = {long}, note = {long} WHERE id = 149")
    store = ResultStore.open(copy, read_only=True)
    assert len(store.row(149).note) == len(store.row(149).title) < 40_000
    assert not any(len(tag) > 1000 for tag in store.choices().tags)
    store.close()


def test_a_value_of_impossible_size_costs_its_row_alone(copy):
    huge = "CAST(zeroblob(80 * 1024 * 1024) AS TEXT)"
    change(copy, f"UPDATE results SET remarks = {huge} WHERE id = 9")
    store = ResultStore.open(copy, read_only=True)
    found = store.rows(Filter(text="tiled"))
    assert set(range(1, _COUNT + 1)) - set(found.ids) <= {9}
    assert len(found) >= _COUNT - 1
    store.close()


def test_a_file_that_may_not_be_written_is_read(copy, monkeypatch):
    monkeypatch.setattr("gemmviz.core.store.files._writable", lambda _: False)
    store = ResultStore.open(copy)
    assert store.read_only
    assert "may not be written" in store.problem
    assert same(store.result(7), saved(7))
    store.close()
    assert [each.name for each in copy.parent.iterdir()] == [copy.name]


def test_reading_leaves_nothing_behind(copy):
    before = copy.read_bytes()
    store = ResultStore.open(copy, read_only=True)
    assert len(store.rows()) == _COUNT
    assert store.problem == ""
    store.close()
    assert [each.name for each in copy.parent.iterdir()] == [copy.name]
    assert copy.read_bytes() == before
