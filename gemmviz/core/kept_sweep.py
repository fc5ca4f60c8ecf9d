"""A sweep as files keep it, its identity and its results, and the report that these make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path

from gemmviz.core.codec import CodecError, from_json
from gemmviz.core.model import Device, DeviceKey, Problem, Result, Variant
from gemmviz.core.policy import Policy
from gemmviz.core.result_document import Document, DocumentError, read_results
from gemmviz.core.result_source import kind_of
from gemmviz.core.store import Filter, ResultStore, StoreError
from gemmviz.core.sweep import NOT_TRIED, Axis, Configuration, Strategy, Sweep, SweepReport
from gemmviz.core.sweep_cells import planned_cell
from gemmviz.core.sweep_plan import combinations, plan
from gemmviz.core.winners import cells_of, race_of, winners_of

_MOST_PLANNED = 20_000
"""Of a sweep of more combinations only those that were measured are known: a plan takes long."""

_KEY = tuple(field.name for field in fields(DeviceKey))


@dataclass(frozen=True, slots=True)
class _Place(DeviceKey):
    driver_version: str | None = None

    @property
    def key(self) -> DeviceKey:
        """The device's key alone."""
        return DeviceKey(*(getattr(self, name) for name in _KEY))


@dataclass(frozen=True, slots=True)
class ToldSweep:
    """What an identity says of a sweep: see :func:`gemmviz.core.sweep_file.identity`.

    Attributes:
        variants: See :class:`gemmviz.core.sweep.Sweep`, as for the rest.
        axes: The same.
        problems: The same.
        devices: The keys of its devices.
        policy: The same.
        strategy: The same.
        budget: The same.
    """

    variants: tuple[Variant, ...]
    axes: tuple[tuple[str, tuple[Axis, ...]], ...]
    problems: tuple[Problem, ...]
    devices: tuple[_Place, ...]
    policy: Policy
    strategy: Strategy
    budget: int = 0

    @property
    def keys(self) -> tuple[DeviceKey, ...]:
        """The keys of its devices, in their order."""
        return tuple(each.key for each in self.devices)

    def sweep(self, devices: Sequence[Device]) -> Sweep:
        """The sweep on some devices, which are those of the keys."""
        return Sweep(self.variants, self.axes, self.problems, tuple(devices), self.policy,
                     self.strategy, self.budget)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptSweep:
    """A sweep with what came of it.

    Attributes:
        sweep: What was to be tried.
        report: What came of it.
        results: What the report is made of, oldest first.
        numbers: Those of the results in their file, where they are of one.
    """

    sweep: Sweep
    report: SweepReport
    results: tuple[Result, ...]
    numbers: tuple[int, ...] = ()


def told_sweep(text: str) -> ToldSweep:
    """What an identity says.

    Raises:
        CodecError: It is none.
    """
    try:
        return from_json(ToldSweep, json.loads(text))
    except (RecursionError, json.JSONDecodeError) as error:
        raise CodecError("It is no JSON") from error


def kept_sweep(text: str, numbered: Iterable[tuple[int, Result]]) -> KeptSweep | None:
    """A sweep from its identity and its results; None where these tell of none that can be read.

    Devices of which there is no result are left out.

    Args:
        text: The identity.
        numbered: Numbers and results, oldest first.
    """
    numbered = tuple(numbered)
    results = tuple(result for _, result in numbered)
    try:
        told = told_sweep(text)
        known = {result.device.key: result.device for result in results}
        devices = [known[key] for key in told.keys if key in known]
        sweep = told.sweep(devices)
        report = report_of(sweep, results)
    except (ArithmeticError, LookupError, TypeError, ValueError):  # formulas may say anything
        return None
    numbers = tuple(number for number, _ in numbered)
    return KeptSweep(sweep, report, results, numbers) if report.cells else None


def report_of(sweep: Sweep, results: Iterable[Result]) -> SweepReport:
    """What a sweep has come to by its results, with what is still to be measured.

    Args:
        sweep: The sweep.
        results: Those that were saved, in their order.

    Raises:
        ValueError: The sweep cannot be.
    """
    found = {cell.configuration: cell for cell in cells_of(sweep, results)}
    variants = {variant.id: variant for variant in sweep.variants}
    decided = {race_of(name) for name, cell in found.items() if cell.best}
    cells, refused = [], 0
    if combinations(sweep) <= _MOST_PLANNED:
        planned = plan(sweep)
        refused = len(planned.refused)
        for name in planned.configurations:
            if name in found:
                cells.append(found.pop(name))
                continue
            cell = planned_cell(name, variants[name.variant], sweep.devices[name.device])
            if sweep.strategy == "model" and race_of(name) in decided:
                cell = replace(cell, state="dropped", why_not=NOT_TRIED)
            cells.append(cell)
    cells += found.values()
    winners = winners_of(cells, sweep.policy, sweep.devices, sweep.variants)
    return SweepReport(tuple(cells), winners, refused)


def configurations(sweep: Sweep, results: Iterable[Result]) -> tuple[Configuration, ...]:
    """What each result is of; a device that the sweep has not is -1."""
    places = {device.key: place for place, device in enumerate(sweep.devices)}
    return tuple(
        Configuration(job.variant.id, job.parameters, job.problem, places.get(job.device, -1))
        for job in (result.job for result in results)
    )


def read_kept_sweep(
    path: Path, number: int | None = None, complain: Callable[[str], None] = lambda _: None
) -> KeptSweep | None:
    """A sweep that a file has with its results; None where it has none.

    Args:
        path: A results file, or a picture or a document that carries one.
        number: Which of them, from 1 on in the order in which they were begun; None for that of
            the newest result.
        complain: Is told in a sentence what cannot be read.

    Raises:
        DocumentError: The file cannot be read, or has no such sweep.
    """
    if kind_of(path) != "store":
        kept = sweep_of_document(read_results(path))
        if number is not None and (kept is None or number != 1):
            raise DocumentError(_no_sweep(path, number, int(kept is not None)))
        return kept
    try:
        with closing(ResultStore.open(path, read_only=True)) as store:
            sweeps = store.sweeps()
            if number is not None and not 1 <= number <= len(sweeps):
                raise DocumentError(_no_sweep(path, number, len(sweeps)))
            if number is None:
                chosen = _newest(store, sweeps)
                if chosen is None:
                    return None
            else:
                chosen = sweeps[number - 1]
            kept = kept_sweep(chosen[1], store.results(chosen[0]))
            if kept is None:
                place = sweeps.index(chosen) + 1
                complain(f"Sweep {place} of {path.name} has no result that can be read.")
            return kept
    except StoreError as error:
        raise DocumentError(str(error)) from error


def sweep_of_document(document: Document) -> KeptSweep | None:
    """The sweep that a picture shows; None where it shows none."""
    return kept_sweep(document.sweep, document.results) if document.sweep else None


def _newest(store: ResultStore, sweeps: tuple[tuple[int, str], ...]) -> tuple[int, str] | None:
    """The sweep that was measured last, though another one may have been begun later."""
    newest = {
        number: rows[0].id
        for number, _ in sweeps
        if (rows := store.rows(Filter(sweep=number, order="newest")))
    }
    if not newest:
        return None
    last = max(newest, key=newest.__getitem__)
    return next(each for each in sweeps if each[0] == last)


def _no_sweep(path: Path, number: int, count: int) -> str:
    many = f"{count} sweep{'s' * (count != 1)}" if count else "no sweep"
    return f"{path.name} has no sweep {number}: it has {many}."
