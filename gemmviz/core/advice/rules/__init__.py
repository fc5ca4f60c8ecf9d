"""The rules of the adviser: a question each, and a judge that answers it with a finding or None.

A rule looks at the situation and the outlook alone. A new one is a judge in the file of its theme
and a row in that file's list.
"""

from __future__ import annotations

from gemmviz.core.advice.rules import (
    access,
    banks,
    correctness,
    cpu,
    documents,
    intensity,
    launch,
    record,
    residency,
    shape,
)
from gemmviz.core.advice.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *correctness.RULES,
    *record.RULES,
    *access.RULES,
    *banks.RULES,
    *cpu.RULES,
    *intensity.RULES,
    *shape.RULES,
    *residency.RULES,
    *launch.RULES,
    *documents.RULES,
    *record.UNTRIED,
)
