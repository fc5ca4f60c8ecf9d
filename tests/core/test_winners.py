"""What won a sweep, live and from results that were saved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.codec import from_json, to_json
from gemmviz.core.finals import judge
from gemmviz.core.model import Check, Failure, Job, Problem, Result, Samples
from gemmviz.core.placing import Placing, Unplaced
from gemmviz.core.policy import QUICK, Policy
from gemmviz.core.race import SAMPLES, SCREENING
from gemmviz.core.soundness import objection
from gemmviz.core.store.forms import form_of, result_of
from gemmviz.core.sweep import Configuration, Sweep, SweepCell
from gemmviz.core.sweep_plan import plan
from gemmviz.core.winners import cells_of, crowned, placing_words, placings_of, winners_of
from tests.core.sweeps import HERE, kernel

PROBLEM = Problem(64, 64, 64)
SWEEP = Sweep(
    (kernel("work_1d"),), (("work_1d", (("TS", (8, 16)), ("WPT", (1, 2)))),), (PROBLEM,), (HERE,),
    QUICK,
)  # fmt: skip
NAMES = plan(SWEEP).configurations
OUT = Unplaced(NAMES[2].variant, NAMES[2].parameters, 0.1, "Dropped.")
VERIFIED = Check("verified", 64, 64, 64)
WRONG = replace(VERIFIED, verdict="wrong", cells_wrong=9)


def result(
    name: Configuration, seconds: list[float], policy: Policy = SCREENING, **more: object
) -> Result:
    job = Job(7, HERE.key, SWEEP.variants[0], name.parameters, name.problem, policy)
    samples = Samples((1,) * len(seconds), tuple(seconds), tuple(np.cumsum(seconds)))
    return Result(job, HERE, samples, check=VERIFIED, **more)  # type: ignore[arg-type]


def screened() -> list[Result]:
    return [result(name, [place + 1.0] * SAMPLES) for place, name in enumerate(NAMES)]


def finals() -> list[Result]:
    first, second = ([1.0 + 0.01 * (n % 3) for n in range(40)] for _ in "ab")
    return [result(NAMES[0], first, QUICK), result(NAMES[1], second, QUICK)]


def test_screened_cells_of_a_race_that_was_not_decided_are_measured_but_not_final() -> None:
    cells = cells_of(SWEEP, screened()[:3])
    assert [cell.configuration for cell in cells] == list(NAMES[:3])
    assert {(cell.state, cell.final, cell.best) for cell in cells} == {("measured", False, False)}
    assert [cell.seconds for cell in cells] == [1.0, 2.0, 3.0]
    assert cells[0].group_size == 64
    assert winners_of(cells, QUICK, (HERE,)) == ()


def test_a_race_that_was_decided_is_decided_the_same_from_its_results() -> None:
    cells = {cell.configuration: cell for cell in cells_of(SWEEP, [*screened(), *finals()])}
    assert [cells[name].state for name in NAMES] == ["measured"] * 2 + ["dropped"] * 2
    assert [cells[name].best for name in NAMES] == [True, True, False, False]
    assert cells[NAMES[0]].samples == 40
    assert cells[NAMES[3]].why_not == "Dropped before the finals."
    (winner,) = winners_of(cells.values(), QUICK, (HERE,))
    assert winner.recommended == NAMES[0]
    assert set(winner.best_set) == set(NAMES[:2])
    assert 0.9 < winner.confidence < 1
    assert winner.words.startswith(
        "Take work_1d TS=8 WPT=1 at 64 x 64 x 64 float on pthread-cpu · PoCL 3.0-rc2: 2 cannot be "
        "told apart from the best within 6 %."
    )
    assert "sure that none of the 2 others is more than 6 % faster." in winner.words


def test_the_last_result_of_a_configuration_counts() -> None:
    again = result(NAMES[0], [9.0] * SAMPLES)
    (cell,) = cells_of(SWEEP, [result(NAMES[0], [1.0] * SAMPLES), again])
    assert cell.seconds == 9.0


def test_results_of_something_else_are_left_out() -> None:
    other = result(NAMES[0], [1.0])
    job = other.job
    edited = replace(job.variant, source=job.variant.source + "\n")
    strangers = [
        replace(other, job=replace(job, variant=edited)),
        replace(other, job=replace(job, problem=Problem(1, 1, 1))),
        replace(other, job=replace(job, device=replace(HERE.key, ordinal=1))),
        replace(other, stopped=True),
    ]
    assert cells_of(SWEEP, strangers) == ()


def test_what_failed_or_is_wrong_has_its_reason() -> None:
    crash = Failure("crash", "It crashed.")
    wrong = Failure("wrong", "It is wrong.")
    found = cells_of(SWEEP, [
        replace(result(NAMES[0], []), failure=crash, check=None),
        replace(result(NAMES[1], []), failure=wrong, check=WRONG),
        result(NAMES[2], []),
    ])  # fmt: skip
    assert [(cell.state, cell.why_not) for cell in found] == [
        ("failed", "It crashed."), ("wrong", "It is wrong."),
        ("failed", "No launch of it had a usable time."),
    ]  # fmt: skip
    assert found[1].flops_per_second is None


def test_of_an_exhaustive_sweep_the_second_result_is_the_final_one() -> None:
    every = replace(SWEEP, strategy="exhaustive")
    once = [result(name, [1.0 + place] * 9, QUICK) for place, name in enumerate(NAMES)]
    assert not any(cell.best for cell in cells_of(every, once))
    cells = cells_of(every, [*once, *finals()])
    assert [cell.best for cell in cells] == [True, True, False, False]


def test_the_surer_each_is_the_surer_is_the_whole() -> None:
    def cell(name: Configuration, **more: object) -> SweepCell:
        return SweepCell(name, "measured", 1.0, 1.0, 1.0, 9, **more)  # type: ignore[arg-type]

    best = cell(NAMES[0], best=True, ratio=1.0)
    for odds, sure in ((0.0, 1.0), (0.001, 0.999**2), (0.1, 0.81)):
        rest = [cell(name, odds=odds) for name in NAMES[1:3]]
        (winner,) = winners_of([best, *rest], QUICK, (HERE,))
        assert winner.confidence == pytest.approx(sure)
        assert winner.words.startswith("work_1d TS=8 WPT=1 is the fastest at 64 x 64 x 64 float")
        assert "It is 100 % sure" not in winner.words
    (winner,) = winners_of([best, cell(NAMES[1], odds=0.25)], QUICK, (HERE,))
    assert winner.words.endswith("It is 75 % sure that the other is not more than 6 % faster.")
    (winner,) = winners_of([best], QUICK, (HERE,))
    assert winner.words.endswith("PoCL 3.0-rc2.")


def test_a_finalist_that_is_slower_says_by_how_much() -> None:
    times = {NAMES[0]: np.full(40, 1.0), NAMES[1]: np.full(40, 1.5)}
    standing = judge(times, 0.02)
    assert standing is not None
    slow = crowned(SweepCell(NAMES[1], "measured", 1.5, 1.5, 1.5, 40), standing)
    assert (slow.state, slow.best) == ("dropped", False)
    assert slow.why_not == "Slower than the best in the finals, 1.5 times as long."
    assert slow.ratio == pytest.approx(1 / 1.5)


def decided(sweep: Sweep = SWEEP) -> tuple[tuple[SweepCell, ...], list[Result]]:
    """Cells at the end of a sweep by other words than its samples alone would have, and results."""
    every = sweep.strategy == "exhaustive"
    times = {
        name: np.array(result.samples.seconds)
        for name, result in zip(NAMES, finals(), strict=False)
    }
    standing = judge(times, 0.06, (NAMES[1],))  # which only the finals themselves know
    assert standing is not None
    cells = list(cells_of(sweep, screened()))
    for place in (2, 3):
        out = replace(cells[place], odds=0.02 * place, why_not="Dropped after 3 samples.")
        cells[place] = replace(out, state="measured" if every else "dropped", final=every)
        if every:
            cells[place] = replace(cells[place], why_not="")
    final = {cell.configuration: cell for cell in cells_of(sweep, [*screened(), *finals()])}
    for place, name in enumerate(NAMES[:2]):
        cell = crowned(replace(final[name], state="measured", final=True), standing)
        cells[place] = replace(cell, state="measured", why_not="") if every else cell
    (winner,) = winners_of(cells, QUICK, (HERE,))
    placings = placings_of(cells, winner, 1.7e9)
    told = [
        replace(result, placing=placings[name])
        for name, result in zip(NAMES, finals(), strict=False)
    ]
    return tuple(cells), told


def saved(results: list[Result]) -> list[Result]:
    """The same as a file gives them back."""
    return [
        replace(result, placing=from_json(Placing, to_json(result.placing)))
        if result.placing is not None
        else result
        for result in results
    ]


@pytest.mark.parametrize("strategy", ["racing", "exhaustive"])
def test_what_the_finals_said_is_said_again_word_for_word(strategy: str) -> None:
    sweep = replace(SWEEP, strategy=strategy)
    cells, told = decided(sweep)
    assert [cell.best for cell in cells] == [True, False, False, False]
    again = cells_of(sweep, saved([*screened(), *told]))
    assert {cell.configuration: cell for cell in again} == {c.configuration: c for c in cells}
    assert winners_of(again, QUICK, (HERE,)) == winners_of(cells, QUICK, (HERE,))
    # The samples alone say something else.
    old = cells_of(sweep, [*screened(), *finals()])
    assert [cell.best for cell in old] == [True, True, False, False]


def test_of_two_finals_the_later_ones_count() -> None:
    _, told = decided()
    assert told[0].placing is not None
    later = replace(told[0].placing, decided_at=1.8e9, unplaced=(), words="x")
    cells = cells_of(SWEEP, [*screened(), *told, *screened(), replace(told[0], placing=later)])
    assert [cell.final for cell in cells] == [True, False, False, False]
    assert [cell.why_not for cell in cells] == ["", *["Dropped before the finals."] * 3]


def test_without_the_one_to_take_the_samples_decide() -> None:
    _, told = decided()
    cells = {cell.configuration: cell for cell in cells_of(SWEEP, [*screened(), told[1]])}
    assert cells[NAMES[1]].best
    assert cells[NAMES[1]].ratio == 1


def test_a_result_says_what_its_sweep_said() -> None:
    placing = Placing(1.7e9, "Take this.", best=True, ratio=1.0)
    assert placing_words(placing) == ("Take this.",)
    assert placing_words(replace(placing, ratio=0.99)) == (
        "Take this.", "It cannot be told apart from the best.",
    )  # fmt: skip
    assert placing_words(replace(placing, best=False, ratio=0.5)) == (
        "Take this.", "Slower than the best in the finals, 2 times as long.",
    )  # fmt: skip


def test_a_place_that_no_sweep_gives_is_not_read() -> None:
    good = Placing(1.7e9, "Take this.", best=True, ratio=1.0, unplaced=(OUT,))
    assert objection(replace(result(NAMES[0], [1.0]), placing=good)) == ""
    for bad in (
        replace(good, ratio=0.0), replace(good, ratio=np.nan), replace(good, decided_at=1e30),
        replace(good, odds=1.5), replace(good, unplaced=(replace(OUT, odds=-1.0),)),
    ):  # fmt: skip
        assert objection(replace(result(NAMES[0], [1.0]), placing=bad)) != ""


def test_a_result_without_a_place_is_written_as_it_was_before_there_were_any() -> None:
    plain = result(NAMES[0], [1.0])
    assert "placing" not in form_of(plain).body
    placed = replace(plain, placing=Placing(1.7e9, "x", best=True, ratio=1.0, unplaced=(OUT,)))
    form = form_of(placed)
    assert result_of(form.texts, form.body, placed.samples) == placed
