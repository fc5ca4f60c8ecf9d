from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox

from gemmviz.app.history_table import NOTE, TAGS
from gemmviz.app.results_table import ResultsTableModel
from gemmviz.core.changes import changes_between
from gemmviz.core.launch import default_parameters
from gemmviz.core.model import Problem
from gemmviz.core.store import ResultStore
from gemmviz.views.changes_dialog import ChangesDialog
from gemmviz.views.details_dialog import DetailsDialog
from gemmviz.views.history_panel import HistoryPanel
from gemmviz.views.main_window import MainWindow
from gemmviz.views.result_files import ResultFiles, SavedLabel
from gemmviz.views.theme import DARK, LIGHT
from tests.app.archives import open_in, settled
from tests.app.fake_engine import H200, WRONG
from tests.core.store.saved import KERNEL, filled, saved
from tests.views.window_parts import shown_tabs


@pytest.fixture
def path(tmp_path):
    """A file of five results: three plain ones, a wrong one, and one of another source."""
    made = tmp_path / "a.gemmviz"
    filled(made, 3)
    store = ResultStore.open(made)
    store.add(saved(64, check=WRONG, device=H200))
    other = saved(64, 5e-4, finished_at=0.0)
    variant = replace(KERNEL, source="__kernel void tiled() { /* <b>faster</b> */ }\n")
    store.add(replace(other, job=replace(other.job, variant=variant)))
    store.annotate([2], note="before the change", tags=["paper"])
    store.close()
    return made


@pytest.fixture
def panel(qtbot, state, path) -> HistoryPanel:
    made = HistoryPanel(state)
    qtbot.addWidget(made)
    qtbot.addWidget(made.tools)
    made.resize(820, 420)
    made.show()
    assert open_in(state, path) == ""
    assert ids(made) == [5, 4, 3, 2, 1]
    return made


def ids(panel: HistoryPanel) -> list[int]:
    return list(panel.model.ids)


def select(panel: HistoryPanel, *numbers: int) -> None:
    panel.table.clearSelection()
    for number in numbers:
        index = panel.model.index(ids(panel).index(number), 0)
        flags = panel.table.selectionModel().SelectionFlag
        panel.table.selectionModel().setCurrentIndex(index, flags.Select | flags.Rows)


def elsewhere(path, change) -> None:
    """Lets another program change the file."""
    store = ResultStore.open(path)
    change(store)
    store.close()


def cells(panel: HistoryPanel, row: int) -> list[str]:
    return [
        str(panel.model.data(panel.model.index(row, column)))
        for column in range(panel.model.columnCount())
    ]


def test_what_a_row_says(panel):
    row = cells(panel, 1)
    assert row[1:8] == [
        "Tiled in local memory", "TS=16", "NVIDIA H200 · CUDA 12.8.1", "64³ float", "1.00 ms",
        "524 MFLOP/s", "✗ wrong",
    ]  # fmt: skip
    assert cells(panel, 3)[8:] == ["paper", "before the change", "12"]
    assert panel.title.text() == "5 results in a.gemmviz"


def test_a_problem_is_told_whole_where_there_is_room(panel, state, path, qtbot):
    job = saved().job
    problem = Problem(1000, 900, 1100, transpose="tn", beta=2.0)
    elsewhere(path, lambda store: store.add(saved(job=replace(job, problem=problem))))
    qtbot.waitUntil(lambda: ids(panel)[0] == 6)
    assert cells(panel, 0)[4] == "1000 × 900 × 1100 float, TN, beta 2"
    table = panel.table
    panel.resize(600, 420)
    assert [table.columnWidth(column) for column in (4, 1)] == [84, 104]
    panel.resize(1600, 420)
    assert all(table.columnWidth(each) >= table.sizeHintForColumn(each) for each in (2, 4, 1))
    state.archive.show_saved([6])
    settled(state)
    model = ResultsTableModel(state.book)
    assert model.data(model.index(0, 4)) == "float, TN, beta 2"


