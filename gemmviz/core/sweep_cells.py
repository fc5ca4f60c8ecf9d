"""Cells of a sweep: one that is planned, and what a Result makes of it."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.expr import ExprError
from gemmviz.core.kernel_occupancy import estimate_for
from gemmviz.core.launch import flop, geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Failure, Result, Variant
from gemmviz.core.result_figures import seconds_per_launch
from gemmviz.core.stats import Floats, summarize
from gemmviz.core.sweep import Configuration, SweepCell


def planned_cell(
    configuration: Configuration, variant: Variant, device: Device, registers: int | None = None
) -> SweepCell:
    """A configuration before anything was measured, with what a group of it takes."""
    parameters, problem = configuration.parameters, configuration.problem
    cell = SweepCell(configuration, flop=flop(variant, problem), registers=registers)
    try:
        shape = geometry(variant, parameters, problem)
        cell = replace(cell, local_bytes=shape.local_bytes, group_size=shape.group_size)
        estimate = estimate_for(
            variant, parameters, problem, device, limits_for(device), registers=registers
        )
    except (ExprError, ValueError):
        return cell
    return replace(cell, occupancy=estimate.occupancy)


def measured_cell(planned: SweepCell, result: Result, *, final: bool) -> SweepCell:
    """A planned cell with what came of its run; of one that was stopped the figures so far."""
    cell = _timed(replace(planned, final=final), seconds_per_launch(result))
    failure = result.failure
    if failure is not None and failure.kind == "wrong":
        return replace(cell, state="wrong", why_not=failure.sentence)
    if failure is not None:
        return replace(cell, state="failed", why_not=failure.sentence)
    if result.verdict == "verified" and cell.seconds is not None:
        return replace(cell, state="measured")
    if result.stopped:
        return planned
    failure = Failure("timer", "No launch of it had a usable time.")
    return replace(cell, state="failed", why_not=failure.sentence)


def _timed(cell: SweepCell, times: Floats) -> SweepCell:
    """A cell with the figures of its samples."""
    summary = summarize(times)
    if summary is None:
        return replace(cell, seconds=None, low=None, high=None, samples=0)
    return replace(
        cell,
        seconds=summary.median,
        low=summary.low,
        high=summary.high,
        samples=summary.count,
    )
