"""Several kernels measured in turns: what came of each, and of each later one against the first."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.core.model import Failure, Result
from gemmviz.core.paired import Versus
from gemmviz.core.policy import StopReason


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of a comparison.

    ``results`` are in the order of the jobs, as far as they got; ``versus`` holds one entry for
    each but the first, and is empty where no round was whole. ``failure`` says why it did not work;
    a wrong answer is no failure of the comparison, but makes its words count for nothing.
    """

    job_id: int
    results: tuple[Result, ...]
    versus: tuple[Versus, ...] = ()
    failure: Failure | None = None
    stopped: bool = False
    reason: StopReason = ""

    @property
    def wrong(self) -> tuple[Result, ...]:
        """The results whose answers are wrong."""
        return tuple(result for result in self.results if result.verdict == "wrong")
