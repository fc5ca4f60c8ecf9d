"""What the article on memory trade-offs says, and how each statement is tried."""

from __future__ import annotations

import math

from gemmviz.core.claim import (
    Choice,
    Claim,
    Contest,
    Evidence,
    Judgement,
    Lens,
    Occupancy,
    Run,
    Untestable,
    gpus_alone,
    times,
)
from gemmviz.core.claim_counts import elements_of_group, global_accesses
from gemmviz.core.claim_tiling import COALESCED, NAIVE_CONTEST, TILED
from gemmviz.core.occupancy import estimate_on
from gemmviz.core.paired import Versus
from gemmviz.core.units import memory, percent

_DOCUMENT = "OpenCL Memory Trade-offs: When Local Memory Beats Global"
_POOL_BYTES = 64 * 1024
_TILE16 = Lens(Choice("tradeoffs_tiled", (("TS", 16),)), (64, 64, 64))
_STEPS = 64 // 16
_SPEEDS = Contest((Choice("tradeoffs_naive"), Choice("tradeoffs_tiled")))
_TILE32 = Occupancy(Choice("tradeoffs_tiled", (("TS", 32),)))
_LENSES = tuple(
    Lens(Choice("tradeoffs_tiled", (("TS", edge),)), (64, 64, 64)) for edge in (8, 16, 32)
)
_TILES_BYTES = 2 * 16 * 16 * 4  # of the kernel itself, beside all that the device has
_OVER = Run(Choice("tiled"), (48, 48, 48), over_local=True)
_SIZES = Contest(
    (
        Choice("tiled", (("TS", 16),)),
        Choice("register_2d", (("BM", 128), ("BN", 128), ("BK", 16), ("TM", 8), ("TN", 8))),
    )
)
_RESIDENT = tuple(Occupancy(choice) for choice in _SIZES.choices)


def _eightfold(evidence: Evidence) -> Judgement:
    report = evidence.accesses(_TILE16)
    loads = elements_of_group(global_accesses(report, "load")) / _STEPS
    flop = report.executed_flop / report.groups / _STEPS
    # A multiply-add of the naive kernel takes two loads.
    cut = flop / loads
    measured = (
        f"A step of TILE 16 makes {loads:.0f} loads for {flop:.0f} FLOP, {cut:.3g} FLOP a load "
        f"against the naive kernel's 1: {cut:.3g} times fewer loads."
    )
    holds = (loads, flop, cut) == (512, 4096, 8)
    multiply_adds = flop / 2
    reason = (
        f"{multiply_adds:.0f} multiply-adds are {flop:.0f} FLOP, for each multiplies and adds; the "
        "cut is by the edge of the tile."
    )
    return Judgement(holds, measured, reason)


def _two_to_five(evidence: Evidence) -> Judgement:
    versus = evidence.versus(_SPEEDS, 1)
    measured = (
        f"tradeoffs_tiled is {times(versus)} as fast as tradeoffs_naive at "
        f"{evidence.size(_SPEEDS)}."
    )
    place = _place(versus)
    if place == "between":
        return Judgement(True, measured, "The whole interval lies between 2 and 5.")
    if not place:
        raise Untestable("The noise of the times leaves open whether it is between.", measured)
    return Judgement(False, measured, f"The whole interval lies {place}.")


def _place(versus: Versus) -> str:
    """Where the interval of a ratio lies against 2 and 5; "" where it is on both sides of one."""
    if versus.ratio_high < 2:
        return "below 2"
    if versus.ratio_low > 5:
        return "above 5"
    return "between" if versus.ratio_low >= 2 and versus.ratio_high <= 5 else ""


def _by_local_memory(evidence: Evidence) -> Judgement:
    coalesced, tiled = (evidence.versus(NAIVE_CONTEST, place) for place in (COALESCED, TILED))
    measured = (
        f"Against the naive kernel, exchanging the axes alone is {times(coalesced)} as fast, tiles "
        f"with them {times(tiled)}, at {evidence.size(NAIVE_CONTEST)}."
    )
    if tiled.ratio_low <= 1.05:
        raise Untestable("The tiles bring no gain here that could be shared out.", measured)
    least = _share_of_tiles(coalesced.ratio_high, tiled.ratio_low)
    most = _share_of_tiles(coalesced.ratio_low, tiled.ratio_high)
    if least < 0.5 <= most:
        raise Untestable("The noise of the times leaves open whether it is half or more.", measured)
    share = _share_of_tiles(coalesced.ratio, tiled.ratio)
    reason = (
        f"{percent(share)} of the gain, counted in factors, is left for the tiles; the rest comes "
        "with the axes, which the article's two kernels map differently."
    )
    return Judgement(least >= 0.5, measured, reason)


def _share_of_tiles(coalesced: float, tiled: float) -> float:
    """How much of the logarithm of a speed-up the exchanged axes do not account for, 0 to 1."""
    return min(1.0, max(0.0, 1 - math.log(coalesced) / math.log(tiled)))


