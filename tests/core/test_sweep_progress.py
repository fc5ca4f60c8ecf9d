"""What is left of a sweep, and how long that takes: foretold from reports, never from a clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.sweep import NOT_TRIED, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_plan import LAUNCHES, foreseen_finals
from gemmviz.core.sweep_progress import SweepProgress, is_done
from tests.core.sweeps import make_report, make_sweep, measured

AXES = (("BM", (32, 64)), ("BN", (32, 64)), ("BK", (8, 16)), ("TM", (4,)), ("TN", (4,)),
        ("PAD", (0, 4)))  # fmt: skip
LAUNCH = 1e-3
FLOP = 2 * 64**3


def planned(sweep: Sweep) -> tuple[SweepCell, ...]:
    return make_report(sweep, 0.0).cells


def at(
    sweep: Sweep, tried: int, seconds: float, *, best: bool = False, launch: float = LAUNCH
) -> SweepReport:
    """A report: the first so many measured after so many seconds, and the race decided or not."""
    cells = [
        measured(cell, launch) if number < tried else cell
        for number, cell in enumerate(planned(sweep))
    ]
    if best:
        cells[0] = replace(cells[0], best=True, final=True)
    return SweepReport(tuple(cells), seconds=seconds)


@pytest.fixture
def sweep() -> Sweep:
    return make_sweep(sizes=(64,), axes=AXES)


def test_nothing_is_foretold_before_some_are_measured(sweep: Sweep) -> None:
    progress = SweepProgress(sweep)
    assert progress.words == ""
    progress.take(at(sweep, 2, 4.0))
    assert progress.left_seconds is None
    assert progress.words == "4.0 s so far"


def test_the_rest_costs_what_those_before_it_did(sweep: Sweep) -> None:
    count, finals = len(planned(sweep)), foreseen_finals(sweep.policy)
    assert count == 16
    progress = SweepProgress(sweep)
    progress.take(at(sweep, 4, 8.0))
    assert progress.left_seconds == pytest.approx(12 * 2.0 + finals)
    progress.take(at(sweep, 12, 12.0))
    assert progress.left_seconds == pytest.approx(4 * 1.0 + finals)
    assert progress.words == f"12.0 s so far, about {4 + finals:.0f} s left"


def test_a_pause_is_no_time_and_what_is_known_costs_nothing(sweep: Sweep) -> None:
    known = at(sweep, 8, 0.0).cells[:8]
    progress = SweepProgress(sweep, known, 60.0)
    progress.take(at(sweep, 12, 8.0))
    assert progress.elapsed_seconds == pytest.approx(68.0)
    assert progress.left_seconds == pytest.approx(4 * 2.0 + foreseen_finals(sweep.policy))
    assert progress.words.startswith("1:08 min so far, ")


def test_finals_count_down_and_are_the_measure_of_those_to_come() -> None:
    sweep = make_sweep(sizes=(64, 128), axes=AXES)
    usual = foreseen_finals(sweep.policy)
    progress = SweepProgress(sweep)
    progress.take(at(sweep, 16, 16.0))  # the first race goes into its finals
    one = (16.0 - 16 * LAUNCHES * LAUNCH) / 16 + LAUNCHES * LAUNCH * 8  # of eight times the FLOP
    assert progress.left_seconds == pytest.approx(16 * one + 2 * usual)
    progress.take(at(sweep, 16, 16.5))
    assert progress.left_seconds == pytest.approx(16 * one + 2 * usual - 0.5)
    progress.take(at(sweep, 16, 22.0, best=True))  # they took 6 s
    assert progress.left_seconds == pytest.approx(16 * one + 6.0)


def test_all_is_over_sometime_and_what_should_be_over_is_not_foretold(sweep: Sweep) -> None:
    progress = SweepProgress(sweep)
    progress.take(at(sweep, 16, 16.0))
    assert progress.left_seconds == pytest.approx(foreseen_finals(sweep.policy))
    progress.take(at(sweep, 16, 999.0))
    assert progress.left_seconds is None
    progress.take(at(sweep, 16, 1000.0, best=True))
    assert progress.left_seconds is None
    assert progress.words == "16:40 min so far"


def test_long_launches_take_as_long_for_each_flop() -> None:
    sweep = make_sweep(sizes=(64, 128), axes=AXES)
    progress = SweepProgress(sweep)
    progress.take(at(sweep, 8, 40.0, launch=2.0))  # less than five launches each
    finals = 2 * foreseen_finals(sweep.policy)
    assert progress.left_seconds == pytest.approx(8 * 5.0 + 16 * 5.0 * 8 + finals)


def test_races_that_were_decided_another_day_tell_nothing_of_finals() -> None:
    sweep = make_sweep(sizes=(64, 128), axes=AXES)
    known = at(sweep, 16, 0.0, best=True).cells[:16]
    progress = SweepProgress(sweep, known)
    progress.take(at(sweep, 16, 0.0, best=True))
    progress.take(at(sweep, 20, 8.0, best=True))
    wanted = 12 * 2.0 + foreseen_finals(sweep.policy)
    assert progress.left_seconds == pytest.approx(wanted, rel=0.01)


def test_a_model_tries_a_share(sweep: Sweep) -> None:
    wide = make_sweep(sizes=(64,), axes=(("BM", (32, 64, 128)), ("TN", (4,))))
    searched = replace(wide, strategy="model", budget=24)
    assert len(planned(searched)) > 100
    progress = SweepProgress(searched)
    progress.take(at(searched, 20, 40.0))
    assert progress.left_seconds == pytest.approx(4 * 2.0 + foreseen_finals(wide.policy))


def test_a_sweep_is_done_when_all_is_tried_and_decided(sweep: Sweep) -> None:
    decided, open_still = at(sweep, 16, 1.0, best=True).cells, at(sweep, 16, 1.0).cells
    assert is_done(decided, 16)
    assert not is_done(open_still, 16)
    assert not is_done(decided[:15], 16)
    assert not is_done((), 0)
    broken = tuple(replace(cell, state="failed", best=False) for cell in decided)
    assert is_done(broken, 16)  # there is nobody to decide between
    passed = replace(decided[15], state="dropped", why_not=NOT_TRIED)
    assert is_done((*decided[:15], passed), 15)
