"""Sweeps on PoCL: what every configuration becomes, and what a stop or a crash leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gemmviz.core.experiments import Outcome, RunSweep
from gemmviz.core.messages import CellMeasured, Phase, Progressed, SweepAdvanced
from gemmviz.core.model import Device, Parameter, Problem, Variant
from gemmviz.core.policy import QUICK
from gemmviz.core.race import SAMPLES, SCREENING
from gemmviz.core.sweep import Sweep, SweepCell, SweepReport
from gemmviz.core.sweep_plan import plan
from gemmviz.core.winners import cells_of, winners_of
from gemmviz.engine import builders, sweeping
from gemmviz.engine.builders import builds_ahead, count_builders
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, RIGHT, own_kernel

POLICY = replace(QUICK, min_seconds=0.02, limit_seconds=0.3)
PROBLEM = Problem(24, 40, 17, seed=3)
# By MODE: right, wrong, out of bounds, not to be compiled, endless.
BODY = f"""
#if MODE == 3
#error "no such mode"
#endif
  {RIGHT}
#if MODE == 1
  C[row * N + col] += 1;
#elif MODE == 2
  C[(size_t)1 << 40] = A[0];
#elif MODE == 4
  volatile int forever = 1;
  while (forever) {{}}
#endif
"""


def work_1d(device: Device, *sizes: int, strategy: str = "racing") -> Sweep:
    """Four configurations of work_1d, of which one is slower by far."""
    problems = tuple(Problem(size, size, size, seed=3) for size in sizes or (64,))
    axes = (("work_1d", (("TS", (8, 16)), ("WPT", (1, 4)))),)
    return Sweep(
        (CATALOG.find("work_1d"),), axes, problems, (device,), POLICY, strategy,  # type: ignore[arg-type]
    )  # fmt: skip


def items_of(engine: Engine, sweep: Sweep, done: tuple[SweepCell, ...] = ()) -> list[object]:
    return list(engine.perform(RunSweep(70, sweep, done)))


def report_of(items: list[object]) -> SweepReport:
    outcome = items[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is None, outcome.failure
    assert isinstance(outcome.answer, SweepReport)
    return outcome.answer


@pytest.fixture(scope="module")
def items(engine: Engine, pocl: Device) -> list[object]:
    return items_of(engine, work_1d(pocl))


def test_every_configuration_is_verified_and_one_is_recommended(
    items: list[object], pocl: Device
) -> None:
    report = report_of(items)
    assert tuple(cell.configuration for cell in report.cells) == plan(work_1d(pocl)).configurations
    for cell in report.cells:
        assert cell.state in ("measured", "dropped")
        assert cell.samples >= SAMPLES
        assert cell.low is not None
        assert cell.seconds is not None
        assert cell.high is not None
        assert 0 < cell.low <= cell.seconds <= cell.high
        assert cell.group_size is not None
        assert (cell.state == "dropped") == bool(cell.why_not)
        assert (cell.odds is None) == cell.best
    (winner,) = report.winners
    assert winner.recommended in winner.best_set
    assert {cell.configuration for cell in report.cells if cell.best} == set(winner.best_set)
    assert 0.5 < winner.confidence <= 1
    assert report.seconds > 0


def test_each_result_is_told_with_its_check_and_its_samples(items: list[object]) -> None:
    told = [item for item in items if isinstance(item, CellMeasured)]
    screened = [item for item in told if not item.cell.final]
    finals = [item for item in told if item.cell.final]
    assert len(screened) == 4
    assert 1 <= len(finals) <= 4
    for item in told:
        assert item.result.verdict == "verified"
        assert item.result.context is not None
        assert item.result.facts is not None
        assert item.result.timer is not None
        assert len(item.result.samples) == item.cell.samples
    assert all(item.result.job.policy.launches == SCREENING.launches for item in screened)
    for item in finals:
        assert item.result.job.policy.launches is None
        assert item.result.check is not None
        assert item.result.check.cells_differing == 0  # it was launched and checked once more


def test_progress_is_told_while_it_goes_on(items: list[object]) -> None:
    reports = [item.report for item in items if isinstance(item, SweepAdvanced)]
    assert len(reports) >= 3
    known = [sum(cell.state != "planned" for cell in report.cells) for report in reports]
    assert known == sorted(known)
    assert (known[0], known[-1]) == (0, 4)
    shares = [item.share for item in items if isinstance(item, Progressed)]
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_the_same_cells_come_of_the_saved_results(items: list[object], pocl: Device) -> None:
    results = [item.result for item in items if isinstance(item, CellMeasured)]
    found = {cell.configuration: cell for cell in cells_of(work_1d(pocl), results)}
    for cell in report_of(items).cells:
        again = found[cell.configuration]
        assert (again.seconds, again.samples, again.final) == (
            cell.seconds, cell.samples, cell.final,
        )  # fmt: skip
        assert again == replace(cell, occupancy=again.occupancy, registers=again.registers)
    (winner,) = report_of(items).winners
    assert winners_of(found.values(), POLICY, (pocl,), work_1d(pocl).variants) == (winner,)
    placings = [result.placing for result in results if result.placing is not None]
    assert {placing.words for placing in placings} == {winner.words}
    assert [placing.ratio == 1 for placing in placings].count(True) == 1


def test_what_is_done_is_not_measured_again(
    engine: Engine, items: list[object], pocl: Device
) -> None:
    report = report_of(items)
    again = items_of(engine, work_1d(pocl), report.cells)
    assert not [item for item in again if isinstance(item, CellMeasured)]
    assert report_of(again).cells == report.cells
    assert report_of(again).winners == report.winners
    # One is missing, and nothing is decided: that one is screened, and the finals are held.
    half = tuple(
        replace(cell, state="measured", final=False, best=False, ratio=None, odds=None)
        for cell in report.cells[1:]
    )
    told = [
        item for item in items_of(engine, work_1d(pocl), half) if isinstance(item, CellMeasured)
    ]
    screened = [item.cell.configuration for item in told if not item.cell.final]
    assert screened == [report.cells[0].configuration]
    assert any(item.cell.best for item in told)


def test_each_problem_has_its_winner_and_every_configuration_its_policy(
    engine: Engine, pocl: Device
) -> None:
    sweep = replace(
        work_1d(pocl, 16, 32, strategy="exhaustive"),
        axes=(("work_1d", (("TS", (8,)), ("WPT", (1, 4)))),),
    )
    items = items_of(engine, sweep)
    report = report_of(items)
    assert [winner.problem.m for winner in report.winners] == [16, 32]
    assert {cell.state for cell in report.cells} == {"measured"}
    first = [item for item in items if isinstance(item, CellMeasured)][:2]
    assert all(item.cell.final for item in first)
    assert all(item.cell.samples >= POLICY.min_samples for item in first)


def test_a_model_tries_a_part_of_a_large_space(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "_LEAST_GENERATION", 4)
    axes = (("work_1d", (("TS", (8, 16)), ("WPT", (1, 2, 4, 8)))),)
    sweep = replace(work_1d(pocl, strategy="model"), axes=axes, budget=6)
    items = items_of(engine, sweep)
    report = report_of(items)
    passed = [cell for cell in report.cells if cell.passed_over]
    tried = [cell for cell in report.cells if cell.tried]
    assert (len(passed), len(tried)) == (2, 6)
    assert all((cell.state, cell.samples, cell.odds) == ("dropped", 0, None) for cell in passed)
    assert all(cell.samples >= SAMPLES for cell in tried)
    (winner,) = report.winners
    assert set(winner.best_set) <= {cell.configuration for cell in tried}
    assert winner.words.endswith("2 were not tried.")
    progress = [item for item in items if isinstance(item, Progressed)]
    assert progress[-1].share == 1.0
    assert "6 of 6" in progress[-1].text
    # It was decided: nothing more is measured, be it by the cells or by what was saved.
    saved = cells_of(sweep, [item.result for item in items if isinstance(item, CellMeasured)])
    assert len(saved) == 6
    for done in (report.cells, saved):
        again = items_of(engine, sweep, done)
        assert not [item for item in again if isinstance(item, CellMeasured)]
        assert [cell.passed_over for cell in report_of(again).cells] == [
            cell.passed_over for cell in report.cells
        ]
    # It was stopped after five: one more is tried, and the finals are held.
    known = tuple(
        replace(cell, state="measured", final=False, best=False, ratio=None, odds=None, why_not="")
        for cell in tried[:5]
    )
    told = [item for item in items_of(engine, sweep, known) if isinstance(item, CellMeasured)]
    fresh = [item.cell.configuration for item in told if not item.cell.final]
    assert len(fresh) == 1
    assert fresh[0] not in {cell.configuration for cell in known}
    assert any(item.cell.best for item in told)


def test_on_a_gpu_builds_go_on_while_others_are_measured(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PoCL stands in for one, with more builds than fit one heat."""
    monkeypatch.setattr(sweeping, "_HEAT", 2)
    card = replace(pocl, type="GPU")
    axes = (("tiled_padded", (("TS", (4, 8)), ("PAD", (0, 1, 2)))),)
    sweep = Sweep((CATALOG.find("tiled_padded"),), axes, (PROBLEM,), (card,), POLICY)
    items = items_of(engine, sweep)
    report = report_of(items)
    assert len(report.cells) == 6
    assert all(cell.samples >= SAMPLES - 1 for cell in report.cells)
    assert len(report.winners) == 1
    told = [item.result for item in items if isinstance(item, CellMeasured)]
    assert all(result.job.policy.quiet for result in told)


