"""What the column-major kernels' comments say, and how each statement is tried."""

from __future__ import annotations

from gemmviz.core.access.report import AccessReport
from gemmviz.core.claim import (
    Choice,
    Claim,
    Contest,
    Evidence,
    Judgement,
    Lens,
    Run,
    above,
    at,
    times,
)
from gemmviz.core.claim_counts import (
    access_to,
    loads_of_cell,
    multiply_adds_of_cell,
    right_at,
    shared_by_neighbours,
    stores_of_cell,
)
from gemmviz.core.paired import Versus

_DOCUMENT = "myGEMM.cl"
_COUNTED = Lens(Choice("mygemm_1"), (32, 64, 48))
_SPEEDS = Contest((Choice("mygemm_1b"), Choice("mygemm_1"), Choice("mygemm_2")))
_LENSES = tuple(Lens(Choice(kernel), (64, 64, 64)) for kernel in ("mygemm_1", "mygemm_1b"))
_EXPECTED = ("AC", "B")
_RUNS = (Run(Choice("mygemm_2"), (48, 32, 64)), Run(Choice("mygemm_2"), (48, 32, 40)))


def _counts(evidence: Evidence) -> Judgement:
    report = evidence.accesses(_COUNTED)
    m, n, k = _COUNTED.shape
    sums = multiply_adds_of_cell(report, m * n)
    loads, stores = loads_of_cell(report), stores_of_cell(report)
    measured = (
        f"{sums:g} multiply-adds, {loads:g} loads and {stores:g} store a cell "
        f"{at(_COUNTED.shape)}: {sums / (loads + stores):.3g} multiply-adds an access."
    )
    holds = (sums, loads, stores) == (k, 2 * k, 1)
    return Judgement(holds, measured, f"K is {k} here, so K, 2K and 1 are {k}, {2 * k} and 1.")


def _much_faster(evidence: Evidence) -> Judgement:
    versus = evidence.versus(_SPEEDS, 1)
    measured = f"mygemm_1 is {times(versus)} as fast as mygemm_1b at {evidence.size(_SPEEDS)}."
    holds = above(versus, 1.5, measured)
    reason = (
        "The order of the two dimensions is all that differs: neighbours in dimension 0 run "
        "together."
        if holds
        else "The order of the two dimensions matters little where a group's work-items run one "
        "after another, as they do on a CPU."
        if evidence.device.type == "CPU"
        else "The order of the two dimensions makes less than half as much again."
    )
    return Judgement(holds, measured, reason)


def _lines(evidence: Evidence) -> Judgement:
    first, exchanged = (evidence.accesses(lens) for lens in _LENSES)
    shared = [_shared(report) for report in (first, exchanged)]
    measured = "; ".join(
        f"{lens.choice.kernel}: {_sectors(report)}"
        for lens, report in zip(_LENSES, (first, exchanged), strict=True)
    )
    holds = tuple(shared) == _EXPECTED
    named = [", ".join(names) or "nothing" for names in shared]
    return Judgement(
        holds,
        f"32-byte sectors that a warp of {first.machine.warp} touches in one access: {measured}.",
        f"By that neighbours share {named[0]} in mygemm_1 and {named[1]} in mygemm_1b"
        + ("." if holds else "; a line of B that one work-item comes back to is another matter."),
    )


def _shared(report: AccessReport) -> str:
    """The matrices whose memory a warp's work-items read or write together."""
    warp = report.machine.warp
    return "".join(name for name in "ABC" if shared_by_neighbours(access_to(report, name), warp))


def _sectors(report: AccessReport) -> str:
    return ", ".join(f"{name} {access_to(report, name).sectors}" for name in "ABC")


def _whole_product(evidence: Evidence) -> Judgement:
    return right_at(
        [evidence.checked(run) for run in _RUNS],
        "K / TS is rounded down, so what is left of K behind the last whole tile never counts.",
    )


def _by_hand(evidence: Evidence) -> Judgement:
    comparison = evidence.comparison(_SPEEDS)
    ratio = _between(comparison.versus)
    measured = (
        f"mygemm_2 is {ratio:.3g} times as fast as mygemm_1 at {evidence.size(_SPEEDS)}, by their "
        "ratios to mygemm_1b."
    )
    apart = (
        comparison.versus[1].ratio_low > comparison.versus[0].ratio_high
        or comparison.versus[1].ratio_high < comparison.versus[0].ratio_low
    )
    holds = apart and ratio > 1
    if not apart:
        return Judgement(False, measured, "Their intervals overlap: no difference is sure.")
    reason = (
        "What a group copies once into local memory, it need not find in the cache again."
        if holds
        else "The cache does better alone."
    )
    return Judgement(holds, measured, reason)


def _between(versus: tuple[Versus, ...]) -> float:
    """The third kernel against the second, both known against the first."""
    return versus[1].ratio / versus[0].ratio


CLAIMS = (
    Claim(
        "gemm1-counts",
        _DOCUMENT,
        "Each cell of the naive kernel costs 2K loads, one store and K multiply-adds.",
        (_COUNTED,),
        _counts,
    ),
    Claim(
        "gemm1-faster",
        _DOCUMENT,
        "myGEMM1 is much faster than myGEMM1b, which has the two dimensions exchanged.",
        (_SPEEDS,),
        _much_faster,
    ),
    Claim(
        "gemm1-lines",
        _DOCUMENT,
        "Neighbouring work-items share memory of A and C in myGEMM1, and of B alone in myGEMM1b.",
        _LENSES,
        _lines,
    ),
    Claim(
        "gemm2-whole",
        _DOCUMENT,
        "Walking through K / TS tiles, myGEMM2 sums up the whole of K.",
        _RUNS,
        _whole_product,
    ),
    Claim(
        "gemm2-faster",
        _DOCUMENT,
        "Keeping tiles in local memory by hand beats leaving them to the cache.",
        (_SPEEDS,),
        _by_hand,
    ),
)
