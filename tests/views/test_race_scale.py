from __future__ import annotations

import pytest

from gemmviz.app.race import Race
from gemmviz.views.charts.colors import ColorBook
from gemmviz.views.charts.device_live import DeviceLiveChart, share_scale
from gemmviz.views.race_panel import RacePanel

FLOP = 2e6


@pytest.fixture
def panel(qtbot, state):
    made = RacePanel(Race(state), ColorBook())
    qtbot.addWidget(made)
    made.resize(820, 420)
    made.show()
    return made


@pytest.fixture
def charts(panel) -> tuple[DeviceLiveChart, DeviceLiveChart]:
    first, other = (side.chart for side in panel.sides)
    return first, other


def fill(chart: DeviceLiveChart, seconds: float, count: int = 30) -> None:
    """Samples between 0.9 and 1.1 times so many seconds."""
    times = [seconds * (1 + 0.1 * ((place % 3) - 1)) for place in range(count)]
    chart.set_samples([seconds * (place + 1) for place in range(count)], times, FLOP)


def test_both_charts_have_one_scale_that_holds_both_runs(charts):
    first, other = charts
    fill(first, 1e-3)
    fill(other, 3e-3)
    share_scale(first, other)
    assert first.ranges == other.ranges
    (begin, end), (low, high), (slow, fast) = first.ranges
    assert begin == 0
    assert end >= 30 * 3e-3  # both end within what is shown
    assert low <= 0.9e-3
    assert high >= 3.3e-3
    assert slow <= FLOP / 3.3e-3
    assert fast >= FLOP / 0.9e-3
    assert not first._log
    for longer in (3.5e-3, 4e-3, 5e-3):  # as samples come
        fill(other, longer, 60)
        share_scale(first, other)
        assert first.ranges == other.ranges
        assert first.ranges[1][1] >= 1.1 * longer


def test_one_that_has_no_sample_yet_takes_the_other_s_scale(charts):
    first, other = charts
    fill(other, 3e-3)
    share_scale(first, other)
    assert first.extent is None
    assert first.ranges == other.ranges
    assert other.ranges[1][1] < 6e-3


def test_a_device_that_is_far_faster_makes_both_logarithmic(charts):
    first, other = charts
    fill(first, 1e-5)
    fill(other, 1e-3)
    share_scale(first, other)
    assert first._log
    assert other._log
    assert first.ranges == other.ranges
    _, (low, high), _ = first.ranges
    assert low < -5
    assert high > -3
    fill(first, 5e-4)
    first.home()
    share_scale(first, other)
    assert not first._log
    assert first.ranges == other.ranges
    assert other.ranges[1][0] >= 0


def test_a_zoom_of_one_is_a_zoom_of_both_and_so_is_the_way_back(charts):
    first, other = charts
    fill(first, 1e-3)
    fill(other, 3e-3)
    share_scale(first, other)
    whole = first.ranges
    first._time.setRange(yRange=(1e-3, 2e-3), padding=0)
    first._time.sigRangeChangedManually.emit([False, True])
    assert not other.following
    assert other.ranges == first.ranges
    assert other.ranges[1] == pytest.approx((1e-3, 2e-3))
    fill(other, 4e-3, 60)
    share_scale(first, other)
    assert other.ranges[1] == pytest.approx((1e-3, 2e-3))  # a person has chosen it
    other.home()
    assert first.following
    assert first.ranges == other.ranges
    assert first.ranges[1][1] > whole[1][1]
