"""How many work-groups a compute unit holds at once, what limits them and what more would cost."""

from __future__ import annotations

from dataclasses import replace

from gemmviz.core.estimate import Estimate, Limiter
from gemmviz.core.limits_table import Limits
from gemmviz.core.model import Device
from gemmviz.core.units import memory, percent

__all__ = ["Estimate", "Limiter", "estimate", "estimate_on", "largest_local", "limiters"]


def estimate_on(
    device: Device,
    limits: Limits | None,
    group_size: int,
    local_bytes: int,
    registers: int | None = None,
    *,
    barriers: int = 1,
    local_limit: int | None = None,
) -> Estimate:
    """The occupancy of a kernel on a device, with or without a row of the tables.

    Args:
        device: Where it would run; a CPU or a simulator has no occupancy.
        limits: Its row, or None: then only the driver's local-memory budget is known.
        group_size: Work-items of a group.
        local_bytes: Local memory of a group, arrays and arguments together.
        registers: See :func:`estimate`.
        barriers: See :func:`estimate`.
        local_limit: See :func:`estimate`; without a row it replaces CL_DEVICE_LOCAL_MEM_SIZE.

    Raises:
        ValueError: An argument is out of range.
    """
    if device.type not in {"CPU", "simulator"} and limits is not None:
        return estimate(
            limits, group_size, local_bytes, registers, barriers, local_limit=local_limit
        )
    _check(group_size, local_bytes, registers, barriers)
    if device.type in {"CPU", "simulator"}:
        return _not_applicable(device, group_size, local_bytes, registers)
    budget = device.local_mem_bytes if local_limit is None else local_limit
    return _budget_only(budget, device.max_work_group_size, group_size, local_bytes, registers)


