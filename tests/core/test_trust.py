from __future__ import annotations

import numpy as np
import pytest

from gemmviz.core.trust import Evidence, TimerTrust


def judged(scale: float, batches: int = 40, waits=None, launches: int = 10) -> TimerTrust:
    """Batches of launches of 1 ms by a clock that counts ``scale``; the host waits a bit longer."""
    evidence = Evidence()
    for wait in np.full(batches, 2e-4) if waits is None else waits:
        busy = launches * 1e-3
        evidence.add([scale * 1e-3] * launches, scale * busy, busy + wait)
    return evidence.judge()


@pytest.mark.parametrize(
    ("scale", "source", "badge"),
    [
        (1.0, "events", "events trusted"),
        (0.9, "events", "events trusted"),
        (0.75, "events", "suspicious"),
        (0.5, "host", "host timing used"),
        (1e-3, "host", "host timing used"),
        (0.0, "host", "host timing used"),
        (1.1, "host", "host timing used"),
        (1e3, "host", "host timing used"),
        (-1.0, "host", "host timing used"),
    ],
)
def test_clock_is_judged_by_how_much_of_the_hosts_time_it_counts(scale, source, badge):
    trust = judged(scale)
    assert (trust.source, trust.badge) == (source, badge)
    assert trust.launches == 400
    assert trust.ratio == pytest.approx(scale * 10 / 10.2)
    assert trust.reversed == (400 if scale < 0 else 0)
    assert trust.zero == (400 if scale == 0 else 0)


def test_sentence_bears_the_number():
    assert "0.5 of the host's time" in judged(0.51).sentence
    assert "400 of 400 launches" in judged(0.0).sentence


def test_half_of_the_batches_preempted_leave_trust():
    waits = np.where(np.arange(60) % 2, 0.05, 1e-4)
    trust = judged(1.0, waits=waits)
    assert trust.badge == "events trusted"
    assert trust.ratio > 0.98


def test_a_slow_clock_does_not_hide_behind_preempted_batches():
    waits = np.where(np.arange(60) % 2, 0.05, 1e-4)
    assert judged(0.5, waits=waits).source == "host"


def test_a_fast_clock_does_not_hide_behind_a_few_preempted_batches():
    waits = np.where(np.arange(60) % 4, 1e-4, 0.05)
    trust = judged(1.3, waits=waits)
    assert trust.source == "host"
    assert trust.ratio > 1.2


@pytest.mark.parametrize("bad", [0.0, -1e-4])
@pytest.mark.parametrize(
    ("share", "badge"), [(0.05, "suspicious"), (0.1, "suspicious"), (0.2, "host timing used")]
)
def test_launches_that_take_no_time_or_less_count_against_the_clock(bad, share, badge):
    evidence = Evidence()
    for _ in range(10):
        wrong = round(20 * share)
        evidence.add([bad] * wrong + [1e-3] * (20 - wrong), 0.02, 0.0202)
    trust = evidence.judge()
    assert trust.badge == badge
    assert trust.reversed + trust.zero == 200 * share
    assert (trust.zero if bad == 0 else trust.reversed) == 200 * share


@pytest.mark.parametrize("batch", [None, ([], 0.0, 1.0), ([1e-3], 1e-3, 0.0)])
def test_without_a_batch_of_both_clocks_events_are_suspicious(batch):
    evidence = Evidence()
    if batch:
        evidence.add(*batch)
    trust = evidence.judge()
    assert (trust.source, trust.badge, trust.ratio) == ("events", "suspicious", None)
    assert trust.sentence
