"""A sweep as lines over parallel axes."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.metrics import METRICS, THROUGHPUT, TIME
from gemmviz.core.sweep import SweepReport
from gemmviz.core.sweep_dimensions import dimensions
from gemmviz.core.sweep_lines import can_be_lines, sweep_lines
from tests.core.sweeps import make_report, make_sweep


def test_every_configuration_is_a_line_over_all_that_varies() -> None:
    sweep = make_sweep()
    report = make_report(sweep)
    shown = sweep_lines(sweep, report)
    assert shown is not None
    assert [axis.name for axis in shown.axes] == ["BM", "BN", "BK", "TM", "PAD"]
    assert shown.axes[0].texts == ("32", "64", "128")
    assert (len(shown.lines), shown.untried) == (len(report.cells), 0)
    for line in shown.lines:
        values = dict(line.cell.configuration.parameters)
        told = {a.name: a.texts[p] for a, p in zip(shown.axes, line.places, strict=True)}
        assert told == {name: str(values[name]) for name in told}
        good = line.cell.state in ("measured", "dropped")
        assert line.value == (line.cell.flops_per_second if good else None)
    low, high = shown.span or (0, 0)
    assert low == min(line.value for line in shown.lines if line.value)
    assert high == max(line.value for line in shown.lines if line.value)


def test_the_worst_come_first_so_that_nothing_hides_the_best() -> None:
    sweep = make_sweep()
    report = make_report(sweep)
    shown = sweep_lines(sweep, report)
    assert shown is not None
    values = [line.value for line in shown.lines]
    lacking = values.count(None)
    assert lacking
    assert values[:lacking] == [None] * lacking
    rest = [line for line in shown.lines[lacking:] if not line.best]
    assert [line.value for line in rest] == sorted(line.value or 0 for line in rest)
    assert shown.lines[-1].recommended
    assert shown.lines[-1].cell.configuration == report.winners[0].recommended
    timed = sweep_lines(sweep, report, TIME)
    assert timed is not None
    times = [line.value for line in timed.lines if line.value is not None and not line.best]
    assert times == sorted(times, reverse=True)


def test_a_kernel_without_a_parameter_has_a_dash_there() -> None:
    sweep = make_sweep(("register_2d", "tiled"), (64, 128))
    shown = sweep_lines(sweep, make_report(sweep))
    assert shown is not None
    texts = {axis.name: axis.texts for axis in shown.axes}
    assert texts["BM"] == ("–", "32", "64", "128")
    assert texts["TS"][0] == "–"
    assert texts["Kernel"] == ("2-D register blocking", "Tiled in local memory")
    names = [axis.name for axis in shown.axes]
    tiled = next(line for line in shown.lines if line.cell.configuration.variant == "tiled")
    assert tiled.places[names.index("BM")] == 0
    assert tiled.places[names.index("TS")] > 0


def test_what_is_held_has_no_axis() -> None:
    sweep = make_sweep(sizes=(64, 128))
    report = make_report(sweep)
    shown = sweep_lines(sweep, report, THROUGHPUT, {"Shape": "128³", "BM": 64})
    assert shown is not None
    assert [axis.name for axis in shown.axes] == ["BN", "BK", "TM", "PAD"]
    assert {line.cell.configuration.problem.m for line in shown.lines} == {128}
    assert {dict(line.cell.configuration.parameters)["BM"] for line in shown.lines} == {64}
    every = {each.name: each.values[0] for each in dimensions(sweep)}
    assert sweep_lines(sweep, report, THROUGHPUT, every) is None


def test_what_is_to_come_has_no_line_and_no_figure_is_a_line_all_the_same() -> None:
    sweep = make_sweep()
    half = sweep_lines(sweep, make_report(sweep, 0.5))
    assert half is not None
    assert half.untried == sum(cell.state == "planned" for cell in make_report(sweep, 0.5).cells)
    assert len(half.lines) + half.untried == 81
    occupancy = next(metric for metric in METRICS if metric.name == "Occupancy")
    without = sweep_lines(sweep, make_report(sweep), occupancy)
    assert without is not None
    assert without.span is None
    assert sweep_lines(sweep, SweepReport(())) is not None


def test_few_things_that_vary_make_no_lines() -> None:
    two = (("BM", (32, 64)), ("BN", (32, 64)), ("BK", (8,)), ("TM", (4,)), ("TN", (4,)),
           ("PAD", (0,)))  # fmt: skip
    sweep = make_sweep(axes=two)
    assert not can_be_lines(dimensions(sweep))
    assert sweep_lines(sweep, make_report(sweep)) is None
    more = replace(sweep, problems=make_sweep(sizes=(64, 128)).problems)
    assert can_be_lines(dimensions(more))
    assert sweep_lines(more, make_report(more)) is not None
