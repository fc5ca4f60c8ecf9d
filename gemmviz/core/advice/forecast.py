"""How long a configuration should take on a device: a model to rank kernels by, not a clock.

Three things keep a unit busy: arithmetic, its load pipe, and what its groups fetch from memory. The
slowest decides, softened because the others are never hidden whole. The load pipe of a GPU takes
one turn per line of a global access and per bank pass of a local one; on a CPU every load is an
instruction and local memory is cache; a group of one item has a core for itself there, and its
whole vectors are what a core loads best. The result is divided by the share of the device that has
work, and by how far the work-items under way can hide latency. Of the absolute time little should
be believed; of nine rates on an H200 none was off by more than a factor of two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gemmviz.core.access.report import Access, AccessReport
from gemmviz.core.ceilings import LOCAL_READ, CeilingTable
from gemmviz.core.launch import Geometry, flop, geometry, least_bytes
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import ELEMENTS, Device, Parameters, Problem, Variant
from gemmviz.core.occupancy import limiters

Bound = Literal["arithmetic", "loads", "memory"]

_WIDTH = 128  # bytes that a load pipe moves in one turn: 32 banks of four, or one line
_SOFTNESS = 3
# A cell keeps one sum and, with its share of the fragments, about half a register more: 32
# registers for one cell an item, 80 for 8 x 4, 128 for 8 x 8 as compiled for CC 9.0.
_BASE_REGISTERS, _CELL_REGISTERS = 30, 1.55
_GPU_REGISTERS = 255
_CPU_REGISTERS = 16 * 8  # 16 vector registers of eight floats, the least that CPUs have today
# What reading ahead, buffers and layouts do on a GPU is not modelled; each rung has one such idea.
_RUNG_GAIN = 0.02
# A CPU's compiler puts plain loops over its whole vectors; vectors of four written out fill a part
# of them: 1.9 against 3.7 to 5.1 GFLOP/s at the same blocking on PoCL.
_SHORT_VECTOR = 2.0
# Where an item is a group its vectors are the core's own, as wide as those that make its peak.
_WHOLE_VECTOR = 0.25
_OWN_CELLS = 96  # what such an item keeps in registers where the lens was not asked: 6 x 2 vectors
_SPILL_POWER = 4  # 51 became 4.7 TFLOP/s where 233 registers were held down to 128
# From a step's loads to the end of its multiply-adds: what explains 29.6 TFLOP/s at 1024 where the
# same kernel makes 39.4 at 4096, and that one group of 256 items with 128 cells each loses nothing.
_LATENCY_CLOCKS = 128
_GPU_ITEMS = 2048  # work-items that hide a unit's latency where no table says how many it holds


@dataclass(frozen=True, slots=True)
class Rates:
    """What a device can do, in FLOP/s and B/s.

    Attributes:
        arithmetic: Peak of multiply-adds.
        loads: What its load pipes take, all units together.
        cache: What its groups fetch of what others have fetched before.
        memory: What its memory gives.
        measured: Whether these are measured ceilings; else only their ratios mean anything.
    """

    arithmetic: float
    loads: float
    cache: float
    memory: float
    measured: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A device with its row of the limits tables, if any, and what it can do."""

    device: Device
    limits: Limits | None
    rates: Rates


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the model says of one configuration.

    Attributes:
        variant: The kernel.
        parameters: Its macros.
        shape: Its launch.
        cells: Cells of C that a work-item makes, of an item that has a CPU's core for itself those
            that it keeps in registers at a time.
        seconds: The time of one launch; see the module for what it is worth.
        bound: What takes longest.
        load_bytes: What passes the load pipes, turns times their width,
        local_load_bytes: and the part of it that is local memory's; 0 where it was guessed.
        fetched_bytes: What all groups fetch together, each element once a group.
        padded: FLOP of the whole tiles over those of the problem, 1.0 where tiles fit.
        busy: Share of the device that has work, by whole groups a unit.
        hidden: How much of the latency the work-items under way hide, up to 1.
        seen: Whether the access lens was asked, or loads were guessed from the tile alone.
    """

    variant: Variant
    parameters: Parameters
    shape: Geometry
    cells: float
    seconds: float
    bound: Bound
    load_bytes: float
    local_load_bytes: float
    fetched_bytes: float
    padded: float
    busy: float
    hidden: float
    seen: bool

    @property
    def configuration(self) -> tuple[Variant, Parameters]:
        """What tells it from others."""
        return self.variant, self.parameters

    def loads_per_flop(self, work: int) -> float:
        """Bytes through the load pipe for each FLOP of the problem."""
        return self.load_bytes / work


def rates_of(device: Device, ceilings: CeilingTable | None, element: str) -> Rates:
    """Measured ceilings where there are any; else what devices of this type have in common.

    A GPU unit makes 128 multiply-adds and moves 128 bytes of local memory a clock, and memory gives
    some 7 % of the arithmetic's rate in bytes (measured on an H200: 65 TFLOP/s, 33 and 4.3 TB/s). A
    CPU core makes 16 multiply-adds and loads 16 bytes a clock unless the compiler vectorises.
    """
    assumed = _assumed(device)
    if ceilings is None:
        return assumed
    peak = ceilings.peak(element)
    if not peak:
        return assumed
    scale = peak / assumed.arithmetic
    # A CPU's ceiling is read in whole vectors, which few kernels' loads become.
    local = ceilings.find(LOCAL_READ) if device.type == "GPU" else None
    return Rates(
        peak,
        local.value if local is not None else assumed.loads * scale,
        ceilings.bandwidth("cache") or assumed.cache * scale,
        ceilings.bandwidth("global") or assumed.memory * scale,
        measured=True,
    )


def _assumed(device: Device) -> Rates:
    gpu = device.type == "GPU"
    peak = _units(device) * _clock_hz(device) * (256 if gpu else 32)
    loads, cache, memory = (0.5, 0.15, 0.07) if gpu else (0.25, 0.1, 0.03)
    return Rates(peak, loads * peak, cache * peak, memory * peak, measured=False)


def _units(device: Device) -> int:
    return device.compute_units or (64 if device.type == "GPU" else 4)


def _clock_hz(device: Device) -> float:
    """What the driver says, or a usual clock where it says nothing."""
    return device.clock_hz or (1.5e9 if device.type == "GPU" else 3e9)


def forecast(
    variant: Variant,
    parameters: Parameters,
    problem: Problem,
    place: Place,
    report: AccessReport | None = None,
) -> Forecast:
    """What the model says of a configuration.

    Args:
        variant: The kernel.
        parameters: Its macros.
        problem: What it computes.
        place: Where.
        report: What the lens says of it at this problem or a shorter K, with which all but the
            accesses to C grow; None guesses the loads from the tile: an item with c cells loads
            2/sqrt(c) elements for a multiply-add at best.

    Raises:
        ExprError: It has no launch at this problem.
    """
    shape = geometry(variant, parameters, problem)
    rows, cols = shape.tile
    alone = has_core(place.device, shape)
    cells = rows * cols / shape.group_size
    work = flop(variant, problem)
    padded = shape.groups * rows * cols / (problem.m * problem.n)
    size = ELEMENTS[problem.element].bytes
    rates, gpu = place.rates, place.device.type == "GPU"
    if alone:
        cells = min(cells, _own_cells(report, size) if report is not None else _OWN_CELLS)
    local = 0.0
    if report is not None and report.flop:
        deeper = work / report.flop * report.groups / shape.groups
        each = [
            (access.space, _turns(access, size, gpu=gpu, alone=alone)
             * (1.0 if _once(access) else deeper) * shape.groups)
            for access in report.accesses
        ]  # fmt: skip
        loads = sum(turns for _, turns in each)
        local = sum(turns for space, turns in each if space == "local")
        fetched = shape.groups * sum(
            access.distinct_bytes * (1.0 if access.matrix == "C" else deeper)
            for access in report.accesses
            if access.space == "global"
        )
    else:
        fetched = shape.groups * (rows + cols) * problem.k * size
        loads = padded * work * size / math.sqrt(cells)
        if shape.local_bytes:
            loads += 2 * fetched  # loaded, and stored in local memory
        elif gpu:
            loads *= 2  # a line of global memory is rarely used whole
    arithmetic = padded * work / rates.arithmetic
    memory = max(fetched / rates.cache, least_bytes(variant, problem) / rates.memory)
    parts: dict[Bound, float] = {
        "arithmetic": arithmetic, "loads": loads / rates.loads, "memory": memory
    }  # fmt: skip
    registers = _own_registers(cells) if alone else _registers(cells)
    held = registers / _most_registers(place, shape.group_size)
    if held > 1:  # what does not fit is loaded again and again
        parts["loads"] *= held**_SPILL_POWER
    together = sum(part**_SOFTNESS for part in parts.values()) ** (1 / _SOFTNESS)
    if gpu:
        together /= 1 + _RUNG_GAIN * variant.rung
    busy = _busy(shape, place.device)
    hidden = _hidden(shape, cells, problem.k, together, place)
    return Forecast(
        variant, parameters, shape, cells, together / (busy * hidden),
        max(parts, key=lambda name: parts[name]), loads, local, fetched, padded, busy, hidden,
        seen=report is not None,
    )  # fmt: skip


def has_core(device: Device, shape: Geometry) -> bool:
    """Whether each item has a core for itself: a CPU's compiler joins no items into vectors."""
    return device.type == "CPU" and shape.group_size == 1


