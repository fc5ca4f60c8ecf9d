from __future__ import annotations

from dataclasses import replace

from gemmviz.app.run_record import record_of
from gemmviz.core.messages import Checked, Finished
from gemmviz.core.model import Failure, Outside
from gemmviz.core.policy import CAREFUL
from gemmviz.core.result_record import to_text
from tests.app.fake_engine import RIGHT, WRONG, good_run, host_timed_run, silent_run


def facts(run):
    """Every entry by its section's title and its name."""
    return {(s.title, name): text for s in record_of(run) for name, text in s.entries}


def test_everything_about_a_run_is_told(state, finish):
    policy = replace(CAREFUL, cache="flush", per_launch=True)
    state.change(replace(state.setup, policy=policy, seed=42, build_options="-cl-mad-enable"))
    finish()
    (run,) = state.book.runs
    told = facts(run)
    assert told["Run", "Seed"] == "42"
    assert told["Run", "Driver"] == "580.65"
    assert told["Run", "Parameters"] == "TS=16"
    assert "NVIDIA H200" in told["Run", "Device"]
    assert told["Measurement", "Policy"].startswith("Careful, flushed: At least 30 samples")
    assert told["Measurement", "Cache"].startswith("flushed")
    assert told["Measurement", "Samples"] == "each launch"
    assert told["Measurement", "Quiet"].startswith("yes")
    assert "narrow enough" in told["Measurement", "Ended because"]
    assert told["Measurement", "Timed by"].startswith("the device's events (events trusted")
    assert "32.0 ns (driver says 1.00 ns)" in told["Measurement", "Timer and launches"]
    assert told["Statistics", "Launches"] == "100 in 100 samples"
    assert told["Statistics", "Interquartile range"] == "30.0 µs"
    assert told["Statistics", "Outliers"] == "0 of 100"
    assert "no more than chance" in told["Statistics", "Drift"]
    assert "median 1.03 ms" in told["Statistics", "Single launches"]
    assert told["Check", "Verdict"] == "✓ verified"
    assert told["Circumstances", "gemmviz"] == "1.2.3"
    assert told["Circumstances", "System"] == "Linux 6.1 x86_64"
    assert told["Circumstances", "Build options"] == "-cl-std=CL1.2"
    assert told["Circumstances", "Environment"] == "POCL_AFFINITY=1"
    assert told["Circumstances", "Workers pinned to cores"] == "yes"
    assert told["Circumstances", "Load at the start"] == "0.25 on 2 logical processors"
    assert "Run\nKernel\tTiled in local memory (tiled.cl)\n" in to_text(record_of(run))


def test_the_form_of_the_problem_is_told_where_there_is_one(state, finish):
    finish()
    (run,) = state.book.runs
    assert ("Run", "Form") not in facts(run)
    problem = replace(run.job.problem, transpose="tn", alpha=0.5, beta=-2.0)
    job = replace(run.job, problem=problem)
    formed = replace(run, job=job, result=replace(run.result, job=job))
    assert facts(formed)["Run", "Form"] == "C = 0.5 Aᵀ B - 2 C"
    assert formed.shape == "512³, TN, alpha 0.5, beta -2"
    assert formed.problem_text == "512³ float, TN, alpha 0.5, beta -2"


def test_a_clock_that_lies_and_its_numbers_are_told(state, engine, finish):
    engine.script = host_timed_run
    finish()
    told = facts(state.book.runs[0])
    assert told["Measurement", "Timed by"].startswith("the host's clock (host timing used")
    assert "100 equal" in told["Measurement", "Timestamps"]
    assert ("Statistics", "Single launches") not in told


def checked(check):
    def script(engine, job):
        for message in good_run(engine, job):
            yield replace(message, check=check) if isinstance(message, Checked) else message

    return script


def test_what_a_sampled_check_rests_on_and_repeats_is_told(state, engine, finish):
    engine.script = checked(
        replace(RIGHT, rows_checked=64, cols_checked=32, vectors=3, cells_differing=0)
    )
    finish()
    told = facts(state.book.runs[0])
    assert "64 random rows and 32 columns exactly" in told["Check", "Compared"]
    assert "3 random vectors" in told["Check", "Compared"]
    assert "same bits" in told["Check", "Repeated"]


def test_what_is_wrong_is_told(state, engine, finish):
    outside = (Outside("B", "in front of", 7),)
    engine.script = checked(
        replace(WRONG, pattern="All tiles alike.", cells_differing=12, outside=outside)
    )
    finish()
    told = facts(state.book.runs[0])
    assert told["Check", "Verdict"] == "✗ wrong"
    assert told["Check", "Pattern"] == "All tiles alike."
    assert "12 cells" in told["Check", "Repeated"]
    assert told["Check", "Written outside"] == "7 elements in front of B"


def test_of_a_run_that_never_began_only_what_is_known_is_told(state, engine, finish):
    engine.script = silent_run
    engine.failure = Failure("build", "It does not compile.")
    finish()
    sections = record_of(state.book.runs[0])
    assert [section.title for section in sections] == [
        "Run",
        "Measurement",
        "Check",
        "Circumstances",
    ]
    assert all(text for section in sections for _, text in section.entries)
    assert facts(state.book.runs[0])["Run", "Failure"] == "It does not compile."


def test_discarded_launches_are_told(state, engine, finish):
    def some_discarded(engine, job):
        for message in good_run(engine, job):
            yield replace(message, discarded=3) if isinstance(message, Finished) else message

    engine.script = some_discarded
    finish()
    assert facts(state.book.runs[0])["Measurement", "Discarded launches"] == "3"
