"""Each fault on a kernel that has it and no other, and right kernels, under the real simulator."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.experiments import CheckRaces, Outcome
from gemmviz.core.launch import merge_parameters
from gemmviz.core.messages import Listing, Message
from gemmviz.core.model import Device, Problem, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.races import RaceReport
from gemmviz.engine.failed import ExperimentFailed
from gemmviz.engine.oclgrind import find_simulator, simulate
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, RIGHT, own_kernel

FAULTY = load_catalog(data_dir("resources") / "claims")
RAGGED = (19, 18, 21)
COPY_A, COPY_B, SUMS = "As[ty][tx] =", "Bs[ty][tx] =", "sum += As"
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE)"

# The kernel, the shape, the kind, and what stands in the lines of one of its findings.
FAULTS = [
    ("no_first_barrier", RAGGED, "data race", (COPY_A, SUMS)),
    ("no_first_barrier", RAGGED, "data race", (COPY_B, SUMS)),
    ("no_second_barrier", RAGGED, "data race", (COPY_A, SUMS)),
    ("wrong_fence", RAGGED, "data race", (COPY_B, SUMS)),
    ("across_groups", RAGGED, "data race", ("C[0] = sum", "0 * C[0]")),
    ("barrier_in_branch", RAGGED, "barrier divergence", (BARRIER, BARRIER)),
    ("barrier_in_branches", RAGGED, "barrier divergence", (BARRIER, BARRIER)),
    ("early_return", RAGGED, "barrier divergence", (BARRIER,)),
    ("past_the_end", RAGGED, "out of bounds", ("sum += A[",)),
    ("past_the_end", RAGGED, "out of bounds", ("] = sum;",)),
    ("local_index", RAGGED, "out of bounds", (SUMS,)),
    ("no_zero_fill", (24, 20, 10), "uninitialised", ("] = sum;",)),
]


@pytest.fixture(scope="module")
def simulator(listing: Listing) -> Device:
    found = find_simulator(listing)
    assert found is not None, "the tests need Oclgrind: install gemmviz[test]"
    return found


def simulated(
    engine: Engine, device: Device, variant: Variant, shape: tuple[int, int, int],
    parameters: dict[str, int] | None = None, **form: object,
) -> RaceReport:  # fmt: skip
    chosen = merge_parameters(variant, parameters or {})
    problem = Problem(*shape, **form)  # type: ignore[arg-type]
    plan = simulate(CheckRaces(5, variant, chosen, problem), engine, device)
    while True:
        try:
            next(plan)
        except StopIteration as ended:
            report = ended.value
            assert isinstance(report, RaceReport)
            return report


@pytest.fixture(scope="module")
def reports(engine: Engine, simulator: Device) -> dict[str, RaceReport]:
    """One report of each faulty kernel: some have several findings."""
    shapes = {kernel: shape for kernel, shape, _, _ in FAULTS}
    return {
        variant.id: simulated(
            engine, simulator, variant, shapes[variant.id],
            {} if variant.id == "no_zero_fill" else {"TS": 8},
        )
        for variant in FAULTY.variants
    }  # fmt: skip


def test_every_faulty_kernel_loads_and_is_tried() -> None:
    assert FAULTY.problems == ()
    assert {variant.id for variant in FAULTY.variants} == {kernel for kernel, *_ in FAULTS}


@pytest.mark.parametrize(("kernel", "shape", "kind", "texts"), FAULTS)
def test_a_fault_is_found_with_its_kind_and_line(
    reports: dict[str, RaceReport], kernel: str, shape: object, kind: str, texts: tuple[str, ...]
) -> None:
    source = FAULTY.find(kernel).source.splitlines()
    found = [
        [source[line - 1] for line in finding.lines]
        for finding in reports[kernel].findings
        if finding.kind == kind
    ]
    assert any(
        len(lines) == len(texts)
        and all(text in line for text, line in zip(texts, lines, strict=True))
        for lines in found
    ), reports[kernel].findings


def test_no_fault_is_taken_for_another(reports: dict[str, RaceReport]) -> None:
    kinds = {kernel: {each.kind for each in report.findings} for kernel, report in reports.items()}
    for kernel in ("no_first_barrier", "no_second_barrier", "wrong_fence", "across_groups"):
        assert kinds[kernel] == {"data race"}
    assert kinds["barrier_in_branches"] == {"barrier divergence"}
    assert reports["local_index"].findings[0].kind == "out of bounds"  # what is read is unwritten
    assert kinds["no_zero_fill"] == {"uninitialised"}
    assert "between groups" not in reports["across_groups"].remark
    assert "one of another group" in reports["across_groups"].findings[0].sentence


def test_stale_values_of_an_earlier_step_are_not_seen(engine: Engine, simulator: Device) -> None:
    report = simulated(engine, simulator, FAULTY.find("no_zero_fill"), (19, 18, 21), {"TS": 8})
    assert report.findings == ()


@pytest.mark.parametrize(
    ("kernel", "shape", "parameters"),
    [
        ("tiled", RAGGED, {"TS": 8}),
        ("naive_strided", RAGGED, {"TS": 8}),
        ("tradeoffs_tiled", (19, 19, 19), {"TS": 8}),
        ("barriers_tiled_fixed", RAGGED, {"TS": 8}),
        ("register_2d", (37, 35, 19), {"BM": 32, "BN": 32, "TM": 4, "TN": 4}),
        ("mygemm_2", (16, 24, 16), {"TS": 8}),
        ("cpu_best", (20, 49, 19), {}),
        ("cpu_best", (1, 37, 25), {}),
        ("cpu_best", (37, 1, 25), {}),
    ],
)
def test_right_kernels_are_clean(
    engine: Engine, simulator: Device, kernel: str, shape: tuple[int, int, int],
    parameters: dict[str, int],
) -> None:  # fmt: skip
    report = simulated(engine, simulator, CATALOG.find(kernel), shape, parameters)
    assert report.findings == ()
    assert report.shape == shape
    assert report.simulator.startswith("Oclgrind")


@pytest.mark.parametrize("shape", [(20, 49, 19), (1, 37, 25), (37, 1, 25)])
@pytest.mark.parametrize("transpose", ["tn", "nt"])
def test_transposed_inputs_with_alpha_and_beta_are_clean(
    engine: Engine, simulator: Device, shape: tuple[int, int, int], transpose: str
) -> None:
    form = {"transpose": transpose, "alpha": 0.5, "beta": 2.0}
    assert simulated(engine, simulator, CATALOG.find("cpu_best"), shape, **form).findings == ()


def test_the_remark_says_what_cannot_show(engine: Engine, simulator: Device) -> None:
    tiled = CATALOG.find("tiled")
    assert "another shape" in simulated(engine, simulator, tiled, (19, 18, 9), {"TS": 8}).remark
    assert "fit it exactly" in simulated(engine, simulator, tiled, (16, 16, 8), {"TS": 8}).remark
    assert "between groups" in simulated(engine, simulator, tiled, (8, 16, 8), {"TS": 8}).remark


def test_more_local_memory_than_the_simulator_has_is_no_obstacle(
    engine: Engine, simulator: Device, tmp_path: Path
) -> None:
    assert simulator.local_mem_bytes is not None
    assert simulator.local_mem_bytes < 40960
    greedy = own_kernel(tmp_path, "__local real big[10240]; big[K] = A[0]; " + RIGHT)
    greedy = replace(greedy, local_bytes="10240 * element_bytes")
    assert simulated(engine, simulator, greedy, (3, 4, 5)).findings == ()


def test_what_the_simulator_cannot_run_is_refused(engine: Engine, simulator: Device) -> None:
    variant = CATALOG.find("tiled")
    half = CheckRaces(6, variant, merge_parameters(variant, {}), Problem(20, 20, 20, "half"))
    with pytest.raises(ExperimentFailed, match="half") as caught:
        list(simulate(half, engine, simulator))
    assert caught.value.failure.kind == "refused"


def last_of(engine: Engine, experiment: CheckRaces) -> Outcome:
    *messages, last = engine.perform(experiment)
    assert messages
    assert all(message.job_id == experiment.job_id for message in messages if _is_message(message))
    assert isinstance(last, Outcome)
    return last


def _is_message(item: object) -> bool:
    return isinstance(item, Message)


def test_the_experiment_finds_the_simulator_itself(engine: Engine) -> None:
    variant = FAULTY.find("local_index")
    experiment = CheckRaces(8, variant, merge_parameters(variant, {"TS": 8}), Problem(9, 9, 9))
    outcome = last_of(engine, experiment)
    assert outcome.failure is None
    assert isinstance(outcome.answer, RaceReport)
    assert outcome.answer.findings[0].kind == "out of bounds"


def test_a_kernel_that_does_not_build_is_a_failure(engine: Engine, tmp_path: Path) -> None:
    broken = own_kernel(tmp_path, "C[row * N + col] = nothing_like_it;")
    outcome = last_of(engine, CheckRaces(9, broken, (), Problem(4, 4, 4)))
    assert outcome.failure is not None
    assert outcome.failure.kind == "build"
    assert "nothing_like_it" in outcome.failure.detail


@pytest.fixture
def without_simulator(monkeypatch: pytest.MonkeyPatch, listing: Listing) -> Iterator[Engine]:
    kept = tuple(
        platform
        for platform in listing.platforms
        if all(device.type != "simulator" for device in platform.devices)
    )
    engine = Engine()
    monkeypatch.setattr(engine, "list_devices", lambda: Listing(-1, kept))
    yield engine
    engine.close()


def test_without_the_simulator_the_extra_is_named(without_simulator: Engine) -> None:
    variant = CATALOG.find("tiled")
    experiment = CheckRaces(3, variant, merge_parameters(variant, {}), Problem(20, 20, 20))
    outcome = last_of(without_simulator, experiment)
    assert outcome.answer is None
    assert outcome.failure is not None
    assert outcome.failure.kind == "not_found"
    assert 'pip install "gemmviz[oclgrind]"' in outcome.failure.sentence
