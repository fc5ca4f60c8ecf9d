"""The outcome of a run as the app follows it, which core puts into words."""

from __future__ import annotations

from gemmviz.app.runs import Run
from gemmviz.core.verdict import Outcome


def outcome(run: Run) -> Outcome:
    """What is known of a run by now."""
    return Outcome(
        run.check,
        run.failure,
        run.job.check,
        ended=run.result is not None,
        sampled=len(run.buffer) > 0,
        stopped=run.result is not None and run.result.stopped,
    )
