"""What the adviser says: one thing that is in the way, and what to try against it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gemmviz.core.model import Parameters, Variant

_WORTH_A_LOSS = 1.1  # what must be expected of what may be slower


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of advice.

    Attributes:
        rule: The id of the rule that found it.
        title: What is in the way, in a few words.
        evidence: A sentence with the number that shows it.
        source: Where that number comes from: "access lens, line 31", "measured here", ...
        action: What to try, as sentences.
        kernel: The id of the variant to select, or "" where the action is another,
        parameters: and its macros.
        gain_low: The least that this is expected to make it faster: the time now over the time
            then, so 1.0 is no gain and less a loss,
        gain_high: and the most.
        urgent: Whether nothing else matters before it: the result is wrong.
        notice: Whether it only says what is not judged, and so promises nothing.
        why: What the action says besides which configuration to try; "" where there is no more.
        variant: The kernel itself where there is one: a person's own may be called like another.
    """

    rule: str
    title: str
    evidence: str
    source: str
    action: str
    kernel: str = ""
    parameters: Parameters = ()
    gain_low: float = 1.0
    gain_high: float = 1.0
    urgent: bool = False
    variant: Variant | None = None
    notice: bool = False
    why: str = ""

    @property
    def may_lose(self) -> bool:
        """Whether it may well be slower, for too little that it might gain."""
        return self.gain_low < 1.0 and self.expected_gain < _WORTH_A_LOSS

    @property
    def expected_gain(self) -> float:
        """The middle of the range: the geometric one, as these are ratios."""
        return math.sqrt(self.gain_low * self.gain_high)

    @property
    def gain_text(self) -> str:
        """The range in words: "1.3 to 2.5 times as fast"."""
        low, high = ratio_text(self.gain_low), ratio_text(self.gain_high)
        if self.notice:
            return "not judged"
        if self.urgent:
            return "its speed counts only once it is right"
        if high == "1":
            return "no faster, or hardly"
        return f"{low} times as fast" if low == high else f"{low} to {high} times as fast"


def ratio_text(ratio: float) -> str:
    """A ratio as "1.05", "1.3", "25" or "140": near 1 every per cent counts."""
    if ratio >= 10:
        return f"{ratio:.0f}"
    return f"{ratio:.3g}" if 0.9 < ratio < 1.2 else f"{ratio:.2g}"