def test_parameters_tell_the_rows_of_a_sweep_apart(panel, path, qtbot):
    panel.resize(820, 420)
    job = replace(saved().job, parameters=tuple((name, 64) for name in "ABCDEF"))
    elsewhere(path, lambda store: store.add(saved(job=job)))
    qtbot.waitUntil(lambda: ids(panel)[0] == 6)
    assert panel.table.columnWidth(2) >= panel.table.sizeHintForColumn(2) > 150


def test_a_narrow_window_shows_what_tells_results_apart(panel):
    panel.resize(540, 420)
    table = panel.table
    order = sorted(range(panel.model.columnCount()), key=table.columnViewportPosition)
    names = [panel.model.headerData(column, Qt.Orientation.Horizontal) for column in order]
    assert names[:6] == ["Time", "Kernel", "Parameters", "M × N × K", "Throughput", "Verdict"]
    # The table is 525 pixels wide in a window of 1024, and a verdict's sign needs no more.
    assert table.columnViewportPosition(order[5]) < 525 - 40


def test_the_model_keeps_qts_rules(panel, qtmodeltester):
    qtmodeltester.check(panel.model)


def test_words_and_boxes_filter(panel, qtbot):
    panel.filters.words.setText("before change")
    qtbot.waitUntil(lambda: ids(panel) == [2])
    panel.filters.words.clear()
    qtbot.waitUntil(lambda: len(ids(panel)) == 5)
    for box, data, found in (
        (panel.filters.device, "NVIDIA H200 · CUDA 12.8.1", [4]),
        (panel.filters.verdict, "wrong", [4]),
        (panel.filters.shape, (2, 2, 2), [2]),
        (panel.filters.tag, "paper", [2]),
        (panel.filters.kernel, "tiled", [5, 4, 3, 2, 1]),
    ):
        place = [box.itemData(row) for row in range(box.count())].index(data)
        box.setCurrentIndex(place)
        box.activated.emit(place)
        assert ids(panel) == found
        box.setCurrentIndex(0)
        box.activated.emit(0)
    panel.filters.words.setText("nothing like it")
    qtbot.waitUntil(lambda: ids(panel) == [])
    assert panel.empty.isVisible()
    assert "change the search" in panel.empty.text()


def test_columns_sort_the_file(panel):
    panel.table.sortByColumn(6, Qt.SortOrder.DescendingOrder)
    assert ids(panel)[0] == 5
    panel.table.sortByColumn(4, Qt.SortOrder.AscendingOrder)
    assert ids(panel)[:3] == [1, 2, 3]
    panel.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert ids(panel) == [1, 2, 3, 4, 5]


def test_a_note_and_tags_are_edited_in_place(panel, qtbot):
    for column, text in ((NOTE, "after lunch"), (TAGS, "fast #paper")):
        index = panel.model.index(0, column)
        panel.table.setCurrentIndex(index)
        panel.table.edit(index)
        editor = panel.table.viewport().findChild(QLineEdit)
        qtbot.keyClicks(editor, text)
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: panel.table.viewport().findChild(QLineEdit) is None)
    qtbot.waitUntil(lambda: cells(panel, 0)[8:10] == ["fast paper", "after lunch"])


def test_what_stands_in_a_file_is_no_mark_up(panel, path, qtbot):
    note = "<img src='there.png'>"
    elsewhere(path, lambda store: store.annotate([5], note=note))
    qtbot.waitUntil(lambda: panel.model.row_at(0).note == note)
    assert cells(panel, 0)[NOTE] == note
    tip = panel.model.data(panel.model.index(0, NOTE), Qt.ItemDataRole.ToolTipRole)
    assert "&lt;img" in tip
    assert "<img" not in tip


def test_delete_and_undo(panel, state, qtbot):
    assert not panel.undo.isEnabled()
    select(panel, 4, 2)
    with qtbot.waitSignal(panel.told):
        panel.delete.click()
    qtbot.waitUntil(lambda: ids(panel) == [5, 3, 1])
    assert "2" in panel.undo.toolTip()
    panel.undo.click()
    qtbot.waitUntil(lambda: len(ids(panel)) == 5)
    assert not panel.undo.isEnabled()


