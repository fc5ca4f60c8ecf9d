"""SI values as a person reads them; the one place where prefixes are made."""

from __future__ import annotations

import math
from datetime import UTC, datetime

_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"),
            (1e-9, "n"))  # fmt: skip


def _digits(value: float, significant: int = 3) -> str:
    """``value`` with ``significant`` digits and no exponent: 1.84, 18.4, 184, 1840."""
    if value == 0:
        return "0"
    exponent = int(f"{value:.{significant - 1}e}".partition("e")[2])  # after rounding: 9.996 is 10
    decimals = max(0, significant - 1 - exponent)
    return f"{value:.{decimals}f}"


def scaled(value: float, unit: str) -> tuple[str, str]:
    """A value as digits and prefixed unit: ``(1.84e12, "FLOP/s") -> ("1.84", "TFLOP/s")``."""
    if not math.isfinite(value):
        return "-", unit
    for factor, prefix in _DECIMAL:
        # 999.6 would read "1000": the next prefix up starts where rounding reaches it.
        if abs(value) >= factor * 0.9995:
            return _digits(value / factor), prefix + unit
    return ("0" if value == 0 else _digits(value / 1e-9)), ("" if value == 0 else "n") + unit


def scaled_like(value: float, model: float, unit: str) -> tuple[str, str]:
    """A value with the prefix that ``scaled`` gives to another one, so that both compare by eye."""
    _, prefixed = scaled(model, unit)
    factor = next((f for f, prefix in _DECIMAL if prefix + unit == prefixed), None)
    return scaled(value, unit) if factor is None else (_digits(value / factor), prefixed)


def duration(seconds: float) -> str:
    """Seconds as "1.17 ms"."""
    return " ".join(scaled(seconds, "s"))


def elapsed(seconds: float) -> str:
    """How long something goes on: "4.2 s" or "3:07 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


def throughput(flops_per_second: float) -> str:
    """FLOP per second as "1.84 TFLOP/s"."""
    return " ".join(scaled(flops_per_second, "FLOP/s"))


def memory(count: float) -> str:
    """Bytes as "48 KiB"; exact multiples lose no digit."""
    for factor, prefix in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if abs(count) >= factor:
            value = count / factor
            return f"{value:.0f} {prefix}" if value == int(value) else f"{_digits(value)} {prefix}"
    return f"{count:.0f} B"


def percent(fraction: float) -> str:
    """A fraction as "67 %", and one of less than half a hundredth as "0.2 %"."""
    if 0.00005 <= abs(fraction) < 0.005:
        return f"{100 * fraction:.1g} %"
    return f"{100 * fraction:.0f} %"


def moment(seconds: float) -> str:
    """Seconds since the Unix epoch as "2026-11-30 08:40", in this machine's own time."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
