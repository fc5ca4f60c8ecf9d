from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QMessageBox

from gemmviz.app.sweep_files import sweep_text
from gemmviz.core.policy import fixed
from gemmviz.core.sweep_file import read_sweep_file
from gemmviz.core.tuned import own_file, own_sets, tuned_parameters
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.export import save_png
from gemmviz.views.sweep_panel import PLAN, SweepPanel
from gemmviz.views.sweep_views import CELLS, CURVE, HEAT, LINES, SCATTER, VIEWS
from gemmviz.views.theme import DARK
from tests.app.fake_engine import H200, POCL
from tests.core.sweeps import kernel, make_report, make_sweep
from tests.views.window_parts import shown_tabs


@pytest.fixture
def panel(qtbot, state):
    state.select_device(POCL)
    state.choose_variant(kernel("register_2d"))
    state.change(state.setup.with_all_sizes(256))
    made = shown(qtbot, state)
    yield made
    made.trial.close()


def shown(qtbot, state) -> SweepPanel:
    made = SweepPanel(state)
    qtbot.addWidget(made)
    made.set_theme(DARK)
    made.resize(820, 520)
    made.show()
    return made


def show_report(panel, sweep, report=None) -> None:
    """As if this sweep had been measured."""
    panel.trial.sweep, panel.trial.report = sweep, report or make_report(sweep)
    panel.catch_up()


def tick(box) -> None:
    box.click()


def pick(panel_pick, name: str) -> None:
    combo = panel_pick.combo
    row = next(row for row in range(combo.count()) if combo.itemText(row) == name)
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def hold(others, dimension: str, text: str) -> None:
    """Choose an entry of the menu of what is held."""
    menu = next(a.menu() for a in others.menu().actions() if a.text() == dimension)
    next(action for action in menu.actions() if action.text() == text).trigger()


@pytest.fixture
def agree(monkeypatch):
    """Answers yes to every question, and remembers them."""
    asked: list[str] = []

    def yes(parent, title, text):
        asked.append(text)
        return QMessageBox.StandardButton.Yes

    monkeypatch.setattr(QMessageBox, "question", yes)
    return asked


@pytest.fixture
def warned(monkeypatch):
    heard: list[str] = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *about: heard.append(about[-1]))
    return heard


# --- the form


def test_kernels_are_found_by_a_part_of_their_names(panel):
    form = panel.form

    def listed() -> list[str]:
        rows = (form.kernels.item(row) for row in range(form.kernels.count()))
        return [item.text() for item in rows if not item.isHidden()]

    whole = listed()
    form.filter.setText("VECTORS of")
    assert listed() == ["Ladder: one idea a step", "Vectors of four"]
    form.filter.setText("register_2d")  # by its id
    assert listed() == ["Ladder: one idea a step", "2-D register blocking"]
    form.filter.clear()
    assert listed() == whole


def test_a_wide_form_has_room_for_the_names_of_kernels(qtbot, panel):
    form, wide = panel.form, panel.form.kernels.width()

    def places() -> tuple[QPoint, QPoint]:
        """Of the last thing that every sweep has, and of the values of the parameters."""
        values = next(iter(form.values.values()))
        return form.last.mapTo(form, QPoint()), values.mapTo(form, QPoint())

    qtbot.waitUntil(lambda: places()[1].x() > places()[0].x())
    assert places()[1].y() < places()[0].y()
    panel.resize(540, 300)
    qtbot.waitUntil(lambda: places()[1].y() > places()[0].y())
    assert form.kernels.width() < wide


