from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from gemmviz.core.model import Failure
from gemmviz.core.policy import fixed
from gemmviz.views.charts import bars
from gemmviz.views.charts.bars import Bar, place_bars
from gemmviz.views.charts.colors import COLORS, ColorBook, Look
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.legend import Entry, Legend
from gemmviz.views.compare_panel import bars_of, describe_comparison
from gemmviz.views.theme import DARK

NAIVE = Bar("GPU one", "naive", 2e11, 1.9e11, 2.1e11)
TILED = Bar("GPU one", "tiled", 1.84e12, 1.7e12, 2.0e12)
OTHER = Bar("GPU two", "tiled", 3e12, 2.9e12, 3.1e12)


@pytest.fixture
def chart(qtbot):
    chart = CompareChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(600, 400)
    chart.show()
    chart.settle()
    return chart


def column(chart, index: int):
    """The pixels of the screen straight above the zero of a bar, from the top of the plot down."""
    chart.settle()
    bar = chart._layer.bars[index]
    foot = chart._plot.mapViewToScene(QPointF(bar.center - bar.width / 4, 0.0))
    image = chart.grab().toImage()
    top = int(chart._plot.mapRectToScene(chart._plot.rect()).top())
    return [image.pixelColor(int(foot.x()), y).name() for y in range(top + 1, int(foot.y()) - 1)]


def test_bars_stand_in_groups_of_the_device_or_of_the_kernel(chart):
    chart.set_bars((NAIVE, TILED, OTHER))
    assert chart._names._names == ("GPU one", "GPU two")
    assert [round(placed.center) for placed in chart._layer.bars] == [0, 0, 1]
    chart.set_grouping("kernel")
    assert chart._names._names == ("naive", "tiled")
    assert [round(placed.center) for placed in chart._layer.bars] == [0, 1, 1]


def test_a_name_keeps_its_colour_in_every_chart(qtbot):
    devices, kernels = ColorBook(), ColorBook()
    tiled = kernels.color("tiled")
    for shown in ((NAIVE, TILED, OTHER), (OTHER,)):
        chart = CompareChart(devices=devices, kernels=kernels)
        qtbot.addWidget(chart)
        chart.set_bars(shown)
        assert chart._layer.bars[-1].look.color == tiled
        chart.set_grouping("kernel")
        assert chart._layer.bars[-1].look.color == devices.color(shown[-1].device)


def test_a_colour_key_stands_for_the_kernel(chart):
    chart.set_bars((NAIVE, Bar("GPU one", "naive TS=8", 1e12, color_key="naive")))
    first, second = chart._layer.bars
    assert first.look == second.look
    assert [first.number, second.number] == ["1", "2"]
    assert [(entry.number, entry.text) for entry in chart._legend._entries] == [
        ("1", "naive"),
        ("2", "naive TS=8"),
    ]


def test_a_lone_series_needs_no_number(chart):
    chart.set_bars((TILED, OTHER))
    assert [placed.number for placed in chart._layer.bars] == ["", ""]
    assert chart._layer.footroom() == 0
    chart.set_grouping("kernel")
    assert [placed.number for placed in chart._layer.bars] == ["1", "2"]
    chart.settle()
    zero = chart._plot.mapViewToScene(QPointF(0, 0)).y()
    foot = chart._plot.mapRectToScene(chart._plot.rect()).bottom()
    assert foot - zero == pytest.approx(chart._layer.footroom(), abs=1)


def test_from_the_ninth_series_on_colours_come_with_stripes(chart):
    bars = tuple(Bar("GPU one", f"kernel {n}", 1e12) for n in range(4 * COLORS))
    chart.set_bars(bars)
    looks = [placed.look for placed in chart._layer.bars]
    assert len(set(looks)) == len(bars)
    assert [look.pattern for look in looks[COLORS - 1 : COLORS + 1]] == [0, 1]
    chart.resize(1800, 400)
    plain, striped = set(column(chart, 0)), set(column(chart, COLORS))
    assert DARK.panel in striped
    assert looks[COLORS].color in striped
    assert looks[0].color in plain


def test_a_bar_is_as_tall_as_its_value(chart):
    chart.set_bars((NAIVE, TILED, OTHER))
    bars = chart._layer.bars
    heights = [column(chart, index).count(bars[index].look.color) for index in range(3)]
    assert heights[2] / heights[1] == pytest.approx(3 / 1.84, abs=0.1)
    assert heights[1] / heights[0] == pytest.approx(9.2, abs=1.5)


