"""A result as JSON, for every command that measures."""

from __future__ import annotations

from typing import Any

from gemmviz.core.codec import to_json
from gemmviz.core.launch import flop, storage_order
from gemmviz.core.model import Result
from gemmviz.core.policy import name_of
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.roofline import above_ceiling
from gemmviz.core.spread import spread_of
from gemmviz.core.stats import summarize
from gemmviz.engine.ceiling_table import kept_ceilings


def report(result: Result) -> dict[str, Any]:
    """The run as JSON; keys are only ever added."""
    job = result.job
    times = seconds_per_launch(result)
    summary = summarize(times)
    spread = spread_of(times)
    work = flop(job.variant, job.problem)
    rate = None if summary is None else work / summary.median
    return {
        "device": result.device.name,
        "platform": result.device.platform,
        "platform_version": result.device.platform_version,
        "driver_version": result.device.driver_version,
        "kernel": job.variant.id,
        "parameters": dict(job.parameters),
        "m": job.problem.m,
        "n": job.problem.n,
        "k": job.problem.k,
        "input_element": job.problem.element,
        "output_element": job.problem.element,
        "transpose": job.problem.transpose,
        "order": storage_order(job.variant, job.problem),
        "alpha": job.problem.alpha,
        "beta": job.problem.beta,
        "seed": job.problem.seed,
        "verdict": result.verdict,
        "median_seconds": summary and summary.median,
        "median_low_seconds": summary and summary.low,
        "median_high_seconds": summary and summary.high,
        "flops_per_second": rate,
        "quartile_1_seconds": summary and summary.q1,
        "quartile_3_seconds": summary and summary.q3,
        "minimum_seconds": summary and summary.minimum,
        "launch_quantiles_seconds": to_json(result.quantiles),
        "spread": to_json(spread),
        "launches": sum(result.samples.launches),
        "discarded": result.discarded,
        "stopped": result.stopped,
        "stop_reason": result.stop_reason,
        "policy": {"name": name_of(job.policy), **to_json(job.policy)},
        "timer_trust": to_json(result.trust),
        "suspicion": suspicion(result),
        "device_timer": to_json(result.timer),
        "context": to_json(result.context),
        "samples": [
            {"launches": launches, "seconds": seconds}
            for launches, seconds in zip(
                result.samples.launches, result.samples.seconds, strict=True
            )
        ],
        "max_error": result.check and to_json(result.check.max_error),
        "check": to_json(result.check),
        "kernel_facts": to_json(result.facts),
        "build_log": result.build_log,
        "failure": to_json(result.failure),
    }


def suspicion(result: Result) -> str:
    """Why a result is faster than its device can be, as a sentence, or ""."""
    summary = summarize(seconds_per_launch(result))
    if summary is None:
        return ""
    job, table = result.job, kept_ceilings(result.device)
    return above_ceiling(job.variant, job.problem, summary.median, table)
