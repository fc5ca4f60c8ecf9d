"""What varies in a sweep: parameters, kernels, shapes, element types and devices."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gemmviz.core.labels import device_label, form_label
from gemmviz.core.model import Problem
from gemmviz.core.sweep import Configuration, Sweep, SweepCell, Winner

KERNEL, SHAPE, ELEMENT, DEVICE = "Kernel", "Shape", "Element", "Device"
"""Names of what varies besides parameters; those of parameters are in capitals."""
RACE = (SHAPE, ELEMENT, DEVICE)
"""What a winner is found for each of: between values of these a best one would mean nothing."""

Value = int | str


@dataclass(frozen=True, slots=True)
class Dimension:
    """Something that varies, with what it takes and how each value is written."""

    name: str
    values: tuple[Value, ...]
    texts: tuple[str, ...]

    def text(self, value: Value) -> str:
        """How a value is written."""
        return self.texts[self.values.index(value)]


def shape_text(problem: Problem) -> str:
    """A problem's shape: "512³" where M = N = K, else "512 × 64 × 512, TN"."""
    m, n, k = problem.m, problem.n, problem.k
    sizes = f"{m}³" if m == n == k else f"{m} × {n} × {k}"
    return ", ".join(filter(None, (sizes, form_label(problem))))


def value_of(configuration: Configuration, name: str) -> Value | None:
    """What a configuration has of a dimension; None where its kernel has no such parameter."""
    match name:
        case "Kernel":
            return configuration.variant
        case "Shape":
            return shape_text(configuration.problem)
        case "Element":
            return configuration.problem.element
        case "Device":
            return configuration.device
        case _:
            return dict(configuration.parameters).get(name)


def dimensions(sweep: Sweep) -> tuple[Dimension, ...]:
    """What a sweep was to try: its parameters with two values or more first, then the rest."""
    parameters: dict[str, set[int]] = {}
    chosen = {variant: dict(axes) for variant, axes in sweep.axes}
    for variant in sweep.variants:
        for parameter in variant.parameters:
            values = chosen.get(variant.id, {}).get(parameter.name, parameter.values)
            parameters.setdefault(parameter.name, set()).update(values)
    found = [
        Dimension(name, tuple(sorted(values)), tuple(map(str, sorted(values))))
        for name, values in parameters.items()
    ]
    titles = {variant.id: variant.title for variant in sweep.variants}
    shapes = tuple(dict.fromkeys(map(shape_text, sweep.problems)))
    elements = tuple(dict.fromkeys(problem.element for problem in sweep.problems))
    devices = tuple(map(device_label, sweep.devices))
    found += [
        Dimension(KERNEL, tuple(titles), tuple(titles.values())),
        Dimension(SHAPE, shapes, shapes),
        Dimension(ELEMENT, elements, elements),
        Dimension(DEVICE, tuple(range(len(devices))), devices),
    ]
    return tuple(each for each in found if len(each.values) > 1)


def describe_place(sweep: Sweep, configuration: Configuration) -> str:
    """Kernel, shape, element type and device of a configuration, on one line."""
    titles = {variant.id: variant.title for variant in sweep.variants}
    problem = configuration.problem
    return (
        f"{titles.get(configuration.variant, configuration.variant)}, {shape_text(problem)} "
        f"{problem.element} on {device_label(sweep.devices[configuration.device])}"
    )


def is_rough(cell: SweepCell) -> bool:
    """Whether the figures of a cell are those of a few samples, after which it was dropped."""
    return cell.state == "dropped" and not cell.final and not cell.passed_over


def fastest(
    cells: Iterable[SweepCell], recommended: Container[Configuration] = ()
) -> SweepCell | None:
    """The cell that stands for several: the fastest whose figures are to be trusted most.

    The recommended one goes before others of the best set, these before others that were measured,
    and these before those that were dropped early, whose few samples may make them look fast. Where
    there is no figure it is one that may still get one, else a wrong one, else one that failed.
    None of none.
    """
    ranks = {"measured": 2, "dropped": 3, "planned": 4, "wrong": 5, "failed": 6}

    def key(cell: SweepCell) -> tuple[int, float]:
        if cell.configuration in recommended:
            return 0, 0.0
        known = cell.seconds if cell.state in ("measured", "dropped") else None
        state = "planned" if cell.passed_over else cell.state
        rank = 2 if cell.final and state == "dropped" else ranks[state]
        return 1 if cell.best else rank, known or 0.0

    return min(cells, key=key, default=None)


def recommended_configurations(winners: Iterable[Winner]) -> frozenset[Configuration]:
    """The one to take of each problem and device."""
    return frozenset(winner.recommended for winner in winners)


def winners_at(winners: Sequence[Winner], held: Mapping[str, Value]) -> tuple[Winner, ...]:
    """The winners of the problems and devices that are held, or all where that leaves none."""
    wanted = {name: value for name, value in held.items() if name in RACE}
    found = tuple(
        winner
        for winner in winners
        if all(value_of(winner.recommended, name) == value for name, value in wanted.items())
    )
    return found or tuple(winners)