def test_the_form_shows_the_setup_and_counts_it(qtbot, panel):
    form = panel.form
    qtbot.waitUntil(lambda: panel.words.text().startswith("972 configurations, "), timeout=10_000)
    assert form.shapes.text() == "256"
    assert [box.isChecked() for box in form.values["register_2d", "BM"].boxes.values()] == [
        True
    ] * 3
    checked = [item.text() for item in form._items() if item.checkState() == Qt.CheckState.Checked]
    assert checked == ["2-D register blocking"]
    assert form.devices.boxes[POCL.key].isChecked()
    assert not form.devices.boxes[H200.key].isChecked()
    assert panel.start.isEnabled()
    for name, values in (("BM", (32, 128)), ("BN", (32, 128)), ("BK", (8, 16)), ("TM", (2, 8)),
                         ("TN", (2, 8)), ("PAD", (1, 2, 4))):  # fmt: skip
        for value in values:
            tick(form.values["register_2d", name].boxes[value])
    qtbot.waitUntil(lambda: panel.words.text().startswith("1 configuration"), timeout=10_000)
    assert panel.trial.drafted.axes[0][1] == (
        ("BM", (64,)), ("BN", (64,)), ("BK", (32,)), ("TM", (4,)), ("TN", (4,)), ("PAD", (0,)),
    )  # fmt: skip


def test_kernels_sizes_elements_devices_and_policies_are_chosen(panel):
    form, trial = panel.form, panel.trial
    item = next(each for each in form._items() if each.text() == "Tiled in local memory")
    item.setCheckState(Qt.CheckState.Checked)
    assert ("tiled", "TS") in form.values
    tick(form.elements.boxes["double"])
    tick(form.devices.boxes[H200.key])
    form.shapes.setText("64, 128")
    form.shapes.textEdited.emit("64, 128")
    form.strategy.option_chosen.emit("exhaustive")
    form.measure.policy_chosen.emit(fixed(3))
    sweep = trial.drafted
    assert {variant.id for variant in sweep.variants} == {"register_2d", "tiled"}
    assert len(sweep.problems) == 4
    assert len(sweep.devices) == 2
    assert (sweep.strategy, sweep.policy.launches) == ("exhaustive", 3)
    form.strategy.option_chosen.emit("model")
    assert trial.drafted.strategy == "model"
    assert "A quarter" in form.strategy.toolTip()
    item.setCheckState(Qt.CheckState.Unchecked)
    assert ("tiled", "TS") not in form.values
    panel.preset.click()
    assert form.shapes.text() == "256"
    assert not form.elements.boxes["double"].isChecked()


def test_what_is_wrong_is_said_where_it_is(panel):
    panel.form.shapes.setText("many")
    panel.form.shapes.textEdited.emit("many")
    assert "'many' is no size" in panel.words.text()
    assert panel.words.property("state") == "bad"
    assert panel.form.shapes.property("state") == "bad"
    assert not panel.start.isEnabled()
    assert panel.start.toolTip() == panel.words.text()


def test_a_sweep_is_saved_as_a_file_and_opened_again(panel, tmp_path, monkeypatch, warned):
    form, trial = panel.form, panel.trial
    tick(form.values["register_2d", "BM"].boxes[32])
    trial.change(replace(trial.draft, shapes="64 8x16x32", elements=("float", "double")))
    file = tmp_path / "one.toml"
    for dialog in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, dialog, lambda *_: (str(file), ""))
    form.save.click()
    wanted = trial.drafted
    assert read_sweep_file(file).sweep(wanted.variants, wanted.devices) == wanted
    trial.preset()
    assert trial.drafted != wanted
    form.open.click()
    assert trial.drafted == wanted
    dotted = replace(wanted.variants[0], id="my.own kernel")
    named = replace(wanted, variants=(dotted,), axes=((dotted.id, wanted.axes[0][1]),))
    file.write_text(sweep_text(named, panel._state, tmp_path))
    assert read_sweep_file(file).sweep((dotted,), named.devices) == named
    assert not form.values["register_2d", "BM"].boxes[32].isChecked()
    assert not warned
    file.write_text('kernels = ["nothing"]\nsizes = [64]\n')
    form.open.click()
    file.write_text('kernels = ["tiled"]\nsizes = [0]\n')
    form.open.click()
    file.write_text('kernels = ["tiled"]\nsizes = [64]\ndevices = ["Nobody\'s"]\n')
    form.open.click()
    trial.change(replace(trial.draft, policy=fixed(3)))
    form.save.click()
    assert [text.split(":")[0] for text in warned] == [
        "There is no kernel nothing.", "one.toml",
        'No platform and no device has "Nobody\'s" in its name.', "A file names its policy",
    ]  # fmt: skip


