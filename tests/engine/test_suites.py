"""Benchmark rows on PoCL: ratios against the host's library, and rows that cannot run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.experiments import Outcome, RunSuite
from gemmviz.core.labels import device_label
from gemmviz.core.messages import Progressed, RowMeasured
from gemmviz.core.model import Device
from gemmviz.core.policy import fixed
from gemmviz.core.suite import BenchReport, BenchRow, SuiteRow
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG

ROWS = (
    SuiteRow("tiled", "blas", "CPU", "float", (40, 24, 17), (("TS", 8),), target=1e-9, note="tiny"),
    SuiteRow("naive_coalesced", "blas", "CPU", "double", (5, 1, 300)),
    SuiteRow("gpu_best", "cublas", "GPU", "float", (64, 64, 64), target=1.0),
    SuiteRow("nothing", "blas", "CPU", "float", (64, 64, 64), target=1.0),
    SuiteRow("tiled", "blas", "CPU", "half", (64, 64, 64)),
    SuiteRow("tiled", "blas", "CPU", "float", (64, 64, 64), (("TS", 7),)),
    SuiteRow("tiling_tiled", "blas", "CPU", "float", (40, 24, 17), target=1e-9),
)


def run_rows(
    engine: Engine, *devices: Device, rows: tuple[SuiteRow, ...] = ROWS, job_id: int = 80
) -> list[object]:
    experiment = RunSuite(job_id, devices, CATALOG.variants, rows, fixed(20), seed=4)
    return list(engine.perform(experiment))


@pytest.fixture(scope="module")
def items(engine: Engine, pocl: Device) -> list[object]:
    return run_rows(engine, pocl)


@pytest.fixture(scope="module")
def rows(items: list[object]) -> tuple[BenchRow, ...]:
    outcome = items[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is None
    assert isinstance(outcome.answer, BenchReport)
    assert outcome.answer.whole
    return outcome.answer.rows


def test_every_row_is_told_at_once(items: list[object], rows: tuple[BenchRow, ...]) -> None:
    assert tuple(item.row for item in items if isinstance(item, RowMeasured)) == rows
    assert [row.name for row in rows] == [row.name for row in ROWS]
    texts = [item.text for item in items if isinstance(item, Progressed)]
    assert texts[0].startswith("1 of 7: tiled / blas, 40 x 24 x 17 float on ")


def test_a_ratio_with_its_interval_and_both_times(rows: tuple[BenchRow, ...], pocl: Device) -> None:
    for row in rows[:2]:
        assert not row.why_not
        assert row.device == device_label(pocl)
        assert row.ratio is not None
        assert row.ratio_low is not None
        assert row.ratio_high is not None
        assert 0 < row.ratio_low <= row.ratio <= row.ratio_high
        assert row.seconds is not None
        assert row.library_seconds is not None
        assert (row.seconds > row.library_seconds) is (row.ratio < 1) or 0.5 < row.ratio < 2
        assert row.floor_seconds is not None
        assert row.error is not None
        assert row.library_error is not None
        assert "OpenBLAS" in row.library
    first, second = rows[:2]
    assert first.parameters == (("TS", 8),)
    assert first.note == "tiny"
    assert first.met is (None if first.busy else True)
    assert (second.m, second.n, second.k, second.met) == (5, 1, 300, None)


def test_rows_that_cannot_run_say_why(rows: tuple[BenchRow, ...]) -> None:
    reasons = [row.why_not for row in rows[2:6]]
    assert reasons[0] == "There is no GPU here."
    assert reasons[1] == "There is no kernel nothing."
    assert "float or double, not half" in reasons[2]
    assert "TS=7 is not among the values" in reasons[3]
    assert all(row.ratio is None for row in rows[2:6])
    assert rows[2].device == ""


def test_a_wrong_answer_meets_no_target(rows: tuple[BenchRow, ...]) -> None:
    wrong = rows[6]
    assert "The answer of tiling_tiled TILE=16 is wrong." in wrong.why_not or wrong.why_not
    assert wrong.ratio is not None
    assert wrong.met is None


def test_a_row_is_asked_of_every_device_of_its_type(
    engine: Engine, pocl: Device, intel: Device
) -> None:
    items = run_rows(engine, pocl, intel, rows=ROWS[:1], job_id=81)
    names = [item.row.device for item in items if isinstance(item, RowMeasured)]
    assert names == [device_label(pocl), device_label(intel)]


def test_a_stop_keeps_the_rows_that_are_done(engine: Engine, pocl: Device) -> None:
    rows = (ROWS[0], replace(ROWS[0], shape=(41, 24, 17)))
    outcome = None
    for item in engine.perform(RunSuite(82, (pocl,), CATALOG.variants, rows, fixed(3))):
        if isinstance(item, RowMeasured):
            engine.stop(82)
        outcome = item
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert isinstance(outcome.answer, BenchReport)
    assert len(outcome.answer.rows) == 1
    assert not outcome.answer.whole