@pytest.fixture(scope="module")
def moody(tmp_path_factory: pytest.TempPathFactory) -> Variant:
    variant = own_kernel(tmp_path_factory.mktemp("kernels"), BODY)
    return replace(variant, parameters=(Parameter("MODE", 0, (0, 1, 2, 3, 4, 5)),))


def test_a_configuration_that_fails_costs_itself_alone(
    engine: Engine, pocl: Device, moody: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builders, "_LAUNCH_LIMIT_SECONDS", 4.0)
    sweep = Sweep((moody,), (), (PROBLEM,), (pocl,), POLICY)
    items = items_of(engine, sweep)
    report = report_of(items)
    cells = {dict(cell.configuration.parameters)["MODE"]: cell for cell in report.cells}
    assert cells[1].state == "wrong"
    assert cells[1].flops_per_second is None
    assert cells[1].why_not.startswith("Wrong: 960 of 960 cells")
    assert [cells[mode].state for mode in (2, 3, 4)] == ["failed"] * 3
    assert "segmentation fault" in cells[2].why_not
    assert cells[3].why_not == "The driver's compiler rejected the kernel."
    assert "took longer than the limit of 4 s" in cells[4].why_not
    assert {cells[0].state, cells[5].state} <= {"measured", "dropped"}
    (winner,) = report.winners
    assert dict(winner.recommended.parameters)["MODE"] in (0, 5)
    results = {
        dict(item.cell.configuration.parameters)["MODE"]: item.result
        for item in items
        if isinstance(item, CellMeasured)
    }
    assert results.keys() == set(range(6))
    assert results[1].error_map is not None
    assert results[3].failure is not None
    assert "no such mode" in results[3].failure.detail


