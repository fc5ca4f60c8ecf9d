"""Saved results seen as a sweep: what varies among them, and a cell for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gemmviz.core.model import Device, DeviceKey, Problem, Result, Variant
from gemmviz.core.sweep import Axis, Configuration, Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_cells import measured_cell, planned_cell


def sweep_of(results: Sequence[Result]) -> tuple[Sweep, SweepReport]:
    """The kernels, values, problems and devices of results, and a cell for each configuration.

    Of several results of one configuration the last counts. Nothing is said of winners, since
    these need not have been measured together.

    Args:
        results: In the order in which they were measured.
    """
    devices: dict[DeviceKey, Device] = {}
    variants: dict[str, Variant] = {}
    problems: dict[Problem, None] = {}
    values: dict[str, dict[str, set[int]]] = {}
    cells: dict[Configuration, SweepCell] = {}
    for result in results:
        job = result.job
        devices.setdefault(result.device.key, result.device)
        variants[job.variant.id] = job.variant
        problem = replace(job.problem, seed=0)  # other inputs are no other problem
        problems.setdefault(problem)
        tried = values.setdefault(job.variant.id, {})
        for name, value in job.parameters:
            tried.setdefault(name, set()).add(value)
        place = list(devices).index(result.device.key)
        configuration = Configuration(job.variant.id, job.parameters, problem, place)
        planned = planned_cell(configuration, job.variant, result.device)
        cells[configuration] = measured_cell(planned, result, final=True)
    axes = tuple((variant, _axes(tried)) for variant, tried in values.items())
    sweep = Sweep(tuple(variants.values()), axes, tuple(problems), tuple(devices.values()))
    return sweep, SweepReport(tuple(cells.values()))


def _axes(tried: dict[str, set[int]]) -> tuple[Axis, ...]:
    return tuple((name, tuple(sorted(values))) for name, values in tried.items())
