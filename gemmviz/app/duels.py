"""What came of kernels that were measured in turns: a line for each one after the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gemmviz.core.comparison import Comparison
from gemmviz.core.labels import device_label, problem_label
from gemmviz.core.launch import describe_parameters
from gemmviz.core.model import Result
from gemmviz.core.paired import FEWEST_ROUNDS, VERDICTS, Versus, Word, describe
from gemmviz.core.policy import STOP_WORDS
from gemmviz.core.verdict import outcome_of

Tone = Literal["good", "bad", "warn", ""]

_TONES: dict[Word, Tone] = {"faster": "good", "slower": "bad", "same": "", "undecided": "warn"}


@dataclass(frozen=True, slots=True)
class Duel:
    """One kernel against the first.

    Attributes:
        name: What it is called here.
        verdict: The word, with a sign: "▲ faster", "= tied (within 1 %)", or why none counts.
        tone: The colour of the verdict; never its only sign.
        versus: The ratio of the times, or None where it was not measured.
        counts: Whether both answers are right, so that their speeds mean something.
    """

    name: str
    verdict: str
    tone: Tone
    versus: Versus | None = None
    counts: bool = True

    @property
    def ratio(self) -> str:
        """How many times as fast as the first: "1.84 ×", or a dash."""
        return f"{self.versus.ratio:.4g} ×" if self.versus is not None else "–"

    @property
    def interval(self) -> str:
        """What bounds the ratio: "1.80 to 1.87 (99.9 %)", or the range of few rounds."""
        if self.versus is None:
            return ""
        kind = "99.9 %" if self.versus.worth >= FEWEST_ROUNDS else "range"
        return f"{self.versus.ratio_low:.4g} to {self.versus.ratio_high:.4g} ({kind})"

    @property
    def rounds(self) -> str:
        """How many rounds the ratio rests on."""
        count = self.versus.rounds if self.versus is not None else 0
        return f"{count:,} round{'s' * (count != 1)}"


@dataclass(frozen=True, slots=True)
class Match:
    """A whole comparison in words.

    Attributes:
        first: What the others are measured against.
        problem: Shape and element that all of them share.
        ending: Why it ended, or why it failed.
        failed: Whether it failed.
        duels: One for each later kernel.
    """

    first: str
    problem: str
    ending: str
    failed: bool
    duels: tuple[Duel, ...]

    @property
    def title(self) -> str:
        """What was measured against what, on one line."""
        return f"Against {self.first}  ·  {self.problem}  ·  {self.ending}"

    def to_text(self) -> str:
        """The comparison as sentences to copy, one a line, the title first."""
        lines = [self.title]
        for duel in self.duels:
            if duel.versus is not None and duel.counts:
                lines.append(describe(duel.versus, duel.name, self.first))
            else:
                lines.append(f"{duel.name}: {duel.verdict}.")
        return "\n".join(lines)


def match_of(comparison: Comparison) -> Match:
    """The comparison in words."""
    results = comparison.results
    names = _names(results)
    failure = comparison.failure
    ending = STOP_WORDS.get(comparison.reason, "") if failure is None else failure.sentence
    if comparison.stopped and failure is None:
        ending = STOP_WORDS["stopped"]
    problem = results[0].job.problem if results else None
    shape = problem_label(problem, "×") if problem else ""
    later = zip(results[1:], names[1:], strict=True)
    duels = tuple(
        _duel(results[0], result, name, _at(comparison.versus, place))
        for place, (result, name) in enumerate(later)
    )
    return Match(names[0] if names else "", shape, ending, failure is not None, duels)


def _at(versus: Sequence[Versus], place: int) -> Versus | None:
    return versus[place] if place < len(versus) else None


def _duel(first: Result, other: Result, name: str, versus: Versus | None) -> Duel:
    objection = outcome_of(other).objection
    if objection:
        return Duel(name, f"✗ does not count: {objection}", "bad", versus, counts=False)
    objection = outcome_of(first).objection
    if objection:
        return Duel(
            name, f"✗ does not count: {objection} of the first", "bad", versus, counts=False
        )
    if versus is None:
        return Duel(name, "– not measured", "warn", counts=False)
    within = f" (within {versus.margin * 100:.3g} %)" if versus.word == "same" else ""
    return Duel(name, f"{VERDICTS[versus.word]}{within}", _TONES[versus.word], versus)


def _names(results: Sequence[Result]) -> list[str]:
    """Kernel and parameters, the device where they differ, and a number where all is equal."""
    devices = {result.device.key for result in results}
    names = []
    for result in results:
        job = result.job
        name = f"{job.variant.title} {describe_parameters(job.parameters)}".strip()
        names.append(f"{name} on {device_label(result.device)}" if len(devices) > 1 else name)
    total, seen = Counter(names), Counter[str]()
    for place, name in enumerate(names):
        if total[name] > 1:
            seen[name] += 1
            names[place] = f"{name} #{seen[name]}"
    return names