def test_a_crash_where_the_measuring_child_builds(
    engine: Engine, intel: Device, moody: Variant
) -> None:
    """On a device whose driver keeps no builds the child that measures is the one that crashes."""
    assert not builds_ahead(intel)
    assert moody.parameters[0].values[2] == 2
    axes = (("own", (("MODE", (0, 2, 5)),)),)
    report = report_of(items_of(engine, Sweep((moody,), axes, (PROBLEM,), (intel,), POLICY)))
    assert [cell.state == "failed" for cell in report.cells] == [False, True, False]
    assert "ended in the phase 'check' of own MODE=2" in report.cells[1].why_not
    assert len(report.winners) == 1


def stopped_at_first_cell(engine: Engine, sweep: Sweep) -> Iterator[object]:
    for item in engine.perform(RunSweep(71, sweep)):
        yield item
        if isinstance(item, CellMeasured | Phase):
            engine.stop(71)


def test_a_stop_keeps_the_cells(engine: Engine, pocl: Device) -> None:
    sweep = work_1d(pocl, 8, 12, 20)
    *_, outcome = stopped_at_first_cell(engine, sweep)
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert isinstance(outcome.answer, SweepReport)
    states = [cell.state for cell in outcome.answer.cells]
    assert len(states) == 12
    assert "planned" in states
    known = [cell for cell in outcome.answer.cells if cell.state != "planned"]
    assert known
    rest = items_of(engine, sweep, outcome.answer.cells)
    told = [item.cell for item in rest if isinstance(item, CellMeasured)]
    again = [cell for cell in told if not cell.final]
    assert not {cell.configuration for cell in again} & {cell.configuration for cell in known}
    assert len(report_of(rest).winners) == 3


def test_nothing_that_can_run(engine: Engine, pocl: Device) -> None:
    small = replace(pocl, max_work_group_size=1)
    *_, outcome = items_of(engine, replace(work_1d(pocl), devices=(small,)))
    assert isinstance(outcome, Outcome)
    assert outcome.failure is not None
    assert outcome.failure.kind == "refused"
    assert outcome.failure.sentence.startswith("No configuration of the sweep can run. A group of")


def test_a_device_that_is_gone(pocl: Device) -> None:
    engine = Engine()
    try:
        engine.list_devices()
        gone = replace(pocl, name="no such device")
        sweep = replace(work_1d(pocl), devices=(gone,))
        *_, outcome = items_of(engine, sweep)
    finally:
        engine.close()
    assert isinstance(outcome, Outcome)
    assert isinstance(outcome.answer, SweepReport)
    assert {cell.state for cell in outcome.answer.cells} <= {"planned", "failed"}
    assert outcome.answer.winners == ()


def test_how_many_build(pocl: Device) -> None:
    assert builds_ahead(pocl)
    assert count_builders(pocl, 2) == 2
    card = replace(pocl, type="GPU", global_mem_bytes=4 * 2**30)
    assert count_builders(card, 2) == 1
    assert count_builders(card, 12) == 4
    assert count_builders(replace(card, global_mem_bytes=None), 99) == 16
    assert count_builders(card, 1) == 1
