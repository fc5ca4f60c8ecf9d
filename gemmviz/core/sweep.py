"""Sweeps: kernels, parameters, shapes, element types and devices tried in one go, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemmviz.core.model import Device, Parameters, Problem, Variant
from gemmviz.core.policy import STANDARD, Policy

CellState = Literal["planned", "dropped", "measured", "failed", "wrong"]
Strategy = Literal["exhaustive", "racing", "model"]

NOT_TRIED = "Not tried by the search."
"""Why a configuration is dropped that a model passed over."""

Axis = tuple[str, tuple[int, ...]]
"""A parameter and the values of it that are tried: ("TS", (4, 8, 16))."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is to be tried: every kernel at every problem on every device.

    Attributes:
        variants: The kernels.
        axes: For each kernel, by its id, the values of each parameter that are tried; a parameter
            that is left out is tried at all values of its ``.toml``.
        problems: Shapes and element types; all share a seed.
        devices: Where.
        policy: How finalists are measured.
        strategy: "exhaustive" measures every configuration by the policy, "racing" drops those
            early that cannot be the best, "model" tries a share of them as what was measured before
            suggests, and races those.
        budget: With "model", how many configurations of a kernel are tried at a problem on a device
            at most; 0 for a share. See :func:`gemmviz.core.search.tries`.
    """

    variants: tuple[Variant, ...]
    axes: tuple[tuple[str, tuple[Axis, ...]], ...]
    problems: tuple[Problem, ...]
    devices: tuple[Device, ...]
    policy: Policy = STANDARD
    strategy: Strategy = "racing"
    budget: int = 0


@dataclass(frozen=True, slots=True)
class Configuration:
    """One thing to measure; ``variant`` is a kernel's id, ``device`` an index of the sweep's."""

    variant: str
    parameters: Parameters
    problem: Problem
    device: int


@dataclass(frozen=True, slots=True)
class SweepCell:
    """What came of one configuration.

    Attributes:
        configuration: What was tried.
        state: "planned" until something is known; "dropped" when it cannot be the best, with the
            figures so far; "failed" and "wrong" with the reason.
        seconds: Median of a launch; None without samples.
        low: Lower end of the median's interval, seconds.
        high: Upper end.
        samples: How many were taken.
        flop: Floating-point operations of a launch; 0 where only the problem tells: 2 M N K.
        registers: Per work-item, where the compiler tells.
        local_bytes: Of a group.
        group_size: Work-items of a group.
        occupancy: Estimated, 0 to 1; None where it means nothing.
        why_not: A sentence where it failed, is wrong or was dropped.
        final: Whether it was measured by the sweep's policy, and not only screened.
        best: Whether it is one of those that cannot be told apart from the best.
        ratio: The recommended one's time over its own, where they were measured in turns.
        odds: How likely it beats the best by more than counts as the same, although it is not among
            them.
    """

    configuration: Configuration
    state: CellState = "planned"
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    samples: int = 0
    flop: int = 0
    registers: int | None = None
    local_bytes: int | None = None
    group_size: int | None = None
    occupancy: float | None = None
    why_not: str = ""
    final: bool = False
    best: bool = False
    ratio: float | None = None
    odds: float | None = None

    @property
    def tried(self) -> bool:
        """Whether it was run, or at least built."""
        return self.state != "planned" and not self.passed_over

    @property
    def passed_over(self) -> bool:
        """Whether a model chose others, to the end."""
        return self.state == "dropped" and self.why_not == NOT_TRIED

    @property
    def flops_per_second(self) -> float | None:
        """Throughput from the median; None without one or where the answer is wrong."""
        problem = self.configuration.problem
        if not self.seconds or self.state == "wrong":
            return None
        return (self.flop or 2 * problem.m * problem.n * problem.k) / self.seconds


@dataclass(frozen=True, slots=True)
class Winner:
    """The best of one problem on one device.

    Attributes:
        problem: The problem.
        device: An index of the sweep's devices.
        best_set: Configurations that cannot be told apart from the best, fastest median first.
        recommended: The one to take, of that set.
        confidence: How sure it is that none outside the set is faster by more than counts as the
            same, 0 to 1.
        words: The same in a sentence.
    """

    problem: Problem
    device: int
    best_set: tuple[Configuration, ...]
    recommended: Configuration
    confidence: float
    words: str = ""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """A sweep so far or at its end: all cells in the plan's order, and what won where.

    ``refused`` counts configurations that constraints ruled out before anything was compiled.
    """

    cells: tuple[SweepCell, ...]
    winners: tuple[Winner, ...] = ()
    refused: int = 0
    seconds: float = 0.0
