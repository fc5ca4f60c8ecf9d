"""Every statement of the documents that can be tried, document by document."""

from __future__ import annotations

from gemmviz.core import claim_barriers, claim_mygemm, claim_tiling, claim_tradeoffs
from gemmviz.core.claim import Claim

CLAIMS: tuple[Claim, ...] = (
    *claim_tiling.CLAIMS,
    *claim_barriers.CLAIMS,
    *claim_tradeoffs.CLAIMS,
    *claim_mygemm.CLAIMS,
)


def find_claims(ids: tuple[str, ...]) -> tuple[Claim, ...]:
    """The statements of these ids in the order of the list; all of them where there are none.

    Raises:
        ValueError: There is no such statement; the sentence lists those there are.
    """
    known = {claim.id for claim in CLAIMS}
    for name in ids:
        if name not in known:
            raise ValueError(
                f"There is no statement {name}; there are: {', '.join(sorted(known))}."
            )
    return tuple(claim for claim in CLAIMS if not ids or claim.id in ids)
