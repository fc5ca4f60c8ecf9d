"""What one access costs a warp: sectors and lines of global memory, passes of local banks.

Sectors are 32 bytes and lines 128; a bank is four bytes wide, and different words of one bank are
served one after the other, while lanes that want the same word share it. Accesses wider than four
bytes go in parts of a warp: on NVIDIA 8 bytes per half-warp and 16 per quarter-warp, on AMD 16
bytes in phases of 8 lanes, 4 bytes in runs of 32; Intel has 16 banks and moves 16 words a turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.core.access.memory import Event
from gemmviz.core.access.report import Machine

SECTOR_BYTES = 32
LINE_BYTES = 128
WORD_BYTES = 4
_WIDEST = 16
_WIDEST_MAP = 2**26  # bytes of a map that is quicker than sorting
_MOST_AT_ONCE = 2**20
_NOBODY = np.iinfo(np.int64).min

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Byte offsets of an access: one row for each execution that differs.

    Attributes:
        offsets: (rows, work-items), the most negative number where one takes no part.
        weights: How many executions each row stands for.
    """

    offsets: Integers
    weights: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What each warp pays, of shape (rows, groups, warps): in global or in local memory.

    Attributes:
        lanes: Active lanes.
        distinct: Distinct addresses among them.
        units: Sectors, or passes.
        ideal: The same for lanes side by side without conflicts.
        lines: Lines, or the most words in one bank.
    """

    lanes: Integers
    distinct: Integers
    units: Integers
    ideal: Integers
    lines: Integers


def rows_of(event: Event, count: int, period: int) -> Rows:
    """The executions of an event, alike ones counted instead of listed.

    Along a loop whose every turn moves all addresses by the same step, costs repeat as soon as the
    steps come to a multiple of ``period`` bytes.

    Args:
        event: What was recorded.
        count: Work-items.
        period: Bytes that a shift by changes no cost: a line, or once around the banks.
    """
    leading = event.leading()
    rank = len(leading) + 1
    offset = np.asarray(event.offset, dtype=np.int64)
    offset = offset.reshape((1,) * (rank - offset.ndim) + offset.shape)
    mask = None
    if event.mask is not True:
        mask = event.mask.reshape((1,) * (rank - event.mask.ndim) + event.mask.shape)
    each = math.prod(event.axes) // math.prod(leading)
    weights = np.full(leading, each, dtype=np.int64)
    for axis in range(len(leading)):
        if mask is None or mask.shape[axis] == 1:
            offset, weights = _folded(offset, weights, axis, period)
    shape = (*weights.shape, count)
    whole = np.broadcast_to(offset, shape)
    if mask is not None:
        whole = np.where(mask, whole, _NOBODY)
    return Rows(whole.reshape(-1, count), weights.reshape(-1))


def _folded(offset: Integers, weights: Integers, axis: int,
            period: int) -> tuple[Integers, Integers]:  # fmt: skip
    """Offsets and weights with the turns of one axis that repeat earlier ones folded onto them."""
    turns = offset.shape[axis]
    if turns < 3:
        return offset, weights
    front = np.moveaxis(offset, axis, 0)
    step = int((front[1] - front[0]).flat[0])
    distance = period // math.gcd(step, period) if step else 1
    if distance >= turns or not bool((front[1:] - front[:-1] == step).all()):
        return offset, weights
    pieces = [
        np.take(weights, range(first, turns, distance), axis=axis).sum(axis=axis, keepdims=True)
        for first in range(distance)
    ]
    return np.take(offset, range(distance), axis=axis), np.concatenate(pieces, axis=axis)


def joined(parts: list[Rows]) -> Rows:
    """The rows of several events, one below the other."""
    if len(parts) == 1:
        return parts[0]
    return Rows(
        np.concatenate([part.offsets for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def costs(rows: Rows, groups: int, size: int, machine: Machine, *, local: bool) -> Costs:
    """What every warp of every row pays.

    Args:
        rows: Offsets of the work-items of all groups, group after group.
        groups: How many groups there are.
        size: Bytes that one lane moves.
        machine: Warp and banks.
        local: Whether it is an access of local memory.
    """
    count = rows.offsets.shape[1]
    at_once = max(1, _MOST_AT_ONCE // count)
    parts = []
    for start in range(0, len(rows.weights), at_once):
        warps = in_warps(rows.offsets[start : start + at_once], groups, machine.warp)
        parts.append(_local(warps, size, machine) if local else _global(warps, size))
    return Costs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def in_warps(offsets: Integers, groups: int, warp: int) -> Integers:
    """Offsets as (rows, groups, warps, lanes); lanes that no work-item fills take no part.

    A group that fills no warp has lanes for its work-items alone.
    """
    shaped = offsets.reshape(len(offsets), groups, -1)
    warp = min(warp, shaped.shape[2])
    missing = -shaped.shape[2] % warp
    if missing:
        shaped = np.pad(shaped, ((0, 0), (0, 0), (0, missing)), constant_values=_NOBODY)
    return shaped.reshape(len(offsets), groups, -1, warp)


def _global(warps: Integers, size: int) -> tuple[Integers, ...]:
    ordered = np.sort(warps, axis=-1)
    lanes = (warps != _NOBODY).sum(axis=-1)
    return (
        lanes,
        _distinct(ordered),
        _blocks(ordered, size, SECTOR_BYTES),
        -(-lanes * size // SECTOR_BYTES),
        _blocks(ordered, size, LINE_BYTES),
    )


def _distinct(ordered: Integers) -> Integers:
    """How many different places a sorted last axis holds; nobody's does not count."""
    changes = (ordered[..., 1:] != ordered[..., :-1]).sum(axis=-1)
    total: Integers = changes + (ordered[..., 0] != _NOBODY)
    return total


