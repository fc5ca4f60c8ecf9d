"""The thread beside the window: what it copies, reads and opens while that goes on, or ends."""

from __future__ import annotations

import threading

import pytest

from gemmviz.app.archive_reader import ReadDocument
from gemmviz.app.opening import Opener
from gemmviz.app.state import AppState
from gemmviz.core.store import ResultStore, StoreError
from tests.app.archives import count, ended, open_in, opened, saving, settled
from tests.app.fake_engine import endless_run
from tests.core.store.saved import filled


@pytest.fixture
def state(state, path) -> AppState:
    """A state whose results go into ``path``."""
    return saving(state, path)


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


@pytest.fixture
def slow_copy(monkeypatch):
    """Two events: the moment that is copied was chosen, and the copy may be written."""
    chosen, go_on = threading.Event(), threading.Event()
    real = ResultStore.save_copy

    def slow(self, part, at):
        def choose_and_wait(choose):
            at(choose)
            chosen.set()
            go_on.wait()

        real(self, part, choose_and_wait)

    monkeypatch.setattr(ResultStore, "save_copy", slow)
    yield chosen, go_on
    go_on.set()


def test_a_run_goes_on_in_the_copy_and_what_ends_meanwhile_is_there_too(
    state, engine, finish, slow_copy, qtbot
):
    """A large file takes a while to copy, and measuring does not wait for it."""
    chosen, go_on = slow_copy
    path = state.archive.path
    other = path.with_name("b.gemmviz")
    finish()
    state.archive.save_copy(other)
    qtbot.waitUntil(chosen.is_set)
    finish()
    qtbot.waitUntil(lambda: ended(path) == 2)
    engine.script = endless_run
    state.start()
    qtbot.waitUntil(lambda: count(path) == 3)
    assert state.archive.path == path
    qtbot.waitUntil(lambda: state.archive.reader.busy == "Saving a copy as b.gemmviz ...")
    go_on.set()
    settled(state)
    assert state.archive.path == state.archive.saving == other
    qtbot.waitUntil(lambda: count(other) == 3)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    state.archive.close()
    assert (count(path), count(other)) == (2, 3)
    with opened(other) as store:
        assert len(store.result(3).samples) == len(state.book.runs[2].buffer)


def test_half_a_copy_does_not_stay(state, finish, tmp_path, monkeypatch, qtbot):
    finish()

    def fail(self, part, at):
        part.write_text("half of it")
        raise StoreError("the disk is full", "full")

    monkeypatch.setattr(ResultStore, "save_copy", fail)
    lines = []
    state.line_logged.connect(lines.append)
    state.archive.save_copy(tmp_path / "b.gemmviz")
    qtbot.waitUntil(lambda: any("disk is full" in line.text for line in lines))
    assert not [each for each in tmp_path.iterdir() if "b.gemmviz" in each.name]


def test_a_second_copy_waits_until_it_is_asked_for_again(state, finish, slow_copy, tmp_path, qtbot):
    chosen, go_on = slow_copy
    finish()
    state.archive.save_copy(tmp_path / "b.gemmviz")
    qtbot.waitUntil(chosen.is_set)
    with qtbot.waitSignal(state.archive.told) as told:
        state.archive.save_copy(tmp_path / "c.gemmviz")
    assert "another one is being made" in told.args[0]
    go_on.set()
    settled(state)
    assert state.archive.path == tmp_path / "b.gemmviz"
    assert not (tmp_path / "c.gemmviz").exists()


def test_what_is_opened_while_the_window_closes_is_closed_with_it(state, tmp_path):
    shown = []
    state.archive.opened.connect(lambda: shown.append(state.archive.path))
    state.archive.open(tmp_path / "b.gemmviz")
    state.archive.close()
    assert state.archive.reader.pending == []
    assert not state.archive.reader.isRunning()
    assert [
        each.name for each in tmp_path.iterdir() if each.suffix.endswith(("-wal", "-shm"))
    ] == []
    assert shown == []


def test_what_was_shown_of_one_file_is_not_taken_for_a_result_of_the_next(state, path, tmp_path):
    state.archive.close()
    filled(path, 2)
    assert open_in(state, path) == ""
    state.archive.show_saved([2])
    settled(state)
    other = tmp_path / "b.gemmviz"
    filled(other, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gemmviz.core.store.files._writable", lambda _: False)
        assert open_in(state, other) == ""
    assert state.archive.saving == path
    state.archive.show_saved([2])
    settled(state)
    assert len(state.book.runs) == 2


def test_a_request_that_goes_wrong_holds_up_no_other(state, tmp_path, monkeypatch, qtbot):
    def fail(self):
        raise ZeroDivisionError

    monkeypatch.setattr(ReadDocument, "answer", fail)
    document, other = tmp_path / "a.json", tmp_path / "b.gemmviz"
    document.write_text("{}")
    filled(other, 1)
    opener = Opener(state)
    with qtbot.captureExceptions() as raised, qtbot.waitSignal(opener.ended) as told:
        opener.open([document, other])
    assert [kind for kind, *_ in raised] == [ZeroDivisionError]
    assert "was not opened" in told.args[0].problems[0]
    assert told.args[0].remarks == ("Opened b.gemmviz",)
