"""Global accesses that do not run side by side, on a GPU."""

from __future__ import annotations

from gemmviz.core.access.marks import access_tone
from gemmviz.core.access.report import Access, AccessReport
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import WORTH, Rule, finding
from gemmviz.core.advice.situation import Situation

_SCATTERED = 1.5  # sectors over the ideal from which an access counts as not coalesced
_RARE = 0.02  # a share of the accesses below which they do not matter: the store of C


def _excess(access: Access) -> float:
    """Sectors that the access takes for each one it needs."""
    if access.space != "global" or access.broadcast or not access.ideal_sectors:
        return 1.0
    return (access.sectors_mean or access.ideal_sectors) / access.ideal_sectors


def scattered(report: AccessReport) -> tuple[Access, ...]:
    """The accesses that take too many sectors, the one that costs most first."""
    total = sum(access.executions for access in report.accesses) or 1
    found = [
        access
        for access in report.accesses
        if _excess(access) >= _SCATTERED
        and access_tone(access) == "bad"  # few sectors are cheap, however little of them is used
        and access.executions >= _RARE * total
    ]
    cost = {id(access): access.executions * (access.sectors_mean or 0.0) for access in found}
    return tuple(sorted(found, key=lambda access: -cost[id(access)]))


def _judge(situation: Situation, outlook: Outlook) -> Finding | None:
    report = situation.access
    if situation.on_cpu or report is None:
        return None
    worst = next(iter(scattered(report)), None)
    if worst is None:
        return None
    found = _coalesced(outlook)
    if found is None or outlook.expected(found) < WORTH:
        return None
    return finding(
        situation,
        outlook,
        found,
        rule="access.coalescing",
        title=f"Neighbours do not read {worst.array} side by side"
        if worst.kind == "load"
        else f"Neighbours do not write {worst.array} side by side",
        evidence=f"{worst.text} touches {worst.sectors} sectors of 32 B a "
        f"{'warp' if report.machine.warp <= 32 else 'wave'} where {worst.ideal_sectors} would "
        f"hold the same data ({worst.pattern}).",
        source=f"access lens, line {worst.line}",
        note="It maps dimension 0 along memory.",
    )


def _coalesced(outlook: Outlook) -> Forecast | None:
    """The candidate that coalesces and else is most like what is at hand.

    Of equal ones the fastest. Exchanging the axes is one idea; bigger steps are other rules'.
    """
    here = outlook.here
    if here is None:
        return None
    good = []
    for found in outlook.alike:
        report = outlook.report(found.variant, found.parameters)
        if report is not None and not scattered(report):
            good.append(found)

    def unlike(found: Forecast) -> tuple[object, ...]:
        return (
            found.shape.local_bytes != here.shape.local_bytes,
            found.cells != here.cells,
            found.shape.group_size != here.shape.group_size,
            outlook.seconds(found),
        )

    return min(good, key=unlike, default=None)


RULES = (Rule("access.coalescing", "Do neighbours access memory side by side?", _judge),)
