from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.model import Failure
from gemmviz.core.policy import QUICK, UNTIL_STOPPED
from tests.app.fake_engine import (
    H200,
    HOST_USED,
    INTEL,
    LISTING,
    POCL,
    TIMER,
    endless_run,
    good_run,
    host_timed_run,
    wrong_run,
)


@pytest.fixture
def pair(state, finish):
    """Two finished runs that differ in their tile, the newer one first."""
    finish()
    state.change(state.setup.with_parameter("TS", 8))
    finish()
    return tuple(reversed(state.book.runs))


def ended(state):
    heard = []
    state.comparison_ended.connect(heard.append)
    return heard


def test_samples_of_a_clock_that_was_given_up_do_not_count(state, engine, finish):
    engine.script = host_timed_run
    lines = []
    state.line_logged.connect(lines.append)
    finish()
    (run,) = state.book.runs
    assert len(run.buffer) == 100
    assert run.summary.minimum >= 1e-3
    assert run.trust == HOST_USED
    assert any(line.bad and "host timing used" in line.text for line in lines)


def test_what_timing_costs_is_kept_by_device_and_told_once(state, finish):
    measured, lines = [], []
    state.timer_measured.connect(measured.append)
    state.line_logged.connect(lines.append)
    assert state.timer is None
    finish()
    finish()
    assert state.timer == TIMER
    assert measured == [H200.key]
    assert sum("round trip" in line.text for line in lines) == 1
    state.select_device(POCL)
    assert state.timer is None


def test_the_end_is_told_with_its_reason(state, finish):
    lines = []
    state.line_logged.connect(lines.append)
    finish()
    assert any("100 launches" in line.text and "narrow enough" in line.text for line in lines)
    (run,) = state.book.runs
    assert run.stop_reason == "steady"
    assert run.progress == 1.0
    assert run.context.app_version == "1.2.3"
    assert len(run.quantiles) == 5


def test_a_gpu_is_measured_quietly_unless_told_otherwise(state, finish):
    state.tick_device(H200.key, True)
    state.tick_device(POCL.key, True)
    finish()
    state.change(replace(state.setup, quiet=False))
    finish()
    quiet = {(run.device.type, run.job.policy.quiet) for run in state.book.runs[:2]}
    assert quiet == {("GPU", True), ("CPU", False)}
    assert not any(run.job.policy.quiet for run in state.book.runs[2:])


def test_a_comparison_runs_the_baseline_first_with_one_seed_and_ends_in_rows(
    qtbot, state, engine, pair
):
    newer, older = pair
    state.change(replace(state.setup, policy=QUICK))
    heard = ended(state)
    state.book.pin_baseline(newer)
    state.compare(pair)
    assert state.comparing
    assert len(state.active) == 2
    qtbot.waitUntil(lambda: not state.comparing)
    (jobs,) = engine.compared
    assert [job.parameters for job in jobs] == [newer.job.parameters, older.job.parameters]
    assert jobs[0].problem == jobs[1].problem
    assert all(job.policy == replace(QUICK, quiet=True) for job in jobs)
    (comparison,) = heard
    assert comparison.versus[0].word == "same"
    assert not state.active
    assert [run.job.id for run in state.book.runs[2:]] == [job.id for job in jobs]
    assert all(len(run.buffer) == 100 and run.summary for run in state.book.runs[2:])


def test_without_a_baseline_the_oldest_is_the_first(qtbot, state, engine, pair):
    lines = []
    state.line_logged.connect(lines.append)
    state.compare(pair)
    qtbot.waitUntil(lambda: not state.comparing)
    assert [job.parameters for job in engine.compared[0]] == [
        run.job.parameters for run in reversed(pair)
    ]
    told = [line.text for line in lines if line.kind == "compare"]
    assert any("within 1 %" in text for text in told)


def test_what_cannot_be_compared_says_why(state, engine, finish, pair):
    assert state.comparison_refusal(pair) == ""
    assert "at least two" in state.comparison_refusal(pair[:1])
    assert "at most 8" in state.comparison_refusal(pair * 5)
    state.change(state.setup.with_all_sizes(64))
    finish()
    assert "same sizes" in state.comparison_refusal(state.book.runs)
    state.change(state.setup.with_all_sizes(512))
    engine.script = wrong_run
    finish()
    assert "wrong" in state.comparison_refusal((*pair, state.book.runs[-1]))
    engine.script = good_run
    state._on_devices_listed(replace(LISTING, platforms=LISTING.platforms[1:]))
    assert "no longer there" in state.comparison_refusal(pair)
    state.compare(pair)
    assert not state.comparing


def test_a_waiting_comparison_is_forgotten_by_a_stop(qtbot, state, engine, pair):
    heard = ended(state)
    engine.script = endless_run
    state.change(replace(state.setup, policy=UNTIL_STOPPED))
    state.start()
    qtbot.waitUntil(lambda: bool(state.shown.buffer))
    state.compare(pair)
    assert "under way" in state.comparison_refusal(pair)
    assert "2 more wait for all before it, as a comparison runs alone" in state.queue_note
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert not state.comparing
    assert not engine.compared
    assert not heard


def test_a_comparison_under_way_can_be_stopped(qtbot, state, engine, pair):
    heard = ended(state)
    engine.script = endless_run
    state.compare(pair)
    qtbot.waitUntil(lambda: any(len(run.buffer) for run in state.active.values()))
    assert state.queue_note.startswith("Comparing")
    state.start()
    assert state.queue_note.endswith("; 1 more waits for the comparison, which runs alone")
    state.stop()
    qtbot.waitUntil(lambda: not state.active)
    assert heard[0].stopped
    assert not state.comparing
    assert all(run.status == "stopped" for run in state.book.runs[2:])


def test_runs_wait_for_a_comparison_and_it_for_them(qtbot, state, engine, pair):
    state.change(replace(state.setup, policy=QUICK))
    for device in (H200, POCL, INTEL):
        state.tick_device(device.key, True)
    state.start()
    state.compare(pair)
    state.start()
    qtbot.waitUntil(lambda: not state.active, timeout=10_000)
    spans = [engine.spans[number] for number in sorted(engine.spans)]
    jobs = [run.job.id for run in state.book.runs]
    assert len(jobs) == 2 + 3 + 2 + 3
    comparison = next(n for n in engine.spans if n not in jobs)
    began, over = engine.spans[comparison]
    earlier = [engine.spans[n] for n in jobs if n < comparison and n in engine.spans]
    later = [engine.spans[n] for n in jobs if n > comparison]
    assert len(spans) == 2 + 3 + 1 + 3
    assert all(end <= began for _, end in earlier)
    assert all(start >= over for start, _ in later)


def test_a_comparison_that_fails_leaves_nothing_under_way(qtbot, state, engine, pair):
    heard, lines = ended(state), []
    state.line_logged.connect(lines.append)

    def broken(engine, job):
        raise RuntimeError("a mistake of ours")
        yield

    engine.script = broken
    with qtbot.captureExceptions():
        state.compare(pair)
        qtbot.waitUntil(lambda: not state.comparing)
    assert heard[0].failure.kind == "crash"
    assert not state.active
    assert len(state.book.runs) == 2
    assert any(line.bad and line.kind == "compare" for line in lines)


def test_a_comparison_with_a_failure_brings_the_results_there_are(qtbot, state, engine, pair):
    heard = ended(state)
    engine.failure = Failure("hang", "A launch took longer than the limit.")
    state.compare(pair)
    qtbot.waitUntil(lambda: not state.comparing)
    assert heard[0].versus == ()
    assert [run.status for run in state.book.runs[2:]] == ["ended early"] * 2
