"""What is counted and throttled, kept by what it was asked for."""

from __future__ import annotations

import pytest

from gemmviz.app.residencies import Residencies
from gemmviz.core.experiments import MeasureResidency, Throttle
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Failure
from gemmviz.core.residency import Residency
from gemmviz.core.throttle import ThrottleCurve, ThrottlePoint
from tests.app.fake_engine import BROKEN, H200, POCL

SIX = Residency(6, 5, 132, 256, 2048, driver_bytes=2052, registers=36, each_unit=True)
CURVE = ThrottleCurve((ThrottlePoint(0, 6, 6e12, 6e12, 6e12),), "It is so.")


@pytest.fixture
def lab(qtbot, state):
    state.select_device(H200)
    qtbot.waitUntil(lambda: state.estimate is not None and not state.awaits_registers)
    return Residencies(state, state)


def done(qtbot, lab):
    qtbot.waitUntil(lambda: not lab.busy)


def test_a_count_is_kept_by_its_setup(qtbot, state, engine, lab):
    engine.finding = SIX
    assert lab.counted is None
    lab.measure(instrumented=True)
    assert lab.busy
    done(qtbot, lab)
    (asked,) = engine.performed
    assert isinstance(asked, MeasureResidency)
    assert asked.instrumented
    assert asked.job.problem.m == state.setup.m
    assert lab.counted.residency == SIX
    other = state.setup.with_parameter("TS", 8)
    before = state.setup
    state.change(other)
    assert lab.counted is None
    state.change(before)
    assert lab.counted.residency == SIX
    state.choose_what_if(named_limits("gfx1030"))
    assert lab.counted is None  # it was counted on another device than the one looked at


def test_the_curves_follow_the_setup_and_the_what_if(state, lab):
    curves = {curve.name: curve for curve in lab.curves()}
    assert curves["TS"].present == 16
    assert curves["Registers of a work-item"].present == 36
    state.change(state.setup.with_parameter("TS", 8))
    assert {curve.name: curve for curve in lab.curves()}["TS"].present == 8
    state.choose_what_if(named_limits("gfx1030"))
    held = {curve.name: curve for curve in lab.curves()}["Registers of a work-item"]
    assert held.present is None
    state.choose_what_if(None)
    state.select_device(POCL)
    assert lab.curves() == ()


def test_throttling_is_kept_by_device_the_present_one_last(qtbot, state, engine, lab):
    engine.finding = CURVE
    names = []
    for size in (8, 16, 32):
        state.change(state.setup.with_parameter("TS", size))
        lab.throttle()
        done(qtbot, lab)
        names.append(lab.throttled.name)
    assert all(isinstance(each, Throttle) for each in engine.performed)
    assert names[0] == "tiled TS=8 512 x 512 x 512 float"
    assert [each.name for each in lab.throttlings] == names
    state.change(state.setup.with_parameter("TS", 8))
    assert [each.name for each in lab.throttlings] == [*names[1:], names[0]]
    state.select_device(POCL)
    assert lab.throttlings == ()
    assert lab.throttled is None


def test_a_failure_is_said_and_kept_from_the_count(qtbot, engine, lab):
    engine.failure = Failure("refused", "It cannot be.")
    lab.measure(instrumented=False)
    done(qtbot, lab)
    assert lab.failure == "It cannot be."
    assert lab.counted.residency is None
    assert lab.progress == ""


def test_a_stop_ends_it_without_an_answer(qtbot, engine, lab):
    engine.endless_experiments = True
    lab.throttle()
    qtbot.waitUntil(lambda: "half" in lab.progress)
    assert lab.progress == "half, 50 %"
    lab.measure(instrumented=False)  # one at a time
    lab.stop()
    done(qtbot, lab)
    assert lab.throttlings == ()
    assert lab.failure == ""
    assert len(engine.performed) == 1


def test_what_cannot_be_measured_is_not_started(state, engine, lab):
    state.select_device(BROKEN)
    assert lab.refusal == BROKEN.unavailable
    lab.measure(instrumented=False)
    library = state.catalog.find("cublas")
    state.select_device(H200)
    state.choose_variant(library)
    assert "library" in lab.refusal
    lab.throttle()
    assert not lab.busy
    assert engine.performed == []