def estimate(
    limits: Limits,
    group_size: int,
    local_bytes: int,
    registers: int | None = None,
    barriers: int = 1,
    *,
    local_limit: int | None = None,
) -> Estimate:
    """The occupancy of a kernel by a row of the vendors' tables.

    Of the limits on slots, groups, local memory, registers and barriers the lowest decides. The
    NVIDIA part reproduces NVIDIA's own calculator, the AMD part LLVM's.

    Args:
        limits: The row.
        group_size: Work-items of a group.
        local_bytes: Local memory of a group, arrays and arguments together.
        registers: Registers per work-item (on Intel per thread), or None if unknown: the result
            is then an upper bound.
        barriers: Barriers that a group uses.
        local_limit: Most bytes of local memory that the driver gives one launch, where it says;
            None takes the row's.

    Raises:
        ValueError: An argument is out of range.
    """
    _check(group_size, local_bytes, registers, barriers)
    row = limits
    if local_limit is not None:
        row = replace(limits, per_group_bytes=min(local_limit, limits.per_group_bytes))
    allowed = limiters(row, group_size, local_bytes, registers, barriers)
    groups = min(limiter.groups for limiter in allowed)
    warps = -(-group_size // row.lane_width)
    one_more = largest_local(row, row.pool_bytes // (groups + 1))
    known = registers is not None or not row.partition_registers
    result = Estimate(
        group_size=group_size,
        local_bytes=local_bytes,
        registers=registers,
        confidence="vendor-documented limits"
        if known
        else "vendor limits, registers unknown: an upper bound",
        groups_per_unit=groups,
        groups_by_local_memory=next(
            (limiter.groups for limiter in allowed if limiter.name == "local memory"), None
        ),
        warps_per_group=warps,
        work_items=groups * group_size,
        occupancy=groups * warps / row.slots,
        limiters=tuple(limiter.name for limiter in allowed if limiter.groups == groups),
        limits=tuple(replace(limiter, resident=groups) for limiter in allowed),
        allocated_local_bytes=_allocated_local(row, local_bytes),
        pool_bytes=row.pool_bytes,
        per_group_bytes=row.per_group_bytes,
        per_group_source="vendor table"
        if row.per_group_bytes == limits.per_group_bytes
        else "queried",
        headroom_bytes=largest_local(row, row.pool_bytes // groups) if groups else None,
        next_step_bytes=one_more if one_more >= 0 else None,
        pool_name=row.pool_name,
        warp_name=row.warp_name,
        lane_width=row.lane_width,
        slots=row.slots,
        source=row.source,
        assumes=row.assumes,
    )
    if not groups:
        result = replace(result, refusal=_refusal(row, result))
    return replace(result, explanation=_explain(result))


def _check(group_size: int, local_bytes: int, registers: int | None, barriers: int) -> None:
    if group_size < 1:
        raise ValueError(f"A work-group has at least one work-item, not {group_size}.")
    if local_bytes < 0 or barriers < 0 or (registers or 0) < 0:
        raise ValueError("Local memory, registers and barriers cannot be negative.")


def _allocated_local(limits: Limits, local_bytes: int) -> int:
    """What the hardware sets aside for ``local_bytes``."""
    wanted = local_bytes + limits.reserved_bytes
    if limits.local_steps:
        # Above the last step it cannot launch, and the limit per group says so.
        return next((step for step in limits.local_steps if step >= wanted), wanted)
    return _round_up(wanted, limits.local_granule)


def largest_local(limits: Limits, share: int) -> int:
    """Most bytes a group may ask for so that ``share`` bytes suffice; negative if none do."""
    if limits.local_steps:
        step = max((step for step in limits.local_steps if step <= share), default=-1)
    else:
        step = share // limits.local_granule * limits.local_granule
    return min(step - limits.reserved_bytes, limits.per_group_bytes)


def limiters(
    limits: Limits, group_size: int, local_bytes: int, registers: int | None, barriers: int = 1
) -> list[Limiter]:
    """Every limit that applies, each on its own, with ``resident`` left open.

    A few microseconds where :func:`estimate` takes ten times as many for its sentences.

    Args:
        limits: See :func:`estimate`, as the others.
        group_size: See there.
        local_bytes: See there.
        registers: See there.
        barriers: See there.
    """
    warps = -(-group_size // limits.lane_width)
    fits = limits.slots // warps if group_size <= limits.max_group_size else 0
    found = [Limiter("slots", fits, warps, limits.slots, f"{limits.warp_name}s", 0)]
    if warps >= limits.group_cap_from:
        found.append(Limiter("groups", limits.group_cap, 1, limits.group_cap, "groups", 0))
    allocated = _allocated_local(limits, local_bytes)
    if allocated:
        fits = limits.pool_bytes // allocated if local_bytes <= limits.per_group_bytes else 0
        found.append(Limiter("local memory", fits, allocated, limits.pool_bytes, "B", 0))
    if registers and limits.partition_registers:
        each = _round_up(registers * limits.register_lanes, limits.register_granule)
        fits = limits.partition_registers // each * limits.partitions // warps
        if limits.max_registers is not None and registers > limits.max_registers:
            fits = 0
        if limits.group_registers is not None:
            counted = _round_up(warps, limits.group_warp_granule)
            fits = fits if counted * each <= limits.group_registers else 0
        capacity = limits.partition_registers * limits.partitions
        found.append(Limiter("registers", fits, warps * each, capacity, "registers", 0))
    if barriers and limits.barrier_pool is not None:
        fits = limits.barrier_pool // barriers
        found.append(Limiter("barriers", fits, barriers, limits.barrier_pool, "barriers", 0))
    return found


def _refusal(limits: Limits, result: Estimate) -> str:
    """Why not one group fits: the ask and the limit of each rule that it breaks."""
    reasons = {
        "slots": f"its {result.group_size} work-items are above {limits.max_group_size}",
        "local memory": f"its {result.local_bytes} B of local memory are above "
        f"{limits.per_group_bytes} B",
        "registers": f"its {result.group_size} work-items with {result.registers} registers each "
        "need more registers than a group may have",
        "barriers": f"its barriers are above {limits.barrier_pool}",
    }
    if "slots" in result.limiters:  # too large a group lacks registers as well: say it once
        del reasons["registers"]
    broken = ", and ".join(reasons[name] for name in result.limiters if name in reasons)
    return f"A group cannot run on {limits.name}: {broken}."


def _explain(result: Estimate) -> str:
    """A vendor-table result in sentences."""
    if result.refusal:
        return _sentences(result.refusal, result.assumes)
    groups, warps = result.groups_per_unit or 0, result.warps_per_group or 0
    by_local, headroom = result.groups_by_local_memory, result.headroom_bytes
    names = {"slots": f"{result.warp_name} slots", "groups": "group slots"}
    limiters = " and ".join(names.get(name, name) for name in result.limiters)
    words = [
        f"{_count(groups, 'group')} of {_count(result.group_size, 'work-item')} on one "
        f"{result.pool_name}: {groups * warps} of {result.slots} {result.warp_name}s "
        f"({percent(result.occupancy or 0.0)}), limited by {limiters}."
    ]
    if by_local is not None and by_local > groups:
        words.append(f"Local memory alone would allow {by_local}.")
    if result.limiters == ("local memory",) and result.next_step_bytes is not None:
        words.append(
            f"One more needs at most {memory(result.next_step_bytes)} of local memory a group."
        )
    if headroom is not None and headroom > result.local_bytes:
        words.append(f"A group may use up to {memory(headroom)} of local memory at no cost.")
    if result.confidence.endswith("upper bound"):
        words.append("Registers per work-item are unknown, so fewer may fit.")
    return _sentences(*words, result.assumes)


def _budget_only(
    budget: int | None,
    max_group_size: int | None,
    group_size: int,
    local_bytes: int,
    registers: int | None,
) -> Estimate:
    """A device without a row: how often ``local_bytes`` goes into the driver's limit per group."""
    fits = budget // local_bytes if budget is not None and local_bytes else None
    reasons = []
    if max_group_size is not None and group_size > max_group_size:
        reasons.append(f"its {group_size} work-items are above {max_group_size}")
    if fits == 0:
        reasons.append(f"its {local_bytes} B of local memory are above {budget} B")
    refusal = f"A group cannot run on this device: {', and '.join(reasons)}." if reasons else ""
    groups = 0 if refusal else fits
    limits: tuple[Limiter, ...] = ()
    headroom = next_step = None
    if budget is not None and fits is not None:
        limits = (Limiter("local memory", fits, local_bytes, budget, "B", groups or 0, "queried"),)
        headroom = budget // groups if groups else None
        next_step = budget // ((groups or 0) + 1)
    if refusal:
        words = refusal
    elif fits is None:
        words = "This device has no documented limits, and local memory says nothing here."
    else:
        words = (
            f"{_count(fits, 'group')} of {memory(local_bytes)} go into the {memory(budget or 0)} "
            "of local memory that the driver reports; how many a compute unit really holds is not "
            "documented for this device."
        )
    return Estimate(
        group_size=group_size,
        local_bytes=local_bytes,
        registers=registers,
        confidence="local-memory budget only",
        groups_per_unit=groups,
        groups_by_local_memory=fits,
        limiters=tuple(limiter.name for limiter in limits if limiter.groups == groups),
        limits=limits,
        allocated_local_bytes=local_bytes,
        per_group_bytes=budget,
        per_group_source="queried",
        headroom_bytes=headroom,
        next_step_bytes=next_step,
        refusal=refusal,
        explanation=words,
        source="CL_DEVICE_LOCAL_MEM_SIZE",
    )


def _not_applicable(
    device: Device, group_size: int, local_bytes: int, registers: int | None
) -> Estimate:
    """A CPU or a simulator: the tile against the cache instead."""
    cache_bytes = device.global_cache_bytes or None
    if device.type == "simulator":
        cache_bytes = None
        words = ["A simulator has no compute units to fill, so occupancy does not apply."]
    else:
        words = [
            "A CPU runs about one group at a time on a compute unit and keeps local memory in its "
            "cache, so occupancy does not apply."
        ]
    if cache_bytes is not None and local_bytes:
        words.append(
            f"The tile takes {memory(local_bytes)} of the {memory(cache_bytes)} of cache that the "
            "driver reports."
        )
    return Estimate(
        group_size=group_size,
        local_bytes=local_bytes,
        registers=registers,
        confidence="not applicable",
        per_group_bytes=device.local_mem_bytes,
        per_group_source="queried",
        explanation=_sentences(*words),
        cache_bytes=cache_bytes,
        source="CL_DEVICE_GLOBAL_MEM_CACHE_SIZE" if cache_bytes is not None else "",
    )


def _round_up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _sentences(*words: str) -> str:
    return " ".join(filter(None, words))
