from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.app.estimator import question
from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.labels import device_label
from gemmviz.core.limits import named_limits
from gemmviz.core.messages import SampleBatch
from gemmviz.core.model import Failure, Platform, Result, Samples
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import UNTIL_STOPPED
from tests.app.fake_engine import (
    BROKEN,
    H200,
    INTEL,
    LISTING,
    NOTHING,
    POCL,
    FakeEngine,
    endless_run,
    silent_run,
    wrong_run,
)


def test_the_first_gpu_and_the_tiled_kernel_are_chosen(state):
    assert state.device == H200
    assert state.setup.variant.id == "tiled"
    assert state.can_run
    assert "Ctrl+R" in state.next_step
    assert "NVIDIA H200" in state.next_step


def test_a_finished_run_becomes_a_row_with_every_sample(state, finish):
    finish()
    (run,) = state.book.runs
    assert len(run.buffer) == 100
    assert run.summary.count == 100
    assert run.result.verdict == "verified"
    assert len(run.result.samples) == 0  # the buffer alone holds them
    assert run.flops_per_second == pytest.approx(2 * 512**3 / run.summary.median)
    assert state.shown is run
    assert run.status == "finished"


def test_each_run_draws_a_seed_unless_it_is_fixed(state, finish):
    finish()
    finish()
    state.change(replace(state.setup, seed=42))
    finish()
    seeds = [run.job.problem.seed for run in state.book.runs]
    assert seeds[0] != seeds[1]
    assert seeds[2] == 42


def test_ticked_devices_run_instead_of_the_selected_one(state, finish):
    state.tick_device(POCL.key, True)
    state.tick_device(INTEL.key, True)
    assert "take turns" in state.remark
    finish()
    assert [run.device for run in state.book.runs] == [POCL, INTEL]


def test_a_device_that_cannot_take_it_is_left_out_and_named(state, finish):
    state.tick_device(POCL.key, True)
    state.tick_device(INTEL.key, True)
    state.change(replace(state.setup, element="half"))
    assert state.refusal == ""
    assert POCL.name in state.remark
    finish()
    assert [run.device for run in state.book.runs] == [INTEL]


def test_one_ticked_device_that_is_not_the_selected_one_is_named(state):
    assert state.remarks == ()
    assert not state.elsewhere
    state.tick_device(POCL.key, True)
    assert state.elsewhere
    assert f"Run goes to {device_label(POCL)}" in state.remark
    assert f"not to the selected {device_label(H200)}" in state.remark
    state.select_device(POCL)
    assert state.remark == ""


def test_no_remark_hides_another(state):
    small = replace(POCL, name="small", max_work_group_size=16)
    platforms = (*LISTING.platforms, Platform("Small", "", "", (small,)))
    state._on_devices_listed(replace(LISTING, platforms=platforms))
    for device in (POCL, INTEL, small, H200):
        state.tick_device(device.key, True)
    assert len(state.remarks) == 2
    assert "Not on small" in state.remarks[0]
    assert "take turns" in state.remarks[1]
    state.change(replace(state.setup, element="half"))
    assert [words.split(":")[0] for words in state.remarks] == [
        f"Not on {device_label(device)}" for device in (H200, POCL, small)
    ]


def test_a_parameter_is_greyed_only_where_no_target_can_take_it(state):
    small = replace(POCL, name="small", max_work_group_size=16)
    platforms = (*LISTING.platforms, Platform("Small", "", "", (small,)))
    state._on_devices_listed(replace(LISTING, platforms=platforms))
    (parameter,) = (p for p in state.setup.variant.parameters if p.name == "TS")

    def greyed():
        return {option.value: option.reason for option in state.parameter_options(parameter)}

    state.select_device(small)
    assert "small" in greyed()[32]
    state.tick_device(H200.key, True)
    assert not any(greyed().values())
    state.tick_device(small.key, True)
    assert not any(greyed().values())
    state.tick_device(H200.key, False)
    assert "small" in greyed()[8]


def test_a_refresh_follows_the_devices_that_are_left(qtbot, state, engine):
    state.tick_device(POCL.key, True)
    state.tick_device(INTEL.key, True)
    spoilt = replace(POCL, unavailable="its linker is gone")
    engine.listing = replace(
        LISTING, platforms=(LISTING.platforms[0], Platform("PoCL", "", "", (spoilt,)))
    )
    with qtbot.waitSignals([state.devices_ticked, state.setup_changed]):
        state.list_devices()
    assert state.ticked == frozenset()
    assert [target.device for target in state.targets] == [H200]
    state.select_device(spoilt)
    engine.listing = LISTING
    with qtbot.waitSignal(state.setup_changed):
        state.list_devices()
    assert [target.device for target in state.targets] == [POCL]
    assert state.refusal == ""


