"""Libraries as variants: their files, where they are looked for, and shares of their speed."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core import libraries
from gemmviz.core.catalog import CatalogError, load_catalog, load_variant
from gemmviz.core.context import LibraryFacts
from gemmviz.core.feasibility import element_refusal, needs_refusal, refusal
from gemmviz.core.launch import default_parameters, geometry, merge_parameters
from gemmviz.core.library_share import Timing, fastest_libraries, library_share
from gemmviz.core.model import Device, DeviceKey, Job, Problem, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import STANDARD

CATALOG = load_catalog(data_dir("kernels"))
BLAS, CLBLAST, CUBLAS = (CATALOG.find(name) for name in ("blas", "clblast", "cublas"))
TUNED = CATALOG.find("clblast_tuned")
TF32, TILED = CATALOG.find("cublas_tf32"), CATALOG.find("tiled")
CPU = Device("PoCL", "3.0", "EPYC", "CPU", elements=("float", "double"))
H200 = Device(
    "NVIDIA CUDA", "3.0", "H200", "GPU", vendor="NVIDIA Corporation", elements=("float", "double"),
    compute_capability="9.0",
)  # fmt: skip
SMALL = Problem(48, 40, 56)
TOML = """
title = "Mine"
summary = "A library."
family = "library"
library = "clblast"
elements = ["float"]
"""


def test_a_library_has_no_source_and_one_group() -> None:
    for variant in (BLAS, CLBLAST, CUBLAS, TF32, TUNED):
        assert variant.family == "library"
        assert variant.source == ""
        assert libraries.no_source(variant).startswith(f"{variant.title} is a library")
        shape = geometry(variant, (), SMALL)
        assert (shape.tile, shape.groups, shape.group_size) == ((48, 40), 1, 1)
    assert libraries.no_source(TILED) == ""


def test_parameters_of_a_library_bind_as_a_kernels() -> None:
    own = default_parameters(TUNED)
    assert refusal(TUNED, own, SMALL, CPU) is None
    wide = merge_parameters(TUNED, {"VWM": 4, "MDIMC": 16})
    assert "requires MWG % (MDIMC * VWM) == 0" in str(refusal(TUNED, wide, SMALL, CPU))
    device = replace(CPU, local_mem_bytes=2047)
    staged = merge_parameters(TUNED, {"SA": 1})
    assert "local_limit = 2047" in str(refusal(TUNED, staged, SMALL, device))


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('"clblast"', '"cblas"', "library", "'cblas' is not one of blas, clblast, cublas"),
        ('"clblast"', "3", "library", "3 is not one of"),
        ('elements = ["float"]', "", "elements", "missing"),
        ('elements = ["float"]', 'elements = ["int"]', "elements", "'int' is not allowed"),
        ('title = "Mine"', 'title = "Mine"\ngroup = [8, 8]', "group", "unknown"),
        ("elements =", 'require = ["MWG > 8"]\nelements =', "require", "uses MWG, which is no"),
        ('title = "Mine"', 'title = "Mine"\nprecision = "low"', "precision", "not one of element"),
    ],
)
def test_a_wrong_file_says_why(tmp_path: Path, old: str, new: str, key: str, reason: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    assert load_variant(path).library == "clblast"
    path.write_text(TOML.replace(old, new))
    with pytest.raises(CatalogError) as caught:
        load_variant(path)
    assert caught.value.key == key
    assert reason in caught.value.reason


def test_needs_are_those_of_a_device_and_not_of_a_name() -> None:
    assert needs_refusal(BLAS, CPU) is None
    assert needs_refusal(BLAS, H200) == "numpy's BLAS runs on a CPU alone, and H200 is none."
    assert needs_refusal(CUBLAS, H200) is None
    assert needs_refusal(CUBLAS, CPU) == "cuBLAS runs on an NVIDIA device alone, and EPYC is none."
    old = replace(H200, compute_capability="7.5")
    assert needs_refusal(TF32, old) == "cuBLAS in TF32 needs cc >= 8.0, and H200 has it not."
    assert needs_refusal(replace(BLAS, needs=("gpu",)), H200) is None
    assert refusal(BLAS, (), SMALL, CPU) is None


def test_what_opencl_cannot_compute_binds_opencl_alone() -> None:
    assert element_refusal(CUBLAS, "half", H200) is None
    assert "does not compute in half" in str(element_refusal(CLBLAST, "half", H200))
    assert "is written for float or double" in str(element_refusal(BLAS, "half", CPU))


def test_a_file_is_found_where_the_linker_would_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path / 'absent'}:{tmp_path}")
    monkeypatch.setattr(libraries, "_SYSTEM_FOLDERS", ())
    monkeypatch.setattr(libraries, "_LINKER_LISTS", tmp_path / "lists")
    assert libraries.find_file("cublas") is None
    for name in ("libcublas.so.12", "libcublas.so.13"):
        (tmp_path / name).touch()
        assert libraries.find_file("cublas") == tmp_path / name
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "more.conf").write_text(f"# a remark\n{tmp_path / 'more'}\n")
    assert libraries.find_file("clblast") is None
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "libclblast.so.1").touch()
    assert libraries.find_file("clblast") == tmp_path / "more" / "libclblast.so.1"


def test_an_absent_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "find_file", lambda _: None)
    libraries.absence.cache_clear()
    try:
        assert libraries.absence(CLBLAST).startswith("CLBlast is not installed here; to get it:")
        assert "apt install libclblast1" in libraries.absence(CLBLAST)
        assert "nvidia-cublas-cu12" in libraries.absence(TF32)
        assert libraries.absence(BLAS) == libraries.absence(TILED) == ""
    finally:
        libraries.absence.cache_clear()


def test_the_facts_of_a_library_on_one_line() -> None:
    facts = LibraryFacts("OpenBLAS", "0.3.30", "SkylakeX", 2)
    assert facts.text == "OpenBLAS 0.3.30, SkylakeX kernels, 2 threads"
    assert LibraryFacts("CLBlast").text == "CLBlast"
    assert LibraryFacts("BLIS", threads=1).text == "BLIS, 1 thread"


def timing(
    variant: Variant, seconds: float, verdict: str = "verified", **changes: object
) -> Timing:
    key = DeviceKey("p", "v", str(changes.pop("device", "n")))
    cache = changes.pop("cache", "warm")
    job = Job(1, key, variant, (), replace(SMALL, **changes),  # type: ignore[arg-type]
              policy=replace(STANDARD, cache=cache))  # type: ignore[arg-type]  # fmt: skip
    return Timing(job, seconds, verdict)  # type: ignore[arg-type]


def test_a_share_is_that_of_the_fastest_verified_library() -> None:
    ran = [
        timing(BLAS, 3.0),
        timing(CLBLAST, 2.0),
        timing(CUBLAS, 1.0, "wrong"),
        timing(TILED, 0.1),
    ]
    fastest = fastest_libraries(ran)
    assert library_share(timing(TILED, 8.0, seed=5), fastest) == 0.25
    assert library_share(timing(BLAS, 4.0), fastest) == 0.5
    assert library_share(timing(CLBLAST, 2.0), fastest) == 1.0
    assert library_share(timing(TILED, 8.0, "wrong"), fastest) is None
    assert library_share(timing(TILED, 8.0, "unchecked"), fastest) is None


@pytest.mark.parametrize(
    "changes", [{"k": 57}, {"element": "double"}, {"device": "other"}, {"cache": "flush"}]
)
def test_another_question_has_no_share(changes: dict[str, object]) -> None:
    fastest = fastest_libraries([timing(BLAS, 3.0)])
    assert library_share(timing(TILED, 8.0, **changes), fastest) is None


def test_who_rounds_to_tf32_is_no_measure_for_who_does_not() -> None:
    fastest = fastest_libraries([timing(CUBLAS, 4.0), timing(TF32, 1.0)])
    assert library_share(timing(TILED, 8.0), fastest) == 0.5
    assert library_share(timing(replace(TILED, precision="tf32x3"), 2.0), fastest) == 2.0
    assert library_share(timing(replace(TILED, precision="tf32"), 2.0), fastest) == 0.5
