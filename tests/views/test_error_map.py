from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage

from gemmviz.core.messages import Checked, ErrorsMapped
from gemmviz.core.model import Check, Failure
from gemmviz.views.charts.error_layers import Cells, _grid, _worst
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.error_scale import (
    DECADES,
    NO_NUMBER,
    NOT_COMPARED,
    WITHIN,
    classes_of,
    runs_of,
    scale_steps,
)
from gemmviz.views.charts.heading import Line
from gemmviz.views.charts.picture import draw_error_map_png
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import wrong_run
from tests.views.error_maps import error_map
from tests.views.test_export import result
from tests.views.window_parts import shown_tabs


@pytest.fixture
def chart(qtbot):
    chart = ErrorMapChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(700, 480)
    chart.show()
    chart.settle()
    return chart


def spot(chart, row: float, col: float) -> QPointF:
    return chart._plot.mapViewToScene(QPointF(col, -row))


def color_at(chart, row: float, col: float) -> str:
    """The colour of the screen a little beside the middle of a cell, where no line goes."""
    place = spot(chart, row + 0.45, col + 0.45)
    return chart.grab().toImage().pixelColor(int(place.x()), int(place.y())).name()


def test_errors_fall_into_decades_above_the_bound():
    excess = np.array([0.0, 1.0, 1.01, 10.0, 10.1, 1e5, 1e30, math.inf, math.nan], dtype="f4")
    assert classes_of(excess).tolist() == [
        WITHIN, WITHIN, 1, 1, 2, 5, DECADES, NO_NUMBER, NOT_COMPARED,
    ]  # fmt: skip


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_worse_errors_stand_out_more_evenly(theme):
    steps = scale_steps(theme)
    assert len({step.color for step in steps}) == len(steps)
    assert len({step.words for step in steps}) == len(steps)
    panel = QColor(theme.panel).lightnessF()
    away = [abs(QColor(step.color).lightnessF() - panel) for step in steps[1 : DECADES + 1]]
    assert away == sorted(away)
    assert steps[NOT_COMPARED].color == theme.panel


def test_runs_of_cells_are_found_row_by_row():
    mask = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
    assert runs_of(mask) == [(0, 0, 2), (0, 3, 4), (2, 0, 4)]


def test_a_pixel_of_several_values_shows_the_worst():
    excess = np.full((5, 7), 0.1)
    excess[3, 6] = 50.0
    excess[4, :2] = math.nan
    worst = _worst(excess, 2)
    assert worst.shape == (3, 4)
    assert worst[1, 3] == 50.0
    assert math.isnan(worst[2, 0])
    assert np.count_nonzero(worst > 1) == 1


def test_tiles_smaller_than_six_pixels_share_lines():
    assert _grid(16, 64, 0, 64, pixels=1.0) == [16, 32, 48]
    lines = _grid(16, 4096, 0, 4096, pixels=0.1)
    gaps = set(np.diff(lines).tolist())
    assert gaps == {256}
    assert _grid(16, 64, 20, 40, pixels=1.0) == [32]


def test_the_image_has_row_0_at_the_top_and_square_cells(chart):
    chart.set_map(error_map())
    chart.settle()
    steps = scale_steps(DARK)
    assert color_at(chart, 2, 2) == steps[WITHIN].color
    assert color_at(chart, 20, 4) == steps[3].color
    assert color_at(chart, 20, 20) == steps[WITHIN].color
    assert color_at(chart, 47, 20) == DARK.panel
    assert spot(chart, 40, 0).y() > spot(chart, 2, 0).y()
    across = spot(chart, 0, 30).x() - spot(chart, 0, 0).x()
    assert across == pytest.approx(spot(chart, 30, 0).y() - spot(chart, 0, 0).y(), rel=0.01)


