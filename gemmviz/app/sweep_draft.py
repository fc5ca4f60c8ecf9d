"""A sweep in the making: what a person has ticked, and the Sweep that it stands for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gemmviz.app.setup import LARGEST_SIZE, Setup
from gemmviz.core.model import Device, DeviceKey, Problem, Variant
from gemmviz.core.policy import QUICK, Policy
from gemmviz.core.sweep import Axis, Strategy, Sweep

STRATEGIES: dict[Strategy, str] = {
    "racing": "Racing",
    "exhaustive": "Exhaustive",
    "model": "Model-based",
}
STRATEGY_TIPS: dict[Strategy, str] = {
    "racing": "Every configuration gets a few samples; those that cannot be the best are dropped.",
    "exhaustive": "Every configuration is measured by the policy.",
    "model": "A quarter of each kernel's configurations is tried, chosen by what was fast before.",
}
_SHAPE = re.compile(r"(\d+)(?:\s*[x×*]\s*(\d+)\s*[x×*]\s*(\d+))?\Z")

_PLAIN = Problem(1, 1, 1)
_Ticked = tuple[str, str, int]  # kernel, parameter, value


class DraftError(ValueError):
    """A draft that is no sweep; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class SweepDraft:
    """What is ticked.

    Attributes:
        kernels: Ids of the kernels.
        left_out: Values of parameters that are not tried; all others are.
        shapes: Sizes as typed: "256, 512, 1024x64x512".
        elements: Element types.
        devices: Where.
        policy: How finalists are measured.
        strategy: What is tried how long.
        like: What problems are besides their sizes and types: transposed inputs, alpha and beta.
        seed: Of all inputs; None for that of the setup bar.
        budget: How many configurations of a kernel a model may try; 0 for a quarter.
    """

    kernels: tuple[str, ...] = ()
    left_out: frozenset[_Ticked] = frozenset()
    shapes: str = "512"
    elements: tuple[str, ...] = ("float",)
    devices: tuple[DeviceKey, ...] = ()
    policy: Policy = QUICK
    strategy: Strategy = "racing"
    like: Problem = _PLAIN
    seed: int | None = None
    budget: int = 0

    def with_kernel(self, kernel: str, ticked: bool) -> SweepDraft:
        """The same with a kernel added at the end, or without it."""
        others = tuple(each for each in self.kernels if each != kernel)
        return replace(self, kernels=(*others, kernel) if ticked else others)

    def with_value(self, value: _Ticked, ticked: bool) -> SweepDraft:
        """The same with a parameter's value tried or not."""
        left_out = self.left_out - {value} if ticked else self.left_out | {value}
        return replace(self, left_out=left_out)

    def with_element(self, element: str, ticked: bool) -> SweepDraft:
        """The same with an element type tried or not."""
        others = tuple(each for each in self.elements if each != element)
        return replace(self, elements=(*others, element) if ticked else others)

    def with_device(self, key: DeviceKey, ticked: bool) -> SweepDraft:
        """The same with a device or without it."""
        others = tuple(each for each in self.devices if each != key)
        return replace(self, devices=(*others, key) if ticked else others)


def draft_of(setup: Setup, devices: Iterable[Device]) -> SweepDraft:
    """What the setup bar says as a draft: its kernel at all values, its shape, its devices."""
    policy = setup.policy if math.isfinite(setup.policy.limit_seconds) else QUICK
    shape = f"{setup.m}" if setup.m == setup.n == setup.k else f"{setup.m}x{setup.n}x{setup.k}"
    kernels = (setup.variant.id,) if setup.variant is not None else ()
    keys = tuple(each.key for each in devices)
    return SweepDraft(
        kernels, frozenset(), shape, (setup.element,), keys, policy, like=_form(setup.problem())
    )


