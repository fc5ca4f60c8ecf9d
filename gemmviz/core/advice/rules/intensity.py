"""Too much is moved for what is computed: a bigger tile, or more cells a work-item."""

from __future__ import annotations

import math

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import WORTH, Rule, finding, model_source
from gemmviz.core.advice.situation import Situation

_LESS = 0.95  # what must remain at most of the loads or the fetched bytes to be the reason


def _lighter(found: Forecast, here: Forecast) -> bool:
    """Whether a configuration moves clearly less for the same work."""
    return (
        found.load_bytes < _LESS * here.load_bytes
        or found.fetched_bytes < _LESS * here.fetched_bytes
    )


def _blocking(situation: Situation, outlook: Outlook) -> Finding | None:
    return _advise(situation, outlook, "intensity.blocking", own=False)


def _tile(situation: Situation, outlook: Outlook) -> Finding | None:
    return _advise(situation, outlook, "intensity.tile", own=True)


def _advise(situation: Situation, outlook: Outlook, rule: str, *, own: bool) -> Finding | None:
    here = outlook.here
    if here is None:
        return None
    pool = outlook.own if own else outlook.others
    found = next(
        (f for f in pool if (f.variant.id == situation.variant.id) is own and _lighter(f, here)),
        None,
    )
    if found is None or outlook.expected(found) < WORTH:
        return None
    return finding(
        situation,
        outlook,
        found,
        rule=rule,
        title=_title(here, found),
        evidence=_evidence(situation, outlook, here, found),
        source=model_source(outlook, "access lens" if here.seen else "the tile's shape"),
        note=_note(situation, here, found),
    )


def _title(here: Forecast, found: Forecast) -> str:
    if here.bound == "memory":
        return "Low arithmetic intensity"
    if found.cells > here.cells:
        return "Many loads for each multiply-add"
    larger = math.prod(found.shape.tile) > math.prod(here.shape.tile)
    return "A small tile" if larger else "Another tile takes fewer loads"


def _evidence(situation: Situation, outlook: Outlook, here: Forecast, found: Forecast) -> str:
    """The bytes that a FLOP takes now and would take, and the FLOP that a fetched byte makes."""
    work = outlook.work
    intensity = work / here.fetched_bytes
    ridge = outlook.rates.arithmetic / outlook.rates.cache
    words = (
        f"Each FLOP takes {_short(here.loads_per_flop(work))} B through the load pipes; "
        f"{_short(found.loads_per_flop(work))} B would do."
        if here.bound != "memory"
        else f"A group makes {_short(intensity)} FLOP of each byte it fetches, where "
        f"{_short(ridge)} would keep the arithmetic busy; {_short(work / found.fetched_bytes)} "
        "can be had."
    )
    if situation.access is not None and situation.access.intensity is not None:
        words += f" In all it makes {_short(situation.access.intensity)} FLOP/B of global memory."
    return words


def _note(situation: Situation, here: Forecast, found: Forecast) -> str:
    if found.cells > here.cells:
        kept = f"A work-item then makes {found.cells:g} cells from registers"
        where = ", which pays on a CPU as well" if situation.on_cpu else ""
        return f"{kept}{where}."
    rows, cols = found.shape.tile
    return f"A group then makes {rows} x {cols} cells from what it fetches."


def _short(value: float) -> str:
    return f"{value:.3g}"


RULES = (
    Rule("intensity.blocking", "Would another kernel move less for each FLOP?", _blocking),
    Rule("intensity.tile", "Would this kernel with another tile move less?", _tile),
)
