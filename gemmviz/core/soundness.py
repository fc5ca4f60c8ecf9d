"""Whether a result that came from outside makes sense, before anything computes with it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from gemmviz.core.error_map import unpack
from gemmviz.core.model import ELEMENTS, Job, Problem, Result, Samples, Variant
from gemmviz.core.placing import Placing
from gemmviz.core.policy import Policy

_MOST_SIZE = 2**31 - 1  # of M, N and K, which kernels take as int
_MOST_LAUNCHES = 2**31 - 1  # of a sample
_MOST_SECONDS = 1e9
_LEAST_SECONDS = 1e-12  # of a launch; no device has a clock that fine
_LAST_MOMENT = 253_402_300_800.0  # the year 10000, which no calendar of Python's holds
_LONGEST_NAME = 1000


def objection(result: Result) -> str:
    """Why a decoded result cannot be one that was measured, as words for a sentence, or "".

    Types are right once the codec has read it. This is about values that no run can have, and that
    would fail later in a chart or a table: sizes below 1, samples without a launch, moments that
    no calendar has, an error map of another size than it says.
    """
    return (
        _job_objection(result.job)
        or _sample_objection(result.samples)
        or _rest_objection(result)
    )  # fmt: skip


def _job_objection(job: Job) -> str:
    return _problem_objection(job.problem) or _variant_objection(job) or _policy(job.policy)


def _problem_objection(problem: Problem) -> str:
    sizes = problem.m, problem.n, problem.k
    if not all(1 <= size <= _MOST_SIZE for size in sizes):
        return f"it multiplies matrices of {' x '.join(map(str, sizes))}"
    if problem.element not in ELEMENTS:
        return f"its element type is {problem.element[:40]!r}"
    if not (math.isfinite(problem.alpha) and math.isfinite(problem.beta)):
        return "alpha or beta is no number"
    return ""


def _variant_objection(job: Job) -> str:
    variant: Variant = job.variant
    if variant.operation not in ("multiply", "add"):
        return f"its kernel computes {variant.operation[:40]!r}"
    if not variant.id.strip() or max(len(variant.id), len(variant.title)) > _LONGEST_NAME:
        return "its kernel has no usable name"
    names = [name for name, _ in job.parameters]
    if len(set(names)) < len(names) or any(abs(value) > _MOST_SIZE for _, value in job.parameters):
        return "its parameters are none"
    return ""


def _policy(policy: Policy) -> str:
    numbers = policy.min_seconds, policy.target, policy.limit_seconds
    if any(math.isnan(number) or number < 0 for number in numbers):
        return "its measurement policy has a number below zero"
    counts = policy.warm_ups, policy.min_samples, policy.launches or 0
    return "" if all(0 <= count <= _MOST_SIZE for count in counts) else "its policy is none"


def _sample_objection(samples: Samples) -> str:
    counts = {len(samples.launches), len(samples.seconds), len(samples.at)}
    if len(counts) > 1:
        return "its samples are not all complete"
    if any(not 1 <= launches <= _MOST_LAUNCHES for launches in samples.launches):
        return "it has samples without a launch"
    for values in (samples.seconds, samples.at):
        array = np.asarray(values, np.float64)
        if not np.all((array >= 0) & (array <= _MOST_SECONDS)):
            return "it has samples that took no possible time"
    if len(samples) and np.median(np.divide(samples.seconds, samples.launches)) < _LEAST_SECONDS:
        return "most of its launches took no time"
    return ""


def _rest_objection(result: Result) -> str:
    if not 0 <= result.finished_at < _LAST_MOMENT:
        return "it ended at no possible time"
    quantiles = result.quantiles
    if len(quantiles) not in (0, 5) or any(low > high for low, high in pairwise(quantiles)):
        return "its quantiles are none"
    if any(not math.isfinite(each) for each in quantiles):
        return "its quantiles are none"
    if not 0 <= (result.build_seconds or 0.0) <= _MOST_SECONDS:
        return "its kernel was built in no possible time"
    check = result.check
    if check is not None and min(check.rows, check.cols, check.rows_checked) < 0:
        return "its check compared fewer than no cells"
    if result.error_map is not None:
        try:
            unpack(result.error_map)
        except ValueError:
            return "its error map is damaged"
        if min(result.error_map.tile) < 1:
            return "its error map has tiles of no size"
    return _placing_objection(result.placing) if result.placing is not None else ""


def _placing_objection(placing: Placing) -> str:
    """A ratio is taken the logarithm of, and odds are multiplied."""
    if not 0 <= placing.decided_at < _LAST_MOMENT:
        return "its sweep was decided at no possible time"
    if not 0 < placing.ratio < math.inf:
        return "its place in a sweep is none"
    odds = (placing.odds, *(each.odds for each in placing.unplaced))
    if any(each is not None and not 0 <= each <= 1 for each in odds):
        return "its sweep has odds that are none"
    return ""
