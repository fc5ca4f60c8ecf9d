"""What the rules say together: how many findings, in which order, and that each can be followed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import gemmviz.core.advice
from gemmviz.core.access.report import AccessReport, Machine, Unknown
from gemmviz.core.advice.advise import MOST_FINDINGS, advise
from gemmviz.core.advice.finding import Finding
from gemmviz.core.advice.rules import RULES
from gemmviz.core.advice.situation import Situation, imagined_device, measurement_of
from gemmviz.core.ceilings import Ceiling, CeilingTable
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import expected_verdict
from gemmviz.core.limits import named_limits
from gemmviz.core.model import (
    Check,
    Device,
    Job,
    Parameters,
    Problem,
    Registers,
    Result,
    Samples,
    Variant,
)
from gemmviz.core.trust import DeviceTimer
from tests.core.advice.recorded import (
    CATALOG,
    H200,
    POCL,
    blind,
    lens,
    measurement,
    seconds,
    situation,
)

_WRONG = Check("wrong", 512, 512, 512, cells_wrong=261_619)
_ASKED = [
    situation("naive_strided", 4096, H200, seconds=seconds("naive_strided", 4096, 0.97)),
    situation("naive_strided", 512, POCL, seconds=0.07),
    situation("tiled", 1024, H200),
    situation("tiled_padded", 512, POCL),
    situation("tiled_padded", 2048, H200, PAD=0),
    situation("register_2d", (1000, 900, 1100), H200, BM=128, BN=128),
    situation("tiling_tiled", 512, H200, check=_WRONG),
    situation("mygemm_2", (100, 60, 33), POCL),
    replace(
        situation("register_2d", 64, H200, seconds=7e-6, TM=2, TN=2),
        timer=DeviceTimer(None, None, 9.7e-6, 20e-6, 5.8e-6),
        registers=Registers(255, None, 96),
    ),
]


def _name(about: Situation) -> str:
    return f"{about.variant.id}-{about.device.type}"


@pytest.mark.parametrize("about", _ASKED, ids=_name)
def test_findings_are_few_sorted_and_can_be_followed(about: Situation) -> None:
    findings = advise(about, lens)
    assert findings
    assert len(findings) <= MOST_FINDINGS
    order = [(not found.urgent, -found.expected_gain) for found in findings]
    assert order == sorted(order)
    targets = [(f.kernel, f.parameters) for f in findings if f.kernel]
    assert len(set(targets)) == len(targets)
    for found in findings:
        assert re.search(r"\d", found.evidence), found
        assert found.title
        assert found.source
        assert found.action.endswith(".")
        assert 0 < found.gain_low <= found.gain_high
        if not found.kernel:
            continue
        assert (found.kernel, found.parameters) != (about.variant.id, about.parameters)
        variant = CATALOG.find(found.kernel)
        assert refusal(variant, found.parameters, about.problem, about.device, about.limits) is None
        assert expected_verdict(variant, found.parameters, about.problem) == "verified"


def test_a_wrong_result_is_first_of_all() -> None:
    about = situation("barriers_tiled", 2048, H200, seconds=0.002, check=_WRONG)
    findings = advise(about, lens)
    assert findings[0].rule == "correctness.wrong"
    assert findings[0].kernel == "barriers_tiled_fixed"
    assert not any(found.urgent for found in findings[1:])


def test_a_library_gets_no_advice() -> None:
    about = replace(situation("tiled", 512, POCL), variant=CATALOG.find("clblast"), parameters=())
    assert advise(about, blind) == ()


def test_a_library_in_another_family_gets_no_advice_and_is_not_advised() -> None:
    own = replace(CATALOG.find("clblast"), family="ladder", idea=CATALOG.find("tiled").idea)
    about = replace(situation("tiled", 512, POCL), variant=own, parameters=())
    assert advise(about, blind) == ()
    about = situation("tiled", 512, H200, seconds=0.01)
    about = replace(about, candidates=(own, *about.candidates))
    assert all(found.kernel != "clblast" for found in advise(about, blind))
    wrong = replace(situation("tiled", 512, H200, check=_WRONG), candidates=(own,))
    found = next(found for found in advise(wrong, blind) if found.urgent)
    assert found.kernel != "clblast"


def test_the_best_that_was_measured_needs_little() -> None:
    best = {"BM": 128, "BN": 128, "TM": 8, "TN": 8}
    about = situation("register_2d", 4096, H200, seconds=seconds("tiled", 4096, 62.0), **best)
    table = CeilingTable(H200.key, "580", (Ceiling("fma", "float", 65.3e12, "FLOP/s", 1.0),))
    for found in advise(replace(about, ceilings=table), blind):
        assert found.gain_high < 1.1


def test_measured_ceilings_cap_what_is_promised() -> None:
    about = situation("tiled", 4096, H200, seconds=seconds("tiled", 4096, 6.5))
    table = CeilingTable(H200.key, "580", (Ceiling("fma", "float", 65.3e12, "FLOP/s", 1.0),))
    findings = advise(replace(about, ceilings=table), lens)
    assert findings
    assert all(found.gain_high <= 65.3 / 6.5 * 1.001 for found in findings)


def test_what_was_measured_slower_is_not_advised_again() -> None:
    about = situation("tiled", 512, POCL, seconds=0.05)
    first = advise(about, blind)[0]
    assert first.kernel
    slower = measurement(first.kernel, 0.06, **dict(first.parameters))
    again = advise(replace(about, measured=(*about.measured, slower)), blind)
    assert (first.kernel, first.parameters) not in [(f.kernel, f.parameters) for f in again]


def test_a_gpu_that_is_not_here_can_be_asked_for() -> None:
    limits = named_limits("gfx1030")
    about = situation("tiled", 1024, imagined_device(limits))
    findings = advise(replace(about, limits=limits), blind)
    assert findings
    assert findings[0].kernel


def test_a_run_becomes_a_measurement() -> None:
    about = situation("tiled", 512, POCL)
    job = Job(1, POCL.key, about.variant, about.parameters, about.problem)
    samples = Samples((2, 2, 2), (0.2, 0.4, 0.3), (0.2, 0.6, 0.9))
    found = measurement_of(Result(job, POCL, samples, check=_WRONG))
    assert found.seconds == pytest.approx(0.15)
    assert found.wrong
    assert measurement_of(Result(job, POCL)).seconds is None


def test_every_rule_has_an_id_and_a_question_of_its_own() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert all(rule.question.endswith("?") for rule in RULES)


def test_no_rule_knows_a_kernel_by_name() -> None:
    folder = Path(gemmviz.core.advice.__file__).parent
    code = "\n".join(file.read_text() for file in folder.rglob("*.py"))
    for variant in CATALOG.variants:
        assert f'"{variant.id}"' not in code


def test_the_doubt_shrinks_once_a_kernel_was_measured() -> None:
    unknown = situation("tiled", 4096, H200, seconds=0.021)
    known = replace(unknown, measured=(
        *unknown.measured, measurement("register_2d", seconds("register_2d", 4096, 30.0))
    ))  # fmt: skip

    def spread(about: Situation) -> float:
        found = next(f for f in advise(about, blind) if f.rule == "intensity.blocking")
        return found.gain_high / found.gain_low

    assert spread(known) < spread(unknown)


def test_a_device_that_tells_nothing_is_advised_as_well() -> None:
    bare = Device("Some", "OpenCL 1.2", "Thing", "GPU", max_work_group_size=256)
    assert advise(situation("naive_strided", 256, bare), lens)


def lost(
    variant: Variant, parameters: Parameters, problem: Problem, machine: Machine
) -> AccessReport | None:
    """A lens that does not follow lines 40 and 12 of one kernel, and gives odd totals then."""
    found = lens(variant, parameters, problem, machine)
    if found is None or variant.id != "tiled":
        return found
    lines = (Unknown(40, "An address depends on data."), Unknown(12, "Asm is not followed."))
    return replace(found, unknowns=lines, intensity=None, reuse=None, global_traffic_bytes=1)


def test_what_could_not_be_followed_is_said_first_and_not_judged() -> None:
    about = situation("tiled", 4096, H200, seconds=seconds("tiled", 4096, 6.5))
    first, *rest = advise(about, lost)
    assert first.notice
    assert first.evidence.startswith("Lines 12, 40 could not be followed, so ")
    assert "An address depends on data." in first.action
    assert first.gain_text == "not judged"
    assert not any(found.rule.startswith(("intensity", "documents.budget")) for found in rest)
    wrong = situation("tiled", 512, H200, check=_WRONG)
    assert [found.rule for found in advise(wrong, lost)][:2] == [
        "correctness.wrong", "lens.unknown"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "kept"),
    [(0.94, 1.2, False), (0.9, 1.5, True), (1.0, 1.05, True), (1.01, 1.02, True)],
)
def test_what_may_well_be_slower_is_dropped(low: float, high: float, kept: bool) -> None:
    found = Finding("a.b", "Title", "1", "here", "Try.", gain_low=low, gain_high=high)
    assert found.may_lose is not kept


def test_no_finding_may_well_be_slower() -> None:
    for about in _ASKED:
        for found in advise(about, lens):
            assert found.urgent or found.gain_low >= 1.0 or found.expected_gain >= 1.1


def test_a_kernel_for_cpus_is_advised_on_cpus_alone() -> None:
    cpu = CATALOG.find("cpu_best")

    def kernels(about: Situation) -> list[str]:
        findings = advise(replace(about, candidates=(*about.candidates, cpu)), blind)
        return [found.kernel for found in findings]

    at_13_gflops = 2 * 512**3 / 13e9
    assert kernels(situation("register_2d", 512, POCL, seconds=at_13_gflops))[0] == cpu.id
    assert cpu.id not in kernels(situation("tiled", 512, H200, seconds=0.01))


def test_what_changes_is_said_in_the_unit_of_the_evidence() -> None:
    about = situation("tiled", 4096, H200, seconds=seconds("tiled", 4096, 6.5))
    found = next(f for f in advise(about, lens) if f.rule == "intensity.blocking")
    now = re.search(r"Each FLOP takes ([0-9.]+) B through the load pipes", found.evidence)
    then = re.search(r"Each FLOP then takes ([0-9.]+) B .* instead of ([0-9.]+)", found.why)
    assert now is not None
    assert then is not None
    assert f" {then[2]}".endswith(now[1]) or now[1] in found.why
    assert float(then[1]) < float(now[1])
    assert found.action.endswith(found.why)
