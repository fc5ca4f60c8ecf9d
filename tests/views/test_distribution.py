from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor

from gemmviz.core.policy import UNTIL_STOPPED
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.histogram import FEWEST_BINS, MOST_BINS, histogram
from gemmviz.views.charts.trace import POINTS
from gemmviz.views.distribution_panel import DistributionPanel
from gemmviz.views.pace import Pace
from gemmviz.views.theme import DARK, LIGHT
from tests.app.fake_engine import endless_run, wrong_run


def two_modes(count: int = 1000) -> np.ndarray:
    """Durations around 1 ms and, a third of them, around 1.2 ms; the first is a slow outlier."""
    noise = np.random.default_rng(7).normal(0, 0.01, count)
    seconds = 1e-3 * np.where(np.arange(count) % 3 == 0, 1.2, 1.0) * (1 + noise)
    seconds[0] = 20e-3
    return seconds


# The bins


@given(
    st.lists(st.floats(1e-7, 10.0), min_size=1, max_size=300),
    st.booleans(),
)
def test_every_duration_is_in_a_bin_or_counted_beyond_one_end(seconds, log):
    values = np.array(seconds)
    shape = histogram(values, log=log)
    assert int(shape.counts.sum()) + shape.below + shape.above == len(values)
    assert (np.diff(shape.edges) > 0).all()
    assert len(shape.counts) <= MOST_BINS
    assert shape.below == np.count_nonzero(values < shape.edges[0])


@pytest.mark.parametrize("count", [1, 2, 50, 5000, 200_000])
def test_bins_follow_freedman_and_diaconis_within_limits(count):
    seconds = np.abs(np.random.default_rng(1).normal(1e-3, 1e-5, count))
    shape = histogram(seconds)
    bins = len(shape.counts)
    assert FEWEST_BINS <= bins <= MOST_BINS
    if count == 5000:
        q1, q3 = np.quantile(seconds, (0.25, 0.75))
        wanted = 2 * (q3 - q1) / np.cbrt(count)
        assert shape.edges[1] - shape.edges[0] == pytest.approx(wanted, rel=0.1)


def test_equal_durations_still_stand_on_an_axis():
    shape = histogram(np.full(40, 2e-3))
    assert shape.counts.max() == 40
    assert shape.edges[0] < 2e-3 < shape.edges[-1]


def test_an_outlier_is_counted_beyond_the_edge_and_a_second_mode_is_not():
    shape = histogram(two_modes())
    assert shape.above == 1
    assert shape.edges[-1] > 1.2e-3


def test_a_coarse_clock_shows_no_comb():
    ticks = np.random.default_rng(2).poisson(40, 20_000)
    shape = histogram(1e-5 + 32e-9 * ticks)
    filled = shape.counts[(shape.edges[:-1] > 1e-5 + 32e-9 * 34) & (shape.edges[1:] < 1.152e-5)]
    assert len(filled) > 3
    assert (np.abs(np.diff(filled)) < 0.3 * filled[1:]).all()
    steps = (shape.edges[1] - shape.edges[0]) / 32e-9
    assert steps == pytest.approx(round(steps))


def test_logarithmic_bins_are_equally_wide_in_the_logarithm():
    shape = histogram(np.geomspace(1e-6, 1e-3, 500), log=True)
    widths = np.diff(np.log10(shape.edges))
    assert widths == pytest.approx(widths[0])


# The chart


@pytest.fixture
def chart(qtbot):
    chart = DistributionChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(700, 520)
    chart.show()
    chart.settle()
    return chart


def drag(qtbot, chart, low: float, high: float) -> None:
    """Press at one duration of the histogram, move to another and release there."""
    chart.settle()
    start, end = (
        chart.mapFromScene(chart._shape.mapViewToScene(QPointF(seconds, 10.0)))
        for seconds in (low, high)
    )
    view = chart.viewport()
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    middle = QPoint((start.x() + end.x()) // 2, start.y())
    for place in (middle, end):
        qtbot.mouseMove(view, place)
        qtbot.wait(30)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)


def test_the_histogram_says_median_quartiles_and_what_lies_beyond(chart):
    seconds = two_modes()
    chart.set_samples(seconds)
    bars = chart._bars.bars
    assert bars.median == np.median(seconds)
    assert bars.low < bars.median < bars.high
    assert bars.quartiles == pytest.approx(np.quantile(seconds, (0.25, 0.75)))
    assert bars.label == "median 1.01 ms"
    assert bars.edge_notes == ("", "1 slower ▸")