def test_results_are_shown_again(panel, state):
    select(panel, 2, 3)
    panel.show_again.click()
    settled(state)
    assert {run.job.problem.m for run in state.book.runs} == {2, 3}
    assert state.shown.result is not None
    select(panel, 5)
    panel.table.activated.emit(panel.model.index(0, 0))
    settled(state)
    assert state.shown.job.problem.m == 64
    before = len(state.book.runs)
    panel.table.activated.emit(panel.model.index(0, NOTE))  # a double click there edits
    settled(state)
    assert len(state.book.runs) == before


@pytest.mark.parametrize("agreed", [True, False])
def test_a_strange_source_runs_only_if_a_person_agrees(panel, state, qtbot, monkeypatch, agreed):
    asked = []
    answer = QMessageBox.StandardButton.Yes if agreed else QMessageBox.StandardButton.Cancel

    def question(parent, title, text, *buttons):
        asked.append(text)
        return answer

    monkeypatch.setattr(QMessageBox, "question", question)
    select(panel, 5)
    panel.again.click()
    qtbot.waitUntil(lambda: not state.active)
    assert len(asked) == 1
    assert [run.job.variant.source for run in state.book.runs] == (
        ["__kernel void tiled() { /* <b>faster</b> */ }\n"] if agreed else []
    )


def test_a_known_kernel_runs_again_at_once(panel, state, path, qtbot, monkeypatch):
    monkeypatch.setattr(QMessageBox, "question", lambda *_: pytest.fail("asked"))
    known = state.catalog.variants[0]
    result = saved(32)
    job = replace(result.job, variant=known, parameters=default_parameters(known))
    elsewhere(path, lambda store: store.add(replace(result, job=job)))
    qtbot.waitUntil(lambda: ids(panel)[0] == 6)
    select(panel, 6)
    with qtbot.waitSignal(panel.told):
        panel.again.click()
    qtbot.waitUntil(lambda: len(state.book.runs) == 1)


def test_what_changed_between_two(panel, state):
    select(panel, 1)
    assert not panel.changes.isEnabled()
    select(panel, 5, 4)
    panel.changes.click()
    settled(state)
    dialog = panel.window().findChild(ChangesDialog)
    assert "result 4 to result 5" in dialog.title.text()
    text = dialog.text.toPlainText()
    assert "NVIDIA H200 · CUDA 12.8.1" in text
    assert "/* <b>faster</b> */" in text  # shown as it stands, not as mark-up
    assert "2 times faster" in dialog.speed.text()
    dialog.copy.click()
    assert "+__kernel void tiled() { /* <b>faster</b> */ }" in QGuiApplication.clipboard().text()
    dialog.close()


def test_details_of_a_saved_result(panel, state):
    select(panel, 4)
    panel.details.click()
    settled(state)
    dialog = panel.window().findChild(DetailsDialog)
    assert "NVIDIA H200" in dialog.title.text()
    assert state.book.runs == []
    dialog.close()


def test_rows_are_copied_as_text(panel):
    select(panel, 4, 2)
    panel.table.copy.trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("Time\tKernel\tParameters")
    assert len(lines) == 3
    assert lines[2].endswith("paper\tbefore the change\t12")


def test_what_another_window_saves_is_seen_and_what_is_selected_stays(panel, path, qtbot):
    select(panel, 2)
    elsewhere(path, lambda store: store.add(saved(9)))
    qtbot.waitUntil(lambda: ids(panel)[0] == 6)
    assert panel.table.chosen_ids() == [2]
    elsewhere(path, lambda store: store.delete([5]))
    qtbot.waitUntil(lambda: 5 not in ids(panel))
    assert panel.table.chosen_ids() == [2]


def test_a_file_that_is_only_read_can_be_looked_at(panel, state, tmp_path, monkeypatch):
    monkeypatch.setattr("gemmviz.core.store.files._writable", lambda _: False)
    other = tmp_path / "b.gemmviz"
    filled(other, 2)
    open_in(state, other)
    assert ids(panel) == [2, 1]
    select(panel, 1)
    assert panel.show_again.isEnabled()
    assert not panel.delete.isEnabled()
    assert not panel.model.flags(panel.model.index(0, NOTE)) & Qt.ItemFlag.ItemIsEditable


