"""The ladder: variants that each add one idea, measured rung by rung on one device and shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import default_parameters
from gemmviz.core.libraries import absence, memory_of
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device, DeviceKey, Parameters, Problem, Variant
from gemmviz.core.paired import Versus
from gemmviz.core.policy import Policy
from gemmviz.core.units import percent, throughput

Step = Literal["gain", "loss", "same", "open"]

SIGNS: dict[Step, str] = {"gain": "▲", "loss": "▼", "same": "≈", "open": "?"}
"""A sign for each step, so that colour is never the only one."""

CLIMB = Policy(1, 10, 0.1, 0.005, 3.0)
"""Of each rung at most three seconds, and steps of one per cent told apart where that suffices."""

_FAMILY = "ladder"


@dataclass(frozen=True, slots=True)
class Rung:
    """What came of one rung.

    Attributes:
        variant: Its id.
        title: What it is called.
        number: Its place on the ladder.
        parameters: The macros it was built with.
        flops_per_second: From its median; None where it could not run.
        low: Lower end of the median's interval, FLOP/s; None without a figure.
        high: Upper end.
        gain: Against the rung that ``against`` names, measured in turns; None for the first one.
        against: The id of the last rung before it that ran and was right.
        library: Against the device's library, measured in turns; a ratio above 1 is faster than it.
        ceiling_share: Of the measured peak rate of its element type, 0 to 1; None if not measured.
        registers: Per work-item; None where no compiler tells.
        spill_bytes: Of registers that went to memory, per work-item.
        local_bytes: Local memory of a group.
        group_size: Work-items of a group.
        occupancy: Share of a unit's slots in use, 0 to 1; None where it means nothing.
        wrong: Whether its answer is wrong, so that its speed counts for nothing.
        why_not: Why there is no figure, or what is wrong; "" where all is well.
    """

    variant: str
    title: str
    number: int
    parameters: Parameters
    flops_per_second: float | None = None
    low: float | None = None
    high: float | None = None
    gain: Versus | None = None
    against: str = ""
    library: Versus | None = None
    ceiling_share: float | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    local_bytes: int | None = None
    group_size: int | None = None
    occupancy: float | None = None
    wrong: bool = False
    why_not: str = ""

    @property
    def counts(self) -> bool:
        """Whether it has a speed that means something."""
        return self.flops_per_second is not None and not self.wrong

    @property
    def step(self) -> Step | None:
        """Whether it gains over the last rung or loses; None for the first one."""
        return step_of(self.gain) if self.gain is not None else None


@dataclass(frozen=True, slots=True)
class LibrarySpeed:
    """The library beside the ladder: its variant's id, its title, and the speed it reached.

    The speed is the highest of its medians beside each rung: after a launch of half a second a
    library starts cold, and what disturbs it only adds time.
    """

    variant: str
    title: str
    flops_per_second: float


@dataclass(frozen=True, slots=True)
class Ladder:
    """Every rung on one device at one problem, as far as it was climbed.

    Attributes:
        device: Where.
        problem: The shape, element type and seed.
        rungs: In their order, those that could not run included.
        library: The device's library; None where there is none, as ``library_note`` says.
        library_note: Why there is no library.
        peak: FLOP/s of multiply-adds alone as measured on the device; None if it was not.
        busy: Why the machine was too busy for its figures to mean much, or "".
        whole: Whether every rung was measured.
    """

    device: DeviceKey
    problem: Problem
    rungs: tuple[Rung, ...]
    library: LibrarySpeed | None = None
    library_note: str = ""
    peak: float | None = None
    busy: str = ""
    whole: bool = False

    def library_share(self, rung: Rung) -> float | None:
        """A rung's speed over the library's; None without one of them."""
        if self.library is None or rung.flops_per_second is None:
            return None
        return rung.flops_per_second / self.library.flops_per_second

    @property
    def measured(self) -> tuple[Rung, ...]:
        """The rungs whose speed counts."""
        return tuple(rung for rung in self.rungs if rung.counts)

    @property
    def fastest(self) -> Rung | None:
        """The rung with the highest speed; None before any was measured."""
        return max(self.measured, key=lambda rung: rung.flops_per_second or 0.0, default=None)


def step_of(versus: Versus) -> Step:
    """What a ratio is on a ladder.

    The range of a few rounds counts too: steps are large, and a rung of half a second a launch
    gets no more of them.
    """
    if versus.ratio_low >= 1 / (1 + versus.margin) and versus.ratio_high <= 1 + versus.margin:
        return "same"
    if versus.ratio_low > 1:
        return "gain"
    return "loss" if versus.ratio_high < 1 else "open"


def rungs_of(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """The variants of the ladder, the lowest first."""
    found = [variant for variant in variants if variant.family == _FAMILY]
    return tuple(sorted(found, key=lambda variant: (variant.rung, variant.id)))


def library_on(
    device: Device, limits: Limits | None, variants: Iterable[Variant], problem: Problem
) -> tuple[Variant | None, str]:
    """The device's library for a problem, or why there is none.

    A library of the vendor's comes before one that is written in OpenCL itself; one that rounds to
    TF32 answers another question.
    """
    found = [variant for variant in variants if variant.library and variant.precision == "element"]
    found.sort(key=lambda variant: (memory_of(variant) == "device", variant.rung))
    reasons = []
    for variant in found:
        parameters = default_parameters(variant)
        reason = refusal(variant, parameters, problem, device, limits) or absence(variant)
        if not reason:
            return variant, ""
        reasons.append(reason)
    return None, reasons[0] if reasons else "No library is known here."


def sentences(ladder: Ladder) -> tuple[str, ...]:
    """What the ladder shows, the most telling first."""
    fastest, measured = ladder.fastest, ladder.measured
    if fastest is None or fastest.flops_per_second is None:
        return ()
    said = [_reached(ladder, fastest, fastest.flops_per_second)]
    said += filter(None, (occupancy_sentence(measured, fastest), _losses(measured)))
    if ladder.library is None and ladder.library_note:
        said.append(f"No library stands beside it: {ladder.library_note}")
    if ladder.busy:
        said.append(f"The machine was busy: {ladder.busy}.")
    return tuple(said)


def _reached(ladder: Ladder, fastest: Rung, speed: float) -> str:
    first = ladder.measured[0]
    text = f"{fastest.title} is the fastest at {throughput(speed)}"
    if first is not fastest and first.flops_per_second:
        text += f", {speed / first.flops_per_second:.3g} times as fast as {first.title}"
    shares = []
    share = ladder.library_share(fastest)
    if share is not None and ladder.library is not None:
        shares.append(f"{percent(share)} of {ladder.library.title}")
    if fastest.ceiling_share is not None:
        shares.append(f"{percent(fastest.ceiling_share)} of the measured peak")
    return f"{text}{': ' if shares else ''}{' and '.join(shares)}."


def occupancy_sentence(measured: Sequence[Rung], fastest: Rung) -> str:
    """What occupancy had to do with it, or "" where it is not known of two rungs."""
    known = [rung.occupancy for rung in measured if rung.occupancy is not None]
    own = fastest.occupancy
    if own is None or len(known) < 2 or math.isclose(min(known), max(known)):
        return ""
    if own <= min(known):
        return (
            f"The fastest rung has the lowest occupancy, {percent(own)}: it hides latency by "
            "independent work in each work-item, not by more of them."
        )
    if own < max(known):
        best = max(measured, key=lambda rung: rung.occupancy or 0.0)
        share = (best.flops_per_second or 0.0) / (fastest.flops_per_second or 1.0)
        return (
            f"The fastest rung has {percent(own)} occupancy; {best.title} has {percent(max(known))}"
            f" and {percent(share)} of its speed."
        )
    return ""


def _losses(measured: Sequence[Rung]) -> str:
    lost = [rung.title for rung in measured if rung.step == "loss"]
    if not lost:
        return ""
    return (
        f"{'; '.join(lost)}: {'a step that loses' if len(lost) == 1 else 'steps that lose'} here."
    )
