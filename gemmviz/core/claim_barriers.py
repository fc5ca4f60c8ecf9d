"""What the article on work-group barriers says, and how each statement is tried."""

from __future__ import annotations

from gemmviz.core.claim import (
    Choice,
    Claim,
    Contest,
    Evidence,
    Judgement,
    Lens,
    Run,
    Simulation,
    Untestable,
    above,
    gpus_alone,
    times,
)
from gemmviz.core.claim_counts import access_to, local_passes, right_at
from gemmviz.core.races import RaceReport

_DOCUMENT = "Optimizing OpenCL Kernels with Local Memory and Work-Group Barriers"
_SMALL = (19, 18, 21)
_SHAPE = (64, 64, 64)
_TS8 = (("TS", 8),)

_RUNS = (Run(Choice("barriers_tiled"), (16, 16, 16)), Run(Choice("barriers_tiled"), (48, 48, 48)),
         Run(Choice("barriers_tiled"), (41, 35, 45)))  # fmt: skip
_STAGING = Lens(Choice("barriers_tiled"), _SHAPE)
_PADDED = tuple(Lens(Choice("barriers_tiled", (("PAD", pad),)), _SHAPE) for pad in (0, 1, 2))
_CONFLICTS = Contest((Choice("tiled_padded", (("PAD", 0),)), Choice("tiled_padded", (("PAD", 2),))))
_CONFLICT_LENSES = tuple(Lens(choice, _SHAPE) for choice in _CONFLICTS.choices)
_BRANCHES = tuple(
    (Simulation(Choice(kernel, _TS8), _SMALL), words)
    for kernel, words in (
        ("barrier_in_branch", "barrier under a condition"),
        ("early_return", "return before the barrier"),
    )
)
_GROUPS = Simulation(Choice("across_groups", _TS8), _SMALL)
_FENCE = Simulation(Choice("wrong_fence", _TS8), _SMALL)
_RIGHT = Simulation(Choice("tiled", _TS8), _SMALL)


def _tiled_is_right(evidence: Evidence) -> Judgement:
    return right_at(
        [evidence.checked(run) for run in _RUNS],
        "The step over tiles moves the rows of A and the columns of B instead of k, and the place "
        "of the group is left out: it is right where everything fits one tile.",
    )


def _contiguous(evidence: Evidence) -> Judgement:
    report = evidence.accesses(_STAGING)
    loads = [access_to(report, matrix) for matrix in "AB"]
    ideal = report.machine.warp * loads[0].element_bytes // 32
    measured = (
        f"A warp of {report.machine.warp} touches {loads[0].sectors} sectors of A and "
        f"{loads[1].sectors} of B per load; {ideal} are enough."
    )
    holds = all((each.sectors or 0) <= ideal for each in loads)
    reason = (
        "Neighbours read side by side."
        if holds
        else "Dimension 0 is taken for the row, so neighbours read a whole row apart: exchanging "
        "the two local ids would mend it."
    )
    return Judgement(holds, measured, reason)


def _padding(evidence: Evidence) -> Judgement:
    none, one, two = (local_passes(evidence.accesses(lens)) for lens in _PADDED)
    banks = evidence.accesses(_PADDED[0]).machine.banks
    measured = (
        f"All local accesses of a group take {none:.0f} turns of {banks} banks with rows of 16, "
        f"{one:.0f} with 17 and {two:.0f} with 18."
    )
    holds = one < none
    reason = (
        "One more element spreads the rows over more banks"
        + (", and a second one does it better." if two < one else ".")
        if holds
        else "One more element saves no turn here."
    )
    return Judgement(holds, measured, reason)