def test_all_of_c_is_in_view_whatever_the_shape(chart):
    for rows, cols in ((48, 32), (17, 400), (600, 20)):
        chart.set_map(error_map(rows, cols))
        chart.settle()
        (left, right), (bottom, top) = chart._plot.viewRange()
        assert left <= 0
        assert right >= cols
        assert bottom <= -rows
        assert top >= 0


def test_pointing_at_a_cell_tells_all_of_it(chart):
    chart.set_map(error_map())
    chart.settle()
    chart.scene().sigMouseMoved.emit(spot(chart, 20.5, 4.5))
    text = chart._layer.spot.text
    for part in ("row 20, column 4", "is 1.52", "should be 2", "1,000 × the bound", "tile (1, 0)",
                 "there at (4, 4)"):  # fmt: skip
        assert part in text
    assert not chart.grab().isNull()
    chart.scene().sigMouseMoved.emit(spot(chart, 16.5, 0.5))
    assert "never written" in chart._layer.spot.text
    chart.scene().sigMouseMoved.emit(spot(chart, 47.5, 0.5))
    assert "not compared" in chart._layer.spot.text
    chart.scene().sigMouseMoved.emit(spot(chart, 2.5, 2.5))
    assert "within the bound" in chart._layer.spot.text
    chart.scene().sigMouseMoved.emit(spot(chart, -3, 2))
    assert chart._layer.spot is None


def test_a_value_that_stands_for_many_cells_says_so(chart):
    chart.set_map(error_map(step=2))
    chart.settle()
    chart.scene().sigMouseMoved.emit(spot(chart, 21.5, 5.5))
    assert "row 20, column 4" in chart._layer.spot.text
    assert "worst of 2 × 2" in chart._layer.spot.text


def test_the_right_button_and_home_show_all_again(qtbot, chart):
    chart.set_map(error_map())
    chart.settle()
    whole = chart._plot.viewRange()
    for reset in ("click", "home"):
        chart._plot.setRange(xRange=(2, 8), yRange=(-8, -2), padding=0)
        chart._plot.sigRangeChangedManually.emit([True, True])
        assert chart._plot.viewRange() != whole
        place = chart.mapFromScene(chart._plot.mapRectToScene(chart._plot.rect()).center())
        if reset == "click":
            qtbot.mouseClick(chart.viewport(), Qt.MouseButton.RightButton, pos=place)
        else:
            chart.home()
        assert chart._plot.viewRange() == whole


def test_axes_number_no_row_or_column_outside_of_c(chart):
    chart.set_map(error_map())
    chart.settle()
    rows, cols = chart._axes
    (left, right), (bottom, top) = chart._plot.viewRange()
    across = [value for _, level in cols.tickValues(left, right, 500) for value in level]
    down = [value for _, level in rows.tickValues(bottom, top, 300) for value in level]
    assert min(across) >= 0
    assert max(across) <= 32
    assert min(down) >= -48
    assert rows.tickStrings([-1000.0, 0.0], 1.0, 1000.0) == ["1,000", "0"]


def test_a_low_chart_leaves_words_out(chart):
    chart.set_map(error_map())
    chart.set_heading("", (Line("the pattern"), Line("the run")))
    assert len(chart._heading.text[1]) == 2
    chart.resize(600, 260)
    chart.settle()
    assert chart._heading.text == ("", (Line("the pattern"),))
    assert not chart.grab().isNull()
    chart.resize(600, 480)
    chart.settle()
    assert len(chart._heading.text[1]) == 2


def test_cells_without_a_number_are_hatched(chart):
    cells = np.full((4, 4), math.inf)
    chart._layer.set_cells(Cells(cells, 4, 4, (1, 1), (4, 4)))
    for item in (chart._plot, chart._scale):
        item.setVisible(True)
    chart._plot.setRange(xRange=(0, 4), yRange=(-4, 0), padding=0)
    chart.settle()
    image = chart.grab().toImage()
    seen = {
        image.pixelColor(int(place.x()) + dx, int(place.y())).name()
        for place in [spot(chart, 1.5, 1.5)]
        for dx in range(24)
    }
    assert scale_steps(DARK)[NO_NUMBER].color in seen
    assert len(seen) > 1


