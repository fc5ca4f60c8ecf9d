"""What a .toml may say for tensor cores: hidden instructions, maps, bits, groups that go round."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemmviz.core.catalog import CatalogError, load_catalog, load_variant
from gemmviz.core.codec import from_json, to_json
from gemmviz.core.feasibility import element_refusal, refusal
from gemmviz.core.launch import argument_numbers, assemble, geometry, merge_parameters, tensor_box
from gemmviz.core.limits import named_limits
from gemmviz.core.model import Argument, Device, Parameters, Problem, Variant
from gemmviz.core.paths import data_dir
from tests.core.test_catalog import TOML, write

CATALOG = load_catalog(data_dir("kernels"))
HALVES, FLOATS = CATALOG.find("gpu_tensor"), CATALOG.find("gpu_tf32")
WARPS = CATALOG.find("gpu_tensor_mma")
H200 = Device(
    "NVIDIA CUDA", "OpenCL 3.0", "NVIDIA H200", "GPU", vendor="NVIDIA Corporation",
    local_mem_bytes=48 * 1024, global_mem_bytes=2**37, max_alloc_bytes=2**35,
    max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64), elements=("float", "double"),
    compute_capability="9.0",
)  # fmt: skip
MAP = '{ tensor_map = "A", box = [64, "TS"], swizzle = 128 }'


def edited(old: str, new: str) -> str:
    assert TOML.count(old) == 1
    return TOML.replace(old, new)


def defaults(variant: Variant) -> Parameters:
    return merge_parameters(variant, {})


def test_maps_bits_groups_and_the_build_are_read(tmp_path: Path) -> None:
    toml = edited('["A", "B", "C", "M", "N", "K"]', f'[{MAP}, "B", "C", "M", "N", "K"]')
    extra = 'build = "ptx-sm_90a"\nstored = ["half"]\ngroups = "TS * 2"\n[parameters]'
    variant = load_variant(write(tmp_path, toml.replace("[parameters]", extra)))
    assert variant.arguments[0] == Argument("tensor_map", "A", "real", ("64", "TS"), 128)
    assert (variant.build, variant.stored, variant.groups) == ("ptx-sm_90a", ("half",), "TS * 2")
    problem, parameters = Problem(100, 60, 7), (("TS", 8),)
    assert tensor_box(variant.arguments[0], parameters, problem) == (64, 8)
    assert argument_numbers(variant, parameters, problem)[0] == 0
    # Sixteen groups go round, however many tiles there are.
    shape = geometry(variant, parameters, problem)
    assert (shape.local, shape.total, shape.groups) == ((8, 8), (128, 8), 16)
    assert from_json(Variant, to_json(variant)) == variant


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ('{ tensor_map = "D", box = [1, 1] }', "is no argument"),
        ('{ tensor_map = "A" }', "a tensor map's box has two sizes"),
        ('{ tensor_map = "A", box = [1] }', "a tensor map's box has two sizes"),
        ('{ tensor_map = "A", box = 1 }', "a tensor map's box has two sizes"),
        ('{ tensor_map = "A", box = [1, "BM"] }', "uses BM, which is no parameter"),
        ('{ tensor_map = "A", box = [1, 1.5] }', "is no formula"),
        ('{ tensor_map = "A", box = [1, 1], swizzle = 48 }', "48 is not one of 0, 32, 64, 128"),
        ('{ tensor_map = "A", box = [1, 1], type = "int" }', "is no argument"),
    ],
)
def test_a_map_that_means_nothing_names_its_key(tmp_path: Path, item: str, words: str) -> None:
    toml = edited('["A", "B", "C", "M", "N", "K"]', f'[{item}, "B", "C", "M", "N", "K"]')
    with pytest.raises(CatalogError, match=words) as raised:
        load_variant(write(tmp_path, toml))
    assert raised.value.key == "arguments"


@pytest.mark.parametrize(
    ("line", "key", "words"),
    [
        ('build = "ptx-sm_80"', "build", "is not one of ptx-sm_90a"),
        ('stored = ["int"]', "stored", "is not allowed here"),
        ('groups = "UNITS"', "groups", "UNITS, which is no parameter"),
        ("groups = 0", "groups", "must be at least 1"),
        ("groups = [1]", "groups", "is no formula"),
    ],
)
def test_what_no_launch_can_be_names_its_key(
    tmp_path: Path, line: str, key: str, words: str
) -> None:
    with pytest.raises(CatalogError, match=words) as raised:
        load_variant(write(tmp_path, edited("[parameters]", f"{line}\n[parameters]")))
    assert raised.value.key == key


def test_bits_are_built_as_integers_and_ask_for_no_extension() -> None:
    source = assemble(HALVES, defaults(HALVES), Problem(64, 64, 64, "half"))
    assert "#define real ushort\n" in source
    assert "cl_khr_fp16" not in source
    tiled = CATALOG.find("tiled")
    computing = assemble(tiled, defaults(tiled), Problem(64, 64, 64, "half"))
    assert "#define real half\n" in computing
    assert "cl_khr_fp16" in computing


def test_a_device_without_halves_still_moves_their_bits() -> None:
    assert element_refusal(HALVES, "half", H200) is None
    assert "does not compute in half" in str(element_refusal(CATALOG.find("tiled"), "half", H200))
    assert "written for half, not float" in str(element_refusal(HALVES, "float", H200))


@pytest.mark.parametrize("variant", [HALVES, FLOATS], ids=lambda variant: variant.id)
def test_a_device_that_cannot_is_told_in_a_sentence(variant: Variant) -> None:
    problem = Problem(64, 64, 64, variant.elements[0])

    def told(device: Device, problem: Problem = problem) -> str | None:
        return refusal(variant, defaults(variant), problem, device, named_limits("9.0"))

    assert told(H200) is None
    ampere = replace(H200, name="A100", compute_capability="8.0")
    assert told(ampere) == f"{variant.title} needs cc == 9.0, and A100 has it not."
    blackwell = replace(H200, name="B200", compute_capability="10.0")
    assert "needs cc == 9.0" in str(told(blackwell))
    cpu = replace(H200, platform="PoCL", vendor="AMD", name="CPU", type="CPU")
    assert "runs on an NVIDIA device alone" in str(told(cpu))
    step = 8 if variant is HALVES else 4
    for sizes in ((64, 65, 64), (64, 64, 66)):
        assert f"% {step} == 0" in str(told(H200, replace(problem, n=sizes[1], k=sizes[2])))
    assert told(H200, replace(problem, m=1)) is None


@pytest.mark.parametrize("capability", ["7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"])
def test_halves_by_mma_run_from_ampere_on_at_any_shape(capability: str) -> None:
    card = replace(H200, name="Card", compute_capability=capability)
    for sizes in ((1, 1, 1), (4097, 4095, 4093), (4096, 4096, 4096)):
        problem = Problem(*sizes, "half")
        told = refusal(WARPS, defaults(WARPS), problem, card, named_limits(capability))
        old = f"{WARPS.title} needs cc >= 8.0, and Card has it not."
        assert told == (old if capability == "7.5" else None)


def test_halves_by_mma_fit_what_every_driver_gives() -> None:
    shape = geometry(WARPS, defaults(WARPS), Problem(1000, 900, 1100, "half"))
    assert shape.local_bytes == H200.local_mem_bytes
    assert (shape.group_size, shape.groups) == (128, 8 * 8)
    assert "//@" not in WARPS.source
    assert not WARPS.build


@pytest.mark.parametrize("variant", [HALVES, FLOATS], ids=lambda variant: variant.id)
def test_the_metadata_is_that_of_the_source(variant: Variant) -> None:
    most = named_limits("9.0")
    assert most is not None
    problem = Problem(512, 512, 512, variant.elements[0])
    shape = geometry(variant, defaults(variant), problem)
    assert shape.groups == dict(defaults(variant))["GROUPS"]
    assert shape.local_bytes <= most.per_group_bytes
    assert "//@wgmma" in variant.source
    assert f"({len(variant.arguments)} arguments)" == f"({_arguments(variant.source)} arguments)"


def _arguments(source: str) -> int:
    head = source[source.index("__kernel") :]
    head = head[head.index("gpu_") : head.index("{")]
    return head.count(",") + 1
