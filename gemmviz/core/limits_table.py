"""The vendors' tables of what a compute unit can hold, read into one vendor-neutral form."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """One row of a vendor's table: what a unit (SM, CU, WGP or sub-slice) shares among its groups.

    A "warp" below is the vendor's own: a warp, a wave or a hardware thread, as ``warp_name`` says.

    Attributes:
        vendor: "NVIDIA", "AMD" or "Intel".
        name: What a person knows it by: "CC 9.0".
        code: What :func:`named_limits` takes: "9.0", "gfx1030 wave64", "gen12".
        pool_name: What a unit is called: "SM", "CU", "WGP" or "sub-slice".
        warp_name: "warp", "wave" or "thread".
        lane_width: Work-items in a warp.
        slots: Most warps of a unit.
        group_cap: Most work-groups of a unit.
        group_cap_from: Smallest number of warps in a group that ``group_cap`` counts.
        max_group_size: Most work-items of a group.
        pool_bytes: Local memory of a unit.
        per_group_bytes: Most local memory of one group in hardware.
        default_per_group_bytes: The same without NVIDIA's opt-in; elsewhere ``per_group_bytes``.
        reserved_bytes: Local memory that the system adds to each group.
        local_granule: Local memory is given out in multiples of this many bytes,
        local_steps: or, where this is not empty, in one of these ascending sizes.
        partitions: Parts of a unit with registers of their own (sub-partitions, SIMDs, EUs).
        partition_registers: Registers of one part, or 0 where registers are no limit. NVIDIA counts
            them for all lanes together, AMD per lane, Intel per thread.
        register_lanes: Lanes that a register of one work-item counts for: ``lane_width`` or 1.
        register_granule: A warp gets registers in multiples of this.
        max_registers: Most registers of a work-item (of a thread on Intel), or None if unlisted.
        group_registers: Most registers of a group, or None without such a limit;
        group_warp_granule: for that limit the warps of a group are rounded up to this multiple.
        barrier_pool: Barriers of a unit, or None where they are no limit of their own.
        source: Who says so.
        assumes: What the row takes for granted, as a sentence, or "".
        device_names: A regular expression for names of OpenCL devices of this row, or "".
        ip_versions: Intel's IP versions of this row, as "12.55".
        cards: Some of the products that people know it by, as NVIDIA lists them by capability.
    """

    vendor: str
    name: str
    code: str
    pool_name: str
    warp_name: str
    lane_width: int
    slots: int
    group_cap: int
    group_cap_from: int
    max_group_size: int
    pool_bytes: int
    per_group_bytes: int
    default_per_group_bytes: int
    reserved_bytes: int
    local_granule: int
    local_steps: tuple[int, ...]
    partitions: int
    partition_registers: int
    register_lanes: int
    register_granule: int
    max_registers: int | None
    group_registers: int | None
    group_warp_granule: int
    barrier_pool: int | None
    source: str
    assumes: str = ""
    device_names: str = ""
    ip_versions: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()


def read_limits(folder: Path) -> tuple[Limits, ...]:
    """The rows of ``nvidia.csv``, ``amd.csv`` and ``intel.csv`` in ``folder``.

    Raises:
        FileNotFoundError: One of the files is missing.
        ValueError: A row cannot be used; the message names file, line and column.
    """
    rows: dict[str, Limits] = {}
    for name, convert in _TABLES.items():
        for row in _read_rows(folder / name):
            for limits in convert(row):
                if limits.code in rows:
                    raise row.error(f"{limits.code!r} is there twice")
                rows[limits.code] = limits
    return tuple(rows.values())


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a table, and where it stands."""

    file: str
    line: int
    cells: Mapping[str, str | None]

    def error(self, what: str) -> ValueError:
        return ValueError(f"{self.file}, line {self.line}: {what}.")

    def text(self, column: str) -> str:
        cell = self.cells.get(column)
        if cell is None or not cell.strip():
            raise self.error(f"the column {column} is missing or empty")
        return cell.strip()

    def pattern(self, column: str) -> str:
        try:
            re.compile(self.text(column))
        except re.error as error:
            raise self.error(f"{column} is no regular expression: {error}") from error
        return self.text(column)

    def integer(self, column: str, minimum: int = 1) -> int:
        return self._integer(column, self.text(column), minimum)

    def integers(self, column: str) -> tuple[int, ...]:
        return tuple(self._integer(column, part, 0) for part in self.text(column).split("|"))

    def _integer(self, column: str, cell: str, minimum: int) -> int:
        if not (cell.isascii() and cell.isdigit()) or int(cell) < minimum:
            raise self.error(f"{column} must be a whole number from {minimum} up, not {cell!r}")
        return int(cell)


