"""What came of a run, in words: the one home of what is said of checks and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemmviz.core.model import Check, Failure, Result

Tone = Literal["good", "bad", "warn", ""]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that decides the verdict on a run, finished or not.

    Attributes:
        check: The comparison with the reference, once there is one.
        failure: Why the run did not work, or None.
        check_asked: Whether the job asks for a check at all.
        ended: Whether nothing more will come.
        sampled: Whether at least one launch was timed.
        stopped: Whether a person ended it.
    """

    check: Check | None = None
    failure: Failure | None = None
    check_asked: bool = True
    ended: bool = True
    sampled: bool = True
    stopped: bool = False

    @property
    def wrong(self) -> bool:
        """Whether the answer was checked and found wrong."""
        return self.check is not None and self.check.verdict == "wrong"

    @property
    def broken(self) -> bool:
        """Whether something else than the answer failed."""
        return self.failure is not None and not self.wrong

    @property
    def word(self) -> str:
        """The verdict in a word or two, with a sign; a dash while it is open."""
        if self.wrong:
            return "✗ wrong"
        if self.broken:
            return "✗ ended early" if self.sampled else "✗ failed"
        if self.check is not None and self.check.verdict == "verified":
            return "✓ verified"
        return "not checked" if self.ended or not self.check_asked else "–"

    @property
    def tone(self) -> Tone:
        """The colour of the verdict; never its only sign."""
        if self.wrong or self.broken:
            return "bad"
        if self.check is not None and self.check.verdict == "verified":
            return "good"
        return "warn" if self.ended or not self.check_asked else ""

    @property
    def note(self) -> str:
        """What stands below the word: how much was compared, how far off it is, or what failed."""
        if self.wrong and self.check is not None:
            return _error_note(self.check)
        if self.failure is not None:
            return self.failure.sentence
        if self.check is not None and self.check.verdict == "verified":
            return f"{_rows(self.check)}, largest error {self.check.max_error:.1e}"
        return ""

    @property
    def sentence(self) -> str:
        """The verdict as a line of a heading."""
        check = self.check
        if self.wrong and check is not None:
            if not check.cells_wrong:
                return f"✗ wrong result: {_overrun(check)}"
            return f"✗ wrong result: {check.cells_wrong:,} of {check.cells_checked:,} cells are off"
        if self.failure is not None:
            return f"{self.word}: {self.failure.sentence}"
        if check is not None and check.verdict == "verified":
            return f"{self.word}: {check.cells_checked:,} cells checked"
        return self.word if self.ended or not self.check_asked else ""

    @property
    def objection(self) -> str:
        """Why the figures do not count, or "" where they do."""
        if self.wrong:
            return "wrong result"
        return "the run ended early" if self.broken else ""


def outcome_of(result: Result) -> Outcome:
    """The outcome of a finished run."""
    return Outcome(
        result.check,
        result.failure,
        result.job.check,
        sampled=len(result.samples) > 0,
        stopped=result.stopped,
    )


def describe(check: Check) -> str:
    """The outcome of a check in one sentence."""
    rows = "all" if check.rows_checked == check.rows else f"{check.rows_checked} random"
    scope = f"{check.cells_checked:,} cells in {rows} rows"
    if check.verdict == "verified":
        return f"Verified: {scope} within the bound, largest error {check.max_error:.1e}."
    parts = []
    if check.cells_wrong:
        parts.append(
            f"{check.cells_wrong:,} of {scope} ({_share(check)}), largest error "
            f"{check.max_error:.2g}, worst at row {check.worst_row}, column {check.worst_col}: "
            f"{check.worst_value:.6g} instead of {check.worst_expected:.6g}"
        )
    if check.cells_unwritten:
        parts.append(f"{check.cells_unwritten:,} cells are NaN or never written")
    if check.overrun:
        parts.append(_overrun(check))
    return f"Wrong: {'; '.join(parts)}."


def _share(check: Check) -> str:
    """The wrong cells in per cent; not one right cell is rounded away."""
    share = 100 * check.cells_wrong / max(1, check.cells_checked)
    return f"{share if check.cells_wrong == check.cells_checked else min(share, 99.9):.3g} %"


def _rows(check: Check) -> str:
    if check.rows_checked == check.rows:
        return f"all {check.rows} rows"
    return f"{check.rows_checked} random rows of {check.rows}"


def _overrun(check: Check) -> str:
    return f"{check.overrun:,} elements behind C were overwritten"


def _error_note(check: Check) -> str:
    if not check.cells_wrong:
        return _overrun(check)
    return (
        f"{_share(check)} of cells, largest error {check.max_error:.2g} "
        f"at row {check.worst_row}, column {check.worst_col}"
    )
