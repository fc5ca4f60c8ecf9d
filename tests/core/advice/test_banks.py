"""The rule on bank conflicts: when it speaks, and which pad or kernel it finds."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.access.lens import machine_for
from gemmviz.core.access.report import AccessReport, Machine
from gemmviz.core.advice.look import look
from gemmviz.core.advice.outlook import Look
from gemmviz.core.advice.rules.banks import conflicts
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
