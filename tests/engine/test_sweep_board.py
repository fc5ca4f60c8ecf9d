"""The cells of a sweep and what is kept of builds, without any device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.experiments import RunSweep
from gemmviz.core.messages import Progressed, SweepAdvanced
from gemmviz.core.model import Device, Failure, Job, Problem, Registers, Result, Variant
from gemmviz.core.policy import QUICK
from gemmviz.core.race import SCREENING
from gemmviz.core.sweep import Sweep
from gemmviz.core.sweep_plan import plan
from gemmviz.engine.compiler import VERBOSE
from gemmviz.engine.kept_builds import (
    KeptBuild,
    keep_build,
    keep_registers,
    kept_build,
    kept_registers,
)
from gemmviz.engine.kernel_runner import build_options
from gemmviz.engine.sweep_board import Board
from tests.app.fake_engine import H200, POCL
from tests.engine.runs import CATALOG, make_job

WORK = CATALOG.find("work_1d")


def board_on(device: Device, variant: Variant = WORK) -> Board:
    sweep = Sweep((variant,), (), (Problem(1024, 1024, 1024),), (device,), QUICK)
    return Board(RunSweep(5, sweep), plan(sweep))


def first_job(device: Device, variant: Variant = WORK) -> Job:
    board = board_on(device, variant)
    return board.job(next(iter(board.cells)), SCREENING)


def test_on_nvidia_the_build_that_is_measured_tells_its_registers() -> None:
    job = first_job(H200)
    assert build_options(job) == (VERBOSE,)
    assert job.policy.quiet
    otherwise = replace(WORK, build="ptx-sm_90a")  # which has options of its own
    assert first_job(H200, otherwise).build_options == ""
    assert build_options(first_job(POCL)) == ("-cl-std=CL1.2",)


def test_too_many_registers_are_known_before_the_launch() -> None:
    board = board_on(H200)
    name = next(n for n in board.cells if dict(n.parameters) == {"TS": 32, "WPT": 1})
    assert board.refusal(name) == ""
    board.note_build(name, KeptBuild("a log", Registers(32, 8192, 0)))
    assert board.refusal(name) == ""
    assert board.cells[name].registers == 32
    occupancy = board.cells[name].occupancy
    board.note_build(name, KeptBuild("a log", Registers(255, 8192, 0)))
    assert "registers" in board.refusal(name)
    assert occupancy is not None
    told = board.unable(name, Failure("refused", board.refusal(name)))
    assert told.cell.state == "failed"
    assert told.cell.why_not == board.refusal(name)


def test_the_log_of_the_build_goes_into_the_result() -> None:
    board = board_on(H200)
    name = next(iter(board.cells))
    board.note_build(name, KeptBuild("what the compiler said"))
    result = Result(board.job(name, SCREENING), H200)
    assert board.settle(name, result, final=False).result.build_log == "what the compiler said"
    own = replace(result, build_log="its own")
    assert board.settle(name, own, final=False).result.build_log == "its own"


def test_progress_is_told_twice_a_second_at_most() -> None:
    board = board_on(POCL)
    assert [type(item) for item in board.advanced("x", at_once=True)] == [Progressed, SweepAdvanced]
    assert list(board.advanced("x")) == []
    first, _ = board.advanced("measuring", at_once=True)
    assert isinstance(first, Progressed)
    assert first.text == f"0 of {len(board.cells)}: measuring"


def test_a_build_is_kept_by_source_group_options_and_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = make_job(POCL, "work_1d", parameters={"TS": 16, "WPT": 2})
    assert kept_build(job, POCL) is None
    build = KeptBuild("said", Registers(7, None, None))
    keep_build(job, POCL, build)
    assert kept_build(job, POCL) == build
    larger = replace(job, problem=Problem(999, 5, 5, seed=1))
    assert kept_build(larger, POCL) == build
    for other in (
        replace(job, variant=replace(job.variant, source=job.variant.source + "\n")),
        replace(job, variant=replace(job.variant, group=("TS", "1"))),
        replace(job, build_options="-cl-opt-disable"),
        replace(job, problem=replace(job.problem, element="double")),
    ):
        assert kept_build(other, POCL) is None
    assert kept_build(job, replace(POCL, driver_version="next")) is None
    monkeypatch.setenv("POCL_CACHE_DIR", "/elsewhere")
    assert kept_build(job, POCL) is None


def test_registers_are_kept_apart_from_builds() -> None:
    job = make_job(H200, "tiled", parameters={"TS": 8})
    assert kept_registers(job, H200) is None
    keep_registers(job, H200, Registers(40, 1024, 0))
    assert kept_registers(job, H200) == Registers(40, 1024, 0)
    assert kept_build(job, H200) is None
