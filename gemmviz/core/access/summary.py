"""From recorded events to the report: one entry an access, worst warp, means and totals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pycparser import c_ast
from pycparserext.ext_c_generator import OpenCLCGenerator

from gemmviz.core.access.kinds import leaf
from gemmviz.core.access.memory import Event, Site
from gemmviz.core.access.report import Access, AccessReport, Machine, Unknown
from gemmviz.core.access.running import Run
from gemmviz.core.access.source import written
from gemmviz.core.access.strides import Grid, describe, global_effect, local_effect
from gemmviz.core.access.warps import (
    LINE_BYTES,
    SECTOR_BYTES,
    WORD_BYTES,
    Costs,
    costs,
    in_warps,
    joined,
    rows_of,
    touched_bytes,
)
from gemmviz.core.launch import flop, least_bytes, operand_orders
from gemmviz.core.model import ELEMENTS, Problem, Variant

_NOBODY = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One access of the report: where it stands and all its executions."""

    site: Site
    text: str
    events: tuple[Event, ...]

    @property
    def name(self) -> tuple[str, str, str, str, int]:
        """What it is found by in another run of the same source."""
        site = self.site
        return str(site.node.coord), self.text, site.memory.name, site.kind, site.bytes


@dataclass(frozen=True, slots=True)
class Figures:
    """What one access costs, over the executions of all groups looked at.

    ``units`` are sectors or passes, ``degree`` is the most lines, or the most words in one bank.
    ``bytes_moved`` are those of whole sectors; 0 in local memory.
    """

    executions: int
    units_least: int
    units_mean: float
    units_most: int
    ideal: int
    degree: int
    lines_mean: float
    distinct_bytes_mean: float
    bytes_asked: int
    bytes_once: int
    bytes_moved: int
    broadcast: bool
    pattern: str


