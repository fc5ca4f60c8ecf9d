"""Longer rows of local arrays in a kernel without a macro for it: how long, where, and the gain."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from gemmviz.core.access.report import AccessReport, Pad

_NEEDED = 0.98  # of the turns must remain at most


@dataclass(frozen=True, slots=True)
class LongerRows:
    """What longer rows of some local arrays give.

    Attributes:
        elements: How many elements each row is longer,
        report: and what the lens would say then.
        share: Turns that the accesses to these arrays take then, over those now.
    """

    elements: int
    report: AccessReport
    share: float


def longer_rows(
    report: AccessReport, pads: tuple[Pad, ...], arrays: Collection[str]
) -> LongerRows | None:
    """The fewest elements that leave the fewest turns in some arrays; None where none help.

    Args:
        report: What the lens says of the kernel as it is.
        pads: What it says of longer rows, the first as they are.
        arrays: The local arrays to make longer; the others stay.
    """
    mine = [
        number
        for number, access in enumerate(report.accesses)
        if access.space == "local" and access.array in arrays
    ]
    passes = [dict(pad.passes) for pad in pads]
    if not mine or not passes or any(number not in each for number in mine for each in passes):
        return None

    def turns(place: int) -> int:
        return sum(report.accesses[number].executions * passes[place][number] for number in mine)

    best = min(range(len(pads)), key=lambda place: (turns(place), pads[place].pad))
    now = turns(0)
    if not now or turns(best) > _NEEDED * now:
        return None
    accesses = list(report.accesses)
    for number in mine:
        taken = passes[best][number]
        accesses[number] = replace(accesses[number], passes=taken, passes_mean=float(taken))
    return LongerRows(pads[best].pad, replace(report, accesses=tuple(accesses)), turns(best) / now)


def declaration(source: str, array: str, elements: int) -> tuple[str, int] | None:
    """How a local array with longer rows is declared, and the line where it is; None if unseen.

    Of several arrays declared together only this one is shown.
    """
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), source,
                  flags=re.DOTALL)  # fmt: skip
    found = re.search(
        rf"\b((?:__)?local(?:\s+\w+)+?)\s+(?:\w[^;(){{}}]*?,\s*)?{re.escape(array)}"
        r"\s*((?:\[[^\]]*\]\s*)+)",
        bare,
    )
    if found is None:
        return None
    *outer, row = re.findall(r"\[([^\]]*)\]", found[2])
    whole = row.strip() if re.fullmatch(r"[\w\s+*-]+", row) else f"({row.strip()})"
    dims = "".join(f"[{dim.strip()}]" for dim in outer) + f"[{whole} + {elements}]"
    kind = " ".join(found[1].split())
    return f"{kind} {array}{dims}", bare.count("\n", 0, found.start(2)) + 1
