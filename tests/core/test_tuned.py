from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from gemmviz.core.catalog import load_catalog
from gemmviz.core.feasibility import refusal
from gemmviz.core.launch import default_parameters
from gemmviz.core.limits import limits_for
from gemmviz.core.model import Problem, Property
from gemmviz.core.paths import data_dir
from gemmviz.core.tuned import load_sets, read_sets, tuned_parameters
from tests.app.fake_engine import H200, POCL

CATALOG = load_catalog(data_dir("kernels"))
BEST = CATALOG.find("gpu_best")
SIZES = (1, 63, 64, 1000, 1024, 2048, 4097, 4104)


def chosen(m: int, n: int, k: int) -> dict[str, int]:
    return dict(tuned_parameters(BEST, Problem(m, n, k), H200))


def test_the_shape_decides():
    assert chosen(4096, 4096, 4096)["BM"] == 256
    small = {"LOADS": 4, "ORDER": 2, "A_FIRST": 1, "PUT_AT": 8}
    assert chosen(1024, 1024, 1024) == dict(default_parameters(BEST)) | small
    assert chosen(4096, 4096, 4095)["LOADS"] == 1
    assert chosen(33, 65, 17) == dict(default_parameters(BEST))


def test_tiles_are_shared_where_a_round_of_them_is_far_from_full():
    for shape in ((8192, 128, 8192), (64, 64, 16384), (4097, 4097, 4097)):
        assert chosen(*shape)["ROUND"] > 1, shape
    for shape in ((2048, 2048, 2048), (2047, 4095, 1023)):
        assert chosen(*shape)["ROUND"] == 1, shape


def test_elsewhere_and_for_a_persons_own_kernel_the_defaults_stand():
    problem = Problem(4096, 4096, 4096)
    default = default_parameters(BEST)
    assert tuned_parameters(BEST, problem, POCL) == default
    assert tuned_parameters(BEST, problem, None) == default
    older = replace(H200, compute_capability="7.5")
    assert tuned_parameters(BEST, problem, older) == default
    assert tuned_parameters(replace(BEST, family="user"), problem, H200) == default


def test_a_cpu_gets_a_work_item_a_core():
    variant = CATALOG.find("cpu_best")
    problem = Problem(512, 512, 512)
    for units, items in ((1, 1), (2, 2), (6, 4), (64, 64), (192, 64), (None, 1)):
        device = replace(POCL, compute_units=units)
        assert dict(tuned_parameters(variant, problem, device))["ITEMS"] == items


def test_a_cpu_with_long_vectors_uses_them_but_for_a_vector():
    variant = CATALOG.find("cpu_best")
    for width, shape, expected in (
        (16, (512, 512, 512), 64), (16, (1, 512, 512), 32), (16, (512, 1, 512), 32),
        (8, (512, 512, 512), 32),
    ):  # fmt: skip
        device = replace(POCL, properties=(Property("NATIVE_VECTOR_WIDTH_FLOAT", width),))
        chosen_set = dict(tuned_parameters(variant, Problem(*shape), device))
        assert chosen_set["VECTOR_BYTES"] == expected, (width, shape)


ON_GPUS = sorted({(row.kernel, row.on[0]) for row in load_sets() if "cpu" not in row.on})


@pytest.mark.parametrize(("kernel", "code"), ON_GPUS)
def test_every_set_can_run_where_it_is_chosen(kernel, code):
    variant = CATALOG.find(kernel)
    device = replace(H200, compute_capability=code)
    element = next(name for name in ("float", "double", "half") if name in variant.elements)
    sets = set()
    for m, n, k in itertools.product(SIZES, repeat=3):
        problem = Problem(m, n, k, element)
        own = default_parameters(variant)
        if refusal(variant, own, problem, device, limits_for(device)) is not None:
            continue  # a shape that the kernel never takes
        parameters = tuned_parameters(variant, problem, device)
        sets.add(parameters)
        assert refusal(variant, parameters, problem, device, limits_for(device)) is None
    rows = [row for row in load_sets() if row.kernel == kernel and code in row.on]
    assert len(sets) == 1 + len(rows)


def test_half_a_table_is_refused(tmp_path):
    file = tmp_path / "tuned.toml"
    file.write_text('[[sets]]\nkernel = "tiled"\n')
    with pytest.raises(ValueError, match="not whole"):
        read_sets(file)
