"""How much of a library's speed a kernel reaches, from runs that were measured one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gemmviz.core.model import Job, Verdict

Question = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """A run that came to its end: what was run, its median and what its check said."""

    job: Job
    median_seconds: float
    verdict: Verdict | None


def question_of(job: Job) -> Question:
    """What two jobs must have in common for a ratio of their times to mean something.

    The device, the problem but for its inputs, and the caches; and whether floats are rounded to
    TF32, since a library that may do so is no measure for one that may not.
    """
    variant, problem = job.variant, replace(job.problem, seed=0)
    tf32 = variant.precision == "tf32"
    return job.device, variant.operation, problem, job.policy.cache, tf32


def fastest_libraries(timings: Iterable[Timing]) -> dict[Question, Timing]:
    """The fastest library for each question, among verified runs of libraries alone."""
    fastest: dict[Question, Timing] = {}
    for timing in timings:
        if not timing.job.variant.library or timing.verdict != "verified":
            continue
        question = question_of(timing.job)
        best = fastest.get(question)
        if best is None or timing.median_seconds < best.median_seconds:
            fastest[question] = timing
    return fastest


def library_share(timing: Timing, fastest: Mapping[Question, Timing]) -> float | None:
    """The device's fastest library's median over this one's: 1 is as fast, 2 twice as fast.

    None for a run that is not verified, and where no library answered the same question.
    """
    best = fastest.get(question_of(timing.job))
    if best is None or timing.verdict != "verified":
        return None
    return best.median_seconds / timing.median_seconds
