"""Reads a sweep from a TOML file; each fault is one sentence that names the key."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from gemmviz.core.codec import to_json
from gemmviz.core.model import ELEMENTS, Device, Problem, Variant
from gemmviz.core.policy import PRESETS, STANDARD, Policy
from gemmviz.core.sweep import Axis, Strategy, Sweep
from gemmviz.core.sweep_plan import SweepError, axes_of

_KEYS = ("kernels", "parameters", "sizes", "shapes", "elements", "devices", "policy", "strategy",
         "budget", "seed")  # fmt: skip
_LARGEST = 2**31 - 1
_POLICIES = {name.lower(): policy for name, policy in PRESETS.items()}
_MOST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class SweepFile:
    """A sweep as its file says it, before kernels and devices are looked for.

    Attributes:
        name: The file's name, for what is wrong with it.
        kernels: Ids, or paths of a ``.toml`` seen from the file's folder.
        parameters: Values to try, for one kernel by its id, or for all that have them under "".
        problems: Shapes in all element types.
        devices: Parts of the names of platforms or devices; () for the default device.
        policy: How finalists are measured.
        strategy: See :class:`gemmviz.core.sweep.Sweep`.
        budget: The same.
    """

    name: str
    kernels: tuple[str, ...]
    parameters: tuple[tuple[str, tuple[Axis, ...]], ...]
    problems: tuple[Problem, ...]
    devices: tuple[str, ...] = ()
    policy: Policy = STANDARD
    strategy: Strategy = "racing"
    budget: int = 0

    def sweep(self, variants: Sequence[Variant], devices: Sequence[Device]) -> Sweep:
        """The sweep, of the kernels and devices that the file names.

        Raises:
            SweepError: No kernel has a parameter, or not with such a value.
        """
        chosen = dict(self.parameters)
        strange = [name for name in chosen if name and name not in {each.id for each in variants}]
        if strange:
            raise self._error(f"parameters.{strange[0]}", "this is none of the kernels")
        shared = dict(chosen.get("", ()))
        for name in shared:
            if not any(
                name == parameter.name for each in variants for parameter in each.parameters
            ):
                raise self._error(f"parameters.{name}", "no kernel has such a parameter")
        axes = []
        for variant in variants:
            own = {parameter.name for parameter in variant.parameters}
            mine = {name: values for name, values in shared.items() if name in own}
            mine |= dict(chosen.get(variant.id, ()))
            axes.append((variant.id, tuple(mine.items())))
        made = Sweep(
            tuple(variants), tuple(axes), self.problems, tuple(devices), self.policy, self.strategy,
            self.budget,
        )  # fmt: skip
        for variant in variants:
            try:
                axes_of(made, variant)
            except SweepError as error:
                raise self._error("parameters", str(error).rstrip(".")) from error
        return made

    def _error(self, key: str, reason: str) -> SweepError:
        return SweepError(f"{self.name}: {key}: {reason}.")


def read_sweep_file(file: Path) -> SweepFile:
    """A sweep's file.

    Raises:
        SweepError: The file cannot be read, is no TOML, or a key is wrong.
    """
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise SweepError(f"{file.name}: this is too large for a sweep's file.")
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SweepError(f"{file}: it cannot be read ({error.strerror or error}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SweepError(f"{file.name}: this is no TOML: {error}.") from error
    return _Reader(file.name, data).read()


def kernel_file(name: str, folder: Path) -> Path | None:
    """The file of a kernel that a sweep's file names by its path; None where ``name`` is an id.

    Args:
        name: As the file has it.
        folder: Where the sweep's file is.
    """
    return folder / name if name.endswith(".toml") or "/" in name else None


def name_of_file(file: Path, folder: Path) -> str:
    """How a sweep's file in ``folder`` names a kernel's own file, so that both can move together.

    It is the path seen from the folder, or the whole one where none leads there, as between drives.
    """
    try:
        seen = Path(os.path.relpath(file.resolve(), folder.resolve()))
    except ValueError:
        seen = file.resolve()
    return seen.as_posix()


def identity(sweep: Sweep) -> str:
    """What tells a sweep from others, as JSON: the same sweep asked for again has the same.

    In whatever order its kernels, problems and devices were named: a window lists them in its own.
    """
    devices = [
        {**to_json(device.key), "driver_version": device.driver_version} for device in sweep.devices
    ]
    variants = sorted(sweep.variants, key=lambda variant: variant.id)
    told: dict[str, Any] = {
        "variants": to_json(tuple(variants)),
        "axes": to_json(tuple((each.id, axes_of(sweep, each)) for each in variants)),
        "problems": to_json(
            tuple(sorted(sweep.problems, key=lambda each: (each.m, each.n, each.k, each.element)))
        ),
        "devices": sorted(devices, key=json.dumps),
        "policy": to_json(sweep.policy),
        "strategy": sweep.strategy,
    }
    if sweep.budget:
        told["budget"] = sweep.budget
    return json.dumps(told, sort_keys=True)


class _Reader:
    """Reads the keys of one file."""

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self._name, self._data = name, data

    def read(self) -> SweepFile:
        unknown = sorted(self._data.keys() - set(_KEYS))
        if unknown:
            raise self._error(unknown[0][:60], f"this key is unknown; there are {', '.join(_KEYS)}")
        strategy: Strategy = self._choice("strategy", get_args(Strategy), "racing")  # type: ignore[assignment]
        return SweepFile(
            self._name,
            self._texts("kernels", needed=True),
            self._parameters(),
            self._problems(),
            self._texts("devices"),
            _POLICIES[self._choice("policy", tuple(_POLICIES), "standard")],
            strategy,
            self._budget(strategy),
        )

    def _budget(self, strategy: Strategy) -> int:
        if "budget" not in self._data:
            return 0
        if strategy != "model":
            raise self._error("budget", 'only strategy = "model" has one')
        return self._integers("budget", [self._data["budget"]])[0]

    def _problems(self) -> tuple[Problem, ...]:
        if ("sizes" in self._data) == ("shapes" in self._data):
            raise self._error("sizes", "either sizes or shapes must be given, and not both")
        if "sizes" in self._data:
            shapes = [(size, size, size) for size in self._integers("sizes", self._data["sizes"])]
        else:
            shapes = [self._shape(entry) for entry in self._list("shapes", self._data["shapes"])]
        elements = self._texts("elements") or ("float",)
        for element in elements:
            if element not in ELEMENTS:
                raise self._error("elements", f"{element!r} is not one of {', '.join(ELEMENTS)}")
        seed = self._data.get("seed", 0)
        if type(seed) is not int or not 0 <= seed <= _LARGEST:
            raise self._error("seed", f"{seed!r} is no integer from 0 to {_LARGEST}")
        return tuple(
            Problem(*shape, element, seed)
            for element in dict.fromkeys(elements)
            for shape in dict.fromkeys(shapes)
        )

    def _shape(self, entry: object) -> tuple[int, int, int]:
        sizes = self._integers("shapes", entry)
        if len(sizes) != 3:
            raise self._error("shapes", f"{entry!r} is not [M, N, K]")
        return sizes[0], sizes[1], sizes[2]

    def _parameters(self) -> tuple[tuple[str, tuple[Axis, ...]], ...]:
        table = self._data.get("parameters", {})
        if not isinstance(table, dict):
            raise self._error("parameters", "this must be a table")
        chosen: dict[str, list[Axis]] = {"": []}
        for name, entry in table.items():
            if isinstance(entry, dict):
                chosen[name] = [
                    (parameter, self._values(f"parameters.{name}.{parameter}", values))
                    for parameter, values in entry.items()
                ]
            else:
                chosen[""].append((name, self._values(f"parameters.{name}", entry)))
        return tuple((name, tuple(axes)) for name, axes in chosen.items() if axes)

    def _values(self, key: str, entry: object) -> tuple[int, ...]:
        values = self._list(key, [entry] if type(entry) is int else entry)
        for value in values:
            if type(value) is not int:
                raise self._error(key, f"{value!r} is no integer")
        return tuple(dict.fromkeys(values))

    def _integers(self, key: str, entry: object) -> list[int]:
        values = self._list(key, entry)
        for value in values:
            if type(value) is not int:
                raise self._error(key, f"{value!r} is no integer")
            if not 1 <= value <= _LARGEST:
                raise self._error(key, f"{value} is not between 1 and {_LARGEST}")
        return values

    def _texts(self, key: str, *, needed: bool = False) -> tuple[str, ...]:
        if key not in self._data and not needed:
            return ()
        values = self._list(key, self._data.get(key))
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self._error(key, f"{value!r} is no text")
        return tuple(dict.fromkeys(values))

    def _choice(self, key: str, choices: tuple[str, ...], usual: str) -> str:
        value = self._data.get(key, usual)
        if value not in choices:
            raise self._error(key, f"{value!r} is not one of {', '.join(choices)}")
        return str(value)

    def _list(self, key: str, value: object) -> list[Any]:
        if value is None:
            raise self._error(key, "this key is missing")
        if not isinstance(value, list) or not value:
            raise self._error(key, "this must be a list with something in it")
        return value

    def _error(self, key: str, reason: str) -> SweepError:
        return SweepError(f"{self._name}: {key}: {reason}.")
