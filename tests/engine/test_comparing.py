"""Three real devices side by side: PoCL, Intel's runtime and the simulator Oclgrind."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.ceilings import FMA, Ceiling, CeilingTable
from gemmviz.core.comparison import Comparison
from gemmviz.core.device_comparison import DeviceComparison, sentences
from gemmviz.core.experiments import CompareDevices, MeasureCeilings, Outcome
from gemmviz.core.launch import default_parameters
from gemmviz.core.messages import DevicesMeasured, Listing, Message, Progressed
from gemmviz.core.model import Check, Device, Failure, Job, Problem, Result, Samples
from gemmviz.core.policy import fixed
from gemmviz.core.tuned import tuned_parameters
from gemmviz.engine import comparing, contenders
from gemmviz.engine.comparing import squads_of
from gemmviz.engine.contenders import Contender, Contenders
from gemmviz.engine.failed import ExperimentFailed
from gemmviz.engine.oclgrind import find_simulator
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, RIGHT, own_kernel

PROBLEM = Problem(1, 1, 1, "float", 5)
TILED, BLAS = CATALOG.find("tiled"), CATALOG.find("blas")
ELSEWHERE = replace(TILED, needs=("nvidia",))
FAILS_ON_POCL = f"\n#ifdef POCL_DEVICE_ADDRESS_BITS\n#error not here\n#endif\n{RIGHT}"


@pytest.fixture(scope="module")
def oclgrind(listing: Listing) -> Device:
    found = find_simulator(listing)
    assert found is not None, "the tests need Oclgrind: install gemmviz[test]"
    return found


def ask(*devices: Device, **changes: object) -> CompareDevices:
    """A short comparison of ``devices``."""
    fields: dict[str, object] = {
        "job_id": 80, "devices": devices, "variants": (TILED, BLAS), "problem": PROBLEM,
        "sizes": (80, 16), "variant": TILED, "parameters": (("TS", 8),), "policy": fixed(12),
        **changes,
    }  # fmt: skip
    return CompareDevices(**fields)  # type: ignore[arg-type]


def compare(engine: Engine, asked: CompareDevices) -> tuple[list[object], DeviceComparison]:
    items: list[object] = list(engine.perform(asked))
    outcome = items[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is None
    assert isinstance(outcome.answer, DeviceComparison)
    return items, outcome.answer


@pytest.fixture(scope="module")
def compared(
    engine: Engine, pocl: Device, intel: Device, oclgrind: Device
) -> tuple[list[object], DeviceComparison]:
    return compare(engine, ask(oclgrind, pocl, intel))


def test_every_device_has_a_row_at_every_size(
    compared: tuple[list[object], DeviceComparison], pocl: Device, intel: Device
) -> None:
    _, comparison = compared
    assert comparison.whole
    assert comparison.sizes == (16, 80)
    assert (comparison.kernel, comparison.element) == (TILED.title, "float")
    assert len(comparison.figures) == 6
    for size in comparison.sizes:
        for device in (pocl, intel):
            figure = comparison.figure(device.key, size)
            assert figure is not None
            assert (figure.why_not, figure.wrong, figure.turns) == ("", False, 2)
            assert figure.seconds is not None
            assert figure.low is not None
            assert figure.high is not None
            assert 0 < figure.low <= figure.seconds <= figure.high
            assert (figure.group_size, figure.local_bytes) == (64, 512)
            assert figure.groups == (size // 8) ** 2
            assert (figure.occupancy, figure.variant) == (None, "tiled")


def test_devices_that_share_hardware_take_turns(
    compared: tuple[list[object], DeviceComparison], pocl: Device, intel: Device
) -> None:
    _, comparison = compared
    assert [duel.size for duel in comparison.duels] == [16, 80]
    for duel in comparison.duels:
        assert (duel.first, duel.other) == (pocl.key, intel.key)
        assert duel.in_turns
        assert duel.versus.rounds >= 1
        assert duel.versus.ratio_low <= duel.versus.ratio <= duel.versus.ratio_high
    assert comparison.best(80)
    assert sentences(comparison)


def test_the_library_stands_beside_each_device(
    compared: tuple[list[object], DeviceComparison],
) -> None:
    _, comparison = compared
    for figure in comparison.figures:
        if figure.turns == 2:
            assert figure.library is not None
            assert figure.library.ratio > 0
            assert figure.library_title == BLAS.title


def test_a_simulator_runs_once_at_a_small_size_and_is_never_compared(
    compared: tuple[list[object], DeviceComparison], oclgrind: Device
) -> None:
    _, comparison = compared
    small, large = (comparison.figure(oclgrind.key, size) for size in (16, 80))
    assert small is not None
    assert large is not None
    assert (small.samples, small.turns, small.wrong, small.why_not) == (1, 1, False, "")
    assert small.seconds is not None
    assert (large.seconds, large.why_not) == (None, "simulators are asked only up to 64")
    keys = {key for duel in comparison.duels for key in (duel.first, duel.other)}
    assert oclgrind.key not in keys
    assert oclgrind.key not in comparison.best(16)


def test_each_size_is_told_with_its_results(
    compared: tuple[list[object], DeviceComparison],
) -> None:
    items, comparison = compared
    told = [item for item in items if isinstance(item, DevicesMeasured)]
    assert [len(each.results) for each in told] == [4, 1, 4, 0]
    assert [len(each.comparison.figures) for each in told] == [2, 3, 5, 6]
    assert [each.comparison.whole for each in told] == [False] * 3 + [True]
    assert told[-1].comparison == comparison
    for each in told:
        for result in each.results:
            assert result.verdict == "verified"
            assert len(result.samples) >= 1
    shares = [item.share for item in items if isinstance(item, Progressed)]
    assert shares == sorted(shares)  # type: ignore[type-var]
    assert all(isinstance(item, DevicesMeasured | Progressed | Outcome) for item in items)


def test_squads_share_hardware_and_simulators_are_last(
    pocl: Device, intel: Device, oclgrind: Device
) -> None:
    gpu = replace(pocl, name="GPU", hardware="PCI 1")
    lone = replace(pocl, name="lone", hardware="")
    squads = squads_of((oclgrind, pocl, gpu, intel, lone))
    assert squads == ((pocl, intel), (gpu,), (lone,), (oclgrind,))


def test_separate_hardware_is_measured_one_after_the_other(
    engine: Engine, pocl: Device, intel: Device
) -> None:
    apart = replace(intel, hardware="another machine")
    _, comparison = compare(engine, ask(pocl, apart, sizes=(16,), variants=(TILED,)))
    (duel,) = comparison.duels
    assert not duel.in_turns
    assert [figure.turns for figure in comparison.figures] == [1, 1]
    assert {figure.library_title for figure in comparison.figures} == {"No library is known here."}


def test_a_device_that_fails_is_a_row_with_its_reason(
    engine: Engine, pocl: Device, intel: Device, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = own_kernel(tmp_path_factory.mktemp("own"), FAILS_ON_POCL)
    dead = replace(pocl, name="dead", unavailable="it has no linker")
    asked = ask(pocl, dead, intel, sizes=(16,), variant=own, parameters=(), variants=(own, BLAS))
    _, comparison = compare(engine, asked)
    failed, refused, right = (comparison.figure(each.key, 16) for each in (pocl, dead, intel))
    assert failed is not None
    assert refused is not None
    assert right is not None
    assert failed.seconds is None
    assert "build" in failed.why_not or "compile" in failed.why_not
    assert "it has no linker" in refused.why_not
    assert right.seconds is not None
    assert right.library is not None  # the rest still took turns
    assert comparison.best(16) == (intel.key,)


def test_what_failed_together_but_not_alone_is_measured_once_more(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_jobs, refused = engine.compare, []

    def fail_once(
        jobs: Sequence[Job], devices: Sequence[Device], job_id: int
    ) -> Iterator[Message | Comparison]:
        if refused:
            yield from compare_jobs(jobs, devices, job_id)
            return
        refused.append(job_id)
        results = tuple(map(Result, jobs, devices))
        yield Comparison(job_id, results, failure=Failure("hang", "Too busy."))

    monkeypatch.setattr(engine, "compare", fail_once)
    _, comparison = compare(engine, ask(pocl, sizes=(16,)))
    (figure,) = comparison.figures
    assert refused
    assert figure.why_not == ""
    assert figure.seconds is not None
    assert figure.library is not None


def test_a_wrong_answer_has_no_speed(engine: Engine, pocl: Device) -> None:
    wrong = CATALOG.find("tiling_tiled")
    parameters = default_parameters(wrong)
    asked = ask(pocl, sizes=(48,), variant=wrong, parameters=parameters, variants=(wrong,))
    _, comparison = compare(engine, asked)
    (figure,) = comparison.figures
    assert figure.wrong
    assert figure.why_not
    assert comparison.best(48) == ()


def test_launches_that_took_no_time_are_no_figure(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def idle(job: Job, device: Device) -> Iterator[Result]:
        right = Check("verified", rows_checked=16, rows=16, cols=16)
        yield Result(job, device, Samples((1,) * 6, (0.0,) * 6, (1.0,) * 6), check=right)

    monkeypatch.setattr(engine, "run", idle)
    _, comparison = compare(engine, ask(pocl, sizes=(16,), variants=(TILED,)))
    (figure,) = comparison.figures
    assert (figure.seconds, figure.why_not) == (None, "No launch of it had a usable time.")
    assert comparison.best(16) == ()


def test_a_transposed_problem_is_named(engine: Engine, pocl: Device) -> None:
    problem = replace(PROBLEM, transpose="tn")
    _, comparison = compare(engine, ask(pocl, sizes=(16,), variants=(TILED,), problem=problem))
    assert comparison.form == "TN"
    assert comparison.figures[0].why_not  # this kernel computes A B alone


class Launched:
    """Remembers the jobs that an engine runs one by one."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: list[Job] = []
        self._run = engine.run
        monkeypatch.setattr(engine, "run", self)

    def __call__(self, job: Job, device: Device) -> Iterator[Message | Result]:
        self.jobs.append(job)
        yield from self._run(job, device)