class AccessTable:
    """The accesses of a run in the order of the source."""

    def __init__(self, done: Run) -> None:
        self.run = done
        state = done.state
        events: list[list[Event]] = [[] for _ in state.sites]
        for event in state.events:
            events[event.site].append(event)
        texts = _texts(done)
        order = sorted(range(len(state.sites)), key=lambda n: (state.sites[n].line, n))
        self.entries = tuple(
            Entry(state.sites[n], texts(state.sites[n].node), tuple(events[n]))
            for n in order
            if events[n]
        )

    def lanes(self, entry: Entry) -> npt.NDArray[np.int64]:
        """Lanes that make an access over all its executions, group by group."""
        items, groups = self.run.launch.items, len(self.run.groups)
        total = np.zeros(groups, dtype=np.int64)
        for event in entry.events:
            turns = math.prod(event.axes)
            if event.mask is True:
                total += items * turns
                continue
            shape = (*event.mask.shape[:-1], items * groups)
            mask = np.broadcast_to(event.mask, shape).reshape(-1, groups, items)
            total += mask.sum(axis=(0, 2)) * (turns // len(mask))
        return total

    def alike(self, groups: tuple[int, ...]) -> bool:
        """Whether some groups compute and move as much as each other."""
        chosen = list(groups)
        columns = [self.run.state.flops, *(self.lanes(entry) for entry in self.entries)]
        return all(bool((column[chosen] == column[chosen[0]]).all()) for column in columns)

    def local_bytes(self) -> int:
        """Bytes of the local arrays and arguments."""
        state = self.run.state
        arrays = list(state.locals.values())
        for memory in (data.memory for data in _addresses(state)):
            if memory.space == "local" and memory not in arrays:
                arrays.append(memory)
        return sum(memory.kind.bytes for memory in arrays)

    def elements(
        self, entry: Entry, group: int, most: int
    ) -> tuple[npt.NDArray[np.int64], int, int]:
        """What one group touches: (steps, work-items) elements, their width, the row length."""
        items = self.run.launch.items
        scalar = max(1, leaf(entry.site.memory.kind).bytes)
        blocks, keys = [], []
        for event in entry.events:
            block, times = _unfolded(event, items, group)
            blocks.append(block)
            keys.append(times)
        whole = np.concatenate(blocks)
        depth = max(times.shape[1] for times in keys)
        padded = [np.pad(t, ((0, 0), (0, depth - t.shape[1])), constant_values=-1) for t in keys]
        order = np.lexsort(np.concatenate(padded).T[::-1]) if depth else np.arange(len(whole))
        whole = whole[order]
        whole = whole[(whole != _NOBODY).any(axis=1)][:most]
        found = np.where(whole == _NOBODY, -1, whole // scalar)
        return found, entry.site.bytes // scalar, entry.site.memory.row_length


def _addresses(state: Any) -> Iterable[Any]:
    for scope in state.scopes:
        for memory in scope.values():
            for data in memory.cells or ():
                if hasattr(data, "memory"):
                    yield data


def _unfolded(event: Event, items: int, group: int) -> tuple[npt.NDArray[np.int64], Any]:
    """Every execution of an event by one group, and which turn of which loop each was."""
    axes = tuple(reversed(event.axes))  # as the axes of arrays: the innermost loop first
    mine = slice(group * items, (group + 1) * items)
    parts = []
    for payload in (event.offset, event.mask):
        array = np.asarray(payload)
        if array.ndim and array.shape[-1] > 1:
            array = array[..., mine]
        parts.append(np.broadcast_to(array, (*axes, items)))
    whole = np.where(parts[1], parts[0].astype(np.int64), _NOBODY).reshape(-1, items)
    times = [
        np.broadcast_to(turn if np.ndim(turn) == 0 else turn[..., 0], axes).reshape(-1)
        for turn in event.turns
    ]
    columns = np.stack(times, axis=1) if times else np.zeros((len(whole), 0), dtype=np.int64)
    return whole, columns


def _texts(done: Run) -> Any:
    """A function from a node to how the source writes it."""
    program = done.program
    turns: dict[int, tuple[str, int]] = {}
    counted: dict[tuple[int, str], int] = {}
    generator = OpenCLCGenerator()

    def visit(node: Any, inside: bool) -> None:
        is_element = isinstance(node, c_ast.ArrayRef)
        if is_element and not inside:
            name = _base(node)
            key = node.coord.line if node.coord else 0, name
            turns[id(node)] = name, counted.get(key, 0)
            counted[key] = counted.get(key, 0) + 1
        for label, child in node.children():
            visit(child, is_element and label == "name")

    for function in program.functions.values():
        visit(function.body, inside=False)

    def text(node: Any) -> str:
        expanded = str(generator.visit(node))
        name, turn = turns.get(id(node), ("", 0))
        line = node.coord.line if node.coord else 0
        return written(program, line, name, turn, expanded) if name else expanded

    return text


def _base(node: Any) -> str:
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return node.name if isinstance(node, c_ast.ID) else ""


def figures(entry: Entry, done: Run, machine: Machine, stands_for: tuple[int, ...],
            grid: Grid) -> Figures:  # fmt: skip
    """What an access costs; each group counts for as many as it stands for."""
    local = entry.site.memory.space == "local"
    period = machine.banks * WORD_BYTES if local else LINE_BYTES
    count = done.state.lanes.count
    rows = joined([rows_of(event, count, period) for event in entry.events])
    paid = costs(rows, len(done.groups), entry.site.bytes, machine, local=local)
    made = paid.lanes > 0
    weights = rows.weights[:, None, None] * made
    scaled = weights * np.asarray(stands_for)[None, :, None]
    total = max(1, int(scaled.sum()))
    worst = np.unravel_index(int(np.where(made, paid.units, -1).argmax()), paid.units.shape)
    row, group, warp = worst
    units = int((scaled * paid.units).sum())
    lanes = in_warps(rows.offsets[row : row + 1], len(done.groups), machine.warp)[0, group, warp]
    alike = bool((paid.distinct[made] == 1).all()) and int(paid.lanes.max()) > 1
    return Figures(
        executions=int(weights[:, 0].sum()),
        units_least=int(paid.units[made].min()),
        units_mean=units / total,
        units_most=int(paid.units[worst]),
        ideal=_ideal(paid, worst, entry.site.bytes, local=local),
        degree=int(paid.lines[made].max()),
        lines_mean=float((scaled * paid.lines).sum() / total),
        distinct_bytes_mean=float((scaled * paid.distinct).sum() / total) * entry.site.bytes,
        bytes_asked=int((scaled * paid.lanes).sum()) * entry.site.bytes,
        bytes_once=int((scaled * paid.distinct).sum()) * entry.site.bytes,
        bytes_moved=0 if local else units * SECTOR_BYTES,
        broadcast=alike,
        pattern=_pattern(entry, lanes, paid, worst, grid),
    )


def _ideal(paid: Costs, worst: Any, size: int, *, local: bool) -> int:
    """Passes of that warp without a conflict, or sectors for its distinct elements in a row."""
    if local:
        return int(paid.ideal[worst])
    # Wide accesses may overlap, so that they fit into less than each of them apart would.
    return min(int(paid.units[worst]), -(-int(paid.distinct[worst]) * size // SECTOR_BYTES))


def _pattern(entry: Entry, lanes: npt.NDArray[np.int64], paid: Costs, worst: Any,
             grid: Grid) -> str:  # fmt: skip
    """The strides of one warp, and what they lead to."""
    scalar = max(1, leaf(entry.site.memory.kind).bytes)
    places = lanes[lanes != _NOBODY] // scalar
    local, size = entry.site.memory.space == "local", entry.site.bytes
    strides = describe(places, size // scalar, grid)
    if len(places) == 1 and paid.units[worst] == 1:
        return strides
    ideal = _ideal(paid, worst, size, local=local)
    distinct, units = int(paid.distinct[worst]), int(paid.units[worst])
    if local:
        outcome = local_effect(len(places), distinct, units, ideal)
    else:
        used = distinct * size / (units * SECTOR_BYTES)
        outcome = global_effect(len(places), distinct, units, ideal, used)
    return f"{strides}: {outcome}"


def summarise(table: AccessTable, stands_for: tuple[int, ...], variant: Variant, problem: Problem,
              machine: Machine) -> AccessReport:  # fmt: skip
    """The report of a run whose groups stand for so many each."""
    done = table.run
    accesses = []
    once = asked = moved = local_bytes = 0
    for entry in table.entries:
        grid = _grid(entry, operand_orders(variant, problem))
        found = figures(entry, done, machine, stands_for, grid)
        accesses.append(_access(entry, found, table))
        if entry.site.memory.space == "local":
            local_bytes += found.bytes_asked
        else:
            once += found.bytes_once
            asked += found.bytes_asked
            moved += found.bytes_moved
    work = flop(variant, problem)
    unknowns = sorted(done.state.unknowns)
    # Ratios of totals that lack something bound nothing in particular.
    whole = not unknowns
    return AccessReport(
        accesses=tuple(accesses),
        unknowns=tuple(Unknown(line, reason) for line, reason in unknowns),
        machine=machine,
        group_size=done.launch.items,
        groups=math.prod(done.launch.groups),
        flop=work,
        executed_flop=int((done.state.flops * np.asarray(stands_for)).sum()),
        global_traffic_bytes=once,
        local_traffic_bytes=local_bytes,
        minimum_bytes=least_bytes(variant, problem),
        intensity=work / once if once and whole else None,
        reuse=_naive_bytes(variant, problem) / asked if asked and whole else None,
        sector_bytes=moved,
    )


def _naive_bytes(variant: Variant, problem: Problem) -> int:
    """Bytes that a kernel without reuse asks for: each cell its own operands, and one store."""
    each = 3 if variant.operation == "add" else 2 * problem.k + 1
    return problem.m * problem.n * each * ELEMENTS[problem.element].bytes


def _grid(entry: Entry, orders: Mapping[str, str]) -> Grid:
    memory = entry.site.memory
    return Grid(memory.row_length, orders.get(memory.matrix, "row"))


def _access(entry: Entry, found: Figures, table: AccessTable) -> Access:
    memory = entry.site.memory
    local = memory.space == "local"
    first = [_unfolded_offsets(event, table.run.launch.items) for event in entry.events]
    lanes = int(table.lanes(entry)[0])
    return Access(
        array=memory.name,
        matrix=memory.matrix,
        kind=entry.site.kind,
        space="local" if local else "global",
        line=entry.site.line,
        text=entry.text,
        element_bytes=entry.site.bytes,
        executions=found.executions,
        sectors=None if local else found.units_most,
        sectors_mean=None if local else found.units_mean,
        lines=None if local else found.degree,
        ideal_sectors=None if local else found.ideal,
        passes=found.units_most if local else None,
        passes_mean=found.units_mean if local else None,
        bytes_per_group=lanes * entry.site.bytes,
        distinct_bytes=touched_bytes(first, entry.site.bytes),
        broadcast=found.broadcast,
        pattern=found.pattern,
        ideal_passes=found.ideal if local else None,
    )


def _unfolded_offsets(event: Event, items: int) -> npt.NDArray[np.int64]:
    """The offsets of the first group, each listed once for the loops that do not move it."""
    parts = []
    for payload in (event.offset, event.mask):
        array = np.asarray(payload)
        parts.append(array[..., :items] if array.ndim and array.shape[-1] > 1 else array)
    whole: npt.NDArray[np.int64] = np.where(parts[1], parts[0].astype(np.int64), _NOBODY)
    return whole.reshape(-1)


def local_total(table: AccessTable, machine: Machine) -> tuple[tuple[tuple[int, int], ...], int]:
    """Passes of each local access by its index, the worst warp's, and of the group in all."""
    passes, total = [], 0
    for number, entry in enumerate(table.entries):
        if entry.site.memory.space != "local":
            continue
        found = figures(entry, table.run, machine, (1,) * len(table.run.groups), Grid(1))
        passes.append((number, found.units_most))
        total += round(found.units_mean * found.executions)
    return tuple(passes), total
