# ruff: noqa: ARG005 (a function of both local ids, whichever it needs)
"""Sources of many styles: the elements that they touch, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.lens import analyse
from gemmviz.core.launch import default_parameters
from gemmviz.core.model import Argument, Problem, Variant
from tests.core.access.own import HIDDEN, KERNELS, MACHINE, argument, elements, expected, only, own
from tests.core.access.own import report as look

IDS = "  const int x = get_global_id(0), y = get_global_id(1);\n"
N = 16
SHAPES = [(33, 20, 45), (1, 1, 1), (130, 131, 66)]


def same(body: str, array: str, steps: object, kind: str = "load", **changes: object) -> None:
    """The body touches the elements of the first group that a function of local ids lists."""
    found = elements(own(IDS + body, **changes), array, kind)
    assert np.array_equal(found, expected(steps))  # type: ignore[arg-type]


def test_a_while_loop_whose_pointers_advance() -> None:
    same(
        "int k = K; real s = 0;\n"
        "while (k--) { s += *A++ * B[0]; B += N; }\n"
        "C[y * N + x] = s;",
        "A", lambda x, y: range(16),
    )  # fmt: skip
    same("int k = K; while (k-- > 0) { C[y * N + x] += B[x]; B += N; }", "B",
         lambda x, y: [x + k * N for k in range(16)])  # fmt: skip


def test_a_helper_function_with_local_memory() -> None:
    helper = (
        "inline int flat(const int row, int col) { return row * 9 + col; }\n"
        "static void put(__local real *to, real value, int row, int col) {\n"
        "  if (col == 8) return;\n  to[flat(row, col)] = value;\n}\n"
    )
    body = (
        "__local real tile[8 * 9];\n"
        "const int lx = get_local_id(0), ly = get_local_id(1);\n"
        "put(tile, A[y * K + x], ly, lx);\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "C[y * N + x] = tile[flat(lx, ly)];"
    )
    same(body, "tile", lambda x, y: [y * 9 + x], "store", before=helper)
    same(body, "tile", lambda x, y: [x * 9 + y], before=helper)


def test_an_early_return() -> None:
    body = "if (x >= M - 13 || y >= 5) return;\n{ C[y * N + x] = A[y * K + x]; }"
    same(body, "A", lambda x, y: [y * N + x if x < 3 and y < 5 else None])


def test_lanes_leave_a_loop_at_different_turns() -> None:
    body = "for (int i = get_local_id(0); i < 20; i += 8) C[i] = A[i + get_local_id(1) * 20];"
    same(body, "A", lambda x, y: [i + y * 20 if i < 20 else None for i in (x, x + 8, x + 16)])
    body = "for (int i = 0; i <= x; ++i) { if (i == 5) break; if (i == 2) continue; C[i] = A[i]; }"
    same(body, "A", lambda x, y: [i if i <= x and i != 2 else None for i in (0, 1, 3, 4)])
    body = "for (int i = 0; i < 3; ++i) for (int j = 0; j <= i; ++j) C[j] = A[i * 4 + j];"
    same(body, "A", lambda x, y: [0, 4, 5, 8, 9, 10])
    body = "int i = 0; do { C[i] = A[i * 3]; } while (++i < 4);"
    same(body, "A", lambda x, y: [0, 3, 6, 9])
    body = "for (int i = 15; i >= 0; i -= 5) C[i] = A[i];"
    same(body, "A", lambda x, y: [15, 10, 5, 0])
    body = "for (size_t i = 3; i != 0; i >>= 1) C[i] = A[i];"
    same(body, "A", lambda x, y: [3, 1])


def test_buffers_that_change_places() -> None:
    body = (
        "__local real tile[2][64];\nint now = 0;\n"
        "for (int k = 0; k < 40; ++k) { C[0] = tile[now][get_local_id(0)]; now ^= 1; }"
    )
    same(body, "tile", lambda x, y: [x + 64 * (k % 2) for k in range(40)])
    body = (
        "__local real tile[128];\n__local real *near = tile, *far = tile + 64;\n"
        "for (int k = 0; k < 41; ++k) {\n"
        "  C[0] = near[get_local_id(0)]; __local real *t = near; near = far; far = t;\n}"
    )
    same(body, "tile", lambda x, y: [x + 64 * (k % 2) for k in range(41)])


def test_branches_and_switches() -> None:
    body = "if (x < 3) C[0] = 1; else if (x == 4) { } else C[0] = A[x];"
    same(body, "A", lambda x, y: [x if x > 4 or x == 3 else None])
    body = (
        "int at = 0;\nswitch (x % 4) { case 0: at = 10; case 1: at += 1; break;\n"
        "case 2: at = 7; break; default: at = 5; }\nC[0] = A[at];"
    )
    same(body, "A", lambda x, y: [[11, 1, 7, 5][x % 4]])
    body = "C[0] = A[x > 3 ? y : (x, 2 * x)];"
    same(body, "A", lambda x, y: [y if x > 3 else 2 * x])
    body = "if (x > 2 && A[x] > 0) { }"
    same(body, "A", lambda x, y: [x if x > 2 else None])


def test_integers_wrap_and_round_as_in_c() -> None:
    body = "const int i = (x - 4) / 3 + 4, j = (x - 4) % 3 + 4; C[0] = A[i * 8 + j];"
    quotients = [-1, -1, 0, 0, 0, 0, 0, 1]
    rests = [-1, 0, -2, -1, 0, 1, 2, 0]
    same(body, "A", lambda x, y: [(quotients[x] + 4) * 8 + rests[x] + 4])
    body = "const uint u = (uint)x - 1u; C[0] = A[u > 100u ? 50 : u];"
    same(body, "A", lambda x, y: [50 if x == 0 else x - 1])
    body = "const uchar c = 250 + x; C[0] = A[c + ((x << 2 | 1) & ~4) + (-x >> 1) + !x];"
    same(body, "A", lambda x, y: [(250 + x) % 256 + ((x << 2 | 1) & ~4) + (-x >> 1) + (x == 0)])
    body = "const size_t big = ((size_t)1 << 33) + x; C[0] = A[big >> 30];"
    same(body, "A", lambda x, y: [8])
    body = "C[0] = A[min(x, 4) + max(y, 2) + mad24(x, 2, 1) + (int)clamp(x, 1, 3) + abs(x - 9)];"
    same(body, "A", lambda x, y: [min(x, 4) + max(y, 2) + 2 * x + 1 + min(max(x, 1), 3) + 9 - x])
    body = "C[0] = A[sizeof(float4) + sizeof(x) + select(1, 2, x > 3) + convert_int(2.7f)];"
    same(body, "A", lambda x, y: [16 + 4 + (2 if x > 3 else 1) + 2])


def test_private_arrays_of_integers() -> None:
    body = "int at[4] = {3, 1}; at[2] = x; at[x & 1] += 10; C[0] = A[at[0]] ; C[1] = B[at[x % 3]];"
    same(body, "A", lambda x, y: [13 if x % 2 == 0 else 3])
    same(body, "B", lambda x, y: [[13 - 10 * (x % 2), 1 + 10 * (x % 2), x][x % 3]])
    body = "int2 at = (int2)(x, 5); at.y += at.x; at = at.yx * 2; C[0] = A[at.s0]; C[1] = B[at.y];"
    same(body, "A", lambda x, y: [2 * (x + 5)])
    same(body, "B", lambda x, y: [2 * x])
    table = "__constant int order[4] = {2, 0, 3, 1};\nenum { FIRST = 2, SECOND };\n"
    same("C[0] = A[order[x & 3] + SECOND];", "A", lambda x, y: [[2, 0, 3, 1][x % 4] + 3],
         before=table)  # fmt: skip
    body = "int at; int *to = &at; *to = x + 1; C[0] = A[at];"
    same(body, "A", lambda x, y: [x + 1])


def test_vectors_of_floats() -> None:
    variant = own(IDS + "const float4 a = vload4(x, A + y * K); vstore2(a.xy, x, C);\n"
                  "C[100] = a.s3 + ((__global float4 *)B)[x].w;\n"
                  "((__global float4 *)(C + 200))[x].hi = a.lo;")  # fmt: skip
    found = look(variant)
    load, part = only(found, "A"), only(found, "B")
    assert (load.element_bytes, part.element_bytes) == (16, 4)
    assert np.array_equal(elements(variant, "A"), expected(lambda x, y: [y * N + 4 * x]))
    assert np.array_equal(elements(variant, "B"), expected(lambda x, y: [4 * x + 3]))
    stores = [access for access in found.accesses if access.array == "C"]
    assert [access.element_bytes for access in stores] == [8, 4, 4]
    # Four rows of 128 bytes that start 64 bytes apart: 20 places of 16 bytes.
    assert (load.sectors, load.lines, load.ideal_sectors) == (10, 3, 10)


def test_vload3_moves_three_and_half_two_bytes() -> None:
    variant = own(IDS + "const float3 a = vload3(x, A); C[x] = a.x + vload_half(x, (__global half "
                  "*)B);")  # fmt: skip
    assert only(look(variant), "A").element_bytes == 12
    assert np.array_equal(elements(variant, "A"), expected(lambda x, y: [3 * x]))
    assert only(look(variant), "B").element_bytes == 2


@pytest.mark.parametrize(("element", "size"), [("half", 2), ("float", 4), ("double", 8)])
def test_element_types(element: str, size: int) -> None:
    found = look(own(IDS + "C[y * N + x] = A[y * K + x] * (real)2;"), Problem(16, 16, 16, element))
    assert only(found, "A").element_bytes == size
    # Four rows of eight neighbours; a row of A is as long as four rows of eight of half.
    assert only(found, "A").sectors == {2: 4, 4: 4, 8: 8}[size]
    assert found.minimum_bytes == 3 * 256 * size


def test_three_dimensions() -> None:
    variant = own(
        "C[get_local_id(2) * 100 + get_global_id(1) * 10 + get_local_id(0)] = get_local_size(2) + "
        "get_num_groups(0) + get_work_dim() + get_global_size(1);",
        group=("2", "4", "3"), tile_rows="4", tile_cols="2",
    )  # fmt: skip
    found = elements(variant, "C", "store", group=(1, 2))
    lanes = [(x, y, z) for z in range(3) for y in range(4) for x in range(2)]
    assert found.tolist() == [[z * 100 + (8 + y) * 10 + x for x, y, z in lanes]]


def test_sizes_by_pointer_and_local_arguments() -> None:
    head = (
        "__kernel void own(__global real *C, __global const int *n, __local real *tile,\n"
        "                  const __global real A[], float alpha, float beta, long wide) {\n"
    )
    arguments = (
        Argument("matrix", "C"), Argument("buffer", "N", "int"),
        Argument("local", "64 * element_bytes"), argument("A"), Argument("scalar", "alpha"),
        Argument("scalar", "beta"), Argument("value", "M + 1", "long"),
    )  # fmt: skip
    body = (
        IDS + "const int N = *n;\ntile[y * 8 + x] = A[x * N + wide];\n"
        "if (beta != 0.0f) C[y * N + x] *= beta;\nif (alpha == 1) C[y * N + x] = tile[x];"
    )
    variant = own(body, head=head, arguments=arguments)
    found = look(variant)
    assert not found.unknowns
    assert [(a.array, a.kind) for a in found.accesses] == [
        ("n", "load"), ("A", "load"), ("tile", "store"), ("tile", "load"), ("C", "store")
    ]  # fmt: skip
    assert np.array_equal(elements(variant, "A"), expected(lambda x, y: [x * 16 + 17]))


def test_lines_are_those_of_the_file_and_accesses_as_written() -> None:
    body = (
        "#define AT(r, c) ((r) * WIDTH + (c))\n#define WIDTH \\\n  16\n/* a\n comment */\n#if 0\n"
        "nonsense(\n#endif\n  const int x = get_local_id(0);\n"
        "  C[AT(x, 1)] =\n      A[WIDTH * x] + A[AT(x, 2)];  // A[3]\n"
    )
    found = look(own(body))
    where = [(access.line, access.text) for access in found.accesses]
    assert where == [(12, "C[AT(x, 1)]"), (13, "A[WIDTH * x]"), (13, "A[AT(x, 2)]")]


def test_flops_are_counted_where_lanes_are_active() -> None:
    body = IDS + "real s = 0; for (int k = 0; k < K; ++k) { if (x < 4) s += A[k] * B[k]; }\n"
    found = look(own(body + "s = mad(s, s, s); C[0] = s;"), Problem(16, 16, 50))
    assert found.executed_flop == 4 * 16 * 50 * 2 + 2 * 256
    assert found.flop == 2 * 16 * 16 * 50


def test_a_source_that_does_not_parse_names_its_line() -> None:
    with pytest.raises(LensError, match="line 4") as raised:
        look(own("  int i = 0;\n  i = = 3;\n"))
    assert raised.value.line == 4
    with pytest.raises(LensError, match="too small") as raised:
        look(own("#if 1\n#error too small\n#endif\n"))
    assert raised.value.line == 4
    with pytest.raises(LensError, match="no kernel other"):
        look(own("", entry="other"))
    with pytest.raises(LensError, match="takes 6 arguments, its metadata lists 1"):
        look(own("", arguments=(argument("A"),)))
    with pytest.raises(LensError, match="not defined"):
        look(own("", group=("M - 16", "1")))


@pytest.mark.parametrize("variant", KERNELS, ids=lambda variant: variant.id)
def test_every_kernel_is_followed_at_any_shape(variant: Variant) -> None:
    parameters = default_parameters(variant)
    for element, shape in zip(variant.elements * 3, SHAPES, strict=False):
        found = analyse(variant, parameters, Problem(*shape, element), MACHINE)
        # Instructions of one vendor are the only thing that ours have beyond the lens.
        assert all(unknown.reason.startswith("Asm ") for unknown in found.unknowns)
        assert bool(found.unknowns) is ("asm" in variant.source and "nvidia" in variant.needs)
        stored = [a for a in found.accesses if (a.matrix, a.kind) == ("C", "store")]
        assert stored
        assert all(a.sectors is None or a.sectors >= 1 for a in found.accesses)
        assert all(a.passes is None or a.passes >= 1 for a in found.accesses)


@pytest.mark.parametrize("variant", HIDDEN, ids=lambda variant: variant.id)
def test_a_source_that_hides_its_instructions_is_not_followed(variant: Variant) -> None:
    problem = Problem(64, 64, 64, variant.elements[0])
    with pytest.raises(LensError, match="hides its instructions"):
        analyse(variant, default_parameters(variant), problem, MACHINE)