def test_a_drag_selects_counts_and_marks(qtbot, chart):
    seconds = two_modes()
    chart.set_samples(seconds)
    drag(qtbot, chart, 1.12e-3, 1.28e-3)
    low, high = chart.selection
    assert low == pytest.approx(1.12e-3, rel=0.01)
    assert high == pytest.approx(1.28e-3, rel=0.01)
    inside = seconds[(seconds >= low) & (seconds <= high)]
    band = chart._bars.band
    assert f"{len(inside)} of 1,000 samples (33 %)" in band.text
    assert "median 1.20 ms" in band.text
    assert sorted(chart._chosen._series.y) == sorted(inside)
    assert chart._order_layer.marks.chosen == (low, high)


def test_the_right_button_ends_selection_and_zoom(qtbot, chart):
    chart.set_samples(two_modes())
    whole = chart._order.viewRange()
    chart.select(1.1e-3, 1.3e-3)
    chart._order.setXRange(100, 200, padding=0)
    chart._order.sigRangeChangedManually.emit([True, True])
    assert "zoomed" in chart._marks._note
    place = chart.mapFromScene(chart._shape.mapRectToScene(chart._shape.rect()).center())
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.RightButton, pos=place)
    assert chart.selection is None
    assert chart._bars.band is None
    assert chart._order.viewRange() == whole
    assert chart._marks._note == ""


def test_a_selection_stays_while_samples_come_and_goes_with_the_run(chart):
    seconds = two_modes()
    chart.set_samples(seconds[:500])
    chart.select(1.1e-3, 1.3e-3)
    chart.set_samples(seconds)
    assert "of 1,000" in chart._bars.band.text
    chart.clear_samples()
    assert chart.selection is None
    assert chart.is_empty()


def test_outliers_are_marked_by_a_sign_of_their_own(chart):
    seconds = two_modes()
    chart.set_samples(seconds)
    without = chart.grab().toImage()
    chart.set_samples(seconds, seconds > 5e-3)
    marks = chart._order_layer.marks
    assert (marks.outlier_x.tolist(), marks.outlier_y.tolist()) == ([1.0], [20e-3])
    assert chart.grab().toImage() != without


def test_thousands_of_outliers_are_thinned_to_the_extremes(chart):
    seconds = np.full(200_000, 1e-3)
    seconds[::10] = np.linspace(2e-3, 3e-3, 20_000)
    chart.set_samples(seconds, seconds > 1.5e-3)
    marks = chart._order_layer.marks
    assert len(marks.outlier_x) <= 500
    assert marks.outlier_y.max() == 3e-3


def test_medians_of_both_thirds_are_drawn_where_it_drifts(chart):
    seconds = np.linspace(1e-3, 1.2e-3, 300)
    chart.set_samples(seconds)
    assert chart._order_layer.marks.levels == ()
    chart.set_samples(seconds, drifts=True)
    first, last = chart._order_layer.marks.levels
    assert first[:2] == (1, 100)
    assert last[:2] == (201, 300)
    assert first[2] == pytest.approx(np.median(seconds[:100]))
    assert last[3] == "1.17 ms"


def test_samples_of_a_part_keep_their_numbers(chart):
    chart.set_samples(two_modes()[::4], every=4)
    assert chart._trace.at[:3].tolist() == [1, 5, 9]


def test_what_has_no_logarithm_is_left_out_with_its_mark(chart):
    seconds = np.array([1e-3, 0.0, 1.1e-3, math.nan, 9e-3])
    chart.set_samples(seconds, [False, True, False, True, True])
    assert chart._trace.at.tolist() == [1, 3, 5]
    assert chart._outliers.tolist() == [False, False, True]


def test_a_million_samples_are_drawn_as_a_few_thousand_points(chart):
    seconds = 1e-5 * (1 + 0.01 * np.random.default_rng(0).standard_normal(1_000_000))
    chart.set_samples(seconds)
    assert len(chart._samples._series.x) <= POINTS
    assert int(chart._histogram.counts.sum()) > 990_000
    assert not chart.grab().isNull()


def test_logarithmic_axes_and_back(chart):
    seconds = two_modes()
    chart.set_samples(seconds, seconds > 5e-3)
    chart.select(1.1e-3, 1.3e-3)
    linear = chart._shape.viewRange()
    chart.set_log(True)
    assert chart._bars.bars.median == pytest.approx(math.log10(np.median(seconds)))
    assert chart._bars.band.low == pytest.approx(math.log10(1.1e-3))
    assert chart._axes[1].label.toPlainText().strip() == "Kernel time (ms)"
    assert not chart.grab().isNull()
    chart.set_log(False)
    assert chart._shape.viewRange()[0] == pytest.approx(linear[0])
    assert chart.selection == (1.1e-3, 1.3e-3)


