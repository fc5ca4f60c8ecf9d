"""Too much is moved for what is computed: a bigger tile, or more cells a work-item."""

from __future__ import annotations

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
    if here is None or situation.not_followed:
        return None
    pool = outlook.own if own else outlook.others
    found = next(
        (f for f in pool if (f.variant == situation.variant) is own and _lighter(f, here)),
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
        evidence=_evidence(situation, outlook, here),
        source=model_source(outlook, "access lens" if here.seen else "the tile's shape"),
        note=_note(situation, outlook, here, found),
    )


def _title(here: Forecast, found: Forecast) -> str:
    if here.bound == "memory":
        return "Low arithmetic intensity"
    if found.cells > here.cells:
        return "Many loads for each multiply-add"
    if found.fetched_bytes < _LESS * here.fetched_bytes:
        return "A small tile"
    local = _saves_local(here, found)
    return "Local memory takes many turns" if local else "Many loads for each multiply-add"


def _evidence(situation: Situation, outlook: Outlook, here: Forecast) -> str:
    """The bytes that a FLOP takes now, or the FLOP that a fetched byte makes."""
    work = outlook.work
    intensity = work / here.fetched_bytes
    ridge = outlook.rates.arithmetic / outlook.rates.cache
    words = (
        f"Each FLOP takes {_short(here.loads_per_flop(work))} B through the load pipes, where "
        f"{_short(outlook.rates.loads / outlook.rates.arithmetic)} B would keep the arithmetic "
        "busy."
        if here.bound != "memory"
        else f"A group makes {_short(intensity)} FLOP of each byte it fetches, where "
        f"{_short(ridge)} would keep the arithmetic busy."
    )
    if situation.access is not None and situation.access.intensity is not None:
        words += f" In all it makes {_short(situation.access.intensity)} FLOP/B of global memory."
    return words


def _note(situation: Situation, outlook: Outlook, here: Forecast, found: Forecast) -> str:
    """What changes, and by how much in the unit of the evidence."""
    work = outlook.work
    if here.bound == "memory" or not found.load_bytes < _LESS * here.load_bytes:
        words = (
            f"Each byte fetched then makes {_short(work / found.fetched_bytes)} FLOP instead of "
            f"{_short(work / here.fetched_bytes)}"
        )
    else:
        words = (
            f"Each FLOP then takes {_short(found.loads_per_flop(work))} B through the load pipes "
            f"instead of {_short(here.loads_per_flop(work))}"
        )
        if _saves_local(here, found):
            words += (
                f", in local memory {_short(found.local_load_bytes / work)} B instead of "
                f"{_short(here.local_load_bytes / work)}"
            )
    if found.cells > here.cells:
        where = ", which pays on a CPU as well" if situation.on_cpu else ""
        kept = f"{found.cells:.0f} cells from registers, not {here.cells:.0f}"
        return f"{words}: a work-item makes {kept}{where}."
    if found.fetched_bytes < _LESS * here.fetched_bytes:
        (rows, cols), (fewer_rows, fewer_cols) = found.shape.tile, here.shape.tile
        return f"{words}: a group makes {rows} x {cols} cells, not {fewer_rows} x {fewer_cols}."
    return f"{words}."


def _saves_local(here: Forecast, found: Forecast) -> bool:
    """Whether most of the loads saved are those of local memory."""
    saved = here.load_bytes - found.load_bytes
    return 2 * (here.local_load_bytes - found.local_load_bytes) > saved > 0


def _short(value: float) -> str:
    return f"{value:.3g}"


RULES = (
    Rule("intensity.blocking", "Would another kernel move less for each FLOP?", _blocking),
    Rule("intensity.tile", "Would this kernel with another tile move less?", _tile),
)
