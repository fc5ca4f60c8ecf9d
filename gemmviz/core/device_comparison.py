"""Devices side by side: what each reached at each size, and which is faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from gemmviz.core.labels import device_label
from gemmviz.core.model import Device, DeviceKey, Parameters
from gemmviz.core.paired import Versus, Word
from gemmviz.core.policy import Policy

COMPARE = Policy(1, 10, 0.2, 0.01, 6.0)
"""At each size at most six seconds for the devices that take turns."""

SIMULATOR_SIZE = 64
"""A simulator interprets every work-item, so it is asked for no larger cube than this."""

_OPPOSITE: dict[Word, Word] = {
    "faster": "slower", "slower": "faster", "same": "same", "undecided": "undecided",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeviceFigure:
    """What came of one device at one size.

    Attributes:
        device: Which.
        size: M = N = K.
        variant: The id of the kernel that ran; "" where none could.
        title: What it is called.
        parameters: The macros it was built with.
        flop: Floating-point operations of a launch.
        seconds: The median of a launch; None where it could not run.
        low: Lower end of the median's 95 % interval, seconds; the smallest of fewer than 6 samples.
        high: Upper end.
        samples: How many it rests on.
        ceiling: FLOP/s that the device's measured ceilings allow at this size; None without them.
        roof: Which ceiling that is: a memory, or "FMA float".
        library: Against the device's library, measured in turns; above 1 is faster than it.
        library_title: What the library is called, or why there is none.
        group_size: Work-items of a group.
        groups: Groups of a launch.
        local_bytes: Local memory of a group.
        resident: Groups that a compute unit holds at once; None where that is not known.
        occupancy: Share of a unit's slots in use, 0 to 1; None where it means nothing.
        binding: What limits the resident groups, or why that means nothing here.
        turns: Devices that took turns with it launch by launch, itself included.
        wrong: Whether its answer is wrong, so that its speed counts for nothing.
        why_not: Why there is no figure, or what is wrong; "" where all is well.
    """

    device: DeviceKey
    size: int
    variant: str = ""
    title: str = ""
    parameters: Parameters = ()
    flop: int = 0
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    samples: int = 0
    ceiling: float | None = None
    roof: str = ""
    library: Versus | None = None
    library_title: str = ""
    group_size: int | None = None
    groups: int | None = None
    local_bytes: int | None = None
    resident: int | None = None
    occupancy: float | None = None
    binding: str = ""
    turns: int = 1
    wrong: bool = False
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class DeviceDuel:
    """One device against another at a size.

    ``versus`` says what ``other`` is against ``first``. ``in_turns`` is whether their launches
    alternated; else each was measured by itself, and the interval is that of two medians.
    """

    size: int
    first: DeviceKey
    other: DeviceKey
    versus: Versus
    in_turns: bool


@dataclass(frozen=True, slots=True)
class DeviceComparison:
    """Devices at sizes, as far as they were measured.

    Attributes:
        devices: All that were asked for, in their order.
        sizes: M = N = K, rising.
        element: The element type.
        kernel: The title of the kernel that all ran; "" where each ran its best one.
        form: What was computed beside A B, in a few words; "" where nothing was.
        figures: One for each size and device that was reached.
        duels: Of each size every two devices whose speeds count, in the order of ``devices``.
        busy: Why the machine was too busy for its figures to mean much, or "".
        whole: Whether every size was measured on every device.
    """

    devices: tuple[Device, ...]
    sizes: tuple[int, ...]
    element: str
    kernel: str = ""
    form: str = ""
    figures: tuple[DeviceFigure, ...] = ()
    duels: tuple[DeviceDuel, ...] = ()
    busy: str = ""
    whole: bool = False

    @property
    def measured_sizes(self) -> tuple[int, ...]:
        """The sizes at which at least one device has a row."""
        reached = {figure.size for figure in self.figures}
        return tuple(size for size in self.sizes if size in reached)

    def figure(self, device: DeviceKey, size: int) -> DeviceFigure | None:
        """What came of a device at a size; None where it was not reached."""
        for figure in self.figures:
            if figure.device == device and figure.size == size:
                return figure
        return None

    def versus(self, first: DeviceKey, other: DeviceKey, size: int) -> DeviceDuel | None:
        """How ``other`` compares with ``first`` at a size, whichever way it was measured."""
        for duel in self.duels:
            if duel.size == size and (duel.first, duel.other) == (first, other):
                return duel
            if duel.size == size and (duel.first, duel.other) == (other, first):
                return DeviceDuel(size, first, other, turned(duel.versus), duel.in_turns)
        return None

    def counting(self, size: int) -> tuple[DeviceFigure, ...]:
        """The figures of a size whose speeds mean something, the fastest first."""
        simulators = {device.key for device in self.devices if device.type == "simulator"}
        found = [
            (figure.seconds, place, figure)
            for place, figure in enumerate(self.figures)
            if figure.size == size and figure.seconds is not None and not figure.wrong
            and figure.device not in simulators
        ]  # fmt: skip
        return tuple(figure for _, _, figure in sorted(found, key=lambda entry: entry[:2]))

    def best(self, size: int) -> tuple[DeviceKey, ...]:
        """The fastest device of a size, and those that cannot be told apart from it."""
        counting = self.counting(size)
        if not counting:
            return ()
        fastest = counting[0].device
        found = [fastest]
        for figure in counting[1:]:
            duel = self.versus(fastest, figure.device, size)
            if duel is not None and duel.versus.word != "slower" and not one_sided(duel.versus):
                found.append(figure.device)
        return tuple(found)


def turned(versus: Versus) -> Versus:
    """The same comparison seen from the other side."""
    return Versus(
        _OPPOSITE[versus.word], 1 / versus.ratio, 1 / versus.ratio_high, 1 / versus.ratio_low,
        versus.margin, versus.rounds, versus.worth,
    )  # fmt: skip


def one_sided(versus: Versus) -> bool:
    """Whether one was ahead in all of a few rounds, by more than would count as the same.

    Differences between devices are large, and a launch of seconds gets no more rounds.
    """
    low, high = 1 / (1 + versus.margin), 1 + versus.margin
    return versus.word == "undecided" and (versus.ratio_high < low or versus.ratio_low > high)


def describe_duel(duel: DeviceDuel, devices: Sequence[Device]) -> str:
    """Two devices at a size as a sentence: which is faster, how much and how sure."""
    names = {device.key: device_label(device) for device in devices}
    versus, other, first = duel.versus, names[duel.other], names[duel.first]
    how = "in turns" if duel.in_turns else "one after the other"
    each = "rounds" if duel.in_turns else "samples"
    basis = f"({versus.ratio_low:.3g} to {versus.ratio_high:.3g}, measured {how})"
    if versus.word == "same":
        within = f"{versus.margin * 100:.3g} %"
        return f"At {duel.size} {other} is as fast as {first} within {within} {basis}."
    if one_sided(versus) and versus.ratio > 1:
        return (
            f"At {duel.size} {other} was {versus.ratio:.3g} times as fast as {first} in each of "
            f"{versus.rounds} {each}, too few to be sure {basis}."
        )
    if versus.word == "undecided" and not one_sided(versus):
        return (
            f"At {duel.size} it is undecided whether {other} is faster than {first}: "
            f"{versus.ratio:.3g} times as fast {basis}."
        )
    if versus.word == "slower" or versus.ratio < 1:
        duel = DeviceDuel(duel.size, duel.other, duel.first, turned(versus), duel.in_turns)
        return describe_duel(duel, devices)
    return f"At {duel.size} {other} is {versus.ratio:.3g} times as fast as {first} {basis}."


def sentences(comparison: DeviceComparison) -> tuple[str, ...]:
    """Which device for which size, the most telling first."""
    ranges = tuple(_ranges(comparison))
    if not ranges:
        return ()
    said = [f"{'; '.join(ranges)}."]
    sizes = [size for size in comparison.measured_sizes if len(comparison.counting(size)) > 1]
    if sizes:
        first, second = comparison.counting(sizes[-1])[:2]
        duel = comparison.versus(second.device, first.device, sizes[-1])
        if duel is not None:
            # Of a single size that was won, the duel alone says who won it.
            if len(comparison.measured_sizes) == 1 and len(comparison.best(sizes[-1])) == 1:
                said.clear()
            said.append(describe_duel(duel, comparison.devices))
    if comparison.busy:
        said.append(f"The machine was busy: {comparison.busy}.")
    return tuple(said)


def _ranges(comparison: DeviceComparison) -> Iterator[str]:
    """The best devices of neighbouring sizes together: "64 to 256: this one"."""
    names = {device.key: device_label(device) for device in comparison.devices}
    order = [device.key for device in comparison.devices]
    known = [(size, comparison.best(size)) for size in comparison.measured_sizes]
    judged = [(size, tuple(sorted(best, key=order.index))) for size, best in known]
    for best, sizes in groupby(judged, key=lambda entry: entry[1]):
        if not best:
            continue
        found = [size for size, _ in sizes]
        span = f"{found[0]}" if len(found) == 1 else f"{found[0]} to {found[-1]}"
        alike = ", not to be told apart" if len(best) > 1 else ""
        yield f"{span}: {' or '.join(names[key] for key in best)}{alike}"
