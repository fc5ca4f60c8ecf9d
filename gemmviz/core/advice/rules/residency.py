"""What limits how many groups are resident, where that matters; and registers that spill."""

from __future__ import annotations

import math
from dataclasses import replace

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import Rule, finding, try_text
from gemmviz.core.advice.situation import Situation
from gemmviz.core.estimate import Estimate
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.throttle import ThrottleCurve
from gemmviz.core.units import memory, percent, throughput

_LOW = 0.5  # the occupancy below which the documents would reduce the tile
_UNKNOWN_GAIN = 1.15  # the most that an unproved limit is said to cost
_SPILL_GAIN = (1.1, 10.0)  # 51 against 4.7 TFLOP/s was seen with registers held at 128
_MAX_REGISTERS = "-cl-nv-maxrregcount"


def _judge(situation: Situation, outlook: Outlook) -> Finding | None:
    estimate = situation.estimate
    if estimate is None or estimate.occupancy is None or not estimate.groups_per_unit:
        return None
    limits = [name for name in estimate.limiters if name in ("local memory", "registers")]
    if not limits or estimate.occupancy >= 0.9:
        return None
    what = " and ".join(limits)
    groups = estimate.groups_per_unit
    held = (
        f"{what.capitalize()} hold {groups} group{'s' * (groups != 1)} on one "
        f"{estimate.pool_name}, {percent(estimate.occupancy)} of its {estimate.warp_name} slots."
    )
    if situation.throttle is None:
        if estimate.occupancy >= _LOW:
            return None
        return Finding(
            "residency.unknown",
            "Few groups are resident; whether it matters is not known",
            f"{held} The fastest kernels often have the lowest occupancy.",
            estimate.source,
            "Measure it before changing anything: the throttling experiment forces fewer groups "
            "and shows what they are worth.",
            gain_high=_UNKNOWN_GAIN,
        )
    power = sensitivity(situation.throttle)
    if power <= 0:
        return None  # the curve is flat: what it costs is nothing
    found = _lighter(situation, outlook, groups)
    if found is None:
        return None
    more, other = found
    first, last = situation.throttle.points[0], situation.throttle.points[-1]
    return Finding(
        "residency.limit",
        f"{what.capitalize()} limit the groups that hide latency",
        f"{held} With {last.groups_per_unit} instead of {first.groups_per_unit} it falls from "
        f"{throughput(first.flops)} to {throughput(last.flops)}.",
        f"throttling curve measured here; {estimate.source}",
        f"{try_text(situation, other)} It uses {memory(other.shape.local_bytes)} a group, so that "
        f"{more} are resident.",
        other.variant.id,
        other.parameters,
        # Resident groups gain less and less, and the other setting loads more.
        min(1.0, outlook.gain(other)[0]),
        (more / groups) ** power,
        variant=other.variant,
    )


def sensitivity(curve: ThrottleCurve) -> float:
    """How speed follows residency near the kernel's own: the exponent of a power law, 0 if flat.

    The first point is compared with the next that has clearly fewer groups; where their intervals
    overlap the curve is flat.
    """
    if len(curve.points) < 2:
        return 0.0
    first = curve.points[0]
    for point in curve.points[1:]:
        if point.groups_per_unit >= first.groups_per_unit or point.groups_per_unit < 1:
            continue
        if point.flops_high >= first.flops_low or point.flops <= 0:
            return 0.0
        ratio = first.groups_per_unit / point.groups_per_unit
        return min(1.0, math.log(first.flops / point.flops) / math.log(ratio))
    return 0.0


def resident(situation: Situation, found: Forecast) -> Estimate:
    """The occupancy of another setting of this kernel, with the registers that this one has."""
    s = situation
    registers = s.registers.registers if s.registers is not None else None
    return estimate_for(
        found.variant, found.parameters, s.problem, s.device, s.limits, registers=registers
    )


def _lighter(situation: Situation, outlook: Outlook, groups: int) -> tuple[int, Forecast] | None:
    """The fastest setting of this kernel of which more groups are resident, and how many."""
    assert situation.estimate is not None
    size = situation.estimate.group_size
    for found in outlook.own:
        if found.shape.group_size == size:
            more = resident(situation, found).groups_per_unit or 0
            if more > groups:
                return more, found
    return None


def _spills(situation: Situation, outlook: Outlook) -> Finding | None:
    registers = situation.registers
    if registers is None or not registers.spill_bytes:
        return None
    here = situation.here
    evidence = f"{registers.spill_bytes} B of each work-item's registers are spilled to memory"
    if registers.registers:
        evidence += f", beside the {registers.registers} registers it has"
    evidence += "."
    title, source = "Registers spill", "the compiler's report"
    if here is not None and _MAX_REGISTERS in here.build_options:
        return Finding("residency.spills", title, evidence, source,
                       f"Build it without {_MAX_REGISTERS}.",
                       gain_low=_SPILL_GAIN[0], gain_high=_SPILL_GAIN[1])  # fmt: skip
    cells = outlook.here.cells if outlook.here is not None else 0.0
    found = next((f for f in outlook.own if f.cells < cells), None)
    if found is None:
        return Finding("residency.spills", title, evidence, source,
                       "Give a work-item less to hold: fewer cells, or fewer values fetched ahead.",
                       gain_low=1.0, gain_high=_SPILL_GAIN[1] / 2)  # fmt: skip
    note = f"A work-item then makes {found.cells:g} cells, not {cells:g}."
    advised = finding(situation, outlook, found, rule="residency.spills", title=title,
                      evidence=evidence, source=source, note=note)  # fmt: skip
    # The model knows no spills, so its range is widened by what they were seen to cost.
    return replace(advised, gain_low=min(1.0, advised.gain_low), gain_high=_SPILL_GAIN[1] / 2)


RULES = (
    Rule("residency.limit", "Do local memory or registers limit residency, and matter?", _judge),
    Rule("residency.spills", "Do registers spill?", _spills),
)
