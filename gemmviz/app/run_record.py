"""Everything that is recorded with one run, finished or under way, as named facts."""

from __future__ import annotations

from gemmviz.app.outcomes import outcome
from gemmviz.app.runs import Run
from gemmviz.core import result_record
from gemmviz.core.result_record import Section, Standing


def record_of(run: Run) -> tuple[Section, ...]:
    """All that is known of a run; sections of which nothing is known are left out."""
    occupancy = run.estimate.occupancy if run.estimate is not None else None
    standing = Standing(run.status, outcome(run), occupancy)
    return result_record.record_of(run.known, run.statistics, standing)
