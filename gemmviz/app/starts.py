"""Makes jobs of what a person wants to run and hands them to the queue."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gemmviz.app.estimator import Estimator
from gemmviz.app.rematch import comparison_jobs, in_order
from gemmviz.app.run_queue import RunQueue
from gemmviz.app.runs import Run
from gemmviz.app.setup import Setup
from gemmviz.app.targets import Target
from gemmviz.core.catalog import Catalog
from gemmviz.core.launch import merge_parameters
from gemmviz.core.model import Device, DeviceKey, Job, Variant


class Starter:
    """Starts runs, the same again, and comparisons; ``ids`` gives each job one of its own."""

    def __init__(self, queue: RunQueue, estimator: Estimator, ids: Iterator[int]) -> None:
        self._queue, self._estimator, self._ids = queue, estimator, ids

    def start(self, setup: Setup, targets: Sequence[Target]) -> None:
        """Queue a run of a setup on every target that can take it."""
        seed = _seed(setup)
        for target in targets:
            if target.refusal or setup.variant is None:
                continue
            job = Job(
                next(self._ids), target.device.key, setup.variant, setup.parameters,
                setup.problem(seed), policy=setup.policy_on(target.device),
                build_options=setup.build_options, launch_limit_seconds=setup.launch_limit_seconds,
            )  # fmt: skip
            self._queue.add(Run(job, target.device, self._estimator.estimate(setup, target.device)))

    def again(self, job: Job, device: Device) -> None:
        """Queue a job as it was, its seed and policy included."""
        self._queue.add(Run(replace(job, id=next(self._ids), device=device.key), device))

    def compare(self, runs: Sequence[Run], setup: Setup, baseline: Run | None) -> None:
        """Queue finished runs to be measured again in turns, all with the same inputs."""
        chosen = in_order(runs, baseline)
        jobs = comparison_jobs(chosen, setup, _seed(setup), self._ids)
        again = [Run(job, run.device, run.estimate) for job, run in zip(jobs, chosen, strict=True)]
        self._queue.add_comparison(again, next(self._ids))


def same_device(key: DeviceKey, devices: Sequence[Device]) -> Device | None:
    """The device of a key, or what it has become with another version of its driver."""
    exact = (device for device in devices if device.key == key)
    alike = (device for device in devices
             if replace(device.key, platform_version=key.platform_version) == key)  # fmt: skip
    return next(exact, None) or next(alike, None)


def is_known(job: Job, catalog: Catalog) -> bool:
    """Whether a job from a file runs just what a kernel here does, and nothing strange.

    That is its source with all that decides how it is built and launched: macros and arguments of
    another kind turn a known source into another program.
    """
    variant = _bare(job.variant)
    if job.build_options or all(_bare(known) != variant for known in catalog.variants):
        return False
    try:
        return merge_parameters(variant, dict(job.parameters)) == job.parameters
    except ValueError:
        return False


def _bare(variant: Variant) -> Variant:
    """A variant without what is only said about it."""
    return replace(variant, title="", summary="", idea="", finding="", family="", rung=0)


def _seed(setup: Setup) -> int:
    return setup.seed if setup.seed is not None else secrets.randbelow(2**31)
