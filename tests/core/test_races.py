"""What is read from Oclgrind's logs; the texts are its own, shortened."""

from gemmviz.core.races import parse_log

RACE = """
Read-write data race at local memory address 0x1000000000000
\tKernel: own
\t
\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  %33 = load float, float addrspace(3)* %arrayidx50, align 4, !dbg !112
\tAt line 33 (column 14) of own.cl:
\t  a line that is not ours
\t
\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  store float %cond, float addrspace(3)* %arrayidx23, align 4, !dbg !80
\tAt line 29 (column 16) of own.cl:
\t\x20\x20
\t
"""
DIVERGENCE = """
Work-group divergence detected (barrier)
\tKernel:     own
\tWork-group: (1,0,0)
\tOnly 32 out of 256 work-items executed barrier
\t  call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !114
\tAt line 34 (column 5) of own.cl:
\t  for (int k0 = 0; k0 < K; k0 += TS) {
\t
"""
BRANCHES = """
Work-group divergence detected (barrier)
\tKernel:     own
\tWork-group: (1,0,0)
\t
\tWork-item:  Global(18,0,0) Local(2,0,0) Group(1,0,0)
\t  call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !115
\tAt line 34 (column 7) of own.cl:
\t  x
\tfence=0x1, num_events=0
\t
\tPrevious work-items executed:
\t  call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !112
\tAt line 32 (column 7) of own.cl:
\t  y
\tfence=0x1, num_events=0
\t
"""
READ = """
Invalid read of size 4 at global memory address 0x50000000005e8
\tKernel: own
\tEntity: Global(18,0,0) Local(2,0,0) Group(1,0,0)
\t  %11 = load float, float addrspace(1)* %arrayidx7, align 4, !dbg !46
\tAt line 25 (column 29) of own.cl:
\t  z
\t
"""
INDEX = READ.replace("Invalid read of size 4 at global memory address 0x50000000005e8",
                     "Index (16) exceeds static array size (16)")  # fmt: skip
UNWRITTEN = READ.replace("Invalid read of size 4 at", "Uninitialized value written to")
QUERY = """
Oclgrind - OpenCL runtime error detected
\tFunction: clGetKernelWorkGroupInfo
\tError: CL_INVALID_VALUE
"""
REFUSED = """
Oclgrind - OpenCL runtime error detected
\tFunction: clEnqueueNDRangeKernel
\tError: CL_INVALID_WORK_GROUP_SIZE
"""
CUT = "\nOclgrind: 1000 errors generated - suppressing further errors\n"


def test_reports_of_the_same_lines_are_one_finding() -> None:
    other = RACE.replace("line 29", "line 30").replace("address 0x1000000000000", "address 0x8")
    found = parse_log(RACE + other + RACE + CUT, "own.cl")
    assert [(each.kind, each.lines, each.count) for each in found] == [
        ("data race", (29, 33), 2),
        ("data race", (30, 33), 1),
    ]
    assert found[0].sentence == (
        "A work-item writes bytes of local memory in line 29 that another reads in line 33, and "
        "nothing orders the two."
    )
    assert "a line that is not ours" not in found[0].detail
    assert "At line 29 (column 16) of own.cl:" in found[0].detail


def test_a_race_between_groups_says_so() -> None:
    (found,) = parse_log(RACE.replace("Group(0,0,0)", "Group(3,0,0)", 1), "own.cl")
    assert "one of another group reads" in found.sentence


def test_both_kinds_of_divergence() -> None:
    short, branches = parse_log(DIVERGENCE + BRANCHES, "own.cl")[::-1]
    assert (short.kind, short.lines) == ("barrier divergence", (34,))
    assert short.sentence == "Only 32 of 256 work-items reach the barrier in line 34."
    assert branches.lines == (32, 34)
    assert "different barriers in lines 32 and 34" in branches.sentence


def test_stray_accesses_and_what_was_never_written() -> None:
    found = parse_log(UNWRITTEN + READ + INDEX.replace("line 25", "line 26"), "own.cl")
    assert [each.kind for each in found] == ["out of bounds", "out of bounds", "uninitialised"]
    assert "4 bytes of global memory are read outside" in found[0].sentence
    assert found[1].sentence == "Index 16 is used in an array of 16 elements in line 26."
    assert found[2].lines == (25,)


def test_queries_that_pyopencl_makes_are_no_findings() -> None:
    (found,) = parse_log(QUERY + REFUSED, "own.cl")
    assert (found.kind, found.lines) == ("api", ())
    assert found.sentence == "clEnqueueNDRangeKernel is refused: CL_INVALID_WORK_GROUP_SIZE."


def test_lines_of_another_file_are_not_taken_for_the_kernels_own() -> None:
    (found,) = parse_log(READ.replace("own.cl", "input.cl"), "own.cl")
    assert found.lines == ()
    assert "in line" not in found.sentence


def test_what_is_not_known_is_shown_as_it_is_and_an_empty_log_is_clean() -> None:
    (found,) = parse_log("\nSomething new happened\n\tKernel: own\n", "own.cl")
    assert (found.kind, found.sentence) == ("other", "Something new happened")
    assert parse_log("", "own.cl") == ()


def test_a_log_that_ends_in_the_middle_still_counts() -> None:
    found = parse_log(RACE + RACE[:120], "own.cl")
    assert (29, 33) in [each.lines for each in found]
    assert sum(each.count for each in found) == 2
