"""The figures of devices in the unit of choice: time, speed and shares that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemmviz.core.device_comparison import DeviceFigure
from gemmviz.core.model import Device
from gemmviz.core.units import duration, percent, throughput

Unit = Literal["time", "throughput", "ceiling", "library", "clock"]


@dataclass(frozen=True, slots=True)
class UnitWords:
    """What a unit is called.

    Attributes:
        choice: A word or two to choose it by.
        axis: What an axis of it says.
        symbol: The unit on the axis; a prefix may stand before it where ``prefixed``.
        prefixed: Whether SI prefixes suit it.
        meaning: What it is, as a sentence.
        lower_is_better: Whether a small value is good.
    """

    choice: str
    axis: str
    symbol: str
    prefixed: bool
    meaning: str
    lower_is_better: bool = False


UNITS: dict[Unit, UnitWords] = {
    "throughput": UnitWords(
        "GFLOP/s", "Throughput", "FLOP/s", True, "Floating-point operations a second."
    ),
    "time": UnitWords("Time", "Kernel time", "s", True, "The median of one launch.", True),
    "ceiling": UnitWords(
        "% of ceiling", "Of the measured ceiling", "%", False,
        "How much of what its measured memory and arithmetic allow at this size.",
    ),
    "library": UnitWords(
        "% of library", "Of the device's library", "%", False,
        "How much of the speed of the device's library, measured in turns with it.",
    ),
    "clock": UnitWords(
        "Per unit & GHz", "Per unit and GHz", "FLOP/cycle", False,
        "GFLOP/s for each compute unit and each GHz of the driver's clock: FLOP a cycle and unit.",
    ),
}  # fmt: skip
"""In the order in which they are offered."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure in a unit of choice with its interval; both ends are the value without one."""

    value: float
    low: float
    high: float


def quantity_of(figure: DeviceFigure, device: Device, unit: Unit) -> Quantity | None:
    """A figure in a unit; None where there is none, as :func:`lack_of` says.

    "time" is in seconds, "throughput" in FLOP/s, "ceiling" and "library" are shares of which 1 is
    as fast, and "clock" is FLOP in each clock cycle of each compute unit, which is the same as
    GFLOP/s for each unit and GHz, by the clock that the driver states.
    """
    if lack_of(figure, device, unit) or figure.seconds is None:
        return None
    if unit == "library":
        versus = figure.library
        assert versus is not None
        return Quantity(versus.ratio, versus.ratio_low, versus.ratio_high)
    low, high = figure.low or figure.seconds, figure.high or figure.seconds
    if unit == "time":
        return Quantity(figure.seconds, low, high)
    per = 1.0
    if unit == "ceiling":
        per = figure.ceiling or 1.0
    elif unit == "clock":
        per = float((device.clock_hz or 1) * (device.compute_units or 1))
    speeds = [figure.flop / seconds / per for seconds in (figure.seconds, high, low)]
    return Quantity(*speeds)


def lack_of(figure: DeviceFigure, device: Device, unit: Unit) -> str:
    """Why a figure has no value in a unit, in a few words; "" where it has one."""
    if figure.seconds is None:
        return figure.why_not or "not measured"
    if figure.wrong:
        return "wrong answer"
    if device.type == "simulator":
        return "simulator: its time says nothing of hardware"
    if unit == "ceiling" and not figure.ceiling:
        return "ceilings not measured"
    if unit == "library" and figure.library is None:
        return figure.library_title or "no library beside it"
    if unit == "clock" and not device.clock_hz:
        return "clock unknown: the driver does not say"
    if unit == "clock" and not device.compute_units:
        return "number of compute units unknown"
    return ""


def text_of(value: float, unit: Unit) -> str:
    """A value as a person reads it: "1.17 ms", "39.4 GFLOP/s", "64 %" or "12.3"."""
    if unit == "time":
        return duration(value)
    if unit == "throughput":
        return throughput(value)
    if unit == "clock":
        return f"{value:.3g}"
    return percent(value) if value >= 0.0095 else f"{100 * value:.2g} %"
