"""What came of the documents' statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

ClaimOutcome = Literal["holds", "does not hold here", "cannot be tested here"]

OUTCOMES: tuple[ClaimOutcome, ...] = ("holds", "does not hold here", "cannot be tested here")
MARKS: dict[ClaimOutcome, str] = {
    "holds": "✓",
    "does not hold here": "✗",
    "cannot be tested here": "–",
}
"""A sign for each outcome, so that colour is never the only one."""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What came of one statement.

    Attributes:
        id: Its short name.
        document: The document it is from.
        statement: The statement in our own words.
        outcome: Whether it holds.
        measured: The figures, as a sentence.
        reason: Why the outcome follows, or why it cannot be tested here.
    """

    id: str
    document: str
    statement: str
    outcome: ClaimOutcome
    measured: str
    reason: str


def count_outcomes(results: Iterable[ClaimResult]) -> str:
    """How many of each outcome, as "9 hold, 6 do not hold here, 2 cannot be tested here"."""
    outcomes = [result.outcome for result in results]
    hold, fail, open_ones = (outcomes.count(outcome) for outcome in OUTCOMES)
    return (
        f"{hold} hold{'s' * (hold == 1)}, {fail} do{'es' * (fail == 1)} not hold here, "
        f"{open_ones} cannot be tested here"
    )