def test_a_low_chart_leaves_words_out_but_keeps_the_unit(chart):
    chart.set_samples(two_modes())
    chart.resize(500, 300)
    chart.settle()
    axis = chart._axes[1]
    assert axis.label.toPlainText() == ""
    assert axis.tickStrings([1e-3], axis.autoSIPrefixScale, 1e-4) == ["1.0"]
    chart.resize(500, 500)
    chart.settle()
    assert axis.label.toPlainText().strip() == "Kernel time (ms)"


def test_the_mouse_tells_of_a_bin_and_of_a_sample(chart):
    seconds = two_modes()
    chart.set_samples(seconds, seconds > 5e-3)
    chart.settle()
    chart.scene().sigMouseMoved.emit(chart._shape.mapViewToScene(QPointF(1.2e-3, 10)))
    index, text = chart._bars.hover
    assert f"{chart._histogram.counts[index]} samples" in text
    chart.scene().sigMouseMoved.emit(chart._order.mapViewToScene(QPointF(500, seconds[499])))
    assert chart._bars.hover is None
    hover = chart._marks.hover
    assert "sample" in hover.text
    assert hover.y in seconds
    chart.scene().sigMouseMoved.emit(QPointF(1, 1))
    assert chart._marks.hover is None


def test_a_wrong_result_is_struck_through(chart):
    chart.set_samples(two_modes())
    before = chart.grab().toImage()
    chart.set_struck(True)
    assert chart._bars._warning.startswith("Wrong result")
    assert chart.grab().toImage() != before
    chart.set_struck(False)
    assert chart.grab().toImage() == before


def test_a_theme_reaches_the_whole_chart(chart):
    chart.set_samples(two_modes())
    chart.set_theme(LIGHT)
    assert chart.grab().toImage().pixelColor(1, 1) == QColor(LIGHT.panel)


# In the window


@pytest.fixture
def panel(qtbot, state):
    panel = DistributionPanel(state)
    qtbot.addWidget(panel)
    panel.resize(640, 480)
    panel.show()
    return panel


def test_the_tab_follows_the_run_that_is_shown(panel, state, finish):
    assert "Press Run" in panel.chart.empty_text
    finish()
    assert len(panel.chart._trace) == len(state.shown.buffer) > 0
    assert state.shown.label in panel.chart.export_title
    title, lines = panel.title()
    assert title.startswith(state.shown.job.variant.title)
    assert any("median" in line.text for line in lines)
    state.show(None)
    assert panel.chart.is_empty()
    assert panel.title() is None


def test_a_wrong_run_is_struck_in_the_tab(panel, engine, finish):
    engine.script = wrong_run
    finish()
    assert panel.chart._bars._warning.startswith("Wrong result")


def test_what_is_remarkable_stands_above_the_bars(panel, finish, monkeypatch):
    name = "gemmviz.views.distribution_panel.describe_spread"
    monkeypatch.setattr(name, lambda _: ("It drifts.",))
    finish()
    assert panel.chart._heading.text[1][-1].text == "It drifts."
    assert panel.title()[1][-1].text == "It drifts."


def test_a_hidden_tab_catches_up_for_a_picture(panel, state, finish):
    panel.hide()
    finish()
    assert panel.chart.is_empty()
    panel.catch_up()
    assert len(panel.chart._trace) == len(state.shown.buffer)


@pytest.mark.parametrize("quiet", [True, False])
def test_a_quiet_run_is_drawn_as_word_comes_and_never_later(qtbot, panel, state, engine, quiet):
    engine.script = endless_run
    state.change(replace(state.setup, policy=replace(UNTIL_STOPPED, quiet=quiet), quiet=quiet))
    drawn = []
    panel.chart.set_samples = lambda *_, **__: drawn.append(panel._pace._timer.isActive())
    state.start()
    qtbot.waitUntil(lambda: len(drawn) > 2, timeout=10_000)
    assert state.shown.job.policy.quiet is quiet
    if quiet:
        assert not panel._pace._timer.isActive()
    else:
        qtbot.waitUntil(panel._pace._timer.isActive)
    state.stop()
    qtbot.waitUntil(lambda: not state.active)


def test_wishes_to_redraw_are_one_and_wait_the_longer_the_longer_one_takes(qtbot):
    owner = QObject()
    pace = Pace(owner, 10)
    with qtbot.waitSignal(pace.due):
        pace.ask()
        pace.ask()
    with pace.measured():
        qtbot.wait(20)
    pace.ask()
    assert pace._timer.interval() == 1000
    pace.cancel()
    assert not pace._timer.isActive()
