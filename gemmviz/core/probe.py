"""The kernel that counts how many groups of a given size are under way at once."""

from __future__ import annotations

from dataclasses import dataclass

from gemmviz.core.instrument import COUNTERS_HEAD, counting, with_dummy_local
from gemmviz.core.model import Argument, Variant

ENTRY = "gemmviz_probe"
COUNTERS = "gemmviz_counters"
MOST_UNITS = 1024
"""Largest number of an SM; a device numbers more than it has."""
MOST_LIVE = 256

_LIVE_AT = COUNTERS_HEAD + 2 * MOST_UNITS
COUNTERS_SIZE = _LIVE_AT + MOST_LIVE + 1
"""Ints that the counters need."""

# A group stays until the count has been quiet for so many reads, and for so many reads at most.
_GPU_READS, _CPU_READS = (20, 2000), (1_000_000, 2_000_000)


@dataclass(frozen=True, slots=True)
class Probe:
    """What a counting kernel takes of a compute unit.

    Attributes:
        local: Local size, dimension 0 first.
        local_bytes: Size of its ``__local`` array.
        live_values: 32-bit values that each work-item keeps in registers all the time, at most
            ``MOST_LIVE``; a compiler adds some ten registers of its own.
    """

    local: tuple[int, ...]
    local_bytes: int
    live_values: int = 0


def probe_source(probe: Probe, *, cpu: bool, nvidia: bool) -> str:
    """OpenCL C of the kernel ``ENTRY``, whose argument is ``__global volatile int *``.

    Each group counts itself in, waits until no more come, and counts itself out; the wait is
    bounded, so that groups which run one after another end as well. The counters lie as
    :func:`gemmviz.core.instrument.with_counters` says.

    Args:
        probe: What it takes.
        cpu: Wait as long as another thread needs to begin; reads are plain, for they cost more
            than the time between two groups where many cores share them.
        nvidia: Count on each SM as well.
    """
    sizes = ", ".join(map(str, (*probe.local, 1, 1)[:3]))
    enter, leave = counting(nvidia=nvidia)
    quiet, most = _CPU_READS if cpu else _GPU_READS
    # A read that asks the memory all cores share, not the cache of one.
    read = f"{COUNTERS}[1]" if cpu else f"atomic_max(&{COUNTERS}[1], 0)"
    live = range(probe.live_values)
    # The loads are volatile, so no value can be loaded again later: each stays in a register. Each
    # is used with what is known only at the end, so none can be added to another before.
    loads = "\n".join(f"  const uint live{i} = {COUNTERS}[{_LIVE_AT + i}];" for i in live)
    uses = "\n".join(f"  sum = sum * late + live{i};" for i in live)
    unlikely = 0x5BD1E995
    late = (
        f"  const uint late = {COUNTERS}[1];\n  uint sum = late;\n{uses}\n"
        f"  if (sum == {unlikely}u) {COUNTERS}[{COUNTERS_SIZE - 1}] = 1;\n"
    )
    source = f"""\
__kernel __attribute__((reqd_work_group_size({sizes})))
void {ENTRY}(__global volatile int *{COUNTERS}) {{
{enter}
{loads}
  if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) {{
    int before = 0, quiet = 0;
    for (int reads = 0; reads < {most} && quiet < {quiet}; ++reads) {{
      const int now = {read};
      quiet = now == before ? quiet + 1 : 0;
      before = now;
    }}
  }}
{late if probe.live_values else ""}{leave}
}}
"""
    return with_dummy_local(source, ENTRY, probe.local_bytes)


def probe_variant(probe: Probe, *, cpu: bool, nvidia: bool) -> Variant:
    """The probe as a kernel that can be built like any other; it computes no product."""
    return Variant(
        id=ENTRY, title="Counting probe", summary="Counts the groups under way.", family="user",
        order="row", arguments=(Argument("matrix", COUNTERS),),
        group=tuple(map(str, probe.local)), tile_rows="1", tile_cols="1", dims=("cols", "rows"),
        local_bytes=str(probe.local_bytes), shapes="any",
        source=probe_source(probe, cpu=cpu, nvidia=nvidia), entry=ENTRY,
    )  # fmt: skip
