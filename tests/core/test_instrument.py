"""Where code is put into a kernel's source, and where it is not."""

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.instrument import InstrumentError, with_counters, with_dummy_local
from gemmviz.core.paths import data_dir

VARIANTS = [each for each in load_catalog(data_dir("kernels")).variants if not each.library]
PLAIN = "__kernel void k(__global float *C) {\n  C[0] = 1;\n}\n"
# A guard that is a return, or work-items with nothing more to do.
LEAVES_EARLY = {"cpu_best", "gpu_best", "gpu_tensor", "gpu_tf32", "gpu_tf32x3", "tiling_naive"}


def body_of(source: str) -> str:
    """The first line of what was put in, with what stands before it."""
    return source[: source.index("gemmviz_dummy")]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_the_body_of_every_kernel_is_found(variant):
    changed = with_dummy_local(variant.source, variant.entry, 4096)
    assert "gemmviz_dummy[4096]" in changed
    assert changed.count("\n") == variant.source.count("\n")
    before = body_of(changed)
    assert before.rstrip().endswith("{ __local volatile char")
    assert f"{variant.entry}(" in before


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_every_kernel_counts_unless_an_item_may_leave_early(variant):
    changed = with_counters(variant.source, variant.entry)
    assert (changed is None) is (variant.id in LEAVES_EARLY)
    if changed is not None:
        assert changed.count("\n") == variant.source.count("\n")
        assert changed.count("atomic_inc") == changed.count("atomic_dec") == 1


def test_no_bytes_change_nothing():
    assert with_dummy_local(PLAIN, "k", 0) == PLAIN
    with pytest.raises(ValueError, match="-1"):
        with_dummy_local(PLAIN, "k", -1)


def test_code_goes_on_the_line_of_the_brace():
    lines = with_dummy_local(PLAIN, "k", 8).split("\n")
    assert lines[0].startswith("__kernel void k(__global float *C) { __local volatile char")
    assert lines[1:] == PLAIN.split("\n")[1:]


@pytest.mark.parametrize(
    "source",
    [
        "// kernel void k(int a) {\n" + PLAIN,
        "/* __kernel void k() {\n } */\n" + PLAIN,
        '#define TEXT "k(int a) {"\n' + PLAIN,
        "#define CALL(x) \\\n  k(x) {\n" + PLAIN,
        "__kernel void k(__global float *C);\n" + PLAIN,
        "void other(void) { }\n__kernel void k2(int a) { }\n" + PLAIN,
        PLAIN.replace("void k", "__attribute__((reqd_work_group_size(1, 1, 1))) void k"),
        PLAIN.replace(") {", ")\n__attribute__((reqd_work_group_size(1, 1, 1)))\n{"),
        PLAIN.replace("(__global float *C)", "(__global float *C, int (*f)(int), const int n)"),
        "kernel void\nk\n(\n__global float *C\n)\n{\n  C[0] = '{';\n}\n",
    ],
)
def test_the_body_is_found_among_what_looks_like_it(source):
    before = body_of(with_dummy_local(source, "k", 8))
    opened = before.rindex("{")
    assert source.startswith(before[: opened + 1])
    assert source[opened:].count("C[0]") == 1
    assert source[:opened].count("C[0]") == 0


def test_a_kernel_whose_name_a_macro_makes_is_found_where_it_is_alone():
    source = "#define NAME k\n" + PLAIN.replace("void k", "void NAME")
    assert "gemmviz_dummy[8]" in with_dummy_local(source, "k", 8)
    two = source + PLAIN.replace("void k", "void OTHER")
    with pytest.raises(InstrumentError, match="The body of the kernel k is not to be found"):
        with_dummy_local(two, "k", 8)


def test_both_branches_of_a_condition_get_the_array():
    other = PLAIN.replace("C[0] = 1", "C[0] = 2")
    source = f"#ifdef A\n{PLAIN}#else\n{other}#endif\n"
    assert with_dummy_local(source, "k", 8).count("gemmviz_dummy[8]") == 2
    assert with_counters(source, "k") is None


def test_the_counters_are_the_last_argument():
    changed = with_counters(PLAIN, "k")
    assert changed is not None
    assert changed.startswith(
        "__kernel void k(__global float *C, __global volatile int *gemmviz_counters) { if ("
    )
    assert changed.rstrip().endswith("} }")
    assert "smid" not in changed
    nvidia = with_counters(PLAIN, "k", nvidia=True)
    assert nvidia is not None
    assert nvidia.count("%%smid") == 2


@pytest.mark.parametrize(
    "source",
    [
        PLAIN.replace("C[0] = 1;", "if (C[0] > 0) return; C[0] = 1;"),
        "#define LEAVE if (C[0] > 0) return\n" + PLAIN.replace("C[0] = 1;", "LEAVE; C[0] = 1;"),
        PLAIN.replace("C[0] = 1;", "if (C[0] > 0) goto end; C[0] = 1; end: ;"),
        PLAIN.replace("__global float *C", ""),
        PLAIN.replace("__global float *C", "void"),
        "#define BODY { C[0] = 1; }\n__kernel void k(__global float *C) BODY\n",
        PLAIN.replace("  C[0] = 1;", "#ifdef A\n  if (1) {\n#else\n  {\n#endif\n  C[0] = 1; }")
        .replace("#else\n  {", "#else"),
    ],
)  # fmt: skip
def test_some_kernels_cannot_count(source):
    assert with_counters(source, "k") is None


def test_words_in_comments_are_no_returns():
    source = PLAIN.replace("C[0] = 1;", "C[0] = 1; // return\n  /* goto */")
    assert with_counters(source, "k") is not None
    branches = PLAIN.replace("  C[0]", "#if 1\n  if (1) { }\n#endif\n  C[0]")
    assert with_counters(branches, "k") is not None
