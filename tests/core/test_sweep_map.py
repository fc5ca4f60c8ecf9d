"""The maps of a sweep as pictures: which there are, over what, and their words."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.sweep_map import map_axes, part_of, sweep_maps, sweep_title
from tests.core.sweeps import BLOCKS, HERE, kernel, make_report, make_sweep

INTEL = replace(HERE, platform="Intel(R) OpenCL", platform_version="OpenCL 3.0", name="cpu")


def test_each_race_has_a_map_with_its_own_star() -> None:
    sweep = make_sweep(sizes=(256, 512), devices=(HERE, INTEL))
    report = make_report(sweep)
    maps = sweep_maps(sweep, report)
    assert [each.name for each in maps] == ["pocl-256", "pocl-512", "intel-256", "intel-512"]
    for each, winner in zip(maps, report.winners, strict=True):
        assert each.winners == (winner,)
        assert each.grid is not None
        (taken,) = [place for place in each.grid.cells if place.recommended]
        assert taken.cell is not None
        assert taken.cell.configuration == winner.recommended
    assert maps[3].title == "2-D register blocking, 512³ float on cpu · Intel"
    assert sweep_title(sweep).endswith("256³ and 512³ float on pthread-cpu · PoCL 3.0-rc2 and "
                                       "cpu · Intel")  # fmt: skip


def test_a_race_that_is_not_decided_tells_of_no_other_winner() -> None:
    sweep = make_sweep(sizes=(256, 512))
    report = make_report(sweep)
    first, second = sweep_maps(sweep, replace(report, winners=report.winners[:1]))
    assert first.winners == report.winners[:1]
    assert second.winners == ()


def test_the_axes_are_the_parameters_that_matter_most() -> None:
    sweep = make_sweep()
    report = make_report(sweep)
    cells = []
    for cell in report.cells:
        values = dict(cell.configuration.parameters)
        seconds = 1e-3 * (1 + (values["TM"] == 4)) * (1 + 0.5 * (values["BK"] == 8))
        cells.append(replace(cell, state="measured", seconds=seconds))
    assert map_axes(sweep, replace(report, cells=tuple(cells))) == ("BK", "TM")
    (only,) = sweep_maps(sweep, replace(report, cells=tuple(cells)))
    assert (only.name, only.free) == ("", "best of BM, BN, PAD")


def test_sizes_are_an_axis_where_too_little_else_varies() -> None:
    axes = tuple((name, values if name == "BM" else values[:1]) for name, values in BLOCKS)
    sweep = make_sweep(sizes=(256, 512), devices=(HERE, INTEL), axes=axes)
    report = make_report(sweep)
    assert map_axes(sweep, report) == ("BM", "Shape")
    maps = sweep_maps(sweep, report)
    assert [each.name for each in maps] == ["pocl", "intel"]
    assert [len(each.winners) for each in maps] == [2, 2]
    assert maps[0].free == ""


def test_several_kernels_are_the_rows() -> None:
    sweep = make_sweep(("register_2d", "tiled"), sizes=(256, 512))
    assert map_axes(sweep, make_report(sweep)) == ("Shape", "Kernel")
    assert len(sweep_maps(sweep, make_report(sweep))) == 1
    one = make_sweep(("register_2d", "tiled"))
    assert map_axes(one, make_report(one)) == ("Kernel", "")


def test_names_of_files_tell_devices_and_shapes_of_one_name_apart() -> None:
    sweep = make_sweep(devices=(HERE, HERE))
    wide = replace(sweep.problems[0], n=64, transpose="tn")
    sweep = replace(sweep, problems=(*sweep.problems, wide))
    names = [each.name for each in sweep_maps(sweep, make_report(sweep))]
    assert names == [
        f"pthread-cpu-pocl-3.0-rc2-{place}-{shape}"
        for place in (1, 2)
        for shape in ("256", "256x64x256-tn")
    ]


def test_the_part_that_a_map_shows_is_a_sweep_of_its_own() -> None:
    sweep = make_sweep(sizes=(256, 512), devices=(HERE, INTEL))
    shown = sweep_maps(sweep, make_report(sweep))[3]
    part = part_of(sweep, shown)
    assert part.devices == (INTEL,)
    assert [each.m for each in part.problems] == [512]
    assert part.variants == (kernel("register_2d"),)