def test_an_interval_is_drawn_as_whiskers(chart):
    chart.set_bars((Bar("GPU one", "tiled", 1e12),))
    without = chart.grab().toImage()
    chart.set_bars((Bar("GPU one", "tiled", 1e12, 0.8e12, 1e12),))
    image = chart.grab().toImage()
    ink = QColor(DARK.text).rgb()
    placed = chart._layer.bars[0]
    for value in (0.8e12, 0.9e12):
        spot = chart._plot.mapViewToScene(QPointF(placed.center, value))
        near = [(int(spot.x()) + dx, int(spot.y()) + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        assert any(image.pixel(*place) == ink for place in near)
        assert not any(without.pixel(*place) == ink for place in near)


def test_a_wrong_result_is_hatched_and_said_to_be_so(chart):
    chart.set_bars((Bar("GPU one", "naive", 1e12), Bar("GPU one", "tiled", 1e12, struck=True)))
    solid, hatched = column(chart, 0), column(chart, 1)
    color = chart._layer.bars[1].look.color
    assert solid.count(chart._layer.bars[0].look.color) > 0.8 * len(solid)
    assert hatched.count(color) < 0.3 * len(hatched)
    assert chart._legend._entries[-1].hatched
    assert "wrong result" in chart._legend._entries[-1].text


def test_a_bar_shows_the_speed_up_that_it_is_given_and_no_other(chart):
    chart.set_bars((NAIVE, replace(TILED, speed_up=9.2), OTHER))
    assert [placed.speed_up for placed in chart._layer.bars] == ["", "9.20×", ""]


@pytest.mark.parametrize("count", [1, 3, 12, 60])
def test_labels_stay_inside_however_many_bars_there_are(chart, count):
    bars = tuple(Bar("GPU one", f"kernel {n}", (n + 1) * 1e11, color_key="k") for n in range(count))
    chart.set_bars(tuple(replace(bar, speed_up=n + 1.0) for n, bar in enumerate(bars)))
    chart.settle()
    tallest = chart._plot.mapViewToScene(QPointF(0, count * 1e11)).y()
    room = tallest - chart._plot.mapRectToScene(chart._plot.rect()).top()
    assert room >= chart._layer.headroom() - 1
    assert not chart.grab().isNull()


def test_bars_of_one_chart_are_equally_wide_and_never_overlap():
    white = Look("#ffffff")
    groups = [[(NAIVE, white, "")], [(TILED, white, "")] * 4, []]
    placed = place_bars(groups)
    assert len({bar.width for bar in placed}) == 1
    for left, right in itertools.pairwise(placed):
        assert right.center - left.center >= left.width
    assert placed[0].center == 0
    assert all(abs(bar.center - 1) + bar.width / 2 < 0.5 for bar in placed[1:])


def test_pointing_at_a_bar_tells_more(chart):
    chart.set_bars((NAIVE, TILED, Bar("GPU two", "tiled", math.nan, note="refused")))
    chart.settle()
    for index, placed in enumerate(chart._layer.bars):
        spot = chart._plot.mapViewToScene(QPointF(placed.center, 1e11))
        chart.scene().sigMouseMoved.emit(spot)
        assert chart._layer.pointed is chart._layer.bars[index]
        assert not chart.grab().isNull()
    chart.scene().sigMouseMoved.emit(QPointF(1, 1))
    assert chart._layer.pointed is None


def test_pointing_at_a_bar_of_few_launches_tells_of_a_range(chart, monkeypatch):
    told = []

    def tell(*words, **_):
        told.append(words[2])

    monkeypatch.setattr(bars, "draw_chip", tell)
    for interval in ("95 %", "range"):
        chart.set_bars((replace(TILED, interval=interval),))
        chart.settle()
        chart.scene().sigMouseMoved.emit(chart._plot.mapViewToScene(QPointF(0, 1e11)))
        chart.grab()
        assert f"{interval}: 1.70 TFLOP/s" in told[-1]


def test_runs_are_bars_with_the_speed_up_of_the_table(state, finish):
    book = state.book
    finish()
    finish()
    state.change(state.setup.with_all_sizes(64))
    finish()
    book.pin_baseline(book.runs[0])
    made = bars_of(book)
    assert [bar.speed_up for bar in made] == [1.0, 1.0, None]
    assert [bar.kernel[-2:] for bar in made] == ["#1", "#2", "at"]
    assert len({bar.color_key for bar in made}) == 1
    assert "× against" in describe_comparison(book)
    book.tick(book.runs[0], False)
    book.tick(book.runs[1], False)
    assert describe_comparison(book) == "64³ float"


def test_few_launches_have_a_range_and_an_early_end_is_hatched(state, engine, finish):
    state.change(replace(state.setup, policy=fixed(3)))
    finish()
    engine.failure = Failure("hang", "A launch took too long.")
    finish()
    state.book.tick(state.book.runs[1], True)
    few, early = bars_of(state.book)
    assert few.interval == "range"
    assert not few.struck
    assert early.struck
    assert "ended early" in early.note


def test_a_legend_wraps_to_its_width(qapp):
    legend = Legend()
    legend.set_entries(tuple(Entry(f"a rather long kernel name {n}") for n in range(6)))
    legend.resize(500, 10)
    rows = {place.y() for _, place, _ in legend._placed()}
    assert len(rows) == 3
    assert legend.minimumHeight() >= 60
    legend.set_entries(tuple(Entry(f"kernel {n}") for n in range(100)))
    *shown, (last, _, text) = legend._placed()
    assert legend.minimumHeight() <= 100
    assert text == f"{100 - len(shown)} more"
    assert last.look is None
    legend.set_entries(())
    assert legend.minimumHeight() == 0


def test_names_below_the_bars_take_only_the_lines_they_need(chart):
    short = (Bar("H200", "tiled", 4e12), Bar("EPYC", "tiled", 1e12))
    chart.set_bars(short)
    low = chart._names.maximumHeight()
    name = "a device with a name that goes on and on and wraps into several lines at any width " * 3
    chart.set_bars((*short, Bar(name, "tiled", 2e12)))
    assert chart._names.maximumHeight() > low