# --- the views


def test_a_finished_sweep_is_shown_in_every_view(panel):
    show_report(panel, make_sweep(("register_2d", "tiled"), (64, 128, 256)))
    for view in VIEWS:
        panel.page.buttons[view].click()
        assert panel.views.view == view
        assert not panel.chart.is_empty()
    views = panel.views
    assert len(views.curve.curves) == 2
    assert views.table.model().rowCount() == len(panel.trial.report.cells)
    hidden = [name for column, name in enumerate(views.model.names)
              if views.table.isColumnHidden(column)]  # fmt: skip
    assert hidden == ["Element", "Device"]
    first = views.table.model().index(0, views.model.names.index("State")).data()
    assert first in ("★ recommended", "□ among the best")
    panel.page.buttons[PLAN].click()
    assert panel.planning
    assert panel.preset.isVisible()


def test_axes_figure_and_what_is_held_are_picked(panel):
    show_report(panel, make_sweep(sizes=(64, 256)))
    panel.choose_page(HEAT)
    views = panel.views
    assert (views.heat.grid.across.name, views.heat.grid.down.name) == ("BM", "BN")
    assert views.others.held == {"Shape": "64³"}
    assert views.others.text() == "64³, best of BK, TM, PAD  ▾"
    pick(views.across, "BN")
    assert views.up.name != "BN"
    pick(views.up, "nothing")
    assert views.heat.grid.rows == 1
    pick(views.up, "Shape")
    assert views.heat.grid.down.texts == ("64³", "256³")
    pick(views.up, "BK")
    pick(views.figure, "Time")
    assert views.heat.grid.metric.name == "Time"
    hold(views.others, "Shape", "256³")
    shown = [place.cell for place in views.heat.grid.cells if place.cell is not None]
    assert {cell.configuration.problem.m for cell in shown} == {256}
    hold(views.others, "PAD", "4")
    assert views.others.held == {"Shape": "256³", "PAD": 4}
    assert "256 x 256 x 256" not in panel.words.text()
    hold(views.others, "PAD", "Best of all")
    assert views.others.held == {"Shape": "256³"}
    panel.choose_page(SCATTER)
    pick(views.by, "BK")
    assert views.scatter.scatter.by.name == "BK"
    hold(views.filter, "BK", "8")
    assert {mark.shape for mark in views.scatter.layer.marks} == {0}
    pick(views.rightwards, "Group size")
    assert views.scatter.scatter.x.name == "Group size"


def test_a_picture_tells_what_its_own_view_holds(panel):
    show_report(panel, make_sweep(sizes=(64, 256)))
    panel.choose_page(SCATTER)
    hold(panel.views.filter, "BK", "8")
    assert "BK 8" in panel.title()[1][0].text
    panel.choose_page(HEAT)
    hold(panel.views.others, "Shape", "256³")
    small, large = (winner.words for winner in panel.trial.report.winners)
    told = [line.text for line in panel.title()[1]]
    assert large in told
    assert small not in told
    panel.choose_page(CURVE)
    assert not any("256³" in line.text and "best of" in line.text for line in panel.title()[1])
    panel.choose_page(CELLS)
    assert panel.chart.export_title.startswith(HEAT)


def test_a_chart_without_anything_in_it_is_not_exported(panel):
    show_report(panel, make_sweep())
    panel.choose_page(HEAT)
    assert panel.export.isEnabled()
    panel.choose_page(CURVE)  # one size is no curve
    assert not panel.export.isEnabled()


def test_what_won_is_on_top_of_what_is_looked_at(panel):
    show_report(panel, make_sweep(sizes=(64, 256)))
    small, large = (winner.words for winner in panel.trial.report.winners)
    panel.choose_page(HEAT)
    assert panel.words.text() == small
    hold(panel.views.others, "Shape", "256³")
    assert panel.words.text() == large
    title, lines = panel.title()
    assert title == "2-D register blocking, 64³ and 256³ float on pthread-cpu · PoCL 3.0-rc2"
    assert [line.text for line in lines][1:] == [large]
    assert lines[0].text == "Shape 256³; best of BK, TM, PAD"