def draft_from(sweep: Sweep) -> SweepDraft:
    """The draft that stands for a sweep."""
    tried = {kernel: dict(axes) for kernel, axes in sweep.axes}
    left_out = {
        (variant.id, parameter.name, value)
        for variant in sweep.variants
        for parameter in variant.parameters
        for value in parameter.values
        if value not in tried.get(variant.id, {}).get(parameter.name, parameter.values)
    }
    shapes = dict.fromkeys((each.m, each.n, each.k) for each in sweep.problems)
    texts = (f"{m}" if m == n == k else f"{m}x{n}x{k}" for m, n, k in shapes)
    return SweepDraft(
        tuple(variant.id for variant in sweep.variants), frozenset(left_out), ", ".join(texts),
        tuple(dict.fromkeys(problem.element for problem in sweep.problems)),
        tuple(device.key for device in sweep.devices), sweep.policy, sweep.strategy,
        _form(sweep.problems[0]), sweep.problems[0].seed, sweep.budget,
    )  # fmt: skip


def _form(problem: Problem) -> Problem:
    """What a problem is besides sizes, type and inputs."""
    return replace(problem, m=1, n=1, k=1, element="float", seed=0)


def read_shapes(text: str) -> tuple[tuple[int, int, int], ...]:
    """M, N and K of each shape of "256, 512 1024x64x512", each once.

    Raises:
        DraftError: A word is no shape, or there is none.
    """
    joined = re.sub(r"\s*[x×*]\s*", "x", text)
    shapes = []
    for word in re.split(r"[\s,;]+", joined.strip(" ,;\t\n")):
        match = _SHAPE.match(word)
        if match is None:
            what = f"{word!r} is no size" if word else "There is no size"
            raise DraftError(f"{what}: write 512, or M x N x K as 1024x64x512.")
        sizes = [int(part) for part in match.groups() if part]
        m, n, k = sizes * 3 if len(sizes) == 1 else sizes
        if not 1 <= min(m, n, k) <= max(m, n, k) <= LARGEST_SIZE:
            raise DraftError(f"{word} is out of range: sizes go from 1 to {LARGEST_SIZE:,}.")
        shapes.append((m, n, k))
    return tuple(dict.fromkeys(shapes))


def sweep_of(
    draft: SweepDraft, variants: Sequence[Variant], devices: Sequence[Device], seed: int
) -> Sweep:
    """The sweep that a draft stands for.

    Args:
        draft: What is ticked.
        variants: Every kernel there is.
        devices: Every device there is.
        seed: Of all inputs, unless the draft has one.

    Raises:
        DraftError: Something is missing; the message says what to do.
    """
    # A person's own kernel, which comes last, stands for one of the catalogue that is called so.
    by_id = {each.id: each for each in variants}
    chosen = tuple(by_id[name] for name in by_id if name in draft.kernels)
    if not chosen:
        raise DraftError("Tick at least one kernel.")
    places = tuple(each for each in devices if each.key in draft.devices)
    if not places:
        raise DraftError("Tick at least one device.")
    if not draft.elements:
        raise DraftError("Tick at least one element type.")
    if math.isinf(draft.policy.limit_seconds) and draft.policy.launches is None:
        raise DraftError("Choose a policy that ends by itself: Quick, Standard or Careful.")
    axes = tuple((variant.id, _axes(draft, variant)) for variant in chosen)
    seed = seed if draft.seed is None else draft.seed
    problems = tuple(
        replace(draft.like, m=m, n=n, k=k, element=element, seed=seed)
        for element in draft.elements  # as a sweep's file has them
        for m, n, k in read_shapes(draft.shapes)
    )
    budget = draft.budget if draft.strategy == "model" else 0
    return Sweep(chosen, axes, problems, places, draft.policy, draft.strategy, budget)


def _axes(draft: SweepDraft, variant: Variant) -> tuple[Axis, ...]:
    axes = []
    for parameter in variant.parameters:
        name = parameter.name
        values = tuple(v for v in parameter.values if (variant.id, name, v) not in draft.left_out)
        if not values:
            raise DraftError(f"Tick at least one value of {name} of {variant.title}.")
        axes.append((name, values))
    return tuple(axes)
