from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QApplication

from gemmviz.views.charts import CHARTS, Chart
from gemmviz.views.charts.axis import UnitAxis
from gemmviz.views.charts.chart import Plot
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.trace import POINTS, Trace
from gemmviz.views.roles import wrapped
from gemmviz.views.theme import DARK, LIGHT, text_font

FLOP = 2 * 1024**3


def run(count: int, seconds: float = 1.17e-3, seed: int = 0):
    """Times and durations of a run whose first launch is eight times as slow."""
    durations = seconds * (1 + np.random.default_rng(seed).normal(0, 0.01, count))
    if count:
        durations[0] = 8 * seconds
    return np.cumsum(durations), durations


@pytest.fixture
def chart(qtbot):
    chart = LiveChart(theme=DARK)
    qtbot.addWidget(chart)
    chart.resize(800, 500)
    chart.show()
    chart.settle()
    return chart


def label(axis) -> str:
    return axis.label.toPlainText()


def dots(chart) -> int:
    return len(chart._samples[0]._series.x)


# The list


def test_every_listed_chart_is_a_chart_that_starts_empty(qtbot):
    titles = [title for title, _ in CHARTS]
    assert len(set(titles)) == len(titles)
    for _, kind in CHARTS:
        chart = kind()
        qtbot.addWidget(chart)
        assert isinstance(chart, Chart)
        assert chart.is_empty()
        assert chart.empty_text
        assert chart.export_title


def test_a_color_book_gives_the_next_colour_once_and_keeps_it():
    book = ColorBook()
    first, second = book.color("naive"), book.color("tiled")
    assert first != second
    assert [book.color("tiled"), book.color("naive")] == [second, first]


# The trace


@pytest.mark.parametrize("count", [1, 100, POINTS, POINTS + 1, 50_000])
def test_growing_a_trace_step_by_step_gives_what_one_step_gives(count):
    at, seconds = run(count)
    grown, whole = Trace(), Trace()
    for end in np.linspace(1, count, 9).astype(int):
        grown.set(at[:end], seconds[:end])
    whole.set(at, seconds)
    for name in ("x", "y", "middle_x", "middle_y", "low", "high"):
        assert (getattr(grown.whole(), name) == getattr(whole.whole(), name)).all()
    assert grown.median == np.median(seconds)


def test_a_long_trace_is_thinned_without_losing_an_extreme():
    at, seconds = run(300_000)
    seconds[123_456] = 1.0
    trace = Trace()
    trace.set(at, seconds)
    thinned = trace.whole()
    assert len(thinned.x) <= POINTS
    assert thinned.y.max() == 1.0
    assert (thinned.low <= thinned.high).all()
    assert thinned.middle_y == pytest.approx(1.17e-3, rel=0.01)


def test_a_zoomed_trace_shows_every_sample_again():
    at, seconds = run(300_000)
    trace = Trace()
    trace.set(at, seconds)
    near = trace.between(at[1000], at[2000])
    assert len(near.low) == 0
    assert 1001 <= len(near.x) <= 1003


def test_another_run_replaces_the_first():
    trace = Trace()
    trace.set(*run(20_000))
    at, seconds = run(30_000, seconds=5e-3, seed=1)
    trace.set(at, seconds)
    assert trace.whole().y.min() > 4e-3
    trace.set((), ())
    assert len(trace) == 0
    assert math.isnan(trace.median)


def test_samples_without_a_rate_or_a_logarithm_are_dropped():
    trace = Trace()
    trace.set([1, 2, 3, 4, 5], [1.0, math.nan, 0.0, -1.0, 2.0])
    assert trace.seconds.tolist() == [1.0, 2.0]


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=80))
def test_axis_bounds_are_durations_that_occurred(seconds):
    trace = Trace()
    trace.set(np.arange(len(seconds)), seconds)
    low, high = trace.bounds()
    assert low <= trace.median * (1 + 1e-12)
    assert {low, high} <= set(seconds)


def test_axis_bounds_leave_one_outlier_out_but_not_a_second_mode():
    trace = Trace()
    trace.set(np.arange(30), [1.0] * 29 + [50.0])
    assert trace.bounds() == (1.0, 1.0)
    trace.set(np.arange(100), [1.0] * 85 + [3.0] * 15)
    assert trace.bounds() == (1.0, 3.0)


