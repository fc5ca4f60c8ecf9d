"""The access lens in a child of its own: what it answers, and that nothing can hold it up."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse
from gemmviz.core.access.report import Machine
from gemmviz.core.codec import to_json
from gemmviz.core.launch import default_parameters
from gemmviz.core.model import Problem
from gemmviz.engine.lens import LENS_COMMAND, LensProcess, Question
from gemmviz.engine.transport import TransportClosed
from tests.engine.runs import CATALOG

TILED = CATALOG.find("tiled")
QUESTION = Question(TILED, default_parameters(TILED), Problem(64, 64, 64), Machine())


def never() -> bool:
    return False


def test_a_child_says_what_the_lens_says() -> None:
    lens = LensProcess()
    about = QUESTION.variant, QUESTION.parameters, QUESTION.problem, QUESTION.machine
    broken = replace(QUESTION, variant=replace(TILED, source="__kernel void tiled( {"))
    try:
        assert lens.report(QUESTION, never) == analyse(*about)
        with pytest.raises(LensError, match="cannot be parsed at line 1"):
            lens.report(broken, never)
        assert lens.report(QUESTION, never) is not None
    finally:
        lens.close()


class Silent:
    """A child that says nothing, or that is gone."""

    def __init__(self, *, gone: bool = False) -> None:
        self.gone, self.killed, self.asked = gone, 0, 0

    def send(self, line: str) -> None:
        self.asked += 1

    def receive(self, timeout_seconds: float) -> None:
        if self.gone:
            raise TransportClosed("it ended with code 7")

    def kill(self) -> None:
        self.killed += 1


def test_a_stop_ends_the_child_amid_an_analysis() -> None:
    child = Silent()
    lens = LensProcess(lambda _: child)  # type: ignore[arg-type, return-value]
    looks = iter([False, False, True])
    assert lens.report(QUESTION, lambda: next(looks)) is None
    assert (child.asked, child.killed) == (1, 1)


def test_a_child_that_died_is_replaced() -> None:
    children = [Silent(gone=True), Silent()]
    lens = LensProcess(lambda _: children.pop(0))  # type: ignore[arg-type, return-value]
    with pytest.raises(LensError, match="it ended with code 7"):
        lens.report(QUESTION, never)
    assert lens.report(QUESTION, lambda: True) is None
    assert children == []


def test_the_child_ends_with_its_host_whatever_it_does() -> None:
    large = replace(QUESTION, problem=Problem(4096, 4096, 4096))
    text = "".join(f"{json.dumps(to_json(large))}\n" for _ in range(50))
    done = subprocess.run(
        LENS_COMMAND, input=text, capture_output=True, text=True, check=True, timeout=60
    )
    assert len(done.stdout.splitlines()) < 50


def test_the_child_loads_neither_qt_nor_opencl() -> None:
    code = (
        "import sys, gemmviz.engine.lens_child; "
        "bad = {'PySide6', 'pyqtgraph', 'pyopencl'} & set(sys.modules); assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
