"""The finals of a race on samples that were made up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gemmviz.core.finals import Finals, judge
from gemmviz.core.model import Problem, Samples
from gemmviz.core.policy import QUICK, STANDARD, Policy, fixed
from gemmviz.core.sweep import Configuration

NAMES = tuple(Configuration("any", (("N", n),), Problem(64, 64, 64), 0) for n in range(4))
MARGIN = 0.02
GENERATOR = np.random.default_rng(5)


def times(factor: float, rounds: int, noise: float = 0.0, common: object = 1.0):  # type: ignore[no-untyped-def]
    """Seconds round by round; ``common`` is what disturbs all alike."""
    return 1e-3 * factor * (1 + noise * GENERATOR.random(rounds)) * common


def samples(seconds) -> Samples:  # type: ignore[no-untyped-def]
    return Samples((1,) * len(seconds), tuple(seconds), tuple(np.cumsum(seconds)))


def test_the_best_set_holds_what_cannot_be_told_apart() -> None:
    common = 1 + GENERATOR.random(200)  # a machine that is up to twice as slow, for all alike
    found = judge(
        {NAMES[0]: times(1.3, 200, 0.01, common), NAMES[1]: times(1.0, 200, 0.01, common),
         NAMES[2]: times(1.001, 200, 0.01, common)}, MARGIN,
    )  # fmt: skip
    assert found is not None
    assert set(found.best) == {NAMES[1], NAMES[2]}
    assert found.versus[NAMES[0]].word == "slower"
    assert found.ratios[NAMES[0]] == pytest.approx(1 / 1.3, rel=0.01)


def test_of_equals_the_first_of_the_plan_is_taken_every_time() -> None:
    for _ in range(20):
        equal = {name: times(1.0, 60, 0.004) for name in NAMES}
        found = judge(equal, MARGIN)
        assert found is not None
        assert found.recommended == NAMES[0]
        assert found.ratios[NAMES[0]] == 1.0
        assert set(found.best) == set(NAMES)


def test_few_rounds_tell_nothing_apart() -> None:
    found = judge({NAMES[0]: times(1.0, 3, 0.3), NAMES[1]: times(1.05, 3, 0.3)}, MARGIN)
    assert found is not None
    assert set(found.best) == set(NAMES[:2])
    assert len(found.open) == 1
    assert judge({}, MARGIN) is None


def test_who_is_slower_in_each_round_leaves_and_the_rest_is_decided() -> None:
    finals = Finals(NAMES[:3], QUICK)
    rounds = finals.rounds_to_come()
    assert rounds == 3
    finals.add({NAMES[0]: samples(times(1.0, rounds, 0.01)),
                NAMES[1]: samples(times(1.6, rounds, 0.01)),
                NAMES[2]: samples(times(1.01, rounds, 0.01))})  # fmt: skip
    assert finals.drop() == (NAMES[1],)
    assert finals.racing == (NAMES[0], NAMES[2])
    looks = 0
    while not finals.over(0.1):
        more = finals.rounds_to_come()
        finals.add({name: samples(times(1.0, more, 0.01)) for name in finals.racing})
        finals.drop()
        looks += 1
    assert 0 < looks < 40
    standing = finals.standing()
    assert standing is not None
    assert standing.recommended == NAMES[0]
    assert NAMES[1] not in standing.best


def test_a_round_that_is_not_whole_counts_for_nothing() -> None:
    finals = Finals(NAMES[:2], QUICK)
    finals.add({NAMES[0]: samples(times(1.0, 8)), NAMES[1]: samples(times(1.0, 5))})
    standing = finals.standing()
    assert standing is not None
    assert standing.versus[NAMES[1]].rounds == 5


def test_the_limit_ends_what_cannot_be_decided() -> None:
    finals = Finals(NAMES[:2], STANDARD)
    assert not finals.over(1.0)
    finals.add({NAMES[0]: samples(times(1.0, 9, 1.0)), NAMES[1]: samples(times(1.0, 9, 1.0))})
    assert not finals.over(1.0)
    assert finals.over(STANDARD.limit_seconds)


def test_one_alone_is_measured_by_the_policy() -> None:
    finals = Finals(NAMES[:1], replace(STANDARD, min_seconds=0.01))
    finals.add({NAMES[0]: samples(times(1.0, 5))})
    assert not finals.over(0.1)
    finals.add({NAMES[0]: samples(times(1.0, 15))})
    assert finals.over(0.2)


def test_so_many_launches_as_the_policy_wants() -> None:
    finals = Finals(NAMES[:2], fixed(10))
    finals.add({name: samples(times(1.0, 9)) for name in NAMES[:2]})
    assert not finals.over(1.0)
    finals.add({name: samples(times(1.0, 1)) for name in NAMES[:2]})
    assert finals.over(1.0)


def test_who_failed_leaves_without_a_trace() -> None:
    finals = Finals(NAMES[:2], QUICK)
    finals.add({name: samples(times(1.0, 9)) for name in NAMES[:2]})
    finals.leave((NAMES[0],))
    standing = finals.standing()
    assert standing is not None
    assert standing.best == (NAMES[1],)
    finals.leave((NAMES[1],))
    assert finals.over(0.0)
    assert finals.standing() is None


def test_where_the_fastest_failed_those_that_it_beat_stay() -> None:
    finals = Finals(NAMES[:3], QUICK)
    factors = dict(zip(NAMES, (1.0, 2.0, 3.0), strict=False))
    finals.add({name: samples(times(factors[name], 20)) for name in NAMES[:3]})
    assert set(finals.drop()) == set(NAMES[1:3])
    finals.leave((NAMES[0],))
    assert finals.over(0.0)
    standing = finals.standing()
    assert standing is not None
    assert standing.best == (standing.recommended,) == (NAMES[1],)


def noisy(generator: np.random.Generator, factor: float, rounds: int, spread: float) -> list[float]:
    return (1e-3 * factor * np.exp(generator.normal(0.0, spread, rounds))).tolist()


def held(
    seed: int, factors: tuple[float, ...], spread: float, policy: Policy
) -> tuple[Finals, int]:
    """Finals of kernels whose times scatter so much and whose work does ten times less."""
    generator = np.random.default_rng(seed)
    finals, rounds = Finals(NAMES[: len(factors)], policy), 0
    while not finals.over(0.0):
        more = finals.rounds_to_come()
        rounds += more
        own = dict(zip(NAMES, factors, strict=False))
        racing = finals.racing
        finals.add(
            {name: samples(noisy(generator, own[name], more, spread)) for name in racing},
            {name: noisy(generator, own[name], more, spread / 10) for name in racing},
        )
        finals.drop()
    return finals, rounds


BUSY = replace(STANDARD, min_seconds=0.0)


def test_on_a_busy_machine_the_same_is_recommended_each_time() -> None:
    taken = []
    for seed in range(20):
        finals, rounds = held(seed, (1.044, 1.0, 1.3), 0.25, BUSY)
        assert rounds < 2000
        standing = finals.standing()
        assert standing is not None
        assert standing.recommended in standing.best
        taken.append(standing.recommended)
    assert taken == [NAMES[1]] * 20


def test_a_quiet_machine_is_soon_done_and_a_busy_one_earns_more_rounds() -> None:
    _, quiet = held(1, (1.0, 1.001), 0.01, BUSY)
    assert quiet <= 30  # the first look that may end it is after 28
    _, busy = held(1, (1.0, 1.001), 0.25, BUSY)
    assert busy > 3 * quiet


def test_who_is_behind_rests_and_is_still_among_those_that_cannot_be_told_apart() -> None:
    finals = Finals(NAMES[:3], BUSY)
    generator = np.random.default_rng(8)
    wide = {name: samples(noisy(generator, 1.0, 40, 0.3)) for name in NAMES[:3]}
    work = {NAMES[0]: [1.05] * 40, NAMES[1]: [1.0] * 40, NAMES[2]: [1.001] * 40}
    finals.add(
        wide, {name: noisy(generator, values[0], 40, 0.002) for name, values in work.items()}
    )
    standing = finals.standing()
    assert standing is not None
    assert standing.behind[NAMES[0]].log_ratio > 3.3 * standing.behind[NAMES[0]].error
    assert finals.drop() == ()
    assert NAMES[0] not in finals.racing
    after = finals.standing()
    assert after is not None
    assert NAMES[0] in after.best
    assert after.recommended in finals.racing
