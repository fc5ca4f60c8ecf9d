from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.metrics import METRICS, THROUGHPUT, metrics_of, parameter_metric, size_of
from gemmviz.core.model import Problem
from gemmviz.core.size_curves import CurvePoint, SizeCurve, crossings, size_curves, speed_at
from gemmviz.core.sweep import NOT_TRIED, Configuration, SweepCell, SweepReport
from gemmviz.core.sweep_cells import planned_cell
from gemmviz.core.sweep_count import SweepCount, about, cause_of, count_sweep
from gemmviz.core.sweep_dimensions import (
    dimensions,
    fastest,
    is_rough,
    recommended_configurations,
    shape_text,
    value_of,
)
from gemmviz.core.sweep_grid import sweep_grid
from gemmviz.core.sweep_plan import plan
from gemmviz.core.sweep_scatter import sweep_scatter
from tests.core.sweeps import HERE, kernel, make_report, make_sweep, measured

NAMED = {metric.name: metric for metric in METRICS}


def cell_of(size: int, seconds: float, variant: str = "tiled", **changes: object) -> SweepCell:
    cell = SweepCell(Configuration(variant, (("TS", 16),), Problem(size, size, size), 0))
    return replace(measured(cell, seconds), **changes)  # type: ignore[arg-type]


# --- figures


def test_every_figure_says_its_value_with_its_unit():
    cell = cell_of(256, 1e-3, local_bytes=48 * 1024, group_size=256, occupancy=0.67)
    texts = {metric.name: metric.text(metric.compute(cell)) for metric in metrics_of([cell])}
    assert texts == {
        "Throughput": "33.6 GFLOP/s", "Time": "1.00 ms", "Uncertainty": "1 %", "Occupancy": "67 %",
        "Registers": "40", "Local memory": "48 KiB", "Group size": "256", "Samples": "20",
        "Size": "256", "TS": "16",
    }  # fmt: skip


def test_figures_that_no_cell_has_are_not_offered():
    bare = SweepCell(Configuration("coalesced", (), Problem(64, 64, 64), 0))
    assert [metric.name for metric in metrics_of([bare])] == ["Throughput", "Time", "Size"]
    assert THROUGHPUT.compute(replace(bare, state="wrong", seconds=1e-3)) is None
    assert parameter_metric("TS").compute(bare) is None


def test_the_size_of_a_shape_is_that_of_the_cube_with_as_much_work():
    assert size_of(Problem(512, 512, 512)) == 512.0
    assert size_of(Problem(1024, 64, 512)) == pytest.approx(322.5, abs=0.1)


# --- what varies


def test_only_what_takes_two_values_is_a_dimension():
    names = [each.name for each in dimensions(make_sweep())]
    assert names == ["BM", "BN", "BK", "TM", "PAD"]
    wide = make_sweep(("register_2d", "tiled"), (64, 128), (HERE, replace(HERE, ordinal=1)))
    found = {each.name: each for each in dimensions(wide)}
    assert {"TS", "Kernel", "Shape", "Device"} <= found.keys()
    assert found["Kernel"].texts == ("2-D register blocking", "Tiled in local memory")
    assert found["Shape"].values == ("64³", "128³")
    assert shape_text(Problem(8, 16, 32)) == "8 × 16 × 32"
    assert value_of(Configuration("tiled", (), Problem(8, 8, 8), 1), "Device") == 1


