"""How an experiment ends early."""

from __future__ import annotations

from gemmviz.core.experiments import Finding
from gemmviz.core.model import Failure


class ExperimentFailed(Exception):  # noqa: N818 (it carries a failure and is none of the program)
    """An experiment cannot go on; ``answer`` is what it has found so far."""

    def __init__(self, failure: Failure, answer: Finding | None = None) -> None:
        super().__init__(failure.sentence)
        self.failure, self.answer = failure, answer
