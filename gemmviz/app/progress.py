"""How far a measurement has come towards what its policy asks for."""

from __future__ import annotations

from gemmviz.app.samples import SampleBuffer
from gemmviz.core.measurement_words import half_width
from gemmviz.core.policy import Policy
from gemmviz.core.stats import FEWEST_FOR_95, Summary


def share_done(policy: Policy, buffer: SampleBuffer, summary: Summary | None) -> float | None:
    """The share that is done, from 0 to 1; None where nothing but a person ends it.

    A run ends when its samples, its device time and its interval are all as wanted, so the least of
    the three counts; or at its time limit. The interval shrinks with the root of the samples.
    """
    if policy.launches is not None:
        return min(1.0, buffer.launch_count / max(1, policy.launches))
    if not len(buffer):
        return 0.0 if policy.target > 0 or policy.limit_seconds < float("inf") else None
    ends = []
    if policy.limit_seconds < float("inf"):
        ends.append(float(buffer.at[-1]) / max(1e-9, policy.limit_seconds))
    if policy.target > 0:
        shares = [len(buffer) / max(1, policy.min_samples)]
        if policy.min_seconds > 0:
            shares.append(buffer.total_seconds / policy.min_seconds)
        if summary is None or summary.count < FEWEST_FOR_95:
            shares.append(len(buffer) / FEWEST_FOR_95)
        elif (width := half_width(summary)) > 0:
            shares.append((policy.target / width) ** 2)
        ends.append(min(shares))
    return min(1.0, max(ends)) if ends else None
