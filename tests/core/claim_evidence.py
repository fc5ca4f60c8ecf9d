"""Evidence as trials leave it behind, made by hand."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.access.lens import analyse
from gemmviz.core.access.machine import machine_for
from gemmviz.core.access.report import AccessReport
from gemmviz.core.catalog import load_catalog
from gemmviz.core.claim import Answer, Choice, Contest, Evidence, Lens, Run, Trial
from gemmviz.core.claim_list import find_claims
from gemmviz.core.comparison import Comparison
from gemmviz.core.launch import merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Check, Device, Failure, Job, Parameters, Problem, Result, Variant
from gemmviz.core.paired import Versus
from gemmviz.core.paths import data_dir
from gemmviz.core.races import RaceFinding, RaceReport
from gemmviz.core.trust import TimerTrust

VARIANTS = {
    variant.id: variant
    for folder in (data_dir("kernels"), data_dir("resources") / "claims")
    for variant in load_catalog(folder).variants
}
CPU = Device("Portable Computing Language", "OpenCL 3.0 pocl 3.0", "cpu", "CPU",
             local_mem_bytes=2**20, max_work_group_size=4096)  # fmt: skip
H200 = Device("NVIDIA CUDA", "OpenCL 3.0 CUDA 12.8", "NVIDIA H200", "GPU", "NVIDIA Corporation",
              compute_capability="9.0", local_mem_bytes=49152,
              max_work_group_size=1024)  # fmt: skip
TRUSTED = TimerTrust("events", "events trusted", "The device's clock counts 0.99.", 0.99, 100)
HOST_USED = TimerTrust("host", "host timing used", "100 ended at their start.", 0.0, 100)


def chosen(choice: Choice) -> tuple[Variant, Parameters]:
    variant = VARIANTS[choice.kernel]
    return variant, merge_parameters(variant, dict(choice.parameters))


def trials_of(claim_id: str) -> tuple[Trial, ...]:
    (claim,) = find_claims((claim_id,))
    return claim.trials


def result(
    run: Run, verdict: str = "verified", failure: Failure | None = None, device: Device = CPU
) -> Result:
    variant, parameters = chosen(run.choice)
    m, n, k = run.shape
    job = Job(1, device.key, variant, parameters, Problem(m, n, k))
    wrong = m * n if verdict == "wrong" else 0
    check = None if failure is not None else Check(verdict, m, m, n, cells_wrong=wrong)  # type: ignore[arg-type]
    return Result(job, device, check=check, failure=failure)


def versus(low: float, high: float) -> Versus:
    word = "faster" if low > 1 else "slower" if high < 1 else "undecided"
    return Versus(word, (low * high) ** 0.5, low, high, 0.06, 50, 50)  # type: ignore[arg-type]


def comparison(
    contest: Contest, *ratios: tuple[float, float], trust: TimerTrust = TRUSTED,
    verdict: str = "verified",
) -> Comparison:  # fmt: skip
    results = tuple(
        replace(result(Run(choice, (512, 512, 512)), verdict), trust=trust)
        for choice in contest.choices
    )
    return Comparison(3, results, tuple(versus(low, high) for low, high in ratios))


def races(*findings: tuple[str, str]) -> RaceReport:
    found = tuple(RaceFinding(kind, (29, 33), 5, sentence) for kind, sentence in findings)
    return RaceReport("own", (19, 18, 21), "Oclgrind 21.10", found, 0.1)


def accesses(lens: Lens, device: Device = CPU) -> AccessReport:
    variant, parameters = chosen(lens.choice)
    machine = machine_for(device, limits_for(device))
    return analyse(variant, parameters, Problem(*lens.shape), machine)


def evidence(answers: dict[Trial, Answer | Failure], device: Device = CPU) -> Evidence:
    return Evidence(device, limits_for(device), answers)