def test_without_a_file_the_panel_says_what_is_missing(qtbot, state):
    panel = HistoryPanel(state)
    qtbot.addWidget(panel)
    qtbot.addWidget(panel.tools)
    panel.show()
    panel.model.refresh()
    assert panel.empty.text() == "No results file is open."
    assert panel.model.rowCount() == 0
    assert panel.model.data(QModelIndex()) is None


def test_the_tab_switches_between_the_session_and_the_file(qtbot, state, path):
    open_in(state, path)
    tabs = shown_tabs(qtbot, state)
    tabs.setCurrentWidget(tabs.results)
    results = tabs.results
    assert results.tools.isVisible()
    results.switch.buttons["Saved"].click()
    assert results.history.isVisible()
    assert results.history.tools.isVisible()
    assert not results.tools.isVisible()
    assert list(results.history.model.ids) == [5, 4, 3, 2, 1]
    for theme in (LIGHT, DARK):
        tabs.set_theme(theme)
    results.switch.buttons["This session"].click()
    assert results.tools.isVisible()


def test_a_saved_row_is_no_baseline(qtbot, state, path, finish):
    open_in(state, path)
    tabs = shown_tabs(qtbot, state)
    finish()
    tabs.setCurrentWidget(tabs.results)
    tabs.results.choose_page("Saved")
    with qtbot.waitSignal(tabs.results.told):
        tabs._on_pin()
    assert state.book.baseline is None
    tabs.results.choose_page("This session")
    tabs._on_pin()
    assert state.book.baseline is state.book.runs[0]


def test_the_dialog_says_where_nothing_is_different(qtbot):
    dialog = ChangesDialog(("a", "b"), changes_between(saved(), saved()), LIGHT)
    qtbot.addWidget(dialog)
    assert "Nothing is different" in dialog.text.toPlainText()


def test_new_open_save_as_and_recent(state, path, tmp_path, monkeypatch, qtbot):
    files = ResultFiles(state.archive, state)
    new = tmp_path / "new"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(new), ""))
    assert not files.save_as.isEnabled()
    files.new.trigger()
    settled(state)
    assert state.archive.path == tmp_path / "new.gemmviz"
    assert files.save_as.isEnabled()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: (str(path), ""))
    files.open.trigger()
    settled(state)
    assert len(state.archive.store.rows()) == 5
    copy = tmp_path / "copy.gemmviz"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(copy), ""))
    with qtbot.waitSignal(state.archive.opened):
        files.save_as.trigger()
    assert state.archive.path == copy
    files.recent.aboutToShow.emit()
    names = [action.text() for action in files.recent.actions()][:3]
    assert names == ["copy.gemmviz", "a.gemmviz", "new.gemmviz"]
    files.recent.triggered.emit(files.recent.actions()[1])
    settled(state)
    assert state.archive.path == path
    told = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *words: told.append(words[2]))
    files.new.trigger()  # copy.gemmviz is there already
    assert "is there already" in told[-1]
    copy.write_text("nonsense")
    files.open_file(copy)
    settled(state)
    assert "no results file" in told[-1]
    assert state.archive.path == path


def test_the_status_bar_says_where_results_go(qtbot, state, path, monkeypatch, tmp_path):
    window = MainWindow(state)
    qtbot.addWidget(window)
    assert window.saved.text() == ""
    open_in(state, path)
    assert window.saved.text() == "Saved in a.gemmviz"
    assert window.windowTitle() == "a.gemmviz – gemmviz"
    monkeypatch.setattr("gemmviz.core.store.files._writable", lambda _: False)
    other = tmp_path / "b.gemmviz"
    filled(other, 1)
    open_in(state, other)
    assert window.saved.text() == "Saved in a.gemmviz"
    assert "may not be written" in state.archive.remark
    assert state.archive.remark.endswith(f"What is measured goes into {path}.")
    assert isinstance(window.saved, SavedLabel)
