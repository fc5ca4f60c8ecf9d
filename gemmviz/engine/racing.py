"""Two devices at once: in turns in one child where they share hardware, else each in its own."""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Generator
from typing import TYPE_CHECKING

from gemmviz.core.comparison import Comparison
from gemmviz.core.experiments import RaceDevices
from gemmviz.core.messages import Message
from gemmviz.core.model import Device, Failure, Job, Result
from gemmviz.core.paired import compare_apart, margin_of
from gemmviz.core.result_figures import seconds_per_launch

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_POLL_SECONDS = 0.05


def race_devices(experiment: RaceDevices, engine: Engine) -> Generator[Message, None, Comparison]:
    """Runs both jobs; their messages bear the jobs' own ids.

    Returns:
        Both results, and how the second device compares with the first: by rounds where they took
        turns, else by the intervals of their medians.
    """
    if not experiment.in_turns:
        return (yield from _side_by_side(experiment, engine))
    for item in engine.compare(experiment.jobs, experiment.devices, experiment.job_id):
        if isinstance(item, Comparison):
            return item
        yield item
    raise RuntimeError("a comparison ended without a word")


def _side_by_side(experiment: RaceDevices, engine: Engine) -> Generator[Message, None, Comparison]:
    """Both at once, a thread each; a stop of the race is passed on to both."""
    told: queue.SimpleQueue[Message | Result] = queue.SimpleQueue()
    runners = [
        threading.Thread(target=_run, args=(engine, job, device, told), daemon=True)
        for job, device in zip(experiment.jobs, experiment.devices, strict=True)
    ]
    for runner in runners:
        runner.start()
    results: dict[int, Result] = {}

    def stop_rest() -> None:
        for job in experiment.jobs:
            if job.id not in results:
                engine.stop(job.id)

    try:
        while len(results) < len(runners):
            if engine.was_stopped(experiment.job_id):
                stop_rest()
            try:
                item = told.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            if isinstance(item, Result):
                results[item.job.id] = item
            else:
                yield item
    finally:
        stop_rest()  # nobody listens any more
    return _compared(experiment, [results[job.id] for job in experiment.jobs], engine)


def _run(
    engine: Engine, job: Job, device: Device, told: queue.SimpleQueue[Message | Result]
) -> None:
    try:
        for item in engine.run(job, device):
            told.put(item)
    except Exception as error:  # noqa: BLE001 (the other side waits for a last word)
        failure = Failure("crash", f"The run failed: {error}.", traceback.format_exc())
        told.put(Result(job, device, failure=failure))


def _compared(experiment: RaceDevices, results: list[Result], engine: Engine) -> Comparison:
    first, other = results
    margin = margin_of(first.job.policy)
    versus = compare_apart(seconds_per_launch(first), seconds_per_launch(other), margin)
    broken = [each.failure for each in results if each.failure and each.failure.kind != "wrong"]
    stopped = engine.was_stopped(experiment.job_id)
    return Comparison(
        experiment.job_id,
        tuple(results),
        (versus,) if versus is not None and not broken else (),
        broken[0] if broken and not stopped else None,
        stopped,
        "stopped" if stopped else first.stop_reason,
    )
