from __future__ import annotations

import numpy as np

from gemmviz.app.samples import SampleBuffer, tally
from gemmviz.core.model import Samples


def test_keeps_every_sample_in_order():
    buffer = SampleBuffer(capacity=4)
    for start in range(0, 1000, 10):
        values = tuple(float(start + n) for n in range(10))
        buffer.append(Samples((2,) * 10, values, values))
    assert len(buffer) == 1000
    assert buffer.launch_count == 2000
    assert np.array_equal(buffer.seconds, np.arange(1000.0))
    assert np.array_equal(buffer.at, np.arange(1000.0))
    assert np.array_equal(buffer.seconds_per_launch, np.arange(1000.0) / 2)


def test_views_that_were_handed_out_stay_as_they_were():
    buffer = SampleBuffer(capacity=2)
    buffer.append(Samples((1, 1), (1.0, 2.0), (1.0, 2.0)))
    view = buffer.seconds
    buffer.append(Samples((1,) * 50, (9.0,) * 50, (9.0,) * 50))
    assert view.tolist() == [1.0, 2.0]


def test_one_launch_a_sample_needs_no_copy():
    buffer = SampleBuffer()
    buffer.append(Samples((1, 1), (1.0, 2.0), (1.0, 2.0)))
    assert np.shares_memory(buffer.seconds_per_launch, buffer.seconds)


def test_a_tally_holds_every_sample_in_no_more_room_and_sums_them_up():
    made = tally(1, Samples((2, 2, 2), (1.0, 2.0, 6.0), (1.0, 2.0, 6.0)))
    assert made.buffer.seconds.base.nbytes == 24
    assert made.buffer.launch_count == 6
    assert made.summary is not None
    assert made.summary.median == 1.0
    assert made.spread is not None
    assert made.spread.iqr_seconds == 1.25
    empty = tally(1, Samples())
    assert (len(empty.buffer), empty.summary, empty.spread) == (0, None, None)


def test_a_million_samples_are_kept():
    part = Samples((1,) * 600, (1e-3,) * 600, (1e-3,) * 600)
    buffer = SampleBuffer()
    for _ in range(2000):
        buffer.append(part)
    assert len(buffer) == 1_200_000


def test_no_append_waits_for_a_copy_of_all_that_came_before():
    part = Samples((1,) * 1000, (1e-3,) * 1000, (1e-3,) * 1000)
    buffer = SampleBuffer()
    for _ in range(300):
        before = buffer._copied
        arrays = buffer._arrays
        buffer.append(part)
        missing = len(buffer) - 1000 - before if buffer._arrays is not arrays else 0
        assert missing <= 2000
    assert np.array_equal(buffer.seconds, np.full(300_000, 1e-3))
