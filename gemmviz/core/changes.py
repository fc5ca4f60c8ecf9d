"""What changed between two results: everything that their figures may depend on."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gemmviz.core.codec import to_json
from gemmviz.core.context import Context
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Device, Property, Result, Variant
from gemmviz.core.policy import STOP_WORDS, name_of
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import FEWEST_FOR_95, Summary, summarize
from gemmviz.core.units import duration, memory, scaled
from gemmviz.core.verdict import outcome_of

_MOST_LINES = 4000  # of a source; comparing longer ones line by line takes too long
_MOST_DIFFERENCES = 2000  # lines of a difference; nobody reads more
_MOST_CHARACTERS = 4000  # of a value, and of a line of a source: a window draws them
_NONE = "–"

Fact = Callable[[Result], object]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not the same: where it belongs, its name, and both values in words."""

    section: str
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs from one result to another.

    ``speed`` says in a sentence how the medians compare, or why they cannot be. ``source`` is the
    difference of the kernels' sources as lines of a unified diff, empty where they are equal.
    """

    speed: str
    entries: tuple[Change, ...]
    source: tuple[str, ...] = ()


def changes_between(first: Result, other: Result) -> Changes:
    """What is not the same in ``other`` as in ``first``; both need their samples for the speed."""
    entries = [
        Change(section, name, _text(before), _text(after))
        for section, name, fact in _FACTS
        if (before := fact(first)) != (after := fact(other))
    ]
    entries += _environment(first.context, other.context)
    if first.device.key == other.device.key:
        entries += _properties(first.device, other.device)
    source = _source_difference(first.job.variant, other.job.variant)
    return Changes(_speed(first, other), tuple(entries), source)


def to_text(changes: Changes) -> str:
    """All of it as lines for a person."""
    lines, section = [changes.speed], ""
    for entry in changes.entries:
        if entry.section != section:
            section = entry.section
            lines += ["", section]
        if "\n" in entry.before + entry.after:
            lines += [f"  {entry.name}:", entry.before, "  became:", entry.after]
        else:
            lines.append(f"  {entry.name}: {entry.before}  ->  {entry.after}")
    if changes.source:
        lines += ["", "Source", *changes.source]
    if not (changes.entries or changes.source):
        lines += ["", "Nothing else is different."]
    return "\n".join(lines)


def _speed(first: Result, other: Result) -> str:
    """How the medians compare; measured at different times they prove little by themselves."""
    before, after = (summarize(seconds_per_launch(each)) for each in (first, other))
    if before is None or after is None or not before.median or not after.median:
        return "Without samples of both, their speeds cannot be compared."
    if _work(first) != _work(other):
        return "They multiply different sizes or elements, so their times cannot be compared."
    factor = before.median / after.median
    word = "faster" if factor > 1 else "slower"
    medians = f"{duration(after.median)} after {duration(before.median)}"
    if min(before.count, after.count) < FEWEST_FOR_95:
        text = (
            f"From {before.count} and {after.count} samples it cannot be said which one is faster "
            f"(medians: {medians})."
        )
    elif _overlap(before, after):
        text = f"Neither is surely faster: their intervals overlap (medians: {medians})."
    else:
        text = f"The second is {max(factor, 1 / factor):.3g} times {word}: {medians}."
    wrong = [which for which, each in (("first", first), ("second", other))
             if each.verdict == "wrong"]  # fmt: skip
    if wrong:
        text += f" The answer of the {' and the '.join(wrong)} is wrong, so this means nothing."
    return text


def _overlap(before: Summary, after: Summary) -> bool:
    return before.low <= after.high and after.low <= before.high


def _work(result: Result) -> tuple[object, ...]:
    return result.job.variant.operation, problem_label(result.job.problem)


def _context(name: str) -> Fact:
    return lambda result: getattr(result.context, name) if result.context is not None else None


def _library(result: Result) -> str:
    library = result.context.library if result.context is not None else None
    return f"{library.text} ({library.file})" if library is not None else ""


def _load(result: Result) -> str:
    load = result.context.load if result.context is not None else None
    return f"{load:.1f}" if load is not None else ""


def _options(result: Result) -> str:
    return result.context.build_options if result.context is not None else result.job.build_options


def _policy(result: Result) -> str:
    policy = result.job.policy
    words = [name_of(policy), f"{policy.cache} cache"]
    words += ["each launch a sample"] * policy.per_launch + ["quiet"] * policy.quiet
    return ", ".join(words)


def _ended(result: Result) -> str:
    return STOP_WORDS.get("stopped" if result.stopped else result.stop_reason, "")


def _geometry(result: Result) -> str:
    variant = result.job.variant
    tile = f"{variant.tile_rows} × {variant.tile_cols}"
    return f"groups of {', '.join(variant.group)}, tiles of {tile}" if not variant.library else ""


def _local(result: Result) -> str:
    facts = result.facts
    return memory(facts.local_bytes) if facts and facts.local_bytes is not None else ""


def _private(result: Result) -> str:
    facts = result.facts
    return memory(facts.private_bytes) if facts and facts.private_bytes is not None else ""


_FACTS: tuple[tuple[str, str, Fact], ...] = (
    ("Kernel", "Kernel", lambda result: f"{result.job.variant.title} ({result.job.variant.id})"),
    ("Kernel", "Parameters", lambda result: describe_parameters(result.job.parameters)),
    ("Kernel", "Build options", _options),
    ("Kernel", "Launch geometry", _geometry),
    ("Kernel", "Library", _library),
    ("Problem", "Problem", lambda result: problem_label(result.job.problem, "×")),
    ("Problem", "Seed", lambda result: result.job.problem.seed),
    ("Device", "Device", lambda result: device_label(result.device)),
    ("Device", "Driver", lambda result: result.device.driver_version),
    ("Device", "Platform", lambda result: result.device.platform_version),
    ("Device", "Compute units", lambda result: result.device.compute_units),
    ("Built kernel", "Local memory", _local),
    ("Built kernel", "Private memory", _private),
    ("Built kernel", "Build log", lambda result: result.build_log.strip()),
    ("Circumstances", "gemmviz", _context("app_version")),
    ("Circumstances", "System", _context("system")),
    ("Circumstances", "Python", _context("python")),
    ("Circumstances", "Workers pinned to cores", _context("affinity")),
    ("Circumstances", "Processors", _context("cores")),
    ("Circumstances", "Load at the start", _load),
    ("Measurement", "Policy", _policy),
    ("Measurement", "Ended because", _ended),
    ("Measurement", "Clock", lambda result: result.trust and result.trust.badge),
    ("Answer", "Verdict", lambda result: outcome_of(result).word),
    ("Answer", "Failure", lambda result: result.failure and result.failure.sentence),
)
"""What is compared, in the order in which it is told."""


def _environment(first: Context | None, other: Context | None) -> Iterator[Change]:
    before = dict(first.environment) if first is not None else {}
    after = dict(other.environment) if other is not None else {}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Change("Environment", name, _text(before.get(name)), _text(after.get(name)))


def _properties(first: Device, other: Device) -> Iterator[Change]:
    """What the driver says of one and the same device otherwise than before."""
    before = {each.name: each for each in first.properties}
    after = {each.name: each for each in other.properties}
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if to_json(old) != to_json(new):
            yield Change("What the driver says", name, _property(old), _property(new))


def _property(found: Property | None) -> str:
    if found is None:
        return _NONE
    if found.unit == "bytes" and isinstance(found.value, int):
        return memory(found.value)
    if found.unit and isinstance(found.value, int | float):
        return " ".join(scaled(found.value, found.unit))
    return _text(found.value if found.value is not None else found.reason)


def _source_difference(first: Variant, other: Variant) -> tuple[str, ...]:
    if first.source == other.source:
        return ()
    old, new = first.source.splitlines(), other.source.splitlines()
    if max(len(old), len(new)) > _MOST_LINES:
        return (f"{len(old):,} and {len(new):,} lines: too many to compare line by line",)
    lines = list(difflib.unified_diff(old, new, f"{first.id}.cl of the first",
                                      f"{other.id}.cl of the second", lineterm=""))  # fmt: skip
    cut = [_cut(line) for line in lines[:_MOST_DIFFERENCES]]
    if len(lines) > len(cut):
        cut.append(f"... {len(lines) - len(cut):,} more lines")
    return tuple(cut) or ("the sources differ only in the ends of their lines",)


def _text(value: object) -> str:
    if value is None or value == "":
        return _NONE
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else _cut(str(value))


def _cut(text: str) -> str:
    more = len(text) - _MOST_CHARACTERS
    return text if more <= 0 else f"{text[:_MOST_CHARACTERS]} ... {more:,} more characters"
