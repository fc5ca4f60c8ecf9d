from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QTimer

from gemmviz.app import access_lens, analysis_process
from gemmviz.app.access_child import first_steps, pack, take_values
from gemmviz.app.access_lens import AccessLens
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import AccessReport, Machine, Pad, Touches
from gemmviz.core.model import Problem, Variant

CHILD = "tests.app.lens_child"
MACHINE = Machine()
PROBLEM = Problem(64, 64, 64)


def variant(name: str) -> Variant:
    return Variant(
        name, name, "", "user", "row", (), ("16", "16"), "16", "16", ("cols", "rows"), "0", "any",
        "__kernel void f() {}", "f",
    )  # fmt: skip


@pytest.fixture
def lens(qtbot) -> Iterator[AccessLens]:
    made = AccessLens(child=CHILD)
    yield made
    made.close()


def wait_for(qtbot, ask):
    """The answer of ``ask`` once it is there."""
    qtbot.waitUntil(lambda: ask() is not None, timeout=20_000)
    return ask()


def test_frames_come_apart_wherever_they_were_cut():
    stream = pack("one") + pack([2] * 100)
    buffer, values = bytearray(), []
    for byte in stream:
        buffer.append(byte)
        values += take_values(buffer)
    assert values == ["one", [2] * 100]
    assert not buffer
    assert take_values(bytearray(stream)) == values
    assert take_values(bytearray(pack("one")[:-1])) == []


def test_long_loops_keep_the_same_share_of_every_access():
    parts = tuple(
        Touches(index, np.arange(steps * 4).reshape(steps, 4), 1, 8)
        for index, steps in enumerate((100, 25, 1))
    )
    assert first_steps(parts, 400) is parts
    short = first_steps(parts, 80)
    assert [len(part.elements) for part in short] == [20, 5, 1]
    assert short[0].elements.tolist() == parts[0].elements[:20].tolist()


def test_an_answer_comes_later_and_is_kept(qtbot, lens):
    about = variant("plain"), (), PROBLEM, MACHINE
    assert lens.report(*about) is None
    with qtbot.waitSignal(lens.report_ready, timeout=20_000):
        pass
    found = lens.report(*about)
    assert isinstance(found, AccessReport)
    assert found.groups == 64
    assert found.machine == MACHINE
    again = lens.report(variant("plain"), (), replace(PROBLEM, seed=9), MACHINE)
    assert again is found  # the inputs do not change what is touched
    assert lens.known(*about) == (found, None, None)


def test_another_machine_shape_or_parameter_is_another_question(qtbot, lens):
    about = variant("plain"), (), PROBLEM, MACHINE
    wait_for(qtbot, lambda: lens.report(*about))
    assert lens.report(variant("plain"), (), PROBLEM, Machine(64, 64)) is None
    assert lens.report(variant("plain"), (), Problem(65, 64, 64), MACHINE) is None
    assert lens.report(variant("plain"), (("TS", 8),), PROBLEM, MACHINE) is None
    assert lens.report(replace(variant("plain"), source=" "), (), PROBLEM, MACHINE) is None


def test_a_kernel_that_cannot_be_followed_says_so_everywhere(qtbot, lens):
    about = variant("broken"), (), PROBLEM, MACHINE
    error = wait_for(qtbot, lambda: lens.report(*about))
    assert isinstance(error, LensError)
    assert str(error) == "Line 3 cannot be parsed."
    assert error.line == 3
    assert wait_for(qtbot, lambda: lens.pads(*about)) == ()


def test_a_fault_of_the_lens_is_a_sentence_and_ends_nothing(qtbot, lens):
    error = wait_for(qtbot, lambda: lens.report(variant("faulty"), (), PROBLEM, MACHINE))
    assert "nobody thought of this" in str(error)
    after = wait_for(qtbot, lambda: lens.report(variant("plain"), (), PROBLEM, MACHINE))
    assert isinstance(after, AccessReport)


def test_a_child_that_dies_is_replaced(qtbot, lens):
    error = wait_for(qtbot, lambda: lens.report(variant("fatal"), (), PROBLEM, MACHINE))
    assert isinstance(error, LensError)
    assert "ended by itself" in str(error)
    after = wait_for(qtbot, lambda: lens.report(variant("plain"), (), PROBLEM, MACHINE))
    assert isinstance(after, AccessReport)


def test_an_analysis_without_end_is_stopped(qtbot, lens):
    lens._process._limit.setInterval(300)
    error = wait_for(qtbot, lambda: lens.report(variant("endless"), (), PROBLEM, MACHINE))
    assert "stopped" in str(error)


def test_an_interpreter_that_does_not_start_is_a_sentence(qtbot, monkeypatch):
    monkeypatch.setattr(analysis_process.sys, "executable", "/nowhere/python")
    lens = AccessLens()
    error = wait_for(qtbot, lambda: lens.report(variant("plain"), (), PROBLEM, MACHINE))
    assert isinstance(error, LensError)
    lens.close()


def test_the_newest_question_is_answered_first(qtbot, lens):
    order: list[int] = []
    problems = [Problem(size, 8, 8) for size in (1, 2, 3)]

    def note() -> None:
        for problem in problems:
            if lens.known(variant("plain"), (), problem, MACHINE)[0] is not None:
                order.extend({problem.m} - set(order))

    lens.report_ready.connect(note)
    for problem in problems:
        lens.report(variant("plain"), (), problem, MACHINE)
    qtbot.waitUntil(lambda: len(order) == 3, timeout=20_000)
    assert order == [1, 3, 2]  # the first was already asked


def test_only_the_newest_answers_are_kept(qtbot, lens, monkeypatch):
    monkeypatch.setitem(access_lens._KEPT, "report", 2)
    for size in (1, 2, 3):
        about = variant("plain"), (), Problem(size, 8, 8), MACHINE
        wait_for(qtbot, lambda about=about: lens.report(*about))
    assert lens.known(variant("plain"), (), Problem(1, 8, 8), MACHINE)[0] is None
    assert lens.known(variant("plain"), (), Problem(3, 8, 8), MACHINE)[0] is not None


def test_questions_beyond_the_newest_few_are_dropped(lens):
    for size in range(1, 100):
        lens.report(variant("plain"), (), Problem(size, 8, 8), MACHINE)
    assert len(lens._waiting) == access_lens._WAITING


def test_the_child_ends_with_the_lens(qtbot, lens):
    (pad,) = wait_for(qtbot, lambda: lens.pads(variant("plain"), (), PROBLEM, MACHINE))
    assert isinstance(pad, Pad)
    child = pad.local_bytes  # the test's child puts its process id here
    os.kill(child, 0)
    lens.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert lens.report(variant("other"), (), PROBLEM, MACHINE) is None  # asks nothing any more
    assert not lens._process.running


def test_the_event_loop_goes_on_during_an_analysis(qtbot, lens):
    (pad,) = wait_for(qtbot, lambda: lens.pads(variant("plain"), (), PROBLEM, MACHINE))
    assert pad.local_bytes != os.getpid()  # a thread would share Python's lock with the window
    ticks: list[bool] = []
    timer = QTimer(interval=5)
    timer.timeout.connect(lambda: ticks.append(lens._asked is not None))
    timer.start()
    wait_for(qtbot, lambda: lens.report(variant("busy"), (), PROBLEM, MACHINE))
    timer.stop()
    assert any(ticks)
