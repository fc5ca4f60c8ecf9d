"""What the lens cannot follow is said with its line, and never passed off as fine."""

from __future__ import annotations

import pytest

from gemmviz.core.access.marks import not_followed_words, used_share
from gemmviz.core.model import Argument, Problem
from tests.core.access.own import argument, only, own, report

SETUP = "  const int x = get_local_id(0);\n"  # line 3: what follows starts on line 4


def unknowns(body: str, **changes: object) -> list[tuple[int, str]]:
    found = report(own(SETUP + body, **changes))
    return [(unknown.line, unknown.reason) for unknown in found.unknowns]


@pytest.mark.parametrize(
    ("body", "line", "word"),
    [
        ("int i = (int)A[x];\n  C[i] = B[x];", 5, "depends on data"),
        ("C[x] = A[x];\n  if (A[0] > 0) C[x + 1] = 1;", 5, "depends on data"),
        ("C[x] = A[x] > 0 ? B[x] : B[2 * x];", 4, "depends on data"),
        ("while (A[x] > 0) { C[x] = 1; }", 4, "How often"),
        ("if (A[x] > 0) return;\n  C[x] = 1;", 4, "leave"),
        ("switch ((int)A[x]) { case 0: C[x] = 1; }", 4, "case"),
        ("if (x) goto out;\n  C[x] = 1;\nout:\n  C[x] = 2;", 4, "goto"),
        ("__local real t[64];\n  event_t e = async_work_group_copy(t, A, 64, 0);", 5, "async"),
        ("C[x] = sub_group_broadcast(A[x], 0);", 4, "sub_group_broadcast"),
        ("prefetch(A, 4);", 4, "prefetch"),
        ("C[x] = nowhere(A[x]);", 4, "nowhere"),
        ("C[x] = A[missing];", 4, "missing is not declared"),
        ("C[x] = A[x / (K - 16)];", 4, "not known"),
        ("int at[2]; at[0] = 1;\n  C[x] = A[at[1]];", 5, "not known"),
        ("__global real *p = x > 3 ? A : B;\n  C[x] = p[0];", 5, "depends on data"),
    ],
)
def test_a_construct_outside_the_subset(body: str, line: int, word: str) -> None:
    found = unknowns(body)
    assert {where for where, _ in found} == {line}, found
    assert any(word in reason for _, reason in found)
    assert all(reason.endswith(".") for _, reason in found)


def test_pointers_to_structs() -> None:
    before = "typedef struct { float re; float im; } pair;\n"
    head = "__kernel void own(__global pair *A, __global real *C, const int N) {\n"
    arguments = argument("A"), argument("C"), argument("N")
    found = unknowns("C[x] = A[x].re;\n  C[x] = A->im;", before=before, head=head,
                     arguments=arguments)  # fmt: skip
    assert [line for line, _ in found] == [4, 5]
    assert all("struct" in reason or "pair" in reason for _, reason in found)


def test_the_rest_is_still_followed() -> None:
    found = report(own(SETUP + "C[x] = A[(int)B[x]];\n  C[x + 64] = B[x + 1];\n"))
    assert [(a.array, a.line) for a in found.accesses] == [("B", 4), ("C", 4), ("B", 5), ("C", 5)]
    assert len(found.unknowns) == 1


def test_what_lacks_something_has_no_ratios() -> None:
    """A load that is left out makes a kernel look better than it is: better no figure."""
    followed = "C[x] = A[x];\n"
    whole = report(own(SETUP + followed))
    assert whole.intensity
    assert whole.reuse
    assert not not_followed_words(whole)
    found = report(own(SETUP + followed + "  C[(int)B[x]] = A[2];\n  C[(int)B[0]] = 1;\n"))
    assert found.global_traffic_bytes > whole.global_traffic_bytes
    assert (found.intensity, found.reuse, used_share(found)) == (None, None, None)
    assert not_followed_words(found) == "lines 5, 6 could not be followed"


def test_an_unknown_result_without_an_access_is_none() -> None:
    """What is only computed cannot hide an access."""
    assert not unknowns("real v = A[x]; v = v > 0 ? v : -v; if (v < 1) v = 1; C[x] = sqrt(v);")
    assert not unknowns("int n = 0; if (A[x] > 0) n = 1; C[x] = n;")
    assert unknowns("int n = 0; if (A[x] > 0) n = 1; C[n] = 1;")


def test_an_atomic_reads_and_writes() -> None:
    head = "__kernel void own(__global int *A, __global real *C) {\n"
    variant = own("const int x = get_local_id(0);\natomic_add(&A[x / 8], 1);\natomic_inc(A);\n",
                  head=head, arguments=(argument("A"), argument("C")))  # fmt: skip
    found = report(variant)
    assert not found.unknowns
    assert [(a.kind, a.line) for a in found.accesses] == [
        ("load", 3), ("store", 3), ("load", 4), ("store", 4)
    ]  # fmt: skip
    assert all(access.broadcast for access in found.accesses)


def test_a_loop_that_never_ends() -> None:
    found = report(own("for (int i = 0; i >= 0; i = (i * 7 + 3) & 1023) C[i] = 1;\n"))
    assert [unknown.line for unknown in found.unknowns] == [3]
    assert "too long" in found.unknowns[0].reason


def test_recursion_ends() -> None:
    before = "int deep(int n) { return n ? deep(n - 1) : 0; }\n"
    assert not report(own("C[deep(5)] = 1;\n", before=before)).unknowns
    assert "too deeply" in report(own("C[deep(99)] = 1;\n", before=before)).unknowns[0].reason


def test_scratch_is_an_array_of_its_own() -> None:
    head = "__kernel void own(__global const real *A, __global real *C, __global real *S) {\n"
    body = "const int x = get_local_id(0);\nS[x] = A[x];\nC[x] = S[2 * x];\n"
    listed = (argument("A"), argument("C"), Argument("scratch", "4096"))
    variant = own(body, head=head, arguments=listed)
    found = report(variant)
    assert not found.unknowns
    assert only(found, "S", "store").space == only(found, "S").space == "global"
    assert not only(found, "S").matrix
    plain = report(own("const int x = get_local_id(0);\nC[x] = A[x];\n"))
    assert found.global_traffic_bytes == 2 * plain.global_traffic_bytes


def test_an_argument_that_is_data() -> None:
    head = "__kernel void own(__global const int *B, __global real *C) {\n"
    variant = own("C[B[1]] = 1;\n", head=head,
                  arguments=(Argument("buffer", "K", "int"), argument("C")))  # fmt: skip
    found = report(variant, Problem(16, 16, 16))
    assert found.unknowns
    assert only(found, "B").broadcast
