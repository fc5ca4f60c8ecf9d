"""The rule on bank conflicts: when it speaks, and which pad or kernel it finds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.report import AccessReport, Machine, Pad
from gemmviz.core.advice.look import look
from gemmviz.core.advice.outlook import Look
from gemmviz.core.advice.padding import declaration, longer_rows
from gemmviz.core.advice.rules.banks import conflicts
from gemmviz.core.advice.situation import Situation
from gemmviz.core.model import Parameters, Problem, Variant
from tests.core.advice.recorded import H200, POCL, access, judged, report, situation


def test_a_conflict_leads_to_the_smallest_pad_that_ends_it() -> None:
    found = judged("banks.conflict", situation("tiled_padded", 2048, H200, PAD=0, TS=16))
    assert found is not None
    assert (found.kernel, dict(found.parameters)["PAD"]) == ("tiled_padded", 2)
    assert "16 passes" in found.evidence


def test_no_conflict_and_a_cpu_are_no_finding() -> None:
    assert judged("banks.conflict", situation("tiled_padded", 2048, H200, PAD=2)) is None
    assert judged("banks.conflict", situation("tiled", 2048, H200)) is None
    assert judged("banks.conflict", situation("tiled_padded", 512, POCL, PAD=0)) is None


def wide_reads(passes: float) -> Look:
    """A lens that sees float4 loads of local memory in ``passes``; a pad ends their conflicts."""

    def see(
        variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
    ) -> AccessReport:
        taken = passes if dict(parameters).get("PAD") == 0 else 4.0
        wide = access("As", "local", executions=problem.k, passes=taken)
        wide = replace(wide, element_bytes=16, ideal_passes=4)
        loads = access("A", executions=problem.k, sectors=4, ideal=4)
        return report(variant, parameters, problem, loads, wide)

    return see


def test_wide_accesses_without_conflict_are_no_finding() -> None:
    about = situation("tiled_padded", 2048, H200, PAD=0)
    for passes in (4.0, 5.0):
        see = wide_reads(passes)
        seen = see(about.variant, about.parameters, about.problem, about.machine)
        assert conflicts(seen) == ()
        assert judged("banks.conflict", replace(about, access=seen)) is None


def test_wide_accesses_in_conflict_are_told_against_what_they_need() -> None:
    found = judged("banks.conflict", situation("tiled_padded", 2048, H200, PAD=0), wide_reads(16.0))
    assert found is not None
    assert "16 passes of the 32 banks where 4 would do" in found.evidence
    assert (found.kernel, dict(found.parameters)["PAD"]) == ("tiled_padded", 1)
    assert "0.25 of the turns" in found.action


def test_a_kernel_of_wide_accesses_is_free_of_conflicts() -> None:
    about = situation("tiled", 2048, H200)
    worst = replace(access("As", "local", passes=16.0), ideal_passes=1)
    seen = report(about.variant, about.parameters, about.problem, worst)
    found = judged("banks.conflict", replace(about, access=seen), wide_reads(4.0))
    assert found is not None
    assert found.kernel != "tiled"


def test_the_real_lens_sees_no_conflict_in_the_wide_loads_of_the_ladder() -> None:
    about = situation("register_vector", 1024, H200)
    machine = machine_for(H200, about.limits)
    about = replace(about, machine=machine)
    seen = look(about.variant, about.parameters, replace(about.problem, k=64), machine)
    assert seen is not None
    wide = [a for a in seen.accesses if a.space == "local" and a.ideal_passes == 4]
    assert any(a.passes_mean == 4 for a in wide)
    assert all(a.passes_mean != a.ideal_passes for a in conflicts(seen))


# --- rows that a kernel has no macro for


def on_its_side() -> Situation:
    """A person's own tiled kernel that stores the tile of B on its side, without a pad."""
    about = situation("tiled", 128, H200)
    own = """#define TS 16
__kernel void own(__global const float *A, __global const float *B, __global float *C,
                  const int M, const int N, const int K) {
  __local float As[TS][TS];
  __local float Bs[TS][TS];  // Bs[column][k]
  const int x = get_local_id(0), y = get_local_id(1);
  const int col = get_group_id(0) * TS + x, row = get_group_id(1) * TS + y;
  float sum = 0.0f;
  for (int t = 0; t < K; t += TS) {
    As[y][x] = A[row * K + t + x];
    Bs[x][y] = B[(t + y) * N + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TS; k++) sum += As[y][k] * Bs[x][k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[row * N + col] = sum;
}
"""
    variant = replace(
        about.variant, id="own", family="user", source=own, entry="own", parameters=(),
        group=("16", "16"), tile_rows="16", tile_cols="16",
        local_bytes="2 * 16 * 16 * element_bytes", shapes="exact", require=(),
    )  # fmt: skip
    return replace(about, variant=variant, parameters=(), machine=machine_for(H200, about.limits))


def test_a_kernel_without_a_pad_is_told_which_line_to_change() -> None:
    about = on_its_side()
    found = judged("banks.conflict", about, look)
    assert found is not None
    assert "8 passes of the 32 banks" in found.evidence
    assert "Make the rows of Bs 2 elements longer: `__local float Bs[TS][TS + 2]`, line 5." in (
        found.action
    )
    assert (found.variant, found.parameters) == (about.variant, about.parameters)
    assert 1.0 <= found.gain_low < found.gain_high < 10.0


def test_of_a_launch_that_is_not_known_the_access_alone_says_what_it_may_gain() -> None:
    about = on_its_side()
    odd = about.variant.source.replace("A[row * K + t + x]", "A[C == 0 ? (int)B[0] : x]")
    about = replace(about, variant=replace(about.variant, source=odd))
    found = judged("banks.conflict", about, look)
    assert found is not None
    assert (found.gain_low, found.gain_high) == (1.0, 8.0)
    assert judged("intensity.blocking", about, look) is None
    assert judged("intensity.tile", about, look) is None


def test_only_the_rows_in_conflict_count() -> None:
    about = situation("tiled", 64, H200)
    seen = report(
        about.variant, about.parameters, about.problem,
        access("As", "local", executions=100, passes=1),
        access("Bs", "local", executions=10, passes=8),
    )  # fmt: skip
    pads = (
        Pad(0, ((0, 1), (1, 8)), 180, 2048),
        Pad(1, ((0, 4), (1, 2)), 420, 2176),
        Pad(2, ((0, 9), (1, 1)), 910, 2304),
        Pad(6, ((0, 1), (1, 1)), 110, 2816),
    )
    longer = longer_rows(seen, pads, ["Bs"])
    assert longer is not None
    assert (longer.elements, longer.share) == (2, 0.125)
    assert [each.passes for each in longer.report.accesses] == [1, 1]
    assert longer_rows(seen, pads[:1], ["Bs"]) is None
    assert longer_rows(seen, (), ["Bs"]) is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a\n  __local real Bs[TS][TS];", ("__local real Bs[TS][TS + 2]", 2)),
        ("local float2 As[8], Bs[2][TS * 4];", ("local float2 Bs[2][TS * 4 + 2]", 1)),
        (
            "__local volatile float Bs[N ? 1 : 2];",
            ("__local volatile float Bs[(N ? 1 : 2) + 2]", 1),
        ),
        ("// __local real Bs[TS][TS]\n/* __local\n*/ x = Bs[1];", None),
        ("__local real *Bs;", None),
    ],
)
def test_a_longer_row_is_written_as_its_declaration(source: str, expected: object) -> None:
    assert declaration(source, "Bs", 2) == expected
