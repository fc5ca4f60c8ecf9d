"""Local accesses that meet on one bank, and the pad that keeps them apart."""

from __future__ import annotations

from gemmviz.core.access.report import Access, AccessReport
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook, neighbours
from gemmviz.core.advice.rules.rule import Rule, finding
from gemmviz.core.advice.situation import Situation
from gemmviz.core.expr import ExprError
from gemmviz.core.launch import geometry
from gemmviz.core.model import Parameter, Parameters

_CONFLICT = 1.5  # mean passes from which an access counts as in conflict
_WORTH = 1.02  # a pad costs nothing, so that little is enough


def conflicts(report: AccessReport) -> tuple[Access, ...]:
    """The local accesses in conflict, the one that costs most turns first."""
    found = [a for a in report.accesses if a.space == "local" and (a.passes_mean or 0) >= _CONFLICT]
    return tuple(sorted(found, key=lambda a: -a.executions * (a.passes_mean or 0.0)))


def local_turns(report: AccessReport) -> float:
    """Turns of the banks that one group needs."""
    return sum(a.executions * (a.passes_mean or 1.0) for a in report.accesses if a.space == "local")


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
        f"where one would do ({worst.pattern})."
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
    free = outlook.best(lambda f: _free(outlook, f) and f.variant.id != situation.variant.id)
    if free is None or outlook.expected(free) < _WORTH:
        return None
    return finding(situation, outlook, free, rule="banks.conflict", title=title, evidence=evidence,
                   source=source, note="No pad of this kernel ends it.")  # fmt: skip


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
