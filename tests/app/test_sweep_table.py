from __future__ import annotations

from PySide6.QtCore import QPersistentModelIndex, Qt

from gemmviz.app.sweep_table import CELL_ROLE, SweepTableModel
from tests.core.sweeps import make_report, make_sweep


def test_every_cell_is_a_row(qtmodeltester):
    model = SweepTableModel()
    sweep = make_sweep()
    report = make_report(sweep)
    model.set_report(sweep, report)
    qtmodeltester.check(model)
    assert model.rowCount() == len(report.cells)
    texts = {
        name: [model.index(row, column).data() for row in range(model.rowCount())]
        for column, name in enumerate(model.names)
    }
    assert texts["Kernel"][0] == "2-D register blocking"
    assert texts["State"].count("★ recommended") == 1
    assert texts["Throughput"][0].endswith("FLOP/s")
    place = texts["State"].index("failed")
    assert texts["Time"][place] == ""
    assert "CL_OUT_OF_RESOURCES" in texts["Note"][place]
    assert model.index(5, 0).data(CELL_ROLE) is report.cells[5]
    assert model.row_of(report.cells[5]) == 5


def test_rows_are_ordered_with_those_without_a_figure_last(qtbot):
    model = SweepTableModel()
    sweep = make_sweep()
    model.set_report(sweep, make_report(sweep))
    time = model.names.index("Time")

    def cells():
        return [model.index(row, 0).data(CELL_ROLE) for row in range(model.rowCount())]

    kept = QPersistentModelIndex(model.index(7, 0))
    before = kept.data(CELL_ROLE)
    model.sort(time)
    assert kept.data(CELL_ROLE) is before
    rising = [cell.seconds for cell in cells() if cell.state in ("measured", "dropped")]
    assert rising == sorted(rising)
    assert {cell.state for cell in cells()[len(rising) :]} == {"failed", "wrong"}
    model.sort(time, Qt.SortOrder.DescendingOrder)
    assert [cell.seconds for cell in cells()][: len(rising)] == rising[::-1]
    assert cells()[-1].state in ("failed", "wrong")
    model.set_report(sweep, make_report(sweep, 0.5))
    falling = [cell.seconds for cell in cells() if cell.state in ("measured", "dropped")]
    assert falling == sorted(falling, reverse=True)
    model.sort(-1)
    assert cells() == list(make_report(sweep, 0.5).cells)


def test_a_report_that_goes_on_keeps_the_rows(qtbot):
    model = SweepTableModel()
    sweep = make_sweep()
    model.set_report(sweep, make_report(sweep, 0.2))
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.set_report(sweep, make_report(sweep, 0.9))
    with qtbot.waitSignal(model.modelReset):
        model.set_report(None, None)
    assert model.rowCount() == 0