def test_drivers_that_are_being_asked_are_not_asked_again(qtbot, engine):
    asked = []
    engine.list_devices = lambda: asked.append(1) or LISTING
    state = AppState(Workers(engine), data_dir("kernels"))
    try:
        for _ in range(5):
            state.list_devices()
        qtbot.waitUntil(lambda: not state.listing_now)
        assert len(asked) == 1
        state.list_devices()
        qtbot.waitUntil(lambda: len(asked) == 2)
    finally:
        state.close()


def test_what_cannot_run_is_refused_with_the_numbers(state):
    state.choose_variant(state.catalog.find("mygemm_2"))
    state.change(state.setup.with_all_sizes(500))
    assert "500" in state.refusal
    assert not state.can_run
    state.start()
    assert not state.active
    assert state.next_step == state.refusal


def test_an_unavailable_device_says_why(state):
    state.select_device(BROKEN)
    assert "linker" in state.refusal


def test_stop_ends_the_running_run_and_forgets_the_waiting_ones(qtbot, state, engine):
    engine.script = endless_run
    state.change(replace(state.setup, policy=UNTIL_STOPPED))
    state.tick_device(POCL.key, True)
    state.tick_device(INTEL.key, True)
    state.start()
    qtbot.waitUntil(lambda: any(len(run.buffer) for run in state.active.values()))
    (first,) = (run for run in state.active.values() if run.device == POCL and run.began)
    told = f"; 1 more waits for {first.label}, which runs on the same hardware"
    assert told in state.queue_note
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    (run,) = state.book.runs
    assert run.result.stopped
    assert run.status == "stopped"
    assert run.progress is None


def test_late_messages_of_a_job_given_up_are_dropped(state):
    batch = SampleBatch(999, Samples((1,), (1.0,), (1.0,)))
    state._queue._on_batch_arrived(999, (batch,))
    assert state.shown is None
    assert not state.book.runs


def test_a_wrong_answer_is_told_and_its_speed_does_not_count(state, engine, finish):
    lines = []
    state.line_logged.connect(lines.append)
    engine.script = wrong_run
    finish()
    (run,) = state.book.runs
    assert run.wrong
    assert run.failure.kind == "wrong"
    assert any(line.bad and "row 3" in line.text for line in lines)


def test_a_failure_is_told_with_its_detail(state, engine, finish):
    lines = []
    state.line_logged.connect(lines.append)
    engine.script = silent_run
    engine.failure = Failure("build", "It does not compile.", "tiled.cl:3:1: error: no")
    finish()
    (run,) = state.book.runs
    assert run.status == "could not run"
    texts = [line.text for line in lines]
    assert "It does not compile." in texts
    assert "    tiled.cl:3:1: error: no" in texts


def test_a_run_that_ended_early_is_no_good_one(state, engine, finish):
    engine.failure = Failure("crash", "The child was killed.", "signal 9")
    finish()
    (run,) = state.book.runs
    assert run.summary.count == 100
    assert run.status == "ended early"
    assert run.ended_early
    assert not run.valid
    assert not state.book.ticked
    state.book.tick(run, True)
    assert state.book.ticked == (run,)


def test_a_new_run_is_shown_only_where_the_shown_one_has_ended(qtbot, state, engine):
    engine.script = endless_run
    state.change(replace(state.setup, policy=UNTIL_STOPPED))
    state.tick_device(H200.key, True)
    state.tick_device(POCL.key, True)
    state.start()
    first, second = state.active.values()
    qtbot.waitUntil(lambda: len(first.buffer) > 0 and len(second.buffer) > 0)
    assert state.shown is first
    state.show(second)
    state.start()
    assert state.shown is second
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert state.shown is second
    state.start()
    assert state.shown not in (first, second)


def test_a_result_with_more_samples_than_were_heard_is_taken_whole(qtbot):
    class Terse(FakeEngine):
        def run(self, job, device):
            yield Result(job, device, Samples((1, 1), (1.0, 2.0), (1.0, 3.0)))

    run_state = AppState(Workers(Terse()), data_dir("kernels"))
    try:
        run_state.load_kernels()
        run_state.list_devices()
        qtbot.waitUntil(lambda: run_state.device is not None)
        run_state.start()
        qtbot.waitUntil(lambda: not run_state.active)
        assert run_state.book.runs[0].buffer.seconds.tolist() == [1.0, 2.0]
    finally:
        run_state.close()


