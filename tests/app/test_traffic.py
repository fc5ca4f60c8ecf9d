from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import QObject, Signal

from gemmviz.app.results_table import SORT_ROLE, ResultsTableModel
from gemmviz.app.traffic import Traffic
from gemmviz.core.access.errors import LensError
from gemmviz.core.access.report import AccessReport, Machine, Unknown
from gemmviz.core.ceilings import Ceiling, CeilingTable
from tests.app.fake_engine import H200, wrong_run

BYTES = 2 * 512**3 // 4
TABLE = CeilingTable(
    H200.key,
    "1",
    (
        Ceiling("global copy", "float", 4e12, "B/s", 0.1),
        Ceiling("fma", "float", 65e12, "FLOP/s", 0.1),
    ),
)


def report(traffic: int = BYTES, unknowns: tuple[Unknown, ...] = ()) -> AccessReport:
    return AccessReport((), unknowns, Machine(), 256, 1024, 2 * 512**3, 2 * 512**3, traffic, 0,
                        3 * 2**20, 4.0, 8.0)  # fmt: skip


class FakeLens(QObject):
    """Answers what a test writes down, and counts what it is asked."""

    report_ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.answer: AccessReport | LensError | None = None

    def report(self, *question: object) -> AccessReport | LensError | None:
        self.asked += 1
        return self.answer


@pytest.fixture
def lens(qtbot) -> FakeLens:
    return FakeLens()


@pytest.fixture
def busy(state, lens) -> list[bool]:
    """Whether something is timed, in a list of one."""
    now = [False]
    state.traffic = Traffic(state.book, lens, lambda: now[0], state)
    return now


def test_a_run_gets_its_traffic_when_the_lens_is_ready(state, lens, busy, finish):
    finish()
    (run,) = state.book.runs
    assert lens.asked == 1
    assert state.book.traffic_bytes(run) is None
    lens.answer = report()
    lens.report_ready.emit()
    assert state.book.traffic_bytes(run) == BYTES
    lens.report_ready.emit()
    assert lens.asked == 2


def test_the_lens_is_left_alone_while_something_is_timed(state, lens, busy, finish):
    busy[0] = True
    finish()
    assert lens.asked == 0
    busy[0] = False
    lens.answer = report()
    state.traffic.catch_up()
    assert state.book.traffic_bytes(state.book.runs[0]) == BYTES


@pytest.mark.parametrize(
    "answer", [LensError("It does not parse."), report(unknowns=(Unknown(3, "A pointer."),))]
)
def test_a_sum_with_holes_is_none(state, lens, busy, finish, answer):
    lens.answer = answer
    finish()
    assert state.book.traffic_bytes(state.book.runs[0]) is None
    state.traffic.catch_up()
    assert lens.asked == 1


def test_what_was_cleared_is_asked_no_more(state, lens, busy, finish):
    finish()
    (run,) = state.book.runs
    state.book.clear()
    lens.answer = report()
    lens.report_ready.emit()
    assert lens.asked == 1
    state.book.learn_traffic(run, BYTES)
    assert state.book.traffic_bytes(run) is None


def test_figures_follow_from_traffic_and_ceilings(state, finish):
    finish()
    (run,) = state.book.runs
    book = state.book
    assert book.bytes_per_second(run) is None
    assert book.bandwidth_share(run) is None
    book.learn_traffic(run, BYTES)
    speed = BYTES / run.summary.median
    assert book.bytes_per_second(run) == pytest.approx(speed)
    assert book.bandwidth_share(run) is None
    book.learn_ceilings(TABLE)
    assert book.bandwidth_share(run) == pytest.approx(speed / 4e12)
    header, row = csv.reader(io.StringIO(book.to_csv()))
    cells = dict(zip(header, row, strict=True))
    assert float(cells["bytes_per_second"]) == pytest.approx(speed)
    assert float(cells["bandwidth_share"]) == pytest.approx(speed / 4e12)


def test_a_time_that_beats_the_ceilings_is_suspicious(state, finish):
    finish()
    (run,) = state.book.runs
    assert state.book.suspicion(run) == ""
    state.book.learn_ceilings(TABLE)
    assert state.book.suspicion(run) == ""
    slow = Ceiling("fma", "float", run.flops_per_second / 3, "FLOP/s", 0.1)
    state.book.learn_ceilings(CeilingTable(H200.key, "1", (slow,)))
    assert "is 3 times what a loop of nothing but multiply-adds" in state.book.suspicion(run)


def test_columns_come_with_the_first_figure(qtmodeltester, state, engine, finish):
    model = ResultsTableModel(state.book)
    finish()
    before = model.columnCount()
    assert "Bandwidth" not in model.header_line()
    (run,) = state.book.runs
    state.book.learn_traffic(run, BYTES)
    assert model.columnCount() == before + 3
    names = model.header_line().split("\t")
    assert names[-3:] == ["Bandwidth", "Of memory", "Of library"]
    cells = dict(zip(names, model.line(0).split("\t"), strict=True))
    assert cells["Bandwidth"].endswith("B/s")
    assert cells["Of memory"] == "–"
    state.book.learn_ceilings(TABLE)
    assert dict(zip(names, model.line(0).split("\t"), strict=True))["Of memory"].endswith(" %")
    assert model.index(0, before).data(SORT_ROLE) == state.book.bytes_per_second(run)
    assert model.index(0, before + 1).data(SORT_ROLE) == state.book.bandwidth_share(run)
    engine.script = wrong_run
    finish()
    assert model.line(1).split("\t")[-2:] == ["–", "–"]
    qtmodeltester.check(model)
