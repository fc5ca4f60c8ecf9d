"""Tries every formula of a variant at every setting of its parameters, before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter

from gemmviz.core.expr import ExprError, evaluate, names_in
from gemmviz.core.model import Parameter, Variant

SHAPE_NAMES = ("M", "N", "K", "element_bytes", "TRANSPOSE_A", "TRANSPOSE_B")
DEVICE_NAMES = ("max_group_size", "local_limit", "vector_bytes")
_PROBE = {"M": 64, "N": 64, "K": 64, "element_bytes": 4, "TRANSPOSE_A": 0, "TRANSPOSE_B": 0,
          "max_group_size": 1024, "local_limit": 2**16, "vector_bytes": 64}  # fmt: skip
_MAX_COMBINATIONS = 4096


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a formula: the key that it stands under, and the reason."""

    key: str
    reason: str


def fault_of(variant: Variant) -> Fault | None:
    """The first fault of a variant's formulas and dimensions, or None.

    Every formula must be one, its names known, and it must have a value at every parameter.
    """
    if len(set(variant.dims)) != len(variant.dims) or not variant.dims:
        return Fault("dims", "each of rows and cols may be walked over once")
    if not len(variant.dims) <= len(variant.group) <= 3:
        return Fault("group", "it needs a size for each of dims, and at most three")
    formulas = [
        *(("group", text) for text in variant.group),
        ("tile", variant.tile_rows),
        ("tile", variant.tile_cols),
        ("local_bytes", variant.local_bytes),
        *(("arguments", argument.text) for argument in variant.arguments
          if argument.kind in ("local", "value", "buffer", "scratch")),
        *(("arguments", text) for argument in variant.arguments for text in argument.box),
    ]  # fmt: skip
    if variant.groups:
        formulas.append(("groups", variant.groups))
    with_device = [("require", text) for text in variant.require]
    if variant.right_when:
        with_device.append(("right_when", variant.right_when))
    shape = {*SHAPE_NAMES, *(parameter.name for parameter in variant.parameters)}
    used: dict[str, tuple[str, ...]] = {}
    for key, text in (*formulas, *with_device):
        known = shape | set(DEVICE_NAMES) if (key, text) in with_device else shape
        try:
            used[text] = tuple(names_in(text))
        except ExprError as error:
            return Fault(key, str(error))
        unknown = set(used[text]) - known
        if unknown:
            return Fault(key, f"'{text}' uses {min(unknown)}, which is no parameter")
    return _fault_at_some_setting(variant.parameters, with_device, formulas, used)


def _fault_at_some_setting(
    parameters: Iterable[Parameter],
    with_device: list[tuple[str, str]],
    formulas: list[tuple[str, str]],
    used: dict[str, tuple[str, ...]],
) -> Fault | None:
    # Thousands of settings differ in names that most formulas do not use.
    each: list[tuple[str, str, Callable[[dict[str, int]], object], dict[object, int]]] = [
        (key, text, itemgetter(*used[text]) if used[text] else _nothing, {})
        for key, text in (*with_device, *formulas)
    ]
    for chosen in _combinations(parameters):
        names = {**_PROBE, **chosen}
        possible = True
        for key, text, setting_of, values in each:
            setting = setting_of(names)
            value = values.get(setting)
            if value is None:
                try:
                    value = values[setting] = evaluate(text, names)
                except ExprError as error:
                    at = " ".join(f"{name}={value}" for name, value in chosen.items())
                    return Fault(key, f"{error}" + (f" at {at}" if at else ""))
            if key == "require" and not value:
                possible = False  # refused before anything else is asked of it
            if possible and key in ("group", "tile", "groups") and value < 1:
                return Fault(key, f"'{text}' is {value}, and must be at least 1")
            if possible and key == "local_bytes" and value < 0:
                return Fault(key, f"'{text}' is negative")
    return None


def _nothing(_: dict[str, int]) -> None:
    """The setting of a formula without a name."""


def _combinations(parameters: Iterable[Parameter]) -> Iterable[dict[str, int]]:
    """The settings that formulas are tried at: all of them, or the first few thousand."""
    named = tuple(parameters)
    product = itertools.product(*(parameter.values for parameter in named))
    for values in itertools.islice(product, _MAX_COMBINATIONS):
        yield {parameter.name: value for parameter, value in zip(named, values, strict=True)}
