"""Results files that are opened, changed for others, copied, full or in other hands."""

from __future__ import annotations

import shutil

import pytest

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir, results_file
from gemmviz.core.store import ResultStore, StoreError
from tests.app.archives import count, ended, opened, saving
from tests.app.fake_engine import FakeEngine, endless_run
from tests.core.store.saved import filled


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.gemmviz"


@pytest.fixture
def state(state, path) -> AppState:
    """A state whose results go into ``path``."""
    return saving(state, path)


def test_two_windows_share_a_file(state, finish, path, qtbot):
    other = AppState(Workers(FakeEngine()), data_dir("kernels"))
    assert other.archive.open(path) == ""
    assert other.archive.writable
    with qtbot.waitSignal(other.archive.changed, timeout=5000):
        finish()
    qtbot.waitUntil(lambda: len(other.archive.store.rows()) == 1)
    other.archive.annotate([1], note="from the other window")
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
    assert state.archive.open(other) == ""
    assert count(path) == 0
    qtbot.waitUntil(lambda: count(other) == 1)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    state.archive.close()
    with opened(other) as store:
        assert len(store.result(1).samples) == len(state.book.runs[0].buffer)
    assert state.archive.recent.paths[:2] == (other.absolute(), path.absolute())


def test_save_as_goes_on_in_the_copy(state, finish, path, tmp_path, qtbot):
    finish()
    other = tmp_path / "b.gemmviz"
    other.write_text("replaced")
    with qtbot.waitSignal(state.archive.opened):
        state.archive.save_copy(other)
    assert state.archive.path == other
    state.archive.save_copy(tmp_path / "none" / "c.gemmviz")
    lines = []
    state.line_logged.connect(lines.append)
    qtbot.waitUntil(lambda: any("was not saved" in line.text for line in lines))
    finish()
    state.archive.close()
    assert (count(path), count(other)) == (1, 2)


def test_a_copy_replaces_no_file_that_is_open(state, finish, path, tmp_path, qtbot):
    finish()
    other = tmp_path / "b.gemmviz"
    filled(other, 3)
    window = ResultStore.open(other)
    lines = []
    state.line_logged.connect(lines.append)
    for place, (target, reason) in enumerate(((path, "open file itself"), (other, "in use"))):
        state.archive.save_copy(target)
        qtbot.waitUntil(lambda: len(lines) > place)  # noqa: B023
        assert "The copy was not saved" in lines[-1].text
        assert reason in lines[-1].text
    assert state.archive.path == path
    assert len(window.rows()) == 3
    window.close()
    state.archive.save_copy(other)
    qtbot.waitUntil(lambda: state.archive.path == other)
    assert len(state.archive.store.rows()) == 1


def test_half_a_copy_does_not_stay(state, finish, tmp_path, monkeypatch, qtbot):
    finish()

    def fail(self, part):
        part.write_text("half of it")
        raise StoreError("the disk is full", "full")

    monkeypatch.setattr(ResultStore, "save_copy", fail)
    lines = []
    state.line_logged.connect(lines.append)
    state.archive.save_copy(tmp_path / "b.gemmviz")
    qtbot.waitUntil(lambda: any("disk is full" in line.text for line in lines))
    assert not [each for each in tmp_path.iterdir() if "b.gemmviz" in each.name]


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


def test_another_file_is_not_blamed_for_a_full_disk(full_disk, state, finish, tmp_path, qtbot):
    lines = []
    state.line_logged.connect(lines.append)
    finish()
    qtbot.waitUntil(lambda: state.archive.trouble != "")
    full_disk()

    def refuse(self):
        raise StoreError("the disk is full.", "full")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResultStore, "batch", refuse)
        assert state.archive.open(tmp_path / "b.gemmviz") == ""
    assert any("measured last is not saved" in line.text for line in lines)
    finish()
    qtbot.waitUntil(lambda: ended(tmp_path / "b.gemmviz") == 1)
    assert state.archive.trouble == ""


def test_a_file_that_is_only_read_is_said(state, finish, tmp_path, monkeypatch, qtbot):
    other = tmp_path / "b.gemmviz"
    filled(other, 2)
    monkeypatch.setattr("gemmviz.core.store.files._writable", lambda _: False)
    assert state.archive.open(other) == ""
    assert not state.archive.writable
    assert "may not be written" in state.archive.trouble
    finish()
    state.archive.delete([1])
    monkeypatch.undo()
    with qtbot.waitSignal(state.archive.opened):
        state.archive.save_copy(tmp_path / "c.gemmviz")
    assert state.archive.writable
    assert state.archive.trouble == ""
    state.archive.close()
    assert count(other) == count(tmp_path / "c.gemmviz") == 2


def test_a_file_that_does_not_open_leaves_the_old_one(state, path, tmp_path):
    other = tmp_path / "b.gemmviz"
    other.write_text("nonsense")
    assert "no results file" in state.archive.open(other)
    assert state.archive.path == path
    assert state.archive.writable


@pytest.fixture
def own_place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return results_file().parent


def test_the_persons_own_file_is_made_and_one_beside_a_broken_one(own_place, state):
    state.archive.open_usual()
    assert state.archive.path == own_place / "results.gemmviz"
    state.archive.close()
    (own_place / "results.gemmviz").write_text("nonsense")
    lines = []
    state.line_logged.connect(lines.append)
    state.archive.open_usual()
    assert state.archive.path == own_place / "results-2.gemmviz"
    assert state.archive.writable
    assert "no results file" in lines[0].text
    assert (own_place / "results.gemmviz").read_text() == "nonsense"


def test_where_no_file_can_be_made_the_app_says_so(own_place, state, finish):
    state.archive.close()
    own_place.parent.mkdir(exist_ok=True)
    shutil.rmtree(own_place, ignore_errors=True)
    own_place.write_text("a file where a folder should be")
    state.archive.open_usual()
    assert state.archive.trouble.startswith("Results are not saved: ")
    assert state.archive.store is None
    finish()
    assert len(state.book.runs) == 1
    assert "No results file" in state.archive.show_saved([1])


def test_the_first_file_that_opens_is_taken(own_place, state, path, tmp_path):
    broken = tmp_path / "b.gemmviz"
    broken.write_text("nonsense")
    state.archive.open_first([broken, path])
    assert state.archive.path == path
    state.archive.open_first([broken])
    assert state.archive.path == own_place / "results.gemmviz"