def test_the_fastest_that_counts_is_shown_and_else_what_tells_most():
    slow, quick = cell_of(64, 2e-3), cell_of(64, 1e-3)
    wrong = cell_of(64, 1e-6, state="wrong")
    failed = replace(wrong, state="failed", seconds=None)
    planned = replace(wrong, state="planned", seconds=None)
    assert fastest([slow, wrong, quick, planned]) is quick
    rough = cell_of(64, 0.5e-3, state="dropped")
    assert fastest([rough, slow]) is slow  # a few lucky samples are no figure
    assert is_rough(rough)
    lost = replace(rough, final=True)
    assert not is_rough(lost)
    assert fastest([lost, slow]) is lost  # it was measured like the others
    assert fastest([replace(slow, best=True), quick]).best
    assert fastest([rough, slow, quick], {slow.configuration}).configuration == slow.configuration
    passed = replace(planned, state="dropped", why_not=NOT_TRIED)
    assert not is_rough(passed)
    assert fastest([passed, rough]) is rough
    assert (passed.tried, planned.tried, rough.tried) == (False, False, True)
    assert fastest([failed, wrong]) is wrong
    assert fastest([failed, wrong, planned]) is planned  # a figure may come yet
    assert fastest([]) is None


# --- the grid


def test_each_place_holds_the_fastest_of_what_falls_there():
    sweep = make_sweep()
    report = make_report(sweep)
    grid = sweep_grid(sweep, report, ("BM", "BN"))
    assert grid is not None
    assert [grid.across.texts, grid.down.texts] == [("32", "64", "128")] * 2
    assert grid.total == len(report.cells)
    for place in grid.cells:
        here = [
            cell
            for cell in report.cells
            if value_of(cell.configuration, "BM") == grid.across.values[place.column]
            and value_of(cell.configuration, "BN") == grid.down.values[place.row]
        ]
        assert place.count == len(here)
        assert place.cell is fastest(here, recommended_configurations(report.winners))
        assert place.value == place.cell.flops_per_second
    assert grid.at(1, 1).recommended
    assert [place for place in grid.cells if place.recommended] == [grid.at(1, 1)]
    assert grid.at(1, 1).best


def test_a_value_that_is_held_leaves_the_others_out():
    sweep = make_sweep()
    report = make_report(sweep)
    grid = sweep_grid(sweep, report, ("BM", ""), NAMED["Time"], {"BK": 8, "PAD": 4, "BM": 64})
    assert grid is not None
    assert grid.rows == 1
    assert {value_of(place.cell.configuration, "BK") for place in grid.cells} == {8}
    assert {value_of(place.cell.configuration, "PAD") for place in grid.cells} == {4}
    assert [place.value for place in grid.cells] == [place.cell.seconds for place in grid.cells]


def test_an_empty_place_says_why_nothing_can_run_there():
    small = replace(HERE, local_mem_bytes=2**12)
    sweep = make_sweep(devices=(small,))
    grid = sweep_grid(sweep, make_report(sweep), ("BM", "BK"))
    assert grid is not None
    corner = grid.at(2, 2)
    assert (corner.state, corner.cell, corner.value, corner.count) == ("refused", None, None, 0)
    assert "KiB of local memory; a launch gets 4 KiB" in corner.why_not
    assert "group" in corner.why_not


def test_wrong_and_failed_cells_have_no_value_but_a_reason():
    sweep = make_sweep(axes=(("BM", (32, 64)), ("BN", (32,)), ("BK", (8,)), ("TM", (4,)),
                             ("TN", (4,)), ("PAD", (0,))))  # fmt: skip
    report = make_report(sweep)
    first, second = report.cells
    bad = (replace(first, state="wrong", why_not="Wrong."),
           replace(second, state="failed", seconds=None, why_not="It crashed."))  # fmt: skip
    grid = sweep_grid(sweep, SweepReport(bad), ("BM", ""))
    assert grid is not None
    assert [(place.state, place.value, place.why_not) for place in grid.cells] == [
        ("wrong", None, "Wrong."), ("failed", None, "It crashed."),
    ]  # fmt: skip


