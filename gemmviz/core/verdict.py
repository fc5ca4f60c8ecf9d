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
            parts = [_extent(self.check), f"largest error {self.check.max_error:.1e}"]
            if self.check.cells_differing:
                parts.append(_repeated(self.check))
            return ", ".join(parts)
        return ""

    @property
    def sentence(self) -> str:
        """The verdict as a line of a heading."""
        check = self.check
        if self.wrong and check is not None:
            if not check.cells_wrong:
                return f"✗ wrong result: {_besides(check)[0]}"
            return f"✗ wrong result: {check.cells_wrong:,} of {check.cells_checked:,} cells are off"
        if self.failure is not None:
            return f"{self.word}: {self.failure.sentence}"
        if check is not None and check.verdict == "verified":
            rest = " besides Freivalds' test" if check.vectors else ""
            return f"{self.word}: {check.cells_checked:,} cells checked{rest}"
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
    """The outcome of a check in one sentence, and one on whether it repeats."""
    cells = f"{check.cells_checked:,} cells in {_scope(check)}"
    if check.verdict == "verified":
        means = f" exactly, and {_test(check)} on all of C" if check.vectors else ""
        outcome = f"Verified: {cells}{means} within the bound, largest error {check.max_error:.1e}"
    else:
        parts = _besides(check)
        if check.cells_wrong:
            parts.insert(
                0,
                f"{check.cells_wrong:,} of {cells} ({_share(check)}), largest error "
                f"{check.max_error:.2g}, worst at row {check.worst_row}, column {check.worst_col}: "
                f"{check.worst_value:.6g} instead of {check.worst_expected:.6g}",
            )
        outcome = f"Wrong: {'; '.join(parts)}"
    repeated = _repeated(check)
    return f"{outcome}. {repeated[0].upper()}{repeated[1:]}." if repeated else f"{outcome}."


def _scope(check: Check) -> str:
    """Which cells were compared."""
    if check.rows_checked == check.rows:
        return "all rows"
    rows = f"{check.rows_checked} random rows"
    return f"{rows} and {check.cols_checked} random columns" if check.cols_checked else rows


def _test(check: Check) -> str:
    return f"Freivalds' test with {check.vectors} vectors"


def _extent(check: Check) -> str:
    """How much was compared, in few words."""
    if check.rows_checked == check.rows:
        return f"all {check.rows} rows"
    if not check.vectors:
        return f"{check.rows_checked} random rows of {check.rows}"
    return f"{_scope(check)}, {_test(check)}"


def _share(check: Check) -> str:
    """The wrong cells in per cent; not one right cell is rounded away."""
    share = 100 * check.cells_wrong / max(1, check.cells_checked)
    return f"{share if check.cells_wrong == check.cells_checked else min(share, 99.9):.3g} %"


def _besides(check: Check) -> list[str]:
    """What is wrong apart from the cells that were compared; never empty if those are right."""
    parts = []
    if check.rows_failed:
        parts.append(f"{_test(check)} on all of C fails in {_count(check.rows_failed, 'row')}")
    if check.cells_unwritten:
        verb = "was" if check.cells_unwritten == 1 else "were"
        parts.append(f"{_count(check.cells_unwritten, 'cell')} {verb} never written")
    if check.cells_nan:
        verb = "is" if check.cells_nan == 1 else "are"
        parts.append(f"{_count(check.cells_nan, 'cell')} {verb} NaN")
    if check.overrun:
        verb = "was" if check.overrun == 1 else "were"
        parts.append(f"{_outside(check)} {verb} overwritten")
    return parts if parts or check.cells_wrong else ["no reason was given"]


def _outside(check: Check) -> str:
    """What was overwritten: "3 elements in front of A and 240 elements behind C"."""
    places = [
        f"{_count(place.elements, 'element')} {place.side} {place.buffer}"
        for place in check.outside
    ]
    # Results kept from before guards told apart: one number, of what lies behind C.
    return " and ".join(places) or f"{_count(check.overrun, 'element')} behind C"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _repeated(check: Check) -> str:
    """Whether a second launch gave the same answer; "" where none was made."""
    if check.cells_differing is None:
        return ""
    if check.cells_differing:
        return f"two launches differ in {_count(check.cells_differing, 'cell')}"
    return "two launches agree bit for bit"


def _error_note(check: Check) -> str:
    if not check.cells_wrong:
        return _besides(check)[0]
    return (
        f"{_share(check)} of cells, largest error {check.max_error:.2g} "
        f"at row {check.worst_row}, column {check.worst_col}"
    )