# The live chart


def test_the_empty_chart_says_what_to_do(chart):
    assert chart.is_empty()
    ink = QColor(DARK.muted).rgb()
    image = chart.grab().toImage()
    assert any(image.pixel(x, 250) == ink or image.pixel(x, 252) == ink for x in range(800))
    chart.set_samples(*run(10), FLOP)
    assert not chart.is_empty()
    chart.clear_samples()
    assert chart.is_empty()


@pytest.mark.parametrize(
    ("seconds", "time_label", "rate_label"),
    [
        (1.17e-3, "Kernel time (ms)", "Throughput (TFLOP/s)"),
        (3.0, "Kernel time (s)", "Throughput (MFLOP/s)"),
        (40e-6, "Kernel time (µs)", "Throughput (TFLOP/s)"),
    ],
)
def test_axes_take_the_prefix_that_suits_the_values(chart, seconds, time_label, rate_label):
    chart.set_samples(*run(50, seconds), FLOP)
    if "MFLOP" in rate_label:
        chart.set_samples(*run(50, seconds), 1e8)
    assert label(chart._axes[0]).strip() == time_label
    assert label(chart._axes[1]).strip() == rate_label


def test_the_first_slow_launch_does_not_rule_the_axis_and_is_counted(chart):
    chart.set_samples(*run(200), FLOP)
    assert chart._time.viewRange()[1][1] < 2e-3
    assert chart._marks[0]._note == "1 slower above"


def test_a_million_samples_are_drawn_as_a_few_thousand_points(chart):
    chart.set_samples(*run(1_000_000, 1e-5), FLOP)
    assert dots(chart) <= POINTS
    assert not chart.grab().isNull()


def test_axes_stand_still_while_samples_keep_coming(chart):
    at, seconds = run(2000)
    ranges = set()
    for end in range(1000, 2000, 50):
        chart.set_samples(at[:end], seconds[:end], FLOP)
        ranges.add(tuple(chart._time.viewRange()[0]))
        assert at[end - 1] <= chart._time.viewRange()[0][1]
    assert len(ranges) <= 6


def wheel(chart, position: QPoint, clicks: int) -> None:
    place = QPointF(position)
    event = QWheelEvent(
        place,
        chart.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * clicks),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(chart.viewport(), event)


def test_a_zoomed_view_stays_until_home(chart):
    at, seconds = run(30_000)
    chart.set_samples(at[:20_000], seconds[:20_000], FLOP)
    chart.settle()
    wheel(chart, QPoint(400, 150), 20)
    zoomed = chart._time.viewRange()
    assert zoomed[0][1] - zoomed[0][0] < at[20_000] / 2
    assert chart._rate.viewRange()[0] == pytest.approx(zoomed[0])
    chart.set_samples(at, seconds, FLOP)
    assert chart._time.viewRange() == zoomed
    assert len(chart._samples[0]._series.low) == 0
    chart.home()
    left, right = chart._time.viewRange()[0]
    assert left == 0
    assert at[-1] <= right <= 1.05 * at[-1]


def test_outliers_can_be_reached_by_zooming_out(chart):
    chart.set_samples(*run(200), FLOP)
    chart.settle()
    wheel(chart, QPoint(400, 150), -20)
    bottom, top = chart._time.viewRange()[1]
    assert bottom >= 0
    assert top > 8 * 1.17e-3


def test_the_mouse_finds_the_nearest_sample(chart):
    at, seconds = run(400)
    chart.set_samples(at, seconds, FLOP)
    chart.settle()
    spot = chart._time.mapViewToScene(QPointF(at[200], seconds[200]))
    chart.scene().sigMouseMoved.emit(spot)
    hover = chart._marks[0].hover
    assert (hover.x, hover.y) == (at[200], seconds[200])
    assert "ms" in hover.text
    assert "TFLOP/s" in hover.text
    assert chart._marks[1].hover.text == ""
    assert chart._marks[1].hover.y == FLOP / seconds[200]
    chart.scene().sigMouseMoved.emit(QPointF(2, 2))
    assert chart._marks[0].hover is None


