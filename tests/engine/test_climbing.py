"""The ladder climbed on PoCL: rung by rung, with what cannot run, what is wrong, and a stop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.experiments import ClimbLadder, Outcome
from gemmviz.core.ladder import Ladder
from gemmviz.core.messages import LadderClimbed, Listing, Progressed
from gemmviz.core.model import Device, Problem, Variant
from gemmviz.core.policy import fixed
from gemmviz.engine import climbing
from gemmviz.engine.oclgrind import find_simulator
from gemmviz.engine.plan import Engine
from tests.engine.runs import CATALOG, own_kernel

PROBLEM = Problem(33, 20, 17, "float", 5)
BLAS = CATALOG.find("blas")


def on_ladder(name: str, rung: int, **changes: object) -> Variant:
    return replace(CATALOG.find(name), family="ladder", rung=rung, **changes)  # type: ignore[arg-type]


def climb(
    engine: Engine, device: Device, *variants: Variant, job_id: int = 70
) -> tuple[list[object], Ladder]:
    items = list(engine.perform(ClimbLadder(job_id, device, variants, PROBLEM, fixed(3))))
    outcome = items[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.failure is None
    assert isinstance(outcome.answer, Ladder)
    return items, outcome.answer


@pytest.fixture(scope="module")
def climbed(
    engine: Engine, pocl: Device, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[object], Ladder]:
    folder = tmp_path_factory.mktemp("own")
    broken = replace(own_kernel(folder, "this is no C"), family="ladder", rung=5)
    return climb(
        engine,
        pocl,
        on_ladder("tiled", 2),
        BLAS,
        on_ladder("naive_coalesced", 1),
        on_ladder("tiling_tiled", 3),
        on_ladder("tiled_padded", 4, needs=("nvidia",)),
        broken,
        on_ladder("register_2d", 6),
    )


def test_every_rung_has_a_row_in_its_order(climbed: tuple[list[object], Ladder]) -> None:
    _, ladder = climbed
    assert [rung.variant for rung in ladder.rungs] == [
        "naive_coalesced", "tiled", "tiling_tiled", "tiled_padded", "own", "register_2d",
    ]  # fmt: skip
    assert ladder.whole
    assert ladder.problem == PROBLEM
    first, second = ladder.rungs[:2]
    assert first.gain is None
    assert second.against == "naive_coalesced"
    assert second.gain is not None
    assert second.gain.rounds >= 1  # short launches are batched
    for rung in (first, second):
        assert rung.low is not None
        assert rung.high is not None
        assert rung.flops_per_second is not None
        assert rung.low <= rung.flops_per_second <= rung.high
        assert rung.local_bytes == (0 if rung is first else 2048)
        assert (rung.registers, rung.occupancy) == (None, None)
        assert not rung.wrong


def test_what_cannot_run_says_why(climbed: tuple[list[object], Ladder]) -> None:
    _, ladder = climbed
    refused, broken = ladder.rungs[3:5]
    assert "NVIDIA device alone" in refused.why_not
    assert "compile" in broken.why_not or "build" in broken.why_not
    assert refused.flops_per_second is None
    assert broken.flops_per_second is None


def test_a_wrong_rung_is_none_to_compare_with(climbed: tuple[list[object], Ladder]) -> None:
    _, ladder = climbed
    wrong, last = ladder.rungs[2], ladder.rungs[5]
    assert wrong.wrong
    assert wrong.why_not
    assert wrong.flops_per_second is not None
    assert last.against == "tiled"
    assert not last.why_not
    assert wrong not in ladder.measured


def test_each_rung_stands_beside_the_library(climbed: tuple[list[object], Ladder]) -> None:
    _, ladder = climbed
    assert ladder.library is not None
    assert (ladder.library.variant, ladder.library_note) == ("blas", "")
    assert ladder.library.flops_per_second > 0
    for rung in ladder.measured:
        assert rung.library is not None
        assert rung.library.ratio > 0
        assert rung.flops_per_second is not None
        share = rung.flops_per_second / ladder.library.flops_per_second
        assert ladder.library_share(rung) == share


def test_the_ladder_is_told_after_every_rung(climbed: tuple[list[object], Ladder]) -> None:
    items, ladder = climbed
    told = [item.ladder for item in items if isinstance(item, LadderClimbed)]
    assert [len(each.rungs) for each in told] == [1, 2, 3, 4, 5, 6]
    assert [each.whole for each in told] == [False] * 5 + [True]
    assert told[-1] == ladder
    shares = [item.share for item in items if isinstance(item, Progressed)]
    assert shares == sorted(shares)  # type: ignore[type-var]
    assert all(isinstance(item, LadderClimbed | Progressed | Outcome) for item in items)


def test_a_library_that_fails_is_left_out_and_told(
    engine: Engine, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    cublas = CATALOG.find("cublas")
    monkeypatch.setattr(climbing, "library_on", lambda *_: (cublas, ""))
    rungs = on_ladder("naive_coalesced", 1), on_ladder("tiled", 2)
    _, ladder = climb(engine, pocl, *rungs, cublas)
    assert ladder.library is None
    assert ladder.library_note.startswith("cuBLAS failed: ")
    assert len(ladder.measured) == 2
    assert ladder.rungs[1].gain is not None


def test_without_a_library_the_first_rung_runs_by_itself(engine: Engine, pocl: Device) -> None:
    _, ladder = climb(engine, pocl, on_ladder("tiling_tiled", 1), on_ladder("tiled", 2))
    wrong, right = ladder.rungs
    assert wrong.wrong
    assert (right.against, right.gain) == ("", None)
    assert ladder.library_note == "No library is known here."


def test_a_stop_keeps_what_was_measured(engine: Engine, pocl: Device) -> None:
    variants = on_ladder("naive_coalesced", 1), on_ladder("tiled", 2)
    outcome = None
    for item in engine.perform(ClimbLadder(71, pocl, variants, PROBLEM, fixed(3))):
        if isinstance(item, LadderClimbed):
            engine.stop(71)
        outcome = item
    assert isinstance(outcome, Outcome)
    assert outcome.stopped
    assert isinstance(outcome.answer, Ladder)
    assert [rung.variant for rung in outcome.answer.rungs] == ["naive_coalesced"]
    assert not outcome.answer.whole
    assert climb(engine, pocl, *variants, job_id=72)[1].whole


def test_a_simulator_and_no_ladder_at_all_are_refused(
    engine: Engine, pocl: Device, listing: Listing
) -> None:
    simulator = find_simulator(listing)
    assert simulator is not None
    for device, variants, kind in (
        (simulator, CATALOG.variants, "refused"),
        (pocl, (BLAS,), "not_found"),
    ):
        *_, outcome = engine.perform(ClimbLadder(73, device, variants, PROBLEM))
        assert isinstance(outcome, Outcome)
        assert outcome.failure is not None
        assert outcome.failure.kind == kind
