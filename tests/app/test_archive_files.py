"""Results files that are opened, changed for others, full or in other hands."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3

import pytest

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir, results_file
from gemmviz.core.store import ResultStore, StoreError
from tests.app.archives import count, ended, open_in, opened, saving, settled
from tests.app.fake_engine import FakeEngine, endless_run, good_run
from tests.core.store.saved import filled


@pytest.fixture
def state(state, path) -> AppState:
    """A state whose results go into ``path``."""
    return saving(state, path)


@pytest.fixture
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return results_file().parent


def test_two_windows_share_a_file(state, finish, path, qtbot):
    other = AppState(Workers(FakeEngine()), data_dir("kernels"))
    assert open_in(other, path) == ""
    assert other.archive.writable
    with qtbot.waitSignal(other.archive.changed, timeout=5000):
        finish()
    qtbot.waitUntil(lambda: len(other.archive.store.rows()) == 1)
    other.archive.edits.annotate([1], note="from the other window")
    qtbot.waitUntil(lambda: state.archive.store.row(1).note == "from the other window")
    other.close()
    finish()
    state.archive.close()
    assert count(path) == 2


def test_a_new_file_takes_over_and_a_run_under_way_with_it(state, engine, path, tmp_path, qtbot):
    engine.script = endless_run
    state.start()
    qtbot.waitUntil(lambda: count(path) == 1)
    other = tmp_path / "b.gemmviz"
    assert open_in(state, other) == ""
    qtbot.waitUntil(lambda: count(path) == 0)
    qtbot.waitUntil(lambda: count(other) == 1)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    state.archive.close()
    with opened(other) as store:
        assert len(store.result(1).samples) == len(state.book.runs[0].buffer)
    assert state.archive.recent.paths[:2] == (other.absolute(), path.absolute())


@pytest.fixture
def full_disk(path, monkeypatch):
    """Lets nothing be written until it is called; then there is room again."""
    monkeypatch.setattr("gemmviz.app.archive_writer._RETRY_SECONDS", 0.05)
    real = ResultStore.batch

    def refuse(self):
        raise StoreError(f"{path}: the disk is full.", "full")

    monkeypatch.setattr(ResultStore, "batch", refuse)
    return lambda: monkeypatch.setattr(ResultStore, "batch", real)


def test_a_full_disk_is_said_once_and_measuring_goes_on(full_disk, state, finish, path, qtbot):
    lines = []
    state.line_logged.connect(lines.append)
    finish()
    qtbot.waitUntil(lambda: state.archive.trouble != "")
    finish()
    assert len(state.book.runs) == 2
    said = [line.text for line in lines if line.bad and "disk is full" in line.text]
    assert said == [f"Results are not saved: {path}: the disk is full."]
    full_disk()
    qtbot.waitUntil(lambda: state.archive.trouble == "")
    qtbot.waitUntil(lambda: ended(path) == 2)  # nothing was lost meanwhile


def test_another_file_takes_over_what_a_full_disk_refused(state, finish, path, monkeypatch, qtbot):
    other = path.with_name("b.gemmviz")
    real = ResultStore.batch

    def refuse(self):
        if self.path == path:
            raise StoreError(f"{path}: the disk is full.", "full")
        return real(self)

    monkeypatch.setattr(ResultStore, "batch", refuse)
    finish()
    qtbot.waitUntil(lambda: state.archive.trouble != "")
    assert open_in(state, other) == ""
    finish()
    qtbot.waitUntil(lambda: ended(other) == 2)
    assert state.archive.trouble == ""
    assert count(path) == 0


def test_a_file_that_is_only_read_is_looked_at_and_results_stay_where_they_go(
    state, engine, finish, path, qtbot
):
    other = path.with_name("b.gemmviz")
    filled(other, 2)
    engine.script = endless_run
    state.start()
    qtbot.waitUntil(lambda: count(path) == 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gemmviz.core.store.files._writable", lambda _: False)
        assert open_in(state, other) == ""
    assert (state.archive.path, state.archive.saving) == (other, path)
    assert not state.archive.writable
    assert state.archive.trouble == ""
    assert "may not be written" in state.archive.remark
    assert state.archive.remark.endswith(f"What is measured goes into {path}.")
    state.archive.edits.delete([1])
    assert state.archive.edits.undoable == 0
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert state.archive.number_of(state.book.runs[0]) is None  # it is not in what is shown
    engine.script = good_run
    finish()
    qtbot.waitUntil(lambda: ended(path) == 2)
    with qtbot.waitSignal(state.archive.opened):
        state.archive.save_copy(path.with_name("c.gemmviz"))
    assert state.archive.writable
    assert state.archive.remark == state.archive.trouble == ""
    state.archive.close()
    assert count(other) == count(path.with_name("c.gemmviz")) == 2


def test_a_file_that_is_only_read_at_the_start_has_results_go_to_the_persons_own(
    own_place, state, finish, tmp_path, qtbot
):
    state.archive.close()
    other = tmp_path / "b.gemmviz"
    filled(other, 2)
    (other).write_bytes(other.read_bytes()[:-4096])
    assert open_in(state, other) == ""
    assert state.archive.path == other
    assert state.archive.saving == own_place / "results.gemmviz"
    assert "cut short" in state.archive.remark
    finish()
    qtbot.waitUntil(lambda: ended(own_place / "results.gemmviz") == 1)


def test_a_file_that_does_not_open_leaves_the_old_one(state, path, tmp_path):
    other = tmp_path / "b.gemmviz"
    other.write_text("nonsense")
    assert "no results file" in open_in(state, other)
    assert state.archive.path == path
    assert state.archive.writable


def test_the_persons_own_file_is_made_and_one_beside_a_broken_one(own_place, state):
    state.archive.open_first()
    settled(state)
    assert state.archive.path == own_place / "results.gemmviz"
    state.archive.close()
    (own_place / "results.gemmviz").write_text("nonsense")
    lines = []
    state.line_logged.connect(lines.append)
    state.archive.open_first()
    settled(state)
    assert state.archive.path == own_place / "results-2.gemmviz"
    assert state.archive.writable
    assert "no results file" in lines[0].text
    assert (own_place / "results.gemmviz").read_text() == "nonsense"


def test_where_no_file_can_be_made_the_app_says_so(own_place, state, finish):
    state.archive.close()
    own_place.parent.mkdir(exist_ok=True)
    shutil.rmtree(own_place, ignore_errors=True)
    own_place.write_text("a file where a folder should be")
    state.archive.open_first()
    settled(state)
    assert state.archive.trouble.startswith("Results are not saved: ")
    assert state.archive.store is None
    finish()
    assert len(state.book.runs) == 1
    assert "No results file" in state.archive.show_saved([1])


def test_the_first_file_that_opens_is_taken(own_place, state, path, tmp_path):
    broken = tmp_path / "b.gemmviz"
    broken.write_text("nonsense")
    state.archive.open_first([broken, path])
    settled(state)
    assert state.archive.path == path
    state.archive.open_first([broken])
    settled(state)
    assert state.archive.path == own_place / "results.gemmviz"


@pytest.fixture
def locked(tmp_path):
    """A file that another program has to itself, and what makes it let go."""
    made = tmp_path / "locked.gemmviz"
    filled(made, 2)
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        yield made, lambda: other.execute("COMMIT") if other.in_transaction else None


def test_the_window_lives_on_while_another_program_has_the_file(state, locked, path, finish, qtbot):
    made, release = locked
    state.archive.open(made)  # comes back at once, though the file is locked
    assert state.archive.path == path
    qtbot.waitUntil(lambda: state.archive.reader.busy == "Opening locked.gemmviz ...")
    finish()  # and all goes on meanwhile
    qtbot.waitUntil(lambda: ended(path) == 1)
    assert state.archive.path == path
    with qtbot.waitSignal(state.archive.file_ended) as told:
        release()
    assert told.args == [str(made), ""]
    assert state.archive.path == made
    assert state.archive.reader.busy == ""


def test_what_is_read_while_another_program_has_the_file_waits_for_nobody(state, locked, qtbot):
    made, release = locked
    release()
    assert open_in(state, made) == ""
    with contextlib.closing(sqlite3.connect(made, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        state.archive.show_saved([1])
        assert state.book.runs == []  # it is read on the other thread
        settled(state)
        assert len(state.book.runs) == 1
        state.archive.edits.annotate([1], note="later")
        other.execute("COMMIT")
    qtbot.waitUntil(lambda: state.archive.store.row(1).note == "later")


@pytest.fixture
def own_state(own_place, state):
    """The state, and where the person's own results go."""
    return state, own_place / "results.gemmviz"


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_taken_away_is_left_for_another(own_state, finish, path, qtbot, replaced):
    state, own = own_state
    lines = []
    state.line_logged.connect(lines.append)
    finish()
    qtbot.waitUntil(lambda: ended(path) == 1)
    path.rename(path.with_name("moved.gemmviz"))
    if replaced:
        path.write_text("something else")
    finish()
    qtbot.waitUntil(lambda: state.archive.path == own)
    qtbot.waitUntil(lambda: ended(own) == 1)
    said = [line.text for line in lines if "deleted, moved or replaced" in line.text]
    assert said == [
        f"Results are not saved: {path} was deleted, moved or replaced while it was open."
    ]
    assert f"Results go into {own}." in [line.text for line in lines]
    qtbot.waitUntil(lambda: state.archive.trouble == "")
    state.archive.close()
    assert count(path.with_name("moved.gemmviz")) == 1
    assert path.exists() == replaced


def test_a_file_that_turns_out_damaged_is_left_for_another(own_state, finish, path, qtbot):
    state, own = own_state
    finish()
    qtbot.waitUntil(lambda: ended(path) == 1)
    state.archive.store._database.condemn()
    finish()
    qtbot.waitUntil(lambda: state.archive.saving == own)
    qtbot.waitUntil(lambda: ended(own) == 1)
    assert state.archive.path == path
    assert "is damaged" in state.archive.remark
    qtbot.waitUntil(lambda: state.archive.trouble == "")


def test_what_is_measured_without_a_file_is_saved_once_there_is_one(state, finish, path, qtbot):
    state.archive.close()
    finish()
    assert open_in(state, path) == ""
    qtbot.waitUntil(lambda: ended(path) == 1)
