"""Short ways to run a kernel in a test."""

import itertools
from pathlib import Path

from gemmviz.core.catalog import load_catalog, load_variant
from gemmviz.core.launch import merge_parameters
from gemmviz.core.model import Device, Job, Problem, Result, Variant
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import UNTIL_STOPPED, Policy, fixed
from gemmviz.engine.plan import Engine

CATALOG = load_catalog(data_dir("kernels"))
KERNELS = tuple(variant for variant in CATALOG.variants if not variant.library)
_ids = itertools.count(1)


def make_job(
    device: Device,
    kernel: str | Variant = "tiled",
    shape: tuple[int, int, int] = (64, 64, 64),
    element: str = "float",
    parameters: dict[str, int] | None = None,
    *,
    launches: int | None = 1,
    policy: Policy | None = None,
    **options: object,
) -> Job:
    """A job that ends after ``launches``, never where that is None, or as ``policy`` says."""
    if policy is None:
        policy = UNTIL_STOPPED if launches is None else fixed(launches)
    variant = CATALOG.find(kernel) if isinstance(kernel, str) else kernel
    return Job(
        id=next(_ids),
        device=device.key,
        variant=variant,
        parameters=merge_parameters(variant, parameters or {}),
        problem=Problem(*shape, element, seed=11),
        policy=policy,
        **options,  # type: ignore[arg-type]
    )


def run(engine: Engine, device: Device, *arguments: object, **options: object) -> Result:
    return finish(engine, make_job(device, *arguments, **options), device)  # type: ignore[arg-type]


def finish(engine: Engine, job: Job, device: Device) -> Result:
    *_, last = engine.run(job, device)
    assert isinstance(last, Result)
    return last


def own_kernel(folder: Path, body: str, *, stem: str = "own", extra: str = "") -> Variant:
    """A kernel of a person's own: one work-item a cell of C, with ``body`` inside."""
    (folder / f"{stem}.toml").write_text(
        f"""
title = "Own"
summary = "A kernel of a person's own."
family = "user"
order = "row"
arguments = ["A", "B", "C", "M", "N", "K"]
group = [1, 1]
tile = {{ rows = 1, cols = 1 }}
dims = ["cols", "rows"]
local_bytes = 0
shapes = "any"
{extra}
"""
    )
    (folder / f"{stem}.cl").write_text(
        "__kernel void own(__global const real *A, __global const real *B, __global real *C,\n"
        "                  int M, int N, int K) {\n"
        "  int col = get_global_id(0), row = get_global_id(1);\n"
        f"  {body}\n"
        "}\n"
    )
    return load_variant(folder / f"{stem}.toml")


RIGHT = (
    "real s = 0; for (int k = 0; k < K; k++) s += A[row * K + k] * B[k * N + col]; "
    "C[row * N + col] = s;"
)
