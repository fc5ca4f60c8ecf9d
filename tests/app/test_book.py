from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from gemmviz.app.book import MOST_TICKED
from gemmviz.core.model import Failure
from tests.app.fake_engine import silent_run, wrong_run


@pytest.fixture
def book(state, finish):
    finish()
    state.change(state.setup.with_parameter("TS", 8))
    finish()
    return state.book


def test_finished_runs_are_ticked_at_first(book):
    assert len(book.ticked) == 2
    book.tick(book.runs[0], False)
    assert book.ticked == (book.runs[1],)


def test_speed_up_is_measured_against_the_baseline(book):
    first, second = book.runs
    assert book.speed_up(second) is None
    book.pin_baseline(first)
    assert book.speed_up(first) == 1.0
    assert book.speed_up(second) == pytest.approx(first.summary.median / second.summary.median)
    book.pin_baseline(first)
    assert book.baseline is None


def test_other_sizes_and_wrong_answers_have_no_speed_up(book, state, engine, finish):
    book.pin_baseline(book.runs[0])
    state.change(state.setup.with_all_sizes(64))
    finish()
    assert book.speed_up(book.runs[2]) is None
    state.change(state.setup.with_all_sizes(512))
    engine.script = wrong_run
    finish()
    assert book.speed_up(book.runs[3]) is None


def test_a_baseline_must_be_a_good_run(book, state, engine, finish):
    reasons = []
    book.baseline_refused.connect(reasons.append)
    book.pin_baseline(book.runs[0])
    engine.failure = Failure("crash", "The child was killed.")
    finish()
    engine.failure = None
    engine.script = wrong_run
    finish()
    engine.script = silent_run
    finish()
    for run in book.runs[2:]:
        book.pin_baseline(run)
    assert book.baseline is book.runs[0]
    assert ["ended early" in reasons[0], "wrong" in reasons[1], "samples" in reasons[2]] == [
        True
    ] * 3
    assert book.speed_up(book.runs[2]) is None


def test_a_run_without_a_sample_is_not_ticked(state, engine, finish):
    engine.script = silent_run
    finish()
    assert state.book.ticked == ()
    state.book.tick(state.book.runs[0], True)
    assert state.book.ticked == ()


def test_csv_holds_si_units_and_every_run(book):
    rows = list(csv.DictReader(io.StringIO(book.to_csv())))
    assert len(rows) == 2
    row, run = rows[0], book.runs[0]
    assert row["kernel"] == "tiled"
    assert row["parameters"] == "TS=16"
    assert float(row["median_seconds"]) == run.summary.median
    assert float(row["flops_per_second"]) == run.flops_per_second
    assert row["verdict"] == "verified"
    assert row["finished_at"] == "2023-11-14T22:13:20+00:00"
    assert int(row["seed"]) == run.job.problem.seed


def test_csv_tells_how_each_run_was_measured_in_columns_at_the_end(book):
    text = book.to_csv()
    header = text.splitlines()[0].split(",")
    assert header[22] == "failure"
    assert header[23:] == [
        "policy", "stop_reason", "timer", "cache", "quiet", "samples", "iqr_seconds", "outliers",
        "drift", "load", "app_version", "driver_version", "build_options", "bytes_per_second",
        "bandwidth_share", "library_share", "library", "transpose", "order", "alpha", "beta",
        "id",
    ]  # fmt: skip
    row = next(csv.DictReader(io.StringIO(text)))
    assert row["policy"] == "Standard"
    assert row["stop_reason"] == "steady"
    assert row["timer"] == "events trusted"
    assert (row["cache"], row["quiet"], row["samples"]) == ("warm", "yes", "100")
    assert float(row["iqr_seconds"]) == pytest.approx(3e-5)
    assert row["outliers"] == "0"
    assert abs(float(row["drift"])) < 0.02
    assert (row["load"], row["app_version"]) == ("0.25", "1.2.3")
    assert (row["driver_version"], row["build_options"]) == ("580.65", "-cl-std=CL1.2")
    assert (row["bytes_per_second"], row["bandwidth_share"]) == ("", "")
    form = [row[name] for name in ("transpose", "order", "alpha", "beta")]
    assert form == ["nn", "row", "1.0", "0.0"]


def test_runs_of_another_form_are_no_measure(book):
    first = book.runs[0]
    problem = replace(first.job.problem, transpose="nt", seed=99)
    book.add(replace(first, job=replace(first.job, id=77, problem=problem)))
    again = replace(first.job.problem, seed=99)
    book.add(replace(first, job=replace(first.job, id=78, problem=again)))
    book.pin_baseline(first)
    assert [book.speed_up(run) for run in book.runs[-2:]] == [None, 1.0]


def test_only_so_many_runs_are_ticked_by_themselves(book):
    first = book.runs[0]
    for number in range(MOST_TICKED):
        book.add(replace(first, job=replace(first.job, id=1000 + number)))
    assert len(book.ticked) == MOST_TICKED
    last = book.runs[-1]
    assert not book.is_ticked(last)
    book.tick(last, True)
    assert book.ticked[-1] is last


def test_clear_forgets_everything(book, qtbot):
    book.pin_baseline(book.runs[0])
    with qtbot.waitSignal(book.cleared):
        book.clear()
    assert not book.runs
    assert book.baseline is None
    assert not book.ticked
