"""The adviser beside the app's state: asked only for somebody who looks, and never while timing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gemmviz.app.adviser import Adviser
from gemmviz.app.state import AppState
from gemmviz.core.ceilings import CeilingTable
from gemmviz.core.experiments import MeasureCeilings, Outcome, Throttle
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Job, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.throttle import ThrottleCurve
from tests.app.fake_engine import H200

CHILD = "tests.app.advice_child"
_START = 60_000  # milliseconds in which a child starts on a busy machine


@pytest.fixture
def adviser(state: AppState) -> Iterator[Adviser]:
    made = Adviser(state, child=CHILD)
    yield made
    made.close()


def own(state: AppState, name: str) -> Variant:
    return replace(state.catalog.find("tiled"), id=name)


def test_nothing_is_asked_while_nobody_looks(qtbot, state, adviser) -> None:
    state.choose_variant(state.catalog.find("tiled"))
    assert not adviser.waiting
    adviser.watch(True)
    assert adviser.waiting
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    assert adviser.findings[0].title == "Tiled in local memory"


def test_the_findings_follow_the_setup(qtbot, state, adviser) -> None:
    adviser.watch(True)
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    state.choose_variant(state.catalog.find("naive_strided"))
    assert not adviser.current
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
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


def test_only_runs_that_can_be_compared_count(state, adviser, finish) -> None:
    state.choose_variant(state.catalog.find("tiled"))
    finish()
    first = adviser.situation.measured
    assert len(first) == 1
    warm = state.setup
    state.change(replace(warm, build_options="-cl-fast-relaxed-math"))
    assert adviser.situation.measured == ()
    state.change(replace(warm, policy=replace(warm.policy, cache="flush")))
    assert adviser.situation.measured == ()
    finish()
    state.change(warm)
    assert adviser.situation.measured == first


def test_what_was_measured_before_an_edit_is_forgotten(state, adviser, finish, tmp_path) -> None:
    for suffix in (".cl", ".toml"):
        shutil.copy(data_dir("kernels") / f"tiled{suffix}", tmp_path)
    state.select_device(H200)
    state.choose_variant(state.catalog.find("tiled"))
    finish()
    assert adviser.situation.here is not None
    source = tmp_path / "tiled.cl"
    source.write_text(source.read_text() + "// mine")
    assert state.open_kernel(tmp_path / "tiled.toml") == ""
    assert adviser.situation.here is None  # the catalogue's has the same id
    finish()
    setup, curve = state.setup, ThrottleCurve((), "flat")
    job = Job(90, H200.key, setup.variant, setup.parameters, setup.problem(7))
    state.laboratory.experiment_ended.emit(Outcome(Throttle(91, job, H200), curve))
    assert adviser.situation.here is not None
    assert adviser.situation.throttle == curve
    source.write_text(source.read_text() + "// again")
    state.load_kernels()
    assert adviser.situation.here is None
    assert adviser.situation.throttle is None
    assert [m.variant for m in adviser.situation.measured] == [state.catalog.find("tiled")]


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
    state.change(replace(setup, build_options="-cl-nv-maxrregcount=32"))
    assert adviser.situation.throttle is None


def test_nothing_is_asked_while_an_experiment_goes_on(qtbot, state, engine, adviser) -> None:
    engine.endless_experiments = True
    number = state.laboratory.next_id()
    with qtbot.waitSignal(state.laboratory.experiment_started):
        state.laboratory.start(MeasureCeilings(number, state.device))
    assert state.timing
    with qtbot.waitSignal(adviser.advised):  # its delay is over
        adviser.watch(True)
    assert not adviser.waiting
    state.laboratory.stop(number)
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    assert not state.timing


def test_a_question_is_given_up_when_something_is_timed(qtbot, state, adviser, finish) -> None:
    state.choose_variant(own(state, "endless"))
    with qtbot.waitSignal(adviser.advised):
        adviser.watch(True)
    assert adviser._process.busy
    tiled = state.catalog.find("tiled")
    state.choose_variant(tiled)
    finish()
    assert not adviser._process.busy
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    assert adviser.findings[0].title == tiled.title


@pytest.mark.parametrize(("name", "why"), [("fatal", "ended by itself"), ("endless", "stopped")])
def test_a_child_without_an_answer_is_told(qtbot, state, adviser, name: str, why: str) -> None:
    if name == "endless":
        adviser._process._limit.setInterval(300)
    state.choose_variant(own(state, name))
    adviser.watch(True)
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    assert adviser.findings == ()
    assert why in adviser.problem


def test_the_real_child_advises(qtbot, state) -> None:
    state.select_device(H200)
    state.change(
        replace(state.setup.with_variant(state.catalog.find("naive_strided")), square=True)
    )
    adviser = Adviser(state)
    adviser.watch(True)
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    assert any(found.rule == "access.coalescing" for found in adviser.findings)
    adviser.close()


def test_a_gpu_that_is_not_here_is_advised_for_without_measurements(
    qtbot, state, adviser, finish
) -> None:
    state.choose_variant(state.catalog.find("tiled"))
    finish()
    state.laboratory.ceilings[state.device.key] = CeilingTable(state.device.key, "1", ())
    limits = named_limits("9.0")
    adviser.watch(True)
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    state.choose_what_if(limits)
    assert not adviser.current
    about = adviser.situation
    assert (about.device.name, about.device.type, about.limits) == (limits.name, "GPU", limits)
    assert about.machine.source == limits.name
    assert about.measured == ()
    assert about.timer is about.ceilings is about.throttle is about.registers is None
    assert about.estimate == state.estimate
    qtbot.waitUntil(lambda: adviser.current, timeout=_START)
    state.choose_what_if(None)
    assert adviser.situation.here is not None
