"""Something faster was measured already."""

from __future__ import annotations

import math

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import WORTH, Rule, finding, model_source
from gemmviz.core.advice.situation import Situation, configuration_label
from gemmviz.core.units import duration, percent

_NEAR = 1.15  # times the time foreseen for what is at hand, up to which the model may be mistaken
_ENOUGH = 4  # such configurations measured and found slower, and the rest is not worth trying


def _judge(situation: Situation, outlook: Outlook) -> Finding | None:
    here = situation.here
    if here is None or not here.seconds:
        return None
    latest = {(m.variant, m.parameters): m for m in situation.measured}
    timed = [m for m in latest.values() if m.counts]
    best = min(timed, key=lambda m: m.seconds or 0.0, default=None)
    if best is None or not best.seconds or here.seconds < WORTH * best.seconds:
        return None
    found = outlook.of(best.variant, best.parameters)
    if found is None:
        return None
    return finding(
        situation,
        outlook,
        found,
        rule="record.faster",
        title="Something faster was measured",
        evidence=f"{configuration_label(best.variant, best.parameters)} took "
        f"{duration(best.seconds)} at this shape, this configuration {duration(here.seconds)}.",
        source="measured here",
    )


def _untried(situation: Situation, outlook: Outlook) -> Finding | None:
    """What the model cannot tell from the fastest measured: a run tells, so a few are worth it."""
    here = situation.here
    if here is None or not here.seconds or here.wrong or outlook.here is None:
        return None
    tried = [m for m in situation.measured if m.counts]
    if min(m.seconds or math.inf for m in tried) < here.seconds:
        return None  # the fastest is where to look from
    near = {
        found.configuration: found
        for found in outlook.others
        if found.seconds < _NEAR * outlook.here.seconds
    }
    known = [m for m in tried if (m.variant, m.parameters) in near]
    unknown = [found for key, found in near.items() if not situation.measurement(*key)]
    if not unknown or len(known) >= _ENOUGH:
        return None
    # Another tile tells more than a macro that the model does not see, as a pad without conflicts.
    seen = {outlook.of(m.variant, m.parameters) for m in tried}
    shapes = {(f.variant, f.shape.tile, f.shape.local) for f in seen if f is not None}
    unknown.sort(key=lambda f: (f.variant, f.shape.tile, f.shape.local) in shapes)
    found = unknown[0]
    ratio = found.seconds / outlook.here.seconds
    return finding(
        situation,
        outlook,
        found,
        rule="record.untried",
        title="About as fast by the model, and not tried"
        if ratio * _NEAR > 1
        else "Faster by the model, and not tried",
        evidence=f"The model foresees {percent(ratio)} of this configuration's time for it, and "
        "is no clock.",
        source=model_source(outlook, "model of the device"),
        note="A run decides.",
    )


RULES = (Rule("record.faster", "Has anything faster been measured here?", _judge),)
UNTRIED = (Rule("record.untried", "Has what should be about as fast been tried?", _untried),)
"""Asked last: where another rule comes to the same configuration, it says why."""