def test_each_device_runs_its_best_kernel_with_its_best_parameters(
    engine: Engine, pocl: Device, oclgrind: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = CATALOG.find("cpu_best")
    names = ("naive_strided", "tiling_tiled", "mygemm_add", "cpu_best")
    variants = (*(CATALOG.find(name) for name in names), ELSEWHERE, BLAS)
    launched = Launched(engine, monkeypatch)
    monkeypatch.setattr(contenders, "_HOPELESS", 2.0)
    asked = ask(pocl, oclgrind, variant=None, parameters=(), variants=variants, sizes=(160, 192))
    _, comparison = compare(engine, asked)
    assert comparison.kernel == ""
    for size in (160, 192):
        figure = comparison.figure(pocl.key, size)
        assert figure is not None
        assert figure.variant == "cpu_best"
        problem = replace(PROBLEM, m=size, n=size, k=size)
        assert figure.parameters == tuned_parameters(best, problem, pocl)
    # What was far behind at one size is not tried at the next; the winner is checked in turns.
    tried = [(job.variant.id, job.problem.m) for job in launched.jobs if not job.check]
    assert tried == [("naive_strided", 160), ("cpu_best", 160)]


def test_a_kernel_that_catches_up_is_tried_at_larger_sizes(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {  # at 16, 32, 64 and 128; the first never leads, and falls back
        "naive_strided": (2.0, 2.5, 3.0, 0.1),
        "tiled": (1.0, 1.0, 1.0, 1.0),
        "cpu_best": (5.0, 3.0, 0.9, 0.5),
        "naive_coalesced": (20.0, 0.1, 0.1, 0.1),
    }
    sizes = (16, 32, 64, 128)
    tried: list[tuple[str, int]] = []

    def take(_: Contenders, entrant: Contender, problem: Problem) -> float:
        tried.append((entrant.variant.id, problem.m))
        return seconds[entrant.variant.id][sizes.index(problem.m)]

    monkeypatch.setattr(Contenders, "_seconds", take)
    variants = tuple(CATALOG.find(name) for name in seconds)
    found = Contenders(ask(pocl, variant=None, variants=variants), engine)
    best = []
    for size in sizes:
        entrant, _ = found.find(pocl, replace(PROBLEM, m=size, n=size, k=size))
        assert entrant is not None
        best.append(entrant.variant.id)
    assert best == ["tiled", "tiled", "cpu_best", "cpu_best"]
    assert [size for name, size in tried if name == "naive_coalesced"] == [16]
    assert [size for name, size in tried if name == "naive_strided"] == [16, 32]


def test_a_best_kernel_that_is_wrong_is_not_chosen_again(
    engine: Engine, pocl: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = own_kernel(tmp_path, "C[row * N + col] = 0;", stem="liar")
    monkeypatch.setattr(
        Contenders, "_seconds", lambda _, entrant, __: 1.0 if entrant.variant == liar else 1.5
    )
    asked = ask(pocl, variant=None, parameters=(), variants=(TILED, liar), sizes=(16, 32))
    small, large = compare(engine, asked)[1].figures
    assert (small.variant, small.wrong) == ("liar", True)
    assert (large.variant, large.wrong) == ("tiled", False)


def test_a_device_without_any_kernel_says_so(engine: Engine, pocl: Device) -> None:
    asked = ask(pocl, variant=None, parameters=(), variants=(ELSEWHERE, BLAS), sizes=(16,))
    _, comparison = compare(engine, asked)
    assert "alone" in comparison.figures[0].why_not
    asked = replace(asked, variants=(BLAS,))
    assert "no kernel" in compare(engine, asked)[1].figures[0].why_not


def test_a_launch_that_would_take_long_is_left_out(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "_LONGEST_SECONDS", 1e-9)
    _, comparison = compare(engine, ask(pocl, variants=(TILED,)))
    small, large = comparison.figures
    assert small.seconds is not None
    assert large.seconds is None
    assert "left out" in large.why_not


def test_ceilings_are_measured_on_request(
    engine: Engine, pocl: Device, intel: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for = []

    def measure(request: MeasureCeilings, _: Engine) -> Generator[Message, None, CeilingTable]:
        asked_for.append(request.device)
        yield Progressed(request.job_id, 0.5, "peaks")
        if request.device == intel:
            raise ExperimentFailed(Failure("driver", "It refuses."))
        peak = Ceiling(FMA, "float", 1e12, "FLOP/s", 1.0)
        return CeilingTable(request.device.key, "", (peak,))

    monkeypatch.setattr(comparing, "measure_ceilings", measure)
    monkeypatch.setattr(comparing, "kept_ceilings", lambda _: None)
    asked = ask(pocl, intel, sizes=(16,), variants=(TILED,))
    _, without = compare(engine, asked)
    assert not asked_for
    assert [figure.ceiling for figure in without.figures] == [None, None]
    _, comparison = compare(engine, replace(asked, ceilings=True))
    assert asked_for == [pocl, intel]
    assert [figure.ceiling for figure in comparison.figures] == [1e12, None]
    assert comparison.figures[0].roof == "FMA float"


def test_a_stop_keeps_what_was_found(engine: Engine, pocl: Device, intel: Device) -> None:
    outcome = None
    for item in engine.perform(ask(pocl, intel, job_id=81)):
        if isinstance(item, DevicesMeasured):
            engine.stop(81)
        outcome = item
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert isinstance(outcome.answer, DeviceComparison)
    assert {figure.size for figure in outcome.answer.figures} == {16}
    assert not outcome.answer.whole


def test_nothing_to_compare_is_refused(engine: Engine, pocl: Device) -> None:
    for asked in (ask(), ask(pocl, sizes=())):
        *_, outcome = engine.perform(asked)
        assert isinstance(outcome, Outcome)
        assert outcome.failure is not None
        assert outcome.failure.kind == "refused"
