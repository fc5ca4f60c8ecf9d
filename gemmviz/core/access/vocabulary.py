"""The built-in names of OpenCL C as far as they matter to addresses."""

from __future__ import annotations

import math
import re

from gemmviz.core.access.kinds import DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Pointer, Strange
from gemmviz.core.access.values import Value, unknown

_NUMBERS = {"M_PI": math.pi, "M_E": math.e, "M_PI_2": math.pi / 2, "M_SQRT2": math.sqrt(2)}
CONSTANTS: dict[str, Value] = {
    "true": Value(INT, 1), "false": Value(INT, 0),
    "CLK_LOCAL_MEM_FENCE": Value(UINT, 1), "CLK_GLOBAL_MEM_FENCE": Value(UINT, 2),
    "CLK_IMAGE_MEM_FENCE": Value(UINT, 4),
    "CHAR_BIT": Value(INT, 8), "INT_MAX": Value(INT, 2**31 - 1), "INT_MIN": Value(INT, -(2**31)),
    "UINT_MAX": Value(UINT, 2**32 - 1), "LONG_MAX": Value(LONG, 2**63 - 1),
    "LONG_MIN": Value(LONG, -(2**63)), "ULONG_MAX": Value(ULONG, 2**64 - 1),
    "SHRT_MAX": Value(INT, 2**15 - 1), "USHRT_MAX": Value(INT, 2**16 - 1),
    "NULL": unknown(Pointer("private", Strange("void"))),
    **{name: unknown(FLOAT) for name in ("FLT_MAX", "FLT_MIN", "FLT_EPSILON", "MAXFLOAT",
                                         "INFINITY", "NAN", "HUGE_VALF")},
    **{name: unknown(DOUBLE) for name in ("DBL_MAX", "DBL_MIN", "DBL_EPSILON", "HUGE_VAL")},
    **{name: Value(DOUBLE, value) for name, value in _NUMBERS.items()},
    **{f"{name}_F": Value(FLOAT, value) for name, value in _NUMBERS.items()},
}  # fmt: skip

SILENT = frozenset({
    "barrier", "work_group_barrier", "mem_fence", "read_mem_fence", "write_mem_fence", "printf",
    "atomic_work_item_fence",
})  # fmt: skip
"""Calls that move nothing the lens counts."""

STRANGE = re.compile(
    r"async_|wait_group_events|prefetch|sub_group_|intel_|work_group_|read_image|write_image|"
    r"get_image_|get_sub_group_|get_num_sub_groups|get_max_sub_group|get_enqueued_num_sub|"
    r"enqueue_|read_pipe|write_pipe|__builtin_|__nv|__asm"
)
"""Starts of built-ins that the lens does not follow."""

_FLOAT_CALLS = """
    sqrt rsqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p logb pow pown powr rootn sin cos tan
    sinpi cospi tanpi asin acos atan atan2 asinpi acospi atanpi sinh cosh tanh asinh acosh atanh
    fabs fmod remainder floor ceil round trunc rint fract fmin fmax fdim maxmag minmag mix step
    smoothstep sign radians degrees copysign nextafter ldexp hypot erf erfc tgamma lgamma
    native_sqrt native_rsqrt native_exp native_exp2 native_exp10 native_log native_log2 native_log10
    native_powr native_sin native_cos native_tan native_divide native_recip half_sqrt half_rsqrt
    half_exp half_log half_divide half_recip half_powr half_sin half_cos half_tan
    length fast_length normalize fast_normalize distance fast_distance cross
"""
FLOAT_CALLS = frozenset(_FLOAT_CALLS.split())
"""Functions of floating-point numbers, whose results are never followed."""

_INTEGER_CALLS = """
    isnan isinf isfinite isnormal isequal isnotequal isgreater isgreaterequal isless islessequal
    islessgreater isordered isunordered signbit any all ilogb
    add_sat sub_sat hadd rhadd mul_hi mad_hi mad_sat rotate clz ctz popcount upsample abs_diff
    bitselect shuffle shuffle2
"""
INTEGER_CALLS = frozenset(_INTEGER_CALLS.split())
"""Functions whose integer results are not followed; nothing is read or written by them."""

ATOMIC = re.compile(
    r"atom(ic)?_(add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor|fetch_\w+|store|load|exchange|"
    r"compare_exchange_\w+)(_explicit)?\Z"
)
LOAD = re.compile(r"vload(a?)(_half)?(2|3|4|8|16)?\Z")
STORE = re.compile(r"vstore(a?)(_half)?(2|3|4|8|16)?(_rte|_rtz|_rtp|_rtn)?\Z")
CONVERT = re.compile(r"(convert|as)_([a-z]+(?:2|3|4|8|16)?)(_sat)?(_rte|_rtz|_rtp|_rtn)?\Z")
