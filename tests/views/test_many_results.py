"""Ten thousand results: what one more costs does not grow with those that are there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from gemmviz.app.results_table import ResultsTableModel
from gemmviz.app.run_queue import RunQueue
from gemmviz.app.runs import Run
from gemmviz.views.compare_panel import ComparePanel
from gemmviz.views.results_panel import ResultsPanel

MANY = 10_000
_COUNTED = 100


class Counted(ResultsTableModel):
    """Counts how often a view or a proxy asks for a cell."""

    asked = 0

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        self.asked += 1
        return super().data(index, role)


def copies(run: Run, count: int) -> list[Run]:
    """Runs like ``run`` with ids and times of their own."""
    made = []
    for number in range(count):
        median = run.summary.median * (1 + (number * 7919 % 1000) / 1000)
        summary = replace(run.summary, median=median)
        made.append(replace(run, job=replace(run.job, id=10_000 + number), summary=summary))
    return made


@pytest.fixture
def panel(qtbot, state, finish):
    finish()
    made = ResultsPanel(state, Counted(state.book))
    qtbot.addWidget(made)
    made.show()
    return made


def test_adding_the_ten_thousandth_result_is_as_cheap_as_the_first(panel, state):
    model, book = panel.table.proxy.sourceModel(), state.book
    panel.table.sortByColumn(5, Qt.SortOrder.AscendingOrder)
    resets, layouts = [], []
    for each in (model, panel.table.proxy):
        each.modelReset.connect(lambda: resets.append(1))
        each.layoutChanged.connect(lambda: layouts.append(1))
    more = copies(book.runs[0], MANY)
    costs = []
    for number, run in enumerate(more):
        before = model.asked
        book.add(run)
        if number < _COUNTED or number >= MANY - _COUNTED:
            costs.append(model.asked - before)
    assert panel.table.proxy.rowCount() == MANY + 1
    assert not resets
    assert not layouts
    early, late = sum(costs[:_COUNTED]) / _COUNTED, sum(costs[-_COUNTED:]) / _COUNTED
    assert late < early + 60  # a place among 10,000 is found in 14 looks
    medians = [panel.table.proxy.index(row, 5).data(Qt.ItemDataRole.UserRole + 1) for row in
               range(0, MANY, 500)]  # fmt: skip
    assert medians == sorted(medians)


def test_a_tick_among_ten_thousand_asks_for_no_other_row(panel, state):
    model, book = panel.table.proxy.sourceModel(), state.book
    for run in copies(book.runs[0], MANY):
        book.add(run)
    panel.table.sortByColumn(5, Qt.SortOrder.AscendingOrder)
    model.asked = 0
    book.tick(book.runs[MANY], True)
    book.pin_baseline(book.runs[MANY // 2])
    assert model.asked < 200


def test_the_comparison_stays_as_small_as_what_is_ticked(qtbot, state, finish):
    finish()
    panel = ComparePanel(state, ResultsTableModel(state.book))
    qtbot.addWidget(panel)
    for run in copies(state.book.runs[0], 300):
        state.book.add(run)
    panel.catch_up()
    assert len(panel.bars._bars) == len(state.book.ticked) <= 40


def test_ended_runs_are_kept_by_the_book_alone(state, finish):
    finish()
    finish()
    queue = state.findChild(RunQueue)
    assert not queue.active
    assert not state._workers._held