def _blocks(ordered: Integers, size: int, block: int) -> Integers:
    """How many blocks of memory a sorted last axis of accesses touches."""
    nobody = ordered == _NOBODY
    first = ordered // block
    first[nobody] = _NOBODY
    last = (ordered + (size - 1)) // block
    last[nobody] = _NOBODY
    most = int((last - first).max())
    if most == 0:
        return _distinct(first)
    pieces = [np.where(first + step <= last, first + step, last) for step in range(most + 1)]
    return _distinct(np.sort(np.concatenate(pieces, axis=-1), axis=-1))


def _local(warps: Integers, size: int, machine: Machine) -> tuple[Integers, ...]:
    """Each lane's bytes in pieces that a bank's turn can move, part of a warp after part."""
    lanes = (warps != _NOBODY).sum(axis=-1)
    piece = size if size in (1, 2, 4, 8, 16) else (_WIDEST if size % _WIDEST == 0 else WORD_BYTES)
    passes = np.zeros_like(lanes)
    ideal, degree = np.zeros_like(lanes), np.zeros_like(lanes)
    for start in range(0, size, piece):
        moved = np.where(warps == _NOBODY, _NOBODY, warps + start)
        counted, parts = _passes(moved, piece, machine)
        passes += counted.sum(axis=-1)
        ideal += parts.sum(axis=-1)
        degree = np.maximum(degree, counted.max(axis=-1))
    return lanes, _distinct(np.sort(warps, axis=-1)), passes, ideal, degree


def _passes(warps: Integers, piece: int, machine: Machine) -> tuple[Integers, Integers]:
    """Turns of each part of each warp, and whether the part has anything to do."""
    words = max(1, piece // WORD_BYTES)
    together = 16 if machine.vendor == "Intel" else 32
    part = max(1, min(machine.warp, together // words))
    missing = -warps.shape[-1] % part
    if missing:
        widths = [(0, 0)] * (warps.ndim - 1) + [(0, missing)]
        warps = np.pad(warps, widths, constant_values=_NOBODY)
    parts = warps.reshape(*warps.shape[:-1], -1, part)
    nobody = parts == _NOBODY
    first = parts // WORD_BYTES
    used = np.concatenate(
        [np.where(nobody, _NOBODY, first + word) for word in range(words)], axis=-1
    )
    used.sort(axis=-1)
    fresh = used != _NOBODY
    fresh[..., 1:] &= used[..., 1:] != used[..., :-1]
    flat = fresh.reshape(-1, used.shape[-1])
    row, column = np.nonzero(flat)
    bank = used.reshape(flat.shape)[row, column] % machine.banks
    load = np.bincount(row * machine.banks + bank, minlength=len(flat) * machine.banks)
    most = load.reshape(-1, machine.banks).max(axis=1)
    shape = parts.shape[:-1]
    return most.reshape(shape), (~nobody).any(axis=-1).astype(np.int64)


def touched_bytes(parts: list[Integers], size: int) -> int:
    """Distinct bytes that accesses of ``size`` bytes at these offsets touch."""
    places = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    places = places[places != _NOBODY]
    if not len(places):
        return 0
    low, high = int(places.min()), int(places.max())
    if high - low < _WIDEST_MAP:
        seen = np.zeros(high - low + 1, dtype=np.bool_)
        seen[places - low] = True
        places = np.flatnonzero(seen)
    else:
        places = np.unique(places)
    return int(np.minimum(np.diff(places), size).sum()) + size
