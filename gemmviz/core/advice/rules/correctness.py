"""What goes before all speed: a wrong result, and what could not be looked into."""

from __future__ import annotations

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.forecast import Forecast
from gemmviz.core.advice.outlook import Outlook
from gemmviz.core.advice.rules.rule import Rule, try_text
from gemmviz.core.advice.situation import Situation
from gemmviz.core.launch import expected_verdict
from gemmviz.core.verdict import describe

_MOST_LINES = 5


def _judge(situation: Situation, outlook: Outlook) -> Finding | None:
    here = situation.here
    variant, parameters, problem = situation.variant, situation.parameters, situation.problem
    if here is not None and here.check is not None and here.check.verdict != "unchecked":
        if not here.wrong:
            return None
        assert here.check is not None
        title, source = "The result is wrong", "checked here against the float64 reference"
        evidence = describe(here.check)
    elif expected_verdict(variant, parameters, problem) == "wrong":
        title, source = "The result will be wrong", "the kernel's own description"
        when = f" It is right only when {variant.right_when}." if variant.right_when else ""
        evidence = (
            f"Known to be wrong at {problem.m} x {problem.n} x {problem.k}.{when} {variant.finding}"
        ).strip()
    else:
        return None
    found = _mended(situation, outlook)
    if found is None:
        return Finding("correctness.wrong", title, evidence, source,
                       "Find the fault before anything else; no candidate does the same work.",
                       urgent=True)  # fmt: skip
    return Finding("correctness.wrong", title, evidence, source, try_text(situation, found),
                   found.variant.id, found.parameters, urgent=True,
                   variant=found.variant)  # fmt: skip


def _mended(situation: Situation, outlook: Outlook) -> Forecast | None:
    """What to run instead: other macros, the same idea in a right kernel, or the fastest."""
    variant = situation.variant
    right = outlook.settings(variant)
    if right and situation.parameters not in right:
        return outlook.of(variant, right[0])
    same_idea = [
        candidate
        for candidate in situation.candidates
        if candidate != variant
        and not candidate.library
        and candidate.idea
        and candidate.idea == variant.idea
    ]
    for candidate in same_idea:
        settings = outlook.settings(candidate)
        if settings:
            alike = situation.parameters if situation.parameters in settings else settings[0]
            return outlook.of(candidate, alike)
    return outlook.best(lambda found: found.variant != variant)


def _followed(situation: Situation, _outlook: Outlook) -> Finding | None:
    """What the lens lacks is said before anything that might have rested on it."""
    report = situation.access
    if report is None or not report.unknowns:
        return None
    lines = sorted({unknown.line for unknown in report.unknowns})
    shown = [f"{line}" for line in lines[:_MOST_LINES]]
    more = len(lines) - len(shown)
    named = ", ".join(shown) + (f" and {more} more" if more else "")
    first = report.unknowns[0]
    return Finding(
        "lens.unknown",
        "Parts of the kernel could not be followed",
        f"Line{'s' * (len(lines) > 1)} {named} could not be followed, so loads, bytes and "
        "intensity of the whole kernel are not judged; accesses on other lines are.",
        "access lens",
        f"Line {first.line}: {first.reason} Written without it, the whole kernel can be judged.",
        notice=True,
    )


RULES = (
    Rule("correctness.wrong", "Is the result right?", _judge),
    Rule("lens.unknown", "Could all of the kernel be followed?", _followed),
)
