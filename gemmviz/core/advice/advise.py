"""Asks every rule and keeps what is worth the most."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.look import look as ask_lens
from gemmviz.core.advice.outlook import Look, Outlook
from gemmviz.core.advice.rules import RULES
from gemmviz.core.advice.situation import Situation

MOST_FINDINGS = 5


def advise(situation: Situation, look: Look = ask_lens) -> tuple[Finding, ...]:
    """At most five findings: a wrong result, what is not judged, then by expected gain.

    What may well be slower is left out unless it is expected to gain a tenth.
    Two rules that come to the same configuration are one finding: the surer one, by the order of
    the rules where they expect the same.

    Args:
        situation: All that is known; the lens is asked about it where that is missing.
        look: Asks the access lens about candidates.
    """
    if situation.access is None and not situation.variant.library:
        situation = replace(situation, access=Outlook(situation, look).look_here())
    outlook = Outlook(situation, look)
    found = [finding for rule in RULES if (finding := rule.judge(situation, outlook)) is not None]
    found = [finding for finding in found if finding.urgent or not finding.may_lose]
    found.sort(key=lambda finding: (not finding.urgent, not finding.notice, -finding.expected_gain))
    kept: list[Finding] = []
    for finding in found:
        target = (finding.variant, finding.parameters)
        if finding.variant is None or target not in [(f.variant, f.parameters) for f in kept]:
            kept.append(finding)
    return tuple(kept[:MOST_FINDINGS])
