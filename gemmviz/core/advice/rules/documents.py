"""The rules of thumb that articles on local memory give, held to what was found of them.

They are "2 x TILE^2 x size within the budget over the groups wanted" and "below 50 % occupancy
reduce the tile". Both look at groups alone. Measured on an H200, the fastest kernel of ten had the
lowest occupancy: with work for registers in each item, latency is hidden by independent work. So
neither is applied where an item makes several cells, nor against the throttling curve.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.residency import resident, sensitivity
from gemmviz.core.advice.rules.rule import WORTH, Rule, finding
from gemmviz.core.advice.situation import Situation
from gemmviz.core.units import memory, percent

_WANTED_GROUPS = 4
_FEW_CELLS = 4  # cells an item from which independent work hides latency instead of more items
_LOW = 0.5


def _applies(situation: Situation, outlook: Outlook) -> Forecast | None:
    """What is at hand where groups are what hides latency: a GPU, local tiles, a cell an item."""
    here = outlook.here
    if situation.on_cpu or here is None or not here.shape.local_bytes:
        return None
    return here if here.cells < _FEW_CELLS else None


def _budget(situation: Situation, outlook: Outlook) -> Finding | None:
    here, device = _applies(situation, outlook), situation.device
    if here is None or not device.local_mem_bytes or situation.not_followed:
        return None
    share = device.local_mem_bytes // _WANTED_GROUPS
    found = next(
        (f for f in outlook.own if here.shape.local_bytes < f.shape.local_bytes <= share), None
    )
    if found is None or outlook.gain(found)[1] < 1.0:
        return None
    less = here.fetched_bytes / found.fetched_bytes
    if less < WORTH:
        return None
    used, larger = here.shape.local_bytes, found.shape.local_bytes
    advised = finding(
        situation,
        outlook,
        found,
        rule="documents.budget",
        title="The budget holds a larger tile",
        evidence=f"Its tiles take {memory(used)} of {memory(device.local_mem_bytes)}; with "
        f"{_WANTED_GROUPS} groups wanted they may take {memory(share)}. With {memory(larger)} the "
        f"groups fetch {1 / less:.2g} of what they fetch now.",
        source="2 x TILE^2 x size <= CL_DEVICE_LOCAL_MEM_SIZE / groups",
        note="The budget is no count of resident groups: slots limit those first.",
    )
    # Fewer steps along K mean fewer barriers too, which the model leaves out.
    return replace(advised, gain_low=min(1.0, advised.gain_low),
                   gain_high=max(advised.gain_high, math.sqrt(less)))  # fmt: skip


def _half(situation: Situation, outlook: Outlook) -> Finding | None:
    here, estimate = _applies(situation, outlook), situation.estimate
    if here is None or estimate is None or estimate.occupancy is None:
        return None
    if not 0 < estimate.occupancy < _LOW:
        return None
    if situation.throttle is not None and sensitivity(situation.throttle) <= 0:
        return None
    least = 1.1 * estimate.occupancy
    smaller = [f for f in outlook.own if f.shape.group_size < estimate.group_size]
    found = next((f for f in smaller if (resident(situation, f).occupancy or 0) > least), None)
    if found is None:
        return None
    then = resident(situation, found).occupancy or 0.0
    advised = finding(
        situation,
        outlook,
        found,
        rule="documents.half",
        title="Occupancy below a half, and one cell an item",
        evidence=f"{percent(estimate.occupancy)} of the {estimate.warp_name} slots are in use, "
        f"limited by {' and '.join(estimate.limiters)}; with {here.cells:g} "
        f"cell{'s' * (here.cells != 1)} an item only other items hide latency.",
        source=estimate.source,
        note=f"It fills {percent(then)}. With more cells an item this rule of thumb does not hold.",
    )
    return replace(advised, gain_low=min(1.0, advised.gain_low),
                   gain_high=then / estimate.occupancy)  # fmt: skip


RULES = (
    Rule("documents.budget", "Would a larger tile fit the local-memory budget?", _budget),
    Rule("documents.half", "Is occupancy below a half where items do one cell each?", _half),
)