def _once(access: Access) -> bool:
    """Whether a group makes it once, however long K is: no cell of C is touched twice."""
    return access.matrix == "C" and access.bytes_per_group <= access.distinct_bytes


def _turns(access: Access, element_bytes: int, *, gpu: bool, alone: bool) -> float:
    """Bytes of the load pipe that one access takes in one group.

    Args:
        access: What the lens says of it.
        element_bytes: Of the problem's elements.
        gpu: Whether lanes load together.
        alone: Whether the group is one item of a CPU.
    """
    if not gpu:
        # What leaves the first level of cache costs about twice.
        cost = 2.0 if access.space == "global" else 1.0
        if access.element_bytes > element_bytes:
            cost *= _WHOLE_VECTOR if alone else _SHORT_VECTOR
        return access.bytes_per_group * cost
    turns = access.lines if access.space == "global" else access.passes_mean
    return access.executions * max(1.0, turns or 1.0) * _WIDTH


def _own_cells(report: AccessReport, element_bytes: int) -> float:
    """Cells that an item with a core for itself makes at a time, from what it loads for them.

    A multiply-add of r x c cells loads 1/r of a vector's element and 1/c of one spread over it.
    """
    loaded = {True: 0.0, False: 0.0}
    for access in report.accesses:
        if access.kind == "load":
            loaded[access.element_bytes > element_bytes] += access.bytes_per_group / element_bytes
    made = report.flop / 2 / report.groups
    return made**2 / (loaded[True] * loaded[False]) if all(loaded.values()) else 1.0


