"""What the article on tiling with local memory says, and how each statement is tried."""

from __future__ import annotations

from gemmviz.core.claim import (
    Choice,
    Claim,
    Contest,
    Evidence,
    Judgement,
    Lens,
    Occupancy,
    Run,
    Simulation,
    Untestable,
    above,
    at,
    cpus_alone,
    gpus_alone,
    times,
)
from gemmviz.core.claim_counts import loads_of_cell, multiply_adds_of_cell, right_at
from gemmviz.core.model import Result
from gemmviz.core.races import RaceReport
from gemmviz.core.units import percent

_DOCUMENT = "Tiling Matrix Multiplication in OpenCL with __local Memory"
_RAGGED = (41, 35, 45)
_WHOLE = (48, 48, 48)
_SMALL = (19, 18, 21)  # three tiles of 8 each way, none of them whole at the end

_NAIVE = Lens(Choice("tiling_naive"), (32, 64, 48))
NAIVE_CONTEST = Contest(
    (
        Choice("tiling_naive"),
        Choice("naive_coalesced"),
        Choice("tiled", (("TS", 16),)),
        Choice("register_2d"),
    )
)
COALESCED, TILED, BLOCKED = 1, 2, 3
"""Places in NAIVE_CONTEST."""

_TS8 = (("TS", 8),)
_WITH_BARRIERS = Simulation(Choice("tiled", _TS8), _SMALL)
_WITHOUT = tuple(
    (Simulation(Choice(kernel, _TS8), _SMALL), Run(Choice(kernel), _RAGGED), words)
    for kernel, words in (
        ("no_first_barrier", "without the barrier behind the copies"),
        ("no_second_barrier", "without the one behind the sums"),
    )
)
_TILED_RUNS = (Run(Choice("tiling_tiled"), _WHOLE), Run(Choice("tiling_tiled"), _RAGGED))
_FILLED = Run(Choice("tiling_tiled_fixed"), _RAGGED)
_UNFILLED = Run(Choice("no_zero_fill"), _RAGGED)
_EDGES = (8, 16, 32)
_OCCUPANCIES = tuple(Occupancy(Choice("tiling_tiled_fixed", (("TS", edge),))) for edge in _EDGES)
_REUSES = tuple(
    Lens(Choice("tiling_tiled_fixed", (("TS", edge),)), (64, 64, 64)) for edge in _EDGES
)


def _naive_loads(evidence: Evidence) -> Judgement:
    report = evidence.accesses(_NAIVE)
    m, n, k = _NAIVE.shape
    sums, loads = multiply_adds_of_cell(report, m * n), loads_of_cell(report)
    measured = f"{sums:g} multiply-adds and {loads:g} loads a cell {at(_NAIVE.shape)}."
    holds = (sums, loads) == (n, 2 * n)
    if (sums, loads) == (k, 2 * k):
        return Judgement(
            holds, measured, "Both follow K, the length of the sums, and not N, the width of C."
        )
    return Judgement(holds, measured, f"{n} and {2 * n} would be N and 2N.")


def _memory_bound(evidence: Evidence) -> Judgement:
    place = max(TILED, BLOCKED, key=lambda place: evidence.versus(NAIVE_CONTEST, place).ratio)
    versus = evidence.versus(NAIVE_CONTEST, place)
    name = NAIVE_CONTEST.choices[place].name
    measured = (
        f"{name}, the same multiply-adds with a sixteenth of the loads or fewer, is "
        f"{times(versus)} as fast as the naive kernel at {evidence.size(NAIVE_CONTEST)}."
    )
    holds = above(versus, 1.25, measured)
    reason = (
        "The arithmetic alone can go that much faster, so it is the loads that the naive kernel "
        "waits for."
        if holds
        else "With fewer loads it is hardly faster: they are not what holds it up, or what takes "
        "their place here costs as much."
    )
    return Judgement(holds, measured, reason)


def _both_barriers(evidence: Evidence) -> Judgement:
    right = evidence.races(_WITH_BARRIERS)
    parts, found = [], []
    for simulation, run, words in _WITHOUT:
        races = _races(evidence.races(simulation))
        found.append(bool(races))
        parts.append(f"{words}: {races or 'no data race'}{_on_device(evidence, run)}")
    clean = not _races(right)
    parts.append(f"with both: {'no data race' if clean else 'a data race'}")
    measured = _joined(parts)
    if all(found) and clean:
        reason = (
            "Each barrier alone leaves a race. A right answer proves nothing: a driver that runs "
            "work-items one after another hides it."
        )
    else:
        reason = "The simulator does not tell the kernels apart as the statement would have it."
    return Judgement(all(found) and clean, measured, reason)


def _races(report: RaceReport) -> str:
    lines = sorted({line for f in report.findings if f.kind == "data race" for line in f.lines})
    return f"a data race (lines {', '.join(map(str, lines))})" if lines else ""


def _on_device(evidence: Evidence, run: Run) -> str:
    """What the device itself answers, for a part of a sentence."""
    try:
        verdict = evidence.checked(run).verdict
    except Untestable:
        return ""
    right = verdict == "verified"
    return f", {'yet' if right else 'and'} this device's answer is {'right' if right else 'wrong'}"


