"""What the roofline says of a mark or a roof under the mouse."""

from __future__ import annotations

from gemmviz.core.roofline import Dot, Roof, Standing
from gemmviz.core.units import duration, percent, throughput


def describe_mark(dot: Dot, standing: Standing) -> str:
    """A result at one of its two intensities, on a few lines."""
    least = standing is dot.least
    how = "each matrix moved once" if least else "all that the source asks for"
    wrong = ", wrong answer" if dot.wrong else ""
    lines = [
        f"{dot.kernel} {dot.element}{wrong}",
        dot.device,
        f"{throughput(standing.flops_per_second)}, a launch in {duration(dot.seconds)}",
        f"{standing.intensity:.3g} FLOP/B: {how}",
        _share(standing, least=least),
    ]
    return "\n".join(lines)


def _share(standing: Standing, *, least: bool) -> str:
    if standing.share is None or standing.attainable is None:
        return "its device's ceilings are not measured"
    if standing.share <= 1:
        return (
            f"{percent(standing.share)} of its roof, {standing.roof}: "
            f"{throughput(standing.attainable)}"
        )
    why = "nearer caches serve it" if least else "registers keep part of it"
    return f"{standing.share:.2g} times its roof, {standing.roof}: {why}"


def describe_roof(device: str, roof: Roof) -> str:
    """A roof with its device."""
    return f"{roof.label}\n{device}"