def _own_registers(cells: float) -> int:
    """Elements that r x c cells take with a row of c, the longer, and a vector to spread."""
    return round(cells + math.sqrt(2 * cells) + 8)


def _registers(cells: float) -> int:
    """Registers that a work-item should need for so many cells."""
    return round(_BASE_REGISTERS + _CELL_REGISTERS * cells)


def _most_registers(place: Place, group_size: int) -> int:
    """Registers, of one element each, that a work-item of such a group may have."""
    limits = place.limits
    if place.device.type != "GPU":
        return _CPU_REGISTERS
    if limits is None or limits.max_registers is None:
        return _GPU_REGISTERS
    if limits.group_registers is None:
        return limits.max_registers
    return min(limits.max_registers, limits.group_registers // group_size)


def _busy(shape: Geometry, device: Device) -> float:
    """The share of the units' time that has work, by whole groups a unit."""
    units = device.compute_units
    return shape.groups / (units * -(-shape.groups // units)) if units else 1.0


def _resident(shape: Geometry, cells: float, place: Place) -> int:
    """Groups that a unit of a GPU holds at once: no more than it gets."""
    device, limits = place.device, place.limits
    if limits is not None:
        registers = min(_registers(cells), _most_registers(place, shape.group_size))
        known = registers if limits.vendor == "NVIDIA" else None
        room = min(
            limit.groups for limit in limiters(limits, shape.group_size, shape.local_bytes, known)
        )
    else:
        room = _GPU_ITEMS // shape.group_size
        if shape.local_bytes and device.local_mem_bytes:
            room = min(room, device.local_mem_bytes // shape.local_bytes)
    if device.compute_units:
        room = min(room, -(-shape.groups // device.compute_units))
    return max(1, room)


def _hidden(shape: Geometry, cells: float, depth: int, seconds: float, place: Place) -> float:
    """The share of a step's latency that the items under way on a unit hide.

    Args:
        shape: The launch.
        cells: Cells an item.
        depth: Steps along K.
        seconds: What the whole launch takes where nothing waits.
        place: Where.
    """
    device = place.device
    if device.type != "GPU":
        return 1.0
    of_a_group = seconds * _units(device) / (shape.groups * depth)
    step_clocks = of_a_group * _resident(shape, cells, place) * _clock_hz(device)
    waiting = _LATENCY_CLOCKS / step_clocks
    return float((1 + waiting**_SOFTNESS) ** (-1 / _SOFTNESS))