WRONG = {
    "check": Check("wrong", 48, 48, 32, cells_wrong=256),
    "failure": Failure("wrong", "Wrong."),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_error_map_is_drawn_to_a_file(qapp, tmp_path, theme):
    path = tmp_path / "map.png"
    draw_error_map_png(result(error_map=error_map(), **WRONG), path, theme=theme, scale=2)
    image = QImage(str(path))
    colors = LIGHT if theme == "light" else DARK
    assert (image.width(), image.height()) == (2400, 1600)
    steps = scale_steps(colors)
    seen = {image.pixelColor(x, y).name() for x in range(200, 1800, 7) for y in range(200, 1500, 7)}
    assert {steps[WITHIN].color, steps[3].color} <= seen


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "no error to map"),
        (WRONG, "left no map"),
        ({"check": None, "failure": Failure("build", "It does not compile.")}, "not compile"),
    ],
)
def test_a_run_without_a_map_gives_a_picture_that_says_why(
    qapp, tmp_path, monkeypatch, changes, words
):
    told = []

    def tell(chart, _path, **_):
        told.append((chart.is_empty(), chart.empty_text))

    monkeypatch.setattr("gemmviz.views.charts.picture.save_png", tell)
    draw_error_map_png(result(**changes), tmp_path / "map.png")
    empty, text = told[0]
    assert empty
    assert words in text


# In the window


def mapped_run(engine, job):
    """A wrong answer whose errors are mapped before it is timed."""
    for message in wrong_run(engine, job):
        yield message
        if isinstance(message, Checked):
            yield ErrorsMapped(job.id, error_map())


@pytest.fixture
def tabs(qtbot, state):
    return shown_tabs(qtbot, state)


def test_the_tab_says_why_there_is_no_map(tabs, finish):
    chart = tabs.error_map.chart
    assert "cell by cell" in chart.empty_text
    finish()
    assert chart.is_empty()
    assert "no error to map" in chart.empty_text
    assert tabs.currentWidget() is not tabs.error_map


def test_a_wrong_result_opens_its_map_once(tabs, state, engine, finish):
    engine.script = mapped_run
    finish()
    chart = tabs.error_map.chart
    assert tabs.currentWidget() is tabs.error_map
    assert tabs.chart is chart
    assert "One tile is wrong." in [line.text for line in chart._heading.text[1]]
    title, lines = tabs.error_map.title()
    assert title == "One tile is wrong."
    assert any("✗ wrong" in line.text for line in lines)
    tabs.setCurrentWidget(tabs.live)
    state.job_advanced.emit(state.shown.job.id)
    assert tabs.currentWidget() is tabs.live
    finish()
    assert tabs.currentWidget() is tabs.error_map


def test_a_zoom_into_a_map_outlasts_the_end_of_its_run_and_h_ends_it(tabs, state, engine, finish):
    engine.script = mapped_run
    finish()
    plot = tabs.error_map.chart._plot
    whole = plot.viewRange()
    plot.setRange(xRange=(2, 8), yRange=(-8, -2), padding=0)
    plot.sigRangeChangedManually.emit([True, True])
    zoomed = plot.viewRange()
    state.job_ended.emit(state.shown.job.id)
    assert plot.viewRange() == zoomed
    tabs._menus.home.trigger()
    assert plot.viewRange() == whole


def test_a_map_goes_with_its_run(tabs, state, engine, finish):
    engine.script = mapped_run
    finish()
    state.show(None)
    assert tabs.error_map.chart.is_empty()
    assert tabs.error_map.title() is None


def test_a_damaged_map_is_no_map(chart):
    chart.set_map(replace(error_map(), excess="eJw="))
    assert chart.is_empty()
    assert "damaged" in chart.empty_text
