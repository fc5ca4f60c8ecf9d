"""What a picture that is opened again brings to the front, and tabs without a chart to export."""

from __future__ import annotations

import pytest

from gemmviz.app.opening import Opener
from gemmviz.core.kept_sweep import KeptSweep, report_of
from gemmviz.core.result_document import document_parts, picture_text
from gemmviz.core.sweep_dimensions import describe_place
from gemmviz.core.sweep_map import map_axes
from gemmviz.views.charts.gallery import draw_exhibit
from gemmviz.views.charts.picture import draw_error_map_png, save_drawings
from gemmviz.views.charts.sweep_pictures import heat_maps
from gemmviz.views.export_dialog import ExportDialog
from gemmviz.views.sweep_views import HEAT
from tests.app.archives import settled
from tests.app.fake_engine import WRONG
from tests.core.store.saved import saved
from tests.core.test_kept_sweep import held
from tests.core.test_winners import NAMES, SWEEP
from tests.views.error_maps import error_map
from tests.views.window_parts import shown_tabs


@pytest.fixture
def tabs(qtbot, state):
    return shown_tabs(qtbot, state)


def opened(state, tabs, path) -> list[str]:
    """Opens a file as the window does; what the log says of it."""
    said, told = [], []
    state.line_logged.connect(said.append)
    opener = Opener(state)
    opener.ended.connect(told.append)
    opener.open([path])
    settled(state)
    state.line_logged.disconnect(said.append)
    assert told[0].problems == ()
    tabs.show_document(told[0].document)
    return [line.text for line in said]


def heat_map(tmp_path):
    """The picture of a sweep whose results were kept."""
    results = tuple(held())
    kept = KeptSweep(SWEEP, report_of(SWEEP, results), results)
    return save_drawings(heat_maps(kept), tmp_path / "hm.png")[0]


def test_a_heat_map_opens_as_the_sweep_it_shows(state, tabs, tmp_path):
    path = heat_map(tmp_path)
    assert f"{len(held())} results from hm.png" in opened(state, tabs, path)
    assert tabs.currentWidget() is tabs.sweep
    assert tabs.sweep.views.view == HEAT
    grid = tabs.sweep.views.heat.grid
    assert (grid.across.name, grid.down.name) == map_axes(SWEEP, tabs.sweep.trial.report)
    assert [place.cell.configuration for place in grid.cells if place.recommended] == [NAMES[0]]
    assert tabs.sweep.words.text() == tabs.sweep.trial.report.winners[0].words
    tabs.sweep.trial.open(NAMES[0])  # is one of the runs that came, not another one
    assert state.shown in state.book.runs
    assert len(state.book.runs) == len(held())
    assert state.shown.job.parameters == NAMES[0].parameters


def test_the_window_exports_a_sweep_that_opens_as_one(state, tabs, tmp_path):
    opened(state, tabs, heat_map(tmp_path))
    tabs._on_export_chart()
    (dialog,) = tabs.window().findChildren(ExportDialog)
    again = tmp_path / "again.svg"
    dialog.file.setText(str(again))
    dialog._save.click()
    state.book.clear()
    tabs.sweep.trial.sweep = None
    opened(state, tabs, again)
    shown = tabs.sweep.trial.sweep
    assert describe_place(shown, NAMES[0]) == describe_place(SWEEP, NAMES[0])


def test_a_sweep_under_way_is_not_replaced(state, tabs, tmp_path, monkeypatch):
    monkeypatch.setattr(type(tabs.sweep.trial), "running", property(lambda _: True))
    opened(state, tabs, heat_map(tmp_path))
    assert tabs.sweep.trial.sweep is None
    assert tabs.currentWidget() is tabs.results


def test_a_chart_of_runs_comes_to_the_front_and_results_else(qapp, state, tabs, tmp_path):
    results = [saved(64), saved(128)]
    for name, panel in (("compare", tabs.compare), ("distribution", tabs.distribution),
                        ("sizes", tabs.results), ("live", tabs.live)):  # fmt: skip
        path = tmp_path / f"{name}.png"
        draw_exhibit(name, results if name in ("compare", "sizes") else results[:1], path)
        opened(state, tabs, path)
        assert tabs.currentWidget() is panel, name
    path = tmp_path / "wrong.png"
    draw_error_map_png(saved(check=WRONG, error_map=error_map()), path)
    opened(state, tabs, path)
    assert tabs.currentWidget() is tabs.error_map
    path = tmp_path / "r.json"
    path.write_text("".join(document_parts(enumerate(results, start=1))))
    assert "2 results from r.json" in opened(state, tabs, path)
    assert tabs.currentWidget() is tabs.results


def test_an_unknown_chart_or_sweep_opens_its_results(state, tabs, tmp_path):
    path = tmp_path / "b.json"
    path.write_text(picture_text([saved(), saved(128)], chart="Pie", sweep="nonsense"))
    opened(state, tabs, path)
    assert tabs.currentWidget() is tabs.results


@pytest.mark.parametrize("act", ["_on_export_chart", "_on_copy_chart"])
def test_a_tab_without_a_chart_says_where_its_table_is_saved(qtbot, tabs, finish, act):
    finish()
    tabs.setCurrentWidget(tabs.results)
    with qtbot.waitSignal(tabs.told) as said:
        getattr(tabs, act)()
    assert said.args[0].startswith("There is no chart in this tab: ")
    assert "Ctrl+Shift+E" in said.args[0]
    assert tabs.window().findChildren(ExportDialog) == []


def test_an_empty_chart_is_not_offered(qtbot, tabs):
    tabs.setCurrentWidget(tabs.live)
    with qtbot.waitSignal(tabs.told) as said:
        tabs._on_export_chart()
    assert said.args == [f"This chart is empty: {tabs.live.chart.empty_text}"]
    assert tabs.window().findChildren(ExportDialog) == []
