"""What a person has chosen to run, and which other choices there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemmviz.core.choice import quiet_by_default
from gemmviz.core.feasibility import plain_reason
from gemmviz.core.model import Device, Order, Parameters, Problem, Transpose, Variant
from gemmviz.core.policy import STANDARD, Policy
from gemmviz.core.tuned import tuned_parameters

PRESETS = (256, 512, 1024, 2048, 4096, 8192)
LARGEST_SIZE = 2**17
DEFAULT_VARIANT = "tiled"
_FAMILIES = {
    "ladder": "Ladder: one idea a step",
    "published": "As published",
    "cpu": "For CPUs",
    "tensor": "Tensor cores",
    "library": "Libraries to compare with",
    "user": "Your own",
}


@dataclass(frozen=True, slots=True)
class Option:
    """A value one may choose, or with a ``reason`` not."""

    text: str
    value: object
    reason: str = ""


TRANSPOSE_OPTIONS = (
    Option("A B", "nn"),
    Option("A Bᵀ", "nt"),
    Option("Aᵀ B", "tn"),
    Option("Aᵀ Bᵀ", "tt"),
)
ORDER_OPTIONS = (
    Option("as the kernel wants it", ""),
    Option("row by row", "row"),
    Option("column by column", "column"),
)


@dataclass(frozen=True, slots=True)
class Badge:
    """A short mark with its meaning: "good", "bad", "doubt" or "plain"; ``why`` is a sentence."""

    text: str
    meaning: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that the next run takes from the person.

    ``seed`` is None for a fresh one each run, ``launch_limit_seconds`` for fifty times what is
    foreseen, ``quiet`` for what the device has by default; ``policy_on`` fills that in. With
    ``square`` the three sizes are kept equal. Transposes, storage, alpha and beta wait for a kernel
    that knows of them.
    """

    variant: Variant | None = None
    parameters: Parameters = ()
    m: int = 512
    n: int = 512
    k: int = 512
    square: bool = True
    element: str = "float"
    policy: Policy = STANDARD
    quiet: bool | None = None
    seed: int | None = None
    launch_limit_seconds: float | None = None
    build_options: str = ""
    transpose: Transpose = "nn"
    order: Order = ""
    alpha: float = 1.0
    beta: float = 0.0

    def with_variant(self, variant: Variant, device: Device | None = None) -> Setup:
        """The same with another kernel, and what its rules leave of the rest.

        Its parameters are the best that were measured for the device and shape, else its defaults.
        """
        element = self.element if self.element in variant.elements else variant.elements[0]
        setup = replace(self, variant=variant, element=element)
        setup = replace(setup, parameters=tuned_parameters(variant, setup.problem(), device))
        return setup.with_square(True) if variant.shapes == "square" else setup

    def with_parameter(self, name: str, value: int) -> Setup:
        """The same with one macro changed."""
        changed = tuple((key, value if key == name else old) for key, old in self.parameters)
        return replace(self, parameters=changed)

    def with_square(self, square: bool) -> Setup:
        """The same with the three sizes locked to M, or freed."""
        return replace(self, square=True, n=self.m, k=self.m) if square else replace(
            self, square=False)  # fmt: skip

    def with_size(self, name: str, size: int) -> Setup:
        """The same with "m", "n" or "k" changed, and the others with it where they are locked."""
        if self.square:
            return replace(self, m=size, n=size, k=size)
        return replace(self, **{name: size})  # type: ignore[arg-type]

    def with_all_sizes(self, size: int) -> Setup:
        """The same with M = N = K = ``size``, locked or not."""
        return replace(self, m=size, n=size, k=size)

    def policy_on(self, device: Device) -> Policy:
        """How a run on ``device`` is measured."""
        quiet = self.quiet if self.quiet is not None else quiet_by_default(device)
        return replace(self.policy, quiet=quiet)

    def problem(self, seed: int = 0) -> Problem:
        """Shape, element type and what the kernel knows of the form, with the seed of one run."""
        problem = Problem(self.m, self.n, self.k, self.element, seed)
        if self.variant is None or not self.variant.general:
            return problem
        return replace(
            problem, transpose=self.transpose, order=self.order, alpha=self.alpha, beta=self.beta
        )


def form_reason(setup: Setup) -> str:
    """Why the chosen kernel computes C = A B alone, or ""."""
    return plain_reason(setup.variant) if setup.variant is not None else "Choose a kernel."


def family_title(family: str) -> str:
    """What a family of kernels is called in a menu."""
    return _FAMILIES.get(family, family.capitalize())


def _divisors(variant: Variant) -> str:
    """Which sizes a tile edge must divide, in a few words: "TS divides M, N, K"; else ""."""
    edge = variant.tile_rows
    if variant.shapes != "exact" or edge != variant.tile_cols:
        return ""
    if not variant.right_when:
        return f"{edge} divides M, N"
    return f"{edge} divides M, N, K" if variant.right_when == f"K % {edge} == 0" else ""


def verdict_badge(variant: Variant) -> Badge | None:
    """What was found of a published kernel, or None for one that claims to be right."""
    if variant.expect == "wrong":
        return Badge("wrong", "bad", variant.finding)
    if variant.family != "published":
        return None
    limits = []
    if variant.shapes == "exact":
        limits.append(f"{variant.tile_rows} divides M and {variant.tile_cols} divides N")
    if variant.right_when:
        limits.append(variant.right_when)
    if limits:
        why = f"Right only when {' and '.join(limits)}. {variant.finding}"
        return Badge(f"right where {_divisors(variant) or 'it says'}", "doubt", why.strip())
    return Badge("right", "good", variant.finding)
