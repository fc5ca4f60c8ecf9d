"""What a sweep's finals said, as it is kept with the results of those that were in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unplaced:
    """One that was out of a sweep's race before its finals.

    ``odds`` say how likely it beats the best all the same; ``why`` is a sentence.
    """

    variant: str
    parameters: tuple[tuple[str, int], ...]
    odds: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Placing:
    """What the finals of a sweep's race said of one that was in them, to be said again as it was.

    Attributes:
        decided_at: Seconds since the Unix epoch, of all that were in these finals the same.
        words: What won, in sentences; of all the same.
        best: Whether it cannot be told apart from the best.
        ratio: The recommended one's time over its own, exactly 1 of the recommended one.
        odds: How likely it beats the best by more than counts as the same although it is slower.
        unplaced: With the recommended one, those that were out before.
    """

    decided_at: float
    words: str
    best: bool
    ratio: float
    odds: float | None = None
    unplaced: tuple[Unplaced, ...] = ()
