"""The parameters that were measured to be the best of a kernel, by device and shape."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

from gemmviz.core.expr import ExprError, evaluate
from gemmviz.core.feasibility import refusal, vector_bytes
from gemmviz.core.launch import default_parameters, formula_names, kernel_view, merge_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Device, Parameters, Problem, Variant
from gemmviz.core.paths import data_dir


@dataclass(frozen=True, slots=True)
class TunedSet:
    """One row of ``resources/tuned.toml``, or of a person's own file of the same form.

    Attributes:
        kernel: The id of a kernel.
        on: Codes of the limits tables that it was measured on, "cpu" for any CPU, or the name of a
            single device as :func:`tuned_name` gives it.
        when: A formula over M, N, K, element_bytes and the device's vector_bytes (0 where it does
            not say) that says for which shapes.
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
def load_sets() -> tuple[TunedSet, ...]:
    """The sets that come with the app, in order."""
    return read_sets(data_dir("resources") / "tuned.toml")


def read_sets(file: Path) -> tuple[TunedSet, ...]:
    """The sets of a file, in order.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no TOML, or a set lacks a key.
    """
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


def own_file() -> Path:
    """The person's own sets, saved from sweeps; they go before those that come with the app."""
    return platformdirs.user_config_path("gemmviz", appauthor=False) / "tuned.toml"


def own_sets() -> tuple[TunedSet, ...]:
    """The person's own sets; none where there is no file, or no whole one."""
    file = own_file()
    try:
        status = file.stat()
        return _own_sets(file, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return ()


@cache
def _own_sets(file: Path, changed_ns: int, size_bytes: int) -> tuple[TunedSet, ...]:
    """The sets of a file as it was when it had this date and size."""
    del changed_ns, size_bytes
    return read_sets(file)


def tuned_name(device: Device) -> str:
    """What a single device is called in a set."""
    return f"{device.platform}: {device.name}"


def tuned_parameters(variant: Variant, problem: Problem, device: Device | None) -> Parameters:
    """The measured best for a device and a shape, or the kernel's defaults where none is known.

    The person's own sets come first, where they can run. What comes with the app is for kernels of
    the catalogue: a person's own kernel may be called like one.
    """
    if device is None:
        return default_parameters(variant)
    limits = limits_for(device)
    names = formula_names((), kernel_view(variant, problem))
    names["vector_bytes"] = vector_bytes(device) or 0
    for row in own_sets():
        if row.kernel == variant.id and tuned_name(device) in row.on and _holds(row.when, names):
            chosen = _still_valid(variant, row, device)
            if chosen is not None and refusal(variant, chosen, problem, device, limits) is None:
                return chosen
    kind = "cpu" if device.type == "CPU" else limits.code if limits is not None else ""
    for row in load_sets() if variant.family != "user" else ():
        if row.kernel == variant.id and kind in row.on and _holds(row.when, names):
            return _parameters(variant, row, device)
    return default_parameters(variant)


def _still_valid(variant: Variant, row: TunedSet, device: Device) -> Parameters | None:
    """The parameters of a set; None where the kernel has others by now."""
    try:
        return _parameters(variant, row, device)
    except (ValueError, StopIteration):
        return None


def _parameters(variant: Variant, row: TunedSet, device: Device) -> Parameters:
    chosen = {name: _value(variant, name, value, device) for name, value in row.parameters}
    return merge_parameters(variant, chosen)


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
