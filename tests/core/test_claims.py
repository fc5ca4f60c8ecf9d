"""Judgements follow from the evidence alone: other evidence, another outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemmviz.core.access.report import Unknown
from gemmviz.core.claim import (
    Answer,
    Choice,
    Claim,
    Contest,
    Lens,
    Occupancy,
    Run,
    Simulation,
    Trial,
    judged,
)
from gemmviz.core.claim_list import CLAIMS, find_claims
from gemmviz.core.claims import MARKS, OUTCOMES, ClaimResult, count_outcomes
from gemmviz.core.estimate import Estimate
from gemmviz.core.launch import geometry
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Failure, Problem
from gemmviz.core.occupancy import estimate_on
from tests.core.claim_evidence import (
    CPU,
    H200,
    HOST_USED,
    accesses,
    chosen,
    comparison,
    evidence,
    races,
    result,
    trials_of,
)

HOLDS, FAILS, OPEN = OUTCOMES


def judge(
    claim_id: str, answers: dict[Trial, Answer | Failure], device: Device = CPU
) -> ClaimResult:
    (claim,) = find_claims((claim_id,))
    return judged(claim, evidence(answers, device))


def estimates(claim_id: str, registers: dict[str, int]) -> dict[Trial, Estimate]:
    found: dict[Trial, Estimate] = {}
    for trial in trials_of(claim_id):
        if isinstance(trial, Occupancy):
            variant, parameters = chosen(trial.choice)
            shape = geometry(variant, parameters, Problem(512, 512, 512))
            found[trial] = estimate_on(
                H200, limits_for(H200), shape.group_size, shape.local_bytes,
                registers[trial.choice.kernel],
            )  # fmt: skip
    return found


def looked_at(claim_id: str) -> dict[Trial, Answer | Failure]:
    return {trial: accesses(trial) for trial in trials_of(claim_id) if isinstance(trial, Lens)}


def test_about_twenty_statements_of_four_documents() -> None:
    assert 20 <= len(CLAIMS) <= 30
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert len({claim.document for claim in CLAIMS}) == 4
    assert set(MARKS) == set(OUTCOMES)
    for claim in CLAIMS:
        assert claim.statement.endswith(".")
        assert claim.trials


def _choices(trial: Trial) -> tuple[Choice, ...]:
    return trial.choices if isinstance(trial, Contest) else (trial.choice,)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_kernels_of_every_trial_exist(claim: Claim) -> None:
    for trial in claim.trials:
        for choice in _choices(trial):
            chosen(choice)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_without_evidence_nothing_is_claimed(claim: Claim) -> None:
    failure = Failure("hang", "It took too long.")
    for device in (CPU, H200):
        found = judged(claim, evidence(dict.fromkeys(claim.trials, failure), device))
        assert found.outcome == OPEN
        assert found.reason in ("It took too long.", claim.objection(device))
        assert judged(claim, evidence({}, device)).outcome == OPEN


def test_ids_choose_statements_in_the_order_of_the_list() -> None:
    assert find_claims(()) == CLAIMS
    assert [claim.id for claim in find_claims(("gemm1-lines", "padding"))] == [
        "padding", "gemm1-lines",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no statement nothing"):
        find_claims(("nothing",))


# --- the sources


@pytest.mark.parametrize(
    ("claim_id", "outcome", "words"),
    [
        ("naive-loads", FAILS, "48 multiply-adds and 96 loads"),
        ("coalesced-staging", FAILS, "16 sectors of A and 16 of B"),
        ("padding", HOLDS, "5120 turns"),
        ("eightfold", FAILS, "512 loads for 8192 FLOP"),
        ("conflict-free", HOLDS, "1 at TILE 32"),
        ("gemm1-counts", HOLDS, "96 loads and 1 store"),
        ("gemm1-lines", FAILS, "mygemm_1b: A 1, B 16, C 16"),
    ],
)
def test_what_the_sources_say(claim_id: str, outcome: str, words: str) -> None:
    found = judge(claim_id, looked_at(claim_id))
    assert found.outcome == outcome
    assert words in found.measured


def test_other_sources_would_turn_the_outcomes() -> None:
    (naive,) = trials_of("naive-loads")
    assert isinstance(naive, Lens)
    longer = accesses(replace(naive, shape=(32, 64, 64)))
    assert judge("naive-loads", {naive: longer}).outcome == HOLDS
    (staging,) = trials_of("coalesced-staging")
    along = accesses(Lens(Choice("tradeoffs_tiled"), (64, 64, 64)))
    assert judge("coalesced-staging", {staging: along}).outcome == HOLDS
    pads = trials_of("padding")
    backwards = dict(zip(pads, reversed(list(looked_at("padding").values())), strict=True))
    assert judge("padding", backwards).outcome == FAILS
    (tile,) = trials_of("eightfold")
    report = accesses(tile)  # type: ignore[arg-type]
    halved = replace(report, executed_flop=report.executed_flop // 2)
    assert judge("eightfold", {tile: halved}).outcome == HOLDS
    lenses = trials_of("conflict-free")
    crowded = accesses(Lens(Choice("barriers_tiled"), (64, 64, 64)))
    assert judge("conflict-free", dict.fromkeys(lenses, crowded)).outcome == FAILS


def test_what_the_lens_cannot_follow_is_no_evidence() -> None:
    (naive,) = trials_of("naive-loads")
    report = replace(accesses(naive), unknowns=(Unknown(7, "a goto"),))  # type: ignore[arg-type]
    found = judge("naive-loads", {naive: report})
    assert (found.outcome, found.reason) == (OPEN, "tiling_naive, line 7: a goto")


# --- runs


@pytest.mark.parametrize("claim_id", ["tiling-right", "barriers-right", "gemm2-whole"])
def test_a_kernel_is_right_where_every_run_is(claim_id: str) -> None:
    runs = [trial for trial in trials_of(claim_id) if isinstance(trial, Run)]
    right = {run: result(run) for run in runs}
    assert judge(claim_id, {**right}).outcome == HOLDS
    found = judge(claim_id, {**right, runs[-1]: result(runs[-1], "wrong")})
    assert found.outcome == FAILS
    m, n, _ = runs[-1].shape
    assert f"({m * n} of {m * n} cells)" in found.measured
    failed = result(runs[0], failure=Failure("build", "The compiler rejected it."))
    found = judge(claim_id, {**right, runs[0]: failed})
    assert found.outcome == OPEN
    assert "The compiler rejected it." in found.reason


def test_zeros_matter_only_where_the_other_kernel_is_wrong() -> None:
    filled, unfilled = trials_of("zero-fill")
    assert isinstance(filled, Run)
    assert isinstance(unfilled, Run)
    for verdict, outcome in (("wrong", HOLDS), ("verified", FAILS)):
        answers: dict[Trial, Answer | Failure] = {
            filled: result(filled), unfilled: result(unfilled, verdict)
        }  # fmt: skip
        assert judge("zero-fill", answers).outcome == outcome


@pytest.mark.parametrize(
    ("failure", "verdict", "outcome", "words"),
    [
        (None, "verified", FAILS, "the kernel ran, and its answer is right"),
        (None, "wrong", FAILS, "the kernel ran, and its answer is wrong"),
        (Failure("launch", "Refused: OUT_OF_RESOURCES."), "", HOLDS, "OUT_OF_RESOURCES"),
        (Failure("crash", "An abort."), "", HOLDS, "An abort."),
        (Failure("not_found", "The device is gone."), "", OPEN, ""),
    ],
)
def test_a_launch_above_the_devices_local_memory(
    failure: Failure | None, verdict: str, outcome: str, words: str
) -> None:
    (run,) = trials_of("no-launch")
    assert isinstance(run, Run)
    assert run.over_local
    found = judge("no-launch", {run: result(run, verdict, failure)})
    assert found.outcome == outcome
    assert words in found.measured


# --- the simulator

RACE = ("data race", "A work-item writes what another reads.")
STRAY = ("out of bounds", "4 bytes are read outside.")


def test_a_barrier_is_needed_where_a_race_shows_without_it() -> None:
    right, first, first_run, second, second_run = trials_of("both-barriers")
    assert isinstance(first_run, Run)
    assert isinstance(second_run, Run)
    answers: dict[Trial, Answer | Failure] = {
        right: races(), first: races(RACE), second: races(RACE),
        first_run: result(first_run), second_run: result(second_run, "wrong"),
    }  # fmt: skip
    found = judge("both-barriers", answers)
    assert found.outcome == HOLDS
    assert "a data race (lines 29, 33), yet this device's answer is right" in found.measured
    assert "a data race (lines 29, 33), and this device's answer is wrong" in found.measured
    assert judge("both-barriers", {**answers, second: races(STRAY)}).outcome == FAILS
    assert judge("both-barriers", {**answers, right: races(RACE)}).outcome == FAILS
    # That the device cannot run them takes nothing from what the simulator sees.
    gone = Failure("launch", "Refused.")
    assert judge("both-barriers", {**answers, first_run: gone}).outcome == HOLDS


def test_divergence_fence_and_groups() -> None:
    right, branch, early = trials_of("divergent-barrier")
    split = ("barrier divergence", "Only 16 of 64 work-items reach the barrier.")
    answers: dict[Trial, Answer | Failure] = {
        right: races(), branch: races(split), early: races(split)
    }  # fmt: skip
    assert judge("divergent-barrier", answers).outcome == HOLDS
    assert judge("divergent-barrier", {**answers, early: races(RACE)}).outcome == FAILS
    fence, right = trials_of("local-fence")
    assert judge("local-fence", {fence: races(RACE), right: races()}).outcome == HOLDS
    assert judge("local-fence", {fence: races(), right: races()}).outcome == FAILS
    (groups,) = trials_of("groups-apart")
    between = ("data race", "A work-item writes bytes that one of another group reads.")
    assert judge("groups-apart", {groups: races(between)}).outcome == HOLDS
    assert judge("groups-apart", {groups: races(RACE)}).outcome == FAILS
    assert isinstance(groups, Simulation)
    absent = Failure("not_found", 'pip install "gemmviz[oclgrind]" brings it.')
    found = judge("groups-apart", {groups: absent})
    assert (found.outcome, found.reason) == (OPEN, absent.sentence)


# --- speeds


def contest_of(claim_id: str) -> Contest:
    return next(trial for trial in trials_of(claim_id) if isinstance(trial, Contest))


@pytest.mark.parametrize(
    ("claim_id", "ratios", "outcome"),
    [
        ("naive-waits", ((0.9, 1.1), (1.9, 2.1), (5.0, 6.0)), HOLDS),
        ("naive-waits", ((0.9, 1.1), (1.9, 2.1), (0.6, 0.7)), HOLDS),
        ("naive-waits", ((5.0, 6.0), (0.6, 0.7), (0.9, 1.1)), FAILS),
        ("naive-waits", ((0.9, 1.1), (0.6, 0.7), (1.1, 1.4)), OPEN),
        ("little-on-cpus", ((0.9, 1.1), (1.0, 1.1), (5.0, 6.0)), HOLDS),
        ("little-on-cpus", ((0.9, 1.1), (1.9, 2.1), (5.0, 6.0)), FAILS),
        ("little-on-cpus", ((0.9, 1.1), (1.2, 1.3), (5.0, 6.0)), OPEN),
        ("two-to-five", ((2.1, 4.9),), HOLDS),
        ("two-to-five", ((1.1, 1.9),), FAILS),
        ("two-to-five", ((5.1, 7.0),), FAILS),
        ("two-to-five", ((1.9, 2.1),), OPEN),
        ("by-local-memory", ((0.9, 1.1), (1.9, 2.1), (5.0, 6.0)), HOLDS),
        ("by-local-memory", ((5.2, 5.4), (6.6, 6.8), (40.0, 41.0)), FAILS),
        ("by-local-memory", ((1.2, 2.2), (2.5, 3.0), (5.0, 6.0)), OPEN),
        ("by-local-memory", ((1.0, 1.1), (0.9, 1.1), (5.0, 6.0)), OPEN),
        ("gemm1-faster", ((5.3, 5.5), (6.0, 7.0)), HOLDS),
        ("gemm1-faster", ((0.9, 1.1), (1.9, 2.1)), FAILS),
        ("gemm1-faster", ((1.4, 1.6), (1.9, 2.1)), OPEN),
        ("gemm2-faster", ((0.9, 1.1), (1.9, 2.1)), HOLDS),
        ("gemm2-faster", ((0.9, 1.1), (0.7, 0.8)), FAILS),
        ("gemm2-faster", ((0.9, 1.1), (1.0, 1.2)), FAILS),
    ],
)
def test_speeds_are_judged_by_their_whole_interval(
    claim_id: str, ratios: tuple[tuple[float, float], ...], outcome: str
) -> None:
    contest = contest_of(claim_id)
    found = judge(claim_id, {contest: comparison(contest, *ratios)})
    assert found.outcome == outcome
    assert "times" in found.measured


def test_a_wrong_answer_or_a_stop_makes_speeds_worthless() -> None:
    contest = contest_of("two-to-five")
    found = judge("two-to-five", {contest: comparison(contest, (3.0, 3.1), verdict="wrong")})
    assert (found.outcome, "wrong" in found.reason) == (OPEN, True)
    assert judge("two-to-five", {contest: comparison(contest)}).outcome == OPEN
    failed = replace(comparison(contest), failure=Failure("launch", "Refused."))
    found = judge("two-to-five", {contest: failed})
    assert (found.outcome, "Refused." in found.reason) == (OPEN, True)


def test_event_times_hold_where_every_clock_is_trusted() -> None:
    contest = contest_of("event-times")
    ratios = ((1.0, 1.1), (1.9, 2.1), (5.0, 6.0))
    assert judge("event-times", {contest: comparison(contest, *ratios)}).outcome == HOLDS
    doubted = comparison(contest, *ratios, trust=HOST_USED)
    found = judge("event-times", {contest: doubted})
    assert (found.outcome, found.measured) == (FAILS, HOST_USED.sentence)


# --- occupancy


def test_what_is_about_gpus_or_cpus_is_not_tried_elsewhere() -> None:
    for claim_id in ("larger-tiles", "conflicts-cost", "eight-groups", "half-occupancy"):
        assert "CPU" in judge(claim_id, {}, CPU).reason
    assert "this is a GPU" in judge("little-on-cpus", {}, H200).reason


def test_larger_tiles_on_an_h200() -> None:
    answers: dict[Trial, Answer | Failure] = {
        **looked_at("larger-tiles"), **estimates("larger-tiles", {"tiling_tiled_fixed": 32})
    }  # fmt: skip
    found = judge("larger-tiles", answers, H200)
    assert found.outcome == HOLDS
    assert "TILE 32: a naive kernel asks 25.8 times as much of global memory" in found.measured
    pairs = [trial for trial in trials_of("larger-tiles") if isinstance(trial, Occupancy)]
    turned = {**answers, pairs[0]: answers[pairs[2]], pairs[2]: answers[pairs[0]]}
    assert judge("larger-tiles", turned, H200).outcome == FAILS


def test_eight_groups_are_a_budget_and_not_what_runs() -> None:
    found = judge("eight-groups", {**estimates("eight-groups", {"tradeoffs_tiled": 36})}, H200)
    assert found.outcome == FAILS
    assert "8 groups of TILE 32 and of 2 of TILE 64; a unit of this device holds 1 and 0" in (
        found.measured
    )
    (trial,) = trials_of("eight-groups")
    unknown = Device("AMD", "1", "unheard of", "GPU", local_mem_bytes=65536)
    budget = estimate_on(unknown, None, 1024, 8192)
    assert judge("eight-groups", {trial: budget}, unknown).outcome == OPEN


def test_the_faster_kernel_may_be_the_one_with_less_occupancy() -> None:
    contest = contest_of("half-occupancy")
    known = estimates("half-occupancy", {"tiled": 32, "register_2d": 128})
    for ratio, outcome in (((6.0, 6.5), FAILS), ((0.5, 0.6), HOLDS), ((0.9, 1.1), OPEN)):
        answers: dict[Trial, Answer | Failure] = {**known, contest: comparison(contest, ratio)}
        found = judge("half-occupancy", answers, H200)
        assert found.outcome == outcome
        assert "100 %" in found.measured
    same = estimates("half-occupancy", {"tiled": 32, "register_2d": 32})
    answers = {**same, contest: comparison(contest, (6.0, 6.5))}
    assert judge("half-occupancy", answers, H200).outcome == OPEN


def test_conflicts_cost_where_padding_makes_it_faster() -> None:
    contest = contest_of("conflicts-cost")
    for ratio, outcome in (((1.3, 1.4), HOLDS), ((0.99, 1.01), FAILS), ((1.0, 1.1), OPEN)):
        answers = {**looked_at("conflicts-cost"), contest: comparison(contest, ratio)}
        assert judge("conflicts-cost", answers, H200).outcome == outcome


def test_without_fewer_turns_no_speed_says_what_conflicts_cost() -> None:
    contest = contest_of("conflicts-cost")
    crowded, _ = (trial for trial in trials_of("conflicts-cost") if isinstance(trial, Lens))
    same = dict.fromkeys(looked_at("conflicts-cost"), accesses(crowded))
    for ratio in ((1.3, 1.4), (0.99, 1.01)):
        found = judge("conflicts-cost", {**same, contest: comparison(contest, ratio)}, H200)
        assert found.outcome == OPEN
        assert "save no turn" in found.reason
        assert "times" in found.measured


def test_outcomes_are_counted_in_words() -> None:
    made = [ClaimResult("a", "d", "s.", outcome, "", "") for outcome in (HOLDS, FAILS, FAILS)]
    assert count_outcomes(made) == "1 holds, 2 do not hold here, 0 cannot be tested here"
    assert count_outcomes(made[1:2]) == "0 hold, 1 does not hold here, 0 cannot be tested here"