def test_problems_are_never_mixed_and_an_axis_may_be_one():
    sweep = make_sweep(("tiled", "register_2d"), (64, 128))
    report = make_report(sweep)
    grid = sweep_grid(sweep, report, ("TS", ""))
    assert grid is not None
    assert [place.state for place in grid.cells][-1] == "refused"  # 32 x 32 work-items
    assert {place.cell.configuration.problem.m for place in grid.cells[:-1]} == {64}
    over = sweep_grid(sweep, report, ("Shape", "Kernel"))
    assert over is not None
    assert [place.cell.configuration.problem.m for place in over.cells] == [64, 128, 64, 128]
    assert sweep_grid(sweep, report, ("TN", "")) is None
    two = make_sweep(devices=(HERE, replace(HERE, ordinal=1)))
    apart = sweep_grid(two, make_report(two), ("BM", "BN"))
    assert apart is not None
    assert {place.cell.configuration.device for place in apart.cells} == {0}
    assert sum(place.recommended for place in apart.cells) == 1


# --- curves


def curve(name: str, speeds: dict[int, float], **changes: object) -> SizeCurve:
    points = tuple(
        CurvePoint(float(size), Problem(size, size, size), cell_of(size, 2 * size**3 / speed, name))
        for size, speed in speeds.items()
    )
    return SizeCurve(name, name, "float", 0, points, **changes)  # type: ignore[arg-type]


def test_kernels_cross_where_their_powers_of_the_size_meet():
    steep = curve("steep", {64: 1e9, 256: 4e9, 1024: 16e9})  # as the size
    flat = curve("flat", {64: 2e9, 256: 2e9, 1024: 2e9})
    (found,) = crossings([steep, flat])
    assert found.size == pytest.approx(128)
    assert found.speed == pytest.approx(2e9)
    assert (found.below, found.above, found.between) == ("flat", "steep", (64.0, 256.0))
    assert found.sure
    assert found.leads
    assert crossings([flat, steep])[0].below == "flat"


def test_a_crossing_within_the_intervals_is_not_sure_and_one_below_a_third_does_not_lead():
    near = curve("near", {64: 1.005e9, 128: 0.995e9})
    flat = curve("flat", {64: 1e9, 128: 1e9})
    fast = curve("fast", {64: 5e9, 128: 5e9})
    (found,) = crossings([near, flat, fast])
    assert not found.sure
    assert not found.leads
    elsewhere = replace(flat, device=1)
    assert not crossings([near, elsewhere])
    assert speed_at(curve("up", {64: 1e9, 256: 4e9}), 128) == pytest.approx(2e9)
    assert speed_at(near, 32) is None


def test_a_curve_is_the_best_of_a_kernel_at_each_size():
    sweep = make_sweep(("register_2d", "tiled"), (64, 256, 1024))
    report = make_report(sweep)
    first, other = size_curves(sweep, report)
    assert (first.name, other.name) == ("2-D register blocking", "Tiled in local memory")
    for point in first.points:
        same = [
            cell
            for cell in report.cells
            if cell.configuration.variant == "register_2d"
            and cell.configuration.problem == point.problem
        ]
        assert point.cell is fastest(same, recommended_configurations(report.winners))
        assert point.ends[0] < point.speed < point.ends[1]
    assert [point.size for point in first.points] == [64.0, 256.0, 1024.0]


# --- scatter


def test_points_have_both_figures_their_group_and_their_marks():
    sweep = make_sweep()
    report = make_report(sweep)
    axes = NAMED["Local memory"], THROUGHPUT
    shown = sweep_scatter(sweep, report, axes, "BM")
    good = [cell for cell in report.cells if cell.state in ("measured", "dropped")]
    assert len(shown.points) == len(good) < len(report.cells)
    for point in shown.points:
        assert point.x == point.cell.local_bytes
        assert point.y == point.cell.flops_per_second
        assert shown.by.values[point.group] == value_of(point.cell.configuration, "BM")
    stars = {point.cell.configuration for point in shown.points if point.recommended}
    assert stars == recommended_configurations(report.winners)
    rings = {point.cell.configuration for point in shown.points if point.best}
    assert rings == {each for winner in report.winners for each in winner.best_set}
    held = sweep_scatter(sweep, report, axes, fixed={"BM": 32})
    assert {value_of(point.cell.configuration, "BM") for point in held.points} == {32}
    assert held.by is None
    registers = sweep_scatter(sweep, report, (NAMED["Occupancy"], THROUGHPUT))
    assert not registers.points  # a CPU has no occupancy