def _joined(parts: list[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _tiled_is_right(evidence: Evidence) -> Judgement:
    results = [evidence.checked(run) for run in _TILED_RUNS]
    return right_at(results, "A is read with the same local id for its row and for k, so that a "
                    "tile holds a diagonal of it.")  # fmt: skip


def _zero_fill(evidence: Evidence) -> Judgement:
    filled, unfilled = evidence.checked(_FILLED), evidence.checked(_UNFILLED)
    measured = (
        f"{_word('With zeros', filled)}, {_word('without', unfilled)}, {at(_RAGGED)} with tiles "
        "of 16."
    )
    holds = filled.verdict == "verified" and unfilled.verdict == "wrong"
    reason = (
        "Zeros add nothing to the sums; what a tile held before does."
        if holds
        else "The two kernels differ in nothing but the zeros."
    )
    return Judgement(holds, measured, reason)


def _word(what: str, result: Result) -> str:
    return f"{what} the answer is {'right' if result.verdict == 'verified' else 'wrong'}"


def _larger_tiles(evidence: Evidence) -> Judgement:
    groups = [evidence.estimate(trial).groups_per_unit or 0 for trial in _OCCUPANCIES]
    reuses = [evidence.accesses(trial).reuse or 0.0 for trial in _REUSES]
    shares = [evidence.estimate(trial).occupancy or 0.0 for trial in _OCCUPANCIES]
    measured = "; ".join(
        f"TILE {edge}: a naive kernel asks {reuse:.3g} times as much of global memory, {count} "
        f"groups a unit, occupancy {percent(share)}"
        for edge, reuse, count, share in zip(_EDGES, reuses, groups, shares, strict=True)
    )
    holds = reuses == sorted(set(reuses)) and groups == sorted(groups, reverse=True)
    lower = shares[-1] < shares[0]
    reason = (
        "Reuse grows with the edge and fewer groups fit; occupancy "
        + ("falls with them." if lower else "need not fall, since each group is larger.")
        if holds
        else "Reuse and resident groups do not go opposite ways here."
    )
    return Judgement(holds, f"{measured}.", reason)


def _little_on_cpus(evidence: Evidence) -> Judgement:
    versus = evidence.versus(NAIVE_CONTEST, TILED)
    measured = (
        f"tiled TS=16 is {times(versus)} as fast as the naive kernel at "
        f"{evidence.size(NAIVE_CONTEST)}."
    )
    gains = above(versus, 1.25, measured)
    reason = (
        "More than a quarter is no small gain: blocking pays for a cache as well."
        if gains
        else "A gain below a quarter, if any."
    )
    return Judgement(not gains, measured, reason)


def _events(evidence: Evidence) -> Judgement:
    results = evidence.comparison(NAIVE_CONTEST).results
    trusts = [result.trust for result in results if result.trust is not None]
    if not trusts:
        raise Untestable("No run compared the device's clock with the host's.")
    worst = next((trust for trust in trusts if trust.badge != "events trusted"), trusts[0])
    reason = (
        "Start and end of each launch agree with the host's clock around it."
        if worst.badge == "events trusted"
        else "Here the host's clock had to time the launches, or the two clocks disagree."
    )
    return Judgement(worst.badge == "events trusted", worst.sentence, reason)


CLAIMS = (
    Claim(
        "naive-loads",
        _DOCUMENT,
        "A cell of the naive product costs N multiply-adds and 2N loads from global memory.",
        (_NAIVE,),
        _naive_loads,
    ),
    Claim(
        "naive-waits",
        _DOCUMENT,
        "The naive kernel is held up by memory, not by arithmetic.",
        (NAIVE_CONTEST,),
        _memory_bound,
    ),
    Claim(
        "both-barriers",
        _DOCUMENT,
        "A tiled kernel needs a barrier behind the copies and another behind the sums.",
        (_WITH_BARRIERS, *(trial for pair in _WITHOUT for trial in pair[:2])),
        _both_barriers,
    ),
    Claim(
        "tiling-right",
        _DOCUMENT,
        "The article's kernel with tiles of 16 computes the product at any size.",
        _TILED_RUNS,
        _tiled_is_right,
    ),
    Claim(
        "zero-fill",
        _DOCUMENT,
        "Filling up edge tiles with zeros makes sizes right that are no multiples of the tile.",
        (_FILLED, _UNFILLED),
        _zero_fill,
    ),
    Claim(
        "larger-tiles",
        _DOCUMENT,
        "A larger tile uses each load more often and lets fewer groups share a compute unit.",
        (*_OCCUPANCIES, *_REUSES),
        _larger_tiles,
        gpus_alone,
    ),
    Claim(
        "little-on-cpus",
        _DOCUMENT,
        "On a CPU explicit tiles bring little or nothing.",
        (NAIVE_CONTEST,),
        _little_on_cpus,
        cpus_alone,
    ),
    Claim(
        "event-times",
        _DOCUMENT,
        "The start and end that a profiling event tells are the time of a launch.",
        (NAIVE_CONTEST,),
        _events,
    ),
)
