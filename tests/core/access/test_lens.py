"""Reports, touches, pads and machines as a whole."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse, pads, trace
from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.marks import used_share
from gemmviz.core.access.report import Machine
from gemmviz.core.codec import from_json, to_json
from gemmviz.core.launch import default_parameters, merge_parameters
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Device, Parameters, Problem
from tests.core.access.own import CATALOG, MACHINE, own, report

SHAPE = Problem(128, 128, 128)


def with_(kernel: str, **values: int) -> Parameters:
    return merge_parameters(CATALOG.find(kernel), values)


def test_totals_of_a_kernel_that_is_known_by_heart() -> None:
    found = analyse(CATALOG.find("tiled"), with_("tiled", TS=16), SHAPE, MACHINE)
    assert (found.group_size, found.groups) == (256, 64)
    assert found.flop == found.executed_flop == 2 * 128**3
    loads, stores = 2 * 128**3 // 16, 128 * 128
    assert found.global_traffic_bytes == 4 * (loads + stores)
    assert found.local_traffic_bytes == 4 * (loads + 2 * 128**3)
    assert found.minimum_bytes == 3 * 4 * 128**2
    assert found.intensity == found.flop / found.global_traffic_bytes
    assert found.reuse == pytest.approx(4 * (2 * 128**3 + stores) / found.global_traffic_bytes)
    by_text = {(a.array, a.kind): a for a in found.accesses}
    load = by_text["A", "load"]
    assert (load.executions, load.bytes_per_group, load.distinct_bytes) == (64, 8192, 8192)
    assert (load.matrix, load.sectors, load.lines, load.ideal_sectors) == ("A", 4, 2, 4)
    assert load.pattern.endswith("coalesced")
    inner = by_text["As", "load"]
    assert (inner.passes, inner.ideal_passes, inner.distinct_bytes) == (1, 1, 1024)


def test_a_naive_kernel_reuses_nothing_and_counts_a_shared_element_once() -> None:
    found = analyse(CATALOG.find("naive_strided"), with_("naive_strided"), SHAPE, MACHINE)
    assert found.reuse == 1
    a, b, c = found.accesses
    assert (a.sectors, b.sectors, c.sectors) == (16, 1, 16)
    # Nor does a shared element ask for more than what holds it.
    assert (a.ideal_sectors, b.ideal_sectors, c.ideal_sectors) == (2, 1, 4)
    # A warp of two runs of sixteen rows asks for 16 elements of A and for 2 of B.
    warps = 128 * 128 // 32
    assert found.global_traffic_bytes == 4 * (warps * 128 * (16 + 2) + 128 * 128)


def test_whole_sectors_tell_coalesced_kernels_from_others() -> None:
    """What is asked for is the same: the lanes are only dealt out otherwise."""
    good, bad = (
        analyse(CATALOG.find(name), with_(name, TS=16), SHAPE, MACHINE)
        for name in ("naive_coalesced", "naive_strided")
    )
    assert good.global_traffic_bytes == bad.global_traffic_bytes
    assert (good.intensity, good.reuse) == (bad.intensity, bad.reuse)
    warps = 128 * 128 // 32
    assert good.sector_bytes == 32 * warps * (128 * (2 + 2) + 4)
    assert bad.sector_bytes == 32 * warps * (128 * (16 + 1) + 16)
    assert used_share(good) == pytest.approx(0.5625, abs=0.01)
    assert used_share(bad) == pytest.approx(0.1324, abs=0.01)


def test_every_group_that_one_stands_for_moves_its_sectors() -> None:
    found = analyse(CATALOG.find("tiled"), with_("tiled", TS=16), SHAPE, MACHINE)
    assert found.sector_bytes == found.global_traffic_bytes
    assert found.sector_bytes == sum(
        round(a.sectors_mean * a.executions * 32 * found.groups)
        for a in found.accesses
        if a.sectors_mean is not None
    )
    assert used_share(found) == 1


def test_the_two_mygemm_kernels_differ_in_their_patterns() -> None:
    good = analyse(CATALOG.find("mygemm_1"), with_("mygemm_1", TS=32), SHAPE, MACHINE)
    bad = analyse(CATALOG.find("mygemm_1b"), with_("mygemm_1b", TS=32), SHAPE, MACHINE)
    assert [a.pattern for a in good.accesses] == [
        "neighbours in a column: coalesced", "all the same element: broadcast",
        "neighbours in a column: coalesced",
    ]  # fmt: skip
    assert [a.pattern for a in bad.accesses] == [
        "all the same element: broadcast", "1 column apart: one sector per lane",
        "1 column apart: one sector per lane",
    ]  # fmt: skip


def test_what_a_group_touches() -> None:
    variant = CATALOG.find("tiled")
    touched = trace(variant, with_("tiled", TS=16), SHAPE, MACHINE, (1, 2))
    found = analyse(variant, with_("tiled", TS=16), SHAPE, MACHINE)
    assert [t.access for t in touched] == list(range(len(found.accesses)))
    load = touched[[(a.array, a.kind) for a in found.accesses].index(("A", "load"))]
    y, x = np.divmod(np.arange(256), 16)
    expected = [(32 + y) * 128 + step * 16 + x for step in range(8)]
    assert load.elements.tolist() == np.array(expected).tolist()
    assert (load.width, load.row_length) == (1, 128)
    inner = touched[[(a.array, a.kind) for a in found.accesses].index(("As", "load"))]
    assert inner.elements.shape == (128, 256)
    assert inner.elements[17].tolist() == (y * 16 + 1).tolist()
    assert inner.row_length == 16


def test_touches_keep_the_order_of_time_through_nested_loops() -> None:
    body = "  for (int i = 0; i < 5; ++i) { for (int j = 0; j < 7; ++j) C[i * 100 + j] = 1; }\n"
    (touched,) = trace(own(body), (), Problem(8, 8, 8), MACHINE)
    assert touched.elements[:, 0].tolist() == [i * 100 + j for i in range(5) for j in range(7)]


def test_a_lane_outside_is_minus_one_and_idle_steps_are_left_out() -> None:
    body = "  const int x = get_local_id(0);\n  for (int i = 0; i < 4; ++i) if (x < i) C[i] = 1;\n"
    (touched,) = trace(own(body), (), Problem(8, 8, 8), MACHINE)
    assert touched.elements.shape == (3, 64)
    assert touched.elements[0, :3].tolist() == [1, -1, -1]


def test_the_article_is_padded() -> None:
    problem = Problem(64, 64, 64)
    variant = CATALOG.find("barriers_tiled")
    tried = pads(variant, with_("barriers_tiled", TS=16), problem, MACHINE)
    assert [pad.pad for pad in tried] == list(range(9))
    assert [passes for _, passes in tried[0].passes] == [8, 8, 8, 1]
    assert [passes for _, passes in tried[1].passes] == [2, 2, 1, 1]
    assert [passes for _, passes in tried[2].passes] == [1, 1, 1, 1]
    assert min(tried, key=lambda pad: pad.total_passes).pad == 2
    assert [pad.local_bytes for pad in tried[:2]] == [2048, 2 * 16 * 17 * 4]
    # Where PAD stands now changes nothing.
    now = with_("barriers_tiled", TS=16, PAD=2)
    assert pads(variant, now, problem, MACHINE) == tried


def test_a_kernel_without_a_pad_of_its_own_is_padded_in_its_declarations() -> None:
    body = (
        "  __local real t[16][16], flat[64];\n  const int x = get_local_id(0);\n"
        "  t[2 * x][get_local_id(1)] = A[x];\n  flat[x] = 1;\n"
    )
    tried = pads(own(body), (), Problem(8, 8, 8), MACHINE)
    assert [passes for _, passes in tried[0].passes] == [8, 1]
    assert [passes for _, passes in tried[1].passes] == [2, 1]
    assert [pad.local_bytes for pad in tried[:2]] == [16 * 16 * 4 + 256, 16 * 17 * 4 + 256]
    assert pads(own("  __local real flat[64]; flat[0] = 1;\n"), (), SHAPE, MACHINE) == ()
    assert pads(own("  C[0] = 1;\n"), (), SHAPE, MACHINE) == ()
    strided = CATALOG.find("naive_strided")
    assert pads(strided, default_parameters(strided), SHAPE, MACHINE) == ()


def test_pads_that_the_source_refuses_are_left_out() -> None:
    variant = CATALOG.find("barriers_tiled")
    odd = "#if PAD % 4 != 0\n#error PAD must be a multiple of 4\n#endif\n"
    strict = replace(variant, source=odd + variant.source)
    tried = pads(strict, with_("barriers_tiled"), Problem(64, 64, 64), MACHINE)
    assert [pad.pad for pad in tried] == [0, 4, 8]
    with pytest.raises(LensError, match="never"):
        pads(replace(variant, source="#error never\n"), with_("barriers_tiled"), SHAPE, MACHINE)


def test_machines() -> None:
    assert machine_for(None, None) == Machine(32, 32, "", "assumed: 32 lanes and 32 banks")
    assert machine_for(None, named_limits("CC 9.0")) == Machine(32, 32, "NVIDIA", "CC 9.0")
    assert machine_for(None, named_limits("gfx950")).banks == 64
    assert machine_for(None, named_limits("gfx90a")).warp == 64
    intel = machine_for(None, named_limits("DG2"))
    assert (intel.warp, intel.banks, intel.vendor) == (16, 16, "Intel")
    gpu = Device("NVIDIA CUDA", "", "H200", "GPU", compute_capability="9.0")
    assert machine_for(gpu, None).source == "CC 9.0"
    assert machine_for(Device("PoCL", "", "cpu", "CPU"), None).source.startswith("assumed")
    given = machine_for(gpu, None, banks=16)
    assert (given.warp, given.banks, given.source) == (32, 16, "CC 9.0, banks given")
    assert machine_for(None, None, 64, 64).source == "given"


def test_warp_and_banks_change_the_figures() -> None:
    variant, parameters = CATALOG.find("barriers_tiled"), with_("barriers_tiled", TS=16)
    narrow = analyse(variant, parameters, SHAPE, Machine(8, 32))
    assert max(a.sectors or 0 for a in narrow.accesses) == 8
    few = analyse(variant, parameters, SHAPE, Machine(32, 16))
    assert max(a.passes or 0 for a in few.accesses) == 16


def test_a_library_has_no_source() -> None:
    library = next(variant for variant in CATALOG.variants if variant.library)
    with pytest.raises(LensError, match="no source"):
        analyse(library, default_parameters(library), SHAPE, MACHINE)


def test_answers_travel() -> None:
    found = report(own("  C[0] = A[1];\n"))
    assert pickle.loads(pickle.dumps(found)) == found
    assert from_json(type(found), to_json(found)) == found
    error = pickle.loads(pickle.dumps(LensError("No.", 7)))
    assert (str(error), error.line) == ("No.", 7)
