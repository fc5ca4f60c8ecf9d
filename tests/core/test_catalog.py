"""The catalogue: what a variant's files may say, and a sentence for whatever else they say."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemmviz.core.catalog import CatalogError, load_catalog, load_variant
from gemmviz.core.model import Argument, Parameter
from gemmviz.core.paths import data_dir

TOML = """
title = "Mine"
summary = "A kernel."
family = "user"
order = "row"
arguments = ["A", "B", "C", "M", "N", "K"]
group = ["TS", "TS"]
tile = { rows = "TS", cols = "TS" }
dims = ["cols", "rows"]
local_bytes = "2 * TS * TS * element_bytes"
shapes = "any"
[parameters]
TS = { default = 16, values = [8, 16], help = "edge" }
"""
SOURCE = """
#ifndef TS
#define TS 16
#endif
__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void mine(__global const real *A, __global const real *B, __global real *C, int M, int N, int K) {}
"""


def write(folder: Path, toml: str = TOML, source: str | bytes = SOURCE, stem: str = "mine") -> Path:
    path = folder / f"{stem}.toml"
    path.write_text(toml)
    data = source if isinstance(source, bytes) else source.encode()
    path.with_suffix(".cl").write_bytes(data)
    return path


def test_our_own_kernels_all_load() -> None:
    catalog = load_catalog(data_dir("kernels"))
    assert catalog.problems == ()
    ids = {variant.id for variant in catalog.variants}
    assert ids >= {
        "tiling_naive", "tiling_tiled", "tiling_tiled_fixed", "barriers_naive", "barriers_tiled",
        "barriers_tiled_fixed", "barriers_padded", "tradeoffs_naive", "tradeoffs_tiled",
        "mygemm_add", "mygemm_1", "mygemm_1b", "mygemm_2", "naive_strided", "naive_coalesced",
        "tiled", "tiled_padded", "work_1d", "register_2d",
    }  # fmt: skip
    for variant in catalog.variants:
        if variant.family == "published":
            assert variant.finding, f"{variant.id} says nothing of what was found"


def test_a_variant(tmp_path: Path) -> None:
    variant = load_variant(write(tmp_path))
    assert variant.id == "mine"
    assert variant.entry == "mine"
    assert variant.arguments[0] == Argument("matrix", "A")
    assert variant.arguments[5] == Argument("size", "K")
    assert variant.parameters == (Parameter("TS", 16, (8, 16), "edge"),)
    assert variant.elements == ("half", "float", "double")


def test_an_argument_may_be_scratch(tmp_path: Path) -> None:
    listed = '"A", "B", "C", {scratch = "TS * M * element_bytes"}'
    variant = load_variant(write(tmp_path, TOML.replace('"A", "B", "C"', listed)))
    assert variant.arguments[3] == Argument("scratch", "TS * M * element_bytes")


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ("title =", "titel =", "titel", "unknown; did you mean title?"),
        ('title = "Mine"\n', "", "title", "missing"),
        ('order = "row"', 'order = "diagonal"', "order", "not one of row, column"),
        ("2 * TS * TS * element_bytes", "TS // (TS - 8)", "local_bytes", "divides by zero"),
        ("2 * TS * TS * element_bytes", "max(TS, 1)", "local_bytes", "calls a function"),
        ("2 * TS * TS * element_bytes", "WPT", "local_bytes", "WPT, which is no parameter"),
        ("2 * TS * TS * element_bytes", "0 - TS", "local_bytes", "negative"),
        ('group = ["TS", "TS"]', 'group = ["TS", "TS - 8"]', "group", "must be at least 1"),
        ('group = ["TS", "TS"]', 'group = "TS"', "group", "list"),
        ('group = ["TS", "TS"]', 'group = ["TS"]', "group", "size for each of dims"),
        ('dims = ["cols", "rows"]', 'dims = ["cols", "cols"]', "dims", "once"),
        ('dims = ["cols", "rows"]', 'dims = ["depth"]', "dims", "not allowed"),
        ('tile = { rows = "TS", cols = "TS" }', 'tile = "TS"', "tile", "rows"),
        ('"A", "B", "C"', '"A", "B", "D"', "arguments", "'D' is unknown"),
        ('"A", "B", "C"', '"A", "B"', "arguments", "C is missing"),
        ('"A", "B", "C"', '"A", {local = "8", value = 1}, "C"', "arguments", "no argument"),
        ('"A", "B", "C"', '"A", {value = 1, type = "char"}, "C"', "arguments", "not one of int"),
        ("values = [8, 16]", "values = [8, 32]", "parameters.TS", "default 16"),
        ("values = [8, 16]", "values = []", "parameters.TS", "list of integers"),
        ("default = 16, ", "", "parameters.TS", "default and values"),
        ("TS = {", "ts = {", "parameters.ts", "upper-case"),
        ("[parameters]", "[parameters]\nWPT = { default = 1, values = [1] }", "parameters.WPT",
         "never uses it"),
        ("[parameters]", 'rung = "three"\n[parameters]', "rung", "no integer"),
        ("[parameters]", 'require = ["TS <"]\n[parameters]', "require", "not a formula"),
        ("[parameters]", 'right_when = "Q == 1"\n[parameters]', "right_when", "Q, which is no"),
        ("[parameters]", 'entry = "not a name"\n[parameters]', "entry", "no kernel name"),
        ('title = "Mine"', "title = 2026-01-01", "title", "must be a text"),
        ("[parameters]", "[[parameters]]", "parameters", "must be a table"),
        ('title = "Mine"', 'title = "Mine', "", "no TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_names_itself_the_key_and_the_reason(
    tmp_path: Path, old: str, new: str, key: str, reason: str
) -> None:
    assert old in TOML
    write(tmp_path, stem="good")
    write(tmp_path, TOML.replace(old, new), stem="bad")
    catalog = load_catalog(tmp_path)
    assert [variant.id for variant in catalog.variants] == ["good"]
    (problem,) = catalog.problems
    assert problem.file == "bad.toml"
    assert problem.key == key
    assert reason in problem.reason
    assert str(problem).startswith("bad.toml: ")


def test_a_rule_that_excludes_a_setting_excuses_its_other_formulas(tmp_path: Path) -> None:
    toml = TOML.replace('group = ["TS", "TS"]', 'group = ["TS // 16", "1"]').replace(
        "[parameters]", 'require = ["TS >= 16"]\n[parameters]'
    )
    assert load_variant(write(tmp_path, toml)).require == ("TS >= 16",)


def test_sources_that_are_not_utf8_load_and_binaries_do_not(tmp_path: Path) -> None:
    latin = load_variant(write(tmp_path, source=SOURCE.encode() + b"// \xe9t\xe9"))
    assert "été" in latin.source
    with pytest.raises(CatalogError, match="no text file"):
        load_variant(write(tmp_path, source=b"\0\1\2"))
    with pytest.raises(CatalogError, match="cannot be read"):
        load_variant(tmp_path / "absent.toml")


def test_several_kernels_need_a_name(tmp_path: Path) -> None:
    two = SOURCE + "kernel void other(global float *C) {} // kernel void third("
    with pytest.raises(CatalogError, match="mine, other"):
        load_variant(write(tmp_path, source=two))
    named = TOML.replace("[parameters]", 'entry = "other"\n[parameters]')
    assert load_variant(write(tmp_path, named, two)).entry == "other"


def test_a_hostile_source_is_read_in_one_pass(tmp_path: Path) -> None:
    hostile = SOURCE + "kernel " + "__attribute__((a)) " * 5000 + "\n" + "/*" * 20000
    # A pattern that tries every way to read this would not come back before the time-out.
    assert load_variant(write(tmp_path, source=hostile)).entry == "mine"


def test_folders_devices_and_odd_names_are_no_kernels(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    for name in (tmp_path / "folder.toml", Path("/dev/zero"), tmp_path / "none.toml"):
        with pytest.raises(CatalogError, match="cannot be read"):
            load_variant(name)
    assert load_variant(write(tmp_path, stem='a"b c')).id == "a_b_c"


@pytest.mark.parametrize(("written", "elements"), [("float", ("float",)), ("double", ("double",))])
def test_a_kernel_without_real_keeps_its_own_type(
    tmp_path: Path, written: str, elements: tuple[str, ...]
) -> None:
    source = SOURCE.replace("real", written) + "// real numbers"
    assert load_variant(write(tmp_path, source=source)).elements == elements


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.data())
def test_mutated_files_load_or_say_why(tmp_path: Path, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(TOML)))
    cut = data.draw(st.integers(0, 12))
    alphabet = st.characters(codec="utf-8", exclude_characters="\r")
    mutated = TOML[:place] + data.draw(st.text(alphabet, max_size=6)) + TOML[place + cut :]
    try:
        load_variant(write(tmp_path, mutated))
    except CatalogError as error:
        assert error.file == "mine.toml"
        assert error.reason
