from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.app.device_comparison import SIZE_PRESETS, DeviceTrials, parse_sizes
from gemmviz.core.experiments import CompareDevices, Outcome
from gemmviz.core.messages import DevicesMeasured, Listing, Progressed
from gemmviz.core.model import Failure, Platform, Result
from tests.app.fake_engine import BROKEN, H200, INTEL, POCL, endless_run
from tests.core.device_comparisons import make_comparison
from tests.engine.runs import make_job


@pytest.fixture
def trials(state) -> DeviceTrials:
    return DeviceTrials(state)


def result_on(device, size: int) -> Result:
    return Result(make_job(device, shape=(size, size, size)), device)


def test_sizes_as_they_are_typed():
    assert parse_sizes("64, 128 16;128") == ((16, 64, 128), "")
    assert parse_sizes("")[1].startswith("Say at least one size")
    assert parse_sizes("64, x") == ((), "x is no size from 1 to 131072.")
    assert parse_sizes("0")[1]
    assert parse_sizes("200000")[1]
    assert "At most 24" in parse_sizes(" ".join(map(str, range(1, 30))))[1]
    assert parse_sizes("²")[1]  # a digit to Python's isdigit, and no number


def test_the_ticked_devices_are_compared_else_all_that_can_run(state, trials):
    assert trials.devices == (H200, POCL, INTEL)
    assert BROKEN not in trials.devices
    state.tick_device(INTEL.key, True)
    assert trials.devices == (INTEL,)


def test_sizes_suit_the_devices_until_a_person_chooses(state, engine, trials, qtbot):
    assert trials.sizes == SIZE_PRESETS["Usual"]
    engine.listing = Listing(-1, (Platform("CUDA", "OpenCL 3.0", "NVIDIA", (H200,)),))
    with qtbot.waitSignal(state.devices_listed, check_params_cb=lambda: not state.listing_now):
        state.list_devices()
    assert trials.sizes == SIZE_PRESETS["Large"]
    assert trials.choose_sizes("32 8") == ""
    assert trials.choose_sizes("-") != ""
    with qtbot.waitSignal(state.devices_listed, check_params_cb=lambda: not state.listing_now):
        state.list_devices()
    assert trials.sizes == (8, 32)


def test_what_is_set_up_is_compared_and_its_results_are_kept(qtbot, state, engine, trials):
    comparison = make_comparison()
    results = result_on(POCL, 64), result_on(POCL, 128), result_on(INTEL, 64)

    def perform(experiment):
        engine.performed.append(experiment)
        part = replace(comparison, figures=comparison.figures[:2], whole=False)
        yield Progressed(experiment.job_id, 0.5, "1 of 2")
        yield DevicesMeasured(experiment.job_id, part, results[:1])
        yield DevicesMeasured(experiment.job_id, comparison, results[1:])
        yield Outcome(experiment, comparison)

    engine.perform = perform
    trials.choose_sizes("64 128 512")
    trials.start()
    assert trials.refusal == "Devices are being compared."
    qtbot.waitUntil(lambda: not trials.running)
    (asked,) = engine.performed
    assert isinstance(asked, CompareDevices)
    assert asked.devices == (H200, POCL, INTEL)
    assert asked.sizes == (64, 128, 512)
    assert (asked.variant, asked.parameters) == (state.setup.variant, state.setup.parameters)
    assert asked.problem.element == state.setup.element
    assert not asked.ceilings
    assert {variant.id for variant in asked.variants} >= {"tiled", "blas"}
    assert trials.comparison == comparison
    assert trials.results == results


def test_each_device_may_run_its_best_kernel(qtbot, engine, trials):
    engine.finding = make_comparison()
    trials.choose_best(True)
    assert "each with its best kernel" in trials.subject
    trials.start(ceilings=True)
    qtbot.waitUntil(lambda: not trials.running)
    (asked,) = engine.performed
    assert isinstance(asked, CompareDevices)
    assert (asked.variant, asked.parameters, asked.ceilings) == (None, (), True)


def test_a_stop_keeps_what_was_found_and_a_failure_is_told(qtbot, engine, trials):
    engine.endless_experiments = True
    trials.start()
    qtbot.waitUntil(lambda: trials.note == "half")
    trials.stop()
    qtbot.waitUntil(lambda: not trials.running)
    assert trials.note == "Stopped before every size was measured"
    engine.endless_experiments = False
    engine.failure = Failure("refused", "No.")
    trials.start()
    qtbot.waitUntil(lambda: not trials.running)
    assert (trials.note, trials.failed) == ("No.", True)


def test_devices_whose_ceilings_are_not_known_are_named(state, trials):
    assert trials.needs_ceilings == (H200, POCL, INTEL)
    state.tick_device(POCL.key, True)
    assert trials.needs_ceilings == (POCL,)


def test_nothing_else_runs_beside_it(qtbot, state, engine, trials):
    """Else devices that share hardware with a run would be measured against it."""
    engine.script = endless_run
    engine.endless_experiments = True
    state.select_device(POCL)
    state.start()
    qtbot.waitUntil(lambda: any(len(run.buffer) for run in state.active.values()))
    trials.start()
    asked = next(iter(state.laboratory.busy))
    assert asked not in state.laboratory.begun
    (run,) = state.active.values()
    run_id = run.job.id
    with qtbot.waitSignal(state.laboratory.experiment_started):
        engine.stop(run_id)
    assert run_id not in state.active
    trials.stop()
    qtbot.waitUntil(lambda: not trials.running)
