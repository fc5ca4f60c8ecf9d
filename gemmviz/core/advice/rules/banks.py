"""Local accesses that meet on one bank, and the pad that keeps them apart."""

from __future__ import annotations

from gemmviz.core.access.report import Access, AccessReport
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook, neighbours
from gemmviz.core.advice.padding import declaration, longer_rows
from gemmviz.core.advice.rules.rule import Rule, finding
from gemmviz.core.advice.situation import Situation
from gemmviz.core.expr import ExprError
from gemmviz.core.launch import geometry
from gemmviz.core.model import Parameter, Parameters

_CONFLICT = 1.5  # mean passes over those without conflict, from which an access is in conflict
_WORTH = 1.02  # a pad costs nothing, so that little is enough


def conflicts(report: AccessReport) -> tuple[Access, ...]:
    """The local accesses in conflict, the one that costs most turns first."""
    found = [
        access
        for access in report.accesses
        if access.space == "local" and _passes(access) >= _CONFLICT * _ideal(access)
    ]
    return tuple(sorted(found, key=lambda a: -a.executions * (_passes(a) - _ideal(a))))


def _ideal(access: Access) -> int:
    """Passes that the lanes' bytes take in any case: 4 for a warp's float4."""
    return access.ideal_passes or 1


def _passes(access: Access) -> float:
    return access.passes_mean or _ideal(access)


def local_turns(report: AccessReport) -> float:
    """Turns of the banks that one group needs."""
    return sum(a.executions * _passes(a) for a in report.accesses if a.space == "local")


def pad_parameter(situation: Situation) -> Parameter | None:
    """The macro that is a pad: it may be 0, adds local memory and changes nothing else."""
    for parameter in situation.variant.parameters:
        if 0 not in parameter.values or len(parameter.values) < 2:
            continue
        shapes = []
        for value in parameter.values:
            changed = with_value(situation.parameters, parameter.name, value)
            try:
                shapes.append(geometry(situation.variant, changed, situation.problem))
            except ExprError:
                break
        else:
            same = {(shape.local, shape.tile) for shape in shapes}
            if len(same) == 1 and len({shape.local_bytes for shape in shapes}) > 1:
                return parameter
    return None


def with_value(parameters: Parameters, name: str, value: int) -> Parameters:
    """The parameters with one changed."""
    return tuple((key, value if key == name else old) for key, old in parameters)


def _judge(situation: Situation, outlook: Outlook) -> Finding | None:
    report = situation.access
    if situation.on_cpu or report is None:
        return None
    worst = next(iter(conflicts(report)), None)
    if worst is None:
        return None
    evidence = (
        f"{worst.text} needs {worst.passes} passes of the {report.machine.banks} banks "
        f"where {_ideal(worst)} would do ({worst.pattern})."
    )
    source, title = f"access lens, line {worst.line}", f"Bank conflicts in {worst.array}"
    best = _best_pad(situation, outlook)
    if best is not None:
        found, turns = best
        now = local_turns(report)
        note = f"Its local accesses take {turns / now:.2g} of the turns they take now."
        if outlook.expected(found) >= _WORTH:
            return finding(situation, outlook, found, rule="banks.conflict", title=title,
                           evidence=evidence, source=source, note=note)  # fmt: skip
        return None
    written = _written_pad(situation, outlook, title=title, evidence=evidence, source=source)
    if written is not None:
        return written
    free = outlook.best(lambda f: _free(outlook, f) and f.variant != situation.variant)
    if free is None or outlook.expected(free) < _WORTH:
        return None
    return finding(situation, outlook, free, rule="banks.conflict", title=title, evidence=evidence,
                   source=source, note="Its local accesses have no conflict.")  # fmt: skip


def _written_pad(
    situation: Situation, outlook: Outlook, *, title: str, evidence: str, source: str
) -> Finding | None:
    """Longer rows, to be written into a kernel that has no macro for them."""
    s, report = situation, situation.access
    if report is None or any("PAD" in name for name, _ in s.parameters):
        return None
    conflicting = conflicts(report)
    arrays = tuple(dict.fromkeys(access.array for access in conflicting))
    room = s.device.local_mem_bytes
    pads = tuple(p for p in outlook.pads if not p.pad or room is None or p.local_bytes <= room)
    longer = longer_rows(report, pads, arrays)
    if longer is None:
        return None
    if s.not_followed:
        # Of the whole launch nothing is known; this access alone saves so much at the most.
        low, high = 1.0, _passes(conflicting[0]) / _ideal(conflicting[0])
    else:
        low, high = outlook.gain_with(longer.report)
        low = max(low, 1.0)  # nothing else changes
    if (low * high) ** 0.5 < _WORTH:
        return None
    extra = f"{longer.elements} element{'s' * (longer.elements != 1)} longer"
    lines = []
    for array in arrays:
        found = declaration(s.variant.source, array, longer.elements)
        lines.append(f"`{found[0]}`, line {found[1]}" if found is not None else array)
    action = (
        f"Make the rows of {' and '.join(arrays)} {extra}: {'; '.join(lines)}. Accesses to "
        f"{'it' if len(arrays) == 1 else 'them'} then take {longer.share:.2g} of the turns they "
        "take now."
    )
    return Finding("banks.conflict", title, evidence, source, action, s.variant.id, s.parameters,
                   low, high, variant=s.variant, why=action)  # fmt: skip


def _best_pad(situation: Situation, outlook: Outlook) -> tuple[Forecast, float] | None:
    """The pad with the fewest turns, the smallest of equal ones; None without a better one."""
    parameter, report = pad_parameter(situation), situation.access
    if parameter is None or report is None:
        return None
    per_flop = local_turns(report) * report.groups / report.flop
    best: tuple[float, int, Parameters] | None = None
    for parameters in neighbours(situation.parameters, outlook.settings(situation.variant)):
        pad = dict(parameters)[parameter.name]
        if pad == dict(situation.parameters)[parameter.name]:
            continue  # another macro is the one that differs
        other = outlook.report(situation.variant, parameters)
        if other is None:
            continue
        turns = local_turns(other) * other.groups / other.flop
        key = (round(turns / per_flop, 6), pad, parameters)
        best = key if best is None or key < best else best
    if best is None or best[0] > 0.98:
        return None
    found = outlook.of(situation.variant, best[2])
    return None if found is None else (found, best[0] * local_turns(report))


def _free(outlook: Outlook, found: Forecast) -> bool:
    report = outlook.report(found.variant, found.parameters)
    return report is not None and not conflicts(report)


RULES = (Rule("banks.conflict", "Do local accesses meet on one bank?", _judge),)
