"""The screening of a race on samples that were made up."""

from __future__ import annotations

import numpy as np
import pytest

from gemmviz.core.model import Problem
from gemmviz.core.race import RESUMED_SLACK, Screening
from gemmviz.core.sweep import Configuration

PROBLEM = Problem(64, 64, 64)


def named(number: int) -> Configuration:
    return Configuration("any", (("N", number),), PROBLEM, 0)


def heat(**seconds: list[float]):  # type: ignore[no-untyped-def]
    """Times by ``n0=[...]``."""
    return {named(int(name[1:])): np.array(values) for name, values in seconds.items()}


def numbers(names) -> list[int]:  # type: ignore[no-untyped-def]
    return [dict(name.parameters)["N"] for name in names]


def quiet(middle: float) -> list[float]:
    return [middle, middle * 1.004, middle * 1.008]


def dropped(screening: Screening) -> list[int]:
    return numbers(each.configuration for each in screening.drop())


def test_who_is_clearly_slower_is_out_and_who_overlaps_stays() -> None:
    screening = Screening(4)
    screening.add_heat(heat(n0=quiet(1.0), n1=quiet(1.03), n2=quiet(1.5), n3=quiet(4.0)))
    out = screening.drop()
    assert numbers(each.configuration for each in out) == [2, 3]
    assert "Dropped after 3 samples: a launch takes 50 % longer than the best so far." in out[0].why
    assert "4 times as long as the best so far" in out[1].why
    assert numbers(screening.inside) == [0, 1]
    assert screening.leader == named(0)
    odds = screening.odds_of_dropped()
    assert 0 < odds[named(3)] <= odds[named(2)] < 0.01


def test_a_time_in_which_all_are_slow_drops_nobody() -> None:
    """The second heat falls into one: its leader shows it, and who is equal to it stays."""
    screening = Screening(3)
    screening.add_heat(heat(n0=quiet(1.0), n1=quiet(1.6)))
    screening.add_heat(heat(n0=quiet(2.0), n2=quiet(2.02)))
    assert dropped(screening) == [1]
    assert numbers(screening.inside) == [0, 2]


def test_leaders_are_linked_by_the_heat_in_which_one_beat_the_other() -> None:
    screening = Screening(3)
    screening.add_heat(heat(n0=quiet(1.0)))
    screening.add_heat(heat(n0=quiet(3.0), n1=quiet(2.4)))  # 0.8 of the leader, in a slow time
    assert screening.leader == named(1)
    screening.add_heat(heat(n1=quiet(0.8), n2=quiet(0.81)))
    assert numbers(screening.inside) == [1, 2, 0]
    assert dropped(screening) == [0]


def test_on_a_noisy_machine_more_stay() -> None:
    noisy = [1.0, 1.9, 1.3], [1.4, 2.5, 1.9], [1.1, 2.0, 1.7]
    screening = Screening(3)
    screening.add_heat(heat(n0=noisy[0], n1=noisy[1], n2=noisy[2]))
    assert dropped(screening) == []
    # Twice as slow, where a sample in two is: by three of them that may be chance.
    screening = Screening(40)
    times = {f"n{number}": [1.0, 1.0, 2.1] for number in range(4)}
    screening.add_heat(heat(**times, n5=[2.0, 2.05, 2.1]))
    screening.add_heat(heat(n0=[1.0, 1.0, 1.0], n5=[2.0, 2.05, 2.1]))
    assert screening.leader == named(0)
    assert dropped(screening) == []


def test_who_failed_is_forgotten_even_as_the_leader() -> None:
    screening = Screening(2)
    screening.add_heat(heat(n0=quiet(1.0), n1=quiet(1.2)))
    screening.forget([named(0)])
    assert screening.leader == named(1)
    assert dropped(screening) == []
    screening.forget([named(1)])
    assert screening.leader is None
    assert screening.drop() == ()
    assert screening.odds_of_dropped() == {}


def test_too_many_are_cut_to_the_fastest() -> None:
    screening = Screening(4)
    screening.add_heat(heat(n0=quiet(1.0), n1=quiet(1.001), n2=quiet(1.002), n3=quiet(1.003)))
    out = screening.drop_beyond(2)
    assert numbers(each.configuration for each in out) == [2, 3]
    assert "0.2 % longer" in out[0].why
    assert screening.odds_of_dropped()[named(2)] == pytest.approx(0.5)
    # That it is faster by more than counts as the same is another thing.
    screening = Screening(4, margin=0.02)
    screening.add_heat(heat(n0=quiet(1.0), n1=quiet(1.001), n2=quiet(1.002), n3=quiet(1.003)))
    screening.drop_beyond(2)
    assert screening.odds_of_dropped()[named(2)] < 0.01


def test_what_was_measured_another_day_says_less() -> None:
    screening = Screening(3)
    near, far = 0.98 * RESUMED_SLACK, 1.1 * RESUMED_SLACK
    screening.remember(heat(n0=quiet(1.0), n1=quiet(near), n2=quiet(far)))
    assert dropped(screening) == [2]
    assert numbers(screening.inside) == [0, 1]


def test_empty_times_are_no_heat() -> None:
    screening = Screening(1)
    screening.add_heat(heat(n0=[]))
    assert screening.leader is None


def test_of_two_equal_ones_hardly_ever_one_is_dropped() -> None:
    """Each launch is held up by chance, by as much as a second program does on two processors."""
    generator = np.random.default_rng(4)
    lost = far = 0
    for _ in range(300):
        screening = Screening(12)
        factors = {0: 1.0, 1: 1.0, **{number: 2.0 + number for number in range(2, 12)}}
        screening.add_heat(
            {
                named(number): factor * np.exp(generator.normal(0.0, 0.25, 3))
                for number, factor in factors.items()
            }
        )
        out = dropped(screening)
        lost += bool({0, 1} & set(out))
        far += len(out)
    assert lost <= 2
    assert far > 0.9 * 300 * 10
