"""How the tiles fit this shape, and the work-groups this device."""

from __future__ import annotations

from collections.abc import Callable

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import WORTH, Rule, finding
from gemmviz.core.advice.situation import Situation
from gemmviz.core.units import percent

_WASTE = 1.08  # FLOP of whole tiles over those asked for, from which the tail matters
_IDLE = 0.85  # share of the units' time with work, below which they want more groups


def _tail(situation: Situation, outlook: Outlook) -> Finding | None:
    here = outlook.here
    if here is None or here.padded < _WASTE:
        return None
    found = _fastest(outlook, lambda f: f.padded < 0.97 * here.padded)
    if found is None or outlook.expected(found) < WORTH:
        return None
    rows, cols = here.shape.tile
    covered_rows, covered_cols = _covered(situation, here)
    p = situation.problem
    return finding(
        situation,
        outlook,
        found,
        rule="shape.tail",
        title="Tiles stick out of the matrix",
        evidence=f"{p.m} x {p.n} is covered by {rows} x {cols} tiles up to {covered_rows} x "
        f"{covered_cols}: {percent(1 - 1 / here.padded)} of what they compute is thrown away.",
        source="launch geometry",
        note=f"Its tiles waste {percent(1 - 1 / found.padded)}.",
    )


def _covered(situation: Situation, here: Forecast) -> tuple[int, int]:
    """Rows and columns that whole tiles cover."""
    (rows, cols), p = here.shape.tile, situation.problem
    return -(-p.m // rows) * rows, -(-p.n // cols) * cols


def _units(situation: Situation, outlook: Outlook) -> Finding | None:
    here, units = outlook.here, situation.device.compute_units
    if here is None or units is None or here.busy >= _IDLE:
        return None
    found = _fastest(outlook, lambda f: f.busy > 1.1 * here.busy)
    if found is None or outlook.expected(found) < WORTH:
        return None
    groups = here.shape.groups
    verb = "leave" if groups > 1 else "leaves"
    return finding(
        situation,
        outlook,
        found,
        rule="shape.units",
        title="Too few work-groups for the device",
        evidence=f"{groups} work-group{'s' * (groups != 1)} on {units} compute units {verb} "
        f"{percent(1 - here.busy)} of their time without work.",
        source="launch geometry and CL_DEVICE_MAX_COMPUTE_UNITS",
        note=f"It makes {found.shape.groups} groups.",
    )


def _fastest(outlook: Outlook, wanted: Callable[[Forecast], bool]) -> Forecast | None:
    """The fastest setting of the kernel at hand that is as wanted, else the fastest of all."""
    return next((f for f in outlook.own if wanted(f)), None) or outlook.best(wanted)


RULES = (
    Rule("shape.tail", "Do the tiles fit the matrix?", _tail),
    Rule("shape.units", "Do the work-groups keep every compute unit busy?", _units),
)
