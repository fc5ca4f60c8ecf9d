"""The jobs that measure finished runs once more, in turns, and why some runs cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gemmviz.app.runs import Run
from gemmviz.app.setup import Setup
from gemmviz.core.labels import device_label
from gemmviz.core.model import Device, Job

MOST_COMPARED = 8
"""Of more, each would have too small a part of the time to be decided."""


def comparison_refusal(runs: Sequence[Run], devices: Sequence[Device]) -> str:
    """Why these finished runs cannot be measured in turns on ``devices``, or ""."""
    if len(runs) < 2:
        return "Tick at least two runs to compare them."
    if len(runs) > MOST_COMPARED:
        return f"Tick at most {MOST_COMPARED} runs: {len(runs)} are ticked."
    if len({_work(run) for run in runs}) > 1:
        return "Only runs of the same sizes and element type can be compared."
    usable = {device.key for device in devices if device.unavailable is None}
    for run in runs:
        if run.result is None:
            return f"{run.label} still goes on."
        if not run.valid:
            why = "its answer is wrong" if run.wrong else "it could not run"
            return f"{run.label} on {device_label(run.device)} cannot be compared: {why}."
        if run.device.key not in usable:
            return f"{device_label(run.device)} is no longer there."
    return ""


def in_order(runs: Sequence[Run], baseline: Run | None) -> list[Run]:
    """The baseline first where it is among them, then the oldest."""
    return sorted(runs, key=lambda run: (run is not baseline, run.job.id))


def comparison_jobs(
    runs: Sequence[Run], setup: Setup, seed: int, ids: Iterator[int]
) -> tuple[Job, ...]:
    """The jobs of ``runs`` as they were, with the policy of ``setup`` and one seed for all."""
    return tuple(
        replace(
            run.job,
            id=next(ids),
            policy=setup.policy_on(run.device),
            problem=replace(run.job.problem, seed=seed),
            launch_limit_seconds=setup.launch_limit_seconds,
        )
        for run in runs
    )


def _work(run: Run) -> tuple[object, ...]:
    return run.job.variant.operation, replace(run.job.problem, seed=0)
