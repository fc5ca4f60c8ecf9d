"""Sweeps as files keep them: which is found, and what its results make of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.kept_sweep import kept_sweep, read_kept_sweep, report_of
from gemmviz.core.model import Device, Result
from gemmviz.core.result_document import DocumentError, picture_text
from gemmviz.core.store import ResultStore
from gemmviz.core.sweep import NOT_TRIED, Sweep
from gemmviz.core.sweep_file import identity
from gemmviz.core.sweep_plan import plan
from gemmviz.core.winners import placings_of, winners_of
from tests.core.sweeps import HERE
from tests.core.test_winners import NAMES, SWEEP, finals, screened

OTHER = replace(HERE, name="other")


def held(sweep: Sweep = SWEEP, device: Device = HERE) -> list[Result]:
    """The results of a sweep whose finals were held and saved, in their order."""
    made = [*screened(), *finals()]
    report = report_of(SWEEP, made)
    (winner,) = winners_of(report.cells, SWEEP.policy, SWEEP.devices)
    placings = placings_of(report.cells, winner, 5.0)
    last = [
        replace(each, placing=placings[name])
        for name, each in zip(NAMES, made[len(NAMES) :], strict=False)
    ]
    made = [*made[: len(NAMES)], *last]
    return [
        replace(each, device=device, job=replace(each.job, device=device.key, problem=problem))
        for problem in sweep.problems
        for each in made
    ]


def numbered(results: list[Result]) -> list[tuple[int, Result]]:
    return list(enumerate(results, start=1))


def test_a_sweep_comes_back_with_its_finals_and_what_was_dropped() -> None:
    kept = kept_sweep(identity(SWEEP), numbered(held()))
    assert kept is not None
    assert kept.sweep.devices == SWEEP.devices
    assert kept.numbers == tuple(range(1, len(kept.results) + 1))
    cells = {cell.configuration: cell for cell in kept.report.cells}
    assert [cells[name].best for name in NAMES] == [True, True, False, False]
    assert [cells[name].final for name in NAMES] == [True, True, False, False]
    assert kept.report.winners[0].recommended == NAMES[0]


def test_what_is_not_measured_is_to_come_or_was_passed_over() -> None:
    first = screened()[:1]
    assert [cell.state for cell in report_of(SWEEP, first).cells] == ["measured"] + 3 * ["planned"]
    assert len(report_of(SWEEP, first).cells) == len(plan(SWEEP).configurations)
    model = replace(SWEEP, strategy="model")
    results = [each for each in held() if each.job.parameters != NAMES[3].parameters]
    last = report_of(model, results).cells[3]
    assert (last.state, last.why_not) == ("dropped", NOT_TRIED)


def test_a_device_without_results_is_left_out() -> None:
    both = replace(SWEEP, devices=(OTHER, HERE))
    kept = kept_sweep(identity(both), numbered(held()))
    assert kept is not None
    assert kept.sweep.devices == (HERE,)
    assert {cell.configuration.device for cell in kept.report.cells} == {0}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"variants": 3}', "[" * 9999])
def test_an_identity_that_is_none_gives_no_sweep(text: str) -> None:
    assert kept_sweep(text, numbered(held())) is None


def test_strange_formulas_give_no_sweep_and_no_error() -> None:
    odd = replace(SWEEP.variants[0], group=("1 // 0", "M ** M"), require=("(" * 500,))
    sweep = replace(SWEEP, variants=(odd,))
    results = [replace(each, job=replace(each.job, variant=odd)) for each in held()]
    kept = kept_sweep(identity(sweep), numbered(results))
    assert kept is None or kept.report.cells


def saved(path: Path, sweeps: list[Sweep], order: list[int]) -> None:
    """A file with some sweeps, of which the results come in an order."""
    store = ResultStore.open(path)
    numbers = [store.put_sweep(identity(sweep)) for sweep in sweeps]
    for place in order:
        for result in held(sweeps[place]):
            store.add(result, numbers[place])
    store.close()


def test_of_several_sweeps_that_of_the_newest_result_is_found(tmp_path: Path) -> None:
    larger = replace(SWEEP, problems=(replace(SWEEP.problems[0], m=128),))
    path = tmp_path / "r.gemmviz"
    saved(path, [SWEEP, larger], [1, 0])
    newest, first, second = (read_kept_sweep(path, number) for number in (None, 1, 2))
    assert newest is not None
    assert first is not None
    assert second is not None
    assert newest == first
    assert (first.sweep.problems, second.sweep.problems) == (SWEEP.problems, larger.problems)
    with pytest.raises(DocumentError, match="has no sweep 3: it has 2 sweeps"):
        read_kept_sweep(path, 3)


def test_a_file_without_a_sweep_has_none(tmp_path: Path) -> None:
    path = tmp_path / "r.gemmviz"
    ResultStore.open(path).close()
    assert read_kept_sweep(path) is None
    with pytest.raises(DocumentError, match="has no sweep 1: it has no sweep"):
        read_kept_sweep(path, 1)
    document = tmp_path / "r.json"
    document.write_text(picture_text(held()))
    assert read_kept_sweep(document) is None


def test_a_document_of_a_sweep_has_it(tmp_path: Path) -> None:
    document = tmp_path / "r.json"
    document.write_text(picture_text(held(), chart="Sweep", sweep=identity(SWEEP)))
    kept = read_kept_sweep(document)
    assert kept is not None
    assert kept.report.winners[0].recommended == NAMES[0]
    with pytest.raises(DocumentError, match="has no sweep 2: it has 1 sweep"):
        read_kept_sweep(document, 2)