def test_logarithmic_axes_and_back(chart):
    chart.set_samples(*run(100), FLOP)
    linear = chart._time.viewRange()[1]
    chart.set_log(True)
    assert chart._time.viewRange()[1][0] == pytest.approx(math.log10(1.17e-3), abs=0.1)
    assert label(chart._axes[0]).strip() == "Kernel time (ms)"
    assert not chart.grab().isNull()
    chart.set_log(False)
    assert chart._time.viewRange()[1] == pytest.approx(linear, rel=0.2)


def test_wrong_results_are_struck_through_and_said_to_be_wrong(chart):
    chart.set_samples(*run(100), FLOP)
    before = chart.grab().toImage()
    chart.set_struck(True)
    after = chart.grab().toImage()
    assert before != after
    assert chart._marks[0]._warning.startswith("Wrong result")
    spots = [(x, y) for x in range(100, 700, 3) for y in range(50, 250)]
    accent = QColor(DARK.accent).rgb()
    assert accent in {before.pixel(*spot) for spot in spots}
    assert accent not in {after.pixel(*spot) for spot in spots}
    chart.set_struck(False)
    assert chart.grab().toImage() == before


def test_a_theme_reaches_the_whole_chart(chart):
    chart.set_samples(*run(100), FLOP)
    chart.set_theme(LIGHT)
    assert chart.grab().toImage().pixelColor(1, 1) == QColor(LIGHT.panel)


# Axes


def test_the_label_of_the_median_is_where_the_curve_does_not_end(chart):
    at = np.arange(1.0, 401.0)
    chart.set_samples(at, np.linspace(2e-3, 1e-3, 400), 1e6)  # faster and faster
    assert [mark._below for mark in chart._marks] == [False, True]
    chart.set_samples(at, np.linspace(1e-3, 2e-3, 400), 1e6)
    assert [mark._below for mark in chart._marks] == [True, False]


@pytest.fixture
def axis(qtbot):
    plot = Plot()  # an axis does not keep its plot alive
    yield UnitAxis("left", plot, "Time", "s")
    plot.close()


def test_ticks_of_one_axis_have_equal_decimals(axis):
    assert axis.tickStrings([0.0011, 0.00115, 0.0012], 1e3, 5e-5) == ["1.10", "1.15", "1.20"]
    assert axis.tickStrings([0.0, 2e12], 1e-9, 2e12) == ["0", "2000"]


def test_logarithmic_ticks_are_plain_numbers(axis):
    axis.setLogMode(True)
    levels = axis.logTickValues(-3.0, 1.0, 300, [])
    labels = [axis.tickStrings(values, 1.0, spacing) for spacing, values in levels]
    assert labels[0] == ["0.001", "0.01", "0.1", "1", "10"]
    assert labels[1][:3] == ["0.002", "0.005", "0.02"]
    assert not any("e" in text or "10⁰" in text for level in labels for text in level)


def test_less_than_a_decade_gets_evenly_spaced_ticks(axis):
    axis.setLogMode(True)
    ((spacing, values),) = axis.logTickValues(math.log10(1.1), math.log10(1.3), 300, [])
    texts = axis.tickStrings(values, 1.0, spacing)
    assert len(texts) >= 3
    assert len({len(text) for text in texts}) == 1


@given(st.text("ab ", max_size=60), st.integers(20, 200), st.integers(1, 4))
def test_wrapped_names_fit(qapp, text, width, rows):
    metrics = QFontMetrics(text_font(12))
    lines = wrapped(text, metrics, width, rows)
    assert len(lines) <= rows
    assert all(metrics.horizontalAdvance(line) <= width for line in lines)
    if not any("…" in line for line in lines):
        assert " ".join(lines) == " ".join(text.split())


@pytest.mark.parametrize("kind", [kind for _, kind in CHARTS], ids=lambda kind: kind.__name__)
def test_no_details_stay_when_the_mouse_leaves(qtbot, monkeypatch, kind):
    hidden = []

    def hide(chart):
        hidden.append(chart)

    monkeypatch.setattr(kind, "hide_hover", hide)
    chart = kind()
    qtbot.addWidget(chart)
    hidden.clear()
    QApplication.sendEvent(chart, QEvent(QEvent.Type.Leave))
    assert hidden == [chart]