def test_a_wrong_or_a_failed_cell_has_no_speed_and_no_time():
    for state in ("wrong", "failed"):
        cell = cell_of(64, 1e-6, state=state)
        assert [NAMED[name].compute(cell) for name in ("Throughput", "Time")] == [None, None]
    assert NAMED["Time"].compute(cell_of(64, 1e-6)) == 1e-6


def test_a_sum_has_the_operations_of_a_sum():
    variant = kernel("mygemm_add")
    cell = planned_cell(Configuration(variant.id, (), Problem(64, 64, 64), 0), variant, HERE)
    assert replace(cell, state="measured", seconds=1.0).flops_per_second == 64 * 64


# --- counting


def test_a_sweep_is_counted_before_it_starts():
    tight = replace(HERE, local_mem_bytes=2**13, max_work_group_size=256)
    sweep = make_sweep(devices=(tight,))
    planned = plan(sweep)
    count = count_sweep(sweep, 2)
    assert count.configurations == len(planned.configurations)
    assert count.refused == len(planned.refused) > 0
    causes = dict(count.causes)
    assert {"local memory", "group size"} <= causes.keys()
    for each in planned.refused:
        cause = cause_of(kernel("register_2d"), each.configuration, tight)
        assert ("of local memory" in each.reason) == (cause == "local memory"), each
    assert count.words.startswith("108 configurations, ")
    assert f"{count.refused} cannot run (" in count.words
    assert f"local memory {causes['local memory']}" in count.words
    assert count.words.endswith(about(count.seconds))


def test_how_many_a_model_will_try_is_told():
    count = count_sweep(replace(make_sweep(), strategy="model", budget=40), 2)
    assert f"about 40 of {count.configurations} will be tried, about " in count.words
    assert "will be tried" not in count_sweep(make_sweep(), 2).words


def test_what_rules_a_configuration_out_is_named():
    sweep = make_sweep(("tiled",), (64,))
    configuration = plan(sweep).configurations[0]
    tiled = kernel("tiled")
    half = replace(configuration, problem=Problem(64, 64, 64, "half"))
    assert cause_of(tiled, half, HERE) == "element type"
    assert cause_of(tiled, configuration, replace(HERE, unavailable="broken")) == "device"
    turned = replace(configuration, problem=replace(configuration.problem, transpose="tn"))
    assert cause_of(tiled, turned, HERE) == "transposes, alpha or beta"
    need = replace(tiled, needs=("nvidia",))
    assert cause_of(need, configuration, HERE) == "kind of device"
    ruled = replace(tiled, require=("TS > 1000",))
    assert cause_of(ruled, configuration, HERE) == "kernel's rules"
    assert cause_of(replace(tiled, tile_rows="TS // 0"), configuration, HERE) == "no launch"
    huge = replace(configuration, problem=Problem(131072, 131072, 64))
    assert cause_of(tiled, huge, HERE) == "shape or memory"


def test_a_sweep_that_cannot_be_made_says_why():
    wrong = replace(make_sweep(("tiled",)), axes=(("tiled", (("XX", (1,)),)),))
    count = count_sweep(wrong, 2)
    assert not count.configurations
    assert "no parameter XX" in count.words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "about 1 s"), (7.4, "about 7 s"), (42, "about 40 s"), (80, "about 80 s"),
     (95, "about 2 min"), (1500, "about 25 min"), (12_000, "about 3 h"), (400_000, "about 100 h")],
)  # fmt: skip
def test_a_guess_has_few_digits(seconds, words):
    assert about(seconds) == words


def test_one_configuration_is_counted_in_the_singular():
    assert SweepCount(1, seconds=3.0).words == "1 configuration, about 3 s"
    assert SweepCount(0, (("group size", 2),)).words == (
        "2 configurations, 2 cannot run (group size 2)"
    )
