from __future__ import annotations

import time

import numpy as np

from gemmviz.app.samples import SampleBuffer
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


def test_trim_gives_back_room_and_an_empty_buffer_may_be_trimmed():
    buffer = SampleBuffer(1_000_000)
    buffer.trim()
    buffer.append(Samples((1,), (1.0,), (1.0,)))
    buffer.trim()
    assert buffer.seconds.base.nbytes == 8


def test_a_million_samples_take_no_time_to_speak_of():
    part = Samples((1,) * 600, (1e-3,) * 600, (1e-3,) * 600)
    buffer = SampleBuffer()
    began = time.process_time()
    for _ in range(2000):
        buffer.append(part)
    assert len(buffer) == 1_200_000
    assert time.process_time() - began < 2.0