def _eight_groups(evidence: Evidence) -> Judgement:
    small = evidence.estimate(_TILE32)
    large = estimate_on(evidence.device, evidence.limits, 64 * 64, 2 * 64 * 64 * 4)
    budget = [_POOL_BYTES // (2 * edge * edge * 4) for edge in (32, 64)]
    groups = [small.groups_per_unit, large.groups_per_unit]
    measured = (
        f"{memory(_POOL_BYTES)} hold the tiles of {budget[0]} groups of TILE 32 and of {budget[1]} "
        f"of TILE 64; a unit of this device holds {groups[0]} and {groups[1]}."
    )
    limited = " and ".join(small.limiters)
    reason = (
        "The budget of local memory is what limits them."
        if groups == budget
        else f"As a budget of local memory the figures are right; TILE 32 is limited by {limited}, "
        f"and TILE 64 {'would need groups of 4096 work-items' if not groups[1] else 'likewise'}."
    )
    return Judgement(groups == budget, measured, reason)


def _conflict_free(evidence: Evidence) -> Judgement:
    worst = {}
    broadcasts = False
    for lens in _LENSES:
        report = evidence.accesses(lens)
        local = [each for each in report.accesses if each.space == "local"]
        worst[dict(lens.choice.parameters)["TS"]] = max((each.passes or 0) for each in local)
        broadcasts = broadcasts or any("As" in each.array and each.kind == "load" and
                                       each.passes == 1 for each in local)  # fmt: skip
    measured = "Most turns of the banks in one access: " + ", ".join(
        f"{passes} at TILE {edge}" for edge, passes in worst.items()
    )
    holds = all(passes == 1 for passes in worst.values())
    reason = "Some accesses have conflicts."
    if holds:
        reason = "A row of Bs lies on banks of its own."
        if broadcasts:
            reason += (
                " As[ty][k] is free for another reason than the one given: its neighbours read the "
                "same word, which is a broadcast."
            )
    return Judgement(holds, f"{measured}.", reason)


def _no_launch(evidence: Evidence) -> Judgement:
    result = evidence.result(_OVER)
    limit = evidence.device.local_mem_bytes or 0
    much = f"With {memory(_TILES_BYTES)} more local memory than the {memory(limit)} of the device"
    if result.stopped:
        raise Untestable("It was stopped before this was tried.")
    if result.verdict in ("verified", "wrong"):
        return Judgement(
            False,
            f"{much} the kernel ran, and its answer is "
            f"{'right' if result.verdict == 'verified' else 'wrong'}.",
            "The driver does not hold launches to the size it reports.",
        )
    failure = result.failure
    if failure is None:
        raise Untestable("The launch came to no end.")
    if failure.kind not in ("launch", "build", "out_of_memory", "driver", "crash"):
        raise Untestable(failure.sentence)
    return Judgement(
        True,
        f"{much}: {failure.sentence}",
        "The driver refuses it."
        if failure.kind != "crash"
        else "It does not run, and takes the process with it.",
    )


def _half_occupancy(evidence: Evidence) -> Judgement:
    versus = evidence.versus(_SIZES, 1)
    small, large = (evidence.estimate(trial).occupancy or 0.0 for trial in _RESIDENT)
    measured = (
        f"The kernel at occupancy {percent(large)} is {times(versus)} as fast as the one at "
        f"{percent(small)}, at {evidence.size(_SIZES)}."
    )
    if not large < 0.5 <= small:
        raise Untestable("Of the two kernels not just one is below half occupancy here.", measured)
    if versus.ratio_low <= 1 <= versus.ratio_high:
        raise Untestable("The noise of the times leaves open which one is faster.", measured)
    holds = versus.ratio_high < 1
    reason = (
        "More resident work hides more waiting here."
        if holds
        else "Independent work within each work-item hides waiting as well: a large tile in "
        "registers is worth more than the occupancy it costs."
    )
    return Judgement(holds, measured, reason)


CLAIMS = (
    Claim(
        "eightfold",
        _DOCUMENT,
        "A step with TILE 16 makes 512 loads for 4096 FLOP, 8 times fewer a FLOP than naive.",
        (_TILE16,),
        _eightfold,
    ),
    Claim(
        "two-to-five",
        _DOCUMENT,
        "The tiled kernel is 2 to 5 times as fast as the naive one.",
        (_SPEEDS,),
        _two_to_five,
    ),
    Claim(
        "by-local-memory",
        _DOCUMENT,
        "What makes the tiled kernel faster than the naive one is local memory.",
        (NAIVE_CONTEST,),
        _by_local_memory,
    ),
    Claim(
        "eight-groups",
        _DOCUMENT,
        "Of 64 KiB of local memory a unit runs 8 groups with TILE 32, and 2 with TILE 64.",
        (_TILE32,),
        _eight_groups,
        gpus_alone,
    ),
    Claim(
        "conflict-free",
        _DOCUMENT,
        "With a power of two for TILE the sums have no bank conflicts.",
        _LENSES,
        _conflict_free,
    ),
    Claim(
        "no-launch",
        _DOCUMENT,
        "A kernel that needs more than CL_DEVICE_LOCAL_MEM_SIZE is not launched.",
        (_OVER,),
        _no_launch,
    ),
    Claim(
        "half-occupancy",
        _DOCUMENT,
        "Below about half occupancy, smaller tiles or groups are faster.",
        (_SIZES, *_RESIDENT),
        _half_occupancy,
        gpus_alone,
    ),
)