def _conflicts_cost(evidence: Evidence) -> Judgement:
    versus = evidence.versus(_CONFLICTS, 1)
    crowded, spread = (local_passes(evidence.accesses(lens)) for lens in _CONFLICT_LENSES)
    measured = (
        f"With {spread:.0f} turns of the banks instead of {crowded:.0f} the same kernel is "
        f"{times(versus)} as fast at {evidence.size(_CONFLICTS)}."
    )
    if spread >= crowded:
        raise Untestable("The longer rows save no turn of this device's banks.", measured)
    holds = above(versus, 1.02, measured)
    reason = (
        "Nothing but the row length differs." if holds else "The turns are hidden behind others."
    )
    return Judgement(holds, measured, reason)


def _divergence(evidence: Evidence) -> Judgement:
    clean = not _of_kind(evidence.races(_RIGHT), "barrier divergence")
    found = []
    parts = []
    for simulation, words in _BRANCHES:
        sentence = _of_kind(evidence.races(simulation), "barrier divergence")
        found.append(bool(sentence))
        parts.append(f"{words}: {sentence.rstrip('.') or 'nothing found'}")
    parts.append(f"all reach it: {'nothing found' if clean else 'found as well'}")
    text = "; ".join(parts)
    holds = all(found) and clean
    reason = (
        "OpenCL leaves open what happens then; the simulator sees that not all come to the same "
        "barrier. No real device is tried, since one may hang."
        if holds
        else "The simulator does not tell the kernels apart as the statement would have it."
    )
    return Judgement(holds, f"{text[0].upper()}{text[1:]}.", reason)


def _of_kind(report: RaceReport, kind: str) -> str:
    """What is found of a kind, as a sentence, or ""."""
    return next((each.sentence for each in report.findings if each.kind == kind), "")


def _one_group_alone(evidence: Evidence) -> Judgement:
    sentence = _of_kind(evidence.races(_GROUPS), "data race")
    holds = "another group" in sentence
    reason = (
        "The first group is ordered by its barrier; the others do not wait for it."
        if holds
        else "No race between groups was found, though nothing should order them."
    )
    return Judgement(holds, sentence or "No data race was found.", reason)


def _right_fence(evidence: Evidence) -> Judgement:
    wrong = _of_kind(evidence.races(_FENCE), "data race")
    clean = not _of_kind(evidence.races(_RIGHT), "data race")
    measured = (
        f"With the fence for global memory: {wrong.rstrip('.') or 'nothing found'}; with the one "
        f"for local memory: {'nothing found' if clean else 'a data race'}."
    )
    holds = bool(wrong) and clean
    reason = (
        "All wait in both cases, but only the local fence makes copies in local memory visible."
        if holds
        else "The simulator does not tell the two fences apart."
    )
    return Judgement(holds, measured, reason)


CLAIMS = (
    Claim(
        "barriers-right",
        _DOCUMENT,
        "Bounds checks make the article's tiled kernel compute the product at any size.",
        _RUNS,
        _tiled_is_right,
    ),
    Claim(
        "coalesced-staging",
        _DOCUMENT,
        "While a tile is staged, work-items read global memory side by side.",
        (_STAGING,),
        _contiguous,
    ),
    Claim(
        "padding",
        _DOCUMENT,
        "A local row of 17 elements instead of 16 eases the bank conflicts of the tiled kernel.",
        _PADDED,
        _padding,
    ),
    Claim(
        "conflicts-cost",
        _DOCUMENT,
        "Work-items that use one bank take turns, so bank conflicts cost time.",
        (_CONFLICTS, *_CONFLICT_LENSES),
        _conflicts_cost,
        gpus_alone,
    ),
    Claim(
        "divergent-barrier",
        _DOCUMENT,
        "A barrier that only some work-items of a group reach is undefined.",
        (_RIGHT, *(simulation for simulation, _ in _BRANCHES)),
        _divergence,
    ),
    Claim(
        "local-fence",
        _DOCUMENT,
        "It takes the fence for local memory to make staged data visible to the group.",
        (_FENCE, _RIGHT),
        _right_fence,
    ),
    Claim(
        "groups-apart",
        _DOCUMENT,
        "A barrier orders no work-group against another: that takes another launch.",
        (_GROUPS,),
        _one_group_alone,
    ),
)
