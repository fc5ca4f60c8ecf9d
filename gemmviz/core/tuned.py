"""The parameters that were measured to be the best of a kernel, by device and shape."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gemmviz.core.expr import ExprError, evaluate
from gemmviz.core.launch import default_parameters, formula_names, merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Parameters, Problem, Variant
from gemmviz.core.paths import data_dir


@dataclass(frozen=True, slots=True)
class TunedSet:
    """One row of ``resources/tuned.toml``.

    Attributes:
        kernel: The id of a kernel of the catalogue.
        on: Codes of the limits tables that it was measured on, or "cpu" for any CPU.
        when: A formula over M, N, K and element_bytes that says for which shapes.
        parameters: Macros that differ from the defaults; "units" stands for the largest value that
            the device has compute units for.
        source: Where and with what result it was measured.
    """

    kernel: str
    on: tuple[str, ...]
    when: str
    parameters: tuple[tuple[str, int | str], ...]
    source: str


@cache
def load_sets(file: Path | None = None) -> tuple[TunedSet, ...]:
    """The rows of the table, in order.

    Raises:
        ValueError: The file is no TOML, or a row lacks a key.
    """
    file = file or data_dir("resources") / "tuned.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("sets", [])
    try:
        return tuple(
            TunedSet(
                str(row["kernel"]), tuple(map(str, row["on"])), str(row["when"]),
                tuple(
                    (str(name), value if value == "units" else int(value))
                    for name, value in row["parameters"].items()
                ),
                str(row["source"]),
            )
            for row in rows
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file.name}: a set is not whole ({error!r}).") from error


def tuned_parameters(variant: Variant, problem: Problem, device: Device | None) -> Parameters:
    """The measured best for a device and a shape, or the kernel's defaults where none is known.

    A person's own kernel has its defaults, whatever it is called.
    """
    if device is None or variant.family == "user":
        return default_parameters(variant)
    limits = limits_for(device)
    kind = "cpu" if device.type == "CPU" else limits.code if limits is not None else ""
    names = formula_names((), problem)
    for row in load_sets():
        if row.kernel == variant.id and kind in row.on and _holds(row.when, names):
            chosen = {name: _value(variant, name, value, device) for name, value in row.parameters}
            return merge_parameters(variant, chosen)
    return default_parameters(variant)


def _value(variant: Variant, name: str, value: int | str, device: Device) -> int:
    """A value of the table; "units" becomes the most of a parameter's values that there are."""
    if isinstance(value, int):
        return value
    values = next(each.values for each in variant.parameters if each.name == name)
    fitting = [each for each in values if each <= (device.compute_units or 1)]
    return max(fitting, default=min(values))


def _holds(when: str, names: dict[str, int]) -> bool:
    try:
        return bool(evaluate(when, names))
    except ExprError:
        return False