def _read_rows(path: Path) -> Iterator[_Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        for cells in reader:
            row = _Row(path.name, reader.line_num, cells)
            if None in cells:
                raise row.error("it has more cells than the header")
            yield row


def _nvidia(row: _Row) -> Iterator[Limits]:
    capability = row.text("cc")
    if not re.fullmatch(r"\d+\.\d", capability):
        raise row.error(f"cc must be a compute capability such as 9.0, not {capability!r}")
    yield Limits(
        vendor="NVIDIA",
        name=f"CC {capability}",
        code=capability,
        pool_name="SM",
        warp_name="warp",
        lane_width=32,
        slots=row.integer("max_warps_per_sm"),
        group_cap=row.integer("max_blocks_per_sm"),
        group_cap_from=1,
        max_group_size=1024,
        pool_bytes=row.integer("smem_per_sm"),
        per_group_bytes=row.integer("smem_per_block_optin"),
        default_per_group_bytes=row.integer("smem_per_block_default"),
        reserved_bytes=row.integer("smem_reserved_per_block", 0),
        local_granule=row.integer("smem_alloc_unit"),
        local_steps=(),
        partitions=row.integer("sub_partitions"),
        partition_registers=row.integer("regs_per_sm") // row.integer("sub_partitions"),
        register_lanes=32,
        register_granule=row.integer("reg_alloc_unit"),
        max_registers=row.integer("max_regs_per_thread"),
        group_registers=row.integer("regs_per_block"),
        # CC 6.0 has two sub-partitions and is still checked for four; all others have four.
        group_warp_granule=4,
        cards=tuple(filter(None, (row.cells.get("cards") or "").split("|"))),
        barrier_pool=row.integer("barriers_per_sm", 0) or None,
        source="NVIDIA's occupancy calculator",
        # Maxwell and Pascal have shared memory apart from L1, so there is nothing to carve.
        assumes=""
        if capability.startswith(("5.", "6."))
        else "Assumes the largest shared-memory carve-out, which OpenCL cannot query.",
    )


def _amd(row: _Row) -> Iterator[Limits]:
    names, _, mode = row.text("gfx").partition(" ")
    pool, lanes = row.text("pool"), row.integer("wave_size")
    rdna = row.text("family").startswith("RDNA")
    for gfx in names.split("/"):
        code = f"{gfx} {mode}".strip()
        yield Limits(
            vendor="AMD",
            name=f"{row.text('family')} {code}",
            code=code,
            pool_name=pool,
            warp_name="wave",
            lane_width=lanes,
            slots=row.integer("simds_in_pool") * row.integer("max_waves_per_simd"),
            group_cap=row.integer("max_multiwave_groups_per_pool"),
            group_cap_from=2,  # a group of one wave needs no barrier resource
            max_group_size=1024,
            pool_bytes=row.integer("lds_pool_bytes"),
            per_group_bytes=row.integer("max_lds_per_group"),
            default_per_group_bytes=row.integer("max_lds_per_group"),
            reserved_bytes=0,
            local_granule=row.integer("lds_alloc_granule"),
            local_steps=(),
            partitions=row.integer("simds_in_pool"),
            partition_registers=row.integer("vgprs_per_lane_per_simd"),
            register_lanes=1,
            register_granule=row.integer("vgpr_granule"),
            max_registers=None,
            group_registers=None,
            group_warp_granule=1,
            barrier_pool=None,
            source="LLVM's AMDGPU backend; local-memory granule of RDNA 2 and later from Mesa",
            assumes=f"Assumes {pool} mode and waves of {lanes} work-items." if rdna else "",
        )


_INTEL_LANES = 16
_INTEL_REGISTERS = 128


def _intel(row: _Row) -> Iterator[Limits]:
    units, threads = row.integer("EU_Per_Sub_Slice"), row.integer("Threads_Per_EU")
    widths = row.integers("Subgroup_Sizes")
    if _INTEL_LANES not in widths:
        raise row.error(f"Subgroup_Sizes must include {_INTEL_LANES}")
    # A thread has 128 registers, or 256 at half the threads where the row has that mode.
    large = row.text("Large_GRF_Mode") == "True"
    yield Limits(
        vendor="Intel",
        name=row.text("name"),
        code=row.text("code"),
        pool_name="sub-slice",
        warp_name="thread",
        lane_width=_INTEL_LANES,
        slots=row.integer("Max_Threads_Per_Sub_Slice"),
        group_cap=row.integer("Max_Num_Of_Workgroups"),
        group_cap_from=1,
        max_group_size=row.integer("Max_Work_Group_Size"),
        pool_bytes=1024 * row.integer("SLM_Size_Per_Sub_Slice"),
        per_group_bytes=1024 * row.integer("SLM_Size_Per_Work_Group"),
        default_per_group_bytes=1024 * row.integer("SLM_Size_Per_Work_Group"),
        reserved_bytes=0,
        local_granule=1024,
        local_steps=tuple(1024 * step for step in sorted(row.integers("TG_SLM_Sizes"))),
        partitions=units,
        partition_registers=threads * _INTEL_REGISTERS if large else 0,
        register_lanes=1,
        register_granule=_INTEL_REGISTERS,
        max_registers=2 * _INTEL_REGISTERS,
        group_registers=None,
        group_warp_granule=1,
        barrier_pool=row.integer("Max_Num_Of_Barrier_Registers"),
        source="Intel's GPU occupancy calculator",
        assumes=f"Assumes {_INTEL_LANES} work-items in a thread; the compiler may choose other "
        "widths.",
        device_names=row.pattern("device_names"),
        ip_versions=tuple(row.text("ip_versions").split("|")),
    )


_TABLES: dict[str, Callable[[_Row], Iterator[Limits]]] = {
    "nvidia.csv": _nvidia,
    "amd.csv": _amd,
    "intel.csv": _intel,
}
