"""Numbers as a person reads them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.core.units import duration, memory, percent, scaled, scaled_like, throughput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (duration(1.17e-3), "1.17 ms"),
        (duration(268e-3), "268 ms"),
        (duration(32e-9), "32.0 ns"),
        (duration(0.0), "0 s"),
        (duration(float("nan")), "- s"),
        (throughput(1.8449e12), "1.84 TFLOP/s"),
        (throughput(999.7e9), "1.00 TFLOP/s"),
        (throughput(5.5e9), "5.50 GFLOP/s"),
        (throughput(20000e12), "20000 TFLOP/s"),
        (memory(48 * 1024), "48 KiB"),
        (memory(2 * 1024**3), "2 GiB"),
        (memory(1536), "1.50 KiB"),
        (memory(512), "512 B"),
        (percent(2 / 3), "67 %"),
        (percent(0.0017), "0.2 %"),
        (percent(0.0), "0 %"),
        (percent(1e-9), "0 %"),
        (" ".join(scaled_like(404e6, 6.98e9, "FLOP/s")), "0.404 GFLOP/s"),
        (" ".join(scaled_like(6.98e9, 6.98e9, "FLOP/s")), "6.98 GFLOP/s"),
        (" ".join(scaled_like(2.0, 0.0, "s")), "2.00 s"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert text == expected


@given(st.floats(1e-9, 1e15))
def test_scaled_keeps_the_value(value: float) -> None:
    digits, unit = scaled(value, "s")
    factors = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
    assert math.isclose(float(digits) * factors[unit[:-1]], value, rel_tol=6e-3)
    assert "e" not in digits
