"""The adviser beside the app's state: asked only for somebody who looks, and never while timing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gemmviz.app.adviser import Adviser
from gemmviz.app.state import AppState
from gemmviz.core.experiments import Outcome, Throttle
from gemmviz.core.model import Job
from gemmviz.core.throttle import ThrottleCurve
from tests.app.fake_engine import H200

_FAST = ("-c", """
from gemmviz.app.access_child import serve
from gemmviz.core.advice.finding import Finding
def advice(situation):
    return (Finding("a.b", situation.variant.title, "1", "here", "Try."),)
serve(lambda: {"advice": advice})
""")  # fmt: skip
_DYING = ("-c", "import sys; sys.stdin.buffer.read(1)")


@pytest.fixture
def adviser(state: AppState) -> Iterator[Adviser]:
    made = Adviser(state, child=_FAST)
    yield made
    made.close()


def test_nothing_is_asked_while_nobody_looks(qtbot, state, adviser) -> None:
    state.choose_variant(state.catalog.find("tiled"))
    assert not adviser.waiting
    adviser.watch(True)
    assert adviser.waiting
    qtbot.waitUntil(lambda: adviser.current)
    assert adviser.findings[0].title == "Tiled in local memory"


def test_the_findings_follow_the_setup(qtbot, state, adviser) -> None:
    adviser.watch(True)
    qtbot.waitUntil(lambda: adviser.current)
    state.choose_variant(state.catalog.find("naive_strided"))
    assert not adviser.current
    qtbot.waitUntil(lambda: adviser.current)
    assert adviser.findings[0].title == "Naive, strided"


def test_a_finished_run_is_part_of_the_situation(qtbot, state, adviser, finish) -> None:
    state.choose_variant(state.catalog.find("tiled"))
    before = adviser.situation
    assert before is not None
    assert before.here is None
    finish()
    after = adviser.situation
    assert after is not None
    assert after.here is not None
    assert after.here.seconds
    assert after.timer == state.timer
    other = replace(state.setup, m=64, n=64, k=64)
    state.change(other)
    assert adviser.situation is not None
    assert adviser.situation.here is None


def test_a_throttling_curve_belongs_to_its_configuration(state, adviser) -> None:
    state.select_device(H200)
    state.choose_variant(state.catalog.find("tiled"))
    setup, curve = state.setup, ThrottleCurve((), "flat")
    job = Job(1, H200.key, setup.variant, setup.parameters, setup.problem(7))
    state.laboratory.experiment_ended.emit(Outcome(Throttle(2, job, H200), curve))
    assert adviser.situation is not None
    assert adviser.situation.throttle == curve
    state.change(setup.with_parameter("TS", 32))
    assert adviser.situation.throttle is None


def test_a_child_that_dies_is_told(qtbot, state) -> None:
    adviser = Adviser(state, child=_DYING)
    adviser.watch(True)
    qtbot.waitUntil(lambda: bool(adviser.problem))
    assert adviser.findings == ()
    assert "ended by itself" in adviser.problem
    adviser.close()


def test_the_real_child_advises(qtbot, state) -> None:
    state.select_device(H200)
    state.change(
        replace(state.setup.with_variant(state.catalog.find("naive_strided")), square=True)
    )
    adviser = Adviser(state)
    adviser.watch(True)
    qtbot.waitUntil(lambda: adviser.current, timeout=60_000)
    assert any(found.rule == "access.coalescing" for found in adviser.findings)
    adviser.close()
