"""What the ladder writes at its bars and lines, and where a name finds room."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QRectF

from gemmviz.core.ladder import SIGNS, Ladder, Rung, Step
from gemmviz.core.launch import describe_parameters
from gemmviz.core.units import memory, percent, scaled_like, throughput

_WORDS: dict[Step, str] = {
    "gain": "faster than",
    "loss": "slower than",
    "same": "as fast as",
    "open": "undecided against",
}
_LINE_STEP = 12.0


@dataclass(frozen=True, slots=True)
class Level:
    """A line across the bars: a name with its speed, FLOP/s."""

    name: str
    flops_per_second: float

    @property
    def text(self) -> str:
        """What is written at the line."""
        return f"{self.name} {throughput(self.flops_per_second)}"


def free_place(
    y: float, size: tuple[float, float], width: float, taken: list[QRectF]
) -> QRectF | None:
    """Where a name may stand along a line at ``y``, leftmost above it or else below; or None.

    Args:
        y: The line, in pixels from the top.
        size: Width and height of the name.
        width: Of the plot.
        taken: What must not be covered.
    """
    for top in (y - size[1] - 1, y + 1):
        x = 4.0
        while top >= 0 and x + size[0] <= width:
            area = QRectF(x, top, *size)
            if not any(area.intersects(other) for other in taken):
                return area
            x += _LINE_STEP
    return None


def label_rows(rung: Rung, tallest: float) -> list[tuple[str, str]]:
    """What is written above a bar, the lowest row first, each a sign or "" and a text.

    The speed, with the prefix of the ``tallest`` bar's (FLOP/s), and above it the step.
    """
    rows = [("", " ".join(scaled_like(rung.flops_per_second or 0.0, tallest, "")).strip())]
    if rung.wrong:
        return [*rows, ("", "wrong")]
    if rung.gain is not None and rung.step is not None:
        ratio = rung.gain.ratio
        rows.append((SIGNS[rung.step], f"{ratio:.2f}×" if ratio < 9.995 else f"{ratio:.0f}×"))
    return rows


def describe_rung(rung: Rung, ladder: Ladder | None) -> str:
    """All figures of a rung on as few lines as a low chart has room for."""
    lines = [f"{rung.number}  {rung.title}", describe_parameters(rung.parameters)]
    if rung.flops_per_second is not None:
        text = f"median {throughput(rung.flops_per_second)}"
        if rung.low and rung.high and math.isfinite(rung.high):
            text += f" ({throughput(rung.low)} to {throughput(rung.high)})"
        lines.append(text)
    if rung.gain is not None and rung.step is not None:
        gain = rung.gain
        lines.append(
            f"{SIGNS[rung.step]} {_WORDS[rung.step]} {rung.against}: {gain.ratio:.3g} "
            f"({gain.ratio_low:.3g} to {gain.ratio_high:.3g})"
        )
    lines += [", ".join(_shares(rung, ladder)), ", ".join(_resources(rung)), rung.why_not]
    return "\n".join(line for line in lines if line)


def _shares(rung: Rung, ladder: Ladder | None) -> Iterator[str]:
    share = ladder.library_share(rung) if ladder is not None else None
    if share is not None and ladder is not None and ladder.library is not None:
        yield f"{percent(share)} of {ladder.library.title}"
    if rung.ceiling_share is not None:
        yield f"{percent(rung.ceiling_share)} of the measured peak"


def _resources(rung: Rung) -> Iterator[str]:
    if rung.registers is not None:
        spilled = f" and {memory(rung.spill_bytes)} spilled" if rung.spill_bytes else ""
        yield f"{rung.registers} registers{spilled}"
    if rung.local_bytes is not None:
        yield f"{memory(rung.local_bytes)} of local memory"
        yield f"{rung.group_size} work-items"
    if rung.occupancy is not None:
        yield f"occupancy {percent(rung.occupancy)}"
