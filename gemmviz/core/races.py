"""What a simulator finds wrong with a kernel's synchronisation and its addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass

KINDS = ("data race", "barrier divergence", "out of bounds", "uninitialised", "api", "other")
"""Kinds of findings, the ones that explain others first."""

_HEADS = (
    ("data race", re.compile(r"(Read-write|Write-write) data race at (\w+) memory")),
    ("barrier divergence", re.compile(r"Work-group divergence detected \((.*)\)")),
    ("out of bounds", re.compile(r"Invalid (read|write) of size (\d+) at (\w+) memory")),
    ("out of bounds", re.compile(r"Index \((-?\d+)\) exceeds static array size \((\d+)\)")),
    ("uninitialised", re.compile(r"Uninitialized (\w+)")),
    ("api", re.compile(r"Oclgrind - OpenCL runtime error detected")),
)
# Said once at the end of a log that was cut: no finding.
_CUT = re.compile(r"Oclgrind: \d+ errors generated")
_PLACE = re.compile(r"At line (\d+) (?:\(column \d+\) )?of (\S+):")
_GROUP = re.compile(r"Group\((\d+),(\d+),(\d+)\)")
_REACHED = re.compile(r"Only (\d+) out of (\d+) work-items")
_FUNCTION = re.compile(r"Function: (\w+)")
_ERROR = re.compile(r"Error: (\w+)")
_MOST_DETAIL = 1500


@dataclass(frozen=True, slots=True)
class RaceFinding:
    """One fault, however often it was reported.

    Attributes:
        kind: One of KINDS.
        lines: Lines of the kernel's own file, sorted; empty where the simulator names none.
        count: How many reports it stands for.
        sentence: What happens there, for a person.
        detail: The first report as the simulator wrote it.
    """

    kind: str
    lines: tuple[int, ...]
    count: int
    sentence: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RaceReport:
    """All faults of a kernel at one shape; none means that none was found, not that none is.

    ``shape`` is M, N and K; ``simulator`` its name and version; ``remark`` what limits the check.
    """

    kernel: str
    shape: tuple[int, int, int]
    simulator: str
    findings: tuple[RaceFinding, ...]
    seconds: float
    remark: str = ""


def parse_log(log: str, file: str) -> tuple[RaceFinding, ...]:
    """The findings of an Oclgrind log, equal ones counted together.

    Reports are equal where kind and source lines are: one missing barrier is reported for each
    pair of work-items.

    Args:
        log: What Oclgrind wrote, whole or cut off.
        file: The name under which the kernel's own lines are reported, as "tiled.cl".
    """
    found: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for report in re.split(r"\n(?=\S)", log):
        text = report.strip()
        if not text or _CUT.match(text) or _is_query(text):
            continue
        kind = next((kind for kind, head in _HEADS if head.match(text)), "other")
        lines = tuple(sorted({line for line in _lines(text, file) if line}))
        found.setdefault((kind, lines), []).append(text)
    findings = [
        RaceFinding(kind, lines, len(texts), _sentence(kind, texts[0], file), _detail(texts[0]))
        for (kind, lines), texts in found.items()
    ]
    return tuple(sorted(findings, key=lambda each: (KINDS.index(each.kind), each.lines)))


def _is_query(text: str) -> bool:
    """Whether this is a refused query: pyopencl asks for what a driver may not know."""
    function = _FUNCTION.search(text)
    return function is not None and function[1].startswith("clGet")


def _lines(text: str, file: str) -> list[int]:
    """The lines of ``file`` in the order of a report; 0 where it names none."""
    return [int(line) for line, named in _PLACE.findall(text) if named == file]


def _detail(text: str) -> str:
    """A report without the source that it quotes: Oclgrind ignores #line there."""
    kept = re.sub(rf"({_PLACE.pattern})\n[^\n]*", r"\1", text)
    return kept[:_MOST_DETAIL]


def _sentence(kind: str, text: str, file: str) -> str:
    match kind:
        case "data race":
            return _race(text, file)
        case "barrier divergence":
            return _divergence(text, file)
        case "out of bounds":
            return _stray(text, file)
        case "uninitialised":
            where = _at(_lines(text, file))
            return f"A value that nothing has written is used{where}."
        case "api":
            function, error = _FUNCTION.search(text), _ERROR.search(text)
            what = function[1] if function else "An OpenCL call"
            return f"{what} is refused{f': {error[1]}' if error else ''}."
        case _:
            return text.partition("\n")[0].strip()


def _at(lines: list[int]) -> str:
    """Where: " in line 29", or "" where it is not known."""
    known = sorted({line for line in lines if line})
    if not known:
        return ""
    return f" in line{'s' * (len(known) > 1)} {' and '.join(map(str, known))}"


def _race(text: str, file: str) -> str:
    """Who does what to the same bytes, and where."""
    head = _HEADS[0][1].match(text)
    memory = head[2] if head else "shared"
    halves = re.split(r"(?=First entity|Second entity)", text)[1:]
    deeds = []
    for half in halves:
        verb = "writes" if re.search(r"^\s*store ", half, re.MULTILINE) else "reads"
        if head and head[1] == "Write-write":
            verb = "writes"
        deeds.append((verb, _at(_lines(half, file))))
    groups = {_GROUP.search(half)[0] for half in halves if _GROUP.search(half)}  # type: ignore[index]
    other = "one of another group" if len(groups) > 1 else "another"
    if len(deeds) != 2:
        where = _at(_lines(text, file))
        return f"Two work-items use the same bytes of {memory} memory in no order{where}."
    # The writer first: it is what the other one must wait for, or it for that.
    (first, first_at), (second, second_at) = sorted(deeds, key=lambda deed: deed[0] != "writes")
    return (
        f"A work-item {first} bytes of {memory} memory{first_at} that {other} {second}{second_at}, "
        "and nothing orders the two."
    )


def _divergence(text: str, file: str) -> str:
    lines = _lines(text, file)
    reached = _REACHED.search(text)
    if reached:
        return f"Only {reached[1]} of {reached[2]} work-items reach the barrier{_at(lines)}."
    return f"Work-items of one group wait at different barriers{_at(lines)}."


def _stray(text: str, file: str) -> str:
    where = _at(_lines(text, file))
    index = _HEADS[3][1].match(text)
    if index:
        return f"Index {index[1]} is used in an array of {index[2]} elements{where}."
    access = _HEADS[2][1].match(text)
    if access is None:
        return f"An access is out of bounds{where}."
    deed = {"read": "are read", "write": "are written"}[access[1]]
    return f"{access[2]} bytes of {access[3]} memory {deed} outside any array or matrix{where}."