def test_without_any_platform_the_state_says_what_to_do(qtbot):
    state = AppState(Workers(FakeEngine(NOTHING)), data_dir("kernels"))
    try:
        state.load_kernels()
        assert "Asking" in state.next_step
        state.list_devices()
        qtbot.waitUntil(lambda: state.listing is not None)
        assert state.device is None
        assert not state.can_run
        assert "panel at the left" in state.next_step
        state.choose_what_if(named_limits("9.0"))
        assert state.estimate.groups_per_unit > 0
    finally:
        state.close()


def test_the_estimate_knows_registers_once_the_compiler_told_them(qtbot, state, engine):
    assert "unknown" in state.estimate.confidence
    assert state.awaits_registers
    qtbot.waitUntil(lambda: state.estimate.registers == 36)
    assert not state.awaits_registers
    assert state.estimate.confidence == "vendor-documented limits"
    assert state.estimate.limiters == ("registers",)
    state.change(state.setup.with_parameter("TS", 8))
    assert state.estimate.registers is None  # the answer was for another source


def test_registers_that_come_late_are_kept_for_their_own_question(qtbot, state, engine):
    first = question(state.setup, H200)
    state.change(state.setup.with_parameter("TS", 8))
    state._estimator._on_registers_read(first, engine.answer)
    assert state.estimate.registers is None
    state.change(state.setup.with_parameter("TS", 16))
    assert state.estimate.registers == 36


def test_what_if_replaces_the_device_in_the_estimate(state):
    state.choose_what_if(named_limits("gfx1030"))
    assert state.estimate.pool_name == "WGP"
    state.choose_what_if(None)
    assert state.estimate.pool_name == "SM"


def test_a_cpu_has_no_occupancy(state):
    state.select_device(POCL)
    assert state.estimate.confidence == "not applicable"


@pytest.fixture
def own_kernel(tmp_path: Path) -> Path:
    for suffix in (".cl", ".toml"):
        shutil.copy(data_dir("kernels") / f"tiled{suffix}", tmp_path / f"mine{suffix}")
    return tmp_path / "mine.toml"


def test_a_persons_own_kernel_is_added_and_chosen(state, own_kernel):
    assert state.open_kernel(own_kernel) == ""
    assert state.setup.variant.id == "mine"
    assert state.setup.variant.family == "user"
    state.load_kernels()
    assert state.setup.variant.id == "mine"


def test_a_kernel_that_does_not_load_is_named_with_its_key(state, own_kernel):
    own_kernel.write_text(own_kernel.read_text() + "\n[surprise]\n")
    lines = []
    state.line_logged.connect(lines.append)
    problem = state.open_kernel(own_kernel)
    assert "mine.toml" in problem
    assert "surprise" in problem
    assert lines[0].bad
    assert state.setup.variant.id == "tiled"


def test_a_reload_takes_the_changed_kernel(state, own_kernel):
    state.open_kernel(own_kernel)
    own_kernel.write_text(own_kernel.read_text().replace('title = "', 'title = "New '))
    state.load_kernels()
    assert state.setup.variant.title.startswith("New ")


def test_a_reload_keeps_an_own_kernel_apart_from_one_of_the_same_name(state, own_kernel):
    same = own_kernel.with_name("tiled.toml")
    own_kernel.rename(same)
    own_kernel.with_suffix(".cl").rename(same.with_suffix(".cl"))
    assert state.open_kernel(same) == ""
    state.load_kernels()
    assert (state.setup.variant.family, state.setup.variant.id) == ("user", "tiled")
    ours = next(variant for variant in state.catalog.variants if variant.id == "tiled")
    state.choose_variant(ours)
    state.load_kernels()
    assert state.setup.variant.family == "ladder"


def test_a_chosen_kernel_that_is_gone_gives_way_to_the_default(state, own_kernel):
    lines = []
    state.line_logged.connect(lines.append)
    state.open_kernel(own_kernel)
    own_kernel.unlink()
    state.load_kernels()
    assert state.setup.variant.id == "tiled"
    assert any(line.bad and "no longer to be had" in line.text for line in lines)


def test_refreshing_keeps_the_selected_device(qtbot, state):
    state.select_device(INTEL)
    with qtbot.waitSignal(state.devices_listed):
        state.list_devices()
    qtbot.waitUntil(lambda: not state.listing_now)
    assert state.device == INTEL


def test_a_run_stopped_before_its_first_sample_is_no_row(qtbot, state, engine):
    def stuck(engine, job):
        while not engine.wait_stopped(job.id, 0.01):
            pass
        yield from ()

    engine.script = stuck
    state.start()
    qtbot.waitUntil(lambda: bool(engine.threads))
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert state.shown.status == "stopped"
    assert not state.book.runs
