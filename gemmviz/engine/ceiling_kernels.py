"""The kernels that find a device's ceilings: each does one thing as fast as the device can.

Built-ins stay calls on some CPU drivers, so there is none in a loop: products are added as
``a * b + c``, vectors move by plain assignment. Every accumulator has a name of its own, and all of
them end in what is stored, or a compiler would leave the work out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LOCAL_WORDS = 4096
"""Elements of local memory that addresses wrap within; a power of two."""

_LOCAL_LOADS, _LOCAL_SUMS = 16, 8
_LOCAL_APART = 64  # elements from one load to the next: a multiple of any device's banks
# A GPU issues as many instructions as it multiplies and adds, so the loop's own must be few among
# them; a CPU has room for these, and a long loop takes its compilers long.
_LONG_LOOP, _SHORT_LOOP = 256, 48

Access = Literal["copy", "read", "write"]
_ENABLE = {
    "half": "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n",
    "double": "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """How one kernel is written.

    Attributes:
        element: "half", "float" or "double".
        width: Elements of a vector: 1, 2, 4, 8 or 16.
        group: Work-items of a work-group.
        chains: Of multiply-adds: sums that a work-item adds to in turns, none waiting for another.
        ahead: Of streams: vectors that a work-item has under way at once.
    """

    element: str
    width: int
    group: int
    chains: int = 1
    ahead: int = 8

    @property
    def vector(self) -> str:
        """The OpenCL type: "float4"."""
        return self.element if self.width == 1 else f"{self.element}{self.width}"


def fma_source(shape: Shape) -> str:
    """``fma_peak(out, a, b, rounds)``: each item does :func:`fma_flop` operations a round."""
    names = [f"x{chain}" for chain in range(shape.chains)]
    starts = "\n".join(f"  V {name} = start + (V)({place});" for place, name in enumerate(names))
    step = " ".join(f"{name} = {name} * a + b;" for name in names)
    steps = "\n".join([f"    {step}"] * _unrolled(shape))
    return f"""{_head(shape)}
#pragma OPENCL FP_CONTRACT ON
{_GROUP} void fma_peak(__global V *out, const E first, const E second, const uint rounds) {{
  const V a = (V)(first), b = (V)(second), start = (V)((E)(get_global_id(0) & 7));
{starts}
  for (uint round = 0; round < rounds; ++round) {{
{steps}
  }}
  out[get_global_id(0)] = {" + ".join(names)};
}}
"""


def fma_flop(shape: Shape) -> int:
    """Floating-point operations of one work-item in one round: a multiplication and an addition."""
    return 2 * shape.width * shape.chains * _unrolled(shape)


def _unrolled(shape: Shape) -> int:
    """How often all chains take a step in one round."""
    if shape.group > 1:
        return max(1, _LONG_LOOP // (shape.width * shape.chains))
    return max(1, _SHORT_LOOP // shape.chains)


def stream_source(shape: Shape, access: Access) -> str:
    """``stream(from, to, each, turn, rounds)``: copies, reads or writes a block a group and round.

    A group's block is ``each * ahead`` vectors a work-item, neighbours side by side. In the next
    round a group takes the block ``turn`` groups further on: 0 stays with what lies nearest, any
    other number makes it look for what another one has touched.
    """
    places = [f"at + {step} * GROUP" for step in range(shape.ahead)]
    values = [f"v{step}" for step in range(shape.ahead)]
    declared, last = "", ""
    if access == "copy":
        loads = " ".join(f"const V {v} = from[{at}];" for v, at in zip(values, places, strict=True))
        stores = " ".join(f"to[{at}] = {v};" for v, at in zip(values, places, strict=True))
        body = f"{loads}\n      {stores}"
    elif access == "read":
        declared = "  V " + ", ".join(f"{v} = (V)(0)" for v in values) + ";\n"
        body = " ".join(f"{v} += from[{at}];" for v, at in zip(values, places, strict=True))
        last = f"  to[get_global_id(0)] = {' + '.join(values)};\n"
    else:
        body = " ".join(f"to[{at}] = value;" for at in places)
    value = "    const V value = (V)((E)(round + 1));\n" if access == "write" else ""
    return f"""{_head(shape)}
{_GROUP} void stream(__global const V *restrict from, __global V *restrict to, const uint each,
            const uint turn, const uint rounds) {{
  const uint groups = get_num_groups(0), items = each * {shape.ahead}u * GROUP;
{declared}  uint block = get_group_id(0);
  for (uint round = 0; round < rounds; ++round) {{
{value}    uint at = block * items + get_local_id(0);
    for (uint part = 0; part < each; ++part, at += {shape.ahead}u * GROUP) {{
      {body}
    }}
    block += turn;
    block = block < groups ? block : block - groups;
  }}
{last}}}
"""


def local_source(shape: Shape) -> str:
    """``local_read(out, stride, rounds)``: neighbours read vectors ``stride`` apart.

    Each item reads :func:`local_bytes` a round. The place moves on by whole rows of banks, so that
    no load can be taken out of the loop while the pattern stays.
    """
    words = LOCAL_WORDS // shape.width
    apart = max(1, _LOCAL_APART // shape.width)
    held = words + _LOCAL_LOADS * apart
    sums = [f"s{number}" for number in range(_LOCAL_SUMS)]
    loads = "\n    ".join(
        f"s{place % _LOCAL_SUMS} += tile[at + {place * apart}];" for place in range(_LOCAL_LOADS)
    )
    return f"""{_head(shape)}
{_GROUP} void local_read(__global V *out, const uint stride, const uint rounds) {{
  __local V tile[{held}];
  for (uint place = get_local_id(0); place < {held}; place += GROUP)
    tile[place] = (V)((E)(place & 7));
  barrier(CLK_LOCAL_MEM_FENCE);
  V {", ".join(f"{name} = (V)(0)" for name in sums)};
  uint at = (get_local_id(0) * stride) & {words - 1}u;
  for (uint round = 0; round < rounds; ++round) {{
    {loads}
    at = (at + {3 * apart}u) & {words - 1}u;
  }}
  out[get_global_id(0)] = {" + ".join(sums)};
}}
"""


def local_bytes(shape: Shape, element_bytes: int) -> int:
    """Bytes that one work-item reads of local memory in one round."""
    return _LOCAL_LOADS * shape.width * element_bytes


def local_memory_bytes(element_bytes: int) -> int:
    """Local memory that a group of :func:`local_source` takes."""
    return (LOCAL_WORDS + _LOCAL_LOADS * _LOCAL_APART) * element_bytes


_GROUP = "__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))"


def _head(shape: Shape) -> str:
    enable = _ENABLE.get(shape.element, "")
    return (
        f"{enable}#define GROUP {shape.group}u\ntypedef {shape.element} E;\n"
        f"typedef {shape.vector} V;"
    )