def test_a_clicked_cell_is_told_of_and_stays_up_to_date(qtbot, state, panel, engine):
    sweep = make_sweep(sizes=(64,))
    show_report(panel, sweep, make_report(sweep, 0.5))
    panel.choose_page(HEAT)
    cell = next(each for each in panel.trial.report.cells if each.state == "planned")
    panel.views.heat.cell_clicked.emit(cell)
    details = panel.details
    assert details.isVisible()
    assert details.state.text() == "Not measured yet"
    assert not details.open.isEnabled()
    panel.trial.report = make_report(sweep)
    panel.catch_up()
    assert details.state.text() != "Not measured yet"
    details.use.click()
    assert state.setup.parameters == cell.configuration.parameters
    details.hide_button.click()
    assert not details.isVisible()
    panel.choose_page(CELLS)
    panel.views.table.clicked.emit(panel.views.table.model().index(0, 0))
    assert details.isVisible()
    assert details.texts["Registers"] == "40"


def test_a_failed_cell_tells_why(panel):
    show_report(panel, make_sweep())
    cell = next(each for each in panel.trial.report.cells if each.state == "failed")
    panel.choose_page(HEAT)
    panel.views.heat.cell_clicked.emit(cell)
    assert panel.details.state.property("state") == "bad"
    assert "CL_OUT_OF_RESOURCES" in panel.details.reason.text()
    assert not panel.details.save.isEnabled()
    assert "best set" in panel.details.save.toolTip()


def test_the_recommended_one_becomes_the_default(panel, agree, tmp_path):
    show_report(panel, make_sweep(sizes=(64,)))
    panel.choose_page(HEAT)
    (winner,) = panel.trial.report.winners
    told = []
    panel.told.connect(told.append)
    assert not own_sets()
    try:
        panel.save.click()
        device = panel.trial.sweep.devices[0]
        chosen = tuned_parameters(kernel("register_2d"), winner.problem, device)
        assert chosen == winner.recommended.parameters
        assert f"BM={dict(chosen)['BM']}" in agree[0]
        assert str(own_file()) in agree[0]
        assert told == [f"Saved {own_file()}"]
        cell = next(each for each in panel.trial.report.cells
                    if each.configuration == winner.best_set[-1])  # fmt: skip
        panel.views.heat.cell_clicked.emit(cell)
        panel.details.save.click()
        again = tuned_parameters(kernel("register_2d"), winner.problem, device)
        assert again == winner.best_set[-1].parameters
    finally:
        own_file().unlink(missing_ok=True)


def test_a_default_that_cannot_be_written_is_said(panel, agree, warned, monkeypatch, tmp_path):
    show_report(panel, make_sweep(sizes=(64,)))
    panel.choose_page(HEAT)
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    monkeypatch.setattr("gemmviz.core.defaults.own_file", lambda: blocked / "tuned.toml")
    panel.save.click()
    assert "cannot be written" in warned[0]


def test_the_tab_is_there_and_exports_the_chart_in_front(qtbot, state, tmp_path):
    tabs = shown_tabs(qtbot, state)
    tabs.setCurrentWidget(tabs.sweep)
    assert tabs.tabText(tabs.currentIndex()) == "Sweep"
    assert isinstance(tabs.chart, HeatMapChart)
    show_report(tabs.sweep, make_sweep(("register_2d", "tiled"), (64, 128)))
    views = ((HEAT, "heat"), (CURVE, "sizes"), (SCATTER, "scatter"), (LINES, "parallel"))
    for view, name in views:
        tabs.sweep.choose_page(view)
        chart, title = tabs._picture()
        assert chart is tabs.sweep.views.chart
        assert chart.export_title.startswith(f"{view} of 2-D register blocking and Tiled")
        save_png(chart, tmp_path / f"{name}.png", title=title)
        assert QImage(str(tmp_path / f"{name}.png")).width() == chart.width()
    tabs.sweep.trial.close()
