"""Runs benchmark suites: each row a library and a kernel in turns, on every device of its type."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gemmviz.core.choice import quiet_by_default
from gemmviz.core.comparison import Comparison
from gemmviz.core.context import Context
from gemmviz.core.experiments import RunSuite
from gemmviz.core.feasibility import refusal
from gemmviz.core.labels import device_label
from gemmviz.core.launch import describe_parameters, merge_parameters
from gemmviz.core.libraries import absence
from gemmviz.core.limits import limits_for
from gemmviz.core.messages import Message, Progressed, RowMeasured
from gemmviz.core.model import Device, Job, Parameters, Problem, Result, Variant
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import summarize
from gemmviz.core.suite import BenchReport, BenchRow, SuiteRow, judge, others_load, too_wide
from gemmviz.core.tuned import tuned_parameters

if TYPE_CHECKING:
    from gemmviz.engine.plan import Engine

_FIRST_ID = 10**9


def run_suite(experiment: RunSuite, engine: Engine) -> Generator[Message, None, BenchReport]:
    """Measures row after row; each is told as soon as it is known.

    Returns:
        All rows; of a suite that was stopped those that were done before.
    """
    suite = _Suite(experiment, engine)
    asked = [(row, device) for row in experiment.rows for device in _devices(row, experiment)]
    rows: list[BenchRow] = []
    for number, (row, device) in enumerate(asked):
        if device is not None:
            text = f"{number + 1} of {len(asked)}: {row.name} on {device_label(device)}"
            yield Progressed(experiment.job_id, number / len(asked), text)
        found, results = suite.measure(row, device)
        if engine.was_stopped(experiment.job_id):
            return BenchReport(tuple(rows), context=suite.context)
        rows.append(found)
        yield RowMeasured(experiment.job_id, found, results)
    return BenchReport(tuple(rows), whole=True, context=suite.context)


def _devices(row: SuiteRow, experiment: RunSuite) -> tuple[Device | None, ...]:
    """The devices that a row is asked of; a lone None where there is none of its type."""
    return tuple(each for each in experiment.devices if each.type == row.kind) or (None,)


class _Suite:
    """What the rows have in common."""

    def __init__(self, experiment: RunSuite, engine: Engine) -> None:
        self._asked, self._engine = experiment, engine
        self._variants = {variant.id: variant for variant in experiment.variants}
        self._busy_units = 0  # processors that this very suite has kept busy
        self.context: Context | None = None

    def measure(self, row: SuiteRow, device: Device | None) -> tuple[BenchRow, tuple[Result, ...]]:
        """One row on one device, and the results of both kernels where they were measured."""
        m, n, k = row.shape
        found = BenchRow(
            row.name, "" if device is None else device_label(device), row.kernel, row.parameters,
            row.element, m, n, k, row.against, target=row.target, note=row.note,
        )  # fmt: skip
        if device is None:
            return replace(found, why_not=f"There is no {row.kind} here."), ()
        problem = Problem(m, n, k, row.element, self._asked.seed)
        jobs: list[Job] = []
        for number, (name, chosen) in enumerate(((row.against, ()), (row.kernel, row.parameters))):
            variant = self._variants.get(name)
            if variant is None:
                return replace(found, why_not=f"There is no kernel {name}."), ()
            try:
                best = dict(tuned_parameters(variant, problem, device))
                parameters = merge_parameters(variant, best | dict(chosen))
            except ValueError as error:
                return replace(found, why_not=f"{error}."), ()
            reason = absence(variant) or refusal(
                variant, parameters, problem, device, limits_for(device)
            )
            if reason:
                return replace(found, why_not=reason), ()
            jobs.append(self._job(number, device, variant, parameters, problem))
        found = replace(found, parameters=jobs[1].parameters)
        *_, last = self._engine.compare(jobs, [device, device], self._asked.job_id)
        assert isinstance(last, Comparison)
        if last.failure is not None:
            return replace(found, why_not=last.failure.sentence), last.results
        self.context = self.context or last.results[0].context
        judged = _judged(found, last, self._busy_units)
        units = device.compute_units or 1
        self._busy_units = max(self._busy_units, units if device.type == "CPU" else 1)
        return judged, last.results

    def _job(
        self,
        number: int,
        device: Device,
        variant: Variant,
        parameters: Parameters,
        problem: Problem,
    ) -> Job:
        policy = replace(self._asked.policy, quiet=quiet_by_default(device))
        return Job(_FIRST_ID + number, device.key, variant, parameters, problem, policy)


def _judged(row: BenchRow, comparison: Comparison, own_units: int) -> BenchRow:
    """A row with what its comparison found."""
    library, kernel = comparison.results
    if not comparison.versus:
        return replace(row, why_not="No launch of both had a usable time.")
    versus = comparison.versus[0]
    context = library.context
    facts = context.library if context is not None else None
    load = "" if context is None else others_load(context.load, context.cores, own_units)
    busy = " and ".join(filter(None, (load, too_wide(versus.ratio_low, versus.ratio_high))))
    timer = kernel.timer
    row = replace(
        row,
        library=facts.text if facts is not None else "",
        ratio=versus.ratio,
        ratio_low=versus.ratio_low,
        ratio_high=versus.ratio_high,
        worth=versus.worth,
        word=versus.word,
        busy=busy,
        met=judge(versus.ratio, row.target, busy),
        seconds=_median_seconds(kernel),
        library_seconds=_median_seconds(library),
        floor_seconds=timer.launch_seconds if timer is not None else None,
        error=kernel.check.max_error if kernel.check is not None else None,
        library_error=library.check.max_error if library.check is not None else None,
    )
    wrong = _wrong(comparison.wrong)
    return replace(row, why_not=wrong, met=None) if wrong else row


def _wrong(results: Sequence[Result]) -> str:
    """Which answers are wrong, as a sentence, or ""."""
    names = [
        f"{result.job.variant.id} {describe_parameters(result.job.parameters)}".strip()
        for result in results
    ]
    return f"The answer of {' and of '.join(names)} is wrong." if names else ""


def _median_seconds(result: Result) -> float | None:
    summary = summarize(seconds_per_launch(result))
    return summary.median if summary is not None else None
